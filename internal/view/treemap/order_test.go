package treemap

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
)

// TestStripsAreInOrderAndFillTheArea for random sizes: areas are shares, boxes lie in
// reading order and do not overlap.
func TestStripsAreInOrderAndFillTheArea(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		n := 1 + r.IntN(40)
		sizes, counts := make([]float64, n), make([]float64, n)
		total := 0.0
		for i := range sizes {
			sizes[i], counts[i] = float64(r.IntN(20)), float64(1+r.IntN(3))
			total += sizes[i]
		}
		area := box{3, 4, 50 + 500*r.Float64(), 50 + 500*r.Float64()}
		last := box{x: -1, y: -1}
		for i, b := range layStrips(sizes, counts, area) {
			if total == 0 || sizes[i] == 0 {
				if b.w*b.h != 0 {
					t.Fatalf("size 0 has the box %v", b)
				}
				continue
			}
			if want := area.w * area.h * sizes[i] / total; math.Abs(b.w*b.h-want) > 1e-6*want {
				t.Fatalf("area %v, want %v", b.w*b.h, want)
			}
			if b.x < 3-1e-9 || b.y < 4-1e-9 || b.x+b.w > area.x+area.w+1e-6 || b.y+b.h > area.y+area.h+1e-6 {
				t.Fatalf("%v lies outside %v", b, area)
			}
			if b.y < last.y-1e-9 || math.Abs(b.y-last.y) < 1e-9 && b.x < last.x+last.w-1e-6 {
				t.Fatalf("%v comes before %v", b, last)
			}
			last = b
		}
	}
}

func TestEqualBoxesLeaveNoThinRow(t *testing.T) {
	for n := 1; n < 200; n++ {
		sizes := slices.Repeat([]float64{1}, n)
		for i, b := range layStrips(sizes, sizes, box{0, 0, 640, 400}) {
			if ratio := max(b.w/b.h, b.h/b.w); ratio > 3.3 {
				t.Errorf("%d equal boxes: number %d is %.0f × %.0f", n, i, b.w, b.h)
				break
			}
		}
	}
}

// noisy writes machines of equal processes with noise, so that who is largest changes
// with every window.
func noisy() string {
	r := rand.New(rand.NewPCG(13, 14))
	var b strings.Builder
	b.WriteString("region run role=compute\nregion io role=io\nregion wait role=synchronization\n")
	for m := range 7 {
		fmt.Fprintf(&b, "location machine m%d\n", m)
		for p := range 5 {
			fmt.Fprintf(&b, "  location process p%d rank=%d\n", p, 5*m+p)
			for s := range 20 {
				x := 30 + r.IntN(20)
				fmt.Fprintf(&b, "    %d..%d %s\n    %d..%d wait\n", 100*s, 100*s+x, []string{"run", "io"}[s%2], 100*s+x,
					100*s+95+r.IntN(5))
			}
		}
	}
	return b.String()
}

// TestPlacesAndStatesStayWhereTheyAreWhenTimeIsChosen: cells keep their rows and
// order, and states their order, whatever is largest in a window.
func TestPlacesAndStatesStayWhereTheyAreWhenTimeIsChosen(t *testing.T) {
	var order, rows, states string
	for _, window := range [][2]string{{"0", "2000"}, {"0", "100"}, {"100", "200"}, {"500", "1300"}, {"930", "1100"}} {
		c := viewtest.Case{Trace: noisy(), Options: map[string][]string{"p": {"0"}},
			Spec: view.Spec{From: window[0], To: window[1]}}
		res := c.Compute(t, View, c.Open(t)).(*result)
		d := &drawing{result: res}
		d.scene(scene.Size{Width: 900, Height: 600})
		var nodes, lines []string
		var line []string
		y := math.Inf(-1)
		for _, cell := range d.cells {
			nodes = append(nodes, fmt.Sprint(cell.node))
			if cell.look == group && cell.node != 0 { // machines
				if cell.at.y != y {
					lines, line, y = append(lines, strings.Join(line, " ")), nil, cell.at.y
				}
				line = append(line, fmt.Sprint(cell.node))
			}
		}
		lines = append(lines, strings.Join(line, " "))
		var names []string
		for _, v := range res.variables {
			names = append(names, v.Name)
		}
		a, b, s := strings.Join(nodes, " "), strings.Join(lines, " / "), strings.Join(names, " ")
		if order == "" {
			order, rows, states = a, b, s
		}
		if a != order || b != rows {
			t.Errorf("%s to %s: places moved: %s, want %s", window[0], window[1], b, rows)
		}
		if want := strings.Fields(states); !subsequence(strings.Fields(s), want) {
			t.Errorf("%s to %s: states are %s, want the order of %s", window[0], window[1], s, states)
		}
	}
	if states != "run io wait" {
		t.Errorf("states are %s: work comes first, in the order of the run", states)
	}
}

