package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
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
		c.notes = append(c.notes, fmt.Sprintf("GOMAXPROCS is %.3g on average, so that some of the %d processors are not there all the time", mean, len(c.processors)))
	}
	c.sheet = &sheet{columns: c.processors, Accounts: Accounts{Time: trace.Time(s.capacity), Work: trace.Time(min(s.busy, s.capacity)), Waiting: trace.Time(s.capacity) - trace.Time(min(s.busy, s.capacity))}}
	s.collector()
	for _, find := range []func() error{s.serial, s.holdUps, s.processorWait} {
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
	slices.SortFunc(s.groups, func(a, b goroutines) int { return cmp.Or(cmp.Compare(b.late, a.late), cmp.Compare(a.name, b.name)) })
	waited := 0.0
	for i := range s.groups {
		waited += s.groups[i].waited
	}
	top := &s.groups[0]
	n := int(math.Round(m.processors))
	text := fmt.Sprintf("Goroutines that could run waited %s for a processor and ran %s, most of all %s (%s, waited %s, ran %s); ", view.FormatDuration(waited), view.FormatDuration(s.could-waited),
		middle(top.name), view.Count(top.n, "goroutine"), view.FormatDuration(top.waited), view.FormatDuration(top.ran))
	if m.busy >= fullProcessors {
		text += fmt.Sprintf("meanwhile the %s %s busy %s of the time: more could run at once than there are processors.", view.Count(n, "processor"), plural(n, "was", "were"), view.FormatShare(m.busy))
	} else {
		text += fmt.Sprintf("meanwhile the %s %s busy only %s of the time, as where the system gives the program fewer cores than GOMAXPROCS and threads start late.", view.Count(n, "processor"), plural(n, "was", "were"), view.FormatShare(m.busy))
	}
	f := finding.Finding{Kind: finding.ProcessorWait, Severity: level, Lost: trace.Time(late), Hit: late / max(life, 1), Share: late / max(s.lives, 1), View: "boxprofile", Text: text,
		Evidence: []finding.Evidence{{Name: "waited for a processor", Value: waited, Unit: "ns"}, {Name: "of it, longer than 100 µs each time", Value: late, Unit: "ns"}, {Name: "ran", Value: s.could - waited, Unit: "ns"},
			{Name: "processors", Value: float64(n), Unit: "count"}, {Name: "processors busy meanwhile", Value: m.busy, Unit: "share"}, {Name: "waits looked at for that", Value: float64(m.waits), Unit: "count"}, {Name: "processors busy in all", Value: s.busy / s.capacity, Unit: "share"}},
		Selection: finding.Selection{Begin: m.begin, End: m.end, Regions: s.regionNamed(stateRunnable, "state")}}
	for i := range s.groups {
		if g := &s.groups[i]; i < 3 && g.late >= 0.1*late {
			f.Selection.Locations = append(f.Selection.Locations, g.at)
			f.Evidence = append(f.Evidence, finding.Evidence{Name: g.name + " waited", Value: g.waited, Unit: "ns"})
		}
	}
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
