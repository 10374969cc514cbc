package table

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
)

// A Batch is some rows of a table. It belongs to whom it was handed to.
type Batch struct {
	Rows    int
	Columns []Vector // by column of the table; those not asked for are empty
}

// A Vector is the values of one column, in the slice of its type.
type Vector struct {
	Kind     Kind
	Integers []int64 // flags too
	Numbers  []float64
	Texts    []string
	Null     []bool // nil: none is null
}

// Len returns the number of values.
func (v *Vector) Len() int { return len(v.Integers) + len(v.Numbers) + len(v.Texts) }

// IsNull reports whether value i is null.
func (v *Vector) IsNull(i int) bool { return v.Null != nil && v.Null[i] }

// Value returns value i as int64, float64, string or nil.
func (v *Vector) Value(i int) any {
	switch {
	case v.IsNull(i):
		return nil
	case v.Kind == Number:
		return v.Numbers[i]
	case v.Kind == Text:
		return v.Texts[i]
	}
	return v.Integers[i]
}

// Keep leaves the rows for which a test is true.
func (b *Batch) Keep(test func(row int) bool) {
	n := 0
	for i := range b.Rows {
		if !test(i) {
			continue
		}
		if i != n {
			for c := range b.Columns {
				b.Columns[c].move(i, n)
			}
		}
		n++
	}
	b.Cut(n)
}

// Cut leaves the first n rows.
func (b *Batch) Cut(n int) {
	b.Rows = n
	for c := range b.Columns {
		v := &b.Columns[c]
		v.Integers, v.Numbers, v.Texts = v.Integers[:min(n, len(v.Integers))], v.Numbers[:min(n, len(v.Numbers))],
			v.Texts[:min(n, len(v.Texts))]
		v.Null = v.Null[:min(n, len(v.Null))]
	}
}

// move copies a value within the vector.
func (v *Vector) move(from, to int) {
	switch {
	case v.Integers != nil:
		v.Integers[to] = v.Integers[from]
	case v.Numbers != nil:
		v.Numbers[to] = v.Numbers[from]
	case v.Texts != nil:
		v.Texts[to] = v.Texts[from]
	}
	if v.Null != nil {
		v.Null[to] = v.Null[from]
	}
}

func (v *Vector) integer(x int64) {
	v.Integers = append(v.Integers, x)
	v.there()
}

func (v *Vector) number(x float64) {
	v.Numbers = append(v.Numbers, x)
	v.there()
}

func (v *Vector) text(x string) {
	v.Texts = append(v.Texts, x)
	v.there()
}

func (v *Vector) there() {
	if v.Null != nil {
		v.Null = append(v.Null, false)
	}
}

// Put appends a value of the vector's type, or nil.
func (v *Vector) Put(x any) {
	switch x := x.(type) {
	case int64:
		v.integer(x)
	case float64:
		v.number(x)
	case string:
		v.text(strings.ToValidUTF8(x, "\uFFFD"))
	default:
		v.null()
	}
}

// null appends a null; its place in the slice of values holds a zero.
func (v *Vector) null() {
	if v.Null == nil {
		v.Null = make([]bool, v.Len(), v.Len()+1)
	}
	switch v.Kind {
	case Number:
		v.Numbers = append(v.Numbers, 0)
	case Text:
		v.Texts = append(v.Texts, "")
	default:
		v.Integers = append(v.Integers, 0)
	}
	v.Null = append(v.Null, true)
}

// firstBatch and mostRows are how many rows a batch has: few at first, for callers
// that only look at some.
const (
	firstBatch = 256
	mostRows   = 8192
)

// An Output is where a scan puts its rows.
type Output struct {
	// Want says which columns are needed; nil: all.
	Want []bool
	// Emit takes a batch; an error ends the scan.
	Emit func(*Batch) error
	// Few says that hardly more than a row will come.
	Few bool
	// Most is the number of rows that a batch may have; 0: a usual number.
	Most int
	// Again is a batch that the receiver is done with: its memory serves the next one.
	Again *Batch
	// Read counts rows of the store that were looked at, whether or not they came out.
	Read *atomic.Int64

	batch *Batch
	limit int
}

func (o *Output) read(n int) {
	if o.Read != nil {
		o.Read.Add(int64(n))
	}
}

// A rowsOf is an output for rows of one type.
type rowsOf[T any] struct {
	*Output
	columns []column[T]
	wanted  []int
}

func newRows[T any](o *Output, columns []column[T]) *rowsOf[T] {
	r := &rowsOf[T]{Output: o, columns: columns}
	for i := range columns {
		if o.Want == nil || o.Want[i] {
			r.wanted = append(r.wanted, i)
		}
	}
	return r
}

// begin makes a batch for the rows to come.
func (r *rowsOf[T]) begin() {
	if r.limit = min(max(4*r.limit, firstBatch), cmp.Or(r.Most, mostRows)); r.Few {
		r.limit = 1
	}
	if r.batch, r.Again = r.Again, nil; r.batch == nil {
		r.batch = &Batch{Columns: make([]Vector, len(r.columns))}
	}
	r.batch.Rows = 0
	for _, i := range r.wanted {
		r.batch.Columns[i].room(r.columns[i].Kind, r.limit)
	}
}

// addMany puts rows from … to out of those that x stands for. All columns have many.
func (r *rowsOf[T]) addMany(x *T, from, to int) error {
	for from < to {
		if r.batch == nil {
			r.begin()
		}
		next := min(to, from+r.limit-r.batch.Rows)
		for _, i := range r.wanted {
			r.columns[i].many(&r.batch.Columns[i], x, from, next)
		}
		r.batch.Rows += next - from
		from = next
		if r.batch.Rows == r.limit {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// add puts a row out.
func (r *rowsOf[T]) add(x *T) error {
	if r.batch == nil {
		r.begin()
	}
	for _, i := range r.wanted {
		if err := r.columns[i].put(&r.batch.Columns[i], x); err != nil {
			return err
		}
	}
	if r.batch.Rows++; r.batch.Rows == r.limit {
		return r.flush()
	}
	return nil
}

// room empties a vector and makes space for n values.
func (v *Vector) room(k Kind, n int) {
	v.Null = nil
	switch v.Kind = k; k {
	case Number:
		v.Numbers = withSpace(v.Numbers, n)
	case Text:
		v.Texts = withSpace(v.Texts, n)
	default:
		v.Integers = withSpace(v.Integers, n)
	}
}

func withSpace[T any](held []T, n int) []T {
	if cap(held) < n {
		return make([]T, 0, n)
	}
	return held[:0]
}

// flush yields the rows added since the last time.
func (o *Output) flush() error {
	b := o.batch
	if o.batch = nil; b == nil {
		return nil
	}
	return o.Emit(b)
}

// Each yields all rows of a table that pass a filter, and some that do not: see Scan.
func (t *Table) Each(ctx context.Context, r *Run, f *Filter, to *Output) error {
	if t.List == nil {
		return t.Scan(ctx, r, f, to)
	}
	n := t.List.Len(r)
	for at := 0; at < n; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b := &Batch{Rows: min(mostRows, n-at), Columns: make([]Vector, len(t.Columns))}
		for c := range t.Columns {
			if to.Want != nil && !to.Want[c] {
				continue
			}
			v := &b.Columns[c]
			v.room(t.Columns[c].Kind, b.Rows)
			for i := range b.Rows {
				cell, err := t.List.Cell(r, at+i, c)
				if err != nil {
					return err
				}
				v.Put(cell)
			}
		}
		to.read(b.Rows)
		at += b.Rows
		if err := to.Emit(b); err != nil {
			return err
		}
	}
	return nil
}
