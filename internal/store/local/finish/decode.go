package finish

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// decode reads the records of a stream in order and gives Enter and Leave to stack,
// where that is not nil, else to the Builder.
func (w *rowWorker) decode(ctx context.Context, s *write.Stream, stack *trace.StackBuilder) error {
	w.chain = w.f.Chunks.Chain(s, w.chain)
	large := w.f.Chunks.Large(w.chain)
	d := w.f.decoder(s)
	d.infers = w.f.infers(s)
	for _, at := range w.chain {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		d.reset(w.f.Chunks.Chunk(at), w.f.Chunks.IDs(at))
		for len(d.b) >= write.HalfBytes {
			if stack == nil || d.infers || !w.calls(&d, stack) {
				w.record(&d, stack)
			}
		}
		if large { // its memory is needed for the rows made of it
			w.f.Chunks.DropOne(at)
		}
		if err := cmp.Or(w.out.err, w.rows.err); err != nil {
			return err
		}
	}
	if d.infers {
		w.endWork(&d, stack)
	}
	if !large {
		w.f.Chunks.Drop(w.chain)
	}
	return nil
}

// calls passes the next Enter and Leave records to a StackBuilder, many at a
// time, and takes the facts and samples between them; false if there are none.
func (w *rowWorker) calls(d *decoder, stack *trace.StackBuilder) bool {
	b, base, list, rows, some := d.b, d.base, w.batch[:0], uint64(0), false
	for len(b) >= write.HalfBytes && len(list) < cap(list) {
		h := binary.LittleEndian.Uint32(b)
		leave, id := h>>1&1, h>>write.HalfShift&(1<<write.HalfID-1)
		if h&1 != 0 {
			b = b[write.HalfBytes:]
			base += trace.Time(h >> write.HalfTimeAt)
		} else {
			op := h >> 1 & (1<<write.OpBits - 1)
			if op == write.OpFact && (rows > 0 || !d.lastIsInstant) {
				word := binary.LittleEndian.Uint64(b)
				id := uint32(word >> write.IdShift & (1<<write.IdBits - 1))
				r := factRecord{attribute: id, kind: uint8(word >> write.TimeShift),
					bits: word >> (write.TimeShift + write.FactBits)}
				b = b[write.WordBytes:]
				if r.kind&write.FactShort != 0 {
					r.kind &^= write.FactShort
				} else {
					r.bits = binary.LittleEndian.Uint64(b)
					b = b[write.WordBytes:]
				}
				w.translate(d, &r)
				r.key = w.rows.row(d.row + rows - 1) // they come in the order of rows, as these do
				w.out.facts.add(&r)
				some = true
				continue
			}
			if op == write.OpSample {
				word := binary.LittleEndian.Uint64(b)
				base += trace.Time(int64(word) >> write.TimeShift)
				id := trace.CounterID(word >> write.IdShift & (1<<write.IdBits - 1))
				w.sample(d.at(base), math.Float64frombits(binary.LittleEndian.Uint64(b[write.WordBytes:])),
					renumbered(w.f.counterNumber, d.ids.Counter(id)))
				b = b[2*write.WordBytes:]
				some = true
				continue
			}
			if op > write.OpLeave {
				break
			}
			word := binary.LittleEndian.Uint64(b)
			b = b[write.WordBytes:]
			base += trace.Time(int64(word) >> write.TimeShift)
			id = uint32(word >> write.IdShift & (1<<write.IdBits - 1))
		}
		rows += uint64(1 - leave)
		list = list[:len(list)+1]
		r := &list[len(list)-1]
		r.Time, r.Region, r.Leave = base, trace.RegionID(id), leave != 0
	}
	d.b, d.base = b, base
	d.row += rows
	d.lastIsInstant = d.lastIsInstant && rows == 0
	if d.line != nil {
		for i := range list {
			list[i].Time = d.at(list[i].Time)
		}
	}
	if d.ids != nil {
		for i := range list {
			list[i].Region = d.ids.Region(list[i].Region)
		}
	}
	stack.Run(list)
	return some || len(list) > 0
}

