package viewtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// described checks that the view has its texts for the page and the help.
func described(t *testing.T, v *view.View) {
	if v.Name == "" || v.Title == "" || v.Summary == "" || v.HowToRead == "" {
		t.Errorf("view %q lacks a title, a summary or how to read it", v.Name)
	}
	for _, o := range v.Options {
		if !slices.ContainsFunc(view.OptionTable, func(x view.Option) bool { return x.Name == o.Name }) {
			t.Errorf("option --%s is not in the table", o.Name)
		}
	}
}

// everything returns all bytes of a result.
func everything(t *testing.T, v *view.View, c *Case, r store.Reader) []byte {
	t.Helper()
	q := c.Request(t, v, r)
	result, err := view.Ask(context.Background(), v, q)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	out.WriteString(Dump(result.Scene(c.size())))
	if err := view.TwinOf(v, q, result).WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	if err := result.Table().WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sameBytes(t *testing.T, v *view.View, c *Case, r store.Reader) {
	want := everything(t, v, c, r)
	if !bytes.Equal(want, everything(t, v, c, r)) {
		t.Error("the same request twice gives other bytes")
	}
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for _, n := range []int{1, 7} {
		runtime.GOMAXPROCS(n)
		if !bytes.Equal(want, everything(t, v, c, r)) {
			t.Errorf("%d cores give other bytes", n)
		}
	}
	result := c.Compute(t, v, r)
	first := Dump(result.Scene(c.size()))
	result.Scene(scene.Size{Width: 300, Height: 200})
	if first != Dump(result.Scene(c.size())) {
		t.Error("drawing at another size changes the result")
	}
}

// twins: no list is null, and the table states as much as the data.
func twins(t *testing.T, v *view.View, c *Case, r store.Reader) {
	result := c.Compute(t, v, r)
	data := result.Data()
	if path := nilList(reflect.ValueOf(data), "data"); path != "" {
		t.Errorf("%s is null in JSON, want an empty list", path)
	}
	kind := reflect.TypeOf(data)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if !slices.ContainsFunc(v.Data, func(d any) bool { return reflect.TypeOf(d) == kind }) {
		t.Errorf("data is a %s, which View.Data does not name: programs would not know it", kind)
	}
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatalf("data is not an object: %v", err)
	}
	table := result.Table()
	if table == nil || table.Rows == nil || len(table.Columns) == 0 {
		t.Fatal("the table has no columns or its rows are null")
	}
	agree := false
	for _, f := range fields {
		var list []json.RawMessage
		if json.Unmarshal(f, &list) == nil && len(list) == len(table.Rows) {
			agree = true
		}
	}
	if !agree {
		t.Errorf("the table has %d rows, no list of the data has as many", len(table.Rows))
	}
	checkTable(t, table)
}

func checkTable(t *testing.T, table *view.Table) {
	t.Helper()
	for _, col := range table.Columns {
		if !slices.Contains([]string{"", "ns", "bytes", "count", "share"}, col.Unit) {
			t.Errorf("column %s has the unit %q", col.Name, col.Unit)
		}
	}
	for i, row := range table.Rows {
		if len(row) != len(table.Columns) {
			t.Fatalf("row %d has %d cells, want %d", i, len(row), len(table.Columns))
		}
		for k, cell := range row {
			if view.Cell(cell) == "?" {
				t.Fatalf("row %d, column %s: a cell of type %T", i, table.Columns[k].Name, cell)
			}
		}
	}
	if n := len(table.Locations); n != 0 && n != len(table.Rows) {
		t.Errorf("%d locations for %d rows", n, len(table.Rows))
	}
	if n := len(table.Regions); n != 0 && n != len(table.Rows) {
		t.Errorf("%d regions for %d rows", n, len(table.Rows))
	}
}

// nilList returns the path of a slice or map that would be null, or "".
func nilList(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return "" // a single value may be undefined
		}
		return nilList(v.Elem(), path)
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return path
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if p := nilList(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if p := nilList(v.MapIndex(k), fmt.Sprintf("%s[%v]", path, k)); p != "" {
				return p
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || strings.Contains(f.Tag.Get("json"), "omitempty") || f.Tag.Get("json") == "-" {
				continue
			}
			if p := nilList(v.Field(i), path+"."+f.Name); p != "" {
				return p
			}
		}
	}
	return ""
}

