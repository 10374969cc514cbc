package compare_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// generated is a run of four ranks that all do the same work with a noise of some percent: assemble, solve with
// a reduction inside, output. slower makes solve longer by so much.
func generated(seed uint64, slower float64) string {
	draw := rand.New(rand.NewPCG(seed, 99))
	noise := func(mean float64) float64 { return mean * (1 + 0.006*draw.NormFloat64()) }
	machine := 1 + 0.002*draw.NormFloat64() // the whole machine is quicker or slower by day
	var b strings.Builder
	b.WriteString("region main role=compute\nregion assemble role=compute\nregion solve role=compute\nregion MPI_Allreduce role=communication\nregion output role=io\nregion \"step 7\" role=annotation\n")
	for rank := range 4 {
		fmt.Fprintf(&b, "location process r%d rank=%d\n", rank, rank)
		at := 1000.0
		var calls strings.Builder
		stay := func(depth int, name string, length float64) {
			fmt.Fprintf(&calls, "%s%.0f..%.0f %s\n", strings.Repeat("  ", depth), at, at+length, name)
			at += length
		}
		for i := range 6 {
			stay(2, "assemble", machine*noise(3000))
			begin, solve, reduce := at, machine*noise(5000)*(1+slower), machine*noise(900)
			fmt.Fprintf(&calls, "    %.0f..%.0f solve\n", begin, begin+solve+reduce)
			at = begin + solve
			stay(3, "MPI_Allreduce", reduce)
			stay(2, "output", machine*noise(400))
			_ = i
		}
		fmt.Fprintf(&b, "  0..%.0f main\n%s", at+500, calls.String())
	}
	return b.String()
}

func runs(t *testing.T, texts ...string) (out []view.Run) {
	t.Helper()
	for i, text := range texts {
		out = append(out, view.Run{Name: fmt.Sprintf("run%02d", i), Source: fmt.Sprintf("run%02d.trace", i), Store: storetest.Text(t, text, all.Summaries...), Keys: map[string]string{"half": fmt.Sprint(2 * i / len(texts))}})
	}
	return out
}

func compared(t *testing.T, list []view.Run, options map[string][]string) compare.Data {
	t.Helper()
	return computed(t, list, options).Data().(compare.Data)
}

