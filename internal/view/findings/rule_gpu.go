package findings

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/peer"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/fingerprint"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A gpuCase is what is known of the GPUs of a run when its rules are heard.
type gpuCase struct {
	*court
	devices *view.Devices
	job     *step.Job
	verdict step.Verdict
	whole   trace.Time // of all GPUs in steps
	of      string     // "of the steps", or of the GPU's time where there are none
	said    []finding.Evidence
}

// say keeps a number that a sentence has as evidence of it, and writes it.
func (g *gpuCase) say(name string, v float64, unit string) string {
	e := finding.Evidence{Name: name, Value: v, Unit: unit}
	g.said = append(g.said, e)
	return Format(e)
}

// findGPULosses: what GPUs lose in steps, by cause. A run without GPUs has nothing to say here.
func findGPULosses(c *court) error {
	if c.profile || c.length <= 0 {
		return nil
	}
	d, part := sampleDevices(c)
	if len(d.GPUs) == 0 {
		return nil
	}
	job, err := jobOf(c, d, part)
	if err != nil {
		return err
	}
	g := &gpuCase{court: c, devices: d, job: job, verdict: job.Verdict(), of: "of the time of steps"}
	if g.verdict.Bound == step.NoGPU {
		return nil
	}
	if part != "" {
		c.notes = append(c.notes, part)
	} else if c.books.result == nil && c.alike.what == "GPUs" && !c.untimed {
		if c.sheet, err = gpuSheet(c, d, job); err != nil {
			return err
		}
	}
	for i := range job.Steps {
		for _, t := range job.Steps[i].GPUs {
			g.whole += t.Span
		}
	}
	if len(job.Steps) == 0 {
		g.of = "of the time of GPUs"
		for i := range job.GPUs {
			g.whole += job.GPUs[i].Span
		}
	}
	g.losses()
	if err := g.slowSteps(); err != nil {
		return err
	}
	if err := g.slowKernels(); err != nil {
		return err
	}
	return g.memory()
}

// slowKernels tells GPUs on which the same kernels take longer than on the others. Where somebody is named already
// because others wait for him it is more about him.
func (g *gpuCase) slowKernels() error {
	sums := make([]map[peer.Kind]peer.Sum, len(g.job.GPUs))
	for i := range sums {
		sums[i] = map[peer.Kind]peer.Sum{}
		for r, s := range g.job.GPUs[i].Kernels {
			sums[i][peer.Kind{Region: r}] = peer.Sum(s)
		}
	}
	list := peer.Find(sums)
	if len(list) == 0 {
		return nil
	}
	sums, err := g.byGrid()
	if err != nil {
		return err
	}
	if sums != nil { // a longer time may mean more work
		list = peer.Find(sums)
	}
	if len(list) > 0 {
		g.tellSlowKernels(list)
	}
	return nil
}

