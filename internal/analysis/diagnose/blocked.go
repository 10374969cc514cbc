package diagnose

// Fault: goroutines hold one another up, by locks or by sends, while processors are idle.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// idleProcessors is how idle processors are where goroutines hold one another up: two
// of which one works under a lock are not quite half.
const idleProcessors = 0.4

// holdUps: goroutines that have something to do wait for a lock, or for a receiver of their sends, in many
// waits, while processors idle. At least one is blocked at any time, and half as many as processors idle;
// the loss is at most the work that these could do. A limit may be intended, so it is never severe.
func (s *scheduler) holdUps() error {
	idle := max(s.capacity-s.busy, 0)
	if idle < idleProcessors*s.capacity {
		return nil
	}
	sum, most, at, region := 0.0, (*blocked)(nil), (*goroutines)(nil), trace.NoRegion
	for i := range s.groups {
		g := &s.groups[i]
		for id, b := range g.blocked {
			sum += b.time
			if most == nil || b.time > most.time || b.time == most.time && id < region {
				most, at, region = b, g, id
			}
		}
	}
	if most == nil || sum < float64(s.length) || sum < idle/2 || most.time < at.ran {
		return nil
	}
	place, err := s.blockedAt(most.worst, region)
	if err != nil {
		return err
	}
	what := "on locks and wait groups"
	if s.regions[region].Name == waitSend {
		what = "in channel sends"
	}
	held := s.holder(at.at, region)
	lost, kind := min(sum, idle), finding.Blocked
	waited := []finding.Evidence{{Name: at.name + ", " + s.regions[region].Name, Value: most.time, Unit: "ns",
		From: s.blockedQuery(most, region)}}
	path := ""
	if held.at != nil {
		path, waited = held.at.path, append(waited, held.evidence)
		// Who holds the lock is known, and so is its cost.
		if t, _ := s.lockLoss(); t > 0 && !held.send {
			lost, kind = float64(t), finding.Lock
			waited = append(waited, finding.Evidence{Name: "processors idle for locks", Value: lost, Unit: "ns"})
		}
	}
	n := int(math.Round(s.capacity / float64(s.length)))
	text := fmt.Sprintf("%s The %s %s idle for %s of the time.", s.blockedWords(at, most, what+place, &held),
		words.Count(n, "processor"), words.Plural(n, "was", "were"), words.FormatShare(idle/s.capacity))
	s.add(finding.Finding{Kind: kind, Severity: finding.LevelOf(lost / s.capacity).AtMost(finding.Medium),
		Lost: trace.Time(lost), Hit: most.time / max(most.life, 1), Share: lost / s.capacity, ShareOf: ofProcessors,
		View: "timeline", Text: text, Next: held.next(), Place: path,
		Evidence: append(waited,
			finding.Evidence{Name: at.name + ", running", Value: at.ran, Unit: "ns",
				From: s.stateQuery(stateRunning, at)},
			finding.Evidence{Name: "waited on locks and in sends, all goroutines", Value: sum, Unit: "ns"},
			finding.Evidence{Name: "blocked at a time, mean", Value: sum / float64(s.length), Unit: "count"},
			finding.Evidence{Name: at.name + ", goroutines", Value: float64(most.n), Unit: "count"},
			finding.Evidence{Name: "processors idle", Value: idle, Unit: "ns", From: s.idleTimeQuery("max(%c - t, 0)")},
			finding.Evidence{Name: "share of the processors' time", Value: idle / s.capacity, Unit: "share",
				From: s.idleTimeQuery("max(%c - t, 0) / %c")}),
		Selection: finding.Selection{Locations: []trace.LocationID{at.at}, Regions: []trace.RegionID{region}}}, nil)
	s.gainOfProcessors(lost, "these goroutines did not wait for one another",
		s.spreadOver([]trace.RegionID{region}))
	return nil
}