func subsequence(a, b []string) bool {
	for _, x := range b {
		if len(a) > 0 && a[0] == x {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// TestNamesAreNotCrossed: every name lies in one strip of its cell, or on a plate.
func TestNamesAreNotCrossed(t *testing.T) {
	for _, p := range []string{"0", "0.1", "0.5"} {
		c := viewtest.Case{Trace: noisy(), Options: map[string][]string{"p": {p}}}
		res := c.Compute(t, View, c.Open(t)).(*result)
		s := res.Scene(scene.Size{Width: 1200, Height: 700})
		var fills, plates *scene.Rect
		var names *scene.Text
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				switch m := m.(type) {
				case *scene.Rect:
					if l.Name == "cells" && fills == nil {
						fills = m
					}
					if l.Name == "names" {
						plates = m
					}
				case *scene.Text:
					if l.Name == "names" && !m.Bold {
						names = m
					}
				}
			}
		}
		inside := func(r *scene.Rect, x, top, bottom float32) bool {
			for i := range r.Len() {
				if x > r.X[i] && x < r.X[i]+r.W[i] && top >= r.Y[i]-0.6 && bottom <= r.Y[i]+r.H[i]+0.6 {
					return true
				}
			}
			return false
		}
		if names.Len() == 0 {
			t.Fatalf("p = %s: no names", p)
		}
		for i := range names.Len() {
			x, top, bottom := names.X[i]+1, names.Y[i]-9, names.Y[i]+2
			if !inside(fills, x, top, bottom) && !inside(plates, x, top, bottom) {
				t.Errorf("p = %s: %q at %v, %v lies across strips", p, names.Text[i], names.X[i], names.Y[i])
			}
		}
	}
}

// TestStatesAndInstantsInOneCell: both are counted and drawn, and both can keep a
// group open.
func TestStatesAndInstantsInOneCell(t *testing.T) {
	text := "region run role=compute\nlocation machine m0\n"
	for p := range 4 {
		text += fmt.Sprintf("  location process p%d rank=%d\n    0..100 run\n", p, p)
		for k := range 1 + 8*(p/3) { // the last one steals far more
			text += fmt.Sprintf("    %d ! STEAL\n", 10*k)
		}
	}
	text += "location machine m1\n  location process p0 rank=4\n    0..100 run\n    5 ! STEAL\n"
	c := viewtest.Case{Trace: text, Options: map[string][]string{"values": {"regions+instants:STEAL"}, "p": {"0.1"}}}
	res := c.Compute(t, View, c.Open(t)).(*result)
	d := res.Data().(Data)
	if got := strings.Join(d.Variables, " "); got != "run STEAL" {
		t.Fatalf("variables %s", got)
	}
	if len(d.Parts) != 5 || d.Parts[3].Values["STEAL"] != 9 || d.Parts[3].Values["run"] != 100 ||
		d.Parts[0].Values["STEAL"] != 1 {
		t.Errorf("parts %+v", d.Parts)
	}
	s := res.Scene(scene.Size{Width: 640, Height: 400})
	var dials *scene.Rect
	for _, l := range s.Layers {
		if l.Name == "cells" {
			dials = l.Marks[1].(*scene.Rect)
		}
	}
	if dials.Len() != 10 { // a ground and a bar each
		t.Fatalf("%d marks of instants, want 10", dials.Len())
	}
	if few, many := dials.H[1]/dials.H[0], dials.H[7]/dials.H[6]; math.Abs(float64(9*few-many)) > 1e-3 {
		t.Errorf("bars of 1 and 9 instants are %v and %v high", few, many)
	}
	f, ok, _ := view.PickAt(res, s, float64(dials.X[6])+20, float64(dials.Y[6])+60)
	if !ok || !strings.Contains(fmt.Sprint(f.Lines), "9 instants") {
		t.Errorf("facts %v", f)
	}
}

// TestTheNumberOfCutsIsNoted: N(T) of Figure 2 is 9, and a further process on a machine
// changes nothing (E17, E18).
func TestTheNumberOfCutsIsNoted(t *testing.T) {
	fig2 := func(more int) string {
		var b strings.Builder
		b.WriteString("region run role=compute\nlocation cluster c\n")
		for m := range 3 {
			fmt.Fprintf(&b, "  location machine m%d\n", m)
			for p := range 3 + more*(m/2) {
				fmt.Fprintf(&b, "    location process p%d\n      0..%d run\n", p, 50+10*p+m)
			}
		}
		return b.String()
	}
	for _, more := range []int{0, 1, 5} {
		c := viewtest.Case{Trace: fig2(more)}
		res := c.Compute(t, View, c.Open(t)).(*result)
		if got := res.Data().(Data).Cuts; math.Abs(got-math.Log10(9)) > 1e-12 {
			t.Errorf("%d further processes: 10^%v cuts, want 9", more, got)
		}
		if s := res.Scene(scene.Size{Width: 640, Height: 400}); !strings.Contains(strings.Join(s.Notes, " "),
			"the best of 9 ways to cut") {
			t.Errorf("notes %q", s.Notes)
		}
	}
}

// TestASmallPlaceThatDiffersIsShownInLarge: a machine among ten thousand.
func TestASmallPlaceThatDiffersIsShownInLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString("region run role=compute\nregion wait role=idle\n")
	for s := range 100 {
		fmt.Fprintf(&b, "location site s%d\n", s)
		for m := range 10 {
			fmt.Fprintf(&b, "  location machine m%d\n", m)
			for p := range 9 {
				at := 30
				if s == 61 && m == 4 {
					at = 5 + 10*p
				}
				fmt.Fprintf(&b, "    location process p%d\n      0..%d run\n      %d..100 wait\n", p, at, at)
			}
		}
	}
	c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"p": {"0.1"}}}
	res := c.Compute(t, View, c.Open(t)).(*result)
	d := &drawing{result: res}
	s := d.scene(scene.Size{Width: 900, Height: 500})
	if len(d.insets) != 1 || res.hierarchy.Path(d.insets[0].node) != "s61/m4" {
		var got []string
		for _, n := range d.insets {
			got = append(got, res.hierarchy.Path(n.node))
		}
		t.Fatalf("insets of %q, want of s61/m4", got)
	}
	at := d.insets[0].to
	leaves := map[int32]bool{}
	for y := at.y + header + 2; y < at.y+at.h; y += 5 {
		for x := at.x + 3; x < at.x+at.w; x += 5 {
			if f, ok, _ := view.PickAt(res, s, x, y); ok && len(f.Locations) == 1 {
				leaves[int32(f.Locations[0])] = true
			}
		}
	}
	if len(leaves) < 9 {
		t.Errorf("%d of 9 processes are found in the inset", len(leaves))
	}
	if text := strings.Join(s.Notes, " "); strings.Contains(text, "too small") {
		t.Errorf("notes %q: nothing is hidden any more", text)
	}
}

