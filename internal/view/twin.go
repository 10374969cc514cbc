package view

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A Twin is the JSON form of a result: the numbers behind the picture.
type Twin struct {
	View      string         `json:"view"`
	Source    string         `json:"source"`
	Selection TwinSelection  `json:"selection"`
	Options   map[string]any `json:"options"`
	Notes     []string       `json:"notes"`
	Data      any            `json:"data"`
	// Arrangement is the order of locations, where it is not the tree's.
	Arrangement *Arrangement `json:"arrangement,omitempty"`
	// Rows say which locations are compared, in views that compare some.
	Rows *TwinRows `json:"rows,omitempty"`

	full map[string]int // how long lists are of which Data has the first elements
}

// A TwinSelection describes the selection: times in ns, sets by their size.
type TwinSelection struct {
	Begin     int64 `json:"begin"`
	End       int64 `json:"end"`
	Locations int   `json:"locations"` // Nodes of the tree that it holds.
	Regions   int   `json:"regions"`
}

// TwinOf makes the JSON output of a result.
func TwinOf(v *View, q *Request, r Result) *Twin { return twinOf(v, q, r, r.Data()) }

func twinOf(v *View, q *Request, r Result, data any) *Twin {
	t := &Twin{
		View: v.Name, Source: q.Runs[0].Source, Options: q.Values.All(), Notes: TwinNotes(q.Values, r), Data: data,
		Selection: SizeOf(q.Store(), q.Selection), Rows: q.twinRows(v),
	}
	if d, ok := r.(DataNoter); ok {
		t.Notes = append(t.Notes, d.DataNotes()...)
	}
	if a, ok := r.(ArrangedResult); ok {
		t.Arrangement = a.Arrangement()
	}
	return t
}

// A Starter is a result with long lists that gives the first elements of them without making the others.
type Starter interface {
	// Start returns the data with at least so many elements of each list, and how many there are, by the name of the
	// list.
	Start(most int) (data any, full map[string]int)
}

// ShortTwinOf makes the JSON output of a result with the first elements of long lists.
func ShortTwinOf(v *View, q *Request, r Result) *Twin {
	b, ok := r.(Starter)
	if !ok {
		t := TwinOf(v, q, r)
		t.Cut()
		return t
	}
	data, full := b.Start(mostListed)
	t := twinOf(v, q, r, data)
	t.full = full
	t.Cut()
	return t
}

// A DataNoter has notes on its data that are none of the picture.
type DataNoter interface{ DataNotes() []string }

// TwinNotes returns the notes of a result written as a table: those of the picture, and
// if the view has --all and it is off, that the table holds the drawn rows only.
func TwinNotes(v Values, r Result) []string {
	notes := append([]string{}, r.Notes()...)
	if slices.ContainsFunc(v.options, func(o Option) bool { return o.Name == "all" }) && !v.Switch("all") {
		notes = append(notes,
			"table, JSON and CSV hold what is drawn at this size; --all gives everything there is in the selection")
	}
	return notes
}

// SizeOf returns the size of a selection. Locations are those with intervals of
// their own; a profile has none, and there every location counts that has no others
// below it.
func SizeOf(r store.Reader, sel trace.Selection) TwinSelection {
	tree := r.Locations()
	out := TwinSelection{Begin: int64(sel.Begin), End: int64(sel.End), Regions: len(r.Regions())}
	if sel.Regions != nil {
		out.Regions = len(sel.Regions)
	}
	timed := r.Info().Rows > 0
	if sel.Locations == nil && timed {
		out.Locations = r.Info().Rows
		return out
	}
	count := func(first, last trace.LocationID) {
		for id := first; id <= last; id++ {
			if timed && (tree.Holds[id] || id == first && tree.IsAside(id)) || !timed && tree.IsLeaf(id) {
				out.Locations++
			}
		}
	}
	if sel.Locations == nil && tree.Len() > 0 {
		count(0, trace.LocationID(tree.Len()-1))
	}
	for _, id := range sel.Locations {
		count(id, tree.Last[id])
	}
	return out
}

// mostListed is how many elements of a list are written where not all are asked for.
const mostListed = 1 << 14

