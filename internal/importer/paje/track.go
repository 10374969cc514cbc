package paje

import "github.com/parallax-hpc/parallax/internal/trace"

// A track is the states of one type on one container: a stack.
type track struct {
	kind  uint32 // index of the type; 0 for none
	top   uint32 // innermost state, see converter.frames; 0 for none
	depth uint32
	next  uint32 // another track of the container, see converter.tracks; 0 for none
	set   bool   // the outermost was set, not pushed: it needs no pop
}

// A frame is a state that is open. All stacks share one list, so that a container
// with nothing open holds nothing.
type frame struct {
	region trace.RegionID
	below  uint32 // the state around it, or the next frame that is free; 0 for none
}

// unpopped is how many states wait for a pop.
func (r *track) unpopped() int64 {
	if r.set {
		return int64(r.depth) - 1
	}
	return int64(r.depth)
}

// push opens a state.
func (c *converter) push(r *track, region trace.RegionID) {
	at := c.freeFrame
	if at == 0 {
		at = uint32(len(c.frames))
		c.frames = append(c.frames, frame{region, r.top})
	} else {
		f := &c.frames[at]
		c.freeFrame = f.below
		*f = frame{region, r.top}
	}
	r.top = at
	r.depth++
}

// drop closes the innermost of the states that are open, and gives it.
func (c *converter) drop(r *track) trace.RegionID {
	f := &c.frames[r.top]
	r.top, f.below, c.freeFrame = f.below, c.freeFrame, r.top
	r.depth--
	r.set = r.set && r.depth > 0
	return f.region
}

// clear ends all states of a track at t.
func (c *converter) clear(r *track, s trace.Stream, t trace.Time) {
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
func (c *converter) track(k *container, t *typ) *track {
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

// addTrack begins the states of another type. With a second one, states may cross,
// so from there on a stream is matched by name.
func (c *converter) addTrack(k *container, t *typ) *track {
	if k.states.kind == 0 {
		k.states.kind = t.index
		return &k.states
	}
	second := !k.byName()
	at := uint32(len(c.tracks))
	c.tracks = append(c.tracks, track{kind: t.index})
	r, n := &k.states, 1
	for ; n < fewTracks && r.next != 0; n++ {
		r = &c.tracks[r.next]
	}
	c.tracks[at].next, r.next = r.next, at
	if n == fewTracks {
		c.moreTracks[trackKey{k, t.index}] = at
	}
	if second && k.stream != nil {
		c.fail(k.stream.Close())
		k.stream = c.w.Stream(k.location, trace.StreamOptions{Unordered: true, ByName: true})
	}
	return &c.tracks[at]
}

// unpopped is how many states of a container wait for a pop.
func (c *converter) unpopped(k *container) (n int64) {
	for r := &k.states; ; r = &c.tracks[r.next] {
		n += r.unpopped()
		if r.next == 0 {
			return n
		}
	}
}

// endStates closes everything that is open on a container.
func (c *converter) endStates(k *container, t trace.Time) {
	for r := &k.states; ; r = &c.tracks[r.next] {
		c.clear(r, k.stream, t)
		if r.next == 0 {
			return
		}
	}
}
