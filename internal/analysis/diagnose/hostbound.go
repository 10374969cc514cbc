package diagnose

// Faults of GPU jobs: GPUs are idle for input, launches, synchronization, copies or communication.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// losses reports each loss that passes its threshold. Waiting in communication is a symptom where a unit delays the
// others.
func (g *gpuCase) losses() {
	held := slices.ContainsFunc(g.list, func(f finding.Finding) bool {
		return f.Severity == finding.High &&
			slices.Contains([]finding.Kind{finding.Straggler, finding.Rotating, finding.Imbalance, finding.Jitter,
				finding.Serial}, f.Kind)
	})
	g.tellLongGaps()
	for b := step.Input; b < step.Compute; b++ {
		share := g.verdict.Shares[b]
		least := b.Threshold()
		if b != step.CopyBound && b != step.CommunicationBound { // waiting is never passed over in silence
			least = min(least, silentShare)
		}
		if share < least || held && (b == step.CommunicationBound || b == step.IdleBound) {
			continue
		}
		g.said = nil
		f := finding.Finding{Kind: gpuKinds[b], Severity: finding.LevelOf(share),
			Lost: trace.Time(share * float64(g.whole)), Share: share, ShareOf: strings.TrimPrefix(g.of, "of "),
			Hit: share, View: "steps", Text: g.words(b, share)}
		if b != step.CopyBound && b != step.CommunicationBound {
			f.Options = map[string][]string{"picture": {"idle"}}
		}
		if b == step.IdleBound { // it is unknown whether it could be otherwise
			f.Severity = f.Severity.AtMost(finding.Medium)
		}
		f.Evidence = append([]finding.Evidence{{Name: "share", Value: share, Unit: "share", From: g.boundQuery(b)},
			{Name: "threshold", Value: b.Threshold(), Unit: "share"}}, g.said...)
		if gaps, _ := g.inLongGaps(share); b == step.LaunchBound && gaps != nil {
			f.Kind, f.Next = finding.HostBound, longNext
		}
		if b == step.LaunchBound && g.unrecorded() > mainShare { // it is unknown what the host did
			f.Kind, f.Severity, f.Next = finding.GPUIdle, f.Severity.AtMost(finding.Medium), recordHost
		}
		if b == step.IdleBound {
			f.Next = idleNext[g.mainIdle()]
		}
		if share < b.Threshold() {
			f.Severity = finding.Low
		}
		g.add(f, nil)
		g.gainOfSteps(assumedGPU[b], g.spreadOf(b))
	}
}

// recordHost is the next step if no record shows the reason why GPUs wait.
const recordHost = "Record the calls of the host too: its launches show what GPUs wait for."

// longNext is the next step if different calls take long between launches.
const longNext = "Look at the host's calls in the longest gaps: first uses, allocation, other work on the thread " +
	"that launches."

// idleNext are the next steps of idle GPUs, by the main cause.
var idleNext = [step.Causes]string{
	step.ByUnknown: recordHost, step.BySleep: "Look for the sleep on the thread that launches work.",
	step.ByQueue: "Look at what launched work waits for: events of other streams, or another process on the GPU.",
}

// mainIdle is the largest cause of idle time that is no matter of launches.
func (g *gpuCase) mainIdle() step.Cause {
	var sum [step.Causes]trace.Time
	for i := range g.job.GPUs {
		from := &g.job.GPUs[i].InSteps
		if len(g.job.Steps) == 0 {
			from = &g.job.GPUs[i].Causes
		}
		for _, c := range []step.Cause{step.ByUnknown, step.BySleep, step.ByQueue} {
			sum[c] += from[c]
		}
	}
	return step.Ranked(sum)[0]
}

// assumedGPU is the assumption of a prediction, by loss.
var assumedGPU = [step.Bounds]string{
	step.Input: "data were loaded in time", step.LaunchBound: "work were launched in time",
	step.SynchronizationBound: "the host did not wait for GPUs", step.CopyBound: "all copies overlapped with " +
		"computation",
	step.CommunicationBound: "all communication overlapped with computation", step.IdleBound: "GPUs had work all " +
		"the time",
}

// gainOfSteps predicts the gain of the last finding: its time is that of all GPUs together.
func (g *gpuCase) gainOfSteps(assumed string, parts spread) {
	of, n := "the steps", float64(max(len(g.job.GPUs), 1))
	if len(g.job.Steps) == 0 {
		of = "the run"
	}
	g.sumGain(float64(g.list[len(g.list)-1].Lost)/n, float64(g.whole)/n, of, assumed, parts)
}

