package parallax

import (
	"context"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/query/derived"
	"github.com/parallax-hpc/parallax/internal/table"
)

// Query asks a run by SQL. It only reads, it ends with its context, and large sorts go to temporary files. The
// tables of further runs stand under their names: after.intervals.
func (r *Run) Query(ctx context.Context, sql string, others ...*Run) (*Rows, error) {
	d := &query.Database{Runs: []*table.Run{r.asTables()}, More: derived.Tables}
	for _, o := range others {
		d.Runs = append(d.Runs, o.asTables())
	}
	rows, err := d.Query(ctx, sql, query.Limits{})
	if err != nil {
		return nil, err
	}
	return &Rows{rows}, nil
}

// Rows is the answer to a query, row by row. Close it when done.
type Rows struct{ rows *query.Rows }

// A Column of an answer. Unit is "ns", "bytes" or "", known if it is a column of a table.
type Column struct{ Name, Unit string }

// Columns are those that every row has.
func (r *Rows) Columns() []Column {
	out := make([]Column, len(r.rows.Columns))
	for i, c := range r.rows.Columns {
		out[i] = Column{c.Name, c.Unit}
	}
	return out
}

// Next moves to the next row; false at the end, or on an error, which Err returns.
func (r *Rows) Next() bool { return r.rows.Next() }

// Values is the current row: int64, float64, string, []byte or nil each. It is valid until Next.
func (r *Rows) Values() []any { return r.rows.Row() }

// Scan copies the current row into variables: *int64, *float64, *string or *any. Null becomes
// zero in those that know none.
func (r *Rows) Scan(into ...any) error {
	row := r.rows.Row()
	if len(into) != len(row) {
		return fmt.Errorf("parallax: %d variables for %d columns", len(into), len(row))
	}
	for i, v := range row {
		if !assign(into[i], v) {
			return fmt.Errorf("parallax: column %s is %T, which does not go into %T", r.rows.Columns[i].Name, v,
				into[i])
		}
	}
	return nil
}

func assign(into, v any) bool {
	switch p := into.(type) {
	case *any:
		*p = v
		return true
	case *int64:
		n, ok := v.(int64)
		*p = n
		return ok || v == nil
	case *float64:
		switch x := v.(type) {
		case float64:
			*p = x
		case int64:
			*p = float64(x)
		default:
			*p = 0
			return v == nil
		}
		return true
	case *string:
		*p = query.Cell(v)
		return true
	}
	return false
}

// Err returns why Next ended early; nil if it did not.
func (r *Rows) Err() error { return r.rows.Err() }

// Close ends the query.
func (r *Rows) Close() error {
	r.rows.Close()
	return nil
}

// WriteCSV writes the rows that are left under a line with the names of the columns.
func (r *Rows) WriteCSV(w io.Writer) error { return r.rows.WriteCSV(w) }

// WriteJSON writes them as {"columns": [{"name", "unit"}], "rows": [[…]], "more": false}.
func (r *Rows) WriteJSON(w io.Writer) error { return r.rows.WriteJSON(w) }