// TestASiteOfOneClusterIsCalledAsTheSite (E28): the part of the cut is the cluster, since
// both are the same set.
func TestASiteOfOneClusterIsCalledAsTheSite(t *testing.T) {
	var b strings.Builder
	b.WriteString("region run role=compute\n")
	for s := range 3 {
		fmt.Fprintf(&b, "location site site%d\n  location cluster c%d\n", s, s)
		for p := range 4 {
			fmt.Fprintf(&b, "    location process p%d\n      0..%d run\n", p, 20+30*s)
		}
	}
	c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"p": {"0.05"}}}
	res := c.Compute(t, View, c.Open(t)).(*result)
	s := res.Scene(scene.Size{Width: 900, Height: 600})
	var names []string
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if text, ok := m.(*scene.Text); ok && !text.Bold {
				names = append(names, text.Text...)
			}
		}
	}
	all := strings.Join(names, " ")
	if len(res.cut.Parts) != 3 || !strings.Contains(all, "site0") || strings.Contains(all, "c0") {
		t.Errorf("%d parts called %q", len(res.cut.Parts), names)
	}
}

// Members that are alike are no warning, though the only cell hides all that there is.
func TestAlikeMembersAreSafeToDrawAsOne(t *testing.T) {
	for _, c := range []struct {
		last int
		want string
	}{
		{104, "safe: in no cell that is drawn as one members deviate by more than 1.7 % from their mean"},
		{140, "1 cell hides more than 1 %"},
	} {
		text := "region run role=compute\nlocation machine A\n"
		for p, v := range []int{100, 100, 100, c.last} {
			text += fmt.Sprintf("  location process p%d\n    0..%d run\n", p, v)
		}
		cut := viewtest.Case{Trace: text, Options: map[string][]string{"group": {"machine"}}}
		if notes := strings.Join(cut.Compute(t, View, cut.Open(t)).(*result).Notes(), "; "); !strings.Contains(notes, c.want) {
			t.Errorf("%d: notes %q, want %q", c.last, notes, c.want)
		}
	}
}

