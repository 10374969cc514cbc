package viewtest_test

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// The view that docs/adding-a-view.md shows: it must pass the suite, and the
// document must show it as it is.

// begin of the example

// View counts calls.
var View = &view.View{
	Name: "calls", Title: "Calls", Summary: "how often each region was entered",
	HowToRead: "A bar a region; its length is the number of calls that begin in the selection.",
	Needs:     view.Needs{Intervals: true},
	Data:      []any{result{}}, Compute: compute,
}

type result struct {
	Rows []row `json:"rows"`
}

// A row is an item: each number is declared here, for JSON, table and CSV.
type row struct {
	Region string         `json:"region" unit:""`
	Calls  int64          `json:"calls" unit:"count"`
	ID     trace.RegionID `json:"-" about:"region"`
	colour scene.Colour
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
	colours, err := q.Colours(ctx)
	if err != nil {
		return nil, err
	}
	r := &result{Rows: []row{}}
	for id, n := range calls {
		g := &q.Store().Regions()[id]
		r.Rows = append(r.Rows, row{g.Name, n, id, colours.Of(g)})
	}
	if len(r.Rows) == 0 || q.Selection.Begin >= q.Selection.End {
		return nil, view.Empty("choose a longer time or more locations", "no call in the selection")
	}
	slices.SortFunc(r.Rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID, b.ID))
	})
	return r, nil
}

func (r *result) Data() any       { return r }
func (r *result) Notes() []string { return nil }

func (r *result) Table() *view.Table { return view.TableOf(r.Rows, nil, nil) }

func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", "Calls of each region, most first.")
	f := scene.Frame{Name: "main", X: 120, Y: 4, W: float32(size.Width) - 132, H: float32(size.Height) - 28}
	f.XScale = scene.Scale{Kind: "linear", End: float64(r.Rows[0].Calls), Label: "calls"}
	high := f.H / float32(len(r.Rows))
	bars := &scene.Rect{}
	for i, x := range r.Rows {
		y := f.Y + float32(i)*high
		f.YScale.Rows = append(f.YScale.Rows, scene.Row{From: y, To: y + high, Label: x.Region,
			Location: scene.NoID, Region: uint32(x.ID), Count: 1})
		bars.Add(f.X, y+1, max(f.XPixel(float64(x.Calls))-f.X, 0.5), max(high-2, 1), x.colour)
	}
	f.YScale.Kind = "rows"
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, float32(size.Width), func(k int) uint32 { return s.Item(ofRow, k) })
	s.XAxis(frame, scene.Axis{Unit: "count"})
	s.AddLayer("bars", frame, bars)
	s.RowLabels(frame, 4)
	return s
}

// ofRow is what marks show: a row.
const ofRow = 1

func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	x := r.Rows[it.A]
	f := view.Fact{Title: x.Region, Regions: []trace.RegionID{x.ID}}
	f.Say("calls", view.FormatCount(float64(x.Calls)), view.Thousands(x.Calls))
	return f, true
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
