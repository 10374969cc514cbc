package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// lockLosses: processors idle while goroutines wait for a lock, where that is not reported with all that blocks them.
func (s *scheduler) lockLosses() error {
	if slices.ContainsFunc(s.list,
		func(f finding.Finding) bool { return f.Kind == finding.Blocked || f.Kind == finding.Lock }) {
		return nil
	}
	sum, most := s.lockLoss()
	share := float64(sum) / s.capacity
	level := finding.LevelOf(share).AtMost(finding.Medium)
	if most == nil || level == finding.Low {
		return nil
	}
	name := s.tree.Name[most.Location]
	place, meanwhile := s.heldAt(most)
	at, does, next := "", "runs until it releases the lock", ""
	if place != nil {
		at = fmt.Sprintf(" (%s)", place.file)
	}
	if meanwhile != "" {
		does = fmt.Sprintf("holds the lock (it %s) and releases it", meanwhile)
		next = "Release the lock before a goroutine sleeps or waits for the outside."
	}
	text := fmt.Sprintf("Processors are idle for %s, %s of their time, because goroutines wait for locks. For %s of "+
		"that, %s %s in %s%s.", words.FormatTime(sum), words.FormatShare(share),
		words.FormatTime(most.Time), words.Middle(name), does, words.Middle(most.Region), at)
	f := finding.Finding{Kind: finding.Lock, Severity: level, Lost: sum, Hit: share, Share: share,
		ShareOf: ofProcessors, View: "timeline", Text: text, Next: next,
		Evidence: []finding.Evidence{{Name: "processors idle for locks", Value: float64(sum), Unit: "ns",
			From: s.lockQuery("total(time)", "")},
			{Name: "share of the processors' time", Value: share, Unit: "share",
				From: s.lockQuery(fmt.Sprintf("total(time) / %.17g", s.capacity), "")},
			{Name: name + " in " + most.Region, Value: float64(most.Time), Unit: "ns",
				From: s.lockQuery("total(time)", fmt.Sprintf(" and location = %d and region = %s", most.Location,
					quoted(most.Region)))}},
		Selection: finding.Selection{Locations: []trace.LocationID{most.Location},
			Regions: s.regionNamed(waitLock, "state")}}
	if place != nil {
		f.Place = place.path
	}
	s.add(f, nil)
	s.gainOfProcessors(float64(sum), "no goroutine waited for locks", s.spreadOver(s.regionNamed(waitLock, "state")))
	return nil
}

// heldAt returns where the lock is given back that a cause holds, nil if that is not known, and what the goroutine does
// most of the time until then, if it does not run.
func (s *scheduler) heldAt(c *Cause) (place *goPlace, meanwhile string) {
	byPlace, byVerb := map[int32]trace.Time{}, map[string]trace.Time{}
	for k, t := range s.held {
		if !k.send && k.runs == c.Location && s.places[k.place].function == c.Region {
			byPlace[k.place] += t
			byVerb[k.meanwhile] += t
		}
	}
	if len(byPlace) == 0 {
		return nil, ""
	}
	return &s.places[longestOf(byPlace)], longestOf(byVerb)
}

// longestOf is the key of the longest time, the first of equal ones.
func longestOf[K cmp.Ordered](times map[K]trace.Time) (best K) {
	longest := trace.Time(-1)
	for k, t := range times {
		if t > longest || t == longest && k < best {
			best, longest = k, t
		}
	}
	return best
}

// lockQuery asks for something of the idle time of processors for locks; "" of a part of the run.
func (s *scheduler) lockQuery(what, where string) string {
	if !s.window.Whole(s.store) {
		return ""
	}
	return fmt.Sprintf("select %s from waits() where cause = %s%s", what, quoted(string(finding.Lock)), where)
}

// lockLoss returns the idle time of processors for locks, and the cause of most of it; nil if there is
// none.
func (s *scheduler) lockLoss() (sum trace.Time, most *Cause) {
	for i := range s.handed {
		if c := &s.handed[i]; c.Cause == string(finding.Lock) { // most first
			if sum += c.Time; most == nil {
				most = c
			}
		}
	}
	return sum, most
}

// leastHeld is the part of the waiting for locks by goroutines of a function that one place must cause to be named.
const leastHeld = 0.25

// A holder is the goroutine that others wait for: the words about it, the next step and the path of its code; all
// empty if it is not known.
type holder struct {
	text, next, path string
	evidence         []finding.Evidence
}

// holder names the main holder during waits for locks or for a receiver: the goroutine that had the lock meanwhile, or
// that received at last, and the place where it did so.
func (s *scheduler) holder(waits trace.LocationID, region trace.RegionID) holder {
	send := s.regions[region].Name == waitSend
	if !send && s.regions[region].Name != waitLock {
		return holder{}
	}
	best, most, all := holding{}, trace.Time(0), trace.Time(0)
	for k, t := range s.held {
		if k.waits != waits || k.send != send {
			continue
		}
		all += t
		if t > most || t == most && (k.runs < best.runs || k.runs == best.runs &&
			(k.place < best.place || k.place == best.place && k.meanwhile < best.meanwhile)) {
			best, most = k, t
		}
	}
	if most == 0 || float64(most) < leastHeld*float64(all) || s.places[best.place].function == "" {
		return holder{}
	}
	p, name := &s.places[best.place], s.tree.Name[best.runs]
	does := cmp.Or(best.meanwhile, "runs")
	h := holder{path: p.path, evidence: []finding.Evidence{{
		Name: fmt.Sprintf("waited while %s %s, up to %s", name, does, p.function), Value: float64(most), Unit: "ns",
		From: s.schedulingQuery("total(time)", fmt.Sprintf("what = %s and waits = %d and location = %d and place = %s",
			quoted(best.what()), waits, best.runs, quoted(p.function+" "+p.file)))}}}
	switch {
	case send && best.runs == waits:
		h.text = fmt.Sprintf(" For %s of the waiting, %s %s until it receives in %s (%s). The waiting goroutines are "+
			"also the receivers, as with a channel that is a semaphore.", words.FormatTime(most), words.Middle(name), does,
			words.Middle(p.function), p.file)
	case send:
		h.text = fmt.Sprintf(" For %s of the waiting, their receiver, %s, %s until it receives in %s (%s).",
			words.FormatTime(most), words.Middle(name), does, words.Middle(p.function), p.file)
		h.next = "Receive in more goroutines, or shorten what the receiver does between two receives."
	case best.meanwhile != "":
		h.text = fmt.Sprintf(" For %s of the waiting, %s held the lock (it %s) until it releases the lock in %s (%s).",
			words.FormatTime(most), words.Middle(name), best.meanwhile, words.Middle(p.function), p.file)
	default:
		h.text = fmt.Sprintf(" For %s of the waiting, %s ran until it releases the lock in %s (%s).",
			words.FormatTime(most), words.Middle(name), words.Middle(p.function), p.file)
	}
	return h
}
