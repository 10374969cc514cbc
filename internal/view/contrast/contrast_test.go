package contrast_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/contrast"
)

// planted is a run of ranks on two nodes, 1,000 ns long. On those that are slow solve
// takes 300 ns more and MPI_Wait as much less; each has a call of its own kind, sends
// more, and counts fewer flops. In the second half solve takes over from io everywhere.
func planted(ranks int, slow ...int) string {
	var b strings.Builder
	b.WriteString("region solve role=compute category=user\nregion read role=io category=user\nregion MPI_Wait role=communication category=mpi\nregion repair role=compute category=user\n")
	for node := range 2 {
		fmt.Fprintf(&b, "location machine node%d\n", node)
		for p := node * ranks / 2; p < (node+1)*ranks/2; p++ {
			long, more := 400+p%5, 0
			if slices.Contains(slow, p) {
				long, more = long+300, 10
			}
			fmt.Fprintf(&b, "  location process \"rank %d\" rank=%d cores=%d\n    0..1000 main\n      0..100 read\n      100..%d solve\n", p, p, 4+4*node, 100+long)
			if more > 0 {
				b.WriteString("        110..112 repair\n")
			}
			fmt.Fprintf(&b, "      %d..950 MPI_Wait\n    counter flops monotone\n    counter heap unit=bytes\n    0 flops=0\n    1000 flops=%d\n    0 heap=%d\n    500 heap=%d\n", 100+long, 5000-100*more+p%3, 100, 300+10*more)
		}
	}
	for p := range ranks {
		size := 100
		if slices.Contains(slow, p) {
			size = 500
		}
		fmt.Fprintf(&b, "link message 110 \"node%d/rank %d\" -> 600 \"node0/rank 0\" size=%d\n", 2*p/ranks, p, size)
	}
	return b.String()
}

const profiled = `
metric TIME unit=ns default
metric PAPI_L2_DCM
`

// profile is the same as a profile: ranks 2, 5 and 7 of 12 spend twice the time in solve.
func profile() string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Wait role=communication\n")
	for p := range 12 {
		fmt.Fprintf(&b, "location process r%d rank=%d\n", p, p)
	}
	b.WriteString(profiled)
	for p := range 12 {
		k := 1
		if p == 2 || p == 5 || p == 7 {
			k = 2
		}
		fmt.Fprintf(&b, "profile r%d main TIME calls=1 incl=1000 excl=100\nprofile r%d \"main => solve\" TIME calls=5 incl=%d excl=%d\nprofile r%d \"main => solve\" PAPI_L2_DCM calls=5 incl=%d excl=%d\nprofile r%d \"main => MPI_Wait\" TIME calls=3 incl=%d excl=%d\n",
			p, p, 400*k+p, 400*k+p, p, 7000*k+p, 7000*k+p, p, 900-400*k-p, 900-400*k-p)
	}
	return b.String()
}

func options(pairs ...string) map[string][]string {
	out := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = append(out[pairs[i]], pairs[i+1])
	}
	return out
}

func TestView(t *testing.T) {
	slow := planted(16, 3, 4, 5)
	viewtest.Run(t, contrast.View,
		viewtest.Case{Name: "slow ranks", Trace: slow, Spec: view.Spec{Locations: []string{"rank:3-5"}}},
		viewtest.Case{Name: "nothing selected", Trace: slow},
		viewtest.Case{Name: "a time", Trace: slow, Spec: view.Spec{From: "0", To: "100"}},
		viewtest.Case{Name: "two sets", Trace: slow, Options: options("a", "rank:3", "a", "rank:4", "b", "rank:8-12", "by", "region,counter")},
		viewtest.Case{Name: "no difference", Trace: planted(16), Spec: view.Spec{Locations: []string{"rank:3-5"}}},
		viewtest.Case{Name: "profile", Trace: profile(), Spec: view.Spec{Locations: []string{"r2", "r5", "r7"}}},
		viewtest.Case{Name: "many", NoGolden: true, Reader: func(tb testing.TB) store.Reader {
			return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 150, 15000) })
		}},
	)
}

func data(t *testing.T, c viewtest.Case) contrast.Data {
	t.Helper()
	return viewtest.Decoded[contrast.Data](t, c.Compute(t, contrast.View, c.Open(t)))
}

func find(t *testing.T, d contrast.Data, kind, name string) contrast.Row {
	t.Helper()
	for _, r := range d.Rows {
		if r.Kind == kind && r.Name == name {
			return r
		}
	}
	t.Fatalf("no %s %q", kind, name)
	return contrast.Row{}
}

