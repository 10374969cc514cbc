package mpe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// An encoder writes CLOG-2 by the structures of clog_record.h, and shares nothing with the reader.
type encoder struct {
	out   bytes.Buffer
	order byteOrder
	block int
	left  int
}

func newEncoder(order byteOrder, block, threads int) *encoder {
	e := &encoder{order: order, block: block}
	big := "FALSE"
	if order == byteOrder(binary.BigEndian) {
		big = "TRUE "
	}
	for _, s := range []string{
		"CLOG-02.44", "is_big_endian=", big, "is_finalzed=", "TRUE ", "block_size=", fmt.Sprint(block), "num_buffered_blocks=", "128", "max_comm_world_size=", "3",
		"max_thread_count=", fmt.Sprint(threads), "known_eventID_start=", "0", "user_eventID_start=", "600", "known_solo_eventID_start=", "-10", "user_solo_eventID_start=", "5000",
		"known_stateID_count=", "300", "user_stateID_count=", "2", "known_solo_eventID_count=", "0", "user_solo_eventID_count=", "1",
		"commtable_fptr=", "0", "1073741824", "0",
	} {
		e.out.WriteString(s + "\x00")
	}
	e.out.Write(make([]byte, 1024-e.out.Len()))
	e.left = block
	return e
}

func (e *encoder) record(t float64, comm, rank, thread, kind int32, body []byte) {
	const end = 24 // room for the mark that ends a block
	if e.left < 24+len(body)+end && kind != 0 {
		e.header(t, 0, 0, 0, 1)
		e.out.Write(make([]byte, e.left-24))
		e.left = e.block
	}
	e.header(t, comm, rank, thread, kind)
	e.out.Write(body)
	e.left -= 24 + len(body)
	if kind == 0 {
		e.out.Write(make([]byte, e.left))
	}
}

func (e *encoder) header(t float64, comm, rank, thread, kind int32) {
	b := e.order.AppendUint64(nil, math.Float64bits(t))
	for _, v := range []int32{comm, rank, thread, kind} {
		b = e.order.AppendUint32(b, uint32(v))
	}
	e.out.Write(b)
}

func (e *encoder) body(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = e.order.AppendUint32(b, uint32(int32(p)))
		case field2:
			b = append(b, p.text...)
			b = append(b, make([]byte, p.size-len(p.text))...)
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

// A field2 is text in a field of so many bytes.
type field2 struct {
	text string
	size int
}

// made is a log of three ranks in two communicators, one of them with two threads; definitions come last, as MPE writes them.
func made(order byteOrder, block int) []byte {
	e := newEncoder(order, block, 2)
	uuid := make([]byte, 32)
	for rank := range 3 {
		e.record(0.001, 0, int32(rank), 0, 9, e.body(0, 0, rank, rank, uuid)) // MPI_COMM_WORLD
	}
	for rank := range 2 {
		e.record(0.002, 0, int32(rank+1), 0, 9, e.body(100, 1, rank, rank+1, uuid)) // ranks 1 and 2 of the world
	}
	cargo := binary.BigEndian.AppendUint32(nil, 42)
	cargo = append(cargo, 0, 3, 'a', 'b', 'c')
	for i := range 20 {
		t := 0.01 * float64(i+1)
		e.record(t, 0, 0, 0, 6, e.body(600, 0, field2{string(cargo), 32}))
		e.record(t+0.001, 0, 0, 0, 5, e.body(24, 0))
		e.record(t+0.0011, 0, 0, 0, 7, e.body(-101, 0, 1, 7, 1000+i, 0)) // to rank 1 of the world
		e.record(t+0.002, 0, 0, 0, 5, e.body(25, 0))
		e.record(t+0.0012, 1, 0, 1, 5, e.body(30, 0)) // rank 1 of the world, thread 1
		e.record(t+0.0025, 0, 1, 1, 7, e.body(-102, 0, 0, 7, 1000+i, 0))
		e.record(t+0.003, 1, 0, 1, 5, e.body(31, 0))
		e.record(t+0.0031, 1, 0, 0, 7, e.body(-101, 1, 1, 7, 5, 0)) // from rank 1 to 2, in the other communicator
		e.record(t+0.0032, 1, 1, 0, 7, e.body(-102, 1, 0, 7, 5, 0))
		e.record(t+0.004, 0, 0, 0, 5, e.body(602, 0)) // overlaps what it does not nest in
		e.record(t+0.005, 0, 0, 0, 5, e.body(601, 0))
		e.record(t+0.006, 0, 0, 0, 5, e.body(603, 0))
		e.record(t+0.007, 0, 2, 0, 5, e.body(5000, 0))
		e.record(t+0.0071, 0, 2, 0, 8, e.body(1, 0, 64, 0))
	}
	e.record(1, 0, 0, 0, 2, e.body(300, 600, 601, 0, field2{"red", 24}, field2{"solve", 32}, field2{"step=%d, name=%s", 40}))
	e.record(1, 0, 0, 0, 2, e.body(301, 602, 603, 0, field2{"blue", 24}, field2{"overlap", 32}, field2{"", 40}))
	e.record(1, 0, 0, 0, 2, e.body(12, 24, 25, 0, field2{"blue", 24}, field2{"MPI_Send", 32}, field2{"", 40}))
	e.record(1, 0, 0, 0, 2, e.body(15, 30, 31, 0, field2{"green", 24}, field2{"MPI_Recv", 32}, field2{"", 40}))
	e.record(1, 0, 0, 0, 3, e.body(5000, 0, field2{"yellow", 24}, field2{"milestone", 32}, field2{"", 40}))
	e.record(1, 0, 0, 0, 4, e.body(-201, 9, field2{"answer", 32}))
	e.record(1, 0, 0, 0, 0, nil)
	return e.out.Bytes()
}

// A byteOrder is one that both reads and appends.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}
