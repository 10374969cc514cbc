package phase

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// shape writes phases as "name: unit begin..end …".
func shape(p *Phases) string {
	var b strings.Builder
	for k := range p.List {
		fmt.Fprintf(&b, "%s:", p.List[k].Name)
		for u := range p.Units {
			if s := p.Span(u, k); !s.Absent() {
				fmt.Fprintf(&b, " %d %d..%d", u, s.Begin, s.End)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestPhasesFromIntervals(t *testing.T) {
	for _, c := range []struct {
		name string
		list []Occurrence
		want string
	}{
		{"the k-th of each unit belong together", []Occurrence{{0, 0, 10, "iteration"}, {0, 10, 20, "iteration"}, {1, 2, 15, "iteration"}, {1, 15, 30, "iteration"}},
			"iteration 1: 0 0..10 1 2..15\niteration 2: 0 10..20 1 15..30\n"},
		{"inner ones are left out", []Occurrence{{0, 0, 10, "iteration"}, {0, 2, 4, "iteration"}, {1, 0, 10, "iteration"}}, "iteration 1: 0 0..10 1 0..10\n"},
		{"a unit with fewer joins the nearest", []Occurrence{{0, 0, 10, "iteration"}, {0, 10, 20, "iteration"}, {0, 20, 30, "iteration"}, {1, 11, 21, "iteration"}, {1, 21, 31, "iteration"}},
			"iteration 1: 0 0..10\niteration 2: 0 10..20 1 11..21\niteration 3: 0 20..30 1 21..31\n"},
		{"names that number phases win over order", []Occurrence{{0, 0, 10, "step#1"}, {0, 10, 20, "step#2"}, {1, 12, 22, "step#2"}, {1, 22, 30, "step#3"}},
			"step#1: 0 0..10\nstep#2: 0 10..20 1 12..22\nstep#3: 1 22..30\n"},
	} {
		p := FromOccurrences(c.list, 2, "iteration")
		if got := shape(p); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

func TestFindGivesThePhaseAtATime(t *testing.T) {
	p := &Phases{Units: 1, List: make([]Phase, 4), Spans: []Span{{0, 10}, {20, 30}, absent, {40, 50}}}
	for at, want := range map[trace.Time]int{-1: -1, 0: 0, 9: 0, 10: -1, 19: -1, 20: 1, 29: 1, 35: -1, 40: 3, 49: 3, 50: -1} {
		if got := p.Find(0, at); got != want {
			t.Errorf("at %d it is %d, want %d", at, got, want)
		}
	}
	s := Slices(0, 100, 4, 3)
	for at, want := range map[trace.Time]int{0: 0, 24: 0, 25: 1, 99: 3, 100: -1} {
		if got := s.Find(2, at); got != want {
			t.Errorf("slice at %d is %d, want %d", at, got, want)
		}
	}
}

func TestMergeKeepsAllTimeAndCountsThePhases(t *testing.T) {
	p := FromOccurrences([]Occurrence{{0, 0, 10, "it"}, {0, 10, 20, "it"}, {0, 20, 30, "it"}, {0, 30, 40, "it"}, {0, 40, 50, "it"}}, 1, "it").Merge(2)
	if got, want := shape(p), "it 1–3: 0 0..30\nit 4–5: 0 30..50\n"; got != want || p.Count != 5 || p.Step != 3 {
		t.Errorf("%s (%d by %d), want %s", got, p.Count, p.Step, want)
	}
}

func TestChooseFindsStepsAndLoops(t *testing.T) {
	regions := []trace.Region{
		{Name: "ProfilerStep#7", Role: trace.RoleAnnotation}, {Name: "ProfilerStep#8", Role: trace.RoleAnnotation},
		{Name: "main", Role: trace.RoleCompute}, {Name: "iteration", Role: trace.RoleCompute}, {Name: "tile", Role: trace.RoleCompute},
		{Name: "MPI_Allreduce", Role: trace.RoleCommunication}, {Name: "epoch 1", Role: trace.RoleAnnotation}, {Name: "epoch 2", Role: trace.RoleAnnotation},
		{Name: "cycle 8", Role: trace.RoleCompute}, {Name: "cycle 9", Role: trace.RoleCompute}, {Name: "cycle 10", Role: trace.RoleCompute},
		{Name: "func1", Role: trace.RoleCompute}, {Name: "func7", Role: trace.RoleCompute}, {Name: "func9", Role: trace.RoleCompute},
	}
	loop := []Use{{0, 2, 1, 100}, {1, 2, 1, 100}, {0, 3, 5, 90}, {1, 3, 5, 95}, {0, 4, 50, 60}, {1, 4, 70, 60}, {0, 5, 5, 95}, {1, 5, 5, 95}}
	for _, c := range []struct {
		name string
		uses []Use
		want string
	}{
		{"steps of the profiler", append([]Use{{0, 0, 1, 20}, {0, 1, 1, 20}}, loop...), "ProfilerStep#"},
		{"the outermost loop, which all enter equally often", loop, "iteration"},
		{"ranges with numbers", append([]Use{{0, 6, 1, 45}, {0, 7, 1, 50}, {1, 6, 1, 45}, {1, 7, 1, 50}}, loop...), "epoch "},
		{"functions numbered one after another", append([]Use{{0, 8, 1, 30}, {0, 9, 1, 30}, {0, 10, 1, 35}}, loop...), "cycle "},
		{"not functions with any number", append([]Use{{0, 11, 1, 30}, {0, 12, 1, 30}, {0, 13, 1, 35}}, loop...), "iteration"},
		{"nothing", loop[:2], ""},
		{"not what covers little", []Use{{0, 3, 5, 10}, {1, 3, 5, 10}}, ""},
		{"not what one alone does", []Use{{0, 3, 5, 100}, {1, 3, 1, 100}}, ""},
	} {
		got := ""
		if m := Choose(c.uses, regions, 2, 100); m != nil {
			got = m.By
		}
		if got != c.want {
			t.Errorf("%s: by %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMethodsOfPhasesAreParsed(t *testing.T) {
	for text, want := range map[string]How{"": {Auto: true}, "auto": {Auto: true}, "slices": {Slices: DefaultSlices}, "slices:7": {Slices: 7}, "slicesofbread": {}, "iteration": {}} {
		if got, err := ParseHow(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"slices:", "slices:0", "slices:x", "slices:999999999"} {
		if _, err := ParseHow(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// The counter is held against adding up nanosecond by nanosecond.
func TestCounterAddsUpWhatIsInnermost(t *testing.T) {
	regions := []trace.Region{{Role: trace.RoleCompute}, {Role: trace.RoleCommunication}, {Role: trace.RoleAnnotation}, {Role: trace.RoleIdle}}
	cols := trace.Columns{ // annotation 0..40 { compute 5..20 { comm 8..12 }, annotation 22..30 }, idle 45..60
		Begin: []trace.Time{0, 5, 8, 22, 45}, Duration: []trace.Time{40, 15, 4, 8, 15}, Region: []trace.RegionID{2, 0, 1, 2, 3}, Parent: []int32{-1, 0, 1, 0, -1},
	}
	innermost := func(t trace.Time) State {
		switch {
		case t >= 8 && t < 12:
			return Waiting
		case t >= 5 && t < 20:
			return Busy
		case t >= 45 && t < 60:
			return Idle
		}
		return Other
	}
	p := &Phases{Units: 1, List: make([]Phase, 3), Spans: []Span{{3, 10}, {10, 19}, {40, 55}}}
	c := &Counter{Phases: p, Table: NewTable(1, 3), Regions: regions, End: 60, Row: []int32{0}, Unit: []int32{0}}
	c.Add(&cols)
	c.Close()
	for k := range p.List {
		var want [4]trace.Time
		for x := p.Span(0, k).Begin; x < p.Span(0, k).End; x++ {
			want[innermost(x)]++
		}
		if b, w, i := c.Table.Busy[k], c.Table.Waiting[k], c.Table.Idle[k]; b != want[Busy] || w != want[Waiting] || i != want[Idle] {
			t.Errorf("phase %d: busy %d, waiting %d, idle %d, want %v", k, b, w, i, want)
		}
	}
}

// spans is a run of two services.
type spans struct{ store.Reader }

func (spans) Regions() []trace.Region {
	return []trace.Region{{Name: "GET /"}, {Name: "query"}, {Name: "PUT /"}}
}
func (spans) Locations() *store.Tree            { return &store.Tree{Name: []string{"shop", "stock"}} }
func (spans) Count(store.Window) (int64, error) { return 5, nil }
func (spans) Intervals(_ context.Context, _ store.Window, f func(*trace.Columns) error) error {
	_ = f(&trace.Columns{Location: 0, Begin: []trace.Time{0, 2, 30, 50}, Duration: []trace.Time{20, 5, 10, 30}, Region: []trace.RegionID{0, 2, 2, 0}, Parent: []int32{-1, 0, -1, -1}})
	return f(&trace.Columns{Location: 1, Begin: []trace.Time{3, 60}, Duration: []trace.Time{4, 5}, Region: []trace.RegionID{1, 2}, Parent: []int32{-1, -1}})
}

func TestRequestsAreOutermostSpansWithoutACaller(t *testing.T) {
	m := Roots([]bool{false, true, false})
	s, _ := NewSource(t.Context(), spans{}, store.Window{End: 100}, []trace.LocationID{0, 1}, 2, []int32{0, 1})
	p, notes, err := s.Cut(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "request 1: GET /: 0 0..20 1 0..20\nrequest 2: PUT /: 0 30..40 1 30..40\nrequest 3: GET /: 0 50..80 1 50..80\n"
	if got := shape(p); got != want || len(notes) != 1 {
		t.Errorf("%s%q\nwant\n%s", got, notes, want)
	}
}

func TestAUnitWithoutMarksTakesPartInThePhasesOfTheOthers(t *testing.T) {
	p := FromOccurrences([]Occurrence{{0, 0, 50, "step"}, {0, 50, 100, "step"}, {1, 10, 60, "step"}, {1, 60, 110, "step"}}, 3, "step")
	if a, b := p.Span(2, 0), p.Span(2, 1); a != (Span{0, 50}) || b != (Span{50, 110}) {
		t.Errorf("spans %v and %v", a, b)
	}
	if got := p.Find(2, 55); got != 1 {
		t.Errorf("phase %d at 55, want 1", got)
	}
}