// record takes one record, of any kind.
func (w *rowWorker) record(d *decoder, stack *trace.StackBuilder) {
	op, id, v := d.head()
	if op < write.OpSample {
		id = uint32(d.ids.Region(trace.RegionID(id)))
	}
	switch op {
	case write.OpEnter:
		if t := d.time(v); stack != nil {
			if d.infers {
				w.before(d, stack, t, call{region: trace.RegionID(id)})
			}
			stack.Enter(t, trace.RegionID(id))
		} else {
			w.builder.Enter(t, trace.RegionID(id))
		}
		d.entered()
	case write.OpLeave, write.OpLeaveAny:
		region := trace.NoRegion
		if op == write.OpLeave {
			region = trace.RegionID(id)
		}
		if t := d.time(v); stack != nil {
			if d.infers {
				w.before(d, stack, t, call{region: region, leave: true})
			}
			stack.Leave(t, region)
		} else {
			w.builder.Leave(t, region)
		}
	case write.OpInterval:
		begin := d.time(v)
		w.builder.Interval(begin, d.at(d.base+trace.Time(d.word())), trace.RegionID(id))
		d.entered()
	case write.OpInstant:
		w.fail(w.instants.Add(instantRecord{d.time(v), uint32(d.instant), trace.RegionID(id)}))
		d.instant++
		d.lastIsInstant = true
	case write.OpSample:
		t := d.time(v)
		w.sample(t, math.Float64frombits(d.word()), renumbered(w.f.counterNumber, d.ids.Counter(trace.CounterID(id))))
	case write.OpFact:
		r := factRecord{attribute: id, kind: uint8(v),
			bits: uint64(v) >> write.FactBits & write.FactValue}
		if r.kind&write.FactShort != 0 {
			r.kind &^= write.FactShort
		} else {
			r.bits = d.word()
		}
		w.translate(d, &r)
		if d.lastIsInstant {
			r.key = d.instant - 1
			w.fail(w.instantFacts.Add(r))
		} else {
			r.key = d.row - d.inferred - 1
			if stack == nil {
				w.fail(w.facts.Add(r))
			} else {
				r.key = w.rows.row(r.key) // facts come in the order of rows, as these do
				w.out.facts.add(&r)
			}
		}
	}
}

// translate gives a fact the store's numbers.
func (w *rowWorker) translate(d *decoder, r *factRecord) {
	if d.ids != nil {
		r.attribute = d.ids.Attribute(r.attribute)
		if r.kind == uint8(trace.ValueText) {
			r.bits += d.ids.Texts
		}
	}
	r.attribute = renumbered(w.f.attributeNumber, r.attribute)
}

// A decoder reads the records of a stream, chunk by chunk.
type decoder struct {
	b             []byte
	ids           *write.IDs // of definitions in the part of the run that has the chunk; nil: the same
	base          trace.Time
	origin        trace.Time
	line          *clock.Line // by which times are moved, and then by shift; nil: base is the time
	shift         trace.Time
	row, instant  uint64 // how many so far
	lastIsInstant bool
	infers        bool   // rows are added for work between calls
	inferred      uint64 // such rows since the last that was recorded
}

// decoder makes one for a stream.
func (f *finisher) decoder(s *write.Stream) decoder {
	if line := f.lineOf(s.Location); line.Moves() {
		return decoder{line: &line, shift: f.origin}
	}
	return decoder{origin: f.origin}
}

// reset starts a chunk: its first time is a difference to zero.
func (d *decoder) reset(b []byte, ids *write.IDs) { d.b, d.base, d.ids = b, -d.origin, ids }

// head takes the first words of a record: its kind, its id, and its time since the record before or the value in place
// of that.
func (d *decoder) head() (op, id uint32, v int64) {
	if h := binary.LittleEndian.Uint32(d.b); h&1 != 0 {
		d.b = d.b[write.HalfBytes:]
		return h >> 1 & 1, h >> write.HalfShift & (1<<write.HalfID - 1), int64(h >> write.HalfTimeAt)
	}
	w := d.word()
	if op = uint32(w >> 1 & (1<<write.OpBits - 1)); op != write.OpWide {
		return op, uint32(w >> write.IdShift & (1<<write.IdBits - 1)), int64(w) >> write.TimeShift
	}
	return uint32(w >> write.IdShift & (1<<write.OpBits - 1)), uint32(w >> 32), int64(d.word())
}

// entered notes that a row came.
func (d *decoder) entered() {
	d.row++
	d.inferred = 0
	d.lastIsInstant = false
}

func (d *decoder) time(since int64) trace.Time {
	d.base += trace.Time(since)
	return d.at(d.base)
}

// at returns a time of the location in the store.
func (d *decoder) at(t trace.Time) trace.Time {
	if d.line == nil {
		return t
	}
	return d.line.At(t) - d.shift
}

func (d *decoder) word() uint64 {
	w := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[write.WordBytes:]
	return w
}
