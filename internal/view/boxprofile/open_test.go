package boxprofile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

// openTrace has calls that begin before 20 on both ranks; after it rank 1 alone calls.
const openTrace = `
region run role=compute
region step role=compute
location process p1 rank=0
  0..64 run
    10..30 step
location process p2 rank=1
  0..50 run
    24..28 step
    32..38 step
`

// cutsOf writes the boxes of a result: calls that begin in the window, cut ones, and their time in it.
func cutsOf(rows []boxprofile.Row) (out []string) {
	for _, x := range rows {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %v calls, %v cut %v ns", x.Region, x.Path, x.Count, x.Cut, x.CutTime)))
	}
	slices.Sort(out)
	return out
}

func TestCallsThatAreOpenInTheWindowAreDrawnAsCut(t *testing.T) {
	for _, c := range []struct {
		spec    view.Spec
		options map[string][]string
		want    []string
	}{
		{view.Spec{From: "20", To: "24"}, nil, []string{"run p1 0 calls, 1 cut 0 ns", "run p2 0 calls, 1 cut 4 ns",
			"step p1 0 calls, 1 cut 4 ns"}},
		{view.Spec{From: "20", To: "40"}, nil, []string{"run p1 0 calls, 1 cut 10 ns", "run p2 0 calls, 1 cut 10 ns",
			"step p1 0 calls, 1 cut 10 ns", "step p2 2 calls, 0 cut 0 ns"}},
		{view.Spec{From: "20", To: "40"}, map[string][]string{"metric": {"inclusive"}},
			[]string{"run p1 0 calls, 1 cut 20 ns", "run p2 0 calls, 1 cut 20 ns", "step p1 0 calls, 1 cut 10 ns",
				"step p2 2 calls, 0 cut 0 ns"}},
		{view.Spec{From: "26", To: "40"}, map[string][]string{"caller": {"run"}},
			[]string{"step p1 0 calls, 1 cut 4 ns", "step p2 1 calls, 1 cut 2 ns"}},
		{view.Spec{From: "20", To: "40"}, map[string][]string{"over": {"locations"}},
			[]string{"run  0 calls, 2 cut 20 ns", "step  1 calls, 1 cut 10 ns"}},
	} {
		k := viewtest.Case{Trace: openTrace, Spec: c.spec, Options: c.options}
		r := k.Compute(t, boxprofile.View, k.Open(t))
		d := r.Data().(boxprofile.Data)
		if got := cutsOf(d.Rows); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q\nwant %q", c.spec, got, c.want)
		}
		for _, x := range d.Rows {
			if (x.Count == 0) != (x.Q50 == nil) || (x.Count == 0) != (x.Min == nil) {
				t.Errorf("%+v: %s has %v calls and median %v", c.spec, x.Region, x.Count, x.Q50)
			}
		}
		sayingCut(t, r)
	}
}

// sayingCut holds that picture, legend, hover and notes have cut calls.
func sayingCut(t *testing.T, r view.Result) {
	t.Helper()
	s := r.Scene(scene.Size{Width: 800, Height: 400})
	if !slices.ContainsFunc(s.Legend, func(e scene.LegendEntry) bool {
		return strings.HasPrefix(e.Label, "cut: ") && e.Flags&scene.Hatched != 0
	}) {
		t.Errorf("the legend has no cut calls: %+v", s.Legend)
	}
	if !slices.ContainsFunc(r.Notes(), func(n string) bool { return strings.Contains(n, "began before the selection") }) {
		t.Errorf("notes %q", r.Notes())
	}
	met := false
	for _, it := range s.Items {
		f, _ := r.(view.Facts).Fact(it)
		met = met || slices.ContainsFunc(f.Lines, func(l view.FactLine) bool { return l.Label == "cut calls" })
	}
	if !met {
		t.Error("no hover tells of cut calls")
	}
}

func TestTruncatedCallsAreMarkedPerRun(t *testing.T) {
	c := viewtest.Case{Trace: openTrace, Others: []string{openTrace}, Spec: view.Spec{From: "20", To: "24"}}
	r := c.Compute(t, boxprofile.View, c.Open(t))
	want := []string{"run test 0 calls, 2 cut 4 ns", "run test2 0 calls, 2 cut 4 ns", "step test 0 calls, 1 cut 4 ns",
		"step test2 0 calls, 1 cut 4 ns"}
	if got := cutsOf(r.Data().(boxprofile.Data).Rows); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	sayingCut(t, r)
}
