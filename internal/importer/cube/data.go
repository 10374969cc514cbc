package cube

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	indexMark  = "CUBEX.INDEX"
	dataMark   = "CUBEX.DATA"
	packedMark = "ZCUBEX.DATA"
)

// A matrix gives the stored values of a metric: rows of call nodes, a column for
// each location.
type matrix struct {
	kind    *valueType
	order   binary.ByteOrder
	rows    []int32 // of each call node in preorder: its row, -1
	columns int
	data    part
	offset  int64 // of the first value
	packed  []segment
	buf     []byte
	row     int // in buf where packed, -1
}

// A segment is a packed row.
type segment struct{ offset, size int64 }

var errShort = errors.New("ends early")

// openMatrix reads the index of a metric and the head of its data. A metric
// without files has no values, and nil is given.
func (c *converter) openMatrix(m *metric, kind *valueType, inclusive bool) (*matrix, error) {
	index, ok, err := c.box.part(m.ID + ".index")
	if err == nil && !ok {
		if _, values, _ := c.box.part(m.ID + ".data"); values {
			c.w.Report(trace.MissingValues, "metrics with data and no index", 1, c.box.place(m.ID+".index"))
		}
	}
	if err != nil || !ok {
		return nil, err
	}
	data, ok, err := c.box.part(m.ID + ".data")
	if err == nil && !ok {
		c.w.Report(trace.MissingValues, "metrics with an index and no data", 1, c.box.place(m.ID+".data"))
	}
	if err != nil || !ok {
		return nil, err
	}
	x := &matrix{kind: kind, columns: len(c.columns), data: data, row: -1}
	ids, err := x.readIndex(index, len(c.tree.nodes))
	if err != nil {
		c.w.Report(trace.MissingValues,
			"metrics whose index cannot be read", 1, c.box.place(m.ID+".index")+": "+err.Error())
		return nil, nil
	}
	x.rows = make([]int32, len(c.tree.nodes))
	for i := range x.rows {
		x.rows[i] = -1
	}
	have, err := x.readHead(len(ids))
	if err != nil {
		c.w.Report(trace.MissingValues,
			"metrics whose data cannot be read", 1, c.box.place(m.ID+".data")+": "+err.Error())
		return nil, nil
	}
	if have < len(ids) {
		c.w.Report(trace.MissingValues, "rows of values that a file announces and does not hold", int64(len(ids)-have),
			c.box.place(m.ID+".data"))
	}
	for row, id := range ids[:have] {
		at, ok := c.tree.order(inclusive, id)
		if !ok {
			c.w.Report(trace.MissingValues, "rows of values of call nodes that are not defined", 1,
				c.box.place(m.ID+".index"))
			continue
		}
		x.rows[at] = int32(row)
	}
	return x, nil
}

// readIndex returns the numbers of the call nodes that have rows, in order of the rows.
func (x *matrix) readIndex(p part, nodes int) ([]uint32, error) {
	b := make([]byte, min(p.size, int64(len(indexMark)+11+4*nodes)))
	if _, err := p.r.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if len(b) < len(indexMark)+7 || string(b[:len(indexMark)]) != indexMark {
		return nil, errors.New("is no index")
	}
	b = b[len(indexMark):]
	switch {
	case binary.LittleEndian.Uint32(b) == 1:
		x.order = binary.LittleEndian
	case binary.BigEndian.Uint32(b) == 1:
		x.order = binary.BigEndian
	default:
		return nil, errors.New("does not say its byte order")
	}
	kind := b[6]
	b = b[7:]
	if kind == 0 { // dense: every call node has a row
		ids := make([]uint32, nodes)
		for i := range ids {
			ids[i] = uint32(i)
		}
		return ids, nil
	}
	if kind != 1 || len(b) < 4 {
		return nil, fmt.Errorf("is of unknown kind %d", kind)
	}
	n := int64(x.order.Uint32(b))
	b = b[4:]
	if n > int64(nodes) || n*4 > int64(len(b)) {
		return nil, errShort
	}
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = x.order.Uint32(b[4*i:])
	}
	return ids, nil
}

// readHead finds out how the data is kept, and how many rows are whole.
func (x *matrix) readHead(rows int) (int, error) {
	head := make([]byte, len(packedMark)+8)
	n, _ := x.data.r.ReadAt(head, 0)
	head = head[:n]
	width := int64(x.columns) * int64(x.kind.size)
	switch {
	case bytes.HasPrefix(head, []byte(dataMark)):
		x.offset = int64(len(dataMark))
		return int(min(int64(rows), (x.data.size-x.offset)/max(width, 1))), nil
	case !bytes.HasPrefix(head, []byte(packedMark)):
		return 0, errors.New("is no data")
	case n < cap(head):
		return 0, errShort
	}
	count := x.order.Uint64(head[len(packedMark):])
	const entry = 24 // place unpacked, place packed, size packed
	at := int64(len(packedMark) + 8)
	if count > uint64(x.data.size)/entry {
		return 0, errShort
	}
	table := make([]byte, int64(count)*entry)
	if _, err := x.data.r.ReadAt(table, at); err != nil && err != io.EOF {
		return 0, err
	}
	at += int64(len(table))
	for i := range int(count) {
		size := x.order.Uint64(table[entry*i+16:])
		if size > uint64(x.data.size) || at+int64(size) > x.data.size {
			break
		}
		x.packed = append(x.packed, segment{at, int64(size)})
		at += int64(size)
	}
	return min(rows, len(x.packed)), nil
}

// stripe returns the bytes of the columns lo to hi of a row; nil if it has none.
func (x *matrix) stripe(node int32, lo, hi int) ([]byte, error) {
	row := x.rows[node]
	if row < 0 {
		return nil, nil
	}
	size := x.kind.size
	if x.packed != nil {
		if err := x.unpack(int(row)); err != nil {
			return nil, err
		}
		return x.buf[lo*size : hi*size], nil
	}
	need := (hi - lo) * size
	if cap(x.buf) < need {
		x.buf = make([]byte, need)
	}
	b := x.buf[:need]
	_, err := x.data.r.ReadAt(b, x.offset+(int64(row)*int64(x.columns)+int64(lo))*int64(size))
	if err == io.EOF {
		err = nil
	}
	return b, err
}

// unpack fills buf with a packed row. A segment without bytes is a row of zeros.
func (x *matrix) unpack(row int) error {
	if x.row == row {
		return nil
	}
	width := x.columns * x.kind.size
	if cap(x.buf) < width {
		x.buf = make([]byte, width)
	}
	x.buf = x.buf[:width]
	x.row = -1
	s := x.packed[row]
	if s.size == 0 {
		clear(x.buf)
		x.row = row
		return nil
	}
	z, err := zlib.NewReader(io.NewSectionReader(x.data.r, s.offset, s.size))
	if err != nil {
		return err
	}
	defer z.Close()
	if _, err := io.ReadFull(z, x.buf); err != nil {
		return err
	}
	x.row = row
	return nil
}
