package callmatrix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// The regions of the second have other numbers than those of the first.
const (
	before = "location process \"rank 0\" rank=0\n  0..100 main\n    10..20 f\n    30..44 f\n    50..56 g\n"
	after  = "region h role=io\nlocation process \"rank 0\" rank=0\n  0..100 main\n    10..40 f\n    50..52 h\n"
	three  = "location process \"rank 0\" rank=0\n  0..100 main\n    10..16 f\n" +
		"location process \"rank 1\" rank=1\n  0..100 main\n    10..20 f\n" +
		"location process \"rank 2\" rank=2\n  0..100 main\n    10..30 f\n    40..70 f\n"
)

// sides writes the cells of a difference as caller>callee a b difference.
func sides(t *testing.T, r view.Result) string {
	t.Helper()
	b, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	var d callmatrix.DifferenceData
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	var out []string
	number := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	for _, c := range d.Cells {
		side := func(v *callmatrix.Value) string {
			switch {
			case v == nil:
				return "-"
			case d.Of == "median":
				return number(v.Median)
			}
			return fmt.Sprint(v.Total)
		}
		out = append(out, fmt.Sprintf("%s>%s %s %s %s", c.Caller, c.Callee, side(c.A), side(c.B), number(c.Difference)))
	}
	return strings.Join(out, ", ")
}

func twoRuns(t *testing.T, options map[string][]string) view.Result {
	t.Helper()
	a, b := storetest.Text(t, before), storetest.Text(t, after)
	values, err := view.NewValues(callmatrix.View, options)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Runs: []view.Run{{Name: "before", Store: a}, {Name: "after", Store: b}}, Selection: trace.Selection{End: a.Info().End}, Values: values, Size: scene.Size{Width: 640, Height: 480}}
	r, err := callmatrix.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDifferencesByHand: medians and totals of two runs whose regions are numbered
// differently, and of locations of one run.
func TestDifferencesByHand(t *testing.T) {
	for _, c := range []struct{ metric, over, want string }{
		{"exclusive", "calls", ">main 70 68 -2, main>f 12 30 18, main>g 6 - -, main>h - 2 -"},
		{"inclusive", "calls", ">main 100 100 0, main>f 12 30 18, main>g 6 - -, main>h - 2 -"},
		{"exclusive", "locations", ">main 70 68 -2, main>f 24 30 6, main>g 6 - -, main>h - 2 -"},
		{"calls", "calls", ">main 1 1 0, main>f 2 1 -1, main>g 1 - -, main>h - 1 -"},
	} {
		r := twoRuns(t, map[string][]string{"metric": {c.metric}, "over": {c.over}})
		if got := sides(t, r); got != c.want {
			t.Errorf("%s over %s: %s, want %s", c.metric, c.over, got, c.want)
		}
		if n := len(r.Table().Rows); n != 4 {
			t.Errorf("the table has %d rows", n)
		}
	}
	for over, want := range map[string]string{
		"calls":     ">main 94 70 -24, main>f 6 20 14", // 90 and 50; 10, 20 and 30
		"locations": ">main 94 70 -24, main>f 6 30 24", // (10 + 20 + 30) / 2
	} {
		c := viewtest.Case{Trace: three, Spec: view.Spec{Locations: []string{"rank:0"}}, Options: map[string][]string{"against": {"rest"}, "over": {over}}}
		if got := sides(t, c.Compute(t, callmatrix.View, c.Open(t))); got != want {
			t.Errorf("against the rest over %s: %s, want %s", over, got, want)
		}
	}
}

// TestDifferencesAreDrawnAsSuch: the same distance either way has the same strength, and
// what one side alone calls is hatched, named in the legend and found by the cursor.
func TestDifferencesAreDrawnAsSuch(t *testing.T) {
	r := twoRuns(t, nil)
	s := r.Scene(scene.Size{Width: 640, Height: 480})
	var labels []string
	for _, e := range s.Legend {
		labels = append(labels, e.Label)
	}
	if e := s.Legend[0]; e.RampLow != "−18.0 ns" || e.RampHigh != "+18.0 ns" || strings.Join(labels[1:], ", ") != "only in before, only in after" {
		t.Errorf("legend %q from %s to %s", labels, e.RampLow, e.RampHigh)
	}
	f := s.Frames[0]
	seen := ""
	for _, row := range f.YScale.Rows {
		for _, col := range f.XScale.Rows {
			if fact, ok, _ := view.PickAt(r, s, float64(col.From+col.To)/2, float64(row.From+row.To)/2); ok {
				seen += fact.Title + " " + fact.Text + "; "
			}
		}
	}
	for _, want := range []string{"main → g Never called in after.", "main → h Never called in before.", "main → f ;", "(root) → main ;"} {
		if !strings.Contains(seen, want) {
			t.Errorf("no %q in %q", want, seen)
		}
	}
}

func TestDifferencesThatMakeNoSenseAreRefused(t *testing.T) {
	c := viewtest.Case{Trace: three, Options: map[string][]string{"against": {"rest"}}}
	if _, err := callmatrix.View.Compute(context.Background(), c.Request(t, callmatrix.View, c.Open(t))); err == nil || !strings.Contains(err.Error(), "all are selected") {
		t.Error(err)
	}
	c.Options["against"] = []string{"no such"}
	if _, err := callmatrix.View.Compute(context.Background(), c.Request(t, callmatrix.View, c.Open(t))); err == nil || !strings.Contains(err.Error(), "--against") {
		t.Error(err)
	}
}
