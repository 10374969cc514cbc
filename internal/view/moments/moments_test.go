package moments_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

// Five ranks of 100 ns: one bar; a bar with a gap and a late piece; late work with
// an early piece; never busy; an overlapping copy on a second lane.
const fiveRanks = `
region solve role=compute
region MPI_Send role=communication
region wait role=synchronization
region copy role=copy
region step role=annotation
location process "rank 0" rank=0
  20..60 solve
location process "rank 1" rank=1
  0..100 wait
    0..15 solve
    20..30 solve
    90..95 solve
location process "rank 2" rank=2
  0..100 step
    2..7 solve
    50..99 solve
      70..80 MPI_Send
location process "rank 3" rank=3
  0..100 MPI_Send
location process "rank 4" rank=4
  10..50 solve
  40..70 copy
  60..90 wait
`

func TestView(t *testing.T) {
	viewtest.Run(t, moments.View,
		viewtest.Case{Name: "ranks", Trace: fiveRanks},
		viewtest.Case{Name: "paper", Trace: fiveRanks, Options: map[string][]string{"paper": {"true"}}, Size: scene.Size{Width: 720, Height: 300}},
		viewtest.Case{Name: "layers", Trace: fiveRanks, Options: map[string][]string{"layers": {"busy,communication,synchronization"}}},
		viewtest.Case{Name: "chart", Trace: fiveRanks, Options: map[string][]string{"gantt": {"true"}}},
		viewtest.Case{Name: "chart behind", Trace: fiveRanks, Options: map[string][]string{"gantt": {"behind"}, "moments": {"6"}}},
		viewtest.Case{Name: "cosines", Trace: fiveRanks, Options: map[string][]string{"basis": {"cosine"}, "gantt": {"30%"}}},
		viewtest.Case{Name: "minimap", Trace: fiveRanks, Size: scene.Size{Width: 640, Height: 40}},
		viewtest.Case{Name: "window", Trace: fiveRanks, Spec: view.Spec{From: "33", To: "77", Regions: []string{"MPI_*", "solve"}}, Options: map[string][]string{"order": {"m1"}, "moments": {"8"}}},
		viewtest.Case{Name: "groups", Trace: fiveRanks, Options: map[string][]string{"order": {"-m0"}}, Size: scene.Size{Width: 300, Height: 3}},
	)
}

const threeNodes = `
region work role=compute
location machine m0
  location process p0 rank=0
    0..80 work
  location process p1 rank=1
    0..80 work
location machine m1
  location process p2 rank=2
    0..80 work
  location process p3 rank=3
    0..10 work
location machine m2
  location process p4 rank=4
    0..80 work
  location process p5 rank=5
    0..80 work
    99..100 work
`

func TestRowsByTheBestAggregationKeepWhoDiffers(t *testing.T) {
	c := viewtest.Case{Trace: threeNodes, Options: map[string][]string{"group": {"optimal"}, "p": {"0.3"}}}
	r := c.Compute(t, moments.View, c.Open(t))
	var got []string
	for _, row := range r.Scene(scene.Size{Width: 600, Height: 300}).Frames[0].YScale.Rows {
		got = append(got, row.Label)
	}
	if s := strings.Join(got, ", "); !strings.Contains(s, "m0") || !strings.Contains(s, "2") || strings.Contains(s, "m1 ") || len(got) != 4 {
		t.Errorf("rows %s; want m0 and m2 as one row each, and both processes of m1", s)
	}
}

const sampledThreads = `
region work role=compute
location process jvm
  location thread sampled
    location samples samples
      0..80 work
`

// What samples cannot tell is said, where other rows are drawn and where samples alone are asked for.
func TestRowsOfSamplesAreToldFromBusyTime(t *testing.T) {
	other := "  location thread main\n    20..60 work\n"
	for _, c := range []struct{ trace, locations, want, not string }{
		{sampledThreads + other, "", "left out: 1 location with samples alone", "recorded inside"},
		{sampledThreads + other, "kind:samples", "rows of samples are busy from one sample to the next", "left out"},
		{sampledThreads, "kind:samples", "rows of samples are busy from one sample to the next", "recorded inside"},
	} {
		k := viewtest.Case{Trace: c.trace}
		if c.locations != "" {
			k.Spec.Locations = []string{c.locations}
		}
		notes := strings.Join(k.Compute(t, moments.View, k.Open(t)).Notes(), "\n")
		if !strings.Contains(notes, c.want) || strings.Contains(notes, c.not) {
			t.Errorf("locations %q of\n%s%s", c.locations, c.trace, notes)
		}
	}
}
