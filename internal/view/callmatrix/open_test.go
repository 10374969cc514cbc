package callmatrix_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/callmatrix"
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

// cutsOf writes the cells of a result: calls that begin in the window, cut ones, and their time in it.
func cutsOf(cells []callmatrix.Cell) (out []string) {
	for _, x := range cells {
		out = append(out, fmt.Sprintf("%s>%s %s %v calls, %v cut %v ns", x.Caller, x.Callee, x.Path, x.Count, x.Cut, x.CutTime))
	}
	slices.Sort(out)
	return out
}

func TestCallsThatAreOpenInTheWindowAreDrawnAsCut(t *testing.T) {
	for _, c := range []struct {
		from, to string
		options  map[string][]string
		want     []string
	}{
		{"20", "24", nil, []string{">run p1 0 calls, 1 cut 0 ns", ">run p2 0 calls, 1 cut 4 ns",
			"run>step p1 0 calls, 1 cut 4 ns"}},
		{"26", "40", nil, []string{">run p1 0 calls, 1 cut 10 ns", ">run p2 0 calls, 1 cut 6 ns",
			"run>step p1 0 calls, 1 cut 4 ns", "run>step p2 1 calls, 1 cut 2 ns"}},
		{"26", "40", map[string][]string{"metric": {"inclusive"}}, []string{">run p1 0 calls, 1 cut 14 ns",
			">run p2 0 calls, 1 cut 14 ns", "run>step p1 0 calls, 1 cut 4 ns", "run>step p2 1 calls, 1 cut 2 ns"}},
		{"26", "40", map[string][]string{"closure": {"dynamic"}, "caller": {"root"}},
			[]string{">run p1 0 calls, 1 cut 10 ns", ">run p2 0 calls, 1 cut 6 ns", ">step p1 0 calls, 1 cut 4 ns",
				">step p2 1 calls, 1 cut 2 ns"}},
		{"26", "40", map[string][]string{"over": {"locations"}},
			[]string{">run  0 calls, 2 cut 16 ns", "run>step  1 calls, 2 cut 6 ns"}},
		{"26", "40", map[string][]string{"square": {"stripes"}, "caller": {"run"}, "metric": {"calls"}},
			[]string{"run>step p1 0 calls, 1 cut 4 ns", "run>step p2 1 calls, 1 cut 2 ns"}},
	} {
		k := viewtest.Case{Trace: openTrace, Spec: view.Spec{From: c.from, To: c.to}, Options: c.options}
		r := k.Compute(t, callmatrix.View, k.Open(t))
		cells := r.Data().(callmatrix.Data).Cells
		if got := cutsOf(cells); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q\nwant %q", c, got, c.want)
		}
		sayingCut(t, r)
	}
}

// sayingCut holds that picture, legend and hover have cut calls.
func sayingCut(t *testing.T, r view.Result) {
	t.Helper()
	s := r.Scene(scene.Size{Width: 800, Height: 400})
	if !slices.ContainsFunc(s.Legend, func(e scene.LegendEntry) bool {
		return strings.HasPrefix(e.Label, "cut: ") && e.Flags&scene.Hatched != 0
	}) {
		t.Errorf("the legend has no cut calls: %+v", s.Legend)
	}
	if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "began before the selection") }) {
		t.Errorf("notes %q", s.Notes)
	}
	for _, it := range s.Items {
		f, _ := r.(view.Facts).Fact(it)
		if !slices.ContainsFunc(f.Lines, func(l view.FactLine) bool { return strings.HasPrefix(l.Label, "cut calls") }) {
			t.Errorf("%s does not tell of cut calls: %+v", f.Title, f)
		}
	}
}

func TestTruncatedCallsAreMarkedPerSide(t *testing.T) {
	for name, c := range map[string]viewtest.Case{
		"two runs": {Trace: openTrace, Others: []string{openTrace}, Spec: view.Spec{From: "26", To: "40"}},
		"against": {Trace: openTrace, Spec: view.Spec{From: "26", To: "40", Locations: []string{"rank:0"}},
			Options: map[string][]string{"against": {"rest"}}},
	} {
		r := c.Compute(t, callmatrix.View, c.Open(t))
		var got []string
		for _, x := range r.Data().(callmatrix.DifferenceData).Cells {
			got = append(got, fmt.Sprintf("%s>%s %v/%v %v/%v", x.Caller, x.Callee, x.A.Calls, x.B.Calls, x.A.Cut, x.B.CutTime))
		}
		want := []string{">run 0/0 2/16", "run>step 1/1 2/6"}
		if name == "against" {
			want = []string{">run 0/0 1/6", "run>step 0/1 1/2"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		sayingCut(t, r)
	}
}
