package otf2

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// record gives a record that is neither Enter nor Leave its meaning.
func (r *row) record(e *event) {
	f := fields{b: e.body, big: r.reader.big}
	if e.attributes != nil {
		r.attributes(e.attributes)
	}
	switch {
	case e.id == evMetric:
		r.metric(&f)
	case e.id >= evMpiSend && e.id <= evMpiCollectiveEnd:
		r.mpi(e, &f)
	case e.id >= evOmpFork && e.id <= evOmpTaskComplete, e.id >= evThreadFork && e.id <= evThreadEnd:
		r.thread(e, &f)
	case e.id >= evParameterString && e.id <= evParameterUnsignedInt:
		r.parameter(e.id, &f)
	case e.id >= evRmaWinCreate && e.id <= evRmaOpCompleteRemote:
		r.oneSided(e.id, &f)
	case e.id >= evCallingContextEnter && e.id <= evCallingContextSample:
		r.context(e.id, &f)
	case e.id >= evIoCreateHandle && e.id <= evIoTryLock:
		r.fileRecord(e.id, &f)
	default:
		r.program(e.id, &f)
	}
	r.give(e.id)
	if f.bad {
		r.tally.bad++
	}
}

// program takes records about the program and the measurement itself.
func (r *row) program(id uint8, f *fields) {
	n := &r.a.names
	switch id {
	case evBufferFlush:
		stop := f.full(8)
		if f.bad {
			return
		}
		r.facts = r.facts[:0]
		flush := r.a.ownRegion("trace buffer flush")
		r.enter(flush)
		begin := r.now
		r.setTime(stop)
		r.now = max(r.now, begin)
		r.leave(flush)
	case evMeasurementOnOff:
		off := r.a.ownRegion("measurement off")
		if mode := f.uint8(); mode == 2 && !f.bad {
			r.enter(off)
		} else if !f.bad {
			r.leave(off)
		}
	case evProgramBegin:
		name := r.text(f.uint32())
		arguments := make([]string, 0, 8)
		for range f.count(uint64(f.uint32()), 1) {
			arguments = append(arguments, r.text(f.uint32()))
		}
		r.a.program(r.at, name, arguments)
		r.add(r.a.name(&n.program), trace.Text(name))
		r.instant(id)
	case evProgramEnd:
		if status := f.int64(); status != math.MinInt64 && !f.bad {
			r.add(r.a.name(&n.status), trace.Integer(status))
		}
		r.instant(id)
	case evCommCreate, evCommDestroy:
		r.addComm(f.uint32())
	case evNonBlockingCollectiveRequest:
		f.uint64()
	case evNonBlockingCollectiveComplete:
		r.collectiveFacts(f)
		f.uint64() // request
	default:
		r.tally.unknown[id]++
		r.facts = r.facts[:0]
	}
}

// parameter takes a parameter of the call that is open.
func (r *row) parameter(id uint8, f *fields) {
	ref := r.local.global(mapParameter, uint64(f.uint32()))
	var v trace.Value
	switch id {
	case evParameterString:
		v = trace.Text(r.text(f.uint32()))
	case evParameterInt:
		v = trace.Integer(f.int64())
	default:
		v = r.a.defs.value(value{typeUint64, f.uint64()}, nil)
	}
	if a, ok := r.a.parameter(ref); ok && !f.bad {
		r.add(a, v)
	} else {
		r.tally.attributes++
	}
}

// text is a string by its local number.
func (r *caller) text(ref uint32) string {
	if ref == undefined32 {
		return ""
	}
	s, _ := r.a.defs.strings.get(r.local.global(mapString, uint64(ref)))
	return s
}

// comm finds the communicator of a local number; nil if it is not defined.
func (r *caller) comm(ref uint32) (*communicator, uint32) {
	if ref == undefined32 {
		return nil, undefined32
	}
	i, ok := r.a.defs.commIndex.get(r.local.global(mapComm, uint64(ref)))
	if !ok {
		return nil, undefined32
	}
	return &r.a.comms[i], uint32(i)
}

func (r *caller) addComm(ref uint32) {
	if c, _ := r.comm(ref); c != nil {
		r.add(r.a.name(&r.a.names.communicator), trace.Text(c.name))
	}
}

func bytesValue(n uint64) trace.Value {
	if n > math.MaxInt64 {
		return trace.Value{}
	}
	return trace.Integer(int64(n))
}
