package findings

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// findScheduling hears the rules of traces that hold processors and the goroutines they
// ran. Goroutines are no peers, so none of the others is heard. A part of the regions
// has no whole to be held against, and says nothing.
func findScheduling(c *court) error {
	if c.profile || c.request.Selection.Regions != nil {
		return nil
	}
	s, err := newScheduler(c)
	if err != nil || s.capacity <= 0 {
		return err
	}
	if mean := s.capacity / float64(c.length); mean < 0.95*float64(len(c.processors)) {
		c.notes = append(c.notes,
			fmt.Sprintf("GOMAXPROCS is %.3g on average, so that some of the %d processors are not there all the time",
				mean, len(c.processors)))
	}
	c.sheet = &sheet{columns: c.processors,
		Accounts: Accounts{Time: trace.Time(s.capacity), Work: trace.Time(min(s.busy, s.capacity)),
			Waiting: trace.Time(s.capacity) - trace.Time(min(s.busy, s.capacity))}}
	s.collector()
	for _, find := range []func() error{s.findAlone, s.handOver, s.serial, s.holdUps, s.lockLosses, s.processorWait} {
		if err := find(); err != nil {
			return err
		}
	}
	return nil
}

const (
	// leastLate is the part of the time in which goroutines could run that they wait
	// longer than is ordinary.
	leastLate = 0.2
	// slightLate and mediumLate are how many wait on average for each processor.
	slightLate, mediumLate = 0.01, 0.25
	// fullProcessors is how busy processors are where there are too few of them.
	fullProcessors = 0.8
)

// processorWait: goroutines that could run wait long for a processor. Either all are
// busy, or they are not: Go's scheduler gives a goroutine to an idle processor at once,
// so what takes long then is for the system to run its thread. That a machine works at
// its limit is no fault of the program, so it is never grave.
func (s *scheduler) processorWait() error {
	late, life := 0.0, 0.0
	for _, l := range s.late {
		late, life = late+l.late, life+l.life
	}
	if !(late >= leastLate*s.could) || late < slightLate*s.capacity {
		return nil
	}
	m, err := s.meanwhile()
	if err != nil || m.waits == 0 {
		return err
	}
	level := finding.Medium
	if late < mediumLate*s.capacity {
		level = finding.Low
	}
	slices.SortFunc(s.groups,
		func(a, b goroutines) int { return cmp.Or(cmp.Compare(b.late, a.late), cmp.Compare(a.name, b.name)) })
	waited := 0.0
	for i := range s.groups {
		waited += s.groups[i].waited
	}
	top := &s.groups[0]
	n := int(math.Round(m.processors))
	text := fmt.Sprintf("Goroutines that could run waited %s for a processor and ran %s, most of all %s (%s, waited "+
		"%s, ran %s); ", view.FormatDuration(waited), view.FormatDuration(s.could-waited),
		middle(top.name), view.Count(top.n, "goroutine"), view.FormatDuration(top.waited), view.FormatDuration(top.ran))
	if m.busy >= fullProcessors {
		text += fmt.Sprintf(
			"meanwhile the %s %s busy %s of the time: more could run at once than there are processors.",
			view.Count(n, "processor"), plural(n, "was", "were"), view.FormatShare(m.busy),
		)
	} else {
		text += fmt.Sprintf("meanwhile the %s %s busy only %s of the time, as where the system gives the program "+
			"fewer cores than GOMAXPROCS and threads start late.", view.Count(n, "processor"), plural(n, "was", "were"),
			view.FormatShare(m.busy))
	}
	f := finding.Finding{Kind: finding.ProcessorWait, Severity: level, Lost: trace.Time(late), Hit: late / max(life, 1),
		Share: late / max(s.lives, 1), ShareOf: "the life of all goroutines", View: "boxprofile", Text: text,
		Evidence: []finding.Evidence{{Name: "waited for a processor", Value: waited, Unit: "ns"},
			{Name: "of it, longer than 100 µs each time", Value: late, Unit: "ns"},
			{Name: "ran", Value: s.could - waited, Unit: "ns"},
			{Name: "processors", Value: float64(n), Unit: "count"},
			{Name: "processors busy meanwhile", Value: m.busy, Unit: "share"},
			{Name: "waits looked at for that", Value: float64(m.waits), Unit: "count"},
			{Name: "processors busy in all", Value: s.busy / s.capacity, Unit: "share"}},
		Selection: finding.Selection{Begin: m.begin, End: m.end, Regions: s.regionNamed(stateRunnable, "state")}}
	for i := range s.groups {
		if g := &s.groups[i]; i < 3 && g.late >= 0.1*late {
			f.Selection.Locations = append(f.Selection.Locations, g.at)
			f.Evidence = append(f.Evidence, finding.Evidence{Name: g.name + " waited", Value: g.waited, Unit: "ns"})
		}
	}
	f.Evidence = append(f.Evidence, finding.Evidence{Name: top.name + " ran", Value: top.ran, Unit: "ns"},
		finding.Evidence{Name: top.name + ", goroutines", Value: float64(top.n), Unit: "count"})
	slices.Sort(f.Selection.Locations)
	s.add(f, nil)
	return nil
}

