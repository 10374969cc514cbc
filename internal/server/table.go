package server

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// tablePage answers GET …/views/{view}/table?offset=&limit=&sort=&descending=.
type tablePage struct {
	Columns   []view.Column      `json:"columns"`
	Rows      [][]any            `json:"rows" ts:"Cell[][]"`
	Locations []trace.LocationID `json:"locations"` // The selection of a chosen row: none, or one per row.
	Regions   []trace.RegionID   `json:"regions"`
	Offset    int                `json:"offset"`
	Total     int                `json:"total"`
	Notes     []string           `json:"notes"`
	Empty     *wire.Empty        `json:"empty"` // Set where the selection holds nothing to show.
}

// table answers with a page of the view's table, sorted by a column.
func (s *viewPages) table(w http.ResponseWriter, r *http.Request, q *viewRequest) error {
	offset, limit, err := page(r, 200, 10_000)
	if err != nil {
		return err
	}
	by := sortKey{column: r.URL.Query().Get("sort")}
	if text := r.URL.Query().Get("descending"); text != "" {
		if by.descending, err = strconv.ParseBool(text); err != nil {
			return usage(errors.New("descending: want true or false"))
		}
	}
	out := tablePage{Columns: []view.Column{}, Rows: [][]any{}, Locations: []trace.LocationID{},
		Regions: []trace.RegionID{}, Offset: offset, Notes: []string{}}
	e, res, err := s.compute(r.Context(), q)
	var empty *view.EmptyError
	switch {
	case errors.As(err, &empty):
		out.Empty = &wire.Empty{What: empty.What, Hint: empty.Hint}
		return s.writeJSON(w, r, http.StatusOK, out)
	case err != nil:
		return err
	}
	if err := s.use(r.Context(), e, res, ofTable, func() error { return res.page(&out, by, limit) }); err != nil {
		return err
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

// rows returns the table, made once.
func (r *result) rows() *view.Table {
	if r.table == nil {
		r.table = r.value.Table()
	}
	return r.table
}

// page copies the asked rows out, in order. Sorting takes n log n once for a
// column; turning pages does not sort again.
func (r *result) page(out *tablePage, by sortKey, limit int) error {
	t := r.rows()
	if err := r.sort(by); err != nil {
		return err
	}
	out.Columns, out.Total = append(out.Columns, t.Columns...), len(t.Rows)
	out.Notes = append(out.Notes, view.TwinNotes(r.request.Values, r.value)...)
	from := min(out.Offset, len(t.Rows))
	for i := from; i < min(from+limit, len(t.Rows)); i++ {
		at := i
		if r.order != nil {
			at = int(r.order[i])
		}
		out.Rows = append(out.Rows, finiteCells(t.Rows[at]))
		if at < len(t.Locations) {
			out.Locations = append(out.Locations, t.Locations[at])
		}
		if at < len(t.Regions) {
			out.Regions = append(out.Regions, t.Regions[at])
		}
	}
	return nil
}

// finiteCells replaces numbers that JSON does not know by null.
func finiteCells(row []any) []any {
	for i, x := range row {
		if f, ok := x.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			out := slices.Clone(row)
			for j := i; j < len(out); j++ {
				if f, ok := out[j].(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
					out[j] = nil
				}
			}
			return out
		}
	}
	return row
}

// sort orders the rows by a column: numbers before texts, undefined cells last
// either way, equal ones as the view gave them.
func (r *result) sort(by sortKey) error {
	if by == r.sorted && (by.column == "" || r.order != nil) {
		return nil
	}
	t := r.rows()
	if by.column == "" {
		r.order, r.sorted = nil, by
		return nil
	}
	at := slices.IndexFunc(t.Columns, func(c view.Column) bool { return c.Name == by.column })
	if at < 0 {
		return usage(fmt.Errorf("sort %s: the table has no such column", quoteShort(by.column)))
	}
	order := make([]int32, len(t.Rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return compareCells(t.Rows[a][at], t.Rows[b][at], by.descending)
	})
	r.order, r.sorted = order, by
	return nil
}

func compareCells(a, b any, descending bool) int {
	ka, na, ta := cellKey(a)
	kb, nb, tb := cellKey(b)
	if ka != kb {
		return ka - kb
	}
	c := 0
	switch {
	case ka == 0 && na < nb, ka == 1 && ta < tb:
		c = -1
	case ka == 0 && na > nb, ka == 1 && ta > tb:
		c = 1
	}
	if descending {
		return -c
	}
	return c
}

// cellKey returns the class of a cell (number, text, undefined) and its value.
func cellKey(x any) (class int, number float64, text string) {
	switch x := x.(type) {
	case int64:
		return 0, float64(x), ""
	case float64:
		if !math.IsNaN(x) {
			return 0, x, ""
		}
	case string:
		return 1, 0, x
	case bool:
		return 1, 0, strconv.FormatBool(x)
	}
	return 2, 0, ""
}
