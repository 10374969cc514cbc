package diagnose

// Fault of GPU jobs: a step takes much longer than the others.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// slowStep is how much longer than the median a step must be to be reported, with at least four to compare.
	slowStep = 1.5
	// slowShare is the part of all steps that must be lost by it.
	slowShare = 0.05
)

// slowSteps names a step that takes much longer than the others, and the part of it that does.
func (g *gpuCase) slowSteps() error {
	names, lines := []string{}, map[string]*[step.Terms + 1]float64{}
	for i := range g.job.Steps {
		s := &g.job.Steps[i]
		x := lines[s.Name]
		if x == nil {
			x = &[step.Terms + 1]float64{}
			names, lines[s.Name] = append(names, s.Name), x
		}
		for t, v := range s.Terms {
			x[t] += float64(v)
		}
		x[step.Terms] += float64(s.Total())
	}
	if len(names) < 4 {
		return nil
	}
	median := func(t int) float64 {
		list := make([]float64, 0, len(names))
		for _, n := range names {
			list = append(list, lines[n][t])
		}
		return orderstat.Median(list)
	}
	usual, whole := median(step.Terms), 0.0
	for _, n := range names {
		whole += lines[n][step.Terms]
	}
	slices.SortStableFunc(names,
		func(a, b string) int { return cmp.Compare(lines[b][step.Terms], lines[a][step.Terms]) })
	slow := names[0]
	extra := lines[slow][step.Terms] - usual
	if lines[slow][step.Terms] < slowStep*usual || extra < slowShare*whole ||
		lines[names[1]][step.Terms] > slowStep*usual {
		return nil
	}
	best, most := step.Other, 0.0
	for t := range step.Term(step.Terms) {
		if more := lines[slow][t] - median(int(t)); more > most {
			best, most = t, more
		}
	}
	x := slowCase{gpuCase: g, name: slow, times: lines[slow][step.Terms] / usual, extra: extra, share: extra / whole,
		by: best, most: most, steps: len(names)}
	var others []float64
	for _, n := range names[1:] {
		others = append(others, lines[n][step.Terms])
	}
	x.off = max(orderstat.Quantile(others, 0.75)-usual, usual-orderstat.Quantile(others, 0.25))
	return x.tell()
}

// A slowCase is a step that takes longer than the others, on all ranks together.
type slowCase struct {
	*gpuCase
	name         string
	times        float64 // as long as the median step
	extra, share float64 // time more than the median step, and as a part of all steps
	by           step.Term
	most         float64 // of extra, by it
	steps        int
	off          float64 // how far extra may be off: from the median step to the quartiles
}

func (x *slowCase) tell() error {
	if x.by == step.Communication &&
		slices.ContainsFunc(x.list,
			func(f finding.Finding) bool { return f.Severity != finding.Low && slices.Contains(f.Phases, x.name) }) {
		return nil // the others wait there for those who are named
	}
	var begin, end trace.Time
	ranks := 0
	for i := range x.job.Steps {
		if s := &x.job.Steps[i]; s.Name == x.name {
			if ranks == 0 {
				begin = s.Begin
			}
			begin, end, ranks = min(begin, s.Begin), max(end, s.End), ranks+1
		}
	}
	each := x.extra / float64(ranks)
	own := fmt.Sprintf("(select t from w where step = %s)", quoted(x.name))
	more := "(" + own + " - (select median(t) from w))"
	evidence := []finding.Evidence{
		{Name: "times the median", Value: x.times, Unit: "", From: x.ask(own + " / (select median(t) from w)")},
		{Name: "share", Value: x.share, Unit: "share", From: x.ask(more + " / (select total(t) from w)")},
		{Name: "more than the median step", Value: each, Unit: "ns", From: x.ask(fmt.Sprintf("%s / %d", more, ranks))}}
	text := fmt.Sprintf("%s takes %.1f times as long as the others (%s more", x.name, x.times,
		words.FormatDuration(each))
	if ranks > 1 {
		text += fmt.Sprintf(" on each of %d ranks, %s in all", ranks, words.FormatDuration(x.extra))
		evidence = append(evidence, finding.Evidence{Name: "ranks", Value: float64(ranks), Unit: "count"},
			finding.Evidence{Name: "more, on all ranks", Value: x.extra, Unit: "ns", From: x.ask(more)})
	}
	part := min(x.most/x.extra, 1)
	text += fmt.Sprintf("), %s of it by %s", words.FormatShare(part), termWords[x.by])
	ofPart := fmt.Sprintf("from s where part = %s", quoted(x.by.String()))
	evidence = append(evidence, finding.Evidence{Name: "of it by " + termWords[x.by], Value: part, Unit: "share",
		From: x.ask(fmt.Sprintf("min(((select t %s and step = %s) - (select median(t) %s)) / %s, 1)", ofPart,
			quoted(x.name), ofPart, more))})
	region, longer, from, err := x.region()
	if err != nil {
		return err
	}
	selected := finding.Selection{Begin: begin, End: end}
	if region != trace.NoRegion {
		text += fmt.Sprintf(", %s in %s (%s more)", mostWord(longer, each), words.Middle(x.regions[region].Name),
			words.FormatDuration(longer))
		evidence = append(evidence, finding.Evidence{Name: x.regions[region].Name + ", more than in the other steps",
			Value: longer, Unit: "ns", From: from})
		selected.Regions = []trace.RegionID{region}
	}
	x.add(finding.Finding{Kind: finding.SlowStep, Severity: finding.LevelOf(x.share).AtMost(finding.Medium),
		Lost: trace.Time(x.extra), Hit: x.share, View: "steps", Causes: causesOfTerm[x.by],
		Text: text + ".", Selection: selected, Phases: []string{x.name}, Evidence: evidence}, nil)
	x.gainOfRun(x.extra/float64(max(ranks, 1)), "it took as long as the other steps", spread{})
	if g := x.list[len(x.list)-1].Gain; g != nil {
		g.Parts, g.Error = x.steps, trace.Time(x.off/float64(max(ranks, 1)))
	}
	return nil
}

