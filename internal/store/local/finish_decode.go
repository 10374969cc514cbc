package local

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// decode reads the records of a stream in order and gives Enter and Leave to stack,
// where that is not nil, else to the Builder.
func (w *rowWorker) decode(ctx context.Context, s *stream, stack *trace.StackBuilder) error {
	w.chain = w.f.chunks.chain(s.tail, w.chain)
	d := decoder{origin: w.f.origin}
	for _, at := range w.chain {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		d.reset(w.f.chunks.chunk(at))
		for len(d.b) >= halfBytes {
			if stack == nil || !w.calls(&d, stack) {
				w.record(&d, stack)
			}
		}
		if err := cmp.Or(w.out.err, w.rows.err); err != nil {
			return err
		}
	}
	return nil
}

// calls gives the Enter and Leave records that come next to a StackBuilder, many at a
// time; false where there are none.
func (w *rowWorker) calls(d *decoder, stack *trace.StackBuilder) bool {
	b, base, list, rows := d.b, d.base, w.batch[:0], uint64(0)
	for len(b) >= halfBytes && len(list) < cap(list) {
		h := binary.LittleEndian.Uint32(b)
		leave, id := h>>1&1, h>>halfShift&(1<<halfID-1)
		if h&1 != 0 {
			b = b[halfBytes:]
			base += trace.Time(h >> halfTimeAt)
		} else {
			if h>>1&(1<<opBits-1) > opLeave {
				break
			}
			word := binary.LittleEndian.Uint64(b)
			b = b[wordBytes:]
			base += trace.Time(int64(word) >> timeShift)
			id = uint32(word >> idShift & (1<<idBits - 1))
		}
		rows += uint64(1 - leave)
		list = list[:len(list)+1]
		r := &list[len(list)-1]
		r.Time, r.Region, r.Leave = base, trace.RegionID(id), leave != 0
	}
	if len(list) == 0 {
		return false
	}
	d.b, d.base = b, base
	d.row += rows
	d.lastIsInstant = d.lastIsInstant && rows == 0
	stack.Run(list)
	return true
}

// record takes one record, of any kind.
func (w *rowWorker) record(d *decoder, stack *trace.StackBuilder) {
	op, id, v := d.head()
	switch op {
	case opEnter:
		if t := d.time(v); stack != nil {
			stack.Enter(t, trace.RegionID(id))
		} else {
			w.builder.Enter(t, trace.RegionID(id))
		}
		d.entered()
	case opLeave, opLeaveAny:
		region := trace.NoRegion
		if op == opLeave {
			region = trace.RegionID(id)
		}
		if t := d.time(v); stack != nil {
			stack.Leave(t, region)
		} else {
			w.builder.Leave(t, region)
		}
	case opInterval:
		begin := d.time(v)
		w.builder.Interval(begin, begin+trace.Time(d.word()), trace.RegionID(id))
		d.entered()
	case opInstant:
		w.fail(w.instants.Add(instantRecord{d.time(v), uint32(d.instant), trace.RegionID(id)}))
		d.instant++
		d.lastIsInstant = true
	case opSample:
		t := d.time(v)
		w.fail(w.samples.Add(sampleRecord{t, math.Float64frombits(d.word()), trace.CounterID(id)}))
	case opFact:
		r := factRecord{attribute: id, kind: uint8(v), bits: d.word()}
		if d.lastIsInstant {
			r.key = d.instant - 1
			w.fail(w.instantFacts.Add(r))
		} else {
			r.key = d.row - 1
			w.fail(w.facts.Add(r))
		}
	}
}

// A decoder reads the records of a stream, chunk by chunk.
type decoder struct {
	b             []byte
	base          trace.Time
	origin        trace.Time
	row, instant  uint64 // how many so far
	lastIsInstant bool
}

// reset starts a chunk: its first time is a difference to zero.
func (d *decoder) reset(b []byte) { d.b, d.base = b, -d.origin }

// head takes the first words of a record: what it is, its id, and its time since the
// record before, or what it has in place of that.
func (d *decoder) head() (op, id uint32, v int64) {
	if h := binary.LittleEndian.Uint32(d.b); h&1 != 0 {
		d.b = d.b[halfBytes:]
		return h >> 1 & 1, h >> halfShift & (1<<halfID - 1), int64(h >> halfTimeAt)
	}
	w := d.word()
	if op = uint32(w >> 1 & (1<<opBits - 1)); op != opWide {
		return op, uint32(w >> idShift & (1<<idBits - 1)), int64(w) >> timeShift
	}
	return uint32(w >> idShift & (1<<opBits - 1)), uint32(w >> 32), int64(d.word())
}

// entered notes that a row came.
func (d *decoder) entered() {
	d.row++
	d.lastIsInstant = false
}

func (d *decoder) time(since int64) trace.Time {
	d.base += trace.Time(since)
	return d.base
}

func (d *decoder) word() uint64 {
	w := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[wordBytes:]
	return w
}
