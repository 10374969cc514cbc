package paje

import (
	"regexp"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A container is a location, with what is open on it.
type container struct {
	typ      *typ
	name     string
	parent   *container
	children []*container
	location trace.LocationID
	rank     int // its own or one above
	created  trace.Time
	ended    trace.Time
	isEnded  bool
	lifeless bool // known to the file only as the root

	stream trace.Stream // nil until there are records
	byName bool         // states of several types
	last   trace.Time   // of the states
	tracks []*track
	more   map[*typ]*track // past fewTracks
}

// A track is the states of one type on one container: a stack, innermost last.
type track struct {
	typ   *typ
	stack []trace.RegionID
	set   bool // the outermost was set, not pushed: it needs no pop
}

// clear ends all states of a track at t.
func (r *track) clear(s trace.Stream, t trace.Time) {
	for i := len(r.stack) - 1; i >= 0; i-- {
		s.Leave(t, r.stack[i])
	}
	r.stack, r.set = r.stack[:0], false
}

// unpopped is how many states wait for a pop.
func (r *track) unpopped() int {
	if r.set {
		return len(r.stack) - 1
	}
	return len(r.stack)
}

// fewTracks is how many types of states a container is searched for.
const fewTracks = 8

func (k *container) track(t *typ) *track {
	for _, r := range k.tracks[:min(len(k.tracks), fewTracks)] {
		if r.typ == t {
			return r
		}
	}
	if r := k.more[t]; r != nil {
		return r
	}
	return nil
}

// open gives the stream of a container.
func (c *converter) open(k *container) trace.Stream {
	if k.stream == nil {
		if k.lifeless {
			c.defineRoot(k)
		}
		// Whoever writes in order pays nothing for this.
		k.stream = c.w.Stream(k.location, trace.StreamOptions{Unordered: true, ByName: k.byName})
		c.opened = append(c.opened, k)
	}
	return k.stream
}

// defineRoot gives the root a location, which it has only where something happens
// on it.
func (c *converter) defineRoot(k *container) {
	k.location = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: "0", Name: "root", Rank: trace.NoRank})
	k.lifeless = false
}

// addTrack begins the states of another type. With a second one, states may cross,
// so from there on a stream is matched by name.
func (c *converter) addTrack(k *container, t *typ) *track {
	r := &track{typ: t}
	k.tracks = append(k.tracks, r)
	if len(k.tracks) > fewTracks {
		if k.more == nil {
			k.more = map[*typ]*track{}
		}
		k.more[t] = r
	}
	if len(k.tracks) == 2 {
		k.byName = true
		if k.stream != nil {
			c.fail(k.stream.Close())
			k.stream = c.w.Stream(k.location, trace.StreamOptions{Unordered: true, ByName: true})
		}
	}
	return r
}

// containerOf finds the container that a word means: by alias, else by name.
func (c *converter) containerOf(s symbol, text []byte, line int64) *container {
	if k := c.containers.get(s, text); k != nil {
		return k
	}
	k := c.containerNames.get(s, text)
	if k == nil {
		c.tally.Add(unknownContainer, line)
		return nil
	}
	c.tally.Add(containerByName, line)
	return k
}

// create takes PajeCreateContainer.
func (c *converter) create(f *fields, line int64) {
	t := c.typeOf(c.symbols.find(f.of[fieldType]), f.of[fieldType], line)
	if t == nil {
		return
	}
	if t.op != opContainerType {
		c.tally.Add(wrongNature, line)
		return
	}
	id := f.of[fieldAlias]
	if len(id) == 0 {
		id = f.of[fieldName]
	}
	name := string(f.of[fieldName])
	if name == "" {
		name = string(id)
	}
	k := &container{typ: t, name: name, parent: c.parentOf(f, line), rank: trace.NoRank}
	word := c.symbols.find(id)
	if old := c.containers.get(word, id); old != nil {
		c.tally.Add(recreated, line)
		if old == c.root {
			return
		}
		if old.typ == t && old.parent == k.parent {
			old.isEnded = false
			old.created = min(old.created, f.time)
			c.include(f)
			return
		}
	}
	k.created = f.time
	c.place(k, string(id), f)
	c.containers.set(word, id, k)
	if len(f.of[fieldAlias]) > 0 {
		if w := c.symbols.find([]byte(name)); c.containerNames.get(w, []byte(name)) == nil {
			c.containerNames.set(w, []byte(name), k)
		}
	}
	c.include(f)
}