// TestMisleadingAggregatesHaveAWarning (E43): two machines of the same sum, one
// of equal processes and one of unlike ones, as in Figure 1.
func TestMisleadingAggregatesHaveAWarning(t *testing.T) {
	text := "region run role=compute\nlocation machine A\n"
	for p := range 4 {
		text += fmt.Sprintf("  location process p%d\n    0..50 run\n", p)
	}
	text += "location machine B\n"
	for p, v := range []int{5, 20, 75, 100} {
		text += fmt.Sprintf("  location process p%d\n    0..%d run\n", p, v)
	}
	for group, want := range map[string]string{"machine": "1 cell hides more than 1 %",
		"optimal": "safe: no cell that is drawn as one"} {
		c := viewtest.Case{Trace: text, Options: map[string][]string{"p": {"0.1"}, "group": {group}}}
		res := c.Compute(t, View, c.Open(t)).(*result)
		s := res.Scene(scene.Size{Width: 640, Height: 400})
		if notes := strings.Join(res.Notes(), "; "); !strings.Contains(notes, want) {
			t.Errorf("%s: notes %q", group, notes)
		}
		warned := 0
		for _, l := range s.Layers {
			for _, m := range l.Marks {
				if p, ok := m.(*scene.Polygon); ok {
					for _, fill := range p.Fill {
						if fill == scene.UIWarning {
							warned++
						}
					}
				}
			}
		}
		if (warned == 1) != (group == "machine") {
			t.Errorf("%s: %d warnings", group, warned)
		}
	}
}

// Cells that differ by a pixel in width are all named, or none is: a number needs little room.
func TestSmallCellsOfOneKindAreAllNamed(t *testing.T) {
	viewtest.Shared(t, "data", "otf2-hpl32")
	run := viewtest.Import(t, "data", "otf2-hpl32")
	c := viewtest.Case{Size: scene.Size{Width: 256, Height: 160}}
	s := c.Compute(t, View, run).Scene(c.Size)
	named := map[string]bool{}
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Text); ok {
				for _, name := range x.Text {
					named[strings.TrimPrefix(name, "P#")] = true
				}
			}
		}
	}
	for i := range 32 {
		if !named[fmt.Sprint(i)] {
			t.Errorf("P#%d has no name among %v", i, named)
		}
	}
}

