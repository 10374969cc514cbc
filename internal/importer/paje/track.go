package paje

import (
	"regexp"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is the states of one type on one container: a stack. The innermost is in it,
// the others are frames.
type track struct {
	kind   uint32 // index of the type; 0 for none
	depth  uint32 // how many states are open
	region trace.RegionID
	around uint32 // frame of the state around it
	next   uint32 // another track of the container, see converter.tracks; 0 for none
	row    uint32 // of a second type, see converter.rows
	set    bool   // the outermost was set, not pushed: it needs no pop
}

// A frame is a state with another one in it. All tracks share one list, so that most
// containers take nothing of it.
type frame struct {
	region trace.RegionID
	next   uint32 // the state around it, or another frame that is free
}

// unpopped is how many states wait for a pop.
func (r *track) unpopped() int64 {
	if r.set {
		return int64(r.depth) - 1
	}
	return int64(r.depth)
}

// push opens a state.
func (c *tree) push(r *track, region trace.RegionID) {
	if r.depth > 0 {
		around := frame{r.region, r.around}
		if at := c.freeFrame; at != 0 {
			c.freeFrame, r.around = c.frames[at].next, at
			c.frames[at] = around
		} else {
			r.around = uint32(len(c.frames))
			c.frames = append(c.frames, around)
		}
	}
	r.region = region
	r.depth++
}

// drop closes the innermost of the states that are open, and gives it.
func (c *tree) drop(r *track) trace.RegionID {
	region := r.region
	if r.depth--; r.depth == 0 {
		r.set = false
		return region
	}
	f := &c.frames[r.around]
	r.region, r.around, f.next, c.freeFrame = f.region, f.next, c.freeFrame, r.around
	return region
}

// A stateRow is where the states of a second type lie.
type stateRow struct {
	location trace.LocationID
	stream   trace.Stream // nil while it is closed
}

// streamOf gives the stream that the states of a type go to.
func (c *tree) streamOf(k *container, r *track) trace.Stream {
	if r == &k.states {
		return c.open(k)
	}
	row := &c.rows[r.row]
	if row.stream == nil {
		row.stream = c.w.Stream(row.location, trace.StreamOptions{Unordered: true})
	}
	return row.stream
}

// clear ends all states of a track at t.
func (c *tree) clear(r *track, s trace.Stream, t trace.Time) {
	for r.depth > 0 {
		s.Leave(t, c.drop(r))
	}
}

// fewTracks is how many types of states a container is searched for; past it a map
// of all containers is.
const fewTracks = 8

type trackKey struct {
	k    *container
	kind uint32
}

// track finds the states of a type; nil for none.
func (c *tree) track(k *container, t *typ) *track {
	r := &k.states
	for n := 1; r.kind != t.index; n++ {
		if r.next == 0 {
			return nil
		}
		if n == fewTracks {
			if at, ok := c.moreTracks[trackKey{k, t.index}]; ok {
				return &c.tracks[at]
			}
			return nil
		}
		r = &c.tracks[r.next]
	}
	return r
}

// addTrack begins the states of another type. Types are parallel, not nested: each
// tells all the time of its container. So states of the first type lie on the
// container, and those of each other one on a row below it.
func (c *tree) addTrack(k *container, t *typ) *track {
	if k.states.kind == 0 && !repeatedType.MatchString(t.name) {
		k.states.kind = t.index
		return &k.states
	}
	if k.location == trace.NoLocation {
		c.defineRoot(k)
	}
	at := uint32(len(c.tracks))
	c.tracks = append(c.tracks, track{kind: t.index, row: at})
	kind, why := trace.KindStates, secondStates
	if repeatedType.MatchString(t.name) {
		kind, why = trace.KindRepeat, repeatedStates
	}
	l := trace.Location{Parent: k.location, Kind: kind, Key: "states/" + t.alias + "/" + t.name, Name: t.name, Rank: trace.NoRank}
	c.rows = append(c.rows, stateRow{location: c.w.Location(l)})
	c.tally.Add(why, nowhere)
	r, n := &k.states, 1
	for ; n < fewTracks && r.next != 0; n++ {
		r = &c.tracks[r.next]
	}
	c.tracks[at].next, r.next = r.next, at
	if n == fewTracks {
		c.moreTracks[trackKey{k, t.index}] = at
	}
	return &c.tracks[at]
}

// repeatedType are types that only say once more what another one tells: StarPU's
// "Worker State" and "InCtx1" both name the task that runs, which runs once.
var repeatedType = regexp.MustCompile(`^InCtx\d*$`)

// unpopped is how many states of a container wait for a pop.
func (c *tree) unpopped(k *container) (n int64) {
	for r := &k.states; ; r = &c.tracks[r.next] {
		n += r.unpopped()
		if r.next == 0 {
			return n
		}
	}
}

// endStates closes everything that is open on a container.
func (c *tree) endStates(k *container, t trace.Time) {
	for r := &k.states; ; r = &c.tracks[r.next] {
		if r.depth > 0 {
			c.clear(r, c.streamOf(k, r), t)
		}
		if r.next == 0 {
			return
		}
	}
}
