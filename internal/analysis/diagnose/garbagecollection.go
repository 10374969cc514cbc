package diagnose

// Fault: Go's garbage collector takes processors from the program.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

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
		[]finding.Evidence{{Name: "garbage collection", Value: cost, Unit: "ns", From: s.collectorQuery("c - i")},
			{Name: "processors busy", Value: s.busy, Unit: "ns", From: s.collectorQuery("b")},
			{Name: "share of the busy time", Value: share, Unit: "share", From: s.collectorQuery("(c - i) / b")}}
	for _, p := range []struct {
		time       float64
		name, text string
		part       int
		from       string
	}{{s.gc.workers - s.gc.idle, "background workers", "%s in background workers", gcWorkers, "p - i"},
		{s.gc.assists, "assists", "%s in assists of goroutines that allocate", gcAssists, "p"},
		{s.gc.sweeps, "sweeps", "%s in sweeps", gcSweeps, "p"},
		{s.gc.stopped, "world stopped", "%s with the world stopped", gcStopped, "p"}} {
		evidence = append(evidence, finding.Evidence{Name: p.name, Value: p.time, Unit: "ns",
			From: s.collectorQuery(p.from, s.gc.parts[p.part]...)})
		if p.time >= 0.01*cost {
			parts = append(parts, fmt.Sprintf(p.text, words.FormatDuration(p.time)))
		}
	}
	evidence = append(evidence,
		finding.Evidence{Name: "workers where nothing else was to run, not counted", Value: s.gc.idle, Unit: "ns"},
		finding.Evidence{Name: "collections", Value: s.gc.cycles, Unit: "count"})
	slices.Sort(s.gc.regions)
	s.add(finding.Finding{Kind: finding.GarbageCollection, Severity: level, Lost: trace.Time(cost), Hit: share,
		Share: whole, ShareOf: ofProcessors, View: "timeline", Evidence: evidence,
		Text: fmt.Sprintf("Garbage collection takes %s of the time in which processors are busy (%s of %s): %s.",
			words.FormatShare(share), words.FormatDuration(cost), words.FormatDuration(s.busy),
			strings.Join(parts, ", ")),
		Selection: finding.Selection{Locations: s.processors[:min(len(s.processors), mostChosen)],
			Regions: s.gc.regions}}, nil)
	s.gainOfProcessors(cost, "there were no garbage", s.spreadOver(s.gc.regions))
}

// collection is time of processors by the garbage collector's activity in it.
type collection struct {
	workers, assists, sweeps, stopped float64
	idle                              float64 // of the workers, on processors that had nothing else to do
	cycles                            float64
	regions                           []trace.RegionID
	parts                             [4][]trace.RegionID // the same, by part
	estimated                         bool                // idle is that of some stays
}

// Parts of the collector's time.
const (
	gcWorkers = iota
	gcAssists
	gcSweeps
	gcStopped
)

// collectorQuery asks for something of b, the time in which processors are busy, c, that of the collector, p, that of
// some of its regions, and i, that of workers on processors with nothing else to do.
func (s *scheduler) collectorQuery(what string, part ...trace.RegionID) string {
	if s.gc.estimated || !s.window.Whole(s.store) {
		return ""
	}
	in := fmt.Sprintf("location in (%s)", numbers(s.processors))
	time := func(where string) string {
		return fmt.Sprintf("(select total(exclusive) from time_in(%d, %d) where %s and %s)", s.window.Begin,
			s.window.End,
			in, where)
	}
	idle := "(select total(i.duration) from instants t join intervals i on i.location = t.location and i.begin <= " +
		"t.time and i.\"end\" > t.time where t.region = 'GC (idle)' and t.category = 'label' and i.category = " +
		"'runtime' and i.role = 'overhead')"
	return fmt.Sprintf("with x as materialized (select %s as b, %s as c, %s as p, %s as w, %s as i0), y as (select "+
		"b, c, p, min(i0, w) as i from x) select %s from y", time("role <> 'idle'"),
		time("region_id in ("+numbers(s.gc.regions)+")"), time("region_id in ("+numbers(part)+")"),
		time("region_id in ("+numbers(s.gc.parts[gcWorkers])+")"), idle, what)
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
	sum, part := &s.gc.workers, gcWorkers
	switch {
	case g.Category == "goroutine" && g.Name == gcWorker:
	case g.Category == "goroutine" && g.Name == "runtime.bgsweep", g.Category == "range" &&
		g.Name == "GC incremental sweep":
		sum, part = &s.gc.sweeps, gcSweeps
	case g.Category == "range" && g.Name == "GC mark assist":
		sum, part = &s.gc.assists, gcAssists
	case g.Category == "range" && strings.HasPrefix(g.Name, "stop-the-world (GC"):
		sum, part = &s.gc.stopped, gcStopped
	default:
		return
	}
	*sum += time
	if !slices.Contains(s.gc.regions, id) {
		s.gc.regions = append(s.gc.regions, id)
		s.gc.parts[part] = append(s.gc.parts[part], id)
	}
}

// mostLabels bounds how many stays of workers are looked up.
const mostLabels = 1 << 18

// idleWorkers finds the time of the collector's workers on processors that had nothing
// else to do: the runtime labels each stay of a worker. It costs nothing.
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
					long, err := s.stay(id, t)
					if err != nil {
						return err
					}
					stay := float64(long)
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
			s.gc.estimated = true
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
func (s *scheduler) stay(id trace.LocationID, t trace.Time) (trace.Time, error) {
	lanes := s.store.Lanes()
	for lane := range int(lanes[id+1] - lanes[id]) {
		row, ok, err := s.store.At(id, lane, t)
		for ok {
			x, err := s.store.Interval(row)
			if err != nil {
				return 0, err
			}
			if x == nil {
				break
			}
			if g := &s.regions[x.Region[0]]; g.Category == "runtime" && g.Role == trace.RoleOverhead {
				return max(min(x.End(0), s.window.End)-max(x.Begin[0], s.window.Begin), 0), nil
			}
			row.Row, ok = int(x.Parent[0]), x.Parent[0] >= 0
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}
