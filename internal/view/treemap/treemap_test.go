package treemap_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// Three machines of three processes over 100 ns. On m1 all are alike, on m2 one
// differs, m3 differs from the others as a whole.
const machines = `
region run role=compute
region steal role=synchronization
location machine m1
  location process p1 rank=0
    0..80 run
    80..100 steal
  location process p2 rank=1
    0..80 run
    80..100 steal
  location process p3 rank=2
    0..80 run
    80..100 steal
location machine m2
  location process p1 rank=3
    0..80 run
    80..100 steal
  location process p2 rank=4
    0..10 run
    10..100 steal
  location process p3 rank=5
    0..80 run
    80..100 steal
location machine m3
  location process p1 rank=6
    0..40 run
    40..100 steal
  location process p2 rank=7
    0..40 run
    40..100 steal
  location process p3 rank=8
    0..40 run
    40..100 steal
`

func TestView(t *testing.T) {
	viewtest.Run(t, treemap.View,
		viewtest.Case{Name: "optimal", Trace: machines},
		viewtest.Case{Name: "all detail", Trace: machines, Options: map[string][]string{"p": {"0"}}},
		viewtest.Case{Name: "one value", Trace: machines, Options: map[string][]string{"p": {"1"}, "paper": {"true"}}},
		viewtest.Case{Name: "machine level", Trace: machines,
			Options: map[string][]string{"group": {"machine"}, "values": {"roles"}}},
		viewtest.Case{Name: "window", Trace: machines,
			Spec: view.Spec{From: "50", To: "90", Locations: []string{"m2", "m3"}}},
	)
}

func data(t *testing.T, c viewtest.Case) treemap.Data {
	t.Helper()
	return viewtest.Decoded[treemap.Data](t, c.Compute(t, treemap.View, c.Open(t)))
}

func paths(d treemap.Data) string {
	var out []string
	for _, p := range d.Parts {
		out = append(out, p.Path)
	}
	return strings.Join(out, " ")
}

func TestAlikeLocationsAreDrawnAsOneAndOddOnesInFull(t *testing.T) {
	for p, want := range map[string]string{
		"0":   "m1/p1 m1/p2 m1/p3 m2/p1 m2/p2 m2/p3 m3/p1 m3/p2 m3/p3",
		"0.1": "m1 m2/p1 m2/p2 m2/p3 m3",
		"1":   "",
	} {
		d := data(t, viewtest.Case{Trace: machines, Options: map[string][]string{"p": {p}}})
		if got := paths(d); got != want {
			t.Errorf("p = %s: parts %q, want %q", p, got, want)
		}
		leaves := int32(0)
		for _, part := range d.Parts {
			leaves += part.Leaves
		}
		if leaves != 9 {
			t.Errorf("p = %s: the parts hold %d locations, want 9", p, leaves)
		}
	}
}

func TestTheGroupThatDiffersIsNamedFirst(t *testing.T) {
	d := data(t, viewtest.Case{Trace: machines})
	if len(d.Findings) == 0 || d.Findings[0].Path != "m2" ||
		!strings.Contains(d.Findings[0].Text, "machine m2: its 3 processes differ") {
		t.Errorf("findings %+v", d.Findings)
	}
	if d.Suggested <= 0 || d.Suggested >= 1 {
		t.Errorf("suggested p = %v", d.Suggested)
	}
	if len(d.Thresholds) == 0 || d.Thresholds[len(d.Thresholds)-1] >= 1 {
		t.Errorf("thresholds %v", d.Thresholds)
	}
}

// TestLossEqualsTheDefinitionOfDivergence computes the loss of a part by its definition.
func TestLossEqualsTheDefinitionOfDivergence(t *testing.T) {
	d := data(t, viewtest.Case{Trace: machines, Options: map[string][]string{"group": {"machine"}, "scale": {"paper"}}})
	loss := func(values ...float64) (sum float64) {
		total := 0.0
		for _, v := range values {
			total += v
		}
		for _, v := range values {
			sum += v * math.Log2(v/total*float64(len(values)))
		}
		return sum * 1e-9 // in seconds
	}
	want := loss(80, 10, 80) + loss(20, 90, 20)
	if got := d.Parts[1].Loss; math.Abs(got-want) > 1e-9*want {
		t.Errorf("loss of m2 %v, want %v", got, want)
	}
	if d.Parts[0].Loss != 0 || d.Parts[1].Values["run"] != 170 || d.Parts[1].Leaves != 3 {
		t.Errorf("parts %+v", d.Parts[:2])
	}
}