// Cut leaves the first elements of lists that are longer than a reader looks at, and of lists in the elements of short
// ones, such as members of groups. It notes how to have all. Results of a view with an option --all hold what it says
// already.
func (t *Twin) Cut() {
	data := reflect.ValueOf(t.Data)
	if data.Kind() == reflect.Pointer && !data.IsNil() {
		data = data.Elem()
	}
	if _, own := t.Options["all"]; own || data.Kind() != reflect.Struct {
		return
	}
	out := reflect.New(data.Type()).Elem()
	out.Set(data)
	for i := range out.NumField() {
		name, list, ok := memberOf(out, i)
		if !ok || list.Kind() != reflect.Slice {
			continue
		}
		if n := max(list.Len(), t.full[name]); isLong(list) && n > mostListed {
			t.noteCut(n, name)
			list.Set(firstOf(list))
		} else if list.Type().Elem().Kind() == reflect.Struct {
			t.cutMembers(list, name)
		}
	}
	t.Data = out.Interface()
}

// cutMembers cuts the lists in the elements of a list.
func (t *Twin) cutMembers(list reflect.Value, name string) {
	longest, copied := map[string]int{}, false
	var names []string
	for k := range list.Len() {
		for i := range list.Index(k).NumField() {
			member, in, ok := memberOf(list.Index(k), i)
			if !ok || in.Kind() != reflect.Slice || !isLong(in) || in.Len() <= mostListed {
				continue
			}
			if !copied { // the result stays as it is
				own := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
				reflect.Copy(own, list)
				list.Set(own)
				copied = true
				in = own.Index(k).Field(i)
			}
			if longest[member] == 0 {
				names = append(names, member)
			}
			longest[member] = max(longest[member], in.Len())
			in.Set(firstOf(in))
		}
	}
	for _, member := range names {
		t.noteCut(longest[member], member+" of "+name)
	}
}

func firstOf(list reflect.Value) reflect.Value {
	n := min(list.Len(), mostListed)
	return list.Slice3(0, n, n)
}

func (t *Twin) noteCut(n int, name string) {
	t.Notes = append(t.Notes, fmt.Sprintf("JSON has the first %s of %s %s; --all writes all, "+
		"-o FILE.csv every row, and `parallax query` selects",
		words.Thousands(mostListed), words.Thousands(int64(n)), name))
}

// WriteJSON writes the twin, one object and a line end. If numbers are not finite it
// adds a note.
func (t *Twin) WriteJSON(w io.Writer) error {
	if hasLongList(reflect.ValueOf(t.Data)) {
		return t.stream(w)
	}
	var b bytes.Buffer
	finite, err := WriteJSON(&b, t)
	if err == nil && !finite {
		noted := *t
		noted.Notes = append(slices.Clone(t.Notes), NotFinite)
		b.Reset()
		_, err = WriteJSON(&b, &noted)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// stream writes the twin of much data, which is never in memory as text. The note comes before
// the numbers that it is of, so these are looked through first.
func (t *Twin) stream(w io.Writer) error {
	const here = `"\u0001data\u0001"`
	head := *t
	head.Data = json.RawMessage(here)
	if !isFinite(reflect.ValueOf(t.Data)) {
		head.Notes = append(slices.Clone(t.Notes), NotFinite)
	}
	var b bytes.Buffer
	if _, err := WriteJSON(&b, &head); err != nil {
		return err
	}
	before, after, _ := strings.Cut(b.String(), here)
	if _, err := io.WriteString(w, before); err != nil {
		return err
	}
	if err := writeStream(w, t.Data); err != nil {
		return err
	}
	_, err := io.WriteString(w, after)
	return err
}

// WriteCSV writes a table with a header line; undefined cells stay empty.
func (t *Table) WriteCSV(w io.Writer) error { return t.writeCSV(w, func(s string) string { return s }) }

// WriteSpreadsheet is WriteCSV for programs that run texts that look like a formula: texts
// that begin like one have an apostrophe before them, which such programs do not show.
func (t *Table) WriteSpreadsheet(w io.Writer) error { return t.writeCSV(w, Unformula) }

// Unformula makes a text that no spreadsheet takes for a formula.
func Unformula(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (t *Table) writeCSV(w io.Writer, text func(string) string) error {
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
			if s, ok := cell.(string); ok {
				line[i] = text(s)
			}
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
