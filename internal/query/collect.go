package query

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/table"
)

// Collect gathers all rows in columns, for files that want to know their types first: whole
// numbers where there is nothing else, numbers where there are both, else texts. More cells
// than most are refused.
func (r *Rows) Collect(most int) ([]table.Column, *table.Batch, error) {
	var cells [][]any
	for r.Next() {
		if (len(cells)+1)*len(r.Columns) > most {
			return nil, nil, fmt.Errorf("query: more than %d cells are too many to hold; write csv or json, or add up in SQL", most)
		}
		cells = append(cells, append([]any{}, r.Row()...))
	}
	if r.Err() != nil {
		return nil, nil, r.Err()
	}
	columns := make([]table.Column, len(r.Columns))
	b := &table.Batch{Rows: len(cells), Columns: make([]table.Vector, len(columns))}
	taken := map[string]bool{}
	for i, c := range r.Columns {
		name := c.Name
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", c.Name, n)
		}
		taken[name] = true
		columns[i] = table.Column{Name: name, Unit: c.Unit, Null: true, Kind: kindOf(cells, i)}
		v := &b.Columns[i]
		v.Kind = columns[i].Kind
		for _, row := range cells {
			v.Put(as(v.Kind, row[i]))
		}
	}
	return columns, b, nil
}

// kindOf is the narrowest type that holds all values of a column.
func kindOf(cells [][]any, column int) table.Kind {
	kind := table.Integer
	for _, row := range cells {
		switch row[column].(type) {
		case nil, int64:
		case float64:
			kind = table.Number
		default:
			return table.Text
		}
	}
	return kind
}

func as(kind table.Kind, v any) any {
	if n, ok := v.(int64); ok && kind == table.Number {
		return float64(n)
	}
	if v != nil && kind == table.Text {
		return Cell(v)
	}
	return v
}
