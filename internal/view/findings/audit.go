package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An audit finds faults in the books: it sorts the causes of waiting by what they have in
// common, so that every nanosecond of waiting belongs to one fault at most.
type audit struct {
	*court
	rows  []*budget.Row // causes that no fault has claimed yet
	work  []float64     // busy time of a unit in what all do
	alone []bool        // by number of a region: only few units do it
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

// findFaults finds the faults of a run whose waiting is explained.
func findFaults(c *court) error {
	r := c.books.result
	a := &audit{court: c}
	for i := range r.Rows {
		if r.Rows[i].Explained() {
			a.rows = append(a.rows, &r.Rows[i])
		}
	}
	a.sortRegions()
	for _, rule := range []func() error{a.tasks, a.starting, a.reading, a.locked, a.serial, a.slow, a.varying} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

// sortRegions finds what only few do, and how long each unit works at what all do.
func (a *audit) sortRegions() {
	n := len(a.units)
	a.alone, a.work = make([]bool, len(a.books.regionNames)), make([]float64, n)
	for k, times := range a.books.work {
		if times == nil || !a.ordinary(int32(k)) {
			continue
		}
		most := slices.Max(times)
		some := 0
		for _, t := range times {
			if t*20 > most {
				some++
			}
		}
		if a.alone[k] = n >= 3 && some*few <= max(n, few) && most > 0; a.alone[k] {
			continue
		}
		for u, t := range times {
			a.work[u] += float64(t)
		}
	}
}

// ordinary reports whether a region is work like any other.
func (a *audit) ordinary(k int32) bool {
	role := a.books.role[k]
	return k != budget.Nothing && role != trace.RoleIO && !a.starts(k) && role != trace.RoleCommunication &&
		role != trace.RoleSynchronization && role != trace.RoleIdle
}

// starts reports regions of start-up and shutdown.
func (a *audit) starts(k int32) bool {
	name := strings.ToLower(a.books.regionNames[k])
	for _, s := range []string{"mpi_init", "mpi_finalize", "shmem_init", "shmem_finalize", "gaspi_proc_init",
		"gaspi_proc_term", "nccl_init", "ncclcomminit", "startup", "start-up", "start_up", "shutdown"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	role := a.books.role[k]
	return (role == trace.RoleOverhead || role.Busy()) &&
		(name == "init" || name == "initialize" || name == "initialise" || name == "initialization" ||
			name == "initializing" || name == "setup" || name == "finalize" || name == "load_modules")
}

// claim takes causes out of the books and makes a fault of them.
func (a *audit) claim(want func(*budget.Row) bool) *fault {
	f := &fault{victims: make([]trace.Time, len(a.units)), series: make([]float64, budget.Bins),
		regions: map[int32]trace.Time{}}
	left := a.rows[:0:0]
	blamed := make([]bool, len(a.units))
	for _, r := range a.rows {
		if !want(r) {
			left = append(left, r)
			continue
		}
		f.rows = append(f.rows, r)
		caused := r.Caused()
		f.lost += caused
		f.regions[r.Region] += caused
		for k := range f.kinds {
			f.kinds[k] += r.Of(budget.Kind(k))
			f.direct += r.Direct[k]
		}
		if u := a.books.unit[r.Actor]; !blamed[u] {
			blamed[u] = true
			f.units = append(f.units, u)
		}
		for i, t := range r.Victims.All() {
			if at := i * a.books.result.Fold; at < len(a.books.unit) {
				f.victims[a.books.unit[at]] += t
			}
		}
		for i, t := range r.Series.All() {
			f.series[i] += float64(t)
		}
	}
	a.rows = left
	slices.Sort(f.units)
	return f
}

// give puts causes back into the books.
func (a *audit) give(f *fault) { a.rows = append(a.rows, f.rows...) }

// hit are the units that wait: those that lose at least a twentieth of what the one does
// that loses most. They exclude the culprits where others wait too.
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
func (a *audit) share(f *fault) float64 {
	if n := max(len(f.hit()), f.actors); n > 0 {
		return float64(f.lost) / (float64(n) * float64(a.length))
	}
	return 0
}

// actorsOf counts the rows of the units that a fault hits: threads of one rank wait for each other.
func (a *audit) actorsOf(f *fault) (n int) {
	hit := map[int32]bool{}
	for _, u := range f.hit() {
		hit[u] = true
	}
	for _, u := range a.books.unit {
		if hit[u] {
			n++
		}
	}
	return n
}

// grave reports whether a fault is worth telling. A thread that hands out work and does none of it waits for
// the others to be done: that is its job.
func (a *audit) grave(f *fault) bool {
	if 2*f.kinds[budget.Join] > f.lost {
		handed := trace.Time(0)
		for u, t := range f.victims {
			if a.handsOut(int32(u)) {
				handed += t
			}
		}
		if 4*handed > 3*f.lost {
			return false
		}
	}
	return f.lost > 0 && finding.LevelOf(a.share(f)) != finding.Low &&
		float64(f.lost) >= leastShare*float64(a.length)*float64(len(a.units))
}

// handsOut reports whether a unit does hardly any of what all others do.
func (a *audit) handsOut(u int32) bool {
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

// byUnit adds up what causes cost by who is to blame.
func (a *audit) byUnit(want func(*budget.Row) bool) []float64 {
	out := make([]float64, len(a.units))
	for _, r := range a.rows {
		if want(r) {
			out[a.books.unit[r.Actor]] += float64(r.Caused())
		}
	}
	return out
}

// tasks: workers wait for tasks that their next ones need. Which of the graph's tasks take longest while workers idle
// is told; that they do is how the graph is made, and no fault of who runs them.
func (a *audit) tasks() error {
	f := a.claim(func(r *budget.Row) bool { return 2*r.Of(budget.Task) > r.Caused() })
	share := float64(f.lost) / float64(a.books.time)
	level := finding.LevelOf(share).AtMost(finding.Medium)
	var names []string
	evidence := []finding.Evidence{{Name: waitedByOthers, Value: float64(f.lost), Unit: "ns"},
		{Name: "share of the time", Value: share, Unit: "share"}}
	var regions []int32
	for k := range f.regions {
		if a.books.role[k].Busy() {
			regions = append(regions, k)
		}
	}
	slices.SortFunc(regions,
		func(x, y int32) int { return cmp.Or(cmp.Compare(f.regions[y], f.regions[x]), cmp.Compare(x, y)) })
	for _, k := range regions[:min(len(regions), 3)] {
		names = append(names, fmt.Sprintf("%s (%s)", middle(a.books.regionNames[k]), view.FormatTime(f.regions[k])))
		evidence = append(evidence,
			finding.Evidence{Name: a.books.regionNames[k], Value: float64(f.regions[k]), Unit: "ns"})
	}
	if len(names) == 0 || level == finding.Low {
		return nil // the budget has it
	}
	for _, r := range f.rows {
		a.told[causeKey{r.Actor, r.Region}] = finding.Serial
	}
	a.add(finding.Finding{Kind: finding.Serial, Severity: level, Lost: f.lost, Hit: share, Share: share,
		ShareOf: "the time of those who wait", View: "timeline", Evidence: evidence,
		Selection: finding.Selection{Regions: a.books.ids[regions[0]]},
		Text: fmt.Sprintf("Workers idle for %s, %s of the time of locations, until tasks are over that their next "+
			"ones need, or the last are, most of all %s.", view.FormatTime(f.lost), view.FormatShare(share),
			strings.Join(names, ", "))}, nil)
	return nil
}

// starting: others wait for units that start up or shut down.
func (a *audit) starting() error {
	f := a.claim(func(r *budget.Row) bool { return a.starts(r.Region) })
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.StartUp)
}

// reading: others wait for units that read or write.
func (a *audit) reading() error {
	f := a.claim(func(r *budget.Row) bool { return a.books.role[r.Region] == trace.RoleIO })
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.IO)
}

// locked: threads wait for one that holds a lock.
func (a *audit) locked() error {
	f := a.claim(func(r *budget.Row) bool { return 2*r.Of(budget.Lock) > r.Caused() })
	f.actors = a.actorsOf(f)
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.Lock)
}

// serial: regions that one unit, or few, do alone while the others wait. All visits count,
// however short.
func (a *audit) serial() error {
	for range 4 {
		byUnit := a.byUnit(func(r *budget.Row) bool { return a.alone[r.Region] })
		u, most := top(byUnit)
		if most == 0 {
			return nil
		}
		f := a.claim(func(r *budget.Row) bool { return a.alone[r.Region] && a.books.unit[r.Actor] == u })
		if !a.grave(f) {
			a.give(f)
			return nil
		}
		kind := finding.Serial
		if f.messages() {
			kind = a.byMessages(f)
		}
		if err := a.tell(f, kind); err != nil {
			return err
		}
	}
	return nil
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

// messages reports whether others wait for messages rather than at collectives. Waits at
// the end of the run tell nothing of how they came about.
func (f *fault) messages() bool {
	return f.kinds[budget.LateSender]+f.kinds[budget.LateReceiver] > 2*(f.kinds[budget.Collective]+f.kinds[budget.Join])
}

// byMessages says which of the two ends of messages is late.
func (a *audit) byMessages(f *fault) finding.Kind {
	if f.kinds[budget.LateReceiver] > f.kinds[budget.LateSender] {
		return finding.LateReceiver
	}
	return finding.LateSender
}

// common reports causes that are work which all do.
func (a *audit) common(r *budget.Row) bool { return a.ordinary(r.Region) && !a.alone[r.Region] }

// slow: units that work longer than the others over the whole run. Groups come one after
// the other, the slowest first.
func (a *audit) slow() error {
	inside := make([]bool, len(a.units)) // told already
	for range 4 {
		values, units := []float64{}, []int32{}
		for u, w := range a.work {
			if !inside[u] {
				values, units = append(values, w), append(units, int32(u))
			}
		}
		group := finding.Upper(values)
		if len(group) == 0 {
			break
		}
		in := map[int32]bool{}
		for _, i := range group {
			in[units[i]] = true
			inside[units[i]] = true
		}
		f := a.claim(func(r *budget.Row) bool { return a.common(r) && in[a.books.unit[r.Actor]] })
		if !a.grave(f) || !a.persistent(f) {
			a.give(f)
			break
		}
		f.units = f.units[:0]
		for u := range in {
			f.units = append(f.units, u)
		}
		slices.Sort(f.units)
		kind := finding.Straggler
		switch {
		case finding.CourseOf(f.series).Grows:
			kind = finding.Growth
		case len(f.units) == 1 && f.messages():
			kind = a.byMessages(f)
		case a.crowded(f.units):
			kind = finding.Crowded
		}
		if err := a.tell(f, kind); err != nil {
			return err
		}
	}
	return nil
}

// crowded reports whether units are all those of machines that hold more than the others do.
func (a *audit) crowded(units []int32) bool {
	machine := func(u int32) trace.LocationID {
		for up := a.units[u]; up != trace.NoLocation; up = a.tree.Parent[up] {
			if a.tree.Kind[up] == trace.KindMachine {
				return up
			}
		}
		return trace.NoLocation
	}
	all, slow := map[trace.LocationID]int{}, map[trace.LocationID]int{}
	for u := range a.units {
		all[machine(int32(u))]++
	}
	for _, u := range units {
		slow[machine(u)]++
	}
	if len(all) < 2 || all[trace.NoLocation] > 0 {
		return false
	}
	least, most := len(a.units), 0
	for m, n := range all {
		if slow[m] > 0 && slow[m] != n {
			return false
		}
		if slow[m] > 0 {
			least = min(least, n)
		} else {
			most = max(most, n)
		}
	}
	return most > 0 && float64(least) >= 1.5*float64(most)
}

// evenShare is the part of what is waited that differences in the work of the whole run may
// explain for it to be called a matter of time rather than of who.
const evenShare = 0.5

// steep is how closely work must follow the place to be called a gradient.
const steep = 0.9

// persistent reports whether a fault is the main cause of waiting for work that all do at
// nearly all times between its first and its last, in a few dozen bins. What is waited for
// in passing, now for one and then for another, is not the doing of who had most of it.
func (a *audit) persistent(f *fault) bool {
	const parts = 32
	mine, all := make([]float64, parts), make([]float64, parts)
	for i, v := range f.series {
		mine[i*parts/len(f.series)] += v
		all[i*parts/len(f.series)] += v
	}
	for _, r := range a.rows {
		if !a.common(r) {
			continue
		}
		for i, v := range r.Series.All() {
			all[i*parts/r.Series.Len()] += float64(v)
		}
	}
	c := finding.CourseOf(f.series)
	mean, used, main := 0.0, 0, 0
	for _, v := range all {
		mean += v / parts
	}
	for i, v := range all {
		if x := (float64(i) + 0.5) / parts; x < c.From || x > c.To || v < 0.05*mean {
			continue
		}
		used++
		if mine[i] > v/2 {
			main++
		}
	}
	return used == 0 || float64(main) >= 0.7*float64(used)
}

// varying: work that all do takes longer now here, now there; or it is spread unevenly
// without a group that stands out.
func (a *audit) varying() error {
	f := a.claim(a.common)
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	uneven, most := 0.0, 0.0
	for _, w := range a.work {
		most = max(most, w)
	}
	for _, w := range a.work {
		uneven += most - w
	}
	place := finding.Place(a.work)
	kind := finding.Imbalance
	switch {
	case uneven > evenShare*float64(f.lost) && (place > steep || place < -steep):
	case finding.CourseOf(f.series).Grows:
		kind = finding.Growth
	case uneven < evenShare*float64(f.lost) || uneven < 0.1*most*float64(len(a.work)):
		kind = finding.Jitter
		if turns, alone := finding.Turns(a.costs(f), budget.Bins); alone > 0.7 && finding.TakeTurns(turns) {
			kind = finding.Rotating
		}
	}
	return a.tell(f, kind)
}

// costs is what units cause over time.
func (a *audit) costs(f *fault) [][]float64 {
	out := make([][]float64, len(a.units))
	for _, r := range f.rows {
		u := a.books.unit[r.Actor]
		if out[u] == nil {
			out[u] = make([]float64, budget.Bins)
		}
		for i, t := range r.Series.All() {
			out[u][i] += float64(t)
		}
	}
	return out
}

// shares are what culprits cause, most first.
func (a *audit) shares(f *fault) (units []int32, cost map[int32]trace.Time) {
	cost = map[int32]trace.Time{}
	for _, r := range f.rows {
		cost[a.books.unit[r.Actor]] += r.Caused()
	}
	for u := range cost {
		units = append(units, u)
	}
	slices.SortFunc(units, func(x, y int32) int { return cmp.Or(cmp.Compare(cost[y], cost[x]), cmp.Compare(x, y)) })
	return units, cost
}