// blockedWords describes the waiting of the goroutines of a function: who holds them up, if that explains most of it.
func (s *scheduler) blockedWords(at *goroutines, most *blocked, what string, held *holder) string {
	who, waited := fmt.Sprintf("%s of %s", words.Count(most.n, "goroutine"), words.Middle(at.name)),
		words.FormatDuration(most.time)
	ran := words.FormatDuration(at.ran)
	if held.at == nil || held.alike || float64(held.time) < most.time/2 {
		text := fmt.Sprintf("Goroutines wait for one another while processors are idle: %s waited %s %s and ran for "+
			"%s.", who, waited, what, ran)
		if held.at != nil {
			text += fmt.Sprintf(" For %s of the waiting, %s %s (%s).", words.FormatTime(held.time),
				words.Middle(held.name), held.does, held.place())
			if held.alike && held.send {
				text += " The waiting goroutines are also the receivers, as with a channel that is a semaphore."
			}
		}
		return text
	}
	return fmt.Sprintf("%s holds up %s: they waited %s %s, %s of it while %s %s (%s), and ran for %s.",
		words.Middle(held.name), who, waited, strings.TrimSuffix(what, ","), words.FormatTime(held.time),
		words.Middle(held.name), held.does, held.place(), ran)
}

// blockedQuery asks for the time of blocked goroutines in a region.
func (s *scheduler) blockedQuery(b *blocked, region trace.RegionID) string {
	if len(b.ids) > mostNumbers {
		return ""
	}
	return fmt.Sprintf("select total(inclusive) from time_in(%d, %d) where region_id = %d and location in (%s)",
		s.window.Begin, s.window.End, region, numbers(b.ids))
}

// idleTimeQuery asks for something of the time of processors, which takes the place of the verb, and t, that in which
// they are busy.
func (s *scheduler) idleTimeQuery(what string) string {
	return fmt.Sprintf("with b as (select total(exclusive) as t from time_in(%d, %d) where location in (%s) and role "+
		"<> 'idle') select %s from b", s.window.Begin, s.window.End, numbers(s.processors),
		strings.ReplaceAll(what, "%c", fmt.Sprintf("%.17g", s.capacity)))
}

// mostStays is how many intervals of one goroutine are read to find its place.
const mostStays = 1 << 16

// blockedAt is the place in the program where a goroutine spends most of its waits in a
// region, by their stacks: ", most at main.work (main.go:33),"; empty where none is known.
func (s *scheduler) blockedAt(id trace.LocationID, region trace.RegionID) (string, error) {
	stack := slices.Index(s.store.Attributes(), "stack")
	if stack < 0 {
		return "", nil
	}
	type row struct {
		lane int
		row  int32
	}
	w := store.Window{Begin: s.window.Begin, End: s.window.End, Locations: []trace.LocationID{id}}
	times, seen := map[row]trace.Time{}, 0
	err := s.store.Intervals(s.ctx, w, func(x *trace.Columns) error {
		for i, r := range x.Region {
			if r == region {
				times[row{x.Lane, int32(x.First + i)}] = x.Duration[i]
			}
		}
		if seen += x.Len(); seen >= mostStays {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	sums := map[string]trace.Time{}
	err = s.store.AttributeColumn(s.ctx, w, trace.AttributeID(stack), func(x *store.AttributeColumns) error {
		for i, r := range x.Row {
			if t, ok := times[row{x.Lane, r}]; ok {
				sums[caller(x.Value[i].String())] += t
			}
		}
		return nil
	})
	best := ""
	for at, t := range sums {
		if at != "" && (best == "" || t > sums[best] || t == sums[best] && at < best) {
			best = at
		}
	}
	return best, err
}

// caller is the innermost frame of the program in a stack, which has a line "function
// file:line" a frame.
func caller(stack string) string {
	if p := newPlace(stack); p.function != "" {
		return fmt.Sprintf(", most at %s (%s),", words.Middle(p.function), p.file)
	}
	return ""
}
