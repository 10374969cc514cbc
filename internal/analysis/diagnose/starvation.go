package diagnose

// Fault: one goroutine of many with the same work hardly runs.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// fewestAlike is how many goroutines of a function must live long to be compared.
	fewestAlike = 3
	// starvedPart is how much of the others' time a starved goroutine runs at most.
	starvedPart = 0.2
	// starvedWait is the part of its life that it waits for a lock or a processor at least.
	starvedWait = 0.5
)

// starvation: of goroutines that start in one function and live as long, one hardly runs, since the others get the
// lock or the processor before it again and again. The loss is the time that it would have run as one of the others.
func (s *scheduler) starvation() error {
	var found *starved
	for i := range s.groups {
		if x := s.starvedOf(&s.groups[i]); x != nil && (found == nil || x.lost() > found.lost()) {
			found = x
		}
	}
	if found == nil {
		return nil
	}
	m := found.member
	what, wait := "for a lock", m.blocked
	if m.ready > m.blocked {
		what, wait = "for a processor", m.ready
	}
	name := s.tree.Name[m.id]
	hit := (m.blocked + m.ready) / max(m.life, 1)
	running, region := s.regionNamed(stateRunning, "state"), waitLock
	if m.ready > m.blocked {
		region = stateRunnable
	}
	ids := s.regionNamed(region, "state")
	own := func(regions []trace.RegionID) string {
		return fmt.Sprintf("select total(inclusive) from time_in(%d, %d) where region_id in (%s) and location = %d",
			s.window.Begin, s.window.End, numbers(regions), m.id)
	}
	s.add(finding.Finding{Kind: finding.Starvation,
		Severity: finding.LevelOf(hit).AtMost(finding.Medium), Lost: trace.Time(found.lost()), Hit: hit,
		Share: found.lost() / s.capacity, ShareOf: ofProcessors, View: "timeline",
		Text: fmt.Sprintf("%s of %s starves: it ran for %s, the other %d for %s (median). It waited %s %s.",
			capitalWord(name), words.Middle(found.group.name), words.FormatDuration(m.ran), found.others,
			words.FormatDuration(found.usual), words.FormatDuration(wait), what),
		Evidence: []finding.Evidence{{Name: name + " ran", Value: m.ran, Unit: "ns", From: own(running)},
			{Name: "others ran, median", Value: found.usual, Unit: "ns", From: s.usualQuery(found, "median(v)")},
			{Name: "others", Value: float64(found.others), Unit: "count", From: s.usualQuery(found, "count(*) - 1")},
			{Name: name + " waited " + what, Value: wait, Unit: "ns", From: own(ids)}},
		Selection: finding.Selection{Locations: []trace.LocationID{m.id}, Regions: ids}}, nil)
	return nil
}

// A starved is a goroutine that hardly runs next to others with the same to do.
type starved struct {
	group  *goroutines
	member *member
	others int
	usual  float64 // time that one of the others runs
}

func (x *starved) lost() float64 { return x.usual - x.member.ran }

// starvedOf finds the goroutine of a group that runs least, if it starves; nil if none does.
func (s *scheduler) starvedOf(g *goroutines) *starved {
	var ran []float64
	least := (*member)(nil)
	for i := range g.members {
		m := &g.members[i]
		if least == nil || m.ran < least.ran {
			least = m
		}
		ran = append(ran, m.ran)
	}
	if len(ran) < fewestAlike {
		return nil
	}
	usual := orderstat.Median(ran)
	if usual < finding.MediumShare*float64(s.length) || least.ran > starvedPart*usual ||
		least.blocked+least.ready < starvedWait*least.life {
		return nil
	}
	return &starved{g, least, len(ran) - 1, usual}
}

// usualQuery asks for something of the time v that each of the goroutines runs which are compared.
func (s *scheduler) usualQuery(x *starved, what string) string {
	if len(x.group.members) > mostNumbers {
		return ""
	}
	ids := make([]string, len(x.group.members))
	for i := range x.group.members {
		ids[i] = fmt.Sprintf("(%d)", x.group.members[i].id)
	}
	return fmt.Sprintf("with m(id) as (values %s), t as (select location, total(inclusive) as v from time_in(%d, %d) "+
		"where region_id in (%s) group by 1), r as (select coalesce(v, 0) as v from m left join t on location = id) "+
		"select %s from r", strings.Join(ids, ", "), s.window.Begin, s.window.End,
		numbers(s.regionNamed(stateRunning, "state")), what)
}
