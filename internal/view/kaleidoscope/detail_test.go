package kaleidoscope_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/kaleidoscope"
)

// stencil is a run of many more calls than a picture has pixels for.
func stencil(t *testing.T, intervals int64) func(testing.TB) store.Reader {
	t.Helper()
	d, ok := demo.Find("stencil")
	if !ok {
		t.Fatal("no demo stencil")
	}
	r := viewtest.Local(t, func(w trace.Writer) {
		o := d.Options
		o.Intervals, o.Locations = intervals, 16
		if err := d.Write(context.Background(), o, w); err != nil {
			t.Fatal(err)
		}
	})
	return func(testing.TB) store.Reader { return r }
}

func zoomed(z string) map[string][]string { return map[string][]string{"zoom": {z}} }

// TestNothingIsLeftOutInSilence: calls that are drawn and those of merged sectors are all there are, also where a ring holds
// several levels, and the mix of a sector adds up.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	for name, open := range map[string]func(testing.TB) store.Reader{"stencil": stencil(t, 40_000), "semigroup": fromDemo("semigroup"), "quicksort": quicksort} {
		for _, size := range []scene.Size{{Width: 300, Height: 500}, {Width: 800, Height: 800}} {
			d := data(t, viewtest.Case{Reader: open, Size: size})
			n := len(d.Nodes)
			for _, m := range d.Merged {
				n += m.Calls
				sum := 0.0
				for _, s := range m.Mix {
					sum += s.Share
				}
				if math.Abs(sum-1) > 1e-9 || m.Calls == 0 || math.Hypot(m.X, m.Y) > 1 {
					t.Fatalf("%s: sector %+v adds up to %v", name, m, sum)
				}
			}
			if n != d.Calls {
				t.Errorf("%s: %d nodes and %d sectors stand for %d of %d calls", name, len(d.Nodes), len(d.Merged), n, d.Calls)
			}
		}
	}
}

// TestZoomingOpensSectorsDownToSingleCalls: what the largest sector stands for is drawn call by call in the end, and no call
// changes its angle, its weight or its place.
func TestZoomingOpensSectorsDownToSingleCalls(t *testing.T) {
	open := stencil(t, 40_000)
	all := map[int32]kaleidoscope.Node{}
	for _, n := range data(t, viewtest.Case{Reader: open, Options: map[string][]string{"all": {"true"}, "order": {"rank"}}}).Nodes {
		all[n.ID] = n
	}
	d := data(t, viewtest.Case{Reader: open})
	big := d.Merged[0]
	for _, m := range d.Merged {
		if m.Calls > big.Calls {
			big = m
		}
	}
	seen, left := map[int32]bool{}, 0
	for factor := 1.0; factor <= 1e5; factor *= 4 {
		z := data(t, viewtest.Case{Reader: open, Options: zoomed(fmt.Sprintf("%g,%v,%v", factor, big.X, big.Y))})
		left = len(z.Merged)
		for _, n := range z.Nodes {
			seen[n.ID] = true
			if w := all[n.ID]; math.Abs(n.Start-w.Start) > 1e-9 || math.Abs(n.Alloc-w.Alloc) > 1e-9 || n.Weight != w.Weight || n.Level != w.Level {
				t.Fatalf("zoom %g: call %d is at %v, %v; in the whole tree at %v, %v", factor, n.ID, n.Start, n.Alloc, w.Start, w.Alloc)
			}
		}
	}
	if left > 0 || len(seen) < len(d.Nodes)+40 {
		t.Errorf("%d calls were drawn, %d sectors are left at the last zoom", len(seen), left)
	}
}

// TestASectorNamesItsCallsUnderTheCursor under the cursor, and a double click comes closer until it opens.
func TestASectorNamesItsCallsUnderTheCursor(t *testing.T) {
	size := scene.Size{Width: 600, Height: 600}
	open := stencil(t, 40_000)
	c := viewtest.Case{Reader: open, Size: size}
	d := data(t, c)
	big := d.Merged[0]
	for _, m := range d.Merged {
		if m.Calls > big.Calls {
			big = m
		}
	}
	r := c.Compute(t, kaleidoscope.View, c.Open(t))
	f, ok, _ := view.PickAt(r, r.Scene(size), 300+300*big.X, 300+300*big.Y)
	if !ok || !strings.HasSuffix(f.Title, " calls") || f.Open["zoom"] == "" || line(f.Lines, "time of the outermost") == "" {
		t.Fatalf("in a sector of %d calls is %+v", big.Calls, f)
	}
	z := data(t, viewtest.Case{Reader: open, Size: size, Options: zoomed(f.Open["zoom"])})
	if len(z.Nodes) < 2 {
		t.Errorf("zoom %s draws %d calls", f.Open["zoom"], len(z.Nodes))
	}
}

