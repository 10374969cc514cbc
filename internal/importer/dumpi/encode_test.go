package dumpi

import (
	"encoding/binary"
)

// An encoder writes a file as common/io.c and common/iodefs.h of sst-dumpi do, and shares nothing with the reader.
type encoder struct {
	b       []byte
	clock   uint32
	count   map[int]uint32
	counter bool
}

func newEncoder() *encoder {
	e := &encoder{count: map[int]uint32{}}
	e.b = append(e.b, magic...)
	e.put(int32(5), int32(1000)) // seconds that both clocks begin with
	return e
}

func (e *encoder) put(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case uint8:
			e.b = append(e.b, v)
		case uint16:
			e.b = binary.BigEndian.AppendUint16(e.b, v)
		case int32:
			e.b = binary.BigEndian.AppendUint32(e.b, uint32(v))
		case int:
			e.b = binary.BigEndian.AppendUint32(e.b, uint32(int32(v)))
		case uint64:
			e.b = binary.BigEndian.AppendUint64(e.b, v)
		case []int:
			e.put(len(v))
			for _, x := range v {
				e.put(x)
			}
		case string: // length in 16 bits
			e.put(uint16(len(v)))
			e.b = append(e.b, v...)
		case text32:
			e.put(len(v))
			e.b = append(e.b, v...)
		case []status:
			e.put(len(v))
			for _, s := range v {
				e.put(s.bytes, s.source, uint8(0), uint8(0), s.tag)
			}
		}
	}
}

type text32 string

// record writes a call of one microsecond; every call begins ten after the one before. Half of that is CPU time.
func (e *encoder) record(call int, thread uint16, arguments ...any) {
	mask := uint8(maskStatuses | maskCPU | maskWall | maskThread)
	if e.counter {
		mask |= maskCounters
	}
	e.clock += 10000
	e.count[call]++
	e.put(uint16(call), mask, thread)
	e.put(uint16(0), int(e.clock/2), uint16(0), int(e.clock/2+500))
	e.put(uint16(2), int(e.clock), uint16(2), int(e.clock+1000))
	if e.counter {
		e.put(uint8(1), uint64(e.clock), uint64(e.clock+7))
	}
	e.put(arguments...)
}

// close writes what follows the body.
func (e *encoder) close(place, mesh []int) []byte {
	e.put(uint16(endOfStream))
	header := len(e.b)
	e.put(uint8(1), uint8(1), uint8(0), uint64(1700000000), "host", "user")
	e.put(place, mesh)
	footer := len(e.b)
	e.put(uint64(0xf007fee7))
	for i := range 291 {
		e.put(int(e.count[i]))
	}
	for range 291 {
		e.put(0) // calls that were left out
	}
	sizes := len(e.b)
	e.put([]int{0, 1, 2, 4, 8})
	labels := len(e.b)
	e.put(1, "PAPI_TOT_INS")
	addresses := len(e.b)
	e.put(1, uint64(0x4000), "solve")
	e.b = append(e.b, magic...)
	for _, at := range []int{sizes, addresses, labels, header, 8, footer, 0} {
		e.put(uint64(at))
	}
	return e.b
}

// made is two ranks that split MPI_COMM_WORLD so that their order turns round, and use every way to finish a receive.
func made(rank int) []byte {
	e := newEncoder()
	other := 1 - rank
	e.record(124, 0, 2, text32("prog"), text32("-x")) // Init
	e.record(callCommSplit, 0, uint16(2), 0, -rank, uint16(4))
	e.record(callCommSplit, 0, uint16(2), rank, 0, uint16(5))
	e.counter = true
	e.record(functionEnter, 0, uint64(0x4000))
	from := []status{{64, int32(rank), 9}} // the other one has my number in the communicator that was turned round
	for range 3 {
		e.record(callIrecv, 0, 8, uint16(4), -1, -1, uint16(4), 1)
		e.record(callIsend, 0, 8, uint16(4), rank, 9, uint16(4), 2)
		e.record(callWaitall, 0, 2, []int{1, 2}, append(from, status{}))
		e.record(callRecvInit, 0, 8, uint16(4), other, 3, uint16(2), 7)
		e.record(callSendInit, 0, 8, uint16(99), other, 3, uint16(2), 8) // a type of the program
		e.record(callStartall, 0, 2, []int{7, 8})
		e.record(callTestsome, 0, 2, []int{7, 8}, 2, []int{1, 0}, []status{{}, {24, int32(other), 3}})
		e.record(callSendrecv, 0, 1, uint16(3), other, 5, 1, uint16(3), other, 5, uint16(2), []status{{4, int32(other), 5}})
		e.record(callIrecv, 1, 1, uint16(3), other, 6, uint16(2), 11)
		e.record(callSend, 1, 1, uint16(3), other, 6, uint16(2))
		e.record(callTestany, 1, 1, []int{11}, 0, 0, []status{})
		e.record(callWaitany, 1, 1, []int{11}, 0, []status{{4, int32(other), 6}})
		e.record(callSend, 0, 1, uint16(3), 0, 6, uint16(5)) // to itself, in a communicator of its own
		e.record(callRecv, 0, 1, uint16(3), 0, 6, uint16(5), []status{{4, 0, 6}})
		e.record(callRecv, 0, 1, uint16(3), -1, 6, uint16(2), []status{}) // from who knows
		e.record(callSend, 0, 1, uint16(3), 0, 6, uint16(77))             // in who knows what
		gather := []any{rank, 4, uint16(3), 0, uint16(2)}
		if rank == 0 {
			gather = append(gather, 4, uint16(3)) // only the root receives
		}
		e.record(54, 0, gather...)
	}
	e.record(functionExit, 0, uint64(0x4000))
	e.record(125, 0) // Finalize
	return e.close([]int{rank, 0}, []int{2, 1})
}
