package local

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// decode reads the records of a stream in order.
func (w *rowWorker) decode(ctx context.Context, s *stream) error {
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
				w.builder.Enter(d.time(), trace.RegionID(n))
				row++
				lastIsInstant = false
			case opLeave:
				w.builder.Leave(d.time(), trace.RegionID(n))
			case opLeaveAny:
				w.builder.Leave(d.time(), trace.NoRegion)
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
		if err := w.out.err; err != nil {
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
	if x := d.b[0]; x < 0x80 {
		d.b = d.b[1:]
		return uint64(x)
	}
	x, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return x
}

func (d *decoder) fixed() uint64 {
	x := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return x
}
