package callmatrix_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
)

// wide has ten callers, each with a callee of its own and one that all call.
func wide() string {
	var b strings.Builder
	for rank := range 2 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..10000 main\n", rank, rank)
		for i := range 10 {
			at := 100 + 900*i
			fmt.Fprintf(&b, "    %d..%d caller%d\n      %d..%d own%d\n      %d..%d shared\n", at, at+800, i, at+10, at+200+rank*10*i, i, at+500, at+510+rank)
		}
	}
	return b.String()
}

// TestNoCalleeReadsAsNeverCalled: whatever the room, every row has a square, and rows
// whose callers were cut say so.
func TestNoCalleeReadsAsNeverCalled(t *testing.T) {
	c := viewtest.Case{Trace: wide()}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	for _, size := range []scene.Size{{Width: 330, Height: 800}, {Width: 250, Height: 500}, {Width: 500, Height: 300}, {Width: 900, Height: 900}} {
		s := r.Scene(size)
		f := s.Frames[0]
		squares, marked, shared := map[string]int{}, 0, false
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				switch m := m.(type) {
				case *scene.Rect:
					for i := 0; i < m.Len() && l.Name == "squares"; i++ {
						for _, row := range f.YScale.Rows {
							if y := m.Y[i] + m.H[i]/2; y > row.From && y < row.To {
								squares[row.Label]++
							}
						}
					}
				case *scene.Polygon:
					if l.Name == "callers not shown" {
						marked += m.Len()
					}
				}
			}
		}
		for _, row := range f.YScale.Rows {
			shared = shared || row.Label == "shared"
			if squares[row.Label] == 0 {
				t.Errorf("%v: the row of %s is empty", size, row.Label)
			}
		}
		callers := 0
		for _, x := range f.XScale.Rows {
			if strings.HasPrefix(x.Label, "caller") {
				callers++
			}
		}
		if shared && (callers < 10) != (marked == 1) {
			t.Errorf("%v: %d of 10 callers shown and %d rows marked", size, callers, marked)
		}
	}
}

// TestOneGroupIsCutIntoBlocks: 128 ranks that behave alike have slices to compare.
func TestOneGroupIsCutIntoBlocks(t *testing.T) {
	var b strings.Builder
	for k := range 128 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..100 main\n    10..%d send\n", k, k, 20+k/64)
	}
	c := viewtest.Case{Trace: b.String(), Size: scene.Size{Width: 700, Height: 500}}
	r := c.Compute(t, callmatrix.View, c.Open(t))
	if n := strings.Join(r.Notes(), "; "); !strings.Contains(n, "locations are similar") || !strings.Contains(n, "16 in all") {
		t.Errorf("notes %q", n)
	}
	s := r.Scene(c.Size)
	row, col := s.Frames[0].YScale.Rows[0], s.Frames[0].XScale.Rows[0]
	names := map[string]bool{}
	for x := col.From + 3; x < col.To-3; x += 2 {
		if f, ok, _ := view.PickAt(r, s, float64(x), float64(row.From)+3); ok {
			names[f.Lines[0].Value] = true
		}
	}
	if len(names) < 4 || !names["rank 0–7"] {
		t.Errorf("along the upper edge of a square: %v", names)
	}
}

// TestTheLogBeginsAtTheSmallestPositiveValue, and the legend says what lies below.
func TestTheLogBeginsAtTheSmallestPositiveValue(t *testing.T) {
	text := "location process p\n  0..10000000 main\n"
	for i := range 40 {
		text += fmt.Sprintf("    %d..%d f\n", i*100000, i*100000+[]int{0, 1000, 50000}[i%3])
	}
	legend := func(o map[string][]string) string {
		c := viewtest.Case{Trace: text, Options: o}
		e := c.Compute(t, callmatrix.View, c.Open(t)).Scene(scene.Size{Width: 800, Height: 600}).Legend[0]
		return e.RampLow + " to " + e.RampHigh
	}
	if got := legend(map[string][]string{"caller": {"main"}}); got != "≤ 1.00 µs to 50.0 µs" {
		t.Error(got)
	}
	if got := legend(map[string][]string{"caller": {"main"}, "value-scale": {"linear"}}); got != "0 s to 50.0 µs" {
		t.Error(got)
	}
	if got := legend(map[string][]string{"caller": {"main"}, "min": {"2us"}, "max": {"20us"}}); got != "≤ 2.00 µs to ≥ 20.0 µs" {
		t.Error(got)
	}
}

// TestACategoryCollapsesAmongOpenOnes: its calls are one node, the others stay.
func TestACategoryCollapsesAmongOpenOnes(t *testing.T) {
	d := data(t, viewtest.Case{Trace: pingPong(), Options: map[string][]string{"collapse": {"category:MPI"}, "metric": {"inclusive"}}})
	if find(d, "main", "MPI_Send", "rank 0") != nil || find(d, "main", "HPL_fprintf", "rank 0") == nil {
		t.Error("MPI is open, or HPL_fprintf is not")
	}
	open := data(t, viewtest.Case{Trace: pingPong(), Options: map[string][]string{"metric": {"inclusive"}}})
	want := 0.0
	for _, name := range []string{"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"} {
		if c := find(open, "main", name, "rank 0"); c != nil {
			want += c.Count
		}
	}
	if c := find(d, "main", "[MPI]", "rank 0"); c == nil || c.Count != want {
		t.Errorf("%+v, want %v calls", c, want)
	}
	if c := find(d, "[MPI]", "[MPI]", "rank 3"); c == nil || c.Total != 8 { // MPI_Barrier in MPI_Finalize
		t.Errorf("calls within: %+v", c)
	}
}
