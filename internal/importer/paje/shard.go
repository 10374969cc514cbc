package paje

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// maxStack bounds how many states may be open on one container and type.
const maxStack = 1 << 20

// A shard writes the streams of some containers, and joins the links of some keys. It takes blocks in the order of
// the file.
type shard struct {
	c      *converter
	number int
	todo   chan handed

	frames    []frame // the first is none
	freeFrame uint32
	pending   pendings
	joined    []trace.Link // not yet handed over
	fields    fields
	order     []uint32 // of the work for a block
	tally     tally
	err       error
}

// A handed is a block for a shard, or a caller that waits until it has done all before.
type handed struct {
	block *block
	idle  chan<- struct{}
}

// A frame is a state with another one in it. All tracks of a shard share one list, so that most
// containers take nothing of it.
type frame struct {
	region trace.RegionID
	next   uint32 // the state around it, or another frame that is free
}

func newShard(c *converter, number int) *shard {
	return &shard{c: c, number: number, frames: make([]frame, 1), pending: newPendings()}
}

// ahead is how many blocks may wait for a shard.
const ahead = 2

func (s *shard) give(ctx context.Context, h handed) error {
	select {
	case s.todo <- h:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run takes blocks until there are no more.
func (s *shard) run() {
	for h := range s.todo {
		if h.idle != nil {
			h.idle <- struct{}{}
			continue
		}
		s.take(h.block)
		if h.block.left.Add(-1) == 0 {
			h.block.free()
		}
	}
}

// take does the shard's work for a block.
func (s *shard) take(b *block) {
	for _, i := range s.inOrder(&b.deedsOf[s.number], func(i uint32) uint32 { return b.deeds[i].line }) {
		d := &b.deeds[i]
		switch d.op {
		case opSetState, opPushState, opPopState, opResetState:
			s.state(b, d)
		case opEvent:
			stream := s.open(d.k, nil)
			stream.Instant(d.time, d.region)
			s.facts(b, d, stream)
		case opDestroy:
			s.end(d.k, d.row, d.time)
		default:
			s.sample(b, d)
		}
	}
	for _, i := range s.inOrder(&b.linksOf[s.number], func(i uint32) uint32 { return b.links[i].line }) {
		s.link(b, &b.links[i], true)
	}
}

func (s *shard) inOrder(t *turns, line func(uint32) uint32) []uint32 {
	if len(t.left) == 0 {
		return t.found
	}
	s.order = t.merge(s.order, line)
	return s.order
}

// count counts something at the line of a deed.
func (s *shard) count(why reason, b *block, d *deed) { s.tally.Add(why, b.base+int64(d.line)) }

// state does for the four events of states.
func (s *shard) state(b *block, d *deed) {
	k := d.k
	if d.time < k.last {
		s.count(disorder, b, d)
	} else {
		k.last = d.time
	}
	track, stream := trackOf(k, d.row), s.open(k, d.row)
	switch d.op {
	case opPopState:
		if track.depth == 0 {
			s.count(strayPop, b, d)
			return
		}
		stream.Leave(d.time, s.drop(track))
		return
	case opSetState, opResetState:
		s.clear(track, stream, d.time)
	}
	if d.op == opResetState {
		return
	}
	stream.Enter(d.time, d.region)
	if track.depth < maxStack {
		track.set = track.set || d.op == opSetState
		s.push(track, d.region)
	} else {
		stream.Leave(d.time, d.region)
	}
	s.facts(b, d, stream)
}

// facts adds attributes to the record given to the stream last.
func (s *shard) facts(b *block, d *deed, stream trace.Stream) {
	if !d.keep && !d.facts {
		return
	}
	r := &b.records[d.record]
	s.fields.again(r, b.data)
	if d.keep {
		stream.Attribute(trace.AttributeID(s.c.valueID-1), value(s.fields.of[fieldValue], true))
	}
	if !d.facts {
		return
	}
	for _, own := range s.fields.own {
		if len(own.word) > 0 {
			stream.Attribute(trace.AttributeID(r.layout.ids[own.at].Load()-1), value(own.word, true))
		}
	}
}

// sample does for the three events of variables.
func (s *shard) sample(b *block, d *deed) {
	v, number := d.variable, b.records[d.record].number
	if d.op != opSetVariable && !v.set {
		s.count(unsetVariable, b, d)
	}
	switch v.set = true; d.op {
	case opSetVariable:
		v.value = number
	case opAddVariable:
		v.value += number
	case opSubVariable:
		v.value -= number
	}
	s.open(d.k, nil).Sample(v.counter, d.time, v.value)
}

// open returns the stream that the states of a row go to, and all that is on the container itself.
func (s *shard) open(k *container, r *stateRow) trace.Stream {
	if r == nil {
		if k.stream == nil {
			k.stream = s.stream(k.location)
		}
		return k.stream
	}
	if r.stream == nil {
		r.stream = s.stream(r.location)
	}
	return r.stream
}

func (s *shard) stream(at trace.LocationID) trace.Stream {
	// Files in order pay nothing for this.
	return s.c.w.Stream(at, trace.StreamOptions{Unordered: true})
}

// end ends the states of a row at t, and its stream, so that the writer may let go of it; another
// record opens it again.
func (s *shard) end(k *container, r *stateRow, t trace.Time) {
	if track := trackOf(k, r); track.depth > 0 {
		s.clear(track, s.open(k, r), t)
	}
	stream := &k.stream
	if r != nil {
		stream = &r.stream
	}
	if *stream == nil {
		return
	}
	if err := (*stream).Close(); s.err == nil {
		s.err = err
	}
	*stream = nil
}

// clear ends all states of a track at t.
func (s *shard) clear(r *track, stream trace.Stream, t trace.Time) {
	for r.depth > 0 {
		stream.Leave(t, s.drop(r))
	}
}

// push opens a state.
func (s *shard) push(r *track, region trace.RegionID) {
	if r.depth > 0 {
		around := frame{r.region, r.around}
		if at := s.freeFrame; at != 0 {
			s.freeFrame, r.around = s.frames[at].next, at
			s.frames[at] = around
		} else {
			r.around = uint32(len(s.frames))
			s.frames = append(s.frames, around)
		}
	}
	r.region = region
	r.depth++
}

// drop closes the innermost of the states that are open, and returns it.
func (s *shard) drop(r *track) trace.RegionID {
	region := r.region
	if r.depth--; r.depth == 0 {
		r.set = false
		return region
	}
	f := &s.frames[r.around]
	r.region, r.around, f.next, s.freeFrame = f.region, f.next, s.freeFrame, r.around
	return region
}