// ask asks for something of s, the time of steps by part, and w, that of steps, on all ranks together.
func (x *slowCase) ask(what string) string {
	steps := x.stepQuery("step, part, total(time) as t", " group by 1, 2")
	if steps == "" {
		return ""
	}
	return fmt.Sprintf("with s as (%s), w as (select step, total(t) as t from s group by 1) select %s", steps, what)
}

// mostParts bounds the sums of a query.
const mostParts = 100

// leastNamed is the part of a step's extra time that a region must have to be named.
const leastNamed = 0.3

// region is the one that takes most more in the step than in the others on average, on all ranks together: on GPUs
// if their work makes the step slow, else on hosts. NoRegion if none stands out.
// From is the query that gives the time again.
func (x *slowCase) region() (region trace.RegionID, time float64, from string, err error) {
	device := x.by <= step.Communication
	more := make([]float64, len(x.regions))
	var parts []string // of a query for a region
	for unit := range x.devices.Units {
		w := store.Window{}
		for _, id := range x.devices.Rows {
			if int(x.devices.Unit[id]) == unit && (x.devices.GPU[id] >= 0) == device {
				w.Locations = append(w.Locations, id)
			}
		}
		first, last, own, n := trace.Time(-1), trace.Time(0), (*step.Step)(nil), 0
		for i := range x.job.Steps {
			s := &x.job.Steps[i]
			if s.Unit != unit {
				continue
			}
			if first < 0 || s.Begin < first {
				first = s.Begin
			}
			last, n = max(last, s.End), n+1
			if s.Name == x.name {
				own = s
			}
		}
		if own == nil || n < 2 || len(w.Locations) == 0 {
			continue
		}
		add := func(begin, end trace.Time, factor float64) error {
			w.Begin, w.End = begin, end
			t, err := store.TotalTime(x.ctx, x.store, w)
			if err != nil {
				return err
			}
			for i, r := range t.Region {
				more[r] += factor * t.Exclusive[i].Float64()
			}
			parts = append(parts, fmt.Sprintf("%.17g * (select total(exclusive) from time_in(%d, %d) where location "+
				"in (%s) and region_id = ", factor, begin, end, numbers(w.Locations)))
			return nil
		}
		others := 1 / float64(n-1)
		if err := add(own.Begin, own.End, 1+others); err != nil {
			return trace.NoRegion, 0, "", err
		}
		if err := add(first, last, -others); err != nil {
			return trace.NoRegion, 0, "", err
		}
	}
	best := trace.NoRegion
	for r := range more {
		if x.regions[r].Role != trace.RoleAnnotation && (best == trace.NoRegion || more[r] > more[best]) {
			best = trace.RegionID(r)
		}
	}
	if best == trace.NoRegion || more[best] < leastNamed*x.extra {
		return trace.NoRegion, 0, "", nil
	}
	if len(parts) > mostParts {
		return best, more[best], "", nil
	}
	for i := range parts {
		parts[i] += fmt.Sprint(best) + ")"
	}
	return best, more[best], "select " + strings.Join(parts, " + "), nil
}

var termWords = [step.Terms]string{"kernels", "copies", "setting memory", "communication", "calls of the GPU's library",
	"data loading", "operators and Python of the host", "time in which nothing is recorded"}