// spreadOf is the spread of a loss over steps: of idle time while no data is loaded, since its causes are known by
// gap. Without steps it is that of gaps, or of pieces of the run.
func (g *gpuCase) spreadOf(b step.Bound) (s spread) {
	byStep := map[string]float64{}
	for i := range g.job.Steps {
		x := &g.job.Steps[i]
		for _, t := range x.GPUs {
			switch b {
			case step.CopyBound:
				byStep[x.Name] += float64(t.ExposedCopy)
			case step.CommunicationBound:
				byStep[x.Name] += float64(t.ExposedCommunication)
			case step.Input:
				byStep[x.Name] += float64(min(t.Idle, x.Terms[step.Loader]))
			default:
				byStep[x.Name] += float64(max(t.Idle-x.Terms[step.Loader], 0))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byStep)) {
		s.add(byStep[name])
	}
	if len(byStep) > 0 {
		return s
	}
	switch b {
	case step.CopyBound:
		return g.spreadOver(g.regionsOfRole(trace.RoleCopy))
	case step.CommunicationBound:
		return g.spreadOver(g.regionsOfRole(trace.RoleCommunication))
	}
	gaps, _, _ := g.gapsOf(func(*step.Gap) bool { return true })
	for _, x := range gaps {
		s.add(float64(x.gap.Length()))
	}
	return s
}

// unrecorded is the part of the time for which hosts are late in which nothing of them is recorded.
func (g *gpuCase) unrecorded() float64 {
	var nothing, all trace.Time
	for i := range g.job.GPUs {
		from := &g.job.GPUs[i].InSteps
		if len(g.job.Steps) == 0 {
			from = &g.job.GPUs[i].Causes
		}
		for c, t := range from {
			if launching(step.Cause(c)) {
				all += t
			}
		}
		nothing += from[step.ByNothing]
	}
	return float64(nothing) / float64(max(all, 1))
}

var gpuKinds = [step.Bounds]finding.Kind{
	step.Input: finding.InputBound, step.LaunchBound: finding.LaunchBound,
	step.SynchronizationBound: finding.SynchronizationBound,
	step.CopyBound:            finding.CopyBound, step.CommunicationBound: finding.ExposedCommunication,
	step.IdleBound: finding.GPUIdle,
}

// words says a loss in a sentence or two.
func (g *gpuCase) words(b step.Bound, share float64) string {
	part, computes := words.FormatShare(share)+" "+g.of, g.say("GPUs compute", g.verdict.Shares[step.Compute], "share",
		ratio(g.gpuTime("computation"), g.gpuTime("span")))
	switch b {
	case step.Input:
		how := "moderately"
		if share >= step.InputHigh {
			how = "highly"
		}
		text := fmt.Sprintf("The job is %s input-bound: data loading takes %s", how, part)
		if n := len(g.job.Steps); n > 0 {
			text += fmt.Sprintf(", %s of %s per step", g.say("data loading per step", g.job.Mean[step.Loader], "ns",
				g.stepQuery("avg(time)", " where part = 'loader'")),
				g.say("step", g.mean(), "ns", g.stepQuery("avg(end - begin)", "")))
		}
		return text + fmt.Sprintf(". GPUs compute for %s.%s", computes, g.longest(step.ByLoader))
	case step.LaunchBound:
		short, all := 0, 0
		for i := range g.job.GPUs {
			short, all = short+g.job.GPUs[i].Launch.Short, all+g.job.GPUs[i].Launch.Count
		}
		lead, of := "The job is launch-bound: GPUs are idle for %s because the host launches work late.", "Meanwhile"
		if g.longTold != nil {
			of = "During all waiting for the host"
		}
		gaps, longest := g.inLongGaps(share)
		switch {
		case g.unrecorded() > mainShare:
			lead = "GPUs are idle for %s until the next launch."
			part = words.FormatShare(share) + " " + g.theirs()
		case share < b.Threshold():
			lead = "GPUs are idle for %s because the host launches work late."
		case gaps != nil:
			lead = "Host-bound: GPUs are idle for %s because the host launches work late, mostly in " +
				words.Count(len(gaps), "long gap") + ", the longest of " + g.sayLongest(longest) + "."
			g.say("long gaps", float64(len(gaps)), "count", g.gapQuery("count(*)", gaps))
		}
		text := fmt.Sprintf(lead+" They compute for %s. %s: %s.", part, computes, of, g.host(launching))
		if 10*short > all && gaps == nil {
			text += fmt.Sprintf(" %s of the GPU operations (%s) are shorter than their launch.",
				g.say("work shorter than its launch", float64(short)/float64(all), "share",
					ratio(g.gpuTime("short"), g.gpuTime("launched"))), words.Thousands(int64(short)))
			g.say("gaps", float64(short), "count", "select "+g.gpuTime("short"))
		}
		return text
	case step.SynchronizationBound:
		lead := "The host synchronizes too often: "
		if share < b.Threshold() {
			lead = ""
		}
		return fmt.Sprintf("%sGPUs are idle for %s because the host waits for them to finish before it launches more "+
			"work. They compute for %s.%s", lead, part, computes, g.longest(step.BySynchronization))
	case step.CopyBound:
		return fmt.Sprintf("Copies that do not overlap with computation take %s. GPUs compute for %s.", part, computes)
	case step.CommunicationBound:
		return fmt.Sprintf("Communication that does not overlap with computation takes %s. GPUs compute for %s.%s",
			part,
			computes, g.overlap())
	}
	part = words.FormatShare(share) + " " + g.theirs()
	return fmt.Sprintf("GPUs have nothing to do for %s. Causes: %s. They compute for %s.", part,
		g.host(func(c step.Cause) bool { return !launching(c) && c != step.ByLoader && c != step.BetweenWorks }),
		computes)
}

// theirs is the base of shares after "GPUs".
func (g *gpuCase) theirs() string {
	if len(g.job.Steps) == 0 {
		return "of their time"
	}
	return g.of
}

// boundQuery asks for the share of a loss.
func (g *gpuCase) boundQuery(b step.Bound) string {
	span := g.gpuTime("span")
	idle := func(causes ...step.Cause) string {
		var parts []string
		for _, c := range causes {
			parts = append(parts, "idle: "+c.Words())
		}
		return g.gpuTime(parts...)
	}
	hosts := idle(step.ByOperators, step.ByPython, step.ByAnnotation, step.ByCall, step.ByNothing, step.ByAllocation,
		step.BySynchronization)
	if span == "" {
		return ""
	}
	switch b {
	case step.Input:
		loads := ratio(idle(step.ByLoader), span)
		if len(g.job.Steps) == 0 {
			return loads
		}
		return fmt.Sprintf("select max((%s), (%s))", loads,
			g.stepQuery("total(iif(part = 'loader', time, 0)) / total(time)", ""))
	case step.SynchronizationBound:
		return g.without(fmt.Sprintf("select min(%s, %s) / %s", g.gpuTime("drained"), hosts, span),
			func(x *step.Gap) bool { return x.Drained && x.Cause() != step.BySleep })
	case step.LaunchBound:
		return g.without(fmt.Sprintf("select max(%s - %s, 0) / %s", hosts, g.gpuTime("drained"), span),
			func(x *step.Gap) bool { return !x.Drained && x.Cause() != step.BySleep })
	case step.CopyBound:
		return ratio(g.gpuTime("exposed copy"), span)
	case step.CommunicationBound:
		return ratio(g.gpuTime("exposed communication", "idle: "+step.ByExchange.Words()), span)
	}
	return g.without(ratio(idle(step.ByUnknown, step.BySleep, step.ByQueue), span),
		func(x *step.Gap) bool { return x.Cause() == step.BySleep })
}

// mean length of a step.
func (g *gpuCase) mean() (sum float64) {
	for _, t := range g.job.Mean {
		sum += t
	}
	return sum
}

// launching are the causes by which a host is late with launches.
func launching(c step.Cause) bool {
	switch c {
	case step.ByOperators, step.ByPython, step.ByAnnotation, step.ByCall, step.ByNothing, step.ByAllocation,
		step.BySynchronization:
		return true
	}
	return false
}

// host names the host's activities while GPUs were idle, the largest parts of some causes.
func (g *gpuCase) host(some func(step.Cause) bool) string {
	var sum [step.Causes]trace.Time
	whole := trace.Time(0)
	for i := range g.job.GPUs {
		from := &g.job.GPUs[i].InSteps
		if len(g.job.Steps) == 0 {
			from = &g.job.GPUs[i].Causes
		}
		for c, t := range from {
			if some(step.Cause(c)) {
				sum[c] += t
				whole += t
			}
		}
	}
	var parts, all []string
	for c := range step.Cause(step.Causes) {
		if some(c) {
			all = append(all, "idle: "+c.Words())
		}
	}
	for _, c := range step.Ranked(sum) {
		if share := float64(sum[c]) / float64(max(whole, 1)); share >= 0.1 && len(parts) < 3 {
			parts = append(parts, c.Words()+" ("+g.say(c.Words(), share, "share",
				ratio(g.gpuTime("idle: "+c.Words()), g.gpuTime(slices.Clone(all)...)))+")")
		}
	}
	return strings.Join(parts, ", ")
}

// longest names the longest gap of a cause.
func (g *gpuCase) longest(c step.Cause) string {
	_, _, best := g.gapsOf(func(x *step.Gap) bool { return x.Cause() == c })
	if best == nil {
		return ""
	}
	text := " The longest wait is " + g.sayLongest(best)
	if best.gap.Host != trace.NoRegion {
		text += ", in " + g.regions[best.gap.Host].Name
	}
	return text + "."
}

func (g *gpuCase) overlap() string {
	var all, hidden trace.Time
	for i := range g.job.GPUs {
		all, hidden = all+g.job.GPUs[i].Communication, hidden+g.job.GPUs[i].Overlapped
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf(" %s of all communication overlaps with computation.",
		g.say("communication under computation", float64(hidden)/float64(all), "share",
			strings.ReplaceAll(ratio(g.gpuTime("overlapped"), g.gpuTime("communication")), "in_steps", "time")))
}
