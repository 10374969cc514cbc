package otf2

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A caller follows the calls of a location and gives them to its stream, with their attributes.
type caller struct {
	a      *archive
	stream trace.Stream
	local  *local
	reader eventReader

	at int32 // location, index of definition

	timer timer
	ticks uint64 // of now
	now   trace.Time

	regions regionCache
	batch   [callBatch]trace.StackRecord // calls on their way to the stream
	stack   []match.Call
	entered uint32 // calls that were given to the stream
	// fresh: the last row given to the stream is the Enter on top of the stack, so
	// that attributes go there; given are those it has.
	fresh bool
	given []trace.AttributeID
	facts []fact

	started []match.Half // effects of a thread or task that begins, which its first call takes
	left    fork         // the call that was left last
	halves  match.Halves
	seq     uint32
	collect []match.Participation

	tally tally
}

// A row turns the events of one location into a stream of the trace. One worker
// uses it for one location after the other. next to its buffers it holds open
// calls, requests and operations, which are bounded.
type row struct {
	observer

	defs definitionReader
}

// A fact is an attribute on its way to the stream.
type fact struct {
	attribute trace.AttributeID
	value     trace.Value
}

// regionCache finds the regions of a location's records. Numbers may be sparse,
// but few are in use at a time.
type regionCache [256]struct {
	ref uint64
	id  trace.RegionID
	set bool
}

const (
	// farthest is how far from the start of the trace a time is believed, ns.
	farthest = 1 << 61
	// mostOpen bounds the operations that wait for their completion on one location.
	mostOpen = 1 << 20
)

func newRow(a *archive) *row {
	r := new(row)
	r.a = a
	return r
}

// begin makes the row ready for another location.
func (r *row) begin(at int32) {
	d := &r.a.defs
	keep := *r
	*r = row{defs: keep.defs}
	r.a, r.reader, r.at, r.process = keep.a, keep.reader, at, keep.a.tree.places[at].process
	r.stack, r.given, r.facts, r.started = keep.stack[:0], keep.given[:0], keep.facts[:0], keep.started[:0]
	r.halves, r.collect, r.contexts, r.path = keep.halves, keep.collect, keep.contexts[:0], keep.path[:0]
	r.requests, r.collSeq, r.rma, r.metrics = emptied(keep.requests), emptied(keep.collSeq), emptied(keep.rma),
		emptied(keep.metrics)
	r.joined = undefined32
	r.left.Call = match.Call{Region: trace.NoRegion}
	r.timer = newTimer(d.resolution, d.offset)
	r.tally.begin()
}

func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 1024 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// read takes all events of the open file. ctx ends it at any time.
func (r *row) read(ctx context.Context) error {
	var e event
	for n, check := 0, 0; r.reader.next(&e); n += 1 + r.plain() {
		if n >= check {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			check = n + plainEvents
		}
		if e.ticks != r.ticks || n == 0 {
			r.setTime(e.ticks)
		}
		r.tally.events[e.id]++
		switch e.id {
		case evEnter:
			r.enter(r.region(e.value))
		case evLeave:
			if e.attributes != nil {
				r.attach(&e)
			}
			r.leave(r.region(e.value))
			continue
		default:
			r.record(&e)
			continue
		}
		if e.attributes != nil {
			r.attach(&e)
		}
	}
	r.finish()
	return ctx.Err()
}

// setTime moves now. A time that is far out of any trace is damage: then nothing
// happens.
func (r *caller) setTime(ticks uint64) {
	r.ticks = ticks
	t := r.timer.at(r.local.clock.at(ticks))
	if t > farthest || t < -farthest {
		r.tally.times++
		return
	}
	r.now = t
}

// region finds the region that a record names by its local number.
func (r *caller) region(ref uint64) trace.RegionID {
	c := &r.regions[ref%uint64(len(r.regions))]
	if !c.set || c.ref != ref {
		c.ref, c.id, c.set = ref, r.a.region(r.local, ref, &r.tally), true
	}
	return c.id
}

func (r *caller) enter(id trace.RegionID) {
	r.stream.Enter(r.now, id)
	r.entered++
	r.stack = append(r.stack, match.Call{Region: id, Number: r.entered})
	r.fresh = true
	r.given = r.given[:0]
	if len(r.started) > 0 {
		r.endStarted()
	}
}

