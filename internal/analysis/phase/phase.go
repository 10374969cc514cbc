// Package phase cuts a run into phases, such as the steps of a training job or the iterations of a solver,
// and adds up the times of each location in each.
//
// A phase begins and ends at times of its own on each unit (a rank, or a location if there are no
// ranks): steps need not be in step. If the units have no boundaries of their own, all share the same ones.
package phase

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Phase is one cut of the run. Begin is its first begin on any unit, End its
// last end.
type Phase struct {
	Name       string
	Begin, End trace.Time
}

// A Span is one phase on one unit; Begin > End where the unit has no part in it.
type Span struct{ Begin, End trace.Time }

// Absent reports whether the unit has no part in the phase.
func (s Span) Absent() bool { return s.Begin > s.End }

// Length of the span; 0 if it is absent.
func (s Span) Length() trace.Time { return max(s.End-s.Begin, 0) }

// absent is the span of a unit that has no part.
var absent = Span{Begin: 1, End: 0}

// Phases are the cuts of a run for a number of units.
type Phases struct {
	List  []Phase
	Units int
	// By names the marker that cut the run: "ProfilerStep#", "iteration", "10 equal slices".
	By string
	// Count is how many phases there are; Step how many of them each of List stands
	// for, more than one where there were too many.
	Count, Step int
	// Sliced: time alone cuts the run.
	Sliced bool
	// Spans[unit*len(List)+phase]; nil where all units share List's own times.
	Spans []Span
}

// Span returns a phase on a unit.
func (p *Phases) Span(unit, phase int) Span {
	if p.Spans == nil {
		return Span{p.List[phase].Begin, p.List[phase].End}
	}
	return p.Spans[unit*len(p.List)+phase]
}

// Find returns the phase of a unit at t, -1 where it is between phases. O(log phases).
func (p *Phases) Find(unit int, t trace.Time) int {
	if p.Spans == nil {
		i, ok := slices.BinarySearchFunc(p.List, t, func(x Phase, t trace.Time) int { return cmp.Compare(x.Begin, t) })
		if !ok {
			i--
		}
		if i >= 0 && t < p.List[i].End {
			return i
		}
		return -1
	}
	own := p.Spans[unit*len(p.List) : (unit+1)*len(p.List)]
	// Absent phases are rare: walk over them.
	lo, hi := 0, len(own)
	for lo < hi {
		mid := (lo + hi) / 2
		at := mid
		for at < hi && own[at].Absent() {
			at++
		}
		if at == hi || own[at].Begin > t {
			hi = mid
		} else {
			lo = at + 1
		}
	}
	for lo--; lo >= 0 && own[lo].Absent(); {
		lo--
	}
	if lo >= 0 && t < own[lo].End {
		return lo
	}
	return -1
}

// Slices cuts [begin, end) into n equal slices that all units share.
func Slices(begin, end trace.Time, n, units int) *Phases {
	p := &Phases{Units: units, By: fmt.Sprintf("%d equal slices", n), Count: n, Step: 1, Sliced: true}
	if n == 1 {
		p.By = "the whole run"
	}
	for i := range n {
		from, to := begin+trace.Part(end-begin, int64(i), int64(n)), begin+trace.Part(end-begin, int64(i+1), int64(n))
		p.List = append(p.List, Phase{fmt.Sprintf("slice %d", i+1), from, to})
	}
	return p
}

// An Occurrence is one interval of a phase's region on a unit.
type Occurrence struct {
	Unit       int
	Begin, End trace.Time
	Name       string // with the number of the step
}

// FromOccurrences makes phases from the intervals of the regions that mark them:
// the k-th of a unit is phase k, or the one of its name where names number the
// phases. Intervals inside one before are left out: outer ones win. In a window the
// first of a unit may be a later one than that of another; names set that right,
// else those that overlap most are the same. O(n log n).
func FromOccurrences(list []Occurrence, units int, by string) *Phases {
	slices.SortFunc(list, func(a, b Occurrence) int {
		switch {
		case a.Unit != b.Unit:
			return a.Unit - b.Unit
		case a.Begin != b.Begin:
			return cmp.Compare(a.Begin, b.Begin)
		}
		return cmp.Compare(b.End, a.End)
	})
	list = outermost(list)
	numbered := map[string]bool{}
	for _, o := range list {
		numbered[o.Name] = true
	}
	if len(numbered) > 1 {
		return byName(list, units, by)
	}
	return byIndex(list, units, by)
}

func outermost(list []Occurrence) []Occurrence {
	out := list[:0]
	for _, o := range list {
		if n := len(out); n > 0 && out[n-1].Unit == o.Unit && o.Begin < out[n-1].End {
			continue
		}
		out = append(out, o)
	}
	return out
}

// byName makes a phase of each name; a name that comes again gets a number.
func byName(list []Occurrence, units int, by string) *Phases {
	type key struct {
		name string
		nth  int
	}
	first := map[key]trace.Time{}
	keys := make([]key, len(list))
	nth := map[key]int{} // of (name, unit)
	for i, o := range list {
		seen := key{o.Name, o.Unit}
		keys[i] = key{o.Name, nth[seen]}
		nth[seen]++
		if t, ok := first[keys[i]]; !ok || o.Begin < t {
			first[keys[i]] = o.Begin
		}
	}
	order := make([]key, 0, len(first))
	for k := range first {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b key) int {
		if first[a] != first[b] {
			return cmp.Compare(first[a], first[b])
		}
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		return a.nth - b.nth
	})
	at := make(map[key]int, len(order))
	p := &Phases{Units: units, By: by}
	for i, k := range order {
		at[k] = i
		label := k.name
		if k.nth > 0 {
			label += fmt.Sprintf(" (%d)", k.nth+1)
		}
		p.List = append(p.List, Phase{Name: label})
	}
	return p.fill(list, func(i int) int { return at[keys[i]] })
}

