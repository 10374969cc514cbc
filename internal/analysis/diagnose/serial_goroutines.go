package diagnose

// Fault: goroutines of one function run while all other processors are idle.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/concurrency"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// leastAlone is how long goroutines of one function run alone for it to be a stretch; shorter ones are
	// usual in a program with little work.
	leastAlone = 500_000
	// pauseAlone may be between two parts of one stretch.
	pauseAlone = 100_000
	// leastParallel is the part of the run in which half of the processors, and two, are busy: a
	// program that never does two things at once has no serial parts.
	leastParallel = 0.05
)

// A solo is the time in which goroutines of one function run while all other processors idle.
type solo struct {
	region      trace.RegionID
	time        trace.Time
	capacity    float64    // of processors in that time
	lost        float64    // of processors that idle meanwhile
	locked      trace.Time // their idle time for a lock, which is not in it
	count       int
	each        spread     // of the time, over stretches
	begin, end  trace.Time // of the longest stretch
	from, until trace.Time // of the stretch that is open
	idle        map[int32]trace.Time
	open        []soloIdle // of the stretch that is open
}

// A soloIdle is a processor that idles meanwhile.
type soloIdle struct {
	processor  int32
	begin, end trace.Time
}

// A soloSpan is the same, of a stretch that counts.
type soloSpan struct {
	begin, end trace.Time
	of         *solo
}

// close ends the open stretch, which counts where it is long enough. Processors beyond GOMAXPROCS do not
// idle.
func (x *solo) close(s *scheduler) {
	if d := x.until - x.from; d >= leastAlone {
		x.time += d
		x.capacity += s.capacityOf(x.from, x.until)
		x.count++
		x.each.add(float64(d))
		s.noteAlone(runsAlone, x.region, x.from, x.until, d)
		for _, o := range x.open {
			s.present(s.ids[o.processor], o.begin, o.end, func(begin, end trace.Time) {
				x.lost += float64(end - begin)
				x.idle[o.processor] += end - begin
				s.alone[o.processor] = append(s.alone[o.processor], soloSpan{begin, end, x})
				s.noteAlone(idlesAlone, x.region, begin, end, end-begin)
			})
		}
		if d > x.end-x.begin {
			x.begin, x.end = x.from, x.until
		}
	}
	x.open = x.open[:0]
}

// findAlone finds the stretches in which one function runs alone, where the program does more at once at other times.
func (s *scheduler) findAlone() error {
	s.alone = make([][]soloSpan, len(s.processors))
	list, parallel, err := s.solos()
	if err != nil || float64(parallel) < leastParallel*float64(s.length) {
		s.alone = make([][]soloSpan, len(s.processors))
		return err
	}
	s.solo, s.inParallel = list, parallel
	for _, l := range s.alone {
		slices.SortFunc(l, func(a, b soloSpan) int { return cmp.Compare(a.begin, b.begin) })
	}
	return nil
}

// serial: stretches in which one goroutine of the program runs and the other processors
// idle, all of them together, by the function that the goroutine began with.
func (s *scheduler) serial() error {
	list, parallel := s.solo, s.inParallel
	slices.SortFunc(list,
		func(a, b *solo) int { return cmp.Or(cmp.Compare(b.lost, a.lost), cmp.Compare(a.region, b.region)) })
	for _, x := range list {
		s.charged.charge(finding.Serial, s.at(s.regions[x.region].Name), s.regions[x.region].Name, trace.Time(x.lost),
			x.idle)
	}
	for _, c := range s.handed {
		n := len(s.charged.rows)
		if s.charged.charge(finding.Kind(c.Cause), c.Location, c.Region, c.Time, c.victims); len(s.charged.rows) > n {
			s.charged.rows[n].Direct = min(c.Direct, s.charged.rows[n].Time)
		}
	}
	for _, x := range list[:min(len(list), mostLate)] {
		level := finding.LevelOf(x.lost / s.capacity).AtMost(finding.Medium) // it may have to be so
		if level == finding.Low || x.lost < list[0].lost/4 {
			break
		}
		if float64(x.locked) > x.lost {
			continue // it holds a lock
		}
		but := ""
		if x.locked > 0 {
			but = ", not for a lock"
		}
		name := s.regions[x.region].Name
		text := fmt.Sprintf("%s runs alone for %s in %s, %s of the run. Meanwhile other processors are idle for %s%s. "+
			"The longest segment takes %s, at %s.", words.Middle(name), words.FormatTime(x.time), words.Count(x.count,
			"segment"),
			words.FormatShare(float64(x.time)/float64(s.length)), words.FormatDuration(x.lost), but,
			words.FormatTime(x.end-x.begin), words.FormatTime(x.begin))
		s.add(finding.Finding{Kind: finding.Serial, Severity: level, Lost: trace.Time(x.lost),
			Hit: float64(x.time) / float64(s.length), Share: x.lost / s.capacity, ShareOf: ofProcessors,
			View: "timeline", Text: text,
			Evidence: []finding.Evidence{{Name: name + " alone", Value: float64(x.time), Unit: "ns",
				From: s.aloneQuery("total(time)", name, runsAlone)},
				{Name: "stretches", Value: float64(x.count), Unit: "count",
					From: s.aloneQuery("count(*)", name, runsAlone)},
				{Name: "longest stretch", Value: float64(x.end - x.begin), Unit: "ns",
					From: s.aloneQuery("max(time)", name, runsAlone)},
				{Name: "share of the run", Value: float64(x.time) / float64(s.length), Unit: "share",
					From: s.aloneQuery(fmt.Sprintf("total(time) / %d", s.length), name, runsAlone)},
				{Name: "other processors idle meanwhile", Value: x.lost, Unit: "ns",
					From: s.aloneQuery("total(time)", name, idlesAlone, idlesLock)},
				{Name: "half of the processors busy", Value: float64(parallel), Unit: "ns"}},
			Selection: finding.Selection{Begin: x.begin, End: x.end,
				Locations: s.processors[:min(len(s.processors), mostChosen)]}}, nil)
		s.gainOfRun(x.lost*float64(x.time)/x.capacity, "all processors shared this work", x.each)
	}
	return nil
}

