package kaleidoscope_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// letters are the paper's names of Quick Sort's calls in the order of records.
const letters = "ABCFDEGJMHKUNIWOVPLQRST"

// TestCallsStillExpectedAreThoseOfFigure6: after record 15 of Quick Sort the calls
// (1,1), (2,1) and (2,3) expect 3, 1 and 1 calls, all others none.
func TestCallsStillExpectedAreThoseOfFigure6(t *testing.T) {
	d := data(t, viewtest.Case{Reader: quicksort, Options: map[string][]string{"until": {"140ms"}}})
	got := map[string]int32{}
	for _, n := range d.Nodes {
		if n.Expects > 0 {
			got[n.Location+" "+fmt.Sprint(n.Index)] = n.Expects
		}
	}
	if len(d.Nodes) != 15 || len(got) != 3 || got["PE 1 1"] != 3 || got["PE 2 1"] != 1 || got["PE 2 3"] != 1 {
		t.Errorf("of %d calls these expect more: %v", len(d.Nodes), got)
	}
	whole := data(t, viewtest.Case{Reader: quicksort})
	for _, n := range whole.Nodes {
		if n.Expects != 0 {
			t.Errorf("at the end %s expects %d calls", n.Region, n.Expects)
		}
	}
}

// TestCallsOfAClauseMakeAsManyCalls: the child count of a clause is that of its body.
func TestCallsOfAClauseMakeAsManyCalls(t *testing.T) {
	want := map[string]int32{"query": 1, "qsort/3": 3, "qsort/3 empty": 0, "split/4 empty": 0, "split/4 smaller": 1, "split/4 larger": 1}
	d := data(t, viewtest.Case{Reader: quicksort})
	calls := 0
	for _, c := range d.Children {
		if c.Least != want[c.Region] || c.Most != want[c.Region] || c.Total != int64(c.Calls)*int64(want[c.Region]) {
			t.Errorf("%+v, want %d calls each", c, want[c.Region])
		}
		calls += c.Calls
	}
	if calls != 23 || len(d.Children) != len(want) {
		t.Errorf("%d calls of %d clauses", calls, len(d.Children))
	}
}

// TestNodesHaveThePapersLabels: figure 8 labels D, the fifth record, with (q5, 3, 1).
func TestNodesHaveThePapersLabels(t *testing.T) {
	c := viewtest.Case{Reader: quicksort, Size: square}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	d := data(t, c)
	want := map[byte]string{'A': "(query 1, 0, 1)", 'B': "(qsort/3 2, 0, 2)", 'D': "(qsort/3 5, 3, 1)", 'E': "(qsort/3 6, 2, 1)", 'K': "(qsort/3 11, 1, 1)"}
	for letter, label := range want {
		n := d.Nodes[strings.IndexByte(letters, letter)]
		f, ok, _ := view.PickAt(r, s, 200+n.X, 200+n.Y)
		if got := line(f.Lines, "call"); !ok || got != label {
			t.Errorf("%c is %s, want %s", letter, got, label)
		}
	}
}

// line gives the value of a fact's line.
func line(lines []view.FactLine, label string) string {
	for _, l := range lines {
		if l.Label == label {
			return l.Value
		}
	}
	return ""
}

// TestThreePaintingsAreOneImage: by PE, time and procedure the same shapes lie at the same places; only colours differ,
// each of which is that of the call's PE, begin or procedure alone.
func TestThreePaintingsAreOneImage(t *testing.T) {
	type shapes struct {
		x, y [][]float32
		fill [][]scene.Colour
	}
	var first *shapes
	for _, paint := range []string{"location", "time", "region"} {
		c := viewtest.Case{Reader: quicksort, Size: square, Options: map[string][]string{"paint": {paint}, "paper": {"true"}}}
		r := c.Compute(t, kaleidoscope.View, c.Open(t))
		s := &shapes{}
		for _, l := range r.Scene(square).Layers {
			for _, m := range l.Marks {
				if p, ok := m.(*scene.Polygon); ok {
					s.x, s.y, s.fill = append(s.x, p.X), append(s.y, p.Y), append(s.fill, p.Fill)
				}
			}
		}
		if len(s.x) == 0 || len(slices.Concat(s.fill...)) < 4 {
			t.Fatalf("painted by %s: %d shapes", paint, len(slices.Concat(s.fill...)))
		}
		if first == nil {
			first = s
			continue
		}
		if !reflect.DeepEqual(s.x, first.x) || !reflect.DeepEqual(s.y, first.y) {
			t.Errorf("painted by %s the shapes are others", paint)
		}
		if reflect.DeepEqual(s.fill, first.fill) {
			t.Errorf("painted by %s the colours are those of another painting", paint)
		}
	}
}

