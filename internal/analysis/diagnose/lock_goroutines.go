package diagnose

// Fault: processors are idle while goroutines wait for a lock.

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

// A holder is the goroutines of a function that others wait for.
type holder struct {
	name, does  string     // "main.write", "sleeps until it receives"
	at          *goPlace   // where they release the lock or receive; nil if that is not known
	time        trace.Time // in which others wait for that
	send, alike bool       // those that wait send; they are of the same function
	evidence    finding.Evidence
}

// holder finds the main holder during waits for locks or for a receiver: the goroutine that had the lock meanwhile, or
// that received at last.
func (s *scheduler) holder(waits trace.LocationID, region trace.RegionID) (h holder) {
	h.send = s.regions[region].Name == waitSend
	if !h.send && s.regions[region].Name != waitLock {
		return h
	}
	best, all := holding{}, trace.Time(0)
	for k, t := range s.held {
		if k.waits != waits || k.send != h.send {
			continue
		}
		all += t
		if t > h.time || t == h.time && (k.runs < best.runs || k.runs == best.runs &&
			(k.place < best.place || k.place == best.place && k.meanwhile < best.meanwhile)) {
			best, h.time = k, t
		}
	}
	if h.time == 0 || float64(h.time) < leastHeld*float64(all) || s.places[best.place].function == "" {
		return h
	}
	h.at, h.name, h.alike = &s.places[best.place], s.tree.Name[best.runs], best.runs == waits
	does := cmp.Or(best.meanwhile, "runs")
	switch {
	case h.send:
		h.does = does + " until it receives"
	case best.meanwhile != "":
		h.does = fmt.Sprintf("holds the lock (it %s)", does)
	default:
		h.does = does + " until it releases the lock"
	}
	where := fmt.Sprintf("what = %s and waits = %d and location = %d and place = %s", quoted(best.what()), waits,
		best.runs, quoted(h.at.function+" "+h.at.file))
	h.evidence = finding.Evidence{Name: fmt.Sprintf("of it while %s %s", h.name, does), Value: float64(h.time),
		Unit: "ns", From: s.schedulingQuery("total(time)", where)}
	return h
}

// place is the place in the words of a sentence.
func (h *holder) place() string {
	if h.at.function == h.name {
		return h.at.file
	}
	return fmt.Sprintf("%s, %s", words.Middle(h.at.function), h.at.file)
}

// next is the next step that follows from who holds the others up; "" if that is not known.
func (h *holder) next() string {
	if h.at == nil || !h.send || h.alike {
		return ""
	}
	return "Receive in more goroutines, or shorten what the receiver does between two receives."
}