func computed(t *testing.T, list []view.Run, options map[string][]string) view.Result {
	t.Helper()
	values, err := view.NewValues(compare.View, options)
	if err != nil {
		t.Fatal(err)
	}
	q := &view.Request{Runs: list, Values: values, Size: scene.Size{Width: 800, Height: 500}}
	if q.Selection, err = (view.Spec{}).Resolve(list[0].Store); err != nil {
		t.Fatal(err)
	}
	r, err := compare.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var byHalf = map[string][]string{"by": {"half"}}

func TestView(t *testing.T) {
	a, b := generated(1, 0), generated(2, 0.1)
	picture := func(name string) map[string][]string { return map[string][]string{"picture": {name}} }
	several := []string{generated(3, 0), generated(4, 0), generated(5, 0), generated(6, 0.1), generated(7, 0.1), generated(8, 0.1), generated(9, 0.1)}
	sides := func(name string) map[string][]string {
		return map[string][]string{"a": {"test", "test[234]"}, "picture": {name}}
	}
	viewtest.Run(t, compare.View,
		viewtest.Case{Name: "one a side", Trace: a, Others: []string{b}},
		viewtest.Case{Name: "four a side", Trace: a, Others: several, Options: sides("changes")},
		viewtest.Case{Name: "tree", Trace: a, Others: several, Options: sides("tree")},
		viewtest.Case{Name: "runs", Trace: a, Others: several, Options: sides("runs")},
		viewtest.Case{Name: "ranks", Trace: a, Others: []string{b}, Options: picture("ranks")},
	)
}

// A tree with more levels than have room for names is drawn from the top, with names, and says how many it leaves out.
func TestLevelsOfATreeHaveRoomForNames(t *testing.T) {
	const levels = 40
	text := ""
	for i := range levels {
		text += fmt.Sprintf("region level%d role=compute\n", i)
	}
	text += "location process r0 rank=0\n"
	for i := range levels {
		text += fmt.Sprintf("%*s0..1000 level%d\n", 2*i+2, "", i)
	}
	r := computed(t, runs(t, text, text), map[string][]string{"picture": {"tree"}})
	for _, height := range []int{200, 400, 1200} {
		s := r.Scene(scene.Size{Width: 600, Height: height})
		names, left := 0, 0
		for i := range s.Layers {
			for _, m := range s.Layers[i].Marks {
				if x, ok := m.(*scene.Text); ok && s.Layers[i].Name == "names" {
					names += len(x.Text)
				}
			}
		}
		for _, n := range s.Notes {
			fmt.Sscanf(n, "%d deeper levels are not drawn", &left)
		}
		if names+left != levels || (left == 0) != (height == 1200) {
			t.Errorf("%d pixels: %d levels with names, %d said to be left out, of %d: %q", height, names, left, levels, s.Notes)
		}
	}
}

func row(t *testing.T, d *compare.Data, region string) *compare.Row {
	t.Helper()
	for i := range d.Rows {
		if d.Rows[i].Region == region {
			return &d.Rows[i]
		}
	}
	t.Fatalf("no row of %s", region)
	return nil
}

// The sentence and the row say the same medians and change, where one run is far out and means are elsewhere.
func TestTheSentenceSaysTheRow(t *testing.T) {
	text := func(length int) string {
		return fmt.Sprintf("region main role=compute\nlocation process r0 rank=0\n  0..%d main\n", length)
	}
	d := compared(t, runs(t, text(100000), text(101000), text(180000), text(110000), text(111000), text(112000)), byHalf)
	if l := &d.Length; l.A != 101000 || l.B != 111000 || *l.Change < 0.08 || *l.Change > 0.1 {
		t.Fatalf("the length is %+v", l)
	}
	if want := fmt.Sprintf("takes 101 µs in A and 111 µs in B, %.1f %% more", 100**d.Length.Change); !strings.Contains(d.Text, want) {
		t.Errorf("%q does not say %q", d.Text, want)
	}
}

// Twenty runs, of which the second ten are slower by 3 % in one region.
func TestAnInjectedRegressionIsTheOnlyOneFound(t *testing.T) {
	var texts []string
	for i := range uint64(20) {
		texts = append(texts, generated(100+i, 0.03*float64(i/10)))
	}
	d := compared(t, runs(t, texts...), byHalf)
	solve := row(t, &d, "solve")
	if solve.Verdict != statistics.Changed || math.Abs(solve.B/solve.A-1.03) > 0.01 {
		t.Errorf("solve is %s: %v to %v, q = %v", solve.Verdict, solve.A, solve.B, *solve.Q)
	}
	if !(*solve.Low > 0 && *solve.Low < 0.03*solve.A && *solve.High > 0.03*solve.A) {
		t.Errorf("the interval of the shift is [%v, %v], which does not hold 3 %% of %v", *solve.Low, *solve.High, solve.A)
	}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Region != "solve" && r.Verdict == statistics.Changed {
			t.Errorf("%s is said to have changed", r.Region)
		}
	}
	if d.Length.Verdict != statistics.Changed || !strings.Contains(d.Text, "solve") {
		t.Errorf("the length is %s: %s", d.Length.Verdict, d.Text)
	}
	if d.Rows[0].Region != "solve" {
		t.Errorf("the first row is %s", d.Rows[0].Region)
	}
}

