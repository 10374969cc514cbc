package diagnose

// Queries for gaps of GPUs, in which nothing runs.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A gapAt is a gap of a GPU: nothing runs on it.
type gapAt struct {
	gpu int // place in the list of GPUs
	gap *step.Gap
}

// gapQuery asks the intervals of GPUs for something of some gaps, from a to b; "" of more than a query can list, and of
// a part of the run.
func (g *gpuCase) gapQuery(what string, gaps []gapAt) string {
	var work []trace.RegionID
	for i := range g.regions {
		if _, ok := step.WorkTerm(&g.regions[i]); ok {
			work = append(work, trace.RegionID(i))
		}
	}
	if len(gaps) == 0 || len(gaps) > mostNumbers || len(work) > mostNumbers || !g.window.Whole(g.store) {
		return ""
	}
	var devices, at []string
	seen := map[int]bool{}
	for _, x := range gaps {
		if id := g.devices.GPUs[x.gpu]; !seen[x.gpu] {
			seen[x.gpu] = true
			devices = append(devices, fmt.Sprintf("(%d, %d, %d)", x.gpu, id, g.tree.Last[id]))
		}
		at = append(at, fmt.Sprintf("(%d, %d)", x.gpu, x.gap.Begin))
	}
	return fmt.Sprintf("with d(gpu, low, high) as (values %s), w as (select gpu, \"begin\" as b, \"end\" as e from "+
		"intervals join d on location between low and high where region_id in (%s)), g as (select gpu, max(e) over "+
		"(partition by gpu order by b, e rows between unbounded preceding and 1 preceding) as a, b from w) select %s "+
		"from g where b > a and (gpu, a) in (values %s)", strings.Join(devices, ", "), numbers(work), what,
		strings.Join(at, ", "))
}

// gapsOf lists the gaps that fit, of those of each GPU that are listed: the longest.
func (g *gpuCase) gapsOf(fits func(*step.Gap) bool) (list []gapAt, sum trace.Time, longest *gapAt) {
	for i := range g.job.GPUs {
		for k := range g.job.GPUs[i].Gaps {
			if x := &g.job.GPUs[i].Gaps[k]; fits(x) {
				list = append(list, gapAt{i, x})
				sum += x.Length()
			}
		}
	}
	for i := range list {
		if longest == nil || list[i].gap.Length() > longest.gap.Length() {
			longest = &list[i]
		}
	}
	return list, sum, longest
}

// sayLongest writes how long a gap is and when it begins: "62.3 ms at 718 ms".
func (g *gpuCase) sayLongest(x *gapAt) string {
	one := []gapAt{*x}
	return g.say("longest wait", float64(x.gap.Length()), "ns", g.gapQuery("total(b - a)", one)) + " at " +
		g.say("it begins", float64(x.gap.Begin), "ns", g.gapQuery("total(a)", one))
}
