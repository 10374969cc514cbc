package proposal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// hostsOf are ranks on hosts, so many on each.
func hostsOf(perHost int, names ...string) *trace.Ranks {
	r := &trace.Ranks{}
	for _, name := range names {
		for range perHost {
			r.Hosts = append(r.Hosts, name)
		}
	}
	r.Count = len(r.Hosts)
	return r
}

// blocksBy returns the blocks of the layout of hosts with so many levels, as text is read.
func blocksBy(t *testing.T, r *trace.Ranks, levels int) (names []string, l Layout) {
	t.Helper()
	for _, l = range Layouts(r, nil) {
		if l.Kind != Hosts || len(l.Dims) != levels {
			continue
		}
		blocks := slices.Clone(l.Blocks)
		slices.SortFunc(blocks, func(a, b Block) int {
			p, q := l.Places[a.Rank], l.Places[b.Rank]
			return (q[1]-p[1])*10_000 + p[0] - q[0]
		})
		for _, b := range blocks {
			names = append(names, b.Name)
		}
		return names, l
	}
	t.Fatalf("no layout of %d levels of hosts", levels)
	return nil, l
}

func dragonfly(format string) *trace.Ranks {
	var names []string
	for g := range 2 {
		for r := range 4 {
			for n := range 3 {
				names = append(names, fmt.Sprintf(format, g, r, n))
			}
		}
	}
	return hostsOf(1, names...)
}

func TestBlocksAreNamedByWhatDiffersWithinTheGroup(t *testing.T) {
	for format, want := range map[string]string{
		"dfly-g%02d-r%d-n%d":           "[dfly-g00 r0 r1 r2 r3 dfly-g01 r0 r1 r2 r3]",
		"x%d_c%d_s%d.cluster.site.org": "[x0 c0 c1 c2 c3 x1 c0 c1 c2 c3]",
		"node %d.%d.%d":                "[node 0 0 1 2 3 node 1 0 1 2 3]",
		"10.%d.%d.%d":                  "[10.0 0 1 2 3 10.1 0 1 2 3]",
	} {
		if names, _ := blocksBy(t, dragonfly(format), 2); fmt.Sprint(names) != want {
			t.Errorf("%s: %v, want %s", format, names, want)
		}
	}
	var names []string
	for k := range 12 {
		names = append(names, fmt.Sprintf("n%d%02d", 1+k/4, k%4*20)) // rack and slot in one number
	}
	if got, _ := blocksBy(t, hostsOf(2, names...), 1); fmt.Sprint(got) != "[n100 n120 n140 n160 n200 n220 n240 n260 n300 n320 n340 n360]" {
		t.Errorf("%v", got)
	}
}

func TestBlocksFillTheirRows(t *testing.T) {
	_, l := blocksBy(t, dragonfly("g%d-r%d-n%d"), 1)
	if e := extent(l.Places); e[0]*e[1] > 2*24 {
		t.Errorf("24 ranks in two groups of twelve are %v", e)
	}
	for n, want := range map[int]int{1: 1, 2: 2, 4: 2, 6: 3, 8: 4, 9: 3, 12: 4, 64: 11} {
		if got := blockColumns(n, 1); got != want {
			t.Errorf("%d square blocks make %d columns, want %d", n, got, want)
		}
	}
}

// TestBlocksAreReadLikeText: the first rank is at the upper left.
func TestBlocksAreReadLikeText(t *testing.T) {
	_, l := blocksBy(t, dragonfly("g%d-r%d-n%d"), 2)
	for rank, p := range l.Places {
		if first := l.Places[0]; p[0] < first[0] || p[1] > first[1] {
			t.Errorf("rank %d is at %v, rank 0 at %v", rank, p, first)
		}
	}
	if a, b := l.Places[0], l.Places[1]; a[1] != b[1] || b[0] != a[0]+1 {
		t.Errorf("ranks 0 and 1 are at %v and %v", a, b)
	}
}