func (f *facts) regionNamed(name, category string) (ids []trace.RegionID) {
	for i := range f.regions {
		if g := &f.regions[i]; g.Name == name && g.Category == category {
			ids = append(ids, trace.RegionID(i))
		}
	}
	return ids
}

// ofProcessors is the base of what processors lose.
const ofProcessors = "the time of processors"

// The collector is told of where it takes these parts of the time in which processors
// are busy, and MediumShare or HighShare of all their time too: one that works while
// nothing else is to be done is no trouble. It is grave only where processors are
// busy half of the time.
const mediumCollector, highCollector = 0.10, 0.25

// collector: garbage collection takes processors from the program.
func (s *scheduler) collector() {
	cost := s.gc.cost()
	share, whole := cost/s.busy, cost/s.capacity
	level := finding.Medium
	switch {
	case !(share >= mediumCollector) || whole < finding.MediumShare:
		return
	case share >= highCollector && whole >= finding.HighShare && s.busy >= s.capacity/2:
		level = finding.High
	}
	parts, evidence := []string{},
		[]finding.Evidence{{Name: "garbage collection", Value: cost, Unit: "ns"},
			{Name: "processors busy", Value: s.busy, Unit: "ns"},
			{Name: "share of the busy time", Value: share, Unit: "share"}}
	for _, p := range []struct {
		time       float64
		name, text string
	}{{s.gc.workers - s.gc.idle, "background workers", "%s in background workers"},
		{s.gc.assists, "assists", "%s in assists of goroutines that allocate"},
		{s.gc.sweeps, "sweeps", "%s in sweeps"}, {s.gc.stopped, "world stopped", "%s with the world stopped"}} {
		evidence = append(evidence, finding.Evidence{Name: p.name, Value: p.time, Unit: "ns"})
		if p.time >= 0.01*cost {
			parts = append(parts, fmt.Sprintf(p.text, view.FormatDuration(p.time)))
		}
	}
	evidence = append(evidence,
		finding.Evidence{Name: "workers where nothing else was to run, not counted", Value: s.gc.idle, Unit: "ns"},
		finding.Evidence{Name: "collections", Value: s.gc.cycles, Unit: "count"})
	slices.Sort(s.gc.regions)
	s.add(finding.Finding{Kind: finding.GarbageCollection, Severity: level, Lost: trace.Time(cost), Hit: share,
		Share: whole, ShareOf: ofProcessors, View: "timeline", Evidence: evidence,
		Text: fmt.Sprintf("Garbage collection takes %s of the time in which processors are busy (%s of %s): %s.",
			view.FormatShare(share), view.FormatDuration(cost), view.FormatDuration(s.busy), strings.Join(parts, ", ")),
		Selection: finding.Selection{Locations: s.processors[:min(len(s.processors), mostChosen)],
			Regions: s.gc.regions}}, nil)
}

