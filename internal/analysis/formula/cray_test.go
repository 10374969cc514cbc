package formula

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

const crayMap = `[PE_0]: rank 0 is on nid00010; cpumask = 000000000001
[PE_2]: rank 2 is on nid00010; cpumask = 000000001100
0:c0-0c0s2n1
1:c0-0c0s2n1
2:c12-3c2s15n3
Application 4711 resources: utime ~0s
`

func TestCrayNamesAreCabinetRowChassisSlotNode(t *testing.T) {
	n, err := ParseCrayName("c10-2c2s5n0")
	if err != nil || n != (CrayNode{10, 2, 2, 5, 0, -1}) {
		t.Errorf("%+v, %v", n, err)
	}
	for _, bad := range []string{"", "c0-0c0s0", "c0-0c0s0g0", "nid00005", "c0-0c0s0n0x", "c-0c0s0n0", "c99999999999999999999-0c0s0n0"} {
		if _, err := ParseCrayName(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestACrayMapPlacesRanks(t *testing.T) {
	m, warnings, err := ParseCrayMap(crayMap)
	if err != nil || !IsCrayMap(crayMap) {
		t.Fatal(err)
	}
	for rank, want := range map[int]string{0: "[0 0 2 1 0]", 1: "[0 0 2 1 0]", 2: "[12 3 47 3 2]"} {
		if at, ok := m.At(rank); !ok || fmt.Sprint(at) != want {
			t.Errorf("rank %d at %v, want %s", rank, at, want)
		}
	}
	if _, ok := m.At(3); ok {
		t.Error("rank 3 has a place")
	}
	if m.Nodes[1].Core != -1 || m.Slots != 16 || fmt.Sprint(m.Dims()) != "[13 4 48 4 3]" {
		t.Errorf("%+v, %v", m, m.Dims())
	}
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "1 lines") {
		t.Errorf("%q", warnings)
	}
}

func TestDoubtsOfACrayMapAreCounted(t *testing.T) {
	_, warnings, err := ParseCrayMap("0:c0-0c0s0n0\n0:c0-0c0s0n1\n0:c0-0c0s0n0\n[PE_7] mask = 1\n")
	if err != nil || strings.Join(warnings, "; ") != "1 ranks are on two nodes; the first counts; 1 masks are of ranks without a node" {
		t.Errorf("%q, %v", warnings, err)
	}
	for _, text := range []string{"", "BEGIN_VIZ=a\nx=0\nEND_VIZ", "0:nid00001"} {
		if _, _, err := ParseCrayMap(text); err == nil || IsCrayMap(text) {
			t.Errorf("%q is a map", text)
		}
	}
}

// Layouts of a machine with a torus ask for the coordinates by metadata.
func TestLayoutsReadACrayMapAsMetadata(t *testing.T) {
	m, _, err := ParseCrayMap(crayMap)
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := Parse("BEGIN_VIZ=cube\ncpu=mod(metadata(cpu),2)\nx=metadata(x)*2\ny=metadata(y)*3+cpu\nz=metadata(z)*3+metadata(core)/8\ncolor=metadata(max_x)\nEND_VIZ\n")
	if err != nil {
		t.Fatal(err)
	}
	out, err := layouts[0].Apply(context.Background(), &Input{N: 4, Metadata: func(key string) []float64 {
		v, _ := m.Metadata(key, []int{0, 1, 2, 3})
		return v
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := out.Points[0]
	if p.X[2] != 24 || p.Y[2] != 10 || p.Z[2] != 141.25 || p.Color[2] != 12 || p.Y[0] != 1 || !math.IsNaN(p.X[3]) {
		t.Errorf("%+v", p)
	}
	if _, ok := m.Metadata("hostname", nil); ok {
		t.Error("a map has no hostname")
	}
}
