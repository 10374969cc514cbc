package overview_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

func dataOf(t *testing.T, c viewtest.Case) overview.Data {
	t.Helper()
	return viewtest.Decoded[overview.Data](t, c.Compute(t, overview.View, c.Open(t)))
}

// equals writes 560 processes that all do the same in four phases, on machines of 4
// and of 24.
func equals() string {
	var b strings.Builder
	b.WriteString("region run role=compute\nregion wait role=synchronization\n")
	rank := 0
	for m := range 40 {
		fmt.Fprintf(&b, "location machine m%d\n", m)
		for p := range 4 + 20*(m%2) {
			fmt.Fprintf(&b,
				"  location process p%d rank=%d\n    0..100 run\n    100..200 wait\n    200..300 run\n    300..400 "+
					"wait\n", p, rank)
			rank++
		}
	}
	return b.String()
}

// TestEqualProcessesAreABoxAPhase: groups that were added up before count all their
// locations, so that machines of 4 and of 24 equal processes are alike.
func TestEqualProcessesAreABoxAPhase(t *testing.T) {
	d := dataOf(t, viewtest.Case{Trace: equals(), Options: map[string][]string{"bins": {"8"}}})
	if len(d.Parts) != 4 || d.Loss > 1e-12 || d.Locations != 560 {
		t.Errorf("%d boxes with loss %v of %d locations, want 4 without loss of 560: %+v", len(d.Parts), d.Loss,
			d.Locations, d.Parts[:min(6, len(d.Parts))])
	}
	for k, p := range d.Parts {
		if p.Path != "" || p.Leaves != 560 || p.Begin != trace.Time(100*k) || p.End != trace.Time(100*k+100) {
			t.Errorf("box %d: %+v", k, p)
		}
	}
}

// unlike writes machines of different sizes whose processes run for a random time;
// the values are those of the roles, by process.
func unlike(r *rand.Rand, machines, processes int) (text string, values [2][]float64) {
	var b strings.Builder
	b.WriteString("region run role=compute\nregion wait role=synchronization\n")
	for m := range machines {
		fmt.Fprintf(&b, "location machine m%d\n", m)
		for p := range 1 + r.IntN(processes) {
			at := r.IntN(900) + 50
			fmt.Fprintf(&b, "  location process p%d\n    0..%d run\n    %d..1000 wait\n", p, at, at)
			values[0], values[1] = append(values[0], float64(at)*1e-9), append(values[1], float64(1000-at)*1e-9)
		}
	}
	return b.String(), values
}

// TestLossOfTheWholeEqualsThatOfTheTreemap: in one slice all as one loses by definition
// what the treemap says, however much was added up before.
func TestLossOfTheWholeEqualsThatOfTheTreemap(t *testing.T) {
	for _, machines := range []int{3, 60} { // the latter is more than can be weighed
		text, values := unlike(rand.New(rand.NewPCG(1, 2)), machines, 40)
		want := 0.0
		for _, list := range values {
			sum := 0.0
			for _, v := range list {
				sum += v
			}
			for _, v := range list {
				want += v * math.Log2(v/sum*float64(len(list)))
			}
		}
		d := dataOf(t,
			viewtest.Case{Trace: text, Options: map[string][]string{"bins": {"1"}, "p": {"1"}, "scale": {"paper"}}})
		if len(d.Parts) != 1 || math.Abs(d.Loss-want) > 1e-9*want || d.Locations != len(values[0]) {
			t.Errorf("%d machines: loss %v of %d locations, want %v of %d", machines, d.Loss, d.Locations, want,
				len(values[0]))
		}
	}
}

