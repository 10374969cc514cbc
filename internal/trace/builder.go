package trace

// A Builder owns the hard rules of one location: it turns the records of a stream, in the order in which they were
// given, into rows of lanes. It matches Enter and Leave, closes intervals that stay open, puts intervals in order,
// nests them, finds lanes for those that overlap, and counts every repair.
//
// There are two ways through it. Enter and Leave under the rule of call stacks come out in preorder by themselves:
// rows go straight to the sink, O(1) each. Everything else is first matched into spans, sorted by (begin, end
// descending, arrival), then laid into lanes, O(log n) each. Memory is that of open intervals and of the sorters. If
// parents are given, see family.
//
// The zero Builder is of no use: call Reset first, then the records, then Finish.
type Builder struct {
	opt     BuilderOptions
	sink    RowSink
	direct  bool
	seq     uint32
	order   uint32
	last    Time // latest Enter or Leave, where they come in order
	stack   []frame
	onStack []uint32 // frames of stack per region
	beyond  int      // intervals past maxOpen that were not left yet
	named   namedMatcher
	nest    nester
	kin     family
	repairs Repairs
	err     error
}

// BuilderOptions describe the records of a location.
type BuilderOptions struct {
	StreamOptions
	// Intervals: Interval will be called.
	Intervals bool
	// End is the last time stamp of the whole trace: intervals still open end there.
	End Time
	// Events sorts Enter and Leave by time where the stream is unordered; Spans
	// sorts intervals. nil sorts in memory.
	Events Sorter[Event]
	Spans  Sorter[Span]
	// Rounded is as told to a Rounder.
	Rounded Time
	// Parents, with ByParent: by Seq of a child, that of its parent and one; 0 for
	// none. No one may be its own ancestor, see CutCircles.
	Parents []uint32
}

// An Event is an Enter or a Leave on its way through a sorter.
type Event struct {
	Time   Time
	Region RegionID
	Seq    uint32 // of an Enter
	Order  uint32 // counts the Enter and Leave records as they arrive
	Leave  bool
}

// A Span is an interval on its way through a sorter. Seq counts the Enter and
// Interval records of a location as they arrive.
type Span struct {
	Begin, End Time
	Region     RegionID
	Seq        uint32
}

// A LaneRow is an interval at its place.
type LaneRow struct {
	Lane, Row, Parent   int32 // rows within the lane; Parent is -1 at the top
	Depth               uint16
	Region              RegionID
	Seq                 uint32
	Begin               Time
	Duration, Exclusive Time
	// Caller is the Seq of the parent and one, where that is in another lane.
	Caller uint32
	// Unclosed: it was never left and ends with the trace. Known when it is closed.
	Unclosed bool
}

// A RowSink receives rows. Open comes in preorder for each lane, with everything
// but Duration and Exclusive; Close comes once for each row, with everything.
// The row is the Builder's: it is valid until the call returns.
type RowSink interface {
	Open(*LaneRow)
	Close(*LaneRow)
}

// maxOpen bounds how many intervals may be open at once on one location, so
// that a source which never leaves cannot take all memory.
const maxOpen = 1 << 20

// A frame is an open interval.
type frame struct {
	begin, end Time // end where it is known
	children   Time // time covered by direct children that are closed
	region     RegionID
	seq        uint32
	row        int32
	caller     uint32 // see LaneRow
	unclosed   bool
}

// Reset makes b ready for the records of another location; memory is kept.
func (b *Builder) Reset(opt BuilderOptions, sink RowSink) {
	if opt.Events == nil {
		opt.Events = new(eventSorter)
	}
	if opt.Spans == nil {
		opt.Spans = new(spanSorter)
	}
	b.opt, b.sink = opt, sink
	b.direct = !opt.Intervals && !opt.ByName && !opt.ByParent
	b.seq, b.order, b.last = 0, 0, minTime
	for _, f := range b.stack {
		b.onStack[f.region] = 0
	}
	b.stack, b.beyond = b.stack[:0], 0
	b.named.reset()
	b.nest.reset(sink)
	b.nest.slack = max(opt.Rounded, 0)
	b.kin.reset(&b.nest, opt.Parents, sink)
	b.repairs = Repairs{}
	b.err = nil
}

const (
	minTime = Time(-1 << 63)
	maxTime = Time(1<<63 - 1)
)

// Enter opens an interval.
func (b *Builder) Enter(t Time, region RegionID) {
	seq := b.seq
	b.seq++
	if b.opt.Unordered {
		b.fail(b.opt.Events.Add(Event{Time: t, Region: region, Seq: seq, Order: b.order}))
		b.order++
		return
	}
	b.enter(t, region, seq)
}

