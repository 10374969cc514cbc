package query

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cell returns a value as people and files see it; "" of null.
func Cell(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case string:
		return x
	case []byte:
		return fmt.Sprintf("%x", x)
	}
	return fmt.Sprint(v)
}

// WriteCSV writes all rows under a line with the names of the columns.
func (r *Rows) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		line[i] = c.Name
	}
	err := out.Write(line)
	for err == nil && r.Next() {
		for i, v := range r.Row() {
			line[i] = Cell(v)
		}
		err = out.Write(line)
	}
	if out.Flush(); err == nil {
		err = out.Error()
	}
	if r.Err() != nil {
		return r.Err()
	}
	return err
}

// WriteJSON writes {"columns": [{"name", "unit"}], "rows": [[…]], "more": false} row by row.
func (r *Rows) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	columns, err := json.Marshal(r.Columns)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"columns\":%s,\"rows\":[", columns)
	for n := 0; r.Next(); n++ {
		if n > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		row, err := json.Marshal(Exact(r.Row(), 0))
		if err != nil {
			return err
		}
		if _, err := out.Write(row); err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return r.Err()
	}
	fmt.Fprintf(out, "\n],\"more\":%v}\n", r.More())
	return out.Flush()
}

// Exact copies a row for JSON: numbers that are not finite become null, bytes become hex. Integers beyond ±limit
// become strings, for readers that would round them; 0: none.
func Exact(row []any, limit int64) []any {
	out := make([]any, len(row))
	for i, v := range row {
		switch x := v.(type) {
		case float64:
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				out[i] = x
			}
		case int64:
			if out[i] = x; limit > 0 && (x > limit || x < -limit) {
				out[i] = strconv.FormatInt(x, 10)
			}
		case []byte:
			out[i] = Cell(x)
		case string:
			out[i] = strings.ToValidUTF8(x, "\uFFFD")
		default:
			out[i] = v
		}
	}
	return out
}

// ExactInJavaScript is the largest whole number that a float64 holds with all below it.
const ExactInJavaScript = 1<<53 - 1

// tableRows is the number of rows that are looked at to find how wide columns are; widest is how
// wide one may be.
const (
	tableRows = 1000
	widest    = 60
)

// WriteTable writes rows for people: numbers to the right, columns as wide as the first
// rows need, long strings cut.
func (r *Rows) WriteTable(w io.Writer) error {
	out := bufio.NewWriter(w)
	width, right := make([]int, len(r.Columns)), make([]bool, len(r.Columns))
	for i, c := range r.Columns {
		width[i], right[i] = utf8.RuneCountInString(c.heading()), true
	}
	var held [][]string
	numeric := func(v any) bool {
		switch v.(type) {
		case int64, float64, nil:
			return true
		}
		return false
	}
	line := func(cells []string) {
		for i, c := range cells {
			pad := strings.Repeat(" ", max(width[i]-utf8.RuneCountInString(c), 0))
			switch {
			case i > 0:
				out.WriteString("  ")
			}
			switch {
			case right[i]:
				out.WriteString(pad + c)
			case i == len(cells)-1:
				out.WriteString(c)
			default:
				out.WriteString(c + pad)
			}
		}
		out.WriteByte('\n')
	}
	head := func() {
		names := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			names[i] = c.heading()
		}
		line(names)
		for _, cells := range held {
			line(cells)
		}
		held = nil
	}
	n := 0
	for r.Next() {
		cells := make([]string, len(r.Columns))
		for i, v := range r.Row() {
			cells[i] = short(v)
			if n < tableRows {
				width[i], right[i] = max(width[i], utf8.RuneCountInString(cells[i])), right[i] && numeric(v)
			}
		}
		if n++; n <= tableRows {
			held = append(held, cells)
			continue
		}
		if held != nil {
			head()
		}
		line(cells)
	}
	if n <= tableRows {
		head()
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return r.Err()
}

func short(v any) string {
	s := calm(Cell(v))
	if x, ok := v.(float64); ok {
		if s = strconv.FormatFloat(x, 'g', 6, 64); math.Abs(x) >= 1e6 && math.Abs(x) < 1e15 {
			s = strconv.FormatFloat(x, 'f', 0, 64)
		}
	}
	if t := []rune(s); len(t) > widest {
		return string(t[:widest*2/3]) + "…" + string(t[len(t)-widest/3+1:])
	}
	return s
}

// calm replaces characters that would drive a terminal: controls, also those above 0x7f, and changes of direction.
func calm(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) {
			return ' '
		}
		return c
	}, s)
}

// heading returns the name of a column with its unit, for people.
func (c Column) heading() string {
	if c.Unit == "" || c.Unit == "count" || c.Unit == c.Name {
		return calm(c.Name)
	}
	return calm(c.Name + " (" + c.Unit + ")")
}