func TestTwentyRunsWithoutAChangeHaveNone(t *testing.T) {
	wrong := 0
	for seed := range uint64(20) {
		var texts []string
		for i := range uint64(20) {
			texts = append(texts, generated(1000*(seed+1)+i, 0))
		}
		d := compared(t, runs(t, texts...), byHalf)
		any := d.Length.Verdict == statistics.Changed
		for i := range d.Rows {
			any = any || d.Rows[i].Verdict == statistics.Changed
		}
		if any {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 20 sets of runs without a change have one, want at most 1", wrong)
	}
}

func TestDifferencesAddUp(t *testing.T) {
	for _, n := range []uint64{2, 8} {
		var texts []string
		for i := range n {
			texts = append(texts, generated(50+i, 0.05*float64(2*i/n)))
		}
		d := compared(t, runs(t, texts...), byHalf)
		if c := d.Sum; math.Abs(c.Length-c.Parts-c.Unrecorded) > 1e-6*d.Length.A || c.Length == 0 {
			t.Errorf("%d runs: %v is not %v + %v", n, c.Length, c.Parts, c.Rest)
		}
		sum := 0.0
		for _, f := range d.Factors[:len(d.Factors)-1] {
			sum += f.Log
		}
		if last := d.Factors[len(d.Factors)-1]; last.Name != "length" || math.Abs(sum-last.Log) > 1e-9 {
			t.Errorf("factors add up to %v, the length to %v", sum, last.Log)
		}
	}
}

func TestOneRunPerSideIsNoted(t *testing.T) {
	d := compared(t, runs(t, generated(1, 0), generated(2, 0.2)), nil)
	if !strings.Contains(d.Text, "one run per side") {
		t.Errorf("the text is %q", d.Text)
	}
	for i := range d.Rows {
		if r := &d.Rows[i]; r.Verdict == statistics.Changed || r.P != nil || r.Low != nil {
			t.Errorf("%s is %s with p = %v", r.Region, r.Verdict, r.P)
		}
	}
}

func TestThreeRunsASideTellWhereTheyDoNotOverlap(t *testing.T) {
	three := func(slower func(i uint64) float64) compare.Data {
		var texts []string
		for i := range uint64(6) {
			texts = append(texts, generated(20+i, slower(i)))
		}
		return compared(t, runs(t, texts...), byHalf)
	}
	d := three(func(i uint64) float64 { return 0.5 * float64(i/3) })
	if d.Length.Verdict != statistics.Changed || math.Abs(*d.Length.P-0.1) > 1e-9 || *d.Length.PNormal > 0.001 ||
		!strings.Contains(d.Text, "Welch") || !strings.Contains(d.Text, "Changed: solve") {
		t.Errorf("3 against 3 apart: %s, p = %v, %v: %s", d.Length.Verdict, *d.Length.P, *d.Length.PNormal, d.Text)
	}
	d = three(func(i uint64) float64 { return 0.1 * float64(i%3) * (1 + float64(i/3)) })
	if d.Length.Verdict != statistics.Unknown || d.Length.PNormal != nil || !strings.Contains(d.Text, "runs per side would decide") {
		t.Errorf("3 against 3 mixed: %s, p = %v: %s", d.Length.Verdict, *d.Length.P, d.Text)
	}
}

func TestAPinSaysWhichRegionIsWhich(t *testing.T) {
	b := strings.ReplaceAll(generated(2, 0), "solve", "qr")
	pair := runs(t, generated(1, 0), b)
	if r := row(t, ptr(compared(t, pair, nil)), "qr"); r.Matched != "one side alone" {
		t.Errorf("qr is matched by %s", r.Matched)
	}
	d := compared(t, pair, map[string][]string{"match": {"solve=qr"}})
	if r := row(t, &d, "qr"); r.Matched != "pinned" || r.A == 0 || r.Was != "solve" {
		t.Errorf("qr is matched by %s, was %q, A = %v", r.Matched, r.Was, r.A)
	}
	if d.Matched.Share < 0.999 {
		t.Errorf("%v of the time is matched", d.Matched.Share)
	}
}

func ptr[T any](v T) *T { return &v }

func TestOneRunIsNotCompared(t *testing.T) {
	values, _ := view.NewValues(compare.View, nil)
	_, err := compare.View.Compute(context.Background(), &view.Request{Runs: runs(t, generated(1, 0)), Values: values})
	if err == nil || !strings.Contains(err.Error(), "two runs") {
		t.Errorf("the error is %v", err)
	}
}

// TestCallsOfSamplesAreUnknown: samples count no calls, so that both numbers are null and not 0.
func TestCallsOfSamplesAreUnknown(t *testing.T) {
	profile := func(calls, time int) string {
		return fmt.Sprintf("metric cpu unit=ns\nlocation process p rank=0\nprofile p main cpu calls=%d subcalls=0 incl=%d excl=%d\n",
			calls, time, time)
	}
	for _, calls := range []int{0, 3} {
		d := compared(t, runs(t, profile(calls, 100), profile(calls, 200)), byHalf)
		if len(d.Rows) == 0 {
			t.Fatal("no rows")
		}
		for _, x := range d.Rows {
			if known := x.CallsA != nil && x.CallsB != nil; known != (calls > 0) {
				t.Errorf("%d calls: %+v", calls, x)
			}
		}
	}
}