// byGrid adds up kernels by name and grid; nil where that is not told, or too much to look at.
func (g *gpuCase) byGrid() ([]map[peer.Kind]peer.Sum, error) {
	w := g.window
	w.Locations = nil
	for _, id := range g.devices.Rows {
		if g.devices.GPU[id] >= 0 {
			w.Locations = append(w.Locations, id)
		}
	}
	if !slices.Contains(g.store.Attributes(), "grid") || g.store.Count(w) > mostGrids {
		return nil, nil
	}
	var mu sync.Mutex
	grids := map[[3]int32]string{}
	err := view.AttributeNamed(g.ctx, g.store, w, "grid", func(c *store.AttributeColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, row := range c.Row {
			grids[[3]int32{int32(c.Location), int32(c.Lane), row}] = c.Value[i].String()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sums := make([]map[peer.Kind]peer.Sum, len(g.devices.GPUs))
	for i := range sums {
		sums[i] = map[peer.Kind]peer.Sum{}
	}
	kernel := make([]bool, len(g.regions))
	for i := range g.regions {
		term, ok := step.WorkTerm(&g.regions[i])
		kernel[i] = ok && term == step.Kernel
	}
	err = g.store.Intervals(g.ctx, w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		all := sums[g.devices.GPU[c.Location]]
		for i, r := range c.Region {
			if kernel[r] {
				k := peer.Kind{Region: r, Grid: grids[[3]int32{int32(c.Location), int32(c.Lane), int32(c.First + i)}]}
				all[k] = peer.Sum{Count: all[k].Count + 1, Time: all[k].Time + max(c.Duration[i], 0)}
			}
		}
		return nil
	})
	return sums, err
}

// mostGrids is how many pieces of work are looked at with the grid they were launched with; of more their names must
// do.
const mostGrids = 1 << 20

func (g *gpuCase) tellSlowKernels(list []peer.Slower) {
	s := &list[0]
	g.said = nil
	unit := g.devices.Units[g.devices.Owner[s.GPU]]
	name := view.UnitNames(g.tree, g.devices.Units)[g.devices.Owner[s.GPU]]
	at := []trace.LocationID{}
	lost := trace.Time(0)
	for i := range list {
		at = append(at, g.devices.GPUs[list[i].GPU])
		lost += list[i].Lost()
	}
	text := fmt.Sprintf("Kernels of %s run below their peers: all together they take %s times as long as the same "+
		"kernels on other GPUs", name, g.say("times as long", s.Ratio, ""))
	if len(s.Kernels) > 0 {
		k := &s.Kernels[0]
		text += fmt.Sprintf(", most of it %s, which takes %s a call against %s", middle(g.regions[k.Region].Name),
			g.say("a call", k.Mean, "ns"), g.say("a call on the others", k.Others, "ns"))
	}
	if len(list) > 1 {
		text += fmt.Sprintf("; so do those of %s", view.Count(len(list)-1, "other GPU"))
		g.say("other slow GPUs", float64(len(list)-1), "count")
	}
	hit := float64(s.Lost()) / float64(max(s.Time, 1))
	f := finding.Finding{Kind: finding.SlowKernels, Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: lost,
		Hit: hit, View: "operators", Options: map[string][]string{"by": {"kernel"}}, Text: text + ".",
		Selection: finding.Selection{Locations: at},
		Evidence: append([]finding.Evidence{{Name: "of the time of its kernels", Value: hit, Unit: "share"}},
			g.said...)}
	if slices.ContainsFunc(g.list, func(x finding.Finding) bool {
		return x.Kind == finding.Straggler &&
			slices.ContainsFunc(x.Selection.Locations, func(id trace.LocationID) bool {
				return id <= unit && unit <= g.tree.Last[id] || unit <= id && id <= g.tree.Last[unit]
			})
	}) {
		f.Severity = finding.Low
	}
	g.add(f, nil)
}

const (
	// fullMemory is the part of a device's memory that may be taken before it is told.
	fullMemory = 0.92
)

// memory tells devices whose memory is nearly full.
func (g *gpuCase) memory() error {
	peaks, err := view.MemoryPeaks(g.ctx, g.store, g.window, g.devices.GPUs)
	if err != nil {
		return err
	}
	var full []view.MemoryPeak
	for _, p := range peaks {
		if p.Limit > 0 && p.Taken() >= fullMemory*float64(p.Limit) {
			full = append(full, p)
		}
	}
	if len(full) == 0 {
		return nil
	}
	slices.SortFunc(full, func(a, b view.MemoryPeak) int {
		return cmp.Or(cmp.Compare(b.Taken()/float64(b.Limit), a.Taken()/float64(a.Limit)),
			cmp.Compare(a.Device, b.Device))
	})
	p := full[0]
	text := fmt.Sprintf("The memory of %s is nearly full: %s of %s are reserved, %s in use at most, at %s.",
		g.tree.Name[p.Device], view.FormatBytes(p.Taken()), view.FormatBytes(float64(p.Limit)),
		view.FormatBytes(p.Allocated), view.FormatTime(p.At))
	if len(full) > 1 {
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf("; so is that of %s.", view.Count(len(full)-1, "other"))
	}
	share := p.Taken() / float64(p.Limit)
	g.add(finding.Finding{Kind: finding.MemoryFull, Severity: finding.Medium, View: "timeline",
		Options: map[string][]string{"counters": {"memory*"}}, Text: text,
		Selection: finding.Selection{Locations: []trace.LocationID{p.Device}},
		Evidence: []finding.Evidence{{Name: "of the memory", Value: share, Unit: "share"},
			{Name: "reserved", Value: p.Taken(), Unit: "bytes"},
			{Name: "memory", Value: float64(p.Limit), Unit: "bytes"},
			{Name: "in use at most", Value: p.Allocated, Unit: "bytes"}, {Name: "at", Value: float64(p.At), Unit: "ns"},
			{Name: "others so full", Value: float64(len(full) - 1), Unit: "count"}}}, nil)
	return nil
}

// sampleDevices finds the GPUs. Of a run with very many intervals it looks at some ranks, evenly spread, and tells so.
func sampleDevices(c *court) (d *view.Devices, note string) {
	d = view.FindDevices(c.tree, c.window.Locations)
	if fingerprint.Whole(c.store, c.window) && fingerprint.HasJob(c.store, d) {
		return d, ""
	}
	w := c.window
	w.Locations = d.Rows
	n := c.store.Count(w)
	if n <= phase.MostScanned || len(d.Units) < 2 {
		return d, ""
	}
	every := int((n + phase.MostScanned - 1) / phase.MostScanned)
	var some []trace.LocationID
	for u := 0; u < len(d.Units); u += every {
		some = append(some, d.Units[u])
	}
	return view.FindDevices(c.tree, some),
		fmt.Sprintf("steps and idle GPUs are told of %d of %s, evenly spread: the run has more than %d M intervals",
			len(some), view.Count(len(d.Units), "rank"), phase.MostScanned>>20)
}

// jobOf takes the steps apart: those of a whole run are the ones that the view of steps has.
func jobOf(c *court, d *view.Devices, part string) (*step.Job, error) {
	if part == "" && fingerprint.Whole(c.store, c.window) && fingerprint.HasJob(c.store, d) {
		return fingerprint.Job(c.ctx, &c.request.Runs[0], d)
	}
	return gpuSource(c.ctx, c.store, c.window, d).Analyse()
}

// gpuSource is the run as package step asks it.
func gpuSource(ctx context.Context, r store.Reader, w store.Window, d *view.Devices) *step.Source {
	w.Locations = d.Rows
	return &step.Source{
		Regions: r.Regions(), Begin: w.Begin, End: w.End, Lanes: r.Lanes(), Unit: d.Unit, GPU: d.GPU,
		Units: len(d.Units), GPUs: len(d.GPUs), Owner: d.Owner,
		Scan: func(add func(*trace.Columns) error) error { return r.Intervals(ctx, w, add) },
		Launches: func(add func(from, to step.Place, at trace.Time)) error {
			return view.LaunchLinks(ctx, r, w,
				func(from, to store.Row, at trace.Time) { add(step.Place(from), step.Place(to), at) })
		},
		Attribute: func(name string, add func(trace.LocationID, int, []int32, []trace.Value)) error {
			if name != "step_num" && name != "step_number" { // only what marks steps is of use here
				return nil
			}
			return view.AttributeNamed(ctx, r, w, name, func(a *store.AttributeColumns) error {
				add(a.Location, a.Lane, a.Row, a.Value)
				return nil
			})
		},
	}
}

// losses tells each loss that passes its threshold. Waiting in communication is a symptom where somebody holds the
// others up.
func (g *gpuCase) losses() {
	held := slices.ContainsFunc(g.list, func(f finding.Finding) bool {
		return f.Severity == finding.High &&
			slices.Contains([]finding.Kind{finding.Straggler, finding.Rotating, finding.Imbalance, finding.Jitter,
				finding.Serial}, f.Kind)
	})
	for b := step.Input; b < step.Compute; b++ {
		share := g.verdict.Shares[b]
		if share < b.Threshold() || held && (b == step.CommunicationBound || b == step.IdleBound) {
			continue
		}
		g.said = nil
		f := finding.Finding{Kind: gpuKinds[b], Severity: finding.LevelOf(share),
			Lost: trace.Time(share * float64(g.whole)), Share: share, ShareOf: strings.TrimPrefix(g.of, "of "),
			Hit: share, View: "steps", Text: g.words(b, share)}
		if b != step.CopyBound && b != step.CommunicationBound {
			f.Options = map[string][]string{"picture": {"idle"}}
		}
		if b == step.IdleBound { // nobody knows whether it could be otherwise
			f.Severity = f.Severity.AtMost(finding.Medium)
		}
		f.Evidence = append([]finding.Evidence{{Name: "share", Value: share, Unit: "share"},
			{Name: "threshold", Value: b.Threshold(), Unit: "share"}}, g.said...)
		g.add(f, nil)
	}
}

var gpuKinds = [step.Bounds]finding.Kind{
	step.Input: finding.InputBound, step.LaunchBound: finding.LaunchBound,
	step.SynchronizationBound: finding.SynchronizationBound,
	step.CopyBound:            finding.CopyBound, step.CommunicationBound: finding.ExposedCommunication,
	step.IdleBound: finding.GPUIdle,
}

// words says a loss in a sentence or two.
func (g *gpuCase) words(b step.Bound, share float64) string {
	part, computes := view.FormatShare(share)+" "+g.of, g.say("GPUs compute", g.verdict.Shares[step.Compute], "share")
	switch b {
	case step.Input:
		how := "moderately"
		if share >= step.InputHigh {
			how = "highly"
		}
		text := fmt.Sprintf("The job is %s input-bound: loading data takes %s", how, part)
		if n := len(g.job.Steps); n > 0 {
			text += fmt.Sprintf(", %s of %s a step", g.say("data loading, a step", g.job.Mean[step.Loader], "ns"),
				g.say("a step", g.mean(), "ns"))
		}
		return text + fmt.Sprintf("; GPUs compute for %s.%s", computes, g.longest(step.ByLoader))
	case step.LaunchBound:
		short, all := 0, 0
		for i := range g.job.GPUs {
			short, all = short+g.job.GPUs[i].Launch.Short, all+g.job.GPUs[i].Launch.Count
		}
		text := fmt.Sprintf("The job is launch-bound: for %s GPUs wait for the host to launch work, and compute for "+
			"%s. Of that wait: %s.", part, computes, g.host(launching))
		if 10*short > all {
			text += fmt.Sprintf(" %s of the work (%s) runs for less time than its launch takes.",
				g.say("work shorter than its launch", float64(short)/float64(all), "share"), view.Count(short, "piece"))
			g.say("pieces of it", float64(short), "count")
		}
		return text
	case step.SynchronizationBound:
		return fmt.Sprintf("The host synchronizes too often: for %s GPUs are idle because it waited for them to "+
			"finish before it launched more; they compute for %s.%s", part, computes, g.longest(step.BySynchronization))
	case step.CopyBound:
		return fmt.Sprintf("Copies that nothing hides take %s; GPUs compute for %s.", part, computes)
	case step.CommunicationBound:
		return fmt.Sprintf("Communication that computation does not hide takes %s; GPUs compute for %s.%s", part,
			computes, g.overlap())
	}
	return fmt.Sprintf("GPUs have nothing to do for %s; of that: %s. They compute for %s.", part,
		g.host(func(c step.Cause) bool { return !launching(c) && c != step.ByLoader && c != step.BetweenWorks }),
		computes)
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

// host says what the host did while GPUs were idle, the largest parts of some causes.
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
	var parts []string
	for _, c := range step.Ranked(sum) {
		if share := float64(sum[c]) / float64(max(whole, 1)); share >= 0.1 && len(parts) < 3 {
			parts = append(parts, c.Words()+" "+g.say(c.Words(), share, "share"))
		}
	}
	return strings.Join(parts, ", ")
}

// longest names the longest gap of a cause.
func (g *gpuCase) longest(c step.Cause) string {
	var best *step.Gap
	for i := range g.job.GPUs {
		for k := range g.job.GPUs[i].Gaps {
			if x := &g.job.GPUs[i].Gaps[k]; x.Cause() == c && (best == nil || x.Length() > best.Length()) {
				best = x
			}
		}
	}
	if best == nil {
		return ""
	}
	text := fmt.Sprintf(" The longest wait is %s at %s", g.say("longest wait", float64(best.Length()), "ns"),
		g.say("it begins", float64(best.Begin), "ns"))
	if best.Host != trace.NoRegion {
		text += ", in " + g.regions[best.Host].Name
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
	return fmt.Sprintf(" Of all communication %s runs under computation.",
		g.say("communication under computation", float64(hidden)/float64(all), "share"))
}

const (
	// slowStep is how much longer than the median a step must be to be told, with at least four to compare.
	slowStep = 1.5
	// slowShare is the part of all steps that must be lost by it.
	slowShare = 0.05
)

// slowSteps names a step that takes much longer than the others, and what of it does.
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
		return finding.Median(list)
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
		by: best, most: most}
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
	evidence := []finding.Evidence{{Name: "times the median", Value: x.times, Unit: ""},
		{Name: "share", Value: x.share, Unit: "share"}, {Name: "more than the median step", Value: each, Unit: "ns"}}
	text := fmt.Sprintf("%s takes %.1f times as long as the others (%s more", x.name, x.times,
		view.FormatDuration(each))
	if ranks > 1 {
		text += fmt.Sprintf(" on each of %d ranks, %s in all", ranks, view.FormatDuration(x.extra))
		evidence = append(evidence, finding.Evidence{Name: "ranks", Value: float64(ranks), Unit: "count"},
			finding.Evidence{Name: "more, on all ranks", Value: x.extra, Unit: "ns"})
	}
	part := min(x.most/x.extra, 1)
	text += fmt.Sprintf("), %s of it by %s", view.FormatShare(part), termWords[x.by])
	evidence = append(evidence, finding.Evidence{Name: "of it by " + termWords[x.by], Value: part, Unit: "share"})
	region, more, err := x.region()
	if err != nil {
		return err
	}
	selected := finding.Selection{Begin: begin, End: end}
	if region != trace.NoRegion {
		text += fmt.Sprintf(", most in %s (%s more)", middle(x.regions[region].Name), view.FormatDuration(more))
		evidence = append(evidence,
			finding.Evidence{Name: x.regions[region].Name + ", more than in the other steps", Value: more, Unit: "ns"})
		selected.Regions = []trace.RegionID{region}
	}
	x.add(finding.Finding{Kind: finding.SlowStep, Severity: finding.LevelOf(x.share).AtMost(finding.Medium),
		Lost: trace.Time(x.extra), Hit: x.share, View: "steps",
		Text: text + ".", Selection: selected, Phases: []string{x.name}, Evidence: evidence}, nil)
	return nil
}

// leastNamed is the part of what a step takes longer that a region must have to be named.
const leastNamed = 0.3

// region is the one that takes most more in the step than in the others on average, on all ranks together: on GPUs
// where the step is slow by what they do, else on hosts. NoRegion where none stands out.
func (x *slowCase) region() (trace.RegionID, float64, error) {
	device := x.by <= step.Communication
	more := make([]float64, len(x.regions))
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
			return nil
		}
		others := 1 / float64(n-1)
		if err := add(own.Begin, own.End, 1+others); err != nil {
			return trace.NoRegion, 0, err
		}
		if err := add(first, last, -others); err != nil {
			return trace.NoRegion, 0, err
		}
	}
	best := trace.NoRegion
	for r := range more {
		if x.regions[r].Role != trace.RoleAnnotation && (best == trace.NoRegion || more[r] > more[best]) {
			best = trace.RegionID(r)
		}
	}
	if best == trace.NoRegion || more[best] < leastNamed*x.extra {
		return trace.NoRegion, 0, nil
	}
	return best, more[best], nil
}

var termWords = [step.Terms]string{"kernels", "copies", "setting memory", "communication", "calls of the GPU's library",
	"data loading", "operators and Python of the host", "time in which nothing is recorded"}
