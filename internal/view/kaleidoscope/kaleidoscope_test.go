package kaleidoscope_test

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

func quicksort(tb testing.TB) store.Reader {
	m := storetest.NewMemory(all.Summaries...)
	d, _ := demo.Find("quicksort")
	if err := d.Write(context.Background(), d.Options, m); err != nil {
		tb.Fatal(err)
	}
	return m.Reader()
}

const calls = `
region main role=compute
region f role=compute
region g role=communication
location process p0 rank=0
  0..100 main
    10..40 f
      12..20 g
      22..30 g
    50..90 f
location process p1 rank=1
  5..95 main
`

var square = scene.Size{Width: 400, Height: 400}

func TestView(t *testing.T) {
	viewtest.Run(t, kaleidoscope.View,
		viewtest.Case{Name: "quicksort", Reader: quicksort, Size: square},
		viewtest.Case{Name: "by region", Reader: quicksort, Size: square, Options: map[string][]string{"paint": {"region"}}},
		viewtest.Case{Name: "by time", Reader: quicksort, Size: square, Options: map[string][]string{"paint": {"time"}, "paper": {"true"}}},
		viewtest.Case{Name: "condensed", Reader: quicksort, Size: square, Options: map[string][]string{"ring": {"50"}, "order": {"family"}, "paper": {"true"}}},
		viewtest.Case{Name: "calls", Trace: calls, Size: square},
	)
}

func data(t *testing.T, c viewtest.Case) kaleidoscope.Data {
	t.Helper()
	if c.Size == (scene.Size{}) {
		c.Size = square
	}
	return viewtest.Decoded[kaleidoscope.Data](t, c.Compute(t, kaleidoscope.View, c.Open(t)))
}

func TestQuickSortHasThePapersWeightsAndSectors(t *testing.T) {
	d := data(t, viewtest.Case{Reader: quicksort})
	var weights []int
	sector := map[int][2]float64{}
	for _, n := range d.Nodes {
		weights = append(weights, int(n.Weight))
		sector[int(n.Weight)] = [2]float64{n.Start, n.Alloc}
	}
	slices.Sort(weights)
	slices.Reverse(weights)
	want := []int{85, 78, 40, 17, 15, 13, 13, 10, 9, 6, 5, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3, 2, 1}
	if !slices.Equal(weights, want) || d.Height != 7 || d.C0 != 0 {
		t.Errorf("weights %v, height %d, c0 %d", weights, d.Height, d.C0)
	}
	for w, s := range map[int][2]float64{15: {0, 75}, 17: {75, 85}, 40: {160, 200}, 9: {160, 360.0 / 7}} {
		if got := sector[w]; math.Abs(got[0]-s[0]) > 1e-9 || math.Abs(got[1]-s[1]) > 1e-9 {
			t.Errorf("the call of weight %d has the sector %v, want %v", w, got, s)
		}
	}
}

func TestCallsHangBelowTheirCallerAndRootsBelowOne(t *testing.T) {
	d := data(t, viewtest.Case{Trace: calls})
	if len(d.Nodes) != 7 || d.Height != 4 || d.Nodes[0].Parent != nil {
		t.Fatalf("%d nodes on %d levels: %+v", len(d.Nodes), d.Height, d.Nodes)
	}
	region := map[int32]string{}
	for _, n := range d.Nodes {
		region[n.ID] = n.Region
		if n.Parent != nil {
			if want := map[string]string{"main": "", "f": "main", "g": "f"}[n.Region]; region[*n.Parent] != want {
				t.Errorf("%s hangs below %q, want %q", n.Region, region[*n.Parent], want)
			}
		}
	}
}

func TestASubtreeIsLaidOutOnItsOwn(t *testing.T) {
	whole := data(t, viewtest.Case{Reader: quicksort})
	for _, n := range whole.Nodes {
		if n.Weight == 40 { // E of the paper
			b, _ := json.Marshal(n.ID)
			d := data(t, viewtest.Case{Reader: quicksort, Options: map[string][]string{"root": {string(b)}}})
			if len(d.Nodes) != 12 || d.Height != 4 || d.Nodes[0].Weight != 28 || d.Nodes[0].Alloc != 360 {
				t.Errorf("the subtree has %d nodes on %d levels, its root weighs %v", len(d.Nodes), d.Height, d.Nodes[0].Weight)
			}
		}
	}
}

func fromDemo(name string) func(testing.TB) store.Reader {
	return func(tb testing.TB) store.Reader {
		m := storetest.NewMemory()
		d, ok := demo.Find(name)
		if !ok {
			tb.Fatal("no demo " + name)
		}
		if err := d.Write(context.Background(), d.Options, m); err != nil {
			tb.Fatal(err)
		}
		return m.Reader()
	}
}

