package diagnose

// Fault: goroutines that could run wait long for a processor.

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
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// leastLate is the part of the time in which goroutines could run that they wait
	// longer than is ordinary.
	leastLate = 0.2
	// slightLate and mediumLate are how many wait on average for each processor.
	slightLate, mediumLate = 0.01, 0.25
	// fullProcessors is how busy processors are where there are too few of them.
	fullProcessors = 0.8
)

// processorWait: goroutines that could run wait long for a processor. Either all are busy, or they are not:
// Go's scheduler gives a goroutine to an idle processor at once, so the delay then is the system's, until
// it runs the thread. A machine at its limit is no fault of the program, so it is never severe.
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
	text := fmt.Sprintf("Runnable goroutines waited %s for a processor and ran for %s. Most affected: %s (%s, waited "+
		"%s, ran for %s). ", words.FormatDuration(waited), words.FormatDuration(s.could-waited),
		words.Middle(top.name), words.Count(top.n, "goroutine"), words.FormatDuration(top.waited),
		words.FormatDuration(top.ran))
	next := "" // that of the kind
	if m.busy >= fullProcessors {
		text += fmt.Sprintf("Meanwhile the program had %s, busy for %s of the time: there are more runnable "+
			"goroutines than processors.", words.Count(n, "processor"), words.FormatShare(m.busy))
		next = "Run on more cores, or run fewer goroutines at once: the processors are used in full."
	} else {
		text += fmt.Sprintf("Meanwhile the program had %s, busy for only %s of the time: threads start late, as if "+
			"the system gave it fewer cores than GOMAXPROCS.", words.Count(n, "processor"), words.FormatShare(m.busy))
	}
	f := finding.Finding{Kind: finding.ProcessorWait, Severity: level, Lost: trace.Time(late), Hit: late / max(life, 1),
		Share: late / max(s.lives, 1), ShareOf: "the life of all goroutines", View: "boxprofile", Text: text,
		Next: next,
		Evidence: []finding.Evidence{{Name: "waited for a processor", Value: waited, Unit: "ns",
			From: s.stateQuery(stateRunnable, nil)},
			{Name: "of it, over 100 µs each", Value: late, Unit: "ns"},
			{Name: "ran", Value: s.could - waited, Unit: "ns", From: s.stateQuery(stateRunning, nil)},
			{Name: "processors", Value: float64(n), Unit: "count"},
			{Name: "processors busy meanwhile", Value: m.busy, Unit: "share", From: s.busyQuery(m.windows)},
			{Name: "waits looked at for that", Value: float64(m.waits), Unit: "count"},
			{Name: "processors busy in all", Value: s.busy / s.capacity, Unit: "share"}},
		Selection: finding.Selection{Begin: m.begin, End: m.end, Regions: s.regionNamed(stateRunnable, "state")}}
	for i := range s.groups {
		if g := &s.groups[i]; i < 3 && g.late >= 0.1*late {
			f.Selection.Locations = append(f.Selection.Locations, g.at)
			f.Evidence = append(f.Evidence, finding.Evidence{Name: g.name + " waited", Value: g.waited, Unit: "ns",
				From: s.stateQuery(stateRunnable, g)})
		}
	}
	f.Evidence = append(f.Evidence,
		finding.Evidence{Name: top.name + " ran", Value: top.ran, Unit: "ns", From: s.stateQuery(stateRunning, top)},
		finding.Evidence{Name: top.name + ", goroutines", Value: float64(top.n), Unit: "count"})
	slices.Sort(f.Selection.Locations)
	s.add(f, nil)
	return nil
}

// stateQuery adds up a state of goroutines, of one group or of all but the runtime's own.
func (s *scheduler) stateQuery(state string, g *goroutines) string {
	where := " and location not in (" + numbers(s.runtime) + ")"
	if len(s.runtime) > mostNumbers {
		return ""
	}
	if g != nil {
		where = fmt.Sprintf(" and location between %d and %d", g.at, s.tree.Last[g.at])
	}
	return fmt.Sprintf("select total(inclusive) from time_in(%d, %d) where region_id in (%s)%s", s.window.Begin,
		s.window.End, numbers(s.regionNamed(state, "state")), where)
}

// A meanwhile is how busy processors were while goroutines waited for one. From begin
// to end most of the waiting happened.
type meanwhile struct {
	waits      int     // that were looked at
	busy       float64 // share
	processors float64 // mean number
	begin, end trace.Time
	windows    []string // begin, end and time of processors of each, for a query
}

const (
	// mostWaits is the number of waits that are looked at.
	mostWaits = 256
	// edgeShare of them is before, and after, the time in which most happened.
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
		m.windows = append(m.windows,
			fmt.Sprintf("(%d, %d, %d, %.17g)", len(m.windows), w.begin, w.end, max(capacity, 1)))
		m.processors += capacity / float64(w.end-w.begin) / float64(m.waits)
	}
	edge := int(edgeShare * float64(m.waits))
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.begin, b.begin) })
	m.begin = waits[edge].begin
	slices.SortFunc(waits, func(a, b waitSpan) int { return cmp.Compare(a.end, b.end) })
	m.end = waits[m.waits-1-edge].end
	return m, nil
}

// busyQuery asks how busy processors are in some windows, on average.
func (s *scheduler) busyQuery(windows []string) string {
	return fmt.Sprintf("with w(n, b, e, c) as (values %s), i as materialized (select begin as b1, \"end\" as e1 from "+
		"intervals where location in (%s) and depth = 0 and role <> 'idle'), t as (select n, c, total(max(min(e, e1) "+
		"- max(b, b1), 0)) as t from w left join i on b1 < e and e1 > b group by 1, 2) select avg(min(t / c, 1)) "+
		"from t",
		strings.Join(windows, ", "), numbers(s.processors))
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

// waitsOf returns the waits of a goroutine for a processor that begin in the selection.
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