// TestInjectedDifferencesComeFirst: with the right sign and the right size.
func TestInjectedDifferencesComeFirst(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 3, 4, 5), Spec: view.Spec{Locations: []string{"rank:3-5"}}})
	if d.A.Label != "rank 3–5" || d.B.Label != "the 13 other ranks" || len(d.A.Locations) != 3 || len(d.B.Locations) != 13 {
		t.Errorf("sets %q and %q", d.A.Label, d.B.Label)
	}
	first := []string{}
	for _, r := range d.Rows[:6] {
		first = append(first, r.Kind+" "+r.Name)
	}
	for _, want := range []string{"role compute", "role communication", "region solve", "region MPI_Wait"} {
		if !slices.Contains(first, want) {
			t.Errorf("%s is not among the first: %v", want, first)
		}
	}
	for _, c := range []struct {
		kind, name  string
		effect, tol float64
	}{
		{"region", "solve", 0.298, 0.002}, // 300 of 1,000 ns, of which repair takes 2
		{"role", "compute", 0.3, 0.002},
		{"region", "MPI_Wait", -0.3, 0.002},
		{"calls", "repair", 1, 0},
		{"messages", "bytes sent", 400 / 175.0, 0.01},
		{"counter", "flops", -1000 / 4813.0, 0.01},
	} {
		if r := find(t, d, c.kind, c.name); !r.Clear || math.Abs(r.Effect-c.effect) > c.tol {
			t.Errorf("%s %s: effect %v, clear %v, want %v", c.kind, c.name, r.Effect, r.Clear, c.effect)
		}
	}
	if r := find(t, d, "region", "read"); r.Clear || r.Delta != 0 && r.Effect != 0 {
		t.Errorf("read differs: %+v", r)
	}
	if d.A.Label != "rank 3–5" || d.B.Label != "the 13 other ranks" {
		t.Errorf("%q against %q", d.A.Label, d.B.Label)
	}
}

// TestSentencesOfDifferences: the headline, and the words of each clear row.
func TestSentencesOfDifferences(t *testing.T) {
	var said strings.Builder
	for _, c := range []struct {
		name string
		viewtest.Case
	}{
		{"slow ranks", viewtest.Case{Trace: planted(16, 3, 4, 5), Spec: view.Spec{Locations: []string{"rank:3-5"}}}},
		{"a node", viewtest.Case{Trace: planted(16, 0, 1, 2, 3, 4, 5, 6, 7), Spec: view.Spec{Locations: []string{"rank:0-7"}}}},
		{"equal ranks", viewtest.Case{Trace: planted(16), Spec: view.Spec{Locations: []string{"rank:3-5"}}}},
		{"two times", viewtest.Case{Trace: planted(16, 3), Spec: view.Spec{From: "0", To: "100"}}},
		{"a profile", viewtest.Case{Trace: profile(), Spec: view.Spec{Locations: []string{"r2", "r5", "r7"}}}},
	} {
		d := data(t, c.Case)
		fmt.Fprintf(&said, "%s\n  %s\n", c.name, d.Headline)
		for _, r := range d.Rows[:d.Clear] {
			fmt.Fprintf(&said, "  %s %s: %s\n", r.Kind, r.Name, r.Text)
		}
	}
	viewtest.GoldenText(t, "sentences.txt", said.String())
}

func TestRowsAreWholeAndInOrder(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 3, 4, 5), Spec: view.Spec{Locations: []string{"rank:3-5"}}})
	clear := 0
	for i, r := range d.Rows {
		if r.Clear {
			if clear++; clear != i+1 {
				t.Errorf("row %d is clear after one that is not", i)
			}
		}
		if r.Text == "" || r.P < 0 || r.P > 1 || r.Q != nil && *r.Q < r.P || math.Abs(r.Delta) > 1 {
			t.Errorf("row %+v", r)
		}
	}
	if clear != d.Clear {
		t.Errorf("%d clear, said %d", clear, d.Clear)
	}
}

func TestNoDifferenceIsStated(t *testing.T) {
	for _, spec := range []view.Spec{{Locations: []string{"rank:3-5"}}, {Locations: []string{"rank:3"}}, {}} {
		d := data(t, viewtest.Case{Trace: planted(16), Spec: spec})
		if d.Clear != 0 {
			t.Errorf("%v: %d clear: %s; %+v", spec, d.Clear, d.Headline, d.Rows[0])
		}
	}
}

