package topology_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// onTorus is ranks with messages between some of them, on the places of a topology.
func onTorus(wide, high int, periodic string, links [][3]int) string {
	var b strings.Builder
	b.WriteString("region solve role=compute\n")
	for rank := range wide * high {
		fmt.Fprintf(&b, "location process p%d rank=%d\n  0..100 solve\n", rank, rank)
	}
	fmt.Fprintf(&b, "topology torus %dx%d names=x,y%s\n", wide, high, periodic)
	for rank := range wide * high {
		fmt.Fprintf(&b, "  at p%d %d,%d\n", rank, rank%wide, rank/wide)
	}
	for _, l := range links {
		fmt.Fprintf(&b, "link message 10 p%d -> 20 p%d size=%d\n", l[0], l[1], l[2])
	}
	return b.String()
}

// linesOf are the lines of a picture: from, to and the part of the way.
func linesOf(t *testing.T, text string, layout ...string) (lines map[[2]uint32]float32, notes string) {
	t.Helper()
	c := viewtest.Case{Trace: text, Options: map[string][]string{"traffic": {"shown"}}}
	if layout != nil {
		c.Options["layout"] = layout
	}
	r := c.Compute(t, topology.View, c.Open(t))
	lines = map[[2]uint32]float32{}
	for _, l := range r.Scene(scene.Size{Width: 600, Height: 400}).Layers {
		for _, m := range l.Marks {
			if s, ok := m.(*scene.Space); ok {
				for k := range s.Links.From {
					part := float32(1)
					if s.Links.Part != nil {
						part = s.Links.Part[k]
					}
					lines[[2]uint32{s.Links.From[k], s.Links.To[k]}] = part
				}
			}
		}
	}
	return lines, strings.Join(r.Notes(), "; ")
}

// A message to a rank far away is drawn as its steps: first along x, then along y.
func TestTrafficGoesAlongTheGrid(t *testing.T) {
	lines, notes := linesOf(t, onTorus(5, 4, "", [][3]int{{0, 12, 100}, {3, 4, 300}}))
	want := [][2]uint32{{0, 1}, {1, 2}, {2, 7}, {7, 12}, {3, 4}}
	for _, w := range want {
		if lines[w] != 1 {
			t.Errorf("no line from %d to %d", w[0], w[1])
		}
	}
	if len(lines) != len(want) || !strings.Contains(notes, "75.0 % goes between neighbours") {
		t.Errorf("%v: %s", lines, notes)
	}
}

// On a torus the shortest way may go round the edge: a short line out of either side.
func TestTrafficGoesRoundTheEdgeOfATorus(t *testing.T) {
	lines, _ := linesOf(t, onTorus(5, 4, " periodic=true,true", [][3]int{{0, 4, 100}}))
	for _, w := range [][2]uint32{{0, 4}, {4, 0}} {
		if math.Abs(float64(lines[w])+0.075) > 1e-6 {
			t.Errorf("the line at %d goes %v of the way to %d, want −0.075", w[0], lines[w], w[1])
		}
	}
	if len(lines) != 2 {
		t.Errorf("%v", lines)
	}
}

// Many lines between ranks in blocks are drawn as one for each two blocks, from middle to middle.
func TestTrafficBetweenBlocksIsOneLine(t *testing.T) {
	const hosts, each = 3, 16
	var b strings.Builder
	b.WriteString(onHosts(hosts*each, each))
	at := func(rank int) string { return fmt.Sprintf("node%02d/p%d", rank/each, rank) }
	for from := range each {
		for to := each; to < 2*each; to++ { // each of the first host to each of the second
			fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=10\n", at(from), at(to))
		}
		fmt.Fprintf(&b, "link message 10 %s -> 20 %s size=40\n", at(2*each+from), at(2*each+(from+1)%each))
	}
	lines, notes := linesOf(t, b.String(), "nodes")
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	for ends := range lines {
		if a, z := min(ends[0], ends[1]), max(ends[0], ends[1]); a/each != 0 || z/each != 1 {
			t.Errorf("the line runs from %d to %d", a, z)
		}
	}
	if !strings.Contains(notes, "20.0 % of it stays within blocks") { // 640 of 3,200 bytes
		t.Error(notes)
	}
}