// TestNothingOutsideTheWindowCounts: what is inside a window never exceeds its
// capacity, for each box, and boxes cover the window once.
func TestNothingOutsideTheWindowCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		g := newGrid(r, 1000)
		from := r.IntN(900)
		to := from + 1 + r.IntN(1000-from)
		bins := 1 + r.IntN(30)
		d := dataOf(t,
			viewtest.Case{Trace: g.text, Spec: view.Spec{From: fmt.Sprint(from), To: fmt.Sprint(to)},
				Options: map[string][]string{"bins": {fmt.Sprint(bins)}, "p": {fmt.Sprint(r.Float64())}}})
		if want := min(bins, to-from); d.Slices != want {
			t.Fatalf("%d slices, want %d", d.Slices, want)
		}
		covered := int64(0)
		for _, p := range d.Parts {
			capacity := p.Leaves * int64(p.End-p.Begin)
			covered += capacity
			sum := 0.0
			for _, v := range p.Values {
				sum += v
			}
			if int64(p.Begin) < int64(from) || int64(p.End) > int64(to) || sum > float64(capacity) {
				t.Fatalf("%d to %d: %+v holds %v ns of %d", from, to, p, sum, capacity)
			}
		}
		if want := int64(g.leaves) * int64(to-from); covered != want {
			t.Fatalf("the boxes cover %d of %d", covered, want)
		}
	}
}

func TestSlicesAreAsAskedFor(t *testing.T) {
	for _, bins := range []int{1, 2, 7, 10, 33, 64, 100} {
		d := dataOf(t,
			viewtest.Case{Trace: equals(), Options: map[string][]string{"bins": {fmt.Sprint(bins)}, "p": {"0"}},
				Spec: view.Spec{Locations: []string{"m0"}}})
		if d.Slices != bins || len(d.Parts) != 4*bins {
			t.Errorf("--bins %d: %d slices, %d boxes", bins, d.Slices, len(d.Parts))
		}
		for _, p := range d.Parts {
			if w := int64(p.End - p.Begin); w != 400/int64(bins) && w != 400/int64(bins)+1 {
				t.Errorf("--bins %d: a slice of %d ns of 400", bins, w)
			}
		}
	}
}

// A grid is a few machines and processes over a few slices, as a trace and as numbers.
type grid struct {
	text   string
	leaves int
	tree   []machine
	slices int
}

type machine [][]float64 // per process and slice: ns of the one role

// newGrid makes a random one; each process is busy for a random part of each slice.
func newGrid(r *rand.Rand, length int) *grid {
	g := &grid{slices: 2 + r.IntN(2)}
	width := length / g.slices
	var b strings.Builder
	b.WriteString("region run role=compute\n")
	for m := range 1 + r.IntN(2) {
		fmt.Fprintf(&b, "location machine m%d\n", m)
		var x machine
		for p := range 1 + r.IntN(2) {
			fmt.Fprintf(&b, "  location process p%d\n", p)
			g.leaves++
			var row []float64
			for s := range g.slices {
				busy := []int{width, width, width / 2, width / 3, 1}[r.IntN(5)]
				fmt.Fprintf(&b, "    %d..%d run\n", s*width, s*width+busy)
				row = append(row, float64(busy)*1e-9)
			}
			x = append(x, row)
		}
		g.tree = append(g.tree, x)
	}
	fmt.Fprintf(&b, "location process last\n  0..%d run\n", length) // so that all slices are equal
	last := make([]float64, g.slices)
	for s := range last {
		last[s] = float64(width) * 1e-9
	}
	g.tree = append(g.tree, machine{last})
	g.leaves++
	g.text = b.String()
	return g
}

// measure is gain and loss by their definition, cell by cell.
func measure(rows [][]float64, from, to int) (gain, loss float64) {
	n, sum := 0.0, 0.0
	for _, row := range rows {
		for _, v := range row[from : to+1] {
			n++
			sum += v
		}
	}
	for _, row := range rows {
		for _, v := range row[from : to+1] {
			if v > 0 {
				loss += v * math.Log2(v/sum*n)
			}
		}
	}
	return n - 1, loss
}

// A cutting is gain and loss of one way to cut.
type cutting struct{ gain, loss float64 }

// cuttings lists all ways to cut: as one, in time anywhere, or into what it is made of.
func cuttings(rows [][]float64, children [][][]float64, from, to int) []cutting {
	var out []cutting
	gain, loss := measure(rows, from, to)
	out = append(out, cutting{gain, loss})
	for c := from; c < to; c++ {
		out = append(out, pairs(cuttings(rows, children, from, c), cuttings(rows, children, c+1, to))...)
	}
	if len(children) > 1 {
		all := []cutting{{}}
		for _, child := range children {
			var below [][][]float64
			if len(child) > 1 {
				for _, row := range child {
					below = append(below, [][]float64{row})
				}
			}
			all = pairs(all, cuttings(child, below, from, to))
		}
		out = append(out, all...)
	}
	return out
}