// at is where goroutines of a function are.
func (s *scheduler) at(function string) trace.LocationID {
	for i := range s.groups {
		if s.groups[i].name == function {
			return s.groups[i].at
		}
	}
	return s.processors[0]
}

// solos sweeps the processors. It reads their intervals once, in steps of time.
func (s *scheduler) solos() (list []*solo, parallel trace.Time, err error) {
	sweep := concurrency.New(len(s.processors), s.window.Begin)
	by := map[int32]*solo{}
	reach := func(label int32, begin, end trace.Time) *solo {
		x := by[label]
		if x == nil {
			x = &solo{region: trace.RegionID(label), from: begin, until: begin, idle: map[int32]trace.Time{}}
			by[label] = x
		}
		if begin > x.until+pauseAlone {
			x.close(s)
			x.from, x.until = begin, begin
		}
		x.from, x.until = min(x.from, begin), max(x.until, end)
		return x
	}
	sweep.Alone = func(_, label int32, begin, end trace.Time) { reach(label, begin, end) }
	sweep.Starved = func(w concurrency.Starve) {
		x := reach(w.With, w.Begin, w.End)
		x.open = append(x.open, soloIdle{w.Actor, w.Begin, w.End})
	}
	half := max(2, int(math.Ceil(s.capacity/float64(s.length)/2)))
	sweep.Span = func(begin, end trace.Time, in *[concurrency.States]int) {
		if in[concurrency.Busy] >= half {
			parallel += end - begin
		}
	}
	err = sweepRows(s.diagnosis, s.processors, sweep, func(r trace.RegionID) concurrency.State {
		switch g := &s.regions[r]; {
		case g.Category == "goroutine" && g.Role != trace.RoleOverhead:
			return concurrency.Busy
		case g.Role == trace.RoleIdle && g.Category == "processor":
			return concurrency.Waiting
		case g.Category == "goroutine":
			return concurrency.Ready // the runtime's own: neither idle nor at work for the program
		}
		return concurrency.Away
	})
	for _, x := range by {
		x.close(s)
	}
	list = slices.DeleteFunc(slices.Collect(maps.Values(by)), func(x *solo) bool { return x.count == 0 })
	return list, parallel, err
}

// sweepRows feeds the outermost intervals of rows that are not away to a sweep, a step of time
// after the other.
func sweepRows(c *diagnosis, rows []trace.LocationID, sweep *concurrency.Sweep,
	state func(trace.RegionID) concurrency.State) error {
	place := map[trace.LocationID]int32{}
	for i, id := range rows {
		place[id] = int32(i)
	}
	n, err := c.store.Count(store.Window{Begin: c.window.Begin, End: c.window.End, Locations: rows})
	if err != nil {
		return err
	}
	length := max(trace.Time(float64(c.span)*stepIntervals/float64(max(n, 1))), 1)
	var mu sync.Mutex
	var events, later []concurrency.Event  // later: ends beyond the step
	until := make([]trace.Time, len(rows)) // the end of what was taken last
	take := func(k int32, begin, end trace.Time, r trace.RegionID) {
		if st := state(r); st != concurrency.Away && begin >= until[k] && end > begin {
			until[k] = end
			events = append(events, concurrency.Event{At: begin, Actor: k, State: st, Label: int32(r)},
				concurrency.Event{At: end, Actor: k, State: concurrency.Away})
		}
	}
	for from := c.window.Begin; from < c.window.End; from += length {
		to := min(from+length, c.window.End)
		events, later = append(events[:0], later...), later[:0]
		err := c.store.Intervals(c.ctx, store.Window{Begin: from, End: to, Locations: rows},
			func(x *trace.Columns) error {
				k, ok := place[x.Location]
				if !ok {
					return nil
				}
				mu.Lock()
				defer mu.Unlock()
				if from == c.window.Begin {
					for _, o := range x.Open {
						if o.Begin < from {
							take(k, from, o.End, o.Region)
						}
					}
				}
				for i, r := range x.Region {
					if x.Begin[i] >= from {
						take(k, x.Begin[i], x.End(i), r)
					}
				}
				return nil
			})
		if err != nil {
			return err
		}
		slices.SortStableFunc(events, func(a, b concurrency.Event) int { // what ends comes before what begins
			return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Actor, b.Actor),
				cmp.Compare(boolInt(a.State != concurrency.Away), boolInt(b.State != concurrency.Away)))
		})
		cut,
			_ := slices.BinarySearchFunc(events, to,
			func(e concurrency.Event, t trace.Time) int { return cmp.Compare(e.At, t) })
		later = append(later, events[cut:]...)
		sweep.Feed(events[:cut])
		sweep.Cut(to)
	}
	return nil
}