// TestFramesAreWiderWhereMoreIsHidden: of two machines whose processes differ, the one that
// hides more has the wider frame, and the legend says so.
func TestFramesAreWiderWhereMoreIsHidden(t *testing.T) {
	text := "region run role=compute\n"
	for m, values := range [][]int{{50, 50, 50}, {35, 50, 65}, {1, 20, 129}} {
		text += fmt.Sprintf("location machine m%d\n", m)
		for p, v := range values {
			text += fmt.Sprintf("  location process p%d\n    0..%d run\n", p, v)
		}
	}
	c := viewtest.Case{Trace: text, Options: map[string][]string{"group": {"machine"}}}
	s := c.Compute(t, View, c.Open(t)).(*result).Scene(scene.Size{Width: 640, Height: 400})
	var widths []float32 // of the bars at the top of frames
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if r, ok := m.(*scene.Rect); ok {
				for i, fill := range r.Fill {
					if fill == scene.UIWarning && r.W[i] > r.H[i] {
						widths = append(widths, r.H[i])
					}
				}
			}
		}
	}
	if len(widths) != 4 || widths[0] < 2.5 || widths[2] < widths[0]+4 {
		t.Errorf("frames are %v px wide", widths)
	}
	legend := fmt.Sprint(s.Legend)
	if !strings.Contains(legend, "frame: hides > 1 %, wider is more") {
		t.Errorf("legend %s", legend)
	}
}

// Locations of one picture are all called by their numbers, or none: where one has no room for more.
func TestLocationsAreCalledAlike(t *testing.T) {
	var b strings.Builder
	b.WriteString("region run role=compute\nregion steal role=synchronization\n")
	for rank := range 36 {
		if rank%6 == 0 {
			fmt.Fprintf(&b, "location machine m%d\n", rank/6)
		}
		busy := 10 + rank*37%80
		fmt.Fprintf(&b, "  location process rank-%d rank=%d\n    0..%d run\n    %d..%d steal\n", rank, rank, busy, busy, 100+rank/6*90)
	}
	seen := map[bool]bool{}
	for _, width := range []int{320, 420, 520, 720, 1440} {
		c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"p": {"0"}}}
		whole, short := 0, 0
		for _, l := range c.Compute(t, View, c.Open(t)).Scene(scene.Size{Width: width, Height: 400}).Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*scene.Text); ok && !x.Bold {
					for _, name := range x.Text {
						if strings.HasPrefix(name, "rank-") {
							whole++
						} else {
							short++
						}
					}
				}
			}
		}
		if whole > 0 && short > 0 || whole+short < 30 {
			t.Errorf("%d wide: %d are called rank-N, %d by a number alone", width, whole, short)
		}
		seen[whole > 0] = true
	}
	if len(seen) != 2 {
		t.Error("the widths do not have both")
	}
}

// Cells that hide much of little have the deviation of their members; then the others of the picture have it too.
func TestCellsStateTheSameQuantity(t *testing.T) {
	for differs, want := range map[int]string{0: "loss", 3: "deviation"} {
		var b strings.Builder
		b.WriteString("region run role=compute\nregion steal role=synchronization\n")
		for rank := range 12 {
			if rank%4 == 0 {
				fmt.Fprintf(&b, "location machine m%d\n", rank/4)
			}
			busy := 400 + rank/4*40
			if rank/4 == 1 {
				busy += rank % 2 * differs * 10
			}
			fmt.Fprintf(&b, "  location process p%d rank=%d\n    0..%d run\n    %d..1000 steal\n", rank, rank, busy, busy)
		}
		c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"group": {"machine"}}}
		var said []string
		for _, l := range c.Compute(t, View, c.Open(t)).Scene(scene.Size{Width: 900, Height: 600}).Layers {
			for _, m := range l.Marks {
				if x, ok := m.(*scene.Text); ok {
					for _, text := range x.Text {
						if _, after, ok := strings.Cut(text, "×4, "); ok {
							said = append(said, strings.Fields(after)[0])
						}
					}
				}
			}
		}
		if fmt.Sprint(said) != fmt.Sprint([]string{want, want, want}) {
			t.Errorf("members that differ by %d0 of 1,000: %v, want %s of all", differs, said, want)
		}
	}
}