// pickAnywhere asks for facts before drawing, on a grid, at every corner and far outside. Each fact must have a
// title and lines.
func pickAnywhere(t *testing.T, v *view.View, c *Case, r store.Reader) {
	result := c.Compute(t, v, r)
	s := result.Scene(c.size())
	points := [][2]float64{{math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}, {-1e9, -1e9},
		{1e9, 1e9}}
	corner := func(x, y float64) {
		for _, dx := range []float64{-1, 0, 1} {
			for _, dy := range []float64{-1, 0, 1} {
				points = append(points, [2]float64{x + dx, y + dy})
			}
		}
	}
	areas := [][4]float64{{0, 0, s.Width, s.Height}}
	for _, f := range s.Frames {
		areas = append(areas, [4]float64{float64(f.X), float64(f.Y), float64(f.W), float64(f.H)})
	}
	for _, a := range areas {
		for _, x := range []float64{a[0], a[0] + a[2]} {
			for _, y := range []float64{a[1], a[1] + a[3]} {
				corner(x, y)
			}
		}
	}
	for x := 2.0; x < s.Width; x += s.Width / 37 {
		for y := 2.0; y < s.Height; y += s.Height / 41 {
			points = append(points, [2]float64{x, y})
		}
	}
	record(t, v, c, result, s)
	found := 0
	for _, p := range points {
		f, ok, err := view.PickAt(result, s, p[0], p[1])
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		found++
		if f.Title == "" || f.Lines == nil {
			t.Fatalf("the fact at %g, %g has no title or its lines are null: %+v", p[0], p[1], f)
		}
		if (f.Begin == nil) != (f.End == nil) {
			t.Fatalf("the fact at %g, %g has half a time range", p[0], p[1])
		}
	}
	if found == 0 {
		t.Error("nothing is found anywhere")
	}
}

// Sizes that every view must draw.
var Sizes = []scene.Size{{Width: 1, Height: 1}, {Width: 40, Height: 1000}, {Width: 1000, Height: 48},
	{Width: 320, Height: 200}, {Width: 1920, Height: 1080}, {Width: 3840, Height: 2160}}

// sizes computes and draws at each size. The bytes sent to the page are bounded.
func sizes(t *testing.T, v *view.View, c *Case, r store.Reader) {
	for _, size := range Sizes {
		at := *c
		at.Size = size
		result := at.Compute(t, v, r)
		for _, s := range []*scene.Scene{result.Scene(size), result.Scene(c.size())} {
			if err := CheckScene(s); err != nil {
				t.Errorf("%d × %d: %v", size.Width, size.Height, err)
			}
		}
		view.PickAt(result, result.Scene(size), float64(size.Width)/2, float64(size.Height)/2)
	}
}

// CheckScene reports faults of a scene: columns that do not fit, marks that are unknown, more bytes than a page
// should get.
func CheckScene(s *scene.Scene) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Description == "" {
		return errors.New("the scene has no description")
	}
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if !slices.Contains(scene.MarkKinds, m.Kind()) {
				return fmt.Errorf("layer %s: mark %q is unknown", l.Name, m.Kind())
			}
		}
	}
	b, err := wire.Encode(s, wire.Extra{})
	if err != nil {
		return err
	}
	if most := max(MostBytes, int(s.Width*s.Height)); len(b) > most {
		return fmt.Errorf("the scene takes %d bytes, want at most %d", len(b), most)
	}
	return nil
}

// empty: a selection without anything is said as such.
func empty(t *testing.T, v *view.View, c *Case, r store.Reader) {
	for name, change := range map[string]func(*trace.Selection){
		"no locations": func(s *trace.Selection) { s.Locations = []trace.LocationID{} },
		"no time":      func(s *trace.Selection) { s.End = s.Begin },
	} {
		if name == "no time" && r.Info().Intervals == 0 {
			continue // a profile has none
		}
		q := c.Request(t, v, r)
		change(&q.Selection)
		_, err := view.Ask(context.Background(), v, q)
		var e *view.EmptyError
		if !errors.As(err, &e) || e.What == "" {
			t.Errorf("%s: error %v, want an EmptyError", name, err)
		}
	}
}

func cancelled(t *testing.T, v *view.View, c *Case, r store.Reader) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := v.Compute(ctx, c.Request(t, v, r)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", err)
	}
}
