// Package delay finds the unit that delays the others in each phase of a run: the last to arrive at collectives, late
// senders and receivers, and units that work far longer.
package delay

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Run is a run cut into phases, with the times of its units.
type Run struct {
	Phases  *phase.Phases
	Units   int
	Waiting []trace.Time    // by unit and phase
	Loads   []*finding.Load // busy times, by class of locations that most units have
	Waits   *waiting.Result // nil: not known
}

// A Result is the waiting of each phase, and the units that caused it.
type Result struct {
	Skew, Transfer []trace.Time // by phase
	Delays         []Delay      // at most one per phase, in their order
}

// A Delay is the waiting of others because of one unit in one phase.
type Delay struct {
	Unit, Phase int
	// Collectives is the waiting at collectives to which the unit comes last, Messages that for its messages as far as
	// it caused the delay itself, Work that while it works longest.
	Collectives, Messages, Work trace.Time
	Arrivals                    int            // collectives to which it comes last
	Region                      trace.RegionID // of the longest wait
	Longest                     trace.Time
	Works, Median               float64 // its work and that of the units, if LongWork

	waiters map[int32]bool
	load    *finding.Load // in which it works longest
}

// Total returns the waiting of all others.
func (d *Delay) Total() trace.Time { return max(d.Collectives+d.Messages, d.Work) }

// Waiters returns the number of others that wait at its collectives and for its messages.
func (d *Delay) Waiters() int { return len(d.waiters) }

// LongWork reports whether long work is the reason.
func (d *Delay) LongWork() bool {
	return d.Work > 0 && float64(d.Work) >= workFirst*float64(d.Collectives+d.Messages)
}

func (d *Delay) addWait(t trace.Time, waiter int32, region trace.RegionID) {
	if d.waiters == nil {
		d.waiters = map[int32]bool{}
	}
	d.waiters[waiter] = true
	if t > d.Longest {
		d.Longest, d.Region = t, region
	}
}

const (
	// leastDelay is the part of the time of a phase that must be waited for one unit.
	leastDelay = 0.02
	// workFirst is the least ratio of waiting due to long work to other waiting from which
	// long work is named as the cause.
	workFirst = 0.25
)

// A table has the delays of all units by phase.
type table []map[int32]*Delay

func (t table) of(phase int, unit int32) *Delay {
	if t[phase] == nil {
		t[phase] = map[int32]*Delay{}
	}
	d := t[phase][unit]
	if d == nil {
		d = &Delay{Unit: int(unit), Phase: phase}
		t[phase][unit] = d
	}
	return d
}

// Find finds the delays of a run.
func Find(r *Run) *Result {
	n := len(r.Phases.List)
	out := &Result{Skew: make([]trace.Time, n), Transfer: make([]trace.Time, n)}
	t := make(table, n)
	r.addWaits(t, out)
	r.addWork(t)
	for k, units := range t {
		if d := r.largest(k, units); d != nil {
			out.Delays = append(out.Delays, *d)
		}
	}
	return out
}

// addWaits adds up collectives and messages. The wait for a message counts as far as the late unit caused it itself.
func (r *Run) addWaits(t table, out *Result) {
	if r.Waits == nil {
		return
	}
	for i := range r.Waits.Meetings {
		m := &r.Waits.Meetings[i]
		met := -1 // the phase in which it was counted: at an edge ranks may be in two
		for j := range m.Calls {
			call := &m.Calls[j]
			k := r.Phases.Find(int(call.Unit), call.Begin)
			if k < 0 {
				continue
			}
			w := m.Wait(call)
			out.Skew[k] += w
			out.Transfer[k] += call.End - call.Begin - w
			d := t.of(k, m.Cause)
			if k != met {
				met = k
				d.Arrivals++
			}
			if call.Unit != m.Cause && w > 0 {
				d.Collectives += w
				d.addWait(w, call.Unit, call.Region)
			}
		}
	}
	for i := range r.Waits.Late {
		l := &r.Waits.Late[i]
		k := r.Phases.Find(int(l.Waiter), l.Begin)
		if k < 0 {
			continue
		}
		out.Skew[k] += l.Skew
		out.Transfer[k] += l.Transfer
		if l.Own > 0 {
			d := t.of(k, l.Cause)
			d.Messages += l.Own
			d.addWait(l.Own, l.Waiter, l.Region)
		}
	}
}

// addWork finds units that are busy far longer than the others while these wait: the
// stragglers of package finding, phase by phase.
func (r *Run) addWork(t table) {
	n := len(r.Phases.List)
	for _, l := range r.Loads {
		left := make([]trace.Time, len(r.Waiting))
		for u := range r.Units {
			for k := range n {
				left[u*n+k] = min(r.Waiting[u*n+k], r.Phases.Span(u, k).Length())
			}
		}
		for _, s := range finding.Stragglers(l, &finding.Budget{Units: r.Units, Phases: n, Left: slices.Clone(left)}) {
			slow := make([]bool, r.Units)
			for _, u := range s.Units {
				slow[u] = true
			}
			for _, k := range s.Phases {
				top := s.Units[0]
				for _, u := range s.Units {
					if l.At(int(u), k) > l.At(int(top), k) {
						top = u
					}
				}
				sum := trace.Time(0)
				for v := range r.Units {
					if !slow[v] {
						sum += max(min(left[v*n+k], l.At(int(top), k)-l.At(v, k)), 0)
					}
				}
				if d := t.of(k, top); sum > d.Work {
					d.Work, d.load = sum, l
				}
			}
		}
	}
}

// largest returns the largest delay of a phase; nil if none is worth a word.
func (r *Run) largest(k int, units map[int32]*Delay) *Delay {
	list := make([]*Delay, 0, len(units))
	work, rest := trace.Time(0), trace.Time(0)
	for _, d := range units {
		list = append(list, d)
		work, rest = max(work, d.Work), max(rest, d.Collectives+d.Messages)
	}
	// Long work is a cause, a late arrival may be its effect.
	key := func(d *Delay) trace.Time {
		if float64(work) >= workFirst*float64(rest) {
			return d.Work
		}
		return d.Total()
	}
	slices.SortFunc(list, func(a, b *Delay) int {
		return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(a.Unit, b.Unit))
	})
	length := trace.Time(0)
	for u := range r.Units {
		length += r.Phases.Span(u, k).Length()
	}
	if len(list) == 0 || float64(list[0].Total()) < leastDelay*float64(length) {
		return nil
	}
	d := list[0]
	if d.LongWork() {
		values := make([]float64, r.Units)
		for u := range values {
			values[u] = float64(d.load.At(u, k))
		}
		d.Works, d.Median = values[d.Unit], orderstat.Median(values)
	}
	return d
}