// collection is time of processors by what the garbage collector did in it.
type collection struct {
	workers, assists, sweeps, stopped float64
	idle                              float64 // of the workers, on processors that had nothing else to do
	cycles                            float64
	regions                           []trace.RegionID
}

func (g *collection) cost() float64 {
	return g.workers - g.idle + g.assists + g.sweeps + g.stopped
}

// addProcessor counts exclusive time of a region on a processor.
func (s *scheduler) addProcessor(g *trace.Region, id trace.RegionID, time float64) {
	if g.Role == trace.RoleIdle {
		return
	}
	s.busy += time
	sum := &s.gc.workers
	switch {
	case g.Category == "goroutine" && g.Name == gcWorker:
	case g.Category == "goroutine" && g.Name == "runtime.bgsweep", g.Category == "range" &&
		g.Name == "GC incremental sweep":
		sum = &s.gc.sweeps
	case g.Category == "range" && g.Name == "GC mark assist":
		sum = &s.gc.assists
	case g.Category == "range" && strings.HasPrefix(g.Name, "stop-the-world (GC"):
		sum = &s.gc.stopped
	default:
		return
	}
	*sum += time
	if !slices.Contains(s.gc.regions, id) {
		s.gc.regions = append(s.gc.regions, id)
	}
}

// mostLabels bounds how many stays of workers are looked up.
const mostLabels = 1 << 18

// idleWorkers finds the time of the collector's workers on processors that had nothing
// else to do: the runtime labels each stay of a worker. It costs nobody anything.
// O(stays of workers × log intervals), at most mostLabels of them.
func (s *scheduler) idleWorkers() error {
	label := slices.IndexFunc(s.regions,
		func(g trace.Region) bool { return g.Name == "GC (idle)" && g.Category == "label" })
	if label < 0 || s.gc.workers == 0 {
		return nil
	}
	var workers []trace.LocationID // chosen or not, it is they who were on the processors
	for id, k := range s.tree.Kind {
		if up := s.tree.Parent[id]; k == trace.KindGoroutine && up != trace.NoLocation && s.tree.Name[up] == gcWorker {
			workers = append(workers, trace.LocationID(id))
		}
	}
	all, seen := 0.0, 0
	for _, id := range workers {
		err := s.store.Instants(s.ctx,
			store.Window{Begin: s.window.Begin, End: s.window.End, Locations: []trace.LocationID{id}},
			func(x *store.InstantColumns) error {
				for i, t := range x.Time {
					if s.regions[x.Region[i]].Category != "label" {
						continue
					}
					stay := float64(s.stay(id, t))
					if all += stay; x.Region[i] == trace.RegionID(label) {
						s.gc.idle += stay
					}
					if seen++; seen >= mostLabels {
						return errEnough
					}
				}
				return nil
			})
		if errors.Is(err, errEnough) { // the others are taken to be alike
			s.gc.idle *= s.gc.workers / max(all, 1)
			break
		}
		if err != nil {
			return err
		}
	}
	s.gc.idle = min(s.gc.idle, s.gc.workers)
	return nil
}

// stay is how long a goroutine of the runtime runs at a time, within the selection.
func (s *scheduler) stay(id trace.LocationID, t trace.Time) trace.Time {
	lanes := s.store.Lanes()
	for lane := range int(lanes[id+1] - lanes[id]) {
		row, ok := s.store.At(id, lane, t)
		for ok {
			x, found := s.store.Interval(row)
			if !found || x.Len() == 0 {
				break
			}
			if g := &s.regions[x.Region[0]]; g.Category == "runtime" && g.Role == trace.RoleOverhead {
				return max(min(x.End(0), s.window.End)-max(x.Begin[0], s.window.Begin), 0)
			}
			row.Row, ok = int(x.Parent[0]), x.Parent[0] >= 0
		}
	}
	return 0
}

