package callmatrix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// The paper's walk-through: a ping-pong program on four ranks, with MPI_Barrier
// that differs between them and HPL_fprintf on the first alone.
func pingPong() string {
	var b strings.Builder
	b.WriteString("region main role=compute category=user\nregion MPI_Init role=communication category=MPI\nregion MPI_Send role=communication category=MPI\nregion MPI_Recv role=communication category=MPI\nregion MPI_Barrier role=communication category=MPI\nregion MPI_Finalize role=communication category=MPI\nregion HPL_fprintf role=io category=user\n")
	for p := range 4 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..%d main\n    1..%d MPI_Init\n", p, p, 125+p, 11+p)
		for i := range 8 {
			name := "MPI_Send"
			if (i+p)%2 == 1 {
				name = "MPI_Recv"
			}
			fmt.Fprintf(&b, "    %d..%d %s\n", 20+10*i, 22+10*i+(i*i)%(5+p), name)
		}
		if p == 0 {
			b.WriteString("    101..103 HPL_fprintf\n")
		}
		fmt.Fprintf(&b, "    110..%d MPI_Finalize\n      111..%d MPI_Barrier\n", 120+p, 113+2*p)
	}
	return b.String()
}

const chain = `
location process "rank 0" rank=0
  0..3 x
    1..2 h
  4..9 y
    5..8 h
      6..7 g
`

func TestView(t *testing.T) {
	text := pingPong()
	big := scene.Size{Width: 640, Height: 560}
	viewtest.Run(t, callmatrix.View,
		viewtest.Case{Name: "inclusive", Trace: text, Size: big, Options: map[string][]string{"metric": {"inclusive"}}},
		viewtest.Case{Name: "as in the paper", Trace: text, Size: big, Options: map[string][]string{"caller": {"main"}, "hide": {"MPI_Init", "MPI_Finalize"}, "paper": {"true"}}},
		viewtest.Case{Name: "stripes", Trace: text, Size: big, Options: map[string][]string{"square": {"stripes"}}},
		viewtest.Case{Name: "one rank", Trace: text, Spec: view.Spec{Locations: []string{"rank:0"}}, Options: map[string][]string{"value-scale": {"linear"}}},
		viewtest.Case{Name: "categories by rank scale", Trace: text, Options: map[string][]string{"by": {"categories"}, "value-scale": {"rank"}, "palette": {"cividis"}}},
		viewtest.Case{Name: "static closure", Trace: chain, Options: map[string][]string{"closure": {"static"}, "metric": {"calls"}}},
		viewtest.Case{Name: "difference", Trace: text, Size: big, Spec: view.Spec{Locations: []string{"rank:0"}}, Options: map[string][]string{"against": {"rest"}}},
		viewtest.Case{Name: "over locations", Trace: text, Options: map[string][]string{"over": {"locations"}}},
		viewtest.Case{Name: "many", NoGolden: true, Reader: func(tb testing.TB) store.Reader {
			return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 200, 40000) })
		}},
		viewtest.Case{Name: "64 slices", NoGolden: true, Reader: func(tb testing.TB) store.Reader {
			return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 64, 40000) })
		}},
	)
}

func data(t *testing.T, c viewtest.Case) callmatrix.Data {
	t.Helper()
	return viewtest.Decoded[callmatrix.Data](t, c.Compute(t, callmatrix.View, c.Open(t)))
}

func find(d callmatrix.Data, caller, callee, path string) *callmatrix.Cell {
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Caller == caller && c.Callee == callee && c.Path == path {
			return c
		}
	}
	return nil
}

func TestCellsByHand(t *testing.T) {
	d := data(t, viewtest.Case{Trace: pingPong(), Options: map[string][]string{"metric": {"inclusive"}}})
	if c := find(d, "", "main", "rank 2"); c == nil || c.Count != 1 || c.Total != 127 || *c.Q02 != 127 || *c.Q98 != 127 {
		t.Errorf("root calls main: %+v", c)
	}
	if c := find(d, "MPI_Finalize", "MPI_Barrier", "rank 3"); c == nil || c.Total != 8 {
		t.Errorf("MPI_Finalize calls MPI_Barrier: %+v", c)
	}
	if find(d, "main", "HPL_fprintf", "rank 0") == nil || find(d, "main", "HPL_fprintf", "rank 1") != nil {
		t.Error("HPL_fprintf is called on rank 0 alone")
	}
	if len(d.Similarity.Values) != 4 || len(d.Similarity.Locations) != 4 {
		t.Errorf("similarity %+v", d.Similarity)
	}
	for _, c := range d.Cells {
		if most := find(d, "", "main", c.Path); c.Callee != "main" && c.Total >= most.Total {
			t.Errorf("%s → %s of %s has as much as main", c.Caller, c.Callee, c.Path)
		}
	}
	for p := range 4 {
		for _, name := range []string{"MPI_Send", "MPI_Recv"} {
			if c := find(d, "main", name, fmt.Sprint("rank ", p)); c == nil || c.Count != 4 {
				t.Errorf("rank %d calls %s: %+v", p, name, c)
			}
		}
	}
}

