package topology_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// onHosts is ranks on hosts, so many each. Those of the middle one take longer.
func onHosts(ranks, each int) string {
	var b strings.Builder
	b.WriteString("region solve role=compute\n")
	for rank := range ranks {
		if rank%each == 0 {
			fmt.Fprintf(&b, "location machine node%02d\n", rank/each)
		}
		busy := 100 + rank%each
		if rank/each == ranks/each/2 {
			busy *= 2
		}
		fmt.Fprintf(&b, "  location process p%d rank=%d\n    0..%d solve\n", rank, rank, busy)
	}
	return b.String()
}

// withHalo adds messages between neighbours on a grid.
func withHalo(text string, wide, high, each int) string {
	var b strings.Builder
	b.WriteString(text)
	at := func(rank int) string { return fmt.Sprintf("node%02d/p%d", rank/each, rank) }
	for rank := range wide * high {
		if rank%wide < wide-1 {
			fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=1000\n", at(rank), at(rank+1))
		}
		if rank+wide < wide*high {
			fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=1000\n", at(rank), at(rank+wide))
		}
	}
	return b.String()
}

// TestTheFirstLayoutIsProposedFromTheRun: a grid from traffic, with where it comes from in the
// notes; hosts instead of it where neighbours there tell much more of how busy time differs.
func TestTheFirstLayoutIsProposedFromTheRun(t *testing.T) {
	open := func(text string, layout ...string) (topology.Data, string) {
		c := viewtest.Case{Trace: text, Options: map[string][]string{}}
		if layout != nil {
			c.Options["layout"] = layout
		}
		r := c.Compute(t, topology.View, c.Open(t))
		return r.Data().(topology.Data), strings.Join(r.Notes(), "; ")
	}
	// 6 × 4 on one host: neighbours on the grid.
	d, notes := open(withHalo(onHosts(24, 24), 6, 4, 24))
	first := d.Proposals[0]
	if first.Kind != "grid" || !slices.Equal(first.Dims, []int{6, 4}) || *first.Explained < 0.99 || d.Layout != "grid" ||
		!strings.Contains(notes, "6 × 4") {
		t.Errorf("layout %s of %+v: %s", d.Layout, first, notes)
	}
	if x, y := wide(d.Points); x != 6 || y != 4 {
		t.Errorf("the grid has %d × %d places", x, y)
	}
	// 8 × 8 on hosts of 8, of which one is slow: the hosts say more.
	text := withHalo(onHosts(64, 8), 8, 8, 8)
	if d, _ = open(text); d.Layout != "hosts:1" || d.Proposals[0].Neighbours < 0.9 {
		t.Errorf("layout %s of %+v", d.Layout, d.Proposals)
	}
	var kinds []string
	for _, p := range d.Proposals {
		kinds = append(kinds, p.Layout)
	}
	if got := strings.Join(kinds, " "); got != "hosts:1 grid nodes rows hilbert" {
		t.Errorf("proposed are %s", got)
	}
	for _, name := range kinds {
		if d, _ := open(text, name); d.Layout != name || d.Unplaced > 0 || d.Proposals[0].Kind != "hosts" {
			t.Errorf("--layout %s: %s, %d unplaced, first is %s", name, d.Layout, d.Unplaced, d.Proposals[0].Kind)
		}
	}
}

func TestALayoutThatIsNotProposedIsRefused(t *testing.T) {
	c := viewtest.Case{Trace: onHosts(8, 8), Options: map[string][]string{"layout": {"grid"}}}
	_, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t)))
	if err == nil || !strings.Contains(err.Error(), "it suggests rows, hilbert") {
		t.Errorf("error %v", err)
	}
}

// TestThreadsOfARankLieTogether: two threads of each rank have places of their own.
func TestThreadsOfARankLieTogether(t *testing.T) {
	var b strings.Builder
	for rank := range 6 {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  location thread a\n    0..10 solve\n  location thread b\n    0..9 solve\n", rank, rank)
	}
	seen := map[string]bool{}
	for _, p := range points(t, viewtest.Case{Trace: b.String()}) {
		seen[fmt.Sprint(float64(*p.X), float64(*p.Y))] = true
	}
	if len(seen) != 12 {
		t.Errorf("%d places for 12 threads: %v", len(seen), seen)
	}
}

