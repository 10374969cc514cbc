package paje

import "github.com/parallax-hpc/parallax/internal/trace"

// A track is the states of one type on one container: a stack. The innermost is in it,
// the others are frames.
type track struct {
	kind   uint32 // index of the type; 0 for none
	depth  uint32 // how many states are open
	region trace.RegionID
	around uint32 // frame of the state around it
	next   uint32 // another track of the container, see converter.tracks; 0 for none
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
func (c *converter) push(r *track, region trace.RegionID) {
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
func (c *converter) drop(r *track) trace.RegionID {
	region := r.region
	if r.depth--; r.depth == 0 {
		r.set = false
		return region
	}
	f := &c.frames[r.around]
	r.region, r.around, f.next, c.freeFrame = f.region, f.next, c.freeFrame, r.around
	return region
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