// TestPaperDrawsTheSpokesOfSemigroup: with the pixel measured on a node's own circle
// 10,587 of 10,795 calls were hidden.
func TestPaperDrawsTheSpokesOfSemigroup(t *testing.T) {
	c := viewtest.Case{Reader: fromDemo("semigroup"), Size: scene.Size{Width: 850, Height: 850}, Options: map[string][]string{"ring": {"4"}, "paper": {"true"}}}
	d := data(t, c)
	if len(d.Nodes) < 10700 {
		t.Errorf("%d of %d calls are drawn", len(d.Nodes), d.Calls)
	}
}

// TestTheSpectrumIsTheUsualOne: figure 20 has the colours of the paper without being asked.
func TestTheSpectrumIsTheUsualOne(t *testing.T) {
	c := viewtest.Case{Reader: quicksort, Size: square, Options: map[string][]string{"paint": {"time"}}}
	s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
	if e := s.Legend[0]; e.Colour != scene.Ramp("spectrum", 0) || e.RampEnd != scene.Ramp("spectrum", 1) {
		t.Errorf("time runs from %v to %v", e.Colour, e.RampEnd)
	}
}

// fan is one call with leaves of its own regions.
func fan(leaves int) string {
	var b strings.Builder
	b.WriteString("region main role=compute\n")
	for i := range leaves {
		fmt.Fprintf(&b, "region leaf%d role=compute\n", i)
	}
	fmt.Fprintf(&b, "location process p0 rank=0\n  0..%d main\n", 10*leaves+10)
	for i := range leaves {
		fmt.Fprintf(&b, "    %d..%d leaf%d\n", 10*i+1, 10*i+8, i)
	}
	return b.String()
}

// colours of all marks that are filled or drawn.
func colours(s *scene.Scene) map[scene.Colour]int {
	out := map[scene.Colour]int{}
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			switch m := m.(type) {
			case *scene.Polygon:
				for _, c := range m.Fill {
					out[c]++
				}
			case *scene.Line:
				for _, c := range m.Stroke {
					out[c]++
				}
			case *scene.Point:
				for _, c := range m.Fill {
					out[c]++
				}
			}
		}
	}
	return out
}

// TestAFamilyDoesNotHideItsCalls: a fan of leaves was one shape in the colour of
// their caller.
func TestAFamilyDoesNotHideItsCalls(t *testing.T) {
	c := viewtest.Case{Trace: fan(12), Size: scene.Size{Width: 120, Height: 120}, Options: map[string][]string{"paint": {"region"}}}
	s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(c.Size)
	drawn := colours(s)
	if len(s.Legend) != 13 {
		t.Errorf("the legend has %d entries, want 13", len(s.Legend))
	}
	for _, e := range s.Legend {
		if drawn[e.Colour] == 0 {
			t.Errorf("%s is in the legend and not in the picture", e.Label)
		}
		delete(drawn, e.Colour)
	}
	if len(drawn) > 0 {
		t.Errorf("%d colours are not in the legend", len(drawn))
	}
}

func TestTheDescriptionCountsMarks(t *testing.T) {
	c := viewtest.Case{Reader: fromDemo("pascal"), Size: square}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	marks := 0
	for _, m := range s.Layers[0].Marks {
		marks += m.Len()
	}
	nodes := len(r.Data().(kaleidoscope.Data).Nodes)
	want := fmt.Sprintf("%s of them are drawn, in %s marks", thousands(nodes), thousands(marks))
	if !strings.Contains(s.Description, want) || marks == 0 {
		t.Errorf("%q does not say %q", s.Description, want)
	}
}

