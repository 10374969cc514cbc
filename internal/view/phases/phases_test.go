package phases_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/phases"
)

// Four ranks and two iterations that are not in step. In the first rank 2 works
// longest; before the barrier of the second rank 1 is late though it works no longer:
// it runs something that is no work.
const twoIterations = `
region iteration role=compute
region solve role=compute
region log role=overhead
region MPI_Barrier role=communication
location process "rank 0" rank=0
  0..100 iteration
    0..40 solve
    40..100 MPI_Barrier
  102..200 iteration
    102..140 solve
    140..200 MPI_Barrier
location process "rank 1" rank=1
  0..100 iteration
    0..42 solve
    42..100 MPI_Barrier
  100..200 iteration
    100..140 solve
    140..190 log
    190..200 MPI_Barrier
location process "rank 2" rank=2
  2..100 iteration
    2..95 solve
    95..100 MPI_Barrier
  100..200 iteration
    100..141 solve
    141..200 MPI_Barrier
location process "rank 3" rank=3
  0..100 iteration
    0..40 solve
    40..100 MPI_Barrier
  100..200 iteration
    100..139 solve
    139..200 MPI_Barrier
`

func TestView(t *testing.T) {
	viewtest.Run(t, phases.View,
		viewtest.Case{Name: "iterations", Trace: twoIterations},
		viewtest.Case{Name: "waiting in slices", Trace: twoIterations, Options: map[string][]string{"phase": {"slices:5"}, "metric": {"waiting"}}},
		viewtest.Case{Name: "a window", Trace: twoIterations, Spec: view.Spec{From: "90", To: "180", Locations: []string{"rank:0-1"}}, Options: map[string][]string{"metric": {"duration"}, "phase": {"iteration"}}, Size: scene.Size{Width: 300, Height: 150}},
		viewtest.Case{Name: "chosen states", Trace: twoIterations, Options: map[string][]string{"busy": {"log", "solve"}, "idle": {"communication"}}},
	)
}

func read(t *testing.T, r store.Reader, options map[string][]string) phases.Data {
	t.Helper()
	values, err := view.NewValues(phases.View, options)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := view.Spec{}.Resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	res, err := phases.View.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Selection: sel, Size: scene.Size{Width: 960, Height: 540}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Data().(phases.Data)
}

func TestACaseWorkedByHand(t *testing.T) {
	d := read(t, storetest.Text(t, twoIterations), nil)
	if d.By != "iteration" || len(d.Phases) != 2 || len(d.Rows) != 8 {
		t.Fatalf("%d rows by %s in %d phases", len(d.Rows), d.By, len(d.Phases))
	}
	first := d.Rows[4] // rank 2, iteration 1
	if first.Path != "rank 2" || first.Begin != 2 || first.End != 100 || first.Busy != 93 || first.Waiting != 5 {
		t.Errorf("%+v", first)
	}
	// Waits for the last: 95-40, 95-42, 95-40; transfer 5 each; then 190-140, 190-141, 190-139 and 10 each.
	if p := d.Phases[0]; p.Skew != 55+53+55 || p.Transfer != 4*5 || p.Begin != 0 || p.End != 100 {
		t.Errorf("iteration 1: %+v", p)
	}
	if p := d.Phases[1]; p.Skew != 50+49+51 || p.Transfer != 4*10 {
		t.Errorf("iteration 2: %+v", p)
	}
	if len(d.Verdict) != 2 || d.Verdict[0].Path != "rank 2" || d.Verdict[1].Path != "rank 1" || !strings.Contains(d.Verdict[1].Why, "arrives last at 1 collective; 3 others wait 150 ns for it in MPI_Barrier") {
		t.Errorf("%+v", d.Verdict)
	}
}

func TestDelayingRanksOfDemosAreFound(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"training": {"ProfilerStep#12": "gpu-node-0/rank 3", "ProfilerStep#16": "gpu-node-1/rank 11", "ProfilerStep#19": "gpu-node-1/rank 11"},
		"stencil":  {"iteration 1": "node05/", "iteration 5": "node05/", "iteration 20": "node05/"},
	} {
		d, _ := demo.Find(name)
		got := map[string]string{}
		r := viewtest.Local(t, func(w trace.Writer) {
			if err := d.Write(context.Background(), d.Options, w); err != nil {
				t.Fatal(err)
			}
		})
		for _, v := range read(t, r, nil).Verdict {
			got[v.Phase] = v.Path
		}
		for phase, path := range want {
			if !strings.HasPrefix(got[phase], path) {
				t.Errorf("%s, %s: %q, want %q", name, phase, got[phase], path)
			}
		}
		if name == "training" && got["ProfilerStep#14"] != "" {
			t.Errorf("a quiet step is blamed on %s", got["ProfilerStep#14"])
		}
	}
}

// Busy and waiting time of slices add up to those of the whole run.
func TestSlicesAddUp(t *testing.T) {
	r := storetest.Text(t, twoIterations)
	whole, parts := read(t, r, map[string][]string{"phase": {"slices:1"}}), read(t, r, map[string][]string{"phase": {"slices:7"}})
	sum := map[string][2]trace.Time{}
	for _, x := range parts.Rows {
		s := sum[x.Path]
		sum[x.Path] = [2]trace.Time{s[0] + x.Busy, s[1] + x.Waiting}
	}
	for _, x := range whole.Rows {
		if s := sum[x.Path]; s[0] != x.Busy || s[1] != x.Waiting {
			t.Errorf("%s: %v, want %d and %d", x.Path, s, x.Busy, x.Waiting)
		}
	}
}

// Recorded in full, iterations are those of a region that fills the run; of the communication alone the same times are
// found by the calls that repeat. Rank 1 works longer in each third iteration, and each rank begins on its own.
func TestCommunicationAloneHasTheIterationsOfTheFullRecording(t *testing.T) {
	const ranks, iterations = 3, 12
	record := func(full bool) string {
		var b strings.Builder
		b.WriteString("region iteration role=compute\nregion MPI_Init role=overhead\n" +
			"region MPI_Bcast role=communication\nregion MPI_Sendrecv role=communication\n" +
			"region MPI_Allreduce role=communication\n")
		for r := range ranks {
			fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n", r, r)
			at := 100 + 7*r
			fmt.Fprintf(&b, "  0..%d MPI_Init\n  %d..%d MPI_Bcast\n", at-10, at-5, at)
			for k := range iterations {
				work, end := 40+5*r, 200+100*k
				if r == 1 && k%3 == 2 {
					work += 20
				}
				if full {
					fmt.Fprintf(&b, "  %d..%d iteration\n  ", at, end)
				}
				fmt.Fprintf(&b, "  %d..%d MPI_Sendrecv\n", at+work/2, at+work/2+3)
				if full {
					b.WriteString("  ")
				}
				fmt.Fprintf(&b, "  %d..%d MPI_Allreduce\n", at+work, end)
				at = end
			}
		}
		return b.String()
	}
	var found [2]string
	for i, full := range []bool{true, false} {
		for _, p := range read(t, storetest.Text(t, record(full)), nil).Phases {
			found[i] += fmt.Sprintf("%s: %d..%d, %d ns waited\n", p.Name, p.Begin, p.End, p.Waiting)
		}
	}
	if strings.Count(found[0], "\n") != iterations || found[0] != found[1] {
		t.Errorf("in full:\n%sof communication alone:\n%s", found[0], found[1])
	}
}