// byIndex makes the k-th occurrence of each unit phase k. Units with fewer than
// the most are matched by overlap with those of a unit that has all.
func byIndex(list []Occurrence, units int, by string) *Phases {
	counts := make([]int, units)
	for _, o := range list {
		counts[o.Unit]++
	}
	most := slices.Max(append([]int{0}, counts...))
	whole := make([]Occurrence, 0, most) // of the first unit with all
	for _, o := range list {
		if counts[o.Unit] == most && (len(whole) == 0 || whole[0].Unit == o.Unit) {
			whole = append(whole, o)
		}
	}
	p := &Phases{Units: units, By: by}
	for i := range most {
		p.List = append(p.List, Phase{Name: by + " " + strconv.Itoa(i+1)})
	}
	place := make([]int, len(list))
	for i, unit, k := 0, -1, 0; i < len(list); i++ {
		if list[i].Unit != unit {
			unit, k = list[i].Unit, 0
		}
		if counts[unit] < most {
			k = nearest(whole, k, most-remaining(list, i), list[i])
		}
		place[i] = k
		k++
	}
	return p.fill(list, func(i int) int { return place[i] })
}

// remaining is how many of the unit follow place i.
func remaining(list []Occurrence, i int) int {
	n := 0
	for k := i + 1; k < len(list) && list[k].Unit == list[i].Unit; k++ {
		n++
	}
	return n
}

// nearest is the place from lowest up to below most whose middle is nearest.
func nearest(whole []Occurrence, lowest, most int, o Occurrence) int {
	best, distance := lowest, trace.Time(1<<62)
	for k := lowest; k < most && k < len(whole); k++ {
		d := whole[k].Begin + whole[k].End - o.Begin - o.End
		if d = max(d, -d); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// shared makes phases that all units have from intervals of any of them, one after the other: an interval
// that begins while another runs makes none. O(n log n).
func shared(list []Occurrence, units int, by string) *Phases {
	slices.SortFunc(list, func(a, b Occurrence) int {
		if a.Begin != b.Begin {
			return cmp.Compare(a.Begin, b.Begin)
		}
		return cmp.Compare(b.End, a.End)
	})
	p := &Phases{Units: units, By: by, Step: 1}
	for _, o := range list {
		if n := len(p.List); n > 0 && o.Begin < p.List[n-1].End {
			continue
		}
		p.List = append(p.List, Phase{fmt.Sprintf("%s %d: %s", by, len(p.List)+1, o.Name), o.Begin, o.End})
	}
	p.Count = len(p.List)
	return p
}

func (p *Phases) fill(list []Occurrence, place func(i int) int) *Phases {
	n := len(p.List)
	p.Count, p.Step = n, 1
	p.Spans = make([]Span, p.Units*n)
	for i := range p.Spans {
		p.Spans[i] = absent
	}
	for i := range p.List {
		p.List[i].Begin, p.List[i].End = trace.Time(1)<<62, -(trace.Time(1) << 62)
	}
	marked := make([]bool, p.Units)
	for i, o := range list {
		k := place(i)
		marked[o.Unit] = true
		p.Spans[o.Unit*n+k] = Span{o.Begin, o.End}
		p.List[k].Begin, p.List[k].End = min(p.List[k].Begin, o.Begin), max(p.List[k].End, o.End)
	}
	for u, is := range marked {
		if !is {
			p.borrow(p.Spans[u*n : (u+1)*n])
		}
	}
	return p
}

// borrow gives a unit without marks of its own, such as a stream next to the thread
// that has them, the times of all; where phases overlap, to the next one's begin.
func (p *Phases) borrow(own []Span) {
	for k := range own {
		own[k] = Span{p.List[k].Begin, p.List[k].End}
		if k > 0 {
			own[k-1].End = max(min(own[k-1].End, own[k].Begin), own[k-1].Begin)
		}
	}
}

// Share makes all units use the spans of one of them, for runs whose other units
// are not looked at.
func (p *Phases) Share(unit int) *Phases {
	q := &Phases{Units: p.Units, By: p.By}
	for k := range p.List {
		if s := p.Span(unit, k); !s.Absent() {
			q.List = append(q.List, Phase{p.List[k].Name, s.Begin, s.End})
		}
	}
	q.Count, q.Step = len(q.List), 1
	return q
}

// Merge joins neighbouring phases so that at most most are left: "iteration 1–4".
func (p *Phases) Merge(most int) *Phases {
	n := len(p.List)
	if n <= most || most < 1 {
		return p
	}
	step := (n + most - 1) / most
	q := &Phases{Units: p.Units, By: p.By, Count: n, Step: step}
	for from := 0; from < n; from += step {
		to := min(from+step, n) - 1
		name := p.List[from].Name
		if to > from {
			name += "–" + tail(p.List[to].Name)
		}
		q.List = append(q.List, Phase{name, p.List[from].Begin, p.List[to].End})
	}
	if p.Spans == nil {
		return q
	}
	m := len(q.List)
	q.Spans = make([]Span, p.Units*m)
	for u := range p.Units {
		for k := range m {
			s := absent
			for _, x := range p.Spans[u*n+k*step : u*n+min((k+1)*step, n)] {
				switch {
				case x.Absent():
				case s.Absent():
					s = x
				default:
					s.End = x.End
				}
			}
			q.Spans[u*m+k] = s
		}
	}
	return q
}

// tail is the number at the end of a name, or the name.
func tail(name string) string {
	stem := strings.TrimRight(name, "0123456789")
	if stem == name {
		return name
	}
	return name[len(stem):]
}
