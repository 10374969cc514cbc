package view

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
)

// A Twin is the JSON form of a result: the numbers behind the picture.
type Twin struct {
	View      string         `json:"view"`
	Source    string         `json:"source"`
	Selection TwinSelection  `json:"selection"`
	Options   map[string]any `json:"options"`
	Notes     []string       `json:"notes"`
	Data      any            `json:"data"`
}

// A TwinSelection says what was selected: times in ns, sets by their size.
type TwinSelection struct {
	Begin     int64 `json:"begin"`
	End       int64 `json:"end"`
	Locations int   `json:"locations"`
	Regions   int   `json:"regions"`
}

// TwinOf makes the JSON twin of a result.
func TwinOf(v *View, q *Request, r Result) *Twin {
	store := q.Store()
	t := &Twin{
		View: v.Name, Source: q.Runs[0].Source, Options: q.Values.All(), Notes: append([]string{}, r.Notes()...), Data: r.Data(),
		Selection: TwinSelection{Begin: int64(q.Selection.Begin), End: int64(q.Selection.End), Locations: store.Locations().Len(), Regions: len(store.Regions())},
	}
	if q.Selection.Locations != nil {
		t.Selection.Locations = len(store.Locations().Expand(q.Selection.Locations))
	}
	if q.Selection.Regions != nil {
		t.Selection.Regions = len(q.Selection.Regions)
	}
	return t
}

// WriteJSON writes the twin, one object and a line end.
func (t *Twin) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(t)
}

// WriteCSV writes a table with a header line; undefined cells stay empty.
func (t *Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		line[i] = col.Name
	}
	if err := c.Write(line); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			line[i] = Cell(cell)
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// Cell writes one cell exactly.
func Cell(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(x)
	}
	return "?"
}
