package query

import "fmt"

// A Source gives the rows of a statement that another engine runs.
type Source interface {
	// Next returns the next row: int64, float64, string or nil each; no row at the end.
	Next() ([]any, error)
	Close()
}

// From returns the rows of a source, as many as the limits allow.
func From(columns []Column, s Source, limits Limits) *Rows {
	return &Rows{Columns: columns, from: s, limit: limits.Rows, most: limits.Bytes}
}

func (r *Rows) nextFrom() bool {
	r.cells, r.err = r.from.Next()
	switch {
	case r.err != nil || r.cells == nil:
		r.done = true
	case r.limit > 0 && r.given == r.limit:
		r.more, r.done = true, true
	default:
		r.given++
		if r.bytes += sizeOf(r.cells); r.most > 0 && r.bytes > r.most {
			r.err = fmt.Errorf("query: the rows have more than %d MiB; ask for fewer rows or shorter strings, or add "+
				"up in SQL", r.most>>20)
		}
		return r.err == nil
	}
	return false
}
