package phases

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Verdict names the unit that delayed the others in a phase.
type Verdict struct {
	Phase    string           `json:"phase"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Why      string           `json:"why"`
	// Waited is the waiting of the others because of it, in ns, added up.
	Waited trace.Time `json:"waited"`
	// Its parts: at collectives to which it comes last, for its messages, and while it works longest.
	AtCollectives trace.Time `json:"waited_at_collectives"`
	ForMessages   trace.Time `json:"waited_for_messages"`
	WhileItWorks  trace.Time `json:"waited_while_it_works"`
	// Works is its work in the phase and Median that of the units, if that is the reason.
	Works  float64 `json:"works,omitempty"`
	Median float64 `json:"median,omitempty"`

	unit, phase int
}

// A charge sums the waiting of others for one unit in one phase.
type charge struct {
	unit        int32
	collectives trace.Time
	messages    trace.Time
	work        trace.Time
	times       int
	region      trace.RegionID
	most        trace.Time
	victims     map[int32]bool
	load        *finding.Load // in which it works longest
}

func (c *charge) total() trace.Time { return max(c.collectives+c.messages, c.work) }

func (c *charge) add(t trace.Time, victim int32, region trace.RegionID) {
	if c.victims == nil {
		c.victims = map[int32]bool{}
	}
	c.victims[victim] = true
	if t > c.most {
		c.most, c.region = t, region
	}
}

// judge finds in each phase the units that the others wait for: the last to arrive at
// its collectives, late senders and receivers, and units that are busy far longer.
func (r *result) judge() {
	n := len(r.phases.List)
	r.skew, r.transfer = make([]trace.Time, n), make([]trace.Time, n)
	charges := make([]map[int32]*charge, n)
	of := func(phase int, unit int32) *charge {
		if charges[phase] == nil {
			charges[phase] = map[int32]*charge{}
		}
		c := charges[phase][unit]
		if c == nil {
			c = &charge{unit: unit}
			charges[phase][unit] = c
		}
		return c
	}
	r.chargeWaits(of)
	r.chargeWork(of)
	r.verdicts = []Verdict{}
	for k, m := range charges {
		if v, ok := r.verdict(k, m); ok {
			r.verdicts = append(r.verdicts, v)
		}
	}
}

// chargeWaits adds up collectives and messages. The wait for a message counts as far as
// the late unit caused it itself.
func (r *result) chargeWaits(of func(int, int32) *charge) {
	if r.waits == nil {
		return
	}
	for i := range r.waits.Meetings {
		m := &r.waits.Meetings[i]
		met := -1 // the phase in which it was counted: at an edge ranks may be in two
		for j := range m.Calls {
			call := &m.Calls[j]
			k := r.phases.Find(int(call.Unit), call.Begin)
			if k < 0 {
				continue
			}
			w := m.Wait(call)
			r.skew[k] += w
			r.transfer[k] += call.End - call.Begin - w
			c := of(k, m.Cause)
			if k != met {
				met = k
				c.times++
			}
			if call.Unit != m.Cause && w > 0 {
				c.collectives += w
				c.add(w, call.Unit, call.Region)
			}
		}
	}
	for i := range r.waits.Late {
		l := &r.waits.Late[i]
		k := r.phases.Find(int(l.Victim), l.Begin)
		if k < 0 {
			continue
		}
		r.skew[k] += l.Skew
		r.transfer[k] += l.Transfer
		if l.Own > 0 {
			c := of(k, l.Cause)
			c.messages += l.Own
			c.add(l.Own, l.Victim, l.Region)
		}
	}
}

// chargeWork finds units that are busy far longer than the others while these wait: the
// stragglers of package finding, phase by phase.
func (r *result) chargeWork(of func(int, int32) *charge) {
	n := len(r.phases.List)
	for _, l := range r.loads {
		left := make([]trace.Time, len(r.waiting))
		for u := range r.units {
			for k := range n {
				left[r.at(u, k)] = min(r.waiting[r.at(u, k)], r.phases.Span(u, k).Length())
			}
		}
		for _, s := range finding.Stragglers(l,
			&finding.Budget{Units: len(r.units), Phases: n, Left: slices.Clone(left)}) {
			for _, k := range s.Phases {
				top := s.Units[0]
				for _, u := range s.Units {
					if l.At(int(u), k) > l.At(int(top), k) {
						top = u
					}
				}
				sum := trace.Time(0)
				for v := range r.units {
					if !slices.Contains(s.Units, int32(v)) {
						sum += max(min(left[r.at(v, k)], l.At(int(top), k)-l.At(v, k)), 0)
					}
				}
				if c := of(k, top); sum > c.work {
					c.work, c.load = sum, l
				}
			}
		}
	}
}

const (
	// leastVerdict is the part of the time of a phase that must be waited for one unit.
	leastVerdict = 0.02
	// workFirst is the least ratio of waiting due to long work to other waiting from which
	// long work is named as the cause.
	workFirst = 0.25
)

// verdict names the one with the largest charge, if it is worth a word.
func (r *result) verdict(k int, m map[int32]*charge) (Verdict, bool) {
	list := make([]*charge, 0, len(m))
	for _, c := range m {
		list = append(list, c)
	}
	work, rest := trace.Time(0), trace.Time(0)
	for _, c := range list {
		work, rest = max(work, c.work), max(rest, c.collectives+c.messages)
	}
	// Long work is a cause, a late arrival may be its effect.
	key := func(c *charge) trace.Time {
		if float64(work) >= workFirst*float64(rest) {
			return c.work
		}
		return c.total()
	}
	slices.SortFunc(list,
		func(a, b *charge) int { return cmp.Or(cmp.Compare(key(b), key(a)), cmp.Compare(a.unit, b.unit)) })
	length := trace.Time(0)
	for u := range r.units {
		length += r.phases.Span(u, k).Length()
	}
	if len(list) == 0 || float64(list[0].total()) < leastVerdict*float64(length) {
		return Verdict{}, false
	}
	c := list[0]
	id := r.units[c.unit]
	v := Verdict{Phase: r.phases.List[k].Name, Location: id, Path: r.tree.Path(id), Waited: c.total(),
		AtCollectives: c.collectives, ForMessages: c.messages, WhileItWorks: c.work, unit: int(c.unit), phase: k}
	if c.works() {
		values := make([]float64, len(r.units))
		for u := range values {
			values[u] = float64(c.load.At(u, k))
		}
		v.Works, v.Median = values[c.unit], finding.Median(values)
	}
	v.Why = r.why(c, &v)
	return v, true
}

// why describes the cause in the unit.
func (r *result) why(c *charge, v *Verdict) string {
	name := r.names[c.unit]
	region := ""
	if c.most > 0 {
		region = " in " + shorten(r.request.Store().Regions()[c.region].Name)
	}
	switch {
	case c.works():
		return fmt.Sprintf("%s works %s, the median is %s; the others wait %s meanwhile", name,
			view.FormatDuration(v.Works), view.FormatDuration(v.Median), view.FormatTime(c.work))
	case c.collectives >= c.messages:
		return fmt.Sprintf("%s arrives last at %s; %s %s for it%s", name, view.Count(c.times, "collective"),
			c.waiters(), view.FormatTime(c.collectives), region)
	}
	return fmt.Sprintf("%s is late with messages; %s %s for it%s", name, c.waiters(), view.FormatTime(c.messages),
		region)
}

// works reports whether long work is the reason.
func (c *charge) works() bool {
	return c.work > 0 && float64(c.work) >= workFirst*float64(c.collectives+c.messages)
}

func (c *charge) waiters() string {
	if len(c.victims) == 1 {
		return "1 other waits"
	}
	return view.Count(len(c.victims), "other") + " wait"
}

// shorten cuts the arguments of long names.
func shorten(name string) string {
	if i := strings.IndexAny(name, "(<"); i > 0 && len(name) > 48 {
		return name[:i]
	}
	return name
}
