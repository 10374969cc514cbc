package query

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/table"
)

// A Stream is a result in batches of columns whose types are known before the first row. Close it when done.
type Stream struct {
	Columns []table.Column
	// Rows is how many rows come at most; -1: not known before they are there.
	Rows int64

	rows *Rows
	each func(emit func(*table.Batch) error) error
	plan *direct     // set where all rows of a plan are wanted
	all  *Collection // of a result whose types its rows decide
}

// Stream starts a query. Columns of tables have their declared types, and their rows come as they are found. A computed
// column has the narrowest type that holds its values, so such rows are collected first.
func (d *Database) Stream(ctx context.Context, text string, limits Limits, params ...any) (*Stream, error) {
	if d.Remote {
		r, err := d.Apart(ctx, text, limits, params)
		if err != nil {
			return nil, err
		}
		return collected(r, limits)
	}
	r, err := d.prepare(ctx, text, limits, params)
	if err != nil {
		return nil, err
	}
	s := &Stream{rows: r, Rows: -1}
	if plan := newDirect(d, text, r.origins, params); plan != nil {
		s.goDirect(plan, limits.Rows)
		return s, nil
	}
	if d.Apart != nil {
		r.Close()
		if r, err = d.Apart(ctx, text, limits, params); err != nil {
			return nil, err
		}
		s.rows = r
	} else if err := r.run(text, params); err != nil {
		return nil, err
	}
	if r.typed(text) {
		kinds := make([]table.Kind, len(r.Columns))
		for i := range kinds {
			kinds[i] = r.Columns[i].Kind
		}
		s.Columns = described(r.Columns, kinds)
		s.each = func(emit func(*table.Batch) error) error { return r.batches(s.Columns, emit) }
		return s, nil
	}
	return collected(r, limits)
}

// collected is the stream of rows whose values decide the types.
func collected(r *Rows, limits Limits) (*Stream, error) {
	all, err := r.Collect(limits.Cells)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &Stream{rows: r, all: all, Columns: all.Columns, Rows: all.rows, each: all.Each}, nil
}

func (s *Stream) goDirect(plan *direct, most int64) {
	kinds := make([]table.Kind, len(plan.columns))
	for i, at := range plan.columns {
		kinds[i] = plan.table.Columns[at].Kind
	}
	s.Columns = described(s.rows.Columns, kinds)
	if most <= 0 {
		most = -1
	}
	if len(plan.tests) == 0 && !plan.table.Function() {
		s.Rows = plan.table.Size(plan.run)
		for _, n := range []int64{plan.limit, most} {
			if n >= 0 {
				s.Rows = min(s.Rows, n)
			}
		}
	}
	if most < 0 && plan.limit < 0 {
		s.plan = plan
	}
	s.each = func(emit func(*table.Batch) error) error {
		return s.ended(plan.each(s.rows.session.ctx, most, func() { s.rows.more = true }, emit))
	}
}

// ended names the cause of an error, which may be that the query was ended.
func (s *Stream) ended(err error) error {
	if ctx := s.rows.session.ctx; ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

// Each yields the rows, once.
func (s *Stream) Each(emit func(*table.Batch) error) error { return s.each(emit) }

// More reports whether rows were left out because of the limit.
func (s *Stream) More() bool { return s.rows.More() }

// Close ends the query.
func (s *Stream) Close() {
	if s.all != nil {
		s.all.Close()
	}
	s.rows.Close()
}

// typed reports whether the type of every column is declared. One of several selects may have other types than the
// first.
func (r *Rows) typed(text string) bool {
	for i := range r.Columns {
		if r.Columns[i].Kind == 0 {
			return false
		}
	}
	for _, t := range tokens(text) {
		if t.is("union") || t.is("intersect") || t.is("except") {
			return false
		}
	}
	return true
}

// batches yields the rows as they come.
func (r *Rows) batches(columns []table.Column, emit func(*table.Batch) error) error {
	for {
		b := newBatch(columns)
		for b.Rows < batchRows && r.Next() {
			for i, v := range r.Row() {
				b.Columns[i].Put(as(columns[i].Kind, v))
			}
			b.Rows++
		}
		if r.Err() != nil {
			return r.Err()
		}
		if b.Rows == 0 {
			return nil
		}
		if err := emit(b); err != nil {
			return err
		}
	}
}

func newBatch(columns []table.Column) *table.Batch {
	b := &table.Batch{Columns: make([]table.Vector, len(columns))}
	for i := range columns {
		b.Columns[i].Kind = columns[i].Kind
	}
	return b
}
