package paje

import (
	"iter"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is the states of one type on one container: a stack. The innermost is in it,
// the others are frames.
type track struct {
	kind uint32 // index of the type, of a row typ.row; 0 for none
	next uint32 // number of the row of another type; 0 for none
	// The fields from here on are known to the shard of the container only.
	depth  uint32 // how many states are open
	region trace.RegionID
	around uint32 // frame of the state around it
	set    bool   // the outermost was set, not pushed: it needs no pop
}

// A stateRow is where the states of a second type lie.
type stateRow struct {
	track
	location trace.LocationID
	stream   trace.Stream // nil while it is closed; the shard's
}

// unpopped is how many states wait for a pop.
func (r *track) unpopped() int64 {
	if r.set {
		return int64(r.depth) - 1
	}
	return int64(r.depth)
}

// fewTracks is how many types of states a container is searched for; past it a map
// of all containers is.
const fewTracks = 8

type rowKey struct {
	k    *container
	kind uint32
}

// rowOf finds the row that the states of a second type are on; nil for none.
func (c *tree) rowOf(k *container, t *typ) *stateRow {
	next := k.states.next
	for n := 1; next != 0; n++ {
		if n == fewTracks {
			next = c.moreRows[rowKey{k, t.row}]
			if next == 0 {
				break
			}
			return c.rows.at(next)
		}
		r := c.rows.at(next)
		if r.kind == t.row {
			return r
		}
		next = r.next
	}
	return nil
}

// addRow begins the states of another type. Types are parallel, not nested: each
// tells all the time of its container. So states of the first type are on the
// container, and those of each other one on a row below it.
func (c *resolver) addRow(k *container, t *typ) *stateRow {
	if k.states.kind == 0 && !repeatedType.MatchString(t.name) {
		k.states.kind = t.index
		return nil
	}
	kind, why := trace.KindStates, secondStates
	if repeatedType.MatchString(t.name) {
		kind, why = trace.KindRepeat, repeatedStates
	}
	l := trace.Location{Parent: k.location, Kind: kind, Key: "states/" + t.alias + "/" + t.name, Name: t.name,
		Rank: trace.NoRank}
	at := c.rows.add(stateRow{track: track{kind: t.row}, location: c.w.Location(l)})
	c.b.meant.Add(why, nowhere)
	r, n := &k.states, 1
	for ; n < fewTracks && r.next != 0; n++ {
		r = &c.rows.at(r.next).track
	}
	c.rows.at(at).next, r.next = r.next, at
	if n == fewTracks {
		c.moreRows[rowKey{k, t.row}] = at
	}
	return c.rows.at(at)
}

// repeatedType are types that repeat another one: StarPU's "Worker State" and
// "InCtx1" both name the task that runs, which runs once.
var repeatedType = regexp.MustCompile(`^InCtx\d*$`)

// eachRow goes through where states of a container lie: on itself, which is nil, and on the rows below it.
func (c *tree) eachRow(k *container) iter.Seq[*stateRow] {
	return func(yield func(*stateRow) bool) {
		if !yield(nil) {
			return
		}
		for n := k.states.next; n != 0; {
			r := c.rows.at(n)
			if n = r.next; !yield(r) {
				return
			}
		}
	}
}

// trackOf is the track of a row, or of the container itself.
func trackOf(k *container, r *stateRow) *track {
	if r == nil {
		return &k.states
	}
	return &r.track
}

// unpopped is how many states of a container wait for a pop.
func (c *tree) unpopped(k *container) (n int64) {
	for r := range c.eachRow(k) {
		n += trackOf(k, r).unpopped()
	}
	return n
}
