package local

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// decode reads the records of a stream in order and gives Enter and Leave to stack,
// where that is not nil, else to the Builder.
func (w *rowWorker) decode(ctx context.Context, s *stream, stack *trace.StackBuilder) error {
	w.chain = w.f.chunks.chain(s.tail, w.chain)
	d := decoder{origin: w.f.origin}
	row, instant := uint64(0), uint64(0) // how many so far
	lastIsInstant := false
	for _, at := range w.chain {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		d.reset(w.f.chunks.chunk(at))
		for len(d.b) > 0 {
			op, n := d.head()
			switch op {
			case opEnter:
				if t := d.time(); stack != nil {
					stack.Enter(t, trace.RegionID(n))
				} else {
					w.builder.Enter(t, trace.RegionID(n))
				}
				row++
				lastIsInstant = false
			case opLeave, opLeaveAny:
				region := trace.RegionID(n)
				if op == opLeaveAny {
					region = trace.NoRegion
				}
				if t := d.time(); stack != nil {
					stack.Leave(t, region)
				} else {
					w.builder.Leave(t, region)
				}
			case opInterval:
				begin := d.time()
				w.builder.Interval(begin, begin+trace.Time(d.varint()), trace.RegionID(n))
				row++
				lastIsInstant = false
			case opInstant:
				w.fail(w.instants.Add(instantRecord{d.time(), uint32(instant), trace.RegionID(n)}))
				instant++
				lastIsInstant = true
			case opSample:
				t := d.time()
				w.fail(w.samples.Add(sampleRecord{t, math.Float64frombits(d.fixed()), trace.CounterID(n)}))
			case opFact:
				r := factRecord{attribute: n, kind: d.byte(), bits: d.uvarint()}
				if lastIsInstant {
					r.key = instant - 1
					w.fail(w.instantFacts.Add(r))
				} else {
					r.key = row - 1
					w.fail(w.facts.Add(r))
				}
			}
		}
		if err := cmp.Or(w.out.err, w.rows.err); err != nil {
			return err
		}
	}
	return nil
}

// A decoder reads records of a chunk.
type decoder struct {
	b      []byte
	base   trace.Time
	origin trace.Time
}

// reset starts a chunk: its first time is a difference to zero.
func (d *decoder) reset(b []byte) { d.b, d.base = b, -d.origin }

func (d *decoder) head() (op byte, id uint32) {
	h := d.byte()
	id = uint32(h >> opBits)
	if id == largeID {
		id = uint32(d.uvarint())
	}
	return h & (1<<opBits - 1), id
}

func (d *decoder) byte() byte {
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

func (d *decoder) time() trace.Time {
	d.base += trace.Time(d.varint())
	return d.base
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	x := int64(u >> 1)
	if u&1 != 0 {
		x = ^x
	}
	return x
}

func (d *decoder) uvarint() uint64 {
	if len(d.b) >= 8 {
		x := binary.LittleEndian.Uint64(d.b)
		if last := ^x & 0x8080808080808080; last != 0 { // the bytes that end a number
			d.b = d.b[bits.TrailingZeros64(last)/8+1:]
			return join7(x & (last ^ (last - 1)))
		}
	}
	x, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return x
}

// join7 puts the low seven bits of each byte next to each other.
func join7(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

func (d *decoder) fixed() uint64 {
	x := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return x
}