// Calls of one region from two callers are two cells, each with its own quantiles, which a profile would average.
func TestTwoCallersKeepTheirDistributions(t *testing.T) {
	text := "location process p\n  0..100000 main\n    0..40000 a\n"
	for i := range 20 {
		text += fmt.Sprintf("      %d..%d wait\n", i*1000, i*1000+10+i%3)
	}
	text += "    50000..100000 b\n"
	for i := range 20 {
		text += fmt.Sprintf("      %d..%d wait\n", 50000+i*2000, 50000+i*2000+900+10*(i%5))
	}
	d := data(t, viewtest.Case{Trace: text, Options: map[string][]string{"metric": {"inclusive"}}})
	a, b := find(d, "a", "wait", "p"), find(d, "b", "wait", "p")
	if a == nil || b == nil || a.Count != 20 || b.Count != 20 || *a.Q98 > 12 || *a.Q50 != 11 || *b.Q02 < 900 || *b.Q50 != 920 {
		t.Errorf("from a %+v, from b %+v", a, b)
	}
}

func TestClosures(t *testing.T) {
	for closure, want := range map[string]string{
		"direct":  "  x>h y>h h>g >x >y",
		"dynamic": "  x>h y>h h>g >x >y >h >g y>g",
		"static":  "  x>h y>h h>g >x >y >h >g y>g x>g",
	} {
		d := data(t, viewtest.Case{Trace: chain, Options: map[string][]string{"closure": {closure}}})
		for _, p := range strings.Fields(want) {
			caller, callee, _ := strings.Cut(p, ">")
			path := "rank 0"
			if closure == "static" && strings.Contains(">h >g y>g x>g", p) && p != "x>h" {
				path = ""
			}
			if find(d, caller, callee, path) == nil {
				t.Errorf("%s: no %s in %+v", closure, p, d.Cells)
			}
		}
		if len(d.Cells) != len(strings.Fields(want)) {
			t.Errorf("%s: %d cells, want %d", closure, len(d.Cells), len(strings.Fields(want)))
		}
	}
}

// TestTheHitTestFindsTheSlice: every slice and ring of a square is found where it
// is drawn.
func TestTheHitTestFindsTheSlice(t *testing.T) {
	c := viewtest.Case{Trace: pingPong(), Size: scene.Size{Width: 600, Height: 600}, Options: map[string][]string{"caller": {"main"}}}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 600, Height: 600})
	f := s.Frames[0]
	for k, row := range f.YScale.Rows {
		col := f.XScale.Rows[0]
		size := float64(row.To-row.From) - 2
		for slice := range 4 {
			for ring := range 5 {
				middle := (callgraph.RingScale(ring) + callgraph.RingScale(ring+1)) / 2
				p := callgraph.Perimeter(float64(slice) + 0.5).Shrink(middle)
				fact, ok, _ := view.PickAt(r, s, float64(col.From)+1+p.X*size, float64(row.From)+1+p.Y*size)
				if !ok || fact.Title != "main → "+row.Label || fact.Locations[0] != trace.LocationID(slice) {
					t.Fatalf("row %d slice %d: %+v", k, slice, fact)
				}
				name := []string{"2 %", "25 %", "median", "75 %", "98 %"}[ring]
				if row.Label == "MPI_Init" && !strings.Contains(fact.Text, "cursor: "+name) {
					t.Fatalf("ring %d: %q", ring, fact.Text)
				}
			}
		}
	}
}

// TestTheHitTestFindsTheStripe: likewise where quantiles are stripes.
func TestTheHitTestFindsTheStripe(t *testing.T) {
	c := viewtest.Case{Trace: pingPong(), Size: scene.Size{Width: 600, Height: 600}, Options: map[string][]string{"caller": {"main"}, "square": {"stripes"}}}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	s := r.Scene(scene.Size{Width: 600, Height: 600})
	f := s.Frames[0]
	for k, row := range f.YScale.Rows {
		col, size := f.XScale.Rows[0], float64(row.To-row.From)-2
		for slice := range 4 {
			for stripe, name := range []string{"2 %", "25 %", "median", "75 %", "98 %"} {
				from, to := callgraph.Stripe(stripe)
				fact, ok, _ := view.PickAt(r, s, float64(col.From)+1+(float64(slice)+0.5)/4*size, float64(row.From)+1+(1-(from+to)/2)*size)
				if !ok || fact.Title != "main → "+row.Label || fact.Locations[0] != trace.LocationID(slice) || row.Label == "MPI_Init" && !strings.Contains(fact.Text, "cursor: "+name) {
					t.Fatalf("row %d slice %d stripe %d: %+v", k, slice, stripe, fact)
				}
			}
		}
	}
}

func TestColoursSpanWhatIsOnDisplay(t *testing.T) {
	legend := func(o map[string][]string) string {
		c := viewtest.Case{Trace: pingPong(), Options: o}
		e := c.Compute(t, callmatrix.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 600}).Legend[0]
		return e.RampLow + " to " + e.RampHigh
	}
	if got := legend(map[string][]string{"metric": {"inclusive"}}); got != "2.00 ns to 128 ns" {
		t.Error(got)
	}
	if got := legend(map[string][]string{"metric": {"inclusive"}, "caller": {"MPI_Finalize"}}); got != "2.00 ns to 8.00 ns" {
		t.Error(got)
	}
}

func TestManyLocationsShareSlicesAndANoteSaysSo(t *testing.T) {
	c := viewtest.Case{Reader: func(tb testing.TB) store.Reader {
		return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 200, 40000) })
	}}
	r := c.Open(t)
	result := c.Compute(t, callmatrix.View, r)
	if n := strings.Join(result.Notes(), "; "); !strings.Contains(n, "too many for a slice") {
		t.Errorf("notes %q", n)
	}
	if d := result.Data().(callmatrix.Data); len(d.Cells) < 200*20 {
		t.Errorf("the data holds %d cells, want those of every location", len(d.Cells))
	}
}
