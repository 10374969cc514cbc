package diagnose

// Accounts: where the time of each row went, in work, in waiting by cause, and in the rest.

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// Accounts are where the time of the rows of a run went: work, waiting by who caused it,
// and the rest. An actor is a row; causes are distinguished by actor and region.
type accounts struct {
	actors  []trace.LocationID
	actorOf []int32 // by location, -1
	unit    []int32 // of an actor
	// Regions are numbered by name, from 1 in order; 0 is time in which nothing is recorded.
	regionNames []string
	number      []int32      // by region
	role        []trace.Role // by number
	ids         [][]trace.RegionID
	result      *budget.Result
	work        [][]trace.Time // exclusive time by number and unit
	peers       [][]trace.Time // the same, of rows that are peers
	inside      [][]trace.Time // the same, inclusive
	calls       [][]float64    // by number and unit
	// Sums over all rows, in ns; a sum too large for a time is the longest time.
	time, busy, communication, synchronization trace.Time
	lanes                                      bool // the sums are of rows that do several things at once
	pairs, wrong                               int  // collectives that were paired, and that could not be
}

// numberRegions numbers regions by name. Numbers at the end of annotations, such as
// those of steps, do not make another region.
func (a *accounts) numberRegions(regions []trace.Region) {
	fold := func(g *trace.Region) string {
		if g.Role == trace.RoleAnnotation {
			if s := trace.Stem(g.Name); s != "" {
				return s
			}
		}
		return g.Name
	}
	seen := map[string]int32{}
	for i := range regions {
		n := fold(&regions[i])
		if _, ok := seen[n]; !ok {
			seen[n] = 0
			a.regionNames = append(a.regionNames, n)
		}
	}
	slices.Sort(a.regionNames)
	a.regionNames = slices.Insert(a.regionNames, 0, notRecorded)
	for i, n := range a.regionNames[1:] {
		seen[n] = int32(i) + 1
	}
	a.number, a.role, a.ids = make([]int32, len(regions)), make([]trace.Role, len(a.regionNames)),
		make([][]trace.RegionID, len(a.regionNames))
	for i := range regions {
		n := seen[fold(&regions[i])]
		a.number[i] = n
		a.role[n] = max(a.role[n], regions[i].Role)
		if len(a.ids[n]) == 0 || regions[i].Role.Busy() {
			a.role[n] = regions[i].Role
		}
		a.ids[n] = append(a.ids[n], trace.RegionID(i))
	}
}

// notRecorded names the region of time in which nothing is recorded. If a recorder keeps communication only, it is
// the program's work.
const notRecorded = "(not recorded)"

// regionWord names a region in a sentence.
func (a *accounts) regionWord(k int32) string { return regionWord(a.regionNames[k]) }

// regionWord writes the name of a region in a sentence.
func regionWord(name string) string {
	if name == notRecorded {
		return "unrecorded work"
	}
	return words.Middle(name)
}

// sumUnrecorded adds up the time of units in which nothing is recorded, given by actor.
func (a *accounts) sumUnrecorded(f *facts, unrecorded []trace.Time) {
	work, peers := make([]trace.Time, len(f.units)), make([]trace.Time, len(f.units))
	for actor, t := range unrecorded { // actors are rows
		if work[a.unit[actor]] += t; f.peer[actor] {
			peers[a.unit[actor]] += t
		}
	}
	a.work[budget.Nothing], a.inside[budget.Nothing] = work, work
	a.peers[budget.Nothing] = peers
	a.calls[budget.Nothing] = make([]float64, len(f.units))
}

// chooseActors takes the rows whose time is that of a program: not streams of a GPU.
func (a *accounts) chooseActors(f *facts) {
	a.actorOf = make([]int32, f.tree.Len())
	for i := range a.actorOf {
		a.actorOf[i] = -1
	}
	for _, id := range f.rows {
		a.actorOf[id] = int32(len(a.actors))
		a.actors = append(a.actors, id)
		a.unit = append(a.unit, f.unitOf[id])
	}
	// Messages may be told of the process where its only row is a thread.
	alone := map[int32]int32{}
	for i, u := range a.unit {
		if _, ok := alone[u]; ok {
			alone[u] = -1
		} else {
			alone[u] = int32(i)
		}
	}
	for id := range a.actorOf {
		if u := f.unitOf[id]; a.actorOf[id] < 0 && u >= 0 {
			a.actorOf[id] = alone[u]
		}
	}
	for i, u := range a.unit {
		if only := alone[u]; only >= 0 && a.actorOf[f.units[u]] < 0 {
			a.actorOf[f.units[u]] = int32(i)
		}
	}
}

