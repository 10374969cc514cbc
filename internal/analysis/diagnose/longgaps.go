package diagnose

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
	region        trace.RegionID
	time, drained trace.Time // of the gaps; drained: of those that began while the host waited for the GPU
	gaps          int
}

const (
	// longGap is from when on a gap is one by itself, and no pause between launches.
	longGap = 500_000
	// mainShare is the part of the time for which hosts are late that one call must cover to be told.
	mainShare = 0.5
)

// inputWords are parts of names, in lower case, of regions that prepare input.
var inputWords = []string{"preprocess", "pre_process", "resize", "decode", "augment", "collate", "tokeniz", "transform",
	"read", "load", "fetch", "batch", "dataset"}

// longGaps finds the call of the host that covers most of the long gaps of GPUs; nil where no one does. Few long gaps
// are no matter of launches: the host did something else.
func (g *gpuCase) longGaps() *hostCall {
	calls := map[trace.RegionID]*hostCall{}
	best := (*hostCall)(nil)
	for i := range g.job.GPUs {
		for k := range g.job.GPUs[i].Gaps {
			x := &g.job.GPUs[i].Gaps[k]
			if x.Host == trace.NoRegion || x.Length() < longGap || !launching(x.Cause()) ||
				g.regions[x.Host].Role == trace.RoleSynchronization {
				continue
			}
			c := calls[x.Host]
			if c == nil {
				c = &hostCall{region: x.Host}
				calls[x.Host] = c
			}
			c.time += x.Length()
			c.gaps++
			if x.Drained {
				c.drained += x.Length()
			}
			if best == nil || c.time > best.time || c.time == best.time && c.region < best.region {
				best = c
			}
		}
	}
	late := (g.verdict.Shares[step.LaunchBound] + g.verdict.Shares[step.SynchronizationBound]) * float64(g.whole)
	if best == nil || float64(best.time) < mainShare*late ||
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
	share := min(float64(c.time)/float64(g.whole), 1)
	drained := float64(c.drained) / float64(g.whole)
	v := &g.verdict.Shares
	v[step.SynchronizationBound] = max(v[step.SynchronizationBound]-drained, 0)
	v[step.LaunchBound] = max(v[step.LaunchBound]-(share-drained), 0)
	g.longTold = true
	if c.gaps <= len(g.job.GPUs) && g.toldKind(finding.SlowStep) {
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
	each := finding.Evidence{Name: "a gap, mean", Value: float64(c.time) / float64(c.gaps), Unit: "ns"}
	in := "one gap of " + Format(each)
	if c.gaps > 1 {
		in = words.Count(c.gaps, "gap") + " of " + Format(each) + " on average"
	}
	text := fmt.Sprintf("%s: GPUs are idle for %s %s while the host is in %s, in %s. They compute for %s.",
		lead, words.FormatShare(share), g.of, words.Middle(name), in,
		g.say("GPUs compute", v[step.Compute], "share", ratio(g.gpuTime("computation"), g.gpuTime("span"))))
	ids := []trace.RegionID{c.region}
	next := ""
	if c.gaps <= len(g.job.GPUs) && kind == finding.HostBound {
		next = "It happens once. If it is a first use (loading code, choosing algorithms), warm up before you " +
			"measure; else move this call off the thread that launches work."
	}
	g.add(finding.Finding{Next: next, Kind: kind, Severity: finding.LevelOf(share), Lost: c.time, Share: share,
		ShareOf: strings.TrimPrefix(g.of, "of "), Hit: share, View: "steps", Text: text,
		Options: map[string][]string{"picture": {"idle"}}, Selection: finding.Selection{Regions: ids},
		Evidence: append([]finding.Evidence{{Name: "share", Value: share, Unit: "share"}, each,
			{Name: "gaps", Value: float64(c.gaps), Unit: "count"},
			{Name: "time in " + name, Value: g.inclusive(c.region), Unit: "ns",
				From: sumQuery("total(inclusive)", g.times(ids))}}, g.said...)}, nil)
	g.gainOfSteps("GPUs had work while the host is in " + words.Middle(name))
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