// pairs combines two lists and keeps those that some p may prefer.
func pairs(a, b []cutting) []cutting {
	best := map[float64]float64{} // least loss by gain
	for _, x := range a {
		for _, y := range b {
			g, l := x.gain+y.gain, x.loss+y.loss
			if old, ok := best[g]; !ok || l < old {
				best[g] = l
			}
		}
	}
	var out []cutting
	for g, l := range best {
		out = append(out, cutting{g, l})
	}
	return out
}

// TestBoxesAreTheBestOfAllWaysToCut tries them all on small grids.
func TestBoxesAreTheBestOfAllWaysToCut(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 80 {
		g := newGrid(r, 600)
		var rows [][]float64
		var children [][][]float64
		for _, m := range g.tree {
			rows = append(rows, m...)
			children = append(children, m)
		}
		all := cuttings(rows, children, 0, g.slices-1)
		wholeGain, wholeLoss := measure(rows, 0, g.slices-1)
		for _, scale := range []string{"paper", "normalised"} {
			p := r.Float64()
			if scale == "paper" {
				p *= 1e-6 // values are in seconds
			}
			want := math.Inf(-1)
			for _, c := range all {
				gain, loss := c.gain, c.loss
				if scale == "normalised" {
					gain, loss = gain/wholeGain, loss/max(wholeLoss, 1e-300)
				}
				want = max(want, p*gain-(1-p)*loss)
			}
			d := dataOf(t,
				viewtest.Case{Trace: g.text,
					Options: map[string][]string{"bins": {fmt.Sprint(g.slices)}, "p": {fmt.Sprint(p)},
						"scale": {scale}}})
			if math.Abs(d.PIC-want) > 1e-9*max(math.Abs(want), 1e-9) {
				t.Fatalf("%s p = %v: quality %v, the best of %d ways has %v\n%s", scale, p, d.PIC, len(all), want,
					g.text)
			}
		}
	}
}

// TestThresholdsAreWhereBoxesChange: on both sides of each there are other boxes, and
// the curve is what each p gives.
func TestThresholdsAreWhereBoxesChange(t *testing.T) {
	c := viewtest.Case{Trace: phases, Options: map[string][]string{"bins": {"4"}}}
	d := dataOf(t, c)
	if len(d.Thresholds) == 0 || d.Suggested <= 0 || d.Suggested >= 1 {
		t.Fatalf("thresholds %v, suggested %v", d.Thresholds, d.Suggested)
	}
	at := func(p float64) overview.Data {
		c.Options = map[string][]string{"bins": {"4"}, "p": {fmt.Sprint(p)}}
		return dataOf(t, c)
	}
	for _, p := range d.Thresholds {
		if p < 1e-6 || p > 1-1e-6 {
			continue
		}
		if a, b := at(p-1e-7), at(p+1e-7); a.Gain >= b.Gain {
			t.Errorf("at p = %v gain goes from %v to %v", p, a.Gain, b.Gain)
		}
	}
	for k := 1; k < len(d.Curve.P)-1; k += 9 {
		if x := at(d.Curve.P[k]); math.Abs(x.Gain-d.Curve.Gain[k]) > 1e-9 || math.Abs(x.Loss-d.Curve.Loss[k]) > 1e-9 {
			t.Errorf("p = %v: gain %v, loss %v, the curve says %v, %v", d.Curve.P[k], x.Gain, x.Loss, d.Curve.Gain[k],
				d.Curve.Loss[k])
		}
	}
}

