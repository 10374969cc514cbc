package diagnose

// Fault: more threads could run than there are processors.

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/concurrency"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// crowded reports whether units are all those of machines that hold more than the others do.
func (a *culprits) crowded(units []int32) bool {
	machine := func(u int32) trace.LocationID {
		for up := a.units[u]; up != trace.NoLocation; up = a.tree.Parent[up] {
			if a.tree.Kind[up] == trace.KindMachine {
				return up
			}
		}
		return trace.NoLocation
	}
	all, slow := map[trace.LocationID]int{}, map[trace.LocationID]int{}
	for u := range a.units {
		all[machine(int32(u))]++
	}
	for _, u := range units {
		slow[machine(u)]++
	}
	if len(all) < 2 || all[trace.NoLocation] > 0 {
		return false
	}
	least, most := len(a.units), 0
	for m, n := range all {
		if slow[m] > 0 && slow[m] != n {
			return false
		}
		if slow[m] > 0 {
			least = min(least, n)
		} else {
			most = max(most, n)
		}
	}
	return most > 0 && float64(least) >= 1.5*float64(most)
}

// leastCrowded is the part of the time in which threads ran or could have run that they wait for a
// processor while all are taken.
const leastCrowded = 0.05

// findCrowded: more threads could run than there are processors, by the records of the system's scheduler:
// threads are ready to run, and every processor runs another.
func findCrowded(c *diagnosis) error {
	if c.spans || len(c.processors) > 0 {
		return nil
	}
	var rows []trace.LocationID
	processors := 0
	for id, k := range c.tree.Kind {
		switch {
		case k == trace.KindRepeat &&
			(c.window.Locations == nil || slices.Contains(c.window.Locations, c.tree.Parent[id])):
			rows = append(rows, trace.LocationID(id))
		case k == trace.KindProcessor:
			processors++
		}
	}
	if c.profile || len(rows) == 0 || processors == 0 || len(c.regionNamed(stateRunnable, "state")) == 0 {
		return nil
	}
	var ran, waited, crowded trace.Time // thread-time; crowded is time
	could := 0.0
	sweep := concurrency.New(len(rows), c.window.Begin)
	sweep.Span = func(begin, end trace.Time, in *[concurrency.States]int) {
		d := end - begin
		ran += d * trace.Time(in[concurrency.Busy])
		if in[concurrency.Ready] > 0 && in[concurrency.Busy] >= processors {
			waited += d * trace.Time(in[concurrency.Ready])
			crowded += d
			could += float64(d) * float64(in[concurrency.Ready]+in[concurrency.Busy])
		}
	}
	err := sweepRows(c, rows, sweep, func(r trace.RegionID) concurrency.State {
		switch g := &c.regions[r]; {
		case g.Category != "state":
		case g.Name == stateRunning:
			return concurrency.Busy
		case g.Name == stateRunnable:
			return concurrency.Ready
		}
		return concurrency.Waiting
	})
	hit := float64(waited) / float64(max(ran+waited, 1))
	if err != nil || crowded == 0 || hit < leastCrowded {
		return err
	}
	mean := could / float64(crowded)
	c.add(finding.Finding{Kind: finding.Crowded, Severity: finding.LevelOf(hit), Lost: waited, Hit: hit,
		Share:   float64(waited) / (float64(c.length) * float64(len(rows))),
		ShareOf: "the time of " + words.Count(len(rows), "thread"), View: "timeline",
		Text: fmt.Sprintf("For %s of the time there are more runnable threads than processors: %.1f on average then, "+
			"for %s. They waited %s for a processor, %s of the time in which they ran or were runnable.",
			words.FormatShare(float64(crowded)/float64(c.length)), mean, words.Count(processors, "processor"),
			words.FormatTime(waited), words.FormatShare(hit)),
		Evidence: []finding.Evidence{{Name: "waited for a processor", Value: float64(waited), Unit: "ns"},
			{Name: "ran", Value: float64(ran), Unit: "ns"},
			{Name: "share of the time in which threads ran or could", Value: hit, Unit: "share"},
			{Name: "processors", Value: float64(processors), Unit: "count"},
			{Name: "could run, mean", Value: mean, Unit: "count"},
			{Name: "more than processors for", Value: float64(crowded), Unit: "ns"},
			{Name: "share of the run", Value: float64(crowded) / float64(c.length), Unit: "share"}},
		Selection: finding.Selection{Regions: c.regionNamed(stateRunnable, "state")}}, nil)
	return nil
}