func TestALocationWithOthersBelowItCountsItself(t *testing.T) {
	const text = `
region run role=compute
location process p rank=0
  0..50 run
  location thread t1
    0..100 run
`
	d := data(t, viewtest.Case{Trace: text, Options: map[string][]string{"p": {"0"}}})
	if len(d.Parts) != 2 || d.Parts[0].Values["run"]+d.Parts[1].Values["run"] != 150 {
		t.Errorf("parts %+v", d.Parts)
	}
}

// TestTheCurvesAreTheCutsOfTheirP compares gain and loss along the slider with the
// cut that each p shows.
func TestTheCurvesAreTheCutsOfTheirP(t *testing.T) {
	whole := data(t, viewtest.Case{Trace: machines})
	if n := len(whole.Curve.P); n != 129 || whole.Curve.P[0] != 0 || whole.Curve.P[n-1] != 1 {
		t.Fatalf("%d steps from %v to %v", n, whole.Curve.P[0], whole.Curve.P[n-1])
	}
	for k := 0; k < len(whole.Curve.P)-1; k += 7 {
		d := data(t, viewtest.Case{Trace: machines, Options: map[string][]string{"p": {fmt.Sprint(whole.Curve.P[k])}}})
		if math.Abs(d.Gain-whole.Curve.Gain[k]) > 1e-9 || math.Abs(d.Loss-whole.Curve.Loss[k]) > 1e-9 {
			t.Errorf("p = %v: the curve says gain %v loss %v, the cut %v and %v", whole.Curve.P[k], whole.Curve.Gain[k],
				whole.Curve.Loss[k], d.Gain, d.Loss)
		}
	}
}

// TestEachRangeOfPHasOnePicture: they adjoin from 0 to 1, the picture in the middle of
// each is the one that it tells of, and so is the one beside its ends.
func TestEachRangeOfPHasOnePicture(t *testing.T) {
	for _, scale := range []string{"normalised", "paper"} {
		for _, gain := range []string{"values", "entropy"} {
			at := func(p string) treemap.Data {
				return data(t,
					viewtest.Case{Trace: machines,
						Options: map[string][]string{"p": {p}, "scale": {scale}, "gain": {gain}}})
			}
			list := at("auto").Stretches
			if len(list) < 2 || list[0].From != 0 || list[len(list)-1].To != 1 {
				t.Fatalf("%s, %s: %+v", scale, gain, list)
			}
			for k, s := range list {
				if k > 0 && (s.From != list[k-1].To || s.Parts >= list[k-1].Parts) {
					t.Errorf("%+v after %+v", s, list[k-1])
				}
				for _, share := range []float64{1e-3, 0.5, 1 - 1e-3} {
					d := at(fmt.Sprint(s.From + share*(s.To-s.From)))
					if len(d.Parts) != s.Parts || math.Abs(d.Gain-s.Gain) > 1e-9 || math.Abs(d.Loss-s.Loss) > 1e-9 {
						t.Errorf("%s, %s, p = %v: %d parts, gain %v, loss %v, the stretch says %+v", scale, gain, d.P,
							len(d.Parts), d.Gain, d.Loss, s)
					}
				}
			}
		}
	}
}

// TestTheFirstPIsChosenFromTheData and said, unless an option says another.
func TestTheFirstPIsChosenFromTheData(t *testing.T) {
	for _, c := range []struct {
		p, by, want string
	}{
		{"auto", "data", "p = 0.01, chosen: what differs by less than 79 % is drawn as one"},
		{"0.3", "option", ""},
	} {
		one := viewtest.Case{Trace: machines, Options: map[string][]string{"p": {c.p}}}
		d := data(t, one)
		if d.ChosenBy != c.by || d.First.P != 0.01 || (d.P == d.First.P) != (c.by == "data") {
			t.Errorf("--p %s: p = %v, chosen by %s, %+v", c.p, d.P, d.ChosenBy, d.First)
		}
		notes := strings.Join(one.Compute(t, treemap.View, one.Open(t)).Notes(), "; ")
		if strings.Contains(notes, "chosen") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("--p %s: notes %s", c.p, notes)
		}
	}
}

