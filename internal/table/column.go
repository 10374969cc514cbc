package table

import (
	"context"
	"math"
	"strings"
)

// A column is one with how to take its value from a row of some type.
type column[T any] struct {
	Column
	put func(*Vector, *T) error
	// many puts the values of several rows that one T stands for; nil if it stands for one.
	many func(v *Vector, x *T, from, to int)
}

// plain makes a column whose values are taken from the row alone.
func plain[T any](c Column, put func(*Vector, *T)) column[T] {
	return column[T]{Column: c, put: func(v *Vector, x *T) error { put(v, x); return nil }}
}

// stored makes a column whose values are read from the store for each row: int64, string or nil.
func stored[T any](c Column, get func(*T) (any, error)) column[T] {
	return column[T]{Column: c, put: func(v *Vector, x *T) error {
		value, err := get(x)
		v.Put(value)
		return err
	}}
}

func integer[T any](name, unit, help string, get func(*T) int64) column[T] {
	return plain(Column{Name: name, Kind: Integer, Unit: unit, Help: help},
		func(v *Vector, x *T) { v.integer(get(x)) })
}

func flag[T any](name, help string, get func(*T) bool) column[T] {
	return plain(Column{Name: name, Kind: Flag, Help: help}, func(v *Vector, x *T) {
		n := int64(0)
		if get(x) {
			n = 1
		}
		v.integer(n)
	})
}

// text makes values valid UTF-8: SQLite, Parquet and JSON all want that.
func text[T any](name, help string, get func(*T) string) column[T] {
	return plain(Column{Name: name, Kind: Text, Help: help},
		func(v *Vector, x *T) { v.text(strings.ToValidUTF8(get(x), "\uFFFD")) })
}

// number is null if there is none, or none that is finite.
func number[T any](name, unit, help string, get func(*T) float64) column[T] {
	return plain(Column{Name: name, Kind: Number, Unit: unit, Null: true, Help: help}, func(v *Vector, x *T) {
		if n := get(x); math.IsNaN(n) || math.IsInf(n, 0) {
			v.null()
		} else {
			v.number(n)
		}
	})
}

// maybe is an integer that may be null.
func maybe[T any](name, unit, help string, get func(*T) (int64, bool)) column[T] {
	return plain(Column{Name: name, Kind: Integer, Unit: unit, Null: true, Help: help}, func(v *Vector, x *T) {
		if n, ok := get(x); ok {
			v.integer(n)
		} else {
			v.null()
		}
	})
}

// maybeText is null if it is empty.
func maybeText[T any](name, help string, get func(*T) string) column[T] {
	return plain(Column{Name: name, Kind: Text, Null: true, Help: help}, func(v *Vector, x *T) {
		if s := get(x); s == "" {
			v.null()
		} else {
			v.text(strings.ToValidUTF8(s, "\uFFFD"))
		}
	})
}

// narrow marks a column on which conditions spare reading.
func narrow[T any](c column[T]) column[T] {
	c.Narrows = true
	return c
}

func declared[T any](columns []column[T]) []Column {
	out := make([]Column, len(columns))
	for i := range columns {
		out[i] = columns[i].Column
	}
	return out
}

// scanned makes a table of columns and how its rows are found.
func scanned[T any](name, help string, size func(*Run) int64, columns []column[T],
	scan func(context.Context, *Run, *Filter, *rowsOf[T]) error) *Table {
	return &Table{Name: name, Help: help, Columns: declared(columns), Size: size,
		Scan: func(ctx context.Context, r *Run, f *Filter, to *Output) error {
			if err := scan(ctx, r, f, newRows(to, columns)); err != nil {
				return err
			}
			return to.flush()
		}}
}

// A place is a row of a list.
type place struct {
	*Run
	at int
}

// listed makes a table whose rows are in memory.
func listed(name, help string, count func(*Run) int, columns []column[place]) *Table {
	t := &Table{Name: name, Help: help, Columns: declared(columns), Size: func(r *Run) int64 { return int64(count(r)) }}
	t.List = &List{Len: count, Cell: func(r *Run, row, column int) (any, error) {
		v := Vector{Kind: columns[column].Kind}
		err := columns[column].put(&v, &place{r, row})
		return v.Value(0), err
	}}
	return t
}

// NewFunction makes a table of columns and a function that adds rows, cell by cell, for
// those who have no store to read. An empty list of arguments still makes a function.
func NewFunction(name, help string, arguments, columns []Column,
	rows func(ctx context.Context, r *Run, f *Filter, add func(cells ...any) error) error) *Table {
	if arguments == nil {
		arguments = []Column{}
	}
	own := make([]column[[]any], len(columns))
	for i, c := range columns {
		own[i] = plain(c, func(v *Vector, x *[]any) { v.Put((*x)[i]) })
	}
	t := scanned(name, help, func(*Run) int64 { return 100 }, own,
		func(ctx context.Context, r *Run, f *Filter, to *rowsOf[[]any]) error {
			return rows(ctx, r, f, func(cells ...any) error {
				to.read(1)
				return to.add(&cells)
			})
		})
	t.Arguments = arguments
	return t
}
