package diagnose

// Groups of causes with common features: each part of the waiting belongs to one fault at most.

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// culprits finds faults in the accounts: it groups the causes of waiting by common features, so that every
// nanosecond of waiting belongs to one fault at most.
type culprits struct {
	*diagnosis
	rows  []*budget.Row // causes that no fault has claimed yet
	work  []float64     // busy time of a unit in regions that all enter
	first *edges        // each unit's first record, once it was asked for
	alone []bool        // by number of a region: only few units do it
	start []bool        // the same: it is one of start-up and shutdown
}

// A fault is causes that belong together.
type fault struct {
	units   []int32 // who is to blame
	rows    []*budget.Row
	lost    trace.Time
	victims []trace.Time // by unit
	series  []float64
	regions map[int32]trace.Time
	kinds   [budget.NumKinds]trace.Time
	direct  trace.Time
	actors  int // that wait, where they are parts of units; 0: units do
}

// few is the part of the units up to which a region is done by few.
const few = 8

// findCulprits finds the faults of a run whose waiting is explained.
func findCulprits(c *diagnosis) error {
	if !c.followed() {
		return nil
	}
	r := c.accounts.result
	a := newCulprits(c)
	a.rows = make([]*budget.Row, 0, len(r.Rows))
	for i := range r.Rows {
		if r.Rows[i].Actor != budget.NoActor {
			a.rows = append(a.rows, &r.Rows[i])
		}
	}
	a.sortRegions()
	for _, rule := range []func() error{a.tasks, a.starting, a.beginning, a.reading, a.locked, a.serial, a.slow,
		a.varying} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

func newCulprits(c *diagnosis) *culprits {
	a := &culprits{diagnosis: c, start: make([]bool, len(c.accounts.regionNames))}
	for k, name := range c.accounts.regionNames {
		a.start[k] = isStart(name, c.accounts.role[k])
	}
	return a
}

// sortRegions finds regions that only few units run, and the work of each unit in regions that all run.
func (a *culprits) sortRegions() {
	n := len(a.units)
	a.alone, a.work = make([]bool, len(a.accounts.regionNames)), make([]float64, n)
	for k, times := range a.accounts.work {
		if times == nil || !a.ordinary(int32(k)) {
			continue
		}
		most, longest := slices.Max(times), slices.Max(a.accounts.inside[k])
		some := 0
		for u, t := range times {
			if t*20 > most || a.accounts.inside[k][u]*20 > longest {
				some++
			}
		}
		if a.alone[k] = k != int(budget.Nothing) && n >= 3 && some*few <= max(n, few) && most > 0; a.alone[k] {
			continue
		}
		for u, t := range a.accounts.peers[k] {
			a.work[u] += float64(t)
		}
	}
}

// ordinary reports whether a region is work like any other.
func (a *culprits) ordinary(k int32) bool {
	role := a.accounts.role[k]
	return role != trace.RoleIO && !a.starts(k) && role != trace.RoleCommunication &&
		role != trace.RoleSynchronization && role != trace.RoleIdle
}

// claim takes causes out of the accounts and makes a fault of them.
func (a *culprits) claim(want func(*budget.Row) bool) *fault {
	f := &fault{victims: make([]trace.Time, len(a.units)), series: make([]float64, budget.Bins),
		regions: map[int32]trace.Time{}}
	left := make([]*budget.Row, 0, len(a.rows))
	blamed := make([]bool, len(a.units))
	var waiters, series []trace.Time // by block, by bin
	for _, p := range eachPart(a.rows, func(rows []*budget.Row) *claimed { return a.claimOf(rows, want) }) {
		left = append(left, p.left...)
		f.rows = append(f.rows, p.rows...)
		f.lost += p.lost
		f.direct += p.direct
		for k, t := range p.kinds {
			f.kinds[k] += t
		}
		for k, t := range p.regions {
			f.regions[k] += t
		}
		for _, u := range p.units {
			blamed[u] = true
		}
		waiters, series = addTimes(waiters, p.waiters), addTimes(series, p.series)
	}
	for i, t := range waiters {
		if at := i * a.accounts.result.Fold; at < len(a.accounts.unit) {
			f.victims[a.accounts.unit[at]] += t
		}
	}
	for i, t := range series {
		f.series[i] = float64(t)
	}
	for u, b := range blamed {
		if b {
			f.units = append(f.units, int32(u))
		}
	}
	a.rows = left
	return f
}

// A claimed is what some of the causes add to a fault.
type claimed struct {
	rows, left      []*budget.Row
	units           []int32 // with some more than once
	lost, direct    trace.Time
	kinds           [budget.NumKinds]trace.Time
	regions         map[int32]trace.Time
	waiters, series []trace.Time // by block of actors, by bin of time
}

func (a *culprits) claimOf(rows []*budget.Row, want func(*budget.Row) bool) *claimed {
	p := &claimed{regions: map[int32]trace.Time{}}
	for _, r := range rows {
		if !want(r) {
			p.left = append(p.left, r)
			continue
		}
		p.rows = append(p.rows, r)
		caused := r.Caused()
		p.lost += caused
		p.regions[r.Region] += caused
		for k := range p.kinds {
			p.kinds[k] += r.Of(budget.Kind(k))
			p.direct += r.Direct[k]
		}
		p.units = append(p.units, a.accounts.unit[r.Actor])
		p.waiters, p.series = gatherTimes(p.waiters, &r.Waiters), gatherTimes(p.series, &r.Series)
	}
	return p
}

// gatherTimes adds the times of a cause to a list, which grows to their length.
func gatherTimes(to []trace.Time, t *budget.Times) []trace.Time {
	if len(to) < t.Len() {
		to = append(to, make([]trace.Time, t.Len()-len(to))...)
	}
	for i, x := range t.All() {
		to[i] += x
	}
	return to
}

func addTimes(to, from []trace.Time) []trace.Time {
	if len(to) < len(from) {
		to = append(to, make([]trace.Time, len(from)-len(to))...)
	}
	for i, t := range from {
		to[i] += t
	}
	return to
}

// partOfCauses is the number of causes that one goroutine goes through.
const partOfCauses = 1 << 13

// eachPart calls f for parts of a list, on all cores, and returns the results in order.
func eachPart[T, R any](list []T, f func([]T) R) []R {
	out := make([]R, (len(list)+partOfCauses-1)/partOfCauses)
	_ = parallel.Ranges(context.Background(), len(list), partOfCauses, func(from, to int) {
		out[from/partOfCauses] = f(list[from:to])
	})
	return out
}

// give puts causes back into the accounts.
func (a *culprits) give(f *fault) { a.rows = append(a.rows, f.rows...) }

// hit returns the units that wait: those that lose at least a twentieth of the largest loss of a unit. They
// exclude the culprits if others wait too.
func (f *fault) hit() (units []int32) {
	most := trace.Time(0)
	for _, t := range f.victims {
		most = max(most, t)
	}
	for u, t := range f.victims {
		if t > 0 && t*20 >= most {
			units = append(units, int32(u))
		}
	}
	return units
}

// share is the part of their time that those who wait lose by a fault.
func (a *culprits) share(f *fault) float64 {
	if n := max(len(f.hit()), f.actors); n > 0 {
		return float64(f.lost) / (float64(n) * float64(a.length))
	}
	return 0
}

// actorsOf counts the rows of the units that a fault hits: threads of one rank wait for each other.
func (a *culprits) actorsOf(f *fault) (n int) {
	hit := map[int32]bool{}
	for _, u := range f.hit() {
		hit[u] = true
	}
	for _, u := range a.accounts.unit {
		if hit[u] {
			n++
		}
	}
	return n
}

// grave reports whether a fault is worth reporting. A thread that distributes work and does none of it waits for
// the others to be done: that is its job.
func (a *culprits) grave(f *fault) bool {
	if a.waitsForWorkers(f) != nil {
		return false
	}
	return f.lost > 0 && finding.LevelOf(a.share(f)) != finding.Low &&
		float64(f.lost) >= leastShare*float64(a.length)*float64(len(a.units))
}

// waitsForWorkers returns the units that work, if a fault is that others, which distribute work and do none of it,
// wait for them; nil if it is not.
func (a *culprits) waitsForWorkers(f *fault) map[int32]bool {
	if 2*f.kinds[budget.Join] <= f.lost {
		return nil
	}
	workers, handed := map[int32]bool{}, trace.Time(0)
	for u, t := range f.victims {
		if a.handsOut(int32(u)) {
			handed += t
		} else {
			workers[int32(u)] = true
		}
	}
	if 4*handed <= 3*f.lost {
		return nil
	}
	return workers
}

// handsOut reports whether a unit does hardly any of the others' common work.
func (a *culprits) handsOut(u int32) bool {
	for v, w := range a.work {
		if int32(v) != u && w < 20*a.work[u] {
			return false
		}
	}
	return len(a.units) >= fewestWorkers
}

// cause is the region that costs most.
func (f *fault) cause() int32 {
	best := int32(-1)
	for k, t := range f.regions {
		if best < 0 || t > f.regions[best] || t == f.regions[best] && k < best {
			best = k
		}
	}
	return best
}

// byUnit adds up the costs of causes by the unit to blame.
func (a *culprits) byUnit(want func(*budget.Row) bool) []float64 {
	type cost struct {
		unit int32
		time trace.Time
	}
	out := make([]float64, len(a.units))
	for _, part := range eachPart(a.rows, func(rows []*budget.Row) (list []cost) {
		for _, r := range rows {
			if want(r) {
				list = append(list, cost{a.accounts.unit[r.Actor], r.Caused()})
			}
		}
		return list
	}) {
		for _, x := range part {
			out[x.unit] += float64(x.time)
		}
	}
	return out
}

func top(values []float64) (int32, float64) {
	best := 0
	for i, v := range values {
		if v > values[best] {
			best = i
		}
	}
	return int32(best), values[best]
}

// common reports causes that are work which all do.
func (a *culprits) common(r *budget.Row) bool { return a.ordinary(r.Region) && !a.alone[r.Region] }