// A meanwhile is how busy processors were while goroutines waited for one. From begin
// to end most of the waiting happened.
type meanwhile struct {
	waits      int     // that were looked at
	busy       float64 // share
	processors float64 // mean number
	begin, end trace.Time
}

const (
	// mostWaits is how many waits are looked at.
	mostWaits = 256
	// edgeShare of them lies before, and after, the time in which most happened.
	edgeShare = 0.02
)

// meanwhile takes a sample of the waits, evenly spread over all time waited too long, and
// asks how busy processors were in exactly these. Slices of time would not do: waits come
// in bursts, and in a long run a slice holds a burst and the quiet after it.
// O(mostWaits × (intervals of a goroutine, at most mostStays, + processors × log intervals)).
func (s *scheduler) meanwhile() (m meanwhile, err error) {
	waits, err := s.sampleWaits()
	if err != nil || len(waits) == 0 {
		return m, err
	}
	m.waits = len(waits)
	for _, w := range waits {
		roles, err := s.store.RoleTime(s.ctx, s.processors, []trace.Time{w.begin, w.end})
		if err != nil {
			return m, err
		}
		busy := 0.0
		for r := range trace.Role(trace.RoleCount) {
			if r != trace.RoleIdle && r != trace.RoleNone {
				busy += roles[r].Float64()
			}
		}
		capacity := s.capacityOf(w.begin, w.end)
		m.busy += min(busy/max(capacity, 1), 1) / float64(m.waits)
		m.processors += capacity / float64(w.end-w.begin) / float64(m.waits)
	}
	edge := int(edgeShare * float64(m.waits))
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.begin, b.begin) })
	m.begin = waits[edge].begin
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.end, b.end) })
	m.end = waits[m.waits-1-edge].end
	return m, nil
}

type waitSpan struct{ begin, end trace.Time }

// sampleWaits takes waits at even distances along the time waited too long, goroutine
// after goroutine, and within one along all its waits: a wait twice as long is
// twice as likely to be taken.
func (s *scheduler) sampleWaits() (out []waitSpan, err error) {
	sum := 0.0
	for _, l := range s.late {
		sum += l.late
	}
	step := sum / mostWaits
	before, next := 0.0, step/2
	for _, l := range s.late {
		if next < before+l.late {
			waits, err := s.waitsOf(l.id)
			if err != nil {
				return nil, err
			}
			for ; next < before+l.late; next += step {
				if w, ok := along(waits, (next-before)/l.late); ok {
					out = append(out, w)
				}
			}
		}
		before += l.late
	}
	return out, nil
}

// waitsOf gives the waits of a goroutine for a processor that begin in the selection.
func (s *scheduler) waitsOf(id trace.LocationID) (waits []waitSpan, err error) {
	seen := 0
	err = s.store.Intervals(s.ctx,
		store.Window{Begin: s.window.Begin, End: s.window.End, Locations: []trace.LocationID{id}},
		func(x *trace.Columns) error {
			for i, r := range x.Region {
				if g := &s.regions[r]; g.Name == stateRunnable && g.Category == "state" && x.Duration[i] > 0 &&
					x.Begin[i] < s.window.End {
					waits = append(waits, waitSpan{x.Begin[i], min(x.End(i), s.window.End)})
				}
			}
			if seen += x.Len(); seen >= mostStays {
				return errEnough
			}
			return nil
		})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return waits, err
}

// along finds the wait at a part of the way along all of them.
func along(waits []waitSpan, part float64) (waitSpan, bool) {
	sum := trace.Time(0)
	for _, w := range waits {
		sum += w.end - w.begin
	}
	to := trace.Time(part * float64(sum))
	for _, w := range waits {
		if to -= w.end - w.begin; to < 0 {
			return w, true
		}
	}
	return waitSpan{}, false
}
