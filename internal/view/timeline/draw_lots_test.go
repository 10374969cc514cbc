package timeline

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// TestRandomShowsEachRegionAsOftenAsItHasTime: over many bins the regions drawn have the
// shares of their times, and with random-not-zero no bin is empty.
func TestRandomShowsEachRegionAsOftenAsItHasTime(t *testing.T) {
	var b strings.Builder
	b.WriteString("region a role=compute\nregion b role=io\nregion c role=synchronization\nlocation process p rank=0\n")
	// Of each 64 ns: 32 in a, 16 in b, 4 in c, in pieces of 4, and 12 of nothing.
	const bins = 4096
	for k := range bins {
		for i, name := range strings.Fields("a b a a b a c a b a a b a") {
			fmt.Fprintf(&b, "  %d..%d %s\n", 64*k+4*i, 64*k+4*i+4, name)
		}
	}
	fmt.Fprintf(&b, "  %d..%d a\n", 64*bins-1, 64*bins)
	for show, want := range map[string][4]float64{"random": {32. / 64, 16. / 64, 4. / 64, 12. / 64}, "random-not-zero": {32. / 52, 16. / 52, 4. / 52, 0}} {
		c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"show": {show}}}
		r := c.Compute(t, View, c.Open(t)).(*result)
		got, total := [4]float64{}, 0.0
		for _, x := range r.leaves[0].list {
			for _, s := range x.spans {
				if s.row < 0 && s.region != trace.NoRegion {
					n := float64(s.end-s.begin) / float64(int64(1)<<r.grid.level)
					got[s.region] += n
					total += n
				}
			}
		}
		all := float64(r.grid.bins())
		got[3] = all - total
		for i := range got {
			if math.Abs(got[i]/all-want[i]) > 5*math.Sqrt(want[i]*(1-want[i])/all)+0.01 {
				t.Errorf("%s: region %d is drawn in %.3f of %v bins, want %.3f", show, i, got[i]/all, all, want[i])
			}
		}
	}
}

// TestRowsAndDigestsDrawTheSame lot for the same times.
func TestRowsAndDigestsDrawTheSame(t *testing.T) {
	labels := []trace.Region{{Role: trace.RoleCompute}, {Role: trace.RoleIO}, {Role: trace.RoleIdle}}
	for _, show := range []show{random, randomOpen} {
		rule := &rule{show: show, labels: labels}
		seen := map[trace.RegionID]int{}
		for begin := trace.Time(0); begin < 1<<16; begin += 64 {
			c := newCells(grid{begin: begin, end: begin + 64, level: 6}, rule)
			c.setBin(begin)
			d := share.Digest{Count: 3, Top: [share.Listed]share.Entry{{Region: 1, Time: 24}, {Region: 0, Time: 16}, {Region: 2, Time: 8}}}
			d.Role[trace.RoleCompute], d.Role[trace.RoleIO], d.Role[trace.RoleIdle], d.Role[trace.RoleNone] = 16, 24, 8, 16
			for i, id := range []trace.RegionID{0, 1, 2, 1} {
				c.piece(begin+16*trace.Time(i), begin+16*trace.Time(i)+[]trace.Time{16, 16, 8, 8}[i], id, labels[id].Role, i, 0)
			}
			a, b := span{begin: begin, end: begin + 64, region: trace.NoRegion}, span{begin: begin, end: begin + 64, region: trace.NoRegion}
			if x, y := c.drawOpen(&a), rule.drawDigest(&d, &b); x != y || a.region != b.region || a.role != b.role || b.pending {
				t.Fatalf("at %d rows draw %v %v, digests %v %v", begin, x, a, y, b)
			}
			seen[a.region]++
		}
		if len(seen) < 3 {
			t.Errorf("drawn: %v", seen)
		}
	}
}