func TestOutliersAreComparedFirst(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 3, 4, 5)})
	if d.A.Label != "rank 3–5" || d.Clear == 0 {
		t.Errorf("%q, %d clear", d.A.Label, d.Clear)
	}
}

// TestTimesArePairs: a location is compared with itself, in shares of windows.
func TestTimesArePairs(t *testing.T) {
	c := viewtest.Case{Trace: planted(16, 3), Spec: view.Spec{From: "0", To: "100"}}
	d := data(t, c)
	if !d.Paired || d.A.Label != "0 s to 100 ns" || d.B.Label != "100 ns to 1.00 µs" || len(d.B.Times) != 1 {
		t.Fatalf("paired %v, %q against %q %v", d.Paired, d.A.Label, d.B.Label, d.B.Times)
	}
	r := d.Rows[0]
	if r = find(t, d, "region", "read"); r.Unit != "share" || r.A != 1 || r.B != 0 || r.Delta != 1 || !r.Clear {
		t.Errorf("%+v", r)
	}
	c.Spec, c.Options = view.Spec{}, options("a", "time=0..50", "a", "time=100..150", "b", "all")
	if d = data(t, c); len(d.A.Times) != 2 || len(d.B.Times) != 1 || find(t, d, "region", "read").A != 0.5 {
		t.Errorf("two times: %v against %v", d.A.Times, d.B.Times)
	}
}

func TestAProfileIsComparedToo(t *testing.T) {
	d := data(t, viewtest.Case{Trace: profile(), Spec: view.Spec{Locations: []string{"r2", "r5", "r7"}}})
	solve, misses := find(t, d, "region", "solve"), find(t, d, "metric", "PAPI_L2_DCM")
	// 400 of the 1,000 ns of a rank, to within what ranks differ by.
	if !solve.Clear || math.Abs(solve.Effect-0.4) > 0.01 || !misses.Clear || misses.Shift < 6990 || misses.Shift > 7010 {
		t.Errorf("solve %+v, misses %+v", solve, misses)
	}
	if *solve.CallsA != 5 || *solve.CallsB != 5 || math.Abs(solve.A/solve.B-1.98) > 0.005 {
		t.Errorf("%+v", solve)
	}
}

func TestWordsOfLocationsAndPartners(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 0, 1, 2, 3, 4, 5, 6, 7), Spec: view.Spec{Locations: []string{"rank:0-7"}}})
	r := find(t, d, "attribute", "machine is node0")
	if !r.Clear || r.A != 1 || r.B != 0 {
		t.Errorf("%+v", r)
	}
	if r := find(t, d, "attribute", "cores"); r.A != 4 || r.B != 8 || !r.Clear {
		t.Errorf("%+v", r)
	}
	if r := find(t, d, "partner", "bytes sent to rank 0"); r.A != 500 || r.B != 100 || !r.Clear {
		t.Errorf("%+v", r)
	}
	if r := find(t, d, "counter", "heap"); r.A != 250 || r.B != 200 {
		t.Errorf("level weighted by time: %+v", r)
	}
}

// TestPartsOfASetReplaceThoseOfTheSelection: a set of locations in a selected time is
// compared with the others in that time, whatever locations are selected.
func TestPartsOfASetReplaceThoseOfTheSelection(t *testing.T) {
	d := data(t, viewtest.Case{Trace: planted(16, 3), Options: options("a", "rank:3"), Spec: view.Spec{From: "0", To: "500", Locations: []string{"rank:7-9"}}})
	if len(d.A.Locations) != 1 || len(d.B.Locations) != 15 || d.B.Times[0] != [2]trace.Time{0, 500} {
		t.Errorf("%+v against %+v", d.A, d.B)
	}
	d = data(t, viewtest.Case{Trace: planted(16, 3), Options: options("a", "time=0..100"), Spec: view.Spec{From: "400", To: "500", Locations: []string{"rank:7-9"}}})
	if len(d.A.Locations) != 3 || d.A.Times[0] != [2]trace.Time{0, 100} || d.B.Times[0] != [2]trace.Time{100, 1000} {
		t.Errorf("%+v against %+v", d.A, d.B)
	}
}