// sum fills in the time of units by region, and the sums over all.
func (a *accounts) sum(ctx context.Context, f *facts) error {
	a.work, a.inside = make([][]trace.Time, len(a.regionNames)), make([][]trace.Time, len(a.regionNames))
	a.calls, a.peers = make([][]float64, len(a.regionNames)), make([][]trace.Time, len(a.regionNames))
	t := f.table
	for i, r := range t.region {
		n := a.number[r]
		if a.work[n] == nil {
			a.work[n], a.inside[n] = make([]trace.Time, len(f.units)), make([]trace.Time, len(f.units))
			a.calls[n], a.peers[n] = make([]float64, len(f.units)), make([]trace.Time, len(f.units))
		}
		u := f.unitOf[f.rows[t.row[i]]]
		a.work[n][u] += trace.Time(math.Round(t.exclusive[i]))
		if f.peer[t.row[i]] {
			a.peers[n][u] += trace.Time(math.Round(t.exclusive[i]))
		}
		a.inside[n][u] += trace.Time(math.Round(t.inclusive[i]))
		a.calls[n][u] += t.calls[i]
		switch role := f.regions[r].Role; {
		case role.Busy():
			a.busy = trace.AddUp(a.busy, trace.Time(math.Round(t.exclusive[i])))
		case role == trace.RoleCommunication:
			a.communication = trace.AddUp(a.communication, trace.Time(math.Round(t.exclusive[i])))
		case role == trace.RoleSynchronization, role == trace.RoleIdle:
			a.synchronization = trace.AddUp(a.synchronization, trace.Time(math.Round(t.exclusive[i])))
		}
	}
	a.time = trace.SumProduct(int64(len(f.rows)), f.length).Time()
	return a.sumLanes(ctx, f)
}

// sumLanes adds up the time of rows that do several things at once, such as a core with tasks that wait for others:
// each instant counts once, by the activity in it.
func (a *accounts) sumLanes(ctx context.Context, f *facts) error {
	lanes := f.store.Lanes()
	if f.profile || f.question.Selection.Regions != nil ||
		!slices.ContainsFunc(f.rows, func(id trace.LocationID) bool { return lanes[id+1]-lanes[id] > 1 }) {
		return nil
	}
	a.lanes, a.busy, a.communication, a.synchronization = true, 0, 0, 0
	return f.roles(ctx, f.window.Begin, f.window.End, func(_ trace.LocationID, t *[trace.RoleCount]trace.Time) {
		for role, d := range t {
			switch role := trace.Role(role); {
			case role.Busy():
				a.busy = trace.AddUp(a.busy, d)
			case role == trace.RoleCommunication:
				a.communication = trace.AddUp(a.communication, d)
			case role == trace.RoleSynchronization, role == trace.RoleIdle:
				a.synchronization = trace.AddUp(a.synchronization, d)
			}
		}
	})
}

// inCalls returns the waiting in calls of regions with some roles.
func (a *accounts) inCalls(roles ...trace.Role) (sum trace.Time) {
	if a.result == nil {
		return 0
	}
	for n, t := range a.result.InCalls {
		if slices.Contains(roles, a.role[n]) {
			sum = trace.AddUp(sum, t)
		}
	}
	return sum
}

// transfer is the time in communication without waiting for another.
func (a *accounts) transfer() trace.Time {
	return max(a.communication-a.inCalls(trace.RoleCommunication), 0)
}

// open is the time in synchronization and idle without a known cause.
func (a *accounts) open() trace.Time {
	return max(a.synchronization-a.inCalls(trace.RoleSynchronization, trace.RoleIdle), 0)
}

// waiting returns the time of all waits, and the part of it without a known cause.
func (a *accounts) waiting() (all, unexplained trace.Time) {
	all, unexplained = a.open(), a.open()
	if a.result != nil {
		all = trace.AddUp(all, a.result.Total)
		unexplained = trace.AddUp(unexplained, a.result.Unexplained)
	}
	return all, unexplained
}

// Waits are the results of tracing the waits of a run to their causes one by one.
type Waits struct {
	Result       *budget.Result
	Pairs, Wrong int
	Unrecorded   []trace.Time // by actor: time without records between its first and its last
}

// SizeBytes is about how much memory they take.
func (x *Waits) SizeBytes() int64 { return x.Result.SizeBytes() }

// fewFollowed is the number of intervals up to which waits are traced anew each time, in a tenth of a second;
// results of more are stored with the run.
const fewFollowed = 1 << 18

// followed traces the waits of the selection to their causes. For a whole run that is done once.
func (f *facts) followed(ctx context.Context, a *accounts, n int64) (*Waits, error) {
	if !f.window.Whole(f.store) || f.question.Selection.Regions != nil {
		return f.follow(ctx, a, n)
	}
	ofRun := derived.Derived[*Waits]{
		Name: "waiting", Version: 8,
		Make:    func(ctx context.Context, _ *derived.Run) (*Waits, error) { return f.follow(ctx, a, n) },
		Keeps:   func(store.Reader) bool { return n >= fewFollowed },
		Restore: func(x *Waits, _ store.Reader) error { return x.fits(len(a.actors), len(a.regionNames)) },
	}
	return ofRun.Of(ctx, f.question.Run)
}

func (x *Waits) fits(actors, regions int) error {
	if x.Result == nil || len(x.Unrecorded) != actors {
		return errors.New("there is no budget")
	}
	return x.Result.Fits(actors, regions)
}