const stealing = `
region work role=compute
location machine m0
  location process p0 rank=0
    0..100s work
    10s ! STEAL
    20s ! STEAL
    90s ! done
    counter power unit=W
    0 power=10
    50s power=30
  location process p1 rank=1
    0..100s work
    30s ! STEAL
    counter power unit=W
    0 power=20
`

// Samples come in batches; the last of one holds until the first of the next.
func TestALongCounterAddsUpToWhatItsStepsDo(t *testing.T) {
	var b strings.Builder
	b.WriteString("location process p0 rank=0\n  0..100s work\n  counter load\n")
	want := 0.0
	for i := range 100 {
		fmt.Fprintf(&b, "  %ds load=%d\n", i, i%7)
		want += float64(i % 7)
	}
	d := data(t, viewtest.Case{Trace: b.String(), Options: map[string][]string{"values": {"counter:load"}, "p": {"0"}}})
	if got := d.Parts[0].Values["load"]; math.Abs(got-want) > 1e-9 {
		t.Errorf("the counter adds up to %v, want %v", got, want)
	}
}

func TestValuesMayBeCountsOfInstantsOrCounters(t *testing.T) {
	for _, c := range []struct {
		values   string
		variable string
		from, to string
		want     []float64 // of p0, p1
	}{
		{"instants", "STEAL", "", "", []float64{2, 1}},
		{"instants:done", "done", "", "", []float64{1, 0}},
		{"instants:STEAL", "STEAL", "15s", "100s", []float64{1, 1}},
		{"counter:power", "power", "", "", []float64{2000, 2000}},
		{"counter:power", "power", "40s", "60s", []float64{400, 400}},
		{"mean:power", "power", "50s", "100s", []float64{30, 20}},
	} {
		d := data(t,
			viewtest.Case{Trace: stealing, Spec: view.Spec{From: c.from, To: c.to},
				Options: map[string][]string{"values": {c.values}, "p": {"0"}, "group": {"process"}}})
		var got []float64
		for _, p := range d.Parts {
			got = append(got, p.Values[c.variable])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s from %s: %v, want %v", c.values, c.from, got, c.want)
		}
	}
	d := data(t,
		viewtest.Case{Trace: stealing, Options: map[string][]string{"values": {"mean:power"}, "group": {"machine"}}})
	if got := d.Parts[0].Values["power"]; got != 20 {
		t.Errorf("the mean of a machine is %v, want that of its processes, 20", got)
	}
}

// TestNotesNamePOnlyIfItHasAnEffect: where --group draws a level, p has no effect, and notes name
// what has.
func TestNotesNamePOnlyIfItHasAnEffect(t *testing.T) {
	for group, want := range map[string]string{"machine": "a deeper --group opens it",
		"optimal": "a smaller p opens it"} {
		c := viewtest.Case{Trace: machines,
			Options: map[string][]string{"group": {group}, "values": {"roles"}, "p": {"0.99"}}}
		r := c.Compute(t, treemap.View, c.Open(t))
		notes := strings.Join(append(r.Notes(), r.Scene(scene.Size{Width: 800, Height: 400}).Notes...), "\n")
		if !strings.Contains(notes, want) || strings.Contains(notes, "p = 0.99") != (group == "optimal") {
			t.Errorf("--group %s: want %q in\n%s", group, want, notes)
		}
	}
}

// A run of many regions is painted by roles, as other views paint them.
func TestRolesThatNobodyAskedForHaveTheirOwnColours(t *testing.T) {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "region r%d role=%s\n", i, []string{"compute", "communication", "io"}[i%3])
	}
	b.WriteString("location machine m\n")
	for p := range 2 {
		fmt.Fprintf(&b, "  location process p%d rank=%d\n", p, p)
		for i := range 12 {
			fmt.Fprintf(&b, "    %d..%d r%d\n", i*10, i*10+5+p, i)
		}
	}
	c := viewtest.Case{Trace: b.String()}
	s := c.Compute(t, treemap.View, c.Open(t)).Scene(scene.Size{Width: 400, Height: 300})
	got := map[string]scene.Colour{}
	for _, e := range s.Legend {
		got[e.Label] = e.Colour
	}
	for label, role := range map[string]trace.Role{
		"compute": trace.RoleCompute, "communication": trace.RoleCommunication, "io": trace.RoleIO,
	} {
		if c, ok := got[label]; !ok || c != scene.RoleColour(uint8(role)) {
			t.Errorf("%s has colour %d (%v), want %d", label, c, ok, scene.RoleColour(uint8(role)))
		}
	}
}