func TestWrongSelectionsAreErrors(t *testing.T) {
	r := storetest.Text(t, planted(4, 1), all.Summaries...)
	for _, c := range []struct {
		name, want string
		options    map[string][]string
	}{
		{"no such location", "matches none", options("a", "rank:77")},
		{"no such kind", "--by \"colour\"", options("a", "rank:1", "by", "colour")},
		{"half a time", "want a begin and an end", options("a", "time=5")},
		{"empty time", "time range is empty", options("a", "time=7..5")},
		{"the same twice", "both sets hold the same", options("a", "rank:1", "b", "rank:1")},
	} {
		values, err := view.NewValues(contrast.View, c.options)
		if err != nil {
			t.Fatal(err)
		}
		q := &view.Request{Runs: []view.Run{{Store: r}}, Selection: trace.Selection{End: r.Info().End}, Values: values}
		if _, err = contrast.View.Compute(context.Background(), q); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var empty *view.EmptyError
	one := storetest.Text(t, "location process r\n  0..10 main\n", all.Summaries...)
	values, _ := view.NewValues(contrast.View, nil)
	_, err := contrast.View.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: one}}, Selection: trace.Selection{End: 10}, Values: values})
	if !errors.As(err, &empty) {
		t.Errorf("one location: %v", err)
	}
}

func TestTwoRunsAreCompared(t *testing.T) {
	a := storetest.Text(t, planted(16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all.Summaries...)
	b := storetest.Text(t, planted(16), all.Summaries...)
	values, _ := view.NewValues(contrast.View, nil)
	q := &view.Request{Runs: []view.Run{{Name: "slow", Store: a}, {Name: "fast", Store: b}}, Selection: trace.Selection{End: a.Info().End}, Values: values}
	result, err := contrast.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	d := result.Data().(contrast.Data)
	if r := find(t, d, "region", "solve"); !r.Clear || math.Abs(r.Shift-298) > 2 || d.A.Label != "slow" || d.B.Label != "fast" {
		t.Errorf("%s: %+v", d.Headline, r)
	}
}

// TestRealRuns: what is known of them by other means.
func TestRealRuns(t *testing.T) {
	t.Run("training", func(t *testing.T) {
		r := viewtest.Import(t, "data", "kineto-ddp-8rank")
		c := viewtest.Case{Spec: view.Spec{Locations: []string{"rank:5"}}}
		d := c.Compute(t, contrast.View, r).Data().(contrast.Data)
		k := d.Rows[0]
		if k.Kind != "category" || k.Name != "kernel" || !k.Clear || math.Abs(k.A-102e6) > 1e6 || k.BoxB[0] < 3e6 || k.BoxB[4] > 33e6 {
			t.Errorf("first is %+v", k)
		}
		if w := find(t, d, "region", "gloo:all_reduce"); w.Delta != -1 {
			t.Errorf("the others wait: %+v", w)
		}
		c.Spec.Locations = nil
		if d := c.Compute(t, contrast.View, r).Data().(contrast.Data); d.A.Label != "rank 5" {
			t.Errorf("%s stands out", d.A.Label)
		}
		c.Spec.Locations = []string{"rank:2"}
		if d := c.Compute(t, contrast.View, r).Data().(contrast.Data); d.Clear != 0 {
			t.Errorf("rank 2: %s", d.Headline)
		}
	})
	t.Run("linpack", func(t *testing.T) {
		r := viewtest.Import(t, "data", "otf2-hpl16-deep-a")
		c := viewtest.Case{Options: options("a", "rank:0", "a", "rank:5", "a", "rank:10", "a", "rank:15")}
		d := c.Compute(t, contrast.View, r).Data().(contrast.Data)
		if x := find(t, d, "calls", "HPL_dtrsv"); x.Effect != 1 || !x.Clear || x.A == 0 || x.B != 0 {
			t.Errorf("%+v", x)
		}
	})
}

// What records a run stands out in it, and is no part of the program.
func TestTheRecorderIsNoDifference(t *testing.T) {
	trace := `
region read role=io
region work role=compute
location thread "runtime/pprof.profileWriter"
  0..900 read
location thread "JFR Recorder Thread"
  0..800 read
`
	for k := range 6 {
		trace += fmt.Sprintf("location thread t%d\n  0..%d work\n", k, 100+k/5*200)
	}
	c := viewtest.Case{Trace: trace}
	r := c.Compute(t, contrast.View, c.Open(t))
	if a := r.Data().(contrast.Data).A.Label; a != "t5" {
		t.Errorf("%q stands out, want t5", a)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, "rows are 6 threads, of 8 locations") {
		t.Errorf("notes %s", notes)
	}
}