// TestAListThatIsCutSaysSo: it has the first stretch and all that are coarser, each of
// which is the picture of its p, and JSON and notes say where it begins.
func TestAListThatIsCutSaysSo(t *testing.T) {
	defer func(n int64) { *overview.MostWork = n }(*overview.MostWork)
	*overview.MostWork = 0
	text, _ := unlike(rand.New(rand.NewPCG(3, 1)), 6, 5)
	c := viewtest.Case{Trace: text, Options: map[string][]string{"bins": {"7"}}}
	d := dataOf(t, c)
	if d.Complete || d.CompleteFrom == nil || d.Stretches[0].From <= 0 || d.Thresholds[0] != d.Stretches[0].From {
		t.Fatalf("complete %v from %v: %+v", d.Complete, d.CompleteFrom, d.Stretches)
	}
	if d.Stretches[0].From > d.First.From {
		t.Errorf("the first stretch, from %v, is not listed: %+v", d.First.From, d.Stretches)
	}
	for _, s := range d.Stretches {
		c.Options = map[string][]string{"bins": {"7"}, "p": {fmt.Sprint((s.From + s.To) / 2)}}
		if x := dataOf(t, c); len(x.Parts) != s.Parts || math.Abs(x.Gain-s.Gain) > 1e-9 ||
			math.Abs(x.Loss-s.Loss) > 1e-9 {
			t.Errorf("p = %v: %d boxes, gain %v, loss %v, the stretch says %+v", x.P, len(x.Parts), x.Gain, x.Loss, s)
		}
	}
	notes := strings.Join(c.Compute(t, overview.View, c.Open(t)).(view.DataNoter).DataNotes(), "; ")
	if !strings.Contains(notes, "stretches are listed from p = ") {
		t.Errorf("notes on the data: %q", notes)
	}
}

// TestBoxesThatStandForManyAreMarked: what is one location in one slice is not.
func TestBoxesThatStandForManyAreMarked(t *testing.T) {
	folds := func(p string) int {
		c := viewtest.Case{Trace: phases, Options: map[string][]string{"p": {p}, "bins": {"4"}}}
		s := c.Compute(t, overview.View, c.Open(t)).Scene(scene.Size{Width: 640, Height: 400})
		n := 0
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if _, ok := m.(*scene.Polygon); ok && l.Name == "boxes" {
					n += m.Len() / 2
				}
			}
		}
		return n
	}
	if n := folds("0"); n != 0 {
		t.Errorf("%d marks where nothing is aggregated", n)
	}
	if n := folds("1"); n != 1 {
		t.Errorf("%d marks on one box", n)
	}
}

// TestGroupsAreTheSameReadAgain: what stays shut has the same cells whether its sums
// were kept or its locations are read a second time.
func TestGroupsAreTheSameReadAgain(t *testing.T) {
	text, _ := unlike(rand.New(rand.NewPCG(5, 6)), 60, 40)
	c := viewtest.Case{Trace: text, Options: map[string][]string{"bins": {"20"}, "p": {"0.05"}}}
	want := dataOf(t, c)
	shut := 0
	for _, p := range want.Parts {
		if p.Leaves > 1 && strings.Contains(p.Path, "m") {
			shut++
		}
	}
	if shut == 0 {
		t.Error("no machine is one box: the test says little")
	}
	defer func(n int) { *overview.MostSheets = n }(*overview.MostSheets)
	*overview.MostSheets = 0
	got := dataOf(t, c)
	if len(got.Parts) != len(want.Parts) {
		t.Fatalf("%d boxes, want %d", len(got.Parts), len(want.Parts))
	}
	for i, p := range got.Parts {
		w := want.Parts[i]
		if math.Abs(p.Loss-w.Loss) > 1e-12 || p.Path != w.Path || p.Begin != w.Begin || p.End != w.End ||
			fmt.Sprint(p.Values) != fmt.Sprint(w.Values) {
			t.Errorf("box %d: %+v, want %+v", i, p, w)
		}
	}
}

// TestRowsThatStandForManySayHowToSeeMore: where there are more locations than rows, the
// note names the options that show others.
func TestRowsThatStandForManySayHowToSeeMore(t *testing.T) {
	text, _ := unlike(rand.New(rand.NewPCG(3, 1)), 40, 20)
	c := viewtest.Case{Trace: text}
	notes := strings.Join(c.Compute(t, overview.View, c.Open(t)).Notes(), "\n")
	for _, want := range []string{"locations", "--locations", "--hierarchy"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not name %s: %s", want, notes)
		}
	}
}
