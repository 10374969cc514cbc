package kaleidoscope_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

var wide = scene.Size{Width: 500, Height: 400}

// TestAZoomedPictureIsNeverBlank: on the ring of a call that is zoomed to, each place in its sector has a colour, and the
// pointer finds a call or a sector of calls there.
func TestAZoomedPictureIsNeverBlank(t *testing.T) {
	open := stencil(t, 40_000)
	nodes := treeOf(t, open(t))
	for k := 1; k < len(nodes); k += len(nodes) / 5 {
		at := zoomed(fmt.Sprintf("#%d", nodes[k].ID))
		c := viewtest.Case{Reader: open, Size: wide, Options: at}
		r := c.Compute(t, kaleidoscope.View, open(t))
		s := r.Scene(wide)
		for y := 185; y <= 215; y += 5 { // a call that a zoom names is 40 pixels wide
			colour, inside := topmost(s, 250, float32(y))
			f, ok, err := view.PickAt(r, s, 250, float64(y))
			if err != nil || !ok || f.Title == "" || inside && colour == scene.None {
				t.Fatalf("call %d: at 250, %d colour %d and %+v, %v", nodes[k].ID, y, colour, f, err)
			}
		}
	}
}

// TestAPlaceWithoutCallsSaysSo: a picture that is zoomed to a place where the tree has ended is not empty.
func TestAPlaceWithoutCallsSaysSo(t *testing.T) {
	open := stencil(t, 40_000)
	profile := func(t testing.TB) store.Reader {
		data, err := os.ReadFile("../../importer/jfr/testdata/work.jfr.gz")
		if err != nil {
			t.Fatal(err)
		}
		return viewtest.ImportBytes(t, "work.jfr.gz", data)
	}
	for name, read := range map[string]func(testing.TB) store.Reader{"calls": open, "call paths": profile} {
		c := viewtest.Case{Reader: read, Size: wide, Options: zoomed("40,0.9,0.9")}
		r := c.Compute(t, kaleidoscope.View, read(t))
		said := ""
		for _, l := range r.Scene(wide).Layers {
			for _, m := range l.Marks {
				if text, ok := m.(*scene.Text); ok {
					said += strings.Join(text.Text, " ")
				}
			}
		}
		if !strings.HasPrefix(said, "No call is here") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestCallersAroundTheMiddleLeadBack: the terms of a zoomed picture are the path of the call in its middle, and each zoom
// draws that call.
func TestCallersAroundTheMiddleLeadBack(t *testing.T) {
	open := stencil(t, 40_000)
	nodes := treeOf(t, open(t))
	c := viewtest.Case{Reader: open, Size: wide, Options: zoomed(fmt.Sprintf("#%d", nodes[len(nodes)/3].ID))}
	r := c.Compute(t, kaleidoscope.View, open(t))
	s := r.Scene(wide)
	f, ok, err := view.PickAt(r, s, 250, 200)
	if !ok || err != nil {
		t.Fatal("nothing is in the middle", err)
	}
	var names []string
	for _, term := range s.Terms {
		if term.Name != "within" {
			continue
		}
		_, name, _ := strings.Cut(term.Label, ": ")
		if name == "" {
			name = term.Label
		}
		names = append(names, name)
		if term.Text == "" {
			continue
		}
		z := viewtest.Case{Reader: open, Size: wide, Options: zoomed(term.Text)}
		inner := z.Compute(t, kaleidoscope.View, open(t))
		is := false
		for _, n := range inner.Data().(kaleidoscope.Data).Nodes {
			is = is || n.Region == name
		}
		if !is {
			t.Errorf("zoom %s of %q draws no such call", term.Text, term.Label)
		}
	}
	if got := strings.Join(names, " → "); got != line(f.Lines, "path") {
		t.Errorf("callers %q, path %q", got, line(f.Lines, "path"))
	}
	whole := viewtest.Case{Reader: open, Size: wide}
	if s := whole.Compute(t, kaleidoscope.View, open(t)).Scene(wide); len(s.Terms) > 0 {
		t.Errorf("the whole tree has the terms %+v", s.Terms)
	}
}

// TestNamesMeetNeitherEachOtherNorTheEdge: at any zoom, on real calls and on a profile.
func TestNamesMeetNeitherEachOtherNorTheEdge(t *testing.T) {
	hpl := viewtest.Import(t, "data", "otf2-hpl16-deep-b")
	size, written := scene.Size{Width: 900, Height: 600}, 0
	for _, z := range []string{"", "3,0.4,0.2", "7,0.38,-0.17", "40,0.3827,-0.1731", "300,0.3,0.4"} {
		c := viewtest.Case{Reader: func(testing.TB) store.Reader { return hpl }, Size: size, Options: map[string][]string{"paint": {"region"}}}
		if z != "" {
			c.Options["zoom"] = []string{z}
		}
		s := c.Compute(t, kaleidoscope.View, hpl).Scene(size)
		var taken [][4]float64
		for _, l := range s.Layers {
			if l.Name != "labels" {
				continue
			}
			for _, m := range l.Marks {
				text := m.(*scene.Text)
				for i, name := range text.Text {
					half, high := float64(scene.TextWidth(name, text.Size, false))/2, float64(text.Size)*0.4
					x, y := float64(text.X[i]), float64(text.Y[i])-high
					if text.Turned {
						half, high = high, half
						x, y = float64(text.X[i])-half, float64(text.Y[i])
					}
					b := [4]float64{x - half, y - high, x + half, y + high}
					if b[0] < 0 || b[1] < 0 || b[2] > 900 || b[3] > 600 {
						t.Errorf("zoom %q: %q at %v is cut off", z, name, b)
					}
					for _, o := range taken {
						if b[0] < o[2] && o[0] < b[2] && b[1] < o[3] && o[1] < b[3] {
							t.Errorf("zoom %q: %q at %v meets %v", z, name, b, o)
						}
					}
					taken = append(taken, b)
				}
			}
		}
		written += len(taken)
	}
	if written < 12 {
		t.Errorf("only %d names are written", written)
	}
}

// TestNamesSayMoreThanTheirEnd: of compare/3 no sector has the name 3.
func TestNamesSayMoreThanTheirEnd(t *testing.T) {
	size := scene.Size{Width: 1100, Height: 700}
	c := viewtest.Case{Reader: fromDemo("semigroup"), Size: size, Options: zoomed("#9000")}
	for _, l := range c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(size).Layers {
		for _, m := range l.Marks {
			text, ok := m.(*scene.Text)
			if !ok {
				continue
			}
			for _, name := range text.Text {
				if len(name) < 4 {
					t.Fatalf("a call is named %q", name)
				}
			}
		}
	}
}

// TestMixesAreShownWholeWhereThereIsRoom: a sector of seven regions, which is as long as the picture, has no grey.
func TestMixesAreShownWholeWhereThereIsRoom(t *testing.T) {
	open := stencil(t, 40_000)
	c := viewtest.Case{Reader: open, Size: scene.Size{Width: 900, Height: 900}, Options: map[string][]string{"paint": {"region"}}}
	s := c.Compute(t, kaleidoscope.View, open(t)).Scene(c.Size)
	grey, all := 0.0, 0.0
	for _, m := range s.Layers[0].Marks {
		p, ok := m.(*scene.Polygon)
		if !ok {
			continue
		}
		for i := range p.Len() {
			xs, ys := p.Corners(i)
			area := 0.0
			for a, b := 0, len(xs)-1; a < len(xs); b, a = a, a+1 {
				area += float64(xs[b]*ys[a]-xs[a]*ys[b]) / 2
			}
			if all += math.Abs(area); p.Fill[i] == scene.UIAggregate {
				grey += math.Abs(area)
			}
		}
	}
	if share := grey / all; share > 0.1 {
		t.Errorf("%.0f %% of the picture are grey", 100*share)
	}
}

// TestTheLegendBeginsWithWhatTakesMostOfThePicture: one wide call with many narrow ones is named before them.
func TestTheLegendBeginsWithWhatTakesMostOfThePicture(t *testing.T) {
	regions, calls := "region main role=compute\nregion wide role=compute\n", "    1..900 wide\n"
	for k := range 30 {
		regions += fmt.Sprintf("region f%d role=compute\n", k)
		calls += fmt.Sprintf("      %d..%d f%d\n", 2+20*k, 5+20*k, k)
	}
	c := viewtest.Case{Trace: regions + "location thread t\n  0..1000 main\n" + calls, Size: square}
	s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
	if len(s.Legend) == 0 || s.Legend[0].Label != "wide" {
		t.Errorf("the legend begins with %+v", s.Legend[0])
	}
}

// TestCallsOfOneLocationAreFirstPaintedByRegion: by location they would be of one colour; several are by location, as in
// the paper. The subtree of one location keeps its painting.
func TestCallsOfOneLocationAreFirstPaintedByRegion(t *testing.T) {
	one := calls[:strings.Index(calls, "location process p1")]
	for trace, want := range map[string]string{one: "region", calls: "location"} {
		c := viewtest.Case{Trace: trace, Size: square}
		s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(square)
		if !strings.Contains(s.Description, "painted by "+want) {
			t.Errorf("want %s: %s", want, s.Description)
		}
	}
	c := viewtest.Case{Trace: calls, Size: square, Options: map[string][]string{"paint": {"time"}}}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	s := r.Scene(square)
	for y := 0; y < 400; y += 5 {
		for x := 0; x < 400; x += 5 {
			f, ok, _ := view.PickAt(r, s, float64(x), float64(y))
			if _, has := f.Open["paint"]; ok && has {
				t.Fatalf("at %d, %d a subtree of one location is opened by %v", x, y, f.Open)
			}
		}
	}
}

// TestASubtreeIsReadFromTheStore: a double click on a call whose row stays in the store names it by its row, and its
// subtree is that of its id, for which all calls are read; the ways up lead to subtrees as well.
func TestASubtreeIsReadFromTheStore(t *testing.T) {
	open := stencil(t, 40_000)
	nodes := treeOf(t, open(t))
	tried := 0
	for k := 1; k < len(nodes); k += len(nodes) / 9 {
		id := fmt.Sprint(nodes[k].ID)
		c := viewtest.Case{Reader: open, Size: square, Options: zoomed("#" + id)}
		r := c.Compute(t, kaleidoscope.View, open(t))
		f, ok, err := view.PickAt(r, r.Scene(square), 200, 200)
		if !ok || err != nil || line(f.Lines, "node") != id {
			t.Fatalf("call %s is not in the middle: %+v, %v", id, f, err)
		}
		row := fmt.Sprintf("%d/%d/%d", f.Row.Location, f.Row.Lane, f.Row.Row)
		for _, paint := range []string{"region", "time", "depth"} {
			of := func(root string) (kaleidoscope.Data, *scene.Scene) {
				c := viewtest.Case{Reader: open, Size: square, Options: map[string][]string{"root": {root}, "paint": {paint}}}
				r := c.Compute(t, kaleidoscope.View, open(t))
				s := r.Scene(square)
				return r.Data().(kaleidoscope.Data), s
			}
			byRow, drawn := of(row)
			byID, same := of(id)
			if !reflect.DeepEqual(shapesOf(drawn), shapesOf(same)) {
				t.Errorf("by %s: the subtree of %s is drawn differently from that of %s", paint, row, id)
			}
			a, b := fmt.Sprintf("%+v %+v", byRow.Merged, byRow.Height), fmt.Sprintf("%+v %+v", byID.Merged, byID.Height)
			if len(byRow.Nodes) != len(byID.Nodes) || a != b {
				t.Fatalf("the subtree of %s has %d nodes, that of %s %d; sectors %s, %s", row, len(byRow.Nodes), id, len(byID.Nodes), a, b)
			}
			for i, n := range byRow.Nodes {
				m := byID.Nodes[i]
				n.Parent, m.Parent = nil, nil
				if fmt.Sprintf("%+v", n) != fmt.Sprintf("%+v", m) {
					t.Fatalf("node %+v, want %+v", n, m)
				}
			}
			var names []string
			for _, term := range drawn.Terms {
				names = append(names, term.Label)
			}
			if got := strings.Join(names, " → "); got != line(f.Lines, "path") {
				t.Errorf("ways up %q, path %q", got, line(f.Lines, "path"))
			}
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("only %d calls were tried", tried)
	}
}