// TestSectorsArePaintedWithTheirMix: by region the stripes of a sector have the colours of its regions, by time those from its
// first call to its last.
func TestSectorsArePaintedWithTheirMix(t *testing.T) {
	open := stencil(t, 40_000)
	for _, paint := range []string{"region", "time", "location", "both"} {
		size := scene.Size{Width: 900, Height: 900}
		c := viewtest.Case{Reader: open, Size: size, Options: map[string][]string{"paint": {paint}}}
		s := c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(size)
		sectors := s.Layers[0].Marks[2].(*scene.Polygon)
		colours := map[scene.Colour]bool{}
		for _, c := range sectors.Fill {
			colours[c] = true
		}
		if sectors.Len() < 100 || len(colours) < 3 {
			t.Errorf("by %s: %d parts of sectors in %d colours", paint, sectors.Len(), len(colours))
		}
	}
}

// TestFarCornersAreCutOff: at any zoom no corner lies where float32 loses pixels.
func TestFarCornersAreCutOff(t *testing.T) {
	open := stencil(t, 40_000)
	d := data(t, viewtest.Case{Reader: open})
	size := scene.Size{Width: 400, Height: 400}
	for _, factor := range []float64{1e3, 1e5, 1e7} {
		c := viewtest.Case{Reader: open, Size: size, Options: zoomed(fmt.Sprintf("%g,%v,%v", factor, d.Merged[3].X, d.Merged[3].Y))}
		for _, m := range shapesOf(c.Compute(t, kaleidoscope.View, c.Open(t)).Scene(size)) {
			if p, ok := m.(*scene.Polygon); ok {
				for i := range p.X {
					if math.Abs(float64(p.X[i])) > 600 || math.Abs(float64(p.Y[i])) > 600 {
						t.Fatalf("zoom %g: a corner lies at %v, %v", factor, p.X[i], p.Y[i])
					}
				}
			}
		}
	}
}

// TestAZoomMayNameACall: by its id or by its row, and it is drawn then, however small it was.
func TestAZoomMayNameACall(t *testing.T) {
	open := stencil(t, 40_000)
	nodes := treeOf(t, open(t))
	for k := 1; k < len(nodes); k += len(nodes) / 7 {
		n := nodes[k]
		d := data(t, viewtest.Case{Reader: open, Options: zoomed(fmt.Sprintf("#%d", n.ID))})
		drawn := false
		for _, m := range d.Nodes {
			drawn = drawn || m.ID == n.ID
		}
		if !drawn {
			t.Errorf("call %d on level %d is not drawn", n.ID, n.Level)
		}
	}
	c := viewtest.Case{Reader: open, Size: square, Options: zoomed(fmt.Sprintf("#%d", nodes[len(nodes)/2].ID))}
	r := c.Compute(t, kaleidoscope.View, open(t))
	s := r.Scene(square)
	if n := len(s.Terms) - 1; n < 0 || s.Terms[n].Name != "zoom" {
		t.Fatalf("terms %+v", s.Terms)
	}
	f, ok, _ := view.PickAt(r, s, 200, 200)
	if !ok || f.Row == nil || line(f.Lines, "node") != fmt.Sprint(nodes[len(nodes)/2].ID) {
		t.Fatalf("in the middle is %+v", f)
	}
	byRow := data(t, viewtest.Case{Reader: open, Options: zoomed(fmt.Sprintf("%d/%d/%d", f.Row.Location, f.Row.Lane, f.Row.Row))})
	if byID := data(t, viewtest.Case{Reader: open, Options: c.Options}); fmt.Sprint(byRow.Nodes) != fmt.Sprint(byID.Nodes) {
		t.Error("by its row another call is found")
	}
}

// Calls that are read lane by lane are those of the tree in the order of time, also in a part of it and of the ranks.
func TestTheTreeIsTheSameHoweverItIsRead(t *testing.T) {
	r := viewtest.Import(t, "data", "otf2-hpl16-deep-b")
	for _, spec := range []view.Spec{{}, {From: "33%", To: "50%"}, {Locations: []string{"rank:3-9"}},
		{From: "50%", To: "51%", Locations: []string{"rank:2"}}} {
		c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }, Spec: spec}
		lanes := data(t, c)
		c.Options = map[string][]string{"all": {"true"}}
		time := data(t, c)
		want := map[int32]kaleidoscope.Node{}
		for _, n := range time.Nodes {
			want[n.ID] = n
		}
		for _, n := range lanes.Nodes {
			w := want[n.ID]
			if n.Region != w.Region || n.Location != w.Location || n.Begin != w.Begin || n.Level != w.Level ||
				math.Abs(n.Alloc-w.Alloc) > 1e-9 || n.Weight != w.Weight {
				t.Fatalf("%+v: %+v, want %+v", spec, n, w)
			}
		}
		if lanes.Calls != time.Calls || lanes.Height != time.Height || len(lanes.Nodes) == 0 {
			t.Errorf("%+v: %d calls on %d levels, want %d on %d", spec, lanes.Calls, lanes.Height, time.Calls,
				time.Height)
		}
	}
}