// correlation of two columns.
func correlation(a, b []float64) float64 {
	mean := func(x []float64) (m float64) {
		for _, v := range x {
			m += v
		}
		return m / float64(len(x))
	}
	ma, mb := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// TestTimeReadsLateralOnOnePEAndRadialOnFive is the paper's reading of figures 17
// and 18: work in sequence colours sectors, work in parallel colours rings.
func TestTimeReadsLateralOnOnePEAndRadialOnFive(t *testing.T) {
	read := func(name string) (lateral, radial float64) {
		d := data(t, viewtest.Case{Reader: fromDemo(name), Options: map[string][]string{"all": {"true"}}})
		if d.Height != 56 || len(d.Nodes) != 2235 {
			t.Fatalf("%s: %d calls on %d levels", name, len(d.Nodes), d.Height)
		}
		var begin, angle, level []float64
		for _, n := range d.Nodes {
			begin, angle, level = append(begin, float64(n.Begin)), append(angle, n.Start+n.Alloc/2), append(level, float64(n.Level))
		}
		return math.Abs(correlation(begin, angle)), math.Abs(correlation(begin, level))
	}
	l1, r1 := read("pascal?locations=1")
	l5, r5 := read("pascal")
	if !(l1 > r1) || !(r5 > l5) || !(r5 > r1) {
		t.Errorf("1 PE: lateral %.2f radial %.2f; 5 PEs: lateral %.2f radial %.2f", l1, r1, l5, r5)
	}
}

func TestSemigroupIsCondensedAsInThePaper(t *testing.T) {
	d := data(t, viewtest.Case{Reader: fromDemo("semigroup"), Size: scene.Size{Width: 850, Height: 850}, Options: map[string][]string{"ring": {"4"}, "paper": {"true"}}})
	if d.Height != 174 || d.HMax != 106 || d.C0 != 1 || d.Threshold != 38 {
		t.Errorf("height %d hmax %d c0 %d threshold %d", d.Height, d.HMax, d.C0, d.Threshold)
	}
}

// TestATaskHangsBelowItsMaker although the core that runs it is in the middle of
// another task's wait, and a goroutine is one node whatever states it went through.
func TestATaskHangsBelowItsMaker(t *testing.T) {
	for _, c := range []struct{ name, trace, want string }{
		{"tasks", `
region a category=task role=compute
region b category=task role=compute
region taskwait role=synchronization
location core c0
  0..100 a
    20..90 taskwait
      30..50 b
location core c1
  10..80 a
link spawn 5 c0 -> 10 c1 from=a@0 to=a@10
link spawn 20 c1 -> 30 c0 from=a@10 to=b@30
`, "a(a(b))"},
		{"goroutines", `
region main category=goroutine role=compute
region worker category=goroutine role=compute
region running category=state role=compute
location goroutine g1
  0..100 main
    0..60 running
location goroutine g2
  10..50 worker
    20..50 running
location processor p0
  0..50 main
link spawn 5 g1 -> 10 g2 from=running@0 to=worker@10
`, "main(worker)"},
	} {
		d := data(t, viewtest.Case{Trace: c.trace})
		children, name, top := map[int32][]int32{}, map[int32]string{}, int32(-1)
		for _, n := range d.Nodes {
			name[n.ID] = n.Region
			if n.Parent == nil {
				top = n.ID
			} else {
				children[*n.Parent] = append(children[*n.Parent], n.ID)
			}
		}
		var text func(id int32) string
		text = func(id int32) string {
			s := name[id]
			for i, k := range children[id] {
				s += map[bool]string{true: "(", false: " "}[i == 0] + text(k)
				if i == len(children[id])-1 {
					s += ")"
				}
			}
			return s
		}
		if got := text(top); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTwoRunsStandSideBySide(t *testing.T) {
	values, err := view.NewValues(kaleidoscope.View, map[string][]string{"paint": {"region"}})
	if err != nil {
		t.Fatal(err)
	}
	one, five := fromDemo("pascal?locations=1")(t), fromDemo("pascal")(t)
	size := scene.Size{Width: 800, Height: 400}
	q := &view.Request{Runs: []view.Run{{Name: "one PE", Store: one}, {Name: "five", Store: five}}, Selection: trace.Selection{End: one.Info().End}, Values: values, Size: size}
	r, err := kaleidoscope.View.Compute(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	s := r.Scene(size)
	var names []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if text, ok := m.(*scene.Text); ok {
				names = append(names, text.Text...)
			}
		}
	}
	if !slices.Equal(names, []string{"one PE", "five"}) {
		t.Errorf("names %v", names)
	}
	d := r.Data().(kaleidoscope.PairData)
	if d.Height != 56 || d.With.Height != 56 || d.Calls != 2235 || d.With.Calls != 2235 {
		t.Errorf("%d calls on %d levels beside %d on %d", d.Calls, d.Height, d.With.Calls, d.With.Height)
	}
	left, okLeft, _ := view.PickAt(r, s, 200, 218)
	right, okRight, _ := view.PickAt(r, s, 600, 218)
	if !okLeft || !okRight || left.Title == "" || right.Title == "" || len(left.Regions) == 0 || len(right.Regions) != 0 {
		t.Errorf("in the middles are %+v and %+v", left, right)
	}
}
