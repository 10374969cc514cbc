package diagnose

// Fault of GPU jobs: one call of the host covers the long gaps of the GPUs.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A hostCall is a call of the host that covers long gaps of GPUs.
type hostCall struct {
	region                trace.RegionID
	time                  trace.Time // of the gaps
	drained, late, asleep trace.Time // of those that began while the host waited for the GPU, others, and by a sleep
	gaps                  []gapAt
	longest               *gapAt
}

const (
	// longGap is from when on a gap is one by itself, and no pause between launches.
	longGap = 500_000
	// mainShare is the part of the time for which hosts are late that one call must cover to be reported.
	mainShare = 0.5
)

// inputWords are parts of names, in lower case, of regions that prepare input.
var inputWords = []string{"preprocess", "pre_process", "resize", "decode", "augment", "collate", "tokeniz", "transform",
	"read", "load", "fetch", "batch", "dataset"}

// longGaps finds the call of the host that covers most of the long gaps of GPUs; nil where no one does. Few long gaps
// are no matter of launches: the host did something else.
func (g *gpuCase) longGaps() *hostCall {
	list, _, _ := g.gapsOf(func(x *step.Gap) bool {
		return x.Host != trace.NoRegion && x.Length() >= longGap &&
			(launching(x.Cause()) || x.Cause() == step.BySleep) &&
			g.regions[x.Host].Role != trace.RoleSynchronization
	})
	calls := map[trace.RegionID]*hostCall{}
	best := (*hostCall)(nil)
	for _, x := range list {
		c := calls[x.gap.Host]
		if c == nil {
			c = &hostCall{region: x.gap.Host}
			calls[x.gap.Host] = c
		}
		c.gaps = append(c.gaps, x)
		c.time += x.gap.Length()
		switch {
		case x.gap.Cause() == step.BySleep:
			c.asleep += x.gap.Length()
		case x.gap.Drained:
			c.drained += x.gap.Length()
		default:
			c.late += x.gap.Length()
		}
		if c.longest == nil || x.gap.Length() > c.longest.gap.Length() {
			c.longest = &x
		}
		if best == nil || c.time > best.time || c.time == best.time && c.region < best.region {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	v := &g.verdict.Shares
	late := v[step.LaunchBound] + v[step.SynchronizationBound]
	if best.asleep > 0 {
		late += float64(best.asleep) / float64(g.whole)
	}
	if float64(best.time) < mainShare*late*float64(g.whole) ||
		float64(best.time) < step.LaunchBound.Threshold()*float64(g.whole) {
		return nil
	}
	return best
}

// tellLongGaps reports the host's activity in long gaps, and takes it out of the other losses.
func (g *gpuCase) tellLongGaps() {
	c := g.longGaps()
	if c == nil {
		return
	}
	whole := float64(g.whole)
	share := min(float64(c.time)/whole, 1)
	v := &g.verdict.Shares
	v[step.SynchronizationBound] = max(v[step.SynchronizationBound]-float64(c.drained)/whole, 0)
	v[step.LaunchBound] = max(v[step.LaunchBound]-float64(c.late)/whole, 0)
	v[step.IdleBound] = max(v[step.IdleBound]-float64(c.asleep)/whole, 0)
	g.longTold = c
	if len(c.gaps) <= len(g.job.GPUs) && g.toldKind(finding.SlowStep) {
		return // it is that one step
	}
	name := g.regions[c.region].Name
	kind, lead := finding.HostBound, "Host-bound"
	for _, w := range inputWords {
		if strings.Contains(strings.ToLower(name), w) {
			kind, lead = finding.InputBound, "Input-bound"
		}
	}
	g.said = nil
	n := len(c.gaps)
	in := "one gap of " + g.say("the gap", float64(c.time), "ns", g.gapQuery("total(b - a)", c.gaps))
	switch longest := c.longest.gap.Length(); {
	case n > 1 && 2*longest > c.time:
		in = words.Count(n, "gap") + ", the longest of " +
			g.say("longest gap", float64(longest), "ns", g.gapQuery("max(b - a)", c.gaps))
	case n > 1:
		in = words.Count(n, "gap") + " of " + g.say("a gap, mean", float64(c.time)/float64(n), "ns",
			g.gapQuery("avg(b - a)", c.gaps)) + " on average"
	}
	text := fmt.Sprintf("%s: GPUs are idle for %s %s while the host is in %s, in %s. They compute for %s.", lead,
		words.FormatShare(share), g.theirs(), words.Middle(name), in,
		g.say("GPUs compute", v[step.Compute], "share", ratio(g.gpuTime("computation"), g.gpuTime("span"))))
	ids := []trace.RegionID{c.region}
	next := ""
	if n <= len(g.job.GPUs) && kind == finding.HostBound {
		next = "It happens once. If it is a first use (loading code, choosing algorithms), warm up before you " +
			"measure. Otherwise move this call off the thread that launches work."
	}
	g.add(finding.Finding{Next: next, Kind: kind, Severity: finding.LevelOf(share), Lost: c.time, Share: share,
		ShareOf: strings.TrimPrefix(g.of, "of "), Hit: share, View: "steps", Text: text,
		Options: map[string][]string{"picture": {"idle"}}, Selection: finding.Selection{Regions: ids},
		Evidence: append([]finding.Evidence{{Name: "share", Value: share, Unit: "share", From: g.gapShare(c.gaps)},
			{Name: "gaps", Value: float64(n), Unit: "count", From: g.gapQuery("count(*)", c.gaps)},
			{Name: "time in " + name, Value: g.inclusive(c.region), Unit: "ns",
				From: sumQuery("total(inclusive)", g.times(ids))}}, g.said...)}, nil)
	each := spread{}
	for _, x := range c.gaps {
		each.add(float64(x.gap.Length()))
	}
	g.gainOfSteps("GPUs had work while the host is in "+words.Middle(name), each)
}

// gapShare asks for the part of the time of GPUs that some gaps take.
func (g *gpuCase) gapShare(gaps []gapAt) string {
	sum, span := g.gapQuery("total(b - a)", gaps), g.gpuTime("span")
	if sum == "" || span == "" {
		return ""
	}
	return fmt.Sprintf("select min((%s) / %s, 1)", sum, span)
}

// without takes gaps that are reported already out of a query for a share.
func (g *gpuCase) without(query string, told func(*step.Gap) bool) string {
	if g.longTold == nil || query == "" {
		return query
	}
	var list []gapAt
	for _, x := range g.longTold.gaps {
		if told(x.gap) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return query
	}
	gaps := g.gapShare(list)
	if gaps == "" {
		return ""
	}
	return fmt.Sprintf("select max((%s) - (%s), 0)", query, gaps)
}

// inLongGaps are the gaps of half a millisecond and more for which the host is late with launches and that no finding
// reports; nil if they are less than half of that time.
func (g *gpuCase) inLongGaps(share float64) (list []gapAt, longest *gapAt) {
	list, sum, longest := g.gapsOf(func(x *step.Gap) bool {
		return x.Length() >= longGap && launching(x.Cause()) && !x.Drained &&
			(g.longTold == nil || x.Host != g.longTold.region)
	})
	if float64(sum) < mainShare*share*float64(g.whole) {
		return nil, nil
	}
	return list, longest
}

// inclusive returns the time in a region and its callees.
func (f *facts) inclusive(r trace.RegionID) (sum float64) {
	for i, of := range f.table.region {
		if of == r {
			sum += f.table.inclusive[i]
		}
	}
	return sum
}
