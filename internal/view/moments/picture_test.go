package moments_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

func stencil(t *testing.T) store.Reader {
	t.Helper()
	return viewtest.Local(t, func(w trace.Writer) {
		d, _ := demo.Find("stencil")
		if err := d.Write(t.Context(), demo.Options{}, w); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNoNoiseStandsOutInTheStencil: rank 11 and ranks 40 to 47 differ by construction. In
// the whole run and its quarters nobody else does; in any window the marks are few and
// none of them is the cube root of nothing.
func TestNoNoiseStandsOutInTheStencil(t *testing.T) {
	r := stencil(t)
	marked := func(spec view.Spec) (out []string, d twin) {
		d = twinOf(t, r, viewtest.Case{Spec: spec})
		for _, row := range d.Rows {
			if row.Outlier {
				out = append(out, fmt.Sprint(r.Locations().Rank[row.Location]))
			}
		}
		slices.Sort(out)
		return out, d
	}
	want := "11 40 41 42 43 44 45 46 47"
	for _, w := range []view.Spec{{}, {To: "25%"}, {From: "25%", To: "50%"}, {From: "50%", To: "75%"}, {From: "75%"}} {
		if got, _ := marked(w); strings.Join(got, " ") != want {
			t.Errorf("%s to %s: ranks %v stand out, want %s", w.From, w.To, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		w := viewtest.RandomWindow(rng, r)
		got, d := marked(w)
		if len(got) > 4*13 { // four moments, a fifth of 64 each
			t.Errorf("%s to %s: %d of 64 stand out", w.From, w.To, len(got))
		}
		var list []moment.Moments
		for _, row := range d.Rows {
			m := moment.Moments{M0: row.M0, M1: math.NaN(), M2: math.NaN(), M3: math.NaN()}
			if row.M1 != nil {
				m.M1, m.M2, m.M3 = *row.M1, *row.M2, *row.M3
			}
			list = append(list, m)
		}
		for i, o := range moment.FewOutliers(list, nil, float64(r.Info().End)) {
			if o.StandsOut() && o.Moment == 3 && math.Abs(o.Value-o.Median) < 0.35 {
				t.Errorf("%s to %s: row %d stands out by a skewness of %v among %v", w.From, w.To, i, o.Value, o.Median)
			}
		}
	}
}

// TestRowsFillTheHeight: at any number of rows the picture is used, and rows lie on
// whole pixels where they are low.
func TestRowsFillTheHeight(t *testing.T) {
	for _, c := range []struct{ rows, width, height int }{{1000, 1280, 1024}, {200, 600, 290}, {150, 600, 290}, {700, 1280, 1024}, {3000, 1280, 1024}} {
		r := viewtest.Local(t, manyRanks(c.rows))
		v := viewtest.Case{Size: scene.Size{Width: c.width, Height: c.height}}
		result := v.Compute(t, moments.View, r)
		s := scene.AddTitleAndLegend(v.Size, result.Scene)
		f := s.Frames[0]
		blank := float32(c.height) - f.H
		if blank > 210 || float64(f.H) < 0.45*float64(c.height) {
			t.Errorf("%d rows at %d × %d: the rows are %g high of %d", c.rows, c.width, c.height, f.H, c.height)
		}
		members, last := 0, f.Y
		for i, row := range f.YScale.Rows {
			members += row.Count
			if row.From != last || row.To-row.From < 0.8 || row.To-row.From < 4 && row.To-row.From >= 1 && row.From != float32(math.Round(float64(row.From))) {
				t.Fatalf("%d rows: row %d from %g to %g, the one before ends at %g", c.rows, i, row.From, row.To, last)
			}
			last = row.To
		}
		if members != c.rows {
			t.Errorf("%d of %d locations are in the picture", members, c.rows)
		}
		if c.rows == 1000 && len(f.YScale.Rows) < 850 {
			t.Errorf("1,000 locations at 1280 × 1024 are %d rows, want one a pixel", len(f.YScale.Rows))
		}
	}
}

func layerOf(s *scene.Scene, name string) *scene.Layer {
	for i := range s.Layers {
		if s.Layers[i].Name == name {
			return &s.Layers[i]
		}
	}
	return &scene.Layer{}
}

// TestTheLegendExplainsTheDrawnMarks, in small pictures and panels too.
func TestTheLegendExplainsTheDrawnMarks(t *testing.T) {
	for _, c := range []struct {
		rows  int
		size  scene.Size
		thin  bool
		entry string
	}{
		{8, scene.Size{Width: 480, Height: 300}, false, "mean (m1), skew (m3)"}, {64, scene.Size{Width: 480, Height: 300}, true, "end of the skew (m3)"},
		{200, scene.Size{Width: 500, Height: 290}, true, "end of the skew (m3)"}, {12, scene.Size{Width: 320, Height: 220}, false, "mean (m1), skew (m3)"},
	} {
		r := viewtest.Local(t, manyRanks(c.rows))
		v := viewtest.Case{Size: c.size}
		s := scene.AddTitleAndLegend(c.size, v.Compute(t, moments.View, r).Scene)
		key := layerOf(s, "key")
		if len(key.Marks) == 0 {
			t.Errorf("%d rows at %v: no key", c.rows, c.size)
			continue
		}
		words, coloured, ink := "", 0, scene.Colour(0)
		for _, m := range key.Marks {
			switch m := m.(type) {
			case *scene.Text:
				words += strings.Join(m.Text, " ")
			case *scene.Rect:
				for _, fill := range m.Fill {
					if fill == scene.UIWarning {
						coloured++
					}
				}
			case *scene.Line:
				if m.Len() > 0 {
					ink = m.Stroke[0]
				}
			}
		}
		if strings.Contains(words, "coloured") != c.thin || (coloured > 0) != c.thin || words == "" || !c.thin && ink != scene.UIText {
			t.Errorf("%d rows at %v: the key says %q with %d coloured marks", c.rows, c.size, words, coloured)
		}
		found := false
		for _, e := range s.Legend {
			found = found || strings.HasPrefix(e.Label, c.entry)
			if strings.HasPrefix(e.Label, "end of the skew") && e.Colour != scene.UIWarning || strings.HasPrefix(e.Label, "mean") && e.Colour != scene.UIText {
				t.Errorf("legend %q in another colour than the marks", e.Label)
			}
		}
		if !found {
			t.Errorf("%d rows at %v: no %q in the legend", c.rows, c.size, c.entry)
		}
	}
}

// TestABarThatBeginsWithTheAxisDoesNotLeaveIt: rounding is no reason for a mark.
func TestABarThatBeginsWithTheAxisDoesNotLeaveIt(t *testing.T) {
	text := "region work role=compute\nregion wait role=synchronization\n"
	for i := range 30 {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n  0..%d work\n  %d..1000003 wait\n", i, i, 3+i*33331, 3+i*33331)
	}
	v := viewtest.Case{}
	s := v.Compute(t, moments.View, storetest.Text(t, text, all.Summaries...)).Scene(scene.Size{Width: 900, Height: 500})
	for _, m := range layerOf(s, "skew").Marks {
		if p, ok := m.(*scene.Polygon); ok && p.Len() > 0 {
			t.Errorf("%d marks of what leaves the axis", p.Len())
		}
	}
	for _, e := range s.Legend {
		if strings.Contains(e.Label, "beyond") {
			t.Errorf("legend %q", e.Label)
		}
	}
}

// TestHigherMomentsAreDrawn at their places: of one bar all even ones are its ends.
func TestHigherMomentsAreDrawn(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	lines := func(orders string) *scene.Line { // those of higher orders come first in their layer
		v := viewtest.Case{Options: map[string][]string{"moments": {orders}}}
		l, _ := layerOf(v.Compute(t, moments.View, r).Scene(scene.Size{Width: 1000, Height: 400}), "skew").Marks[0].(*scene.Line)
		return l
	}
	three := lines("3")
	for i := range three.Len() { // without asking the first are skew lines, level ones
		if three.Y0[i] != three.Y1[i] {
			t.Error("marks of higher moments without asking")
		}
	}
	v := viewtest.Case{Options: map[string][]string{"moments": {"8"}}}
	s := v.Compute(t, moments.View, r).Scene(scene.Size{Width: 1000, Height: 400})
	f := s.Frames[0]
	higher := lines("8")
	// Rank 0 is busy from 20 to 60: six lines, three at either end.
	left, right := 0, 0
	for i := range higher.Len() {
		if row := f.YScale.Rows[0]; higher.Y1[i] > row.From && higher.Y1[i] <= row.To && higher.X0[i] == higher.X1[i] {
			switch x := higher.X0[i]; {
			case math.Abs(float64(x-f.XPixel(20))) < 0.01:
				left++
			case math.Abs(float64(x-f.XPixel(60))) < 0.01:
				right++
			}
		}
	}
	if left != 3 || right != 3 {
		t.Errorf("%d lines at 20 and %d at 60, want m4, m6 and m8 at both", left, right)
	}
	// Rank 1 has breaks and a tail: its m5 is in the twin.
	d := twinOf(t, r, v)
	for _, row := range d.Rows {
		if row.Path == "rank 1" && (row.M5 == nil || *row.M5 <= 0) {
			t.Errorf("m5 of rank 1: %v", row.M5)
		}
	}
}

// TestTheChartTakesTheWidthAskedFor, beside or behind the moments.
func TestTheChartTakesTheWidthAskedFor(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	width := func(gantt string) (chart, main float32) {
		v := viewtest.Case{Options: map[string][]string{"gantt": {gantt}}}
		for _, f := range v.Compute(t, moments.View, r).Scene(scene.Size{Width: 1000, Height: 400}).Frames {
			if f.Name == "chart" {
				chart = f.W
			} else {
				main = f.W
			}
		}
		return chart, main
	}
	if c, m := width("beside"); c != m {
		t.Errorf("beside: %g and %g, want halves", c, m)
	}
	if c, _ := width("300"); c != 300 {
		t.Errorf("300: %g", c)
	}
	if c, m := width("80%"); math.Abs(float64(c/(c+m)-0.8)) > 0.001 {
		t.Errorf("80%%: %g of %g", c, c+m)
	}
	if c, m := width("5000"); m < 40 || c < m {
		t.Errorf("5000: %g and %g", c, m)
	}
	v := viewtest.Case{Options: map[string][]string{"gantt": {"behind"}}}
	s := v.Compute(t, moments.View, r).Scene(scene.Size{Width: 1000, Height: 400})
	f := s.Frames[0]
	chart := layerOf(s, "chart").Marks[0].(*scene.Rect)
	if len(s.Frames) != 1 || math.Abs(float64(chart.X[0]-f.XPixel(20))) > 0.01 || math.Abs(float64(chart.X[0]+chart.W[0]-f.XPixel(60))) > 0.01 {
		t.Errorf("behind: the first stretch from %g to %g", chart.X[0], chart.X[0]+chart.W[0])
	}
	v.Options["gantt"] = []string{"wide"}
	if _, err := moments.View.Compute(t.Context(), v.Request(t, moments.View, r)); err == nil || !strings.Contains(err.Error(), "behind") {
		t.Errorf("error %v", err)
	}
}

// TestAnotherBasisGivesTheBusyShare: bins are the busy share of each part of the window.
func TestAnotherBasisGivesTheBusyShare(t *testing.T) {
	r := storetest.Text(t, fiveRanks, all.Summaries...)
	for basis, want := range map[string][]float64{
		"bins": {0.2, 1, 0.4, 0}, // rank 0 is busy from 20 to 60 of 100
		"haar": {0.4, 0.2, -0.4, 0.2},
	} {
		v := viewtest.Case{Options: map[string][]string{"basis": {basis}, "bins": {"4"}}}
		table := v.Compute(t, moments.View, r).Table()
		at := slices.IndexFunc(table.Columns, func(c view.Column) bool { return c.Name == "c0" })
		for _, row := range table.Rows {
			for k, w := range want {
				if row[1] == "rank 0" && math.Abs(row[at+k].(float64)-w) > 1e-12 {
					t.Errorf("%s: c%d is %v, want %v", basis, k, row[at+k], w)
				}
			}
		}
	}
}

// Picture, JSON and CSV have one order.
func TestRowsHaveTheOrderOfThePictureEverywhere(t *testing.T) {
	text := fiveRanks
	for k := 5; k < 20; k++ { // alike, but for one
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n  %d..%d solve\n", k, k, 10+k%3, map[bool]int{true: 20, false: 80 + k%2}[k == 11])
	}
	r := storetest.Text(t, text, all.Summaries...)
	for _, order := range []string{"location", "m0", "m1", "-m2", "outliers"} {
		c := viewtest.Case{Options: map[string][]string{"order": {order}}}
		result := c.Compute(t, moments.View, r)
		var drawn, listed []string
		for _, row := range result.Scene(scene.Size{Width: 900, Height: 500}).Frames[0].YScale.Rows {
			drawn = append(drawn, row.Label)
		}
		for _, row := range twinOf(t, r, c).Rows {
			listed = append(listed, row.Path)
		}
		table := result.Table()
		for i := range listed {
			if i >= len(drawn) || !strings.HasSuffix(listed[i], drawn[i]) || !strings.Contains(fmt.Sprint(table.Rows[i]), listed[i]) {
				t.Errorf("--order %s: drawn %q, in JSON %q, in CSV %v", order, drawn, listed, table.Rows[i])
				break
			}
		}
	}
}