// start keeps the effect of a beginning thread or task until its first call, so
// that the link ends on something.
func (r *caller) start(h match.Half) {
	h.Place(r.now, r.innermost())
	r.started = append(r.started, h)
	if len(r.started) > 64 {
		r.endStarted()
	}
}

// endStarted passes on the halves of links that wait for a first call: placed at
// the call just entered, or as they are if there is none.
func (r *caller) endStarted() {
	for _, h := range r.started {
		if r.fresh {
			h.Place(r.now, r.innermost())
		}
		r.half(1, &h)
	}
	r.started = r.started[:0]
}

// leave mirrors the rule of call stacks that the stream follows, so that the row
// knows the innermost call.
func (r *caller) leave(id trace.RegionID) {
	r.stream.Leave(r.now, id)
	r.fresh = false
	r.left.time, r.left.Call = r.now, match.Call{Region: id}
	for n := len(r.stack) - 1; n >= 0; n-- {
		if r.stack[n].Region == id {
			r.left.Call = r.stack[n]
			r.stack = r.stack[:n]
			return
		}
	}
}

// innermost is the call that is open, for the ends of links.
func (r *caller) innermost() match.Call {
	if n := len(r.stack); n > 0 {
		return r.stack[n-1]
	}
	return match.Call{Region: trace.NoRegion}
}

// attach gives the attributes of a list to the row written last.
func (r *caller) attach(e *event) {
	r.attributes(e.attributes)
	r.give(e.id)
}

// attributes reads an attribute list into facts.
func (r *caller) attributes(list []byte) {
	f := fields{b: list, big: r.reader.big}
	n := f.uint32()
	for i := uint32(0); i < n && f.more(); i++ {
		id := r.local.global(mapAttribute, uint64(f.uint32()))
		v := f.value(f.uint8())
		if f.bad {
			break
		}
		if a, ok := r.a.attribute(id); ok {
			r.add(a, r.a.defs.value(v, r.local))
			continue
		}
		r.tally.attributes++
	}
	if f.bad {
		r.tally.bad++
	}
}

// add puts a fact with those that give will give.
func (r *caller) add(a trace.AttributeID, v trace.Value) {
	if v.Kind != 0 {
		r.facts = append(r.facts, fact{a, v})
	}
}

// give yields the facts of a record: as attributes of the call it is in,
// where nothing came between and the call does not have them, else as an instant
// that is named after the record.
func (r *caller) give(id uint8) {
	if len(r.facts) == 0 {
		r.facts = r.facts[:0]
		return
	}
	if !r.fresh || r.twice() {
		r.instant(id)
		return
	}
	for _, f := range r.facts {
		r.stream.Attribute(f.attribute, f.value)
		r.given = append(r.given, f.attribute)
	}
	r.facts = r.facts[:0]
}

// twice reports whether the call on top has one of the facts already.
func (r *caller) twice() bool {
	for _, f := range r.facts {
		for _, g := range r.given {
			if g == f.attribute {
				return true
			}
		}
	}
	return false
}

// instant gives a point in time that is named after a record, with the facts.
func (r *caller) instant(id uint8) {
	r.stream.Instant(r.now, r.a.recordRegion(id))
	for _, f := range r.facts {
		r.stream.Attribute(f.attribute, f.value)
	}
	r.fresh = false
	r.facts = r.facts[:0]
}

// finish ends a location.
func (r *row) finish() {
	r.endContexts()
	r.fresh = false
	r.endStarted()
	r.endRMA()
	r.endRequests()
}

// cause and effect keep one end of a link.
func (r *caller) cause(h match.Half)  { r.causeAt(h, r.now, r.innermost()) }
func (r *caller) effect(h match.Half) { h.Place(r.now, r.innermost()); r.half(1, &h) }

// causeAt keeps a cause that was before now.
func (r *caller) causeAt(h match.Half, t trace.Time, c match.Call) { h.Place(t, c); r.half(0, &h) }

func (r *caller) half(side int, h *match.Half) {
	h.SetHash()
	r.keep(side, h)
}

// keep passes a half whose hash is known to the matcher.
func (r *caller) keep(side int, h *match.Half) {
	h.At, h.Seq = uint32(r.at), r.seq
	r.seq++
	r.halves.Add(r.a.matcher, side, h)
}

// flush passes the collected halves to the matcher.
func (r *caller) flush() {
	r.halves.Flush(r.a.matcher)
	r.collect = r.a.matcher.Attend(r.collect)
}
