package topology_test

import (
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

const ranks = `
region solve role=compute
region MPI_Barrier role=communication
location process "rank 0" rank=0
  0..90 solve
  90..100 MPI_Barrier
location process "rank 1" rank=1
  0..70 solve
  70..100 MPI_Barrier
location process "rank 2" rank=2
  0..50 solve
  50..100 MPI_Barrier
location process "rank 3" rank=3
  0..10 solve
  10..100 MPI_Barrier
`

func TestView(t *testing.T) {
	viewtest.Run(t, topology.View,
		viewtest.Case{Name: "block", Trace: ranks, Options: map[string][]string{"layout": {"block"}}},
		viewtest.Case{Name: "proposed", Trace: onHosts(8, 4)},
		viewtest.Case{Name: "sphere", Trace: ranks, Options: map[string][]string{"layout": {"sphere"}, "event0": {"MPI_Barrier:exclusive"}}},
		viewtest.Case{Name: "formula", Trace: ranks, Options: map[string][]string{"layout": {scatter}, "event0": {"solve"}, "event1": {"MPI_Barrier:calls"}, "slice": {"x=1"}, "min": {"1"}}},
	)
}

const scatter = "text:mine\nBEGIN_VIZ=mine\nrestrictDim=1\nx=event0.val\ny=event1.val\nz=rank\nEND_VIZ\n"

func data(t *testing.T, options map[string][]string) topology.Data {
	t.Helper()
	c := viewtest.Case{Trace: ranks, Options: options}
	return viewtest.Decoded[topology.Data](t, c.Compute(t, topology.View, c.Open(t)))
}

func TestFormulasPlaceEachRankByItsOwnValues(t *testing.T) {
	d := data(t, map[string][]string{"layout": {"text:\nBEGIN_VIZ=a\nx=event0.val-event0.min\ny=rank/maxRank\nz=0\nEND_VIZ"}, "event0": {"MPI_Barrier"}})
	for i, want := range []float64{0, 20, 40, 80} {
		if p := d.Points[i]; float64(*p.X) != want || float64(*p.Y) != float64(i)/4 || *p.Color != want+10 {
			t.Errorf("rank %d at %v, %v, colour %v", i, float64(*p.X), float64(*p.Y), *p.Color)
		}
	}
	if math.Abs(*d.Mean-45) > 1e-9 || d.Unplaced != 0 {
		t.Errorf("mean %v, %d unplaced", *d.Mean, d.Unplaced)
	}
}

func TestTheRangeFilterShowsInsideOrOutside(t *testing.T) {
	visible := func(lo, hi string) (s string) {
		for _, p := range data(t, map[string][]string{"event0": {"MPI_Barrier"}, "min": {lo}, "max": {hi}}).Points {
			s += map[bool]string{true: "1", false: "0"}[p.Visible]
		}
		return s
	}
	if got := visible("20", "60"); got != "0110" {
		t.Error("between 20 and 60:", got)
	}
	if got := visible("60", "20"); got != "1001" {
		t.Error("outside of 20 and 60:", got)
	}
	if got := visible("50%", "100%"); got != "0011" {
		t.Error("upper half:", got)
	}
}

func TestWrongFormulasSayWhere(t *testing.T) {
	for name, options := range map[string]map[string][]string{
		"unknown layout": {"layout": {"nothing"}},
		"unknown name":   {"layout": {"text:\nBEGIN_VIZ=a\nx=q\ny=0\nz=0\nEND_VIZ"}},
		"bad camera":     {"camera": {"1,2,x"}},
		"bad slice":      {"slice": {"w=3"}},
		"bad limit":      {"min": {"few"}},
		"unknown region": {"event0": {"nobody:calls"}},
	} {
		c := viewtest.Case{Trace: ranks, Options: options}
		if _, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t))); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A layout's file is written for one run and shown with others: what it binds by
// itself may be missing, what the user binds may not.
func TestAFileBindsWhatIsThere(t *testing.T) {
	layout := "text:a\nBEGIN_VIZ=a\nx=event0.val\ny=0\nz=0\nEND_VIZ\nBEGIN_UI=a\nevent0=MPI_Alltoall:exclusive\nevent0.name=all to all\nEND_UI\n"
	c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {layout}}}
	r, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t)))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, "binds event0 to MPI_Alltoall:exclusive, which is not in this run") {
		t.Errorf("notes are %q", notes)
	}
	c.Options["event0"] = []string{"MPI_Alltoall:exclusive"}
	if _, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t))); err == nil {
		t.Error("what the user binds and is not there is accepted")
	}
}
