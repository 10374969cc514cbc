package histogram_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/histogram"
)

const ranks = `
region solve role=compute
region MPI_Barrier role=communication
location machine m
  location process "rank 0" rank=0
    0..90 solve
    90..100 MPI_Barrier
  location process "rank 1" rank=1
    0..70 solve
    70..100 MPI_Barrier
  location process "rank 2" rank=2
    0..70 solve
    70..100 MPI_Barrier
  location process "rank 3" rank=3
    0..10 solve
    10..100 MPI_Barrier
`

const flat = `
region main role=compute
region work role=compute
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
metric FLOPS
profile r0 main TIME calls=1 incl=100 excl=40 flat
profile r0 main FLOPS calls=1 incl=7000 excl=7000 flat
profile r1 main TIME calls=1 incl=100 excl=80 flat
profile r1 work TIME calls=3 incl=20 excl=20 flat
`

func TestView(t *testing.T) {
	viewtest.Run(t, histogram.View,
		viewtest.Case{Name: "region of its choice", Trace: ranks},
		viewtest.Case{Name: "chosen region", Trace: ranks, Spec: view.Spec{Regions: []string{"MPI_Barrier"}, From: "0", To: "80"}, Options: map[string][]string{"order": {"value"}, "bins": {"4"}}},
		viewtest.Case{Name: "logarithmic", Trace: ranks, Spec: view.Spec{Regions: []string{"MPI_*"}}, Options: map[string][]string{"value-scale": {"log"}}},
		viewtest.Case{Name: "profile", Trace: flat, Options: map[string][]string{"event0": {"main:FLOPS"}}},
	)
}

func data(t *testing.T, c viewtest.Case) histogram.Data {
	t.Helper()
	return viewtest.Decoded[histogram.Data](t, c.Compute(t, histogram.View, c.Open(t)))
}

func TestEveryLocationIsInOneBin(t *testing.T) {
	d := data(t, viewtest.Case{Trace: ranks, Spec: view.Spec{Regions: []string{"MPI_Barrier"}}, Options: map[string][]string{"bins": {"4"}}})
	var counts []int
	for _, b := range d.Bins {
		counts = append(counts, b.Count)
	}
	if fmt.Sprint(counts) != "[1 2 0 1]" {
		t.Error("bins of 10, 30, 30, 90:", d.Bins)
	}
	if d.Mean != 40 || d.Min != 10 || d.Max != 90 || d.Median != 30 || d.Q75 != 45 || math.Abs(d.SD-30) > 1e-9 {
		t.Errorf("%+v", d)
	}
	if b := d.Points[2]; *b.Bin != 1 || *b.Value != 30 || b.Path != "m/rank 2" {
		t.Errorf("%+v", b)
	}
}

// Both regions differ equally, so the one that is defined first is taken; with
// calls none differs.
func TestWithoutAChoiceItIsTheRegionThatDiffersMost(t *testing.T) {
	d := data(t, viewtest.Case{Trace: strings.Replace(ranks, "10..100 MPI_Barrier", "10..40 MPI_Barrier", 1)})
	if d.Measure != "solve, exclusive time" || d.Max != 90 {
		t.Errorf("%+v", d)
	}
}

// A kernel that only GPUs run differs between GPUs, not from hosts, and hosts are none of its rows. Neither idle time
// nor steps of the profiler come before it, however much they differ.
func TestTheFirstRegionDiffersBetweenLocationsOfAKind(t *testing.T) {
	d := data(t, viewtest.Case{Options: map[string][]string{"rows": {"all"}}, Trace: `
region kernel role=compute
region launch role=overhead
region idle role=idle
region step role=annotation
location thread a
  0..50 launch
  50..90 idle
location stream b
  0..40 kernel
location thread c
  0..52 launch
location stream d
  0..60 kernel
  60..160 step
`})
	if d.Measure != "kernel, exclusive time" || d.Locations != 2 || d.Min != 40 || d.Max != 60 {
		t.Errorf("%+v", d)
	}
}

func TestLocationsWithoutAValueAreLeftOut(t *testing.T) {
	c := viewtest.Case{Trace: strings.Replace(ranks, `"rank 1" rank=1`, `"rank 1" rank=1 temperature=41`, 1), Options: map[string][]string{"event0": {"metadata:Temperature"}}}
	d := data(t, c)
	if d.Locations != 1 || d.Mean != 41 || len(d.Points) != 4 || d.Points[0].Value != nil || d.Points[0].Bin != nil {
		t.Errorf("%+v", d)
	}
}

func TestWrongOptionsSayWhatFits(t *testing.T) {
	for want, options := range map[string]map[string][]string{
		"location, value or groups": {"order": {"colour"}},
		"matches none":              {"event0": {"nobody:calls"}},
		"want exclusive":            {"event0": {"solve:flops"}},
	} {
		c := viewtest.Case{Trace: ranks, Options: options}
		_, err := histogram.View.Compute(t.Context(), c.Request(t, histogram.View, c.Open(t)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", options, err)
		}
	}
}

// With more locations than pixels a row of the lower part is a range, and a bin
// still selects just the locations in it.
func TestAHundredThousandLocationsStayFindable(t *testing.T) {
	const n, odd = 100_000, 31_415
	r := viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
		path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "work"}), Flat: true})
		for rank := range n {
			v := 1000 + float64(rank%100)
			if rank == odd {
				v = 9000
			}
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
			w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Calls: 1, Inclusive: v, Exclusive: v})
		}
	})
	c := viewtest.Case{Size: scene.Size{Width: 900, Height: 600}}
	result := c.Compute(t, histogram.View, r)
	s := result.Scene(c.Size)
	if err := viewtest.CheckScene(s); err != nil || s.Marks() > 2000 {
		t.Errorf("%d marks, %v", s.Marks(), err)
	}
	f := s.Frames[0]
	fact, ok, _ := view.PickAt(result, s, float64(f.X+f.W-2), float64(f.Y+f.H-1))
	if !ok || len(fact.Locations) != 1 || fact.Locations[0] != odd || fact.Lines[1].Value != "rank 31415" {
		t.Errorf("the last bin is %v %+v", ok, fact)
	}
}

// Where rows of the lower part stand for several locations, all do for as many: a point
// beside ranges would read as another kind of thing.
func TestRowsStandForEquallyMany(t *testing.T) {
	text := "region work role=compute\n"
	for i := range 64 {
		text += fmt.Sprintf("location process r%d rank=%d\n  0..%d work\n", i, i, 1000+37*i%500)
	}
	c := viewtest.Case{Trace: text, Size: scene.Size{Width: 480, Height: 216}}
	s := c.Compute(t, histogram.View, c.Open(t)).Scene(c.Size)
	rows := s.Frames[1].YScale.Rows
	if len(rows) >= 64 {
		t.Fatalf("%d rows", len(rows))
	}
	for k, row := range rows[:len(rows)-1] {
		if row.Count != rows[0].Count {
			t.Errorf("row %d stands for %d, the first for %d", k, row.Count, rows[0].Count)
		}
	}
}