// parentOf finds what a new container lies in.
func (c *converter) parentOf(f *fields, line int64) *container {
	w := f.of[fieldContainer]
	s := c.symbols.find(w)
	if k := c.containers.get(s, w); k != nil {
		return k
	}
	if k := c.containerNames.get(s, w); k != nil {
		c.tally.Add(containerByName, line)
		return k
	}
	c.tally.Add(unknownParent, line)
	return c.root
}

// place defines the location of a new container.
func (c *converter) place(k *container, key string, f *fields) {
	l := trace.Location{Parent: trace.NoLocation, Kind: k.typ.kind, Key: key, Name: k.name, Rank: trace.NoRank}
	if k.parent != c.root {
		l.Parent, k.rank = k.parent.location, k.parent.rank
	}
	for _, own := range f.own {
		n, err := strconv.ParseInt(string(own.word), 10, 64)
		switch {
		case len(own.word) == 0:
		case own.name == "Order" && err == nil:
			l.Order = n
		case own.name == "Rank" && err == nil && n >= 0 && n <= maxRank && k.rank == trace.NoRank:
			l.Rank = int(n)
		default:
			l.Attributes = append(l.Attributes, trace.Attribute{Key: own.name, Value: value(own.word, own.number)})
		}
	}
	if l.Rank == trace.NoRank && k.rank == trace.NoRank {
		if n := rankOf(k.name, key); n >= 0 && !c.ranks[n] {
			l.Rank = n
			c.tally.Add(ranksByName, c.base+int64(f.line))
		}
	}
	if l.Rank != trace.NoRank {
		k.rank = l.Rank
		c.ranks[l.Rank] = true
	}
	k.location = c.w.Location(l)
	k.parent.children = append(k.parent.children, k)
	c.all = append(c.all, k)
}

const maxRank = 1<<31 - 1

// rankNames find the rank in names such as "rank-12", "MPI Rank 3", EZTrace's "P#3"
// and StarPU's "3_program".
var rankNames = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^(?:mpi[ _-]?)?rank[ _#:-]?(\d{1,9})(?:[^0-9]|$)`),
	regexp.MustCompile(`^P#(\d{1,9})$`),
	regexp.MustCompile(`^(\d{1,9})_program$`),
}

// rankOf looks for the rank in the name of a container, else in its alias; -1 for none.
func rankOf(names ...string) int {
	for _, name := range names {
		for _, p := range rankNames {
			if m := p.FindStringSubmatch(name); m != nil {
				n, _ := strconv.Atoi(m[1])
				return n
			}
		}
	}
	return -1
}

// destroy takes PajeDestroyContainer: the container ends, and all in it.
func (c *converter) destroy(f *fields, line int64) {
	id := f.of[fieldName]
	if len(id) == 0 {
		id = f.of[fieldAlias]
	}
	if len(id) == 0 {
		id = f.of[fieldContainer]
	}
	s := c.symbols.find(id)
	k := c.containers.get(s, id)
	if k == nil {
		k = c.containerNames.get(s, id)
		if k == nil {
			c.tally.Add(unknownDestroy, line)
			return
		}
		c.tally.Add(containerByName, line)
	}
	k.typ.destroys = true
	todo := []*container{k}
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if k.isEnded {
			continue
		}
		k.isEnded, k.ended = true, f.time
		c.endStates(k, f.time)
		todo = append(todo, k.children...)
	}
}

// endStates closes everything that is open on a container.
func (c *converter) endStates(k *container, t trace.Time) {
	for _, r := range k.tracks {
		r.clear(k.stream, t)
	}
}
