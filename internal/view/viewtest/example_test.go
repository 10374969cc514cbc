package viewtest_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
)

// The view that docs/adding-a-view.md shows: it must pass the suite, and the
// document must show it as it is.

// begin of the example

// View counts calls.
var View = &view.View{
	Name: "calls", Title: "Calls", Summary: "how often each region was entered",
	HowToRead: "A bar a region; its length is the number of calls that begin in the selection.",
	Needs:     view.Needs{Intervals: true},
	Compute:   compute,
}

type result struct {
	Rows   []row     `json:"rows"`
	bottom []float32 // of the bars drawn last
}

type row struct {
	Region string `json:"region"`
	Calls  int64  `json:"calls"`
	region trace.RegionID
	role   trace.Role
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	table, err := q.Store().Time(ctx, q.Window()) // one query for all locations
	if err != nil {
		return nil, err
	}
	calls := map[trace.RegionID]int64{}
	for i, id := range table.Region {
		if q.Selection.Regions == nil || slices.Contains(q.Selection.Regions, id) {
			calls[id] += table.Calls[i]
		}
	}
	r := &result{Rows: []row{}}
	for id, n := range calls {
		g := &q.Store().Regions()[id]
		r.Rows = append(r.Rows, row{g.Name, n, id, g.Role})
	}
	if len(r.Rows) == 0 || q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time or more locations", "no call in the selection")
	}
	slices.SortFunc(r.Rows, func(a, b row) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.region, b.region)) })
	return r, nil
}

func (r *result) Data() any       { return r }
func (r *result) Notes() []string { return nil }

func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "region"}, {Name: "calls", Unit: "count"}}, Rows: [][]any{}}
	for _, x := range r.Rows {
		t.Rows = append(t.Rows, []any{x.Region, x.Calls})
		t.Regions = append(t.Regions, x.region)
	}
	return t
}

func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", "Calls of each region, most first.")
	f := scene.Frame{Name: "main", X: 120, Y: 4, W: float32(size.Width) - 132, H: float32(size.Height) - 28}
	f.XScale = scene.Scale{Kind: "linear", End: float64(r.Rows[0].Calls), Label: "calls"}
	high := f.H / float32(len(r.Rows))
	bars := &scene.Rect{}
	r.bottom = nil
	for i, x := range r.Rows {
		y := f.Y + float32(i)*high
		f.YScale.Rows = append(f.YScale.Rows, scene.Row{From: y, To: y + high, Label: x.Region, Location: scene.NoID, Region: uint32(x.region), Count: 1})
		bars.Add(f.X, y+1, max(f.XPixel(float64(x.Calls))-f.X, 0.5), max(high-2, 1), scene.RegionColour(x.Region, uint8(x.role)))
		r.bottom = append(r.bottom, y+high)
	}
	f.YScale.Kind = "rows"
	frame := s.AddFrame(f)
	s.XAxis(frame, scene.Axis{Unit: "count"})
	s.AddLayer("bars", frame, bars)
	s.RowLabels(frame, 4)
	return s
}

func (r *result) Pick(_, y float64) (view.Fact, bool) {
	i, _ := slices.BinarySearch(r.bottom, float32(y))
	if i >= len(r.bottom) || !(y >= 0) {
		return view.Fact{}, false
	}
	x := r.Rows[i]
	lines := []view.FactLine{{Label: "calls", Value: view.FormatCount(float64(x.Calls)), Exact: view.Thousands(x.Calls)}}
	return view.Fact{Title: x.Region, Lines: lines, Regions: []trace.RegionID{x.region}}, true
}

// end of the example

func TestView(t *testing.T) {
	viewtest.Run(t, View, viewtest.Case{Name: "two regions", Trace: `
location process p
  0..100 main
    10..20 solve
    30..40 solve
`})
}

func TestTheDocumentShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../../docs/adding-a-view.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "// begin of the example\n")
	example, _, _ := strings.Cut(rest, "// end of the example\n")
	if !strings.Contains(string(document), strings.TrimSpace(example)) {
		t.Error("docs/adding-a-view.md does not show the view as it is here")
	}
}
