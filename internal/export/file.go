package export

import (
	"context"
	"io"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A row group has at most mostRows rows; from enough on it ends where a location does.
const (
	mostRows = 1 << 17
	enough   = 1 << 16
)

// mostGroups bounds how many row groups are in memory at the same time, each of some
// tens of megabytes, however many cores could encode them.
const mostGroups = 8

// A file is a Parquet file being written. Batches gather to row groups; these are
// encoded side by side and written in order.
type file struct {
	ctx     context.Context
	columns []table.Column
	writer  *parquet.Writer
	along   int // the column at whose changes row groups end; -1: none

	gathered []*table.Batch
	held     int
	last     any
	rows     int64

	queue  chan *group
	closed chan error
}

// A group is a row group on its way.
type group struct {
	batches []*table.Batch
	writer  *parquet.ConcurrentRowGroupWriter
	done    chan error
}

// ordered is a group of columns in the order in which they are declared: parquet's own is by name.
type ordered struct {
	parquet.Group
	names []string
}

// Fields implements parquet.Node.
func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(o.names, a.Name()) - slices.Index(o.names, b.Name())
	})
	return fields
}

func newFile(ctx context.Context, w io.Writer, name string, columns []table.Column) *file {
	o := ordered{Group: parquet.Group{}}
	for i := range columns {
		o.Group[columns[i].Name] = node(&columns[i])
		o.names = append(o.names, columns[i].Name)
	}
	f := &file{ctx: ctx, columns: columns,
		along: slices.IndexFunc(columns,
			func(c table.Column) bool { return c.Name == "location" || c.Name == "counter" })}
	options := []parquet.WriterOption{
		parquet.NewSchema(name, o), parquet.Compression(&zstd.Codec{Level: zstd.SpeedDefault}),
		parquet.CreatedBy("parallax", strconv.Itoa(Version), ""),
		parquet.DataPageStatistics(true), parquet.KeyValueMetadata("parallax.table", name),
	}
	f.writer = parquet.NewWriter(w, options...)
	f.queue, f.closed = make(chan *group, min(parallel.Workers(), mostGroups)-1), make(chan error, 1)
	go func() {
		var failed error
		for g := range f.queue {
			if err := <-g.done; failed == nil {
				if failed = err; failed == nil {
					_, failed = g.writer.Commit()
				}
			}
		}
		f.closed <- failed
	}()
	return f
}

// node returns the encoding of a column: times and row numbers as differences, repeating values as a dictionary.
func node(c *table.Column) parquet.Node {
	var n parquet.Node
	switch c.Kind {
	case table.Text:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case table.Number:
		n = parquet.Leaf(parquet.DoubleType)
	default:
		n = parquet.Int(64)
		if c.Unit == table.SinceEpoch {
			n = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.RLEDictionary)
		} else if c.Unit == "ns" || c.Name == "row" || c.Name == "id" {
			n = parquet.Encoded(n, &parquet.DeltaBinaryPacked)
		} else {
			n = parquet.Encoded(n, &parquet.RLEDictionary)
		}
	}
	if c.Null {
		n = parquet.Optional(n)
	}
	return n
}

// add takes a batch.
func (f *file) add(b *table.Batch) error {
	var at any
	if f.along >= 0 && b.Rows > 0 {
		at = b.Columns[f.along].Value(0)
	}
	if f.held > 0 && (f.held+b.Rows > mostRows || f.held >= enough && at != f.last) {
		if err := f.send(); err != nil {
			return err
		}
	}
	if f.along >= 0 && b.Rows > 0 {
		f.last = b.Columns[f.along].Value(b.Rows - 1)
	}
	f.gathered = append(f.gathered, b)
	f.held += b.Rows
	f.rows += int64(b.Rows)
	return nil
}

// send starts to encode the gathered rows.
func (f *file) send() error {
	if f.held == 0 {
		return nil
	}
	g := &group{batches: f.gathered, writer: f.writer.BeginRowGroup(), done: make(chan error, 1)}
	f.gathered, f.held = nil, 0
	select {
	case f.queue <- g:
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
	go func() { g.done <- g.encode(f.columns) }()
	return nil
}

// encode writes the columns of a row group, one after the other.
func (g *group) encode(columns []table.Column) error {
	var values []parquet.Value
	for i, w := range g.writer.ColumnWriters() {
		for _, b := range g.batches {
			values = appendValues(values[:0], &b.Columns[i], &columns[i], i)
			if _, err := w.WriteRowValues(values); err != nil {
				return err
			}
		}
	}
	g.batches = nil
	return g.writer.Flush()
}

func appendValues(out []parquet.Value, v *table.Vector, c *table.Column, column int) []parquet.Value {
	level := 0
	if c.Null {
		level = 1
	}
	for i := range v.Len() {
		switch {
		case v.IsNull(i) && c.Null:
			out = append(out, parquet.NullValue().Level(0, 0, column))
		case c.Kind == table.Number:
			out = append(out, parquet.DoubleValue(v.Numbers[i]).Level(0, level, column))
		case c.Kind == table.Text:
			out = append(out, parquet.ValueOf(v.Texts[i]).Level(0, level, column))
		default:
			out = append(out, parquet.Int64Value(v.Integers[i]).Level(0, level, column))
		}
	}
	return out
}

// close writes the remaining rows and the end of the file; failed: it only waits for running encoders.
func (f *file) close(failed error) error {
	err := failed
	if err == nil {
		err = f.send()
	}
	close(f.queue)
	if e := <-f.closed; err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return f.writer.Close()
}