// Leave closes an interval.
func (b *Builder) Leave(t Time, region RegionID) {
	if b.opt.Unordered {
		b.fail(b.opt.Events.Add(Event{Time: t, Region: region, Order: b.order, Leave: true}))
		b.order++
		return
	}
	b.leave(t, region)
}

// Interval adds a whole interval.
func (b *Builder) Interval(begin, end Time, region RegionID) {
	if end < begin {
		end = begin
		b.repairs.Negative++
	}
	b.fail(b.opt.Spans.Add(Span{Begin: begin, End: end, Region: region, Seq: b.seq}))
	b.seq++
}

// Finish closes open intervals and yields the rows that are not yet.
func (b *Builder) Finish() (Repairs, error) {
	if b.opt.Unordered {
		b.fail(b.opt.Events.Each(func(e Event) error {
			if e.Leave {
				b.leave(e.Time, e.Region)
			} else {
				b.enter(e.Time, e.Region, e.Seq)
			}
			return b.err
		}))
	}
	for n := len(b.stack) - 1; n >= 0; n-- {
		b.unclosed(&b.stack[n])
		b.pop(max(b.opt.End, b.stack[n].begin))
	}
	b.named.drain(func(f frame) {
		b.unclosed(&f)
		b.span(f, max(b.opt.End, f.begin))
	})
	switch {
	case b.opt.ByParent:
		b.fail(b.opt.Spans.Each(func(s Span) error {
			b.kin.add(s)
			return b.err
		}))
		b.kin.finish()
	case !b.direct:
		b.fail(b.opt.Spans.Each(func(s Span) error {
			b.nest.place(s)
			return b.err
		}))
		b.nest.finish()
	}
	b.repairs.Deep += b.nest.deep
	b.repairs.Rounded += b.nest.rounded
	return b.repairs, b.err
}

// unclosed notes an interval that ends with the trace.
func (b *Builder) unclosed(f *frame) {
	b.repairs.Unclosed++
	f.unclosed = true
	if !b.direct {
		if b.nest.unclosed == nil {
			b.nest.unclosed = map[uint32]bool{}
		}
		b.nest.unclosed[f.seq] = true
	}
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// enter opens an interval, in order of time.
func (b *Builder) enter(t Time, region RegionID, seq uint32) {
	t = b.forward(t)
	if len(b.stack) >= maxOpen || b.named.open >= maxOpen {
		b.repairs.Deep++
		b.beyond++
		b.shut(t, region, seq)
		return
	}
	f := frame{begin: t, region: region, seq: seq}
	if b.opt.ByName {
		b.named.enter(f)
		return
	}
	if b.direct {
		f.row = b.nest.open(0, b.stack, &f)
	}
	if int(region) >= len(b.onStack) {
		b.onStack = append(b.onStack, make([]uint32, int(region)+1-len(b.onStack))...)
	}
	b.onStack[region]++
	b.stack = append(b.stack, f)
}

// shut keeps an interval that would nest too deep, as an empty one.
func (b *Builder) shut(t Time, region RegionID, seq uint32) {
	f := frame{begin: t, region: region, seq: seq}
	if !b.direct {
		b.span(f, t)
		return
	}
	f.row = b.nest.open(0, b.stack, &f)
	b.nest.close(0, b.stack, &f, t)
}

// leave closes an interval, in order of time.
func (b *Builder) leave(t Time, region RegionID) {
	t = b.forward(t)
	if b.beyond > 0 { // the end of one that was shut: it nests, so it comes first
		b.beyond--
		return
	}
	if b.opt.ByName {
		f, ok := b.named.leave(region)
		if !ok {
			b.repairs.Stray++
			return
		}
		b.span(f, t)
		return
	}
	n := len(b.stack)
	if n == 0 || region != NoRegion && (int(region) >= len(b.onStack) || b.onStack[region] == 0) {
		b.repairs.Stray++
		return
	}
	for region != NoRegion && b.stack[len(b.stack)-1].region != region {
		b.repairs.Forced++
		b.pop(t)
	}
	b.pop(t)
}

// forward repairs time that runs backwards: the order of records is trusted, the
// clock is not.
func (b *Builder) forward(t Time) Time {
	if t < b.last {
		b.repairs.Backwards++
		return b.last
	}
	b.last = t
	return t
}

// pop closes the innermost interval of the stack.
func (b *Builder) pop(t Time) {
	n := len(b.stack) - 1
	f := b.stack[n]
	b.stack = b.stack[:n]
	b.onStack[f.region]--
	if b.direct {
		b.nest.close(0, b.stack, &f, t)
		return
	}
	b.span(f, t)
}

func (b *Builder) span(f frame, end Time) {
	b.fail(b.opt.Spans.Add(Span{Begin: f.begin, End: end, Region: f.region, Seq: f.seq}))
}