func thousands(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// TestManyRanksShareColoursWithTheirNeighbours: sixteen alike ranks were eleven and
// "5 others" in an ordinary hue.
func TestManyRanksShareColoursWithTheirNeighbours(t *testing.T) {
	var b strings.Builder
	b.WriteString("region main role=compute\nregion f role=compute\n")
	for rank := range 16 {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  0..100 main\n    10..20 f\n    30..40 f\n", rank, rank)
	}
	c := viewtest.Case{Trace: b.String(), Size: square}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	if len(s.Legend) != 8 || s.Legend[0].Label != "p0 … p1" {
		t.Errorf("the legend is %+v", s.Legend)
	}
	if !slices.Contains(r.Notes(), "16 processes share 8 colours, neighbours 2 to one") {
		t.Errorf("notes %q", r.Notes())
	}
}

// TestOnlyTheLargestLocationsHaveAHue: of many unlike locations the largest have a hue, the others none.
func TestOnlyTheLargestLocationsHaveAHue(t *testing.T) {
	var b strings.Builder
	b.WriteString("region main role=compute\nregion f role=compute\n")
	for p := range 20 {
		fmt.Fprintf(&b, "location thread t%d\n  0..1000 main\n", p)
		for i := range 60 / (p + 1) {
			fmt.Fprintf(&b, "    %d..%d f\n", 10*i+1, 10*i+3)
		}
	}
	c := viewtest.Case{Trace: b.String(), Size: square}
	s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
	last := s.Legend[len(s.Legend)-1]
	if len(s.Legend) != 13 || last.Label != "8 others" || last.Colour != scene.UIAggregate {
		t.Errorf("the legend ends with %+v of %d", last, len(s.Legend))
	}
	for _, e := range s.Legend[:12] {
		if e.Colour == last.Colour {
			t.Errorf("%s looks like the others", e.Label)
		}
	}
}

// TestGoroutinesArePaintedByTheirProcessor, the one that ran them longest.
func TestGoroutinesArePaintedByTheirProcessor(t *testing.T) {
	const text = `
region main category=goroutine role=compute
region worker category=goroutine role=compute
region running category=state role=compute
location goroutine "goroutine 1"
  0..100 main
    0..60 running
location goroutine "goroutine 2"
  10..90 worker
    20..90 running
location goroutine "goroutine 3"
  12..50 worker
location processor "P 0"
  0..60 main goroutine=1
  60..70 worker goroutine=2
location processor "P 1"
  20..60 worker goroutine=2
link spawn 5 "goroutine 1" -> 10 "goroutine 2" from=running@0 to=worker@10
link spawn 6 "goroutine 1" -> 12 "goroutine 3" from=running@0 to=worker@12
`
	c := viewtest.Case{Trace: text, Size: square, Options: map[string][]string{"paint": {"processor"}}}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	var labels []string
	for _, e := range s.Legend {
		labels = append(labels, e.Label)
	}
	if !slices.Equal(labels, []string{"P 0", "P 1", "no processor"}) {
		t.Errorf("the legend is %q", labels)
	}
	var ran []string
	table := r.Table()
	at := slices.IndexFunc(table.Columns, func(c view.Column) bool { return c.Name == "processor" })
	for _, row := range table.Rows {
		ran = append(ran, row[at].(string))
	}
	if !slices.Equal(ran, []string{"P 0", "P 1", "goroutine 3"}) {
		t.Errorf("they were run by %q", ran)
	}
}

// TestASubtreeRecyclesTheSpectrum: its colours begin anew with its root.
func TestASubtreeRecyclesTheSpectrum(t *testing.T) {
	c := viewtest.Case{Reader: quicksort, Size: square, Options: map[string][]string{"paint": {"time"}, "root": {"5"}}}
	s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
	if e := s.Legend[0]; e.RampLow != "50.0 ms" || e.RampHigh != "220 ms" {
		t.Errorf("the subtree's spectrum runs from %s to %s", e.RampLow, e.RampHigh)
	}
	if drawn := colours(s); drawn[scene.Ramp("spectrum", 0)] == 0 || drawn[scene.Ramp("spectrum", 1)] == 0 {
		t.Error("its first and last calls have not the ends of the spectrum")
	}
}

// TestSemigroupIsSpreadEvenlyWithFewSwitches: the reading of figure 19.
func TestSemigroupIsSpreadEvenlyWithFewSwitches(t *testing.T) {
	d := data(t, viewtest.Case{Reader: fromDemo("semigroup"), Options: map[string][]string{"all": {"true"}}})
	at, load, switches := map[int32]string{}, map[string]int{}, 0
	for _, n := range d.Nodes {
		at[n.ID] = n.Location
		load[n.Location]++
		if n.Parent != nil && at[*n.Parent] != n.Location {
			switches++
		}
	}
	for pe, calls := range load {
		if calls < 15419/5*9/10 || calls > 15419/5*11/10 {
			t.Errorf("%s ran %d calls", pe, calls)
		}
	}
	if len(load) != 5 || switches > 15419/50 {
		t.Errorf("%d PEs, %d calls on another PE than their caller", len(load), switches)
	}
}

func TestTheSourceIsNamedWithItsLineWhereThereIsOne(t *testing.T) {
	for file, want := range map[string]string{"file=hpl.c line=12": "hpl.c:12", "file=HPL": "HPL"} {
		c := viewtest.Case{Trace: "region main role=compute " + file + "\nlocation process p0 rank=0\n  0..100 main\n", Size: square}
		r := c.Compute(t, kaleidoscope.View, c.Open(t))
		s := r.Scene(square)
		f, ok, _ := view.PickAt(r, s, 200, 200)
		if got := line(f.Lines, "source"); !ok || got != want {
			t.Errorf("%s: the source is %q, want %q", file, got, want)
		}
	}
}