// In is128 nearly all time is communication: that is the first value, by which rows tell most (the oracle's table).
func TestTheFirstValueIsTheOneThatWeighs(t *testing.T) {
	r := viewtest.Import(t, "data", "paje-is128-g5k")
	c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}
	d := c.Compute(t, topology.View, r).Data().(topology.Data)
	got := map[string]float64{}
	for _, p := range d.Proposals {
		got[p.Kind] = math.Round(100 * p.Neighbours)
	}
	if e := d.Events[0]; e.Label != "time in communication" || e.Text != "role:communication:exclusive" {
		t.Errorf("coloured by %+v", e)
	}
	if d.Layout != "rows" || got["rows"] != 36 || got["chain"] != 11 {
		t.Errorf("layout %s of %v", d.Layout, got)
	}
	r = viewtest.Import(t, "data", "paje-hpl128-g5k")
	c.Reader = func(testing.TB) store.Reader { return r }
	if e := c.Compute(t, topology.View, r).Data().(topology.Data).Events[0]; e.Label != "busy time" {
		t.Errorf("hpl128 is coloured by %+v", e)
	}
}

// Two ranks of a node lie nearer to each other than to those of others, and must not cover each other.
func TestRanksOfANodeDoNotCoverEachOther(t *testing.T) {
	for _, each := range []int{2, 4} {
		text := "region work role=compute\n"
		for node := range 24 {
			text += fmt.Sprintf("location machine host%02d\n", node)
			for k := range each {
				text += fmt.Sprintf("  location process \"rank %d\" rank=%d\n    0..%d work\n", node*each+k, node*each+k, 100+node)
			}
		}
		c := viewtest.Case{Trace: text, Options: map[string][]string{"layout": {"nodes"}}}
		size := scene.Size{Width: 1000, Height: 600}
		for _, l := range c.Compute(t, topology.View, c.Open(t)).Scene(size).Layers {
			for _, m := range l.Marks {
				s, ok := m.(*scene.Space)
				if !ok {
					continue
				}
				for i := range s.Len() - 1 {
					x, y := float64(s.PX[i+1]-s.PX[i]), float64(s.PY[i+1]-s.PY[i])
					if d := math.Hypot(x*s.Axes[0].Stretch, y*s.Axes[1].Stretch); 2*float64(s.Radius) > d {
						t.Fatalf("%d a node: discs of radius %g are %g apart", each, s.Radius, d)
					}
				}
				if len(s.Labels) != 24 {
					t.Errorf("%d of 24 nodes are named", len(s.Labels))
				}
			}
		}
	}
}

// Few ranks in space are lit, and the middle of nearly each is seen between those in front of it.
func TestRanksInSpaceDoNotHideEachOther(t *testing.T) {
	for _, sides := range [][3]int{{2, 2, 2}, {3, 3, 3}, {4, 4, 8}, {8, 8, 8}} {
		n := sides[0] * sides[1] * sides[2]
		var b strings.Builder
		b.WriteString(many(n) + fmt.Sprintf("topology cart %dx%dx%d\n", sides[0], sides[1], sides[2]))
		for i := range n {
			fmt.Fprintf(&b, "  at \"rank %d\" %d,%d,%d\n", i, i%sides[0], i/sides[0]%sides[1], i/sides[0]/sides[1])
		}
		space := func(options map[string][]string) *scene.Space {
			c := viewtest.Case{Trace: b.String(), Options: options}
			for _, l := range c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 720, Height: 660}).Layers {
				for _, m := range l.Marks {
					if s, ok := m.(*scene.Space); ok {
						return s
					}
				}
			}
			t.Fatal("no space")
			return nil
		}
		s := space(nil)
		p := s.Project()
		r := float64(s.Radius) * p.Scale
		if s.Form != scene.Balls || r < 4 {
			t.Errorf("%v: form %d of radius %g", sides, s.Form, r)
		}
		covered := 0
		for i := range n {
			x, y, _ := p.At(float64(s.PX[i]), float64(s.PY[i]), float64(s.PZ[i]))
			for j := range n {
				u, v, _ := p.At(float64(s.PX[j]), float64(s.PY[j]), float64(s.PZ[j]))
				if i != j && math.Hypot(x-u, y-v) < r {
					covered++
					break
				}
			}
		}
		if covered > n/10 {
			t.Errorf("%v: the middles of %d of %d are covered", sides, covered, n)
		}
		if (len(s.Labels) > 0) != (n <= 16) {
			t.Errorf("%v: %d names", sides, len(s.Labels))
		}
		if s := space(map[string][]string{"shape": {"points"}}); s.Form != scene.Dots {
			t.Errorf("%v: asked for points, form %d", sides, s.Form)
		}
	}
}
