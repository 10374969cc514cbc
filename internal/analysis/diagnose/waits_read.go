package diagnose

// Waits: the run is read in steps of time, and calls, messages and gaps are passed to the budget.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// stepIntervals is the number of intervals that are read in one step of time at least, and mostStepIntervals at
	// most.
	stepIntervals     = 1 << 20
	mostStepIntervals = 16 << 20
	// actorIntervals is how many of each actor a step should have: every step visits all actors, and unpacks the
	// frames of rows that it needs a part of.
	actorIntervals = 128
	// held is how many stretches and calls are held, and actorHeld how many of each actor where that is more: who
	// waits for a late rank has to find what it did meanwhile. 24 bytes each.
	held      = 8 << 20
	actorHeld = 512
	mostHeld  = 64 << 20
	// mostExplained is up to how many intervals all waiting is explained; beyond, it
	// would take minutes.
	mostExplained = 400 << 20
)

// A waitReader reads a run in steps of time, so that memory does not grow with it, and
// feeds calls, messages and the time in between to a budget.
type waitReader struct {
	*facts
	*accounts
	b          *budget.Budget
	f          *budget.Finder
	rows       []rowState
	seen       []int
	size       int64        // of a step, in intervals
	whole      bool         // all comes in one step
	tasks      bool         // some need others
	unrecorded []trace.Time // by actor: time without records between its first and its last
	collective []bool       // by region
	wrapper    []bool       // by region: its waiting is in calls inside
	sends      []sending    // by number of a region
	polling    []polling    // by number of a region
	patchy     []bool       // by region: its time counts as that of the region around it; nil: none is so
	between    *callPairs   // of work that is not recorded; nil: there is none

	mu     sync.Mutex
	team   []int32 // the first thread of an actor's team, -1; nil without teams
	groups map[groupKey]int32
	comms  map[string]int32 // numbers of communicators by name
	locks  *lockReader
	pools  *poolReader
}

// A groupKey names collectives that are paired with each other: those of a communicator,
// or of a name, within a process where they are threads'.
type groupKey struct {
	comm int32
	name int32
	home trace.LocationID
}

// A rowState is the call stack of an actor between two steps.
type rowState struct {
	stack []open
	at    trace.Time
	cut   bool // the last stretch was cut where a step ended
	begun bool
	some  bool       // something was recorded
	free  trace.Time // when the last of it ended
	busy  trace.Time // up to when something was done
	calls [2]int32   // the last one and the next, by the numbers of callPairs
	polls pollLoop
	use   int32 // of the last stretch, and its end
	until trace.Time
}

type open struct {
	begin, end trace.Time
	region     int32
	stay       bool
}

// account explains the waiting of the selection. Runs whose GPUs work next to their threads
// are left out: who waits for whom there is told by queues, not by calls alone.
func (f *facts) account(ctx context.Context) (*accounts, error) {
	a := &accounts{}
	a.numberRegions(f.regions)
	a.chooseActors(f)
	if err := a.sum(ctx, f); err != nil {
		return nil, err
	}
	n, err := f.store.Count(f.window)
	if err != nil {
		return nil, err
	}
	if !f.explains(a, n) {
		if n > mostExplained {
			f.notes = append(f.notes,
				fmt.Sprintf("%s intervals are too many to explain all waiting; select a part of the time",
					words.FormatCount(float64(n))))
		}
		return a, nil
	}
	x, err := f.followed(ctx, a, n)
	if err != nil {
		return nil, err
	}
	a.result, a.pairs, a.wrong = x.Result, x.Pairs, x.Wrong
	a.sumUnrecorded(f, x.Unrecorded)
	if a.result.Cut > 0 {
		f.notes = append(f.notes,
			fmt.Sprintf("%s of %s waits were traced back for a limited time only", words.Thousands(a.result.Cut),
				words.Thousands(a.result.Waits)))
	}
	return a, nil
}

// explains reports whether the waits of n intervals are followed one by one.
func (f *facts) explains(a *accounts, n int64) bool {
	return f.alike.what != "GPUs" && len(a.actors) > 1 && n > 0 && n <= mostExplained
}

// follow reads the run and explains its waits one by one.
func (f *facts) follow(ctx context.Context, a *accounts, n int64) (*Waits, error) {
	k := &waitReader{facts: f, accounts: a, rows: make([]rowState, len(a.actors)), seen: make([]int, len(a.actors)),
		size:   stepSize(len(a.actors)),
		groups: map[groupKey]int32{}, comms: map[string]int32{}, unrecorded: make([]trace.Time, len(a.actors))}
	k.whole = n <= stepIntervals
	k.b = budget.New(len(a.actors), len(a.regionNames), f.window.Begin, f.window.End)
	k.b.Each = f.each
	k.between = k.pairCalls()
	k.f = budget.NewFinder(k.b)
	k.f.Sync = k.sync
	k.f.Style = k.style()
	k.b.Changes, k.b.Rooted = f.changes, make([]bool, len(k.f.Style))
	for i, style := range k.f.Style {
		k.b.Rooted[i] = style != budget.AllToAll
	}
	k.sends = k.sendings()
	for _, name := range a.regionNames {
		k.polling = append(k.polling, pollingOf(name))
	}
	k.team = k.teams()
	k.collective = make([]bool, len(k.regions))
	for i := range k.regions {
		k.collective[i] = waiting.IsCollective(&k.regions[i])
	}
	k.wrapper = f.wrappers()
	var err error
	if k.patchy, err = f.patchy(ctx, a.actorOf, n); err != nil {
		return nil, err
	}
	k.locks = newLockReader(k)
	if k.pools, err = newPoolReader(k); err != nil {
		return nil, err
	}
	for i := range k.rows {
		k.rows[i].at = f.window.Begin
	}
	if err := k.run(ctx, n); err != nil {
		return nil, err
	}
	x := &Waits{Unrecorded: k.unrecorded}
	x.Pairs, x.Wrong = k.f.Pairs()
	if f.window.Begin == 0 && f.window.End >= f.store.Info().End && f.alike.what == "ranks" &&
		(k.f.Met() || a.communication > 0) {
		k.b.Ends() // ranks that never communicate may have nothing to do with each other
	}
	if k.tasks {
		k.workersEnd()
	}
	x.Result = k.b.Result()
	if k.whole {
		f.held = k.b
	}
	return x, nil
}

// wrapperShare is the part of its time that a region around others has to itself.
const wrapperShare = 0.1

// wrappers finds regions of communication that are little more than others inside them, such as a state around MPI
// calls: it is in those that is waited.
func (f *facts) wrappers() []bool {
	own, all := make([]float64, len(f.regions)), make([]float64, len(f.regions))
	for i, r := range f.table.region {
		own[r] += f.table.exclusive[i]
		all[r] += f.table.inclusive[i]
	}
	out := make([]bool, len(f.regions))
	for r := range out {
		out[r] = all[r] > 0 && own[r] < wrapperShare*all[r]
	}
	return out
}

// stepSize is how many intervals of so many actors are read in one step.
func stepSize(actors int) int64 {
	return min(max(actorIntervals*int64(actors), stepIntervals), mostStepIntervals)
}

// heldFor is how many stretches and calls of so many actors are held.
func heldFor(actors int) int { return min(max(actorHeld*actors, held), mostHeld) }

// run goes through the time in steps.
func (k *waitReader) run(ctx context.Context, n int64) error {
	begin, end := k.window.Begin, k.window.End
	step := end - begin
	if !k.whole {
		step = max(trace.Time(float64(step)*float64(k.size)/float64(n)), 1)
	}
	forgotten := begin
	for from := begin; from < end; {
		to := min(from+step, end)
		w := store.Window{Begin: from, End: to, Locations: k.window.Locations}
		c, err := k.store.Count(w)
		if err != nil {
			return err
		}
		if c > 2*k.size && to-from > 1 && !k.whole {
			step = max(step/2, 1)
			continue
		} else if c < k.size/4 {
			step *= 2
		}
		if err := k.step(ctx, w, to == end); err != nil {
			return err
		}
		settled := k.f.Advance(to-1, k.seen)
		if to == end {
			settled = k.f.Advance(1<<62, k.seen)
		}
		if k.b.Remembered()+k.f.Held() > heldFor(len(k.actors)) {
			settled = max(settled, forgotten) // a member never comes: go on without
			k.b.Settle(settled)
			forgotten = settled - (settled-forgotten)/4
			k.f.Forget(forgotten, k.seen)
			k.b.Forget(forgotten)
		} else {
			k.b.Settle(settled)
		}
		from = to
	}
	return nil
}

// step reads one step of time.
func (k *waitReader) step(ctx context.Context, w store.Window, last bool) error {
	group, err := k.numbered(ctx, w, "communicator", k.comms)
	if err == nil {
		err = k.locks.step(ctx, w)
	}
	if err != nil {
		return err
	}
	err = k.store.Intervals(ctx, w, func(c *trace.Columns) error {
		if a := k.actorOf[c.Location]; a >= 0 && c.Lane == 0 && k.actors[a] == c.Location {
			k.read(a, c, w.Begin, group)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_ = parallel.Ranges(ctx, len(k.rows), 512, func(from, to int) {
		for a := from; a < to; a++ {
			k.finish(int32(a), w.End)
		}
	})
	k.pools.step(w.End)
	if k.whole {
		k.countGroups()
	}
	return k.readLinks(ctx, w, last)
}

// read takes a batch of an actor's intervals.
func (k *waitReader) read(a int32, c *trace.Columns, begin trace.Time, group func(int, int) int32) {
	s := &k.rows[a]
	for _, o := range c.Open { // of the first batch: intervals that began before the selection
		if !s.begun && o.Begin < begin {
			s.stack = append(s.stack,
				open{begin, min(o.End, k.window.End), k.number[o.Region],
					waiting.Waits(k.regions[o.Region].Role) && !k.wrapper[o.Region]})
		}
	}
	s.begun = true
	for i, r := range c.Region {
		b, e := c.Begin[i], min(c.End(i), k.window.End)
		s.calls[1] = k.between.numberOf(r)
		for len(s.stack) > 0 && s.stack[len(s.stack)-1].end <= b {
			k.upto(a, s, s.stack[len(s.stack)-1].end)
			s.stack = s.stack[:len(s.stack)-1]
		}
		if len(s.stack) == 0 && b > s.at {
			k.join(a, s.at, b)
		}
		if len(s.stack) == 0 && s.some {
			k.unrecorded[a] += max(b-s.free, 0)
		}
		s.some, s.free = true, max(s.free, e)
		k.upto(a, s, b)
		s.cut = false
		k.locks.read(a, s, r, b, e, c.First+i)
		stay := waiting.Waits(k.regions[r].Role) && !k.wrapper[r]
		if within := len(s.stack) > 0 && s.stack[len(s.stack)-1].stay; stay && !within && e > b {
			call := budget.Call{Begin: b, End: e, Region: k.number[r], Group: budget.NoGroup}
			if k.collective[r] {
				comm := int32(0)
				if group != nil {
					comm = group(int(a), c.First+i)
				}
				call.Group = k.groupOf(a, r, comm)
			}
			k.call(a, s, call)
		} else {
			stay = stay || within
		}
		number := k.number[r]
		if n := len(s.stack); k.patchy != nil && k.patchy[r] && n > 0 {
			number = s.stack[n-1].region
		}
		s.stack = append(s.stack, open{b, e, number, stay})
		if k.between == nil || r != k.between.region {
			s.calls[0] = s.calls[1]
		}
	}
}

// callPairs number the work that is not recorded by the calls around it: visits of one pair are alike.
type callPairs struct {
	region trace.RegionID
	of     int32   // its number
	number []int32 // of a call by region, from 1
	count  int32
	first  int32 // number of the pair (0, 0)
}

// mostPaired is up to how many calls work is distinguished by the two around it.
const mostPaired = 64

func (k *waitReader) pairCalls() *callPairs {
	at := slices.IndexFunc(k.regions, func(g trace.Region) bool { return trace.Inferred(&g) })
	p := &callPairs{region: trace.RegionID(at), number: make([]int32, len(k.regions)), count: 1}
	for i := range k.regions {
		if waiting.Waits(k.regions[i].Role) {
			p.number[i] = p.count
			p.count++
		}
	}
	if at < 0 || p.count > mostPaired {
		return nil
	}
	p.of = k.number[at]
	p.first = k.b.Divide(p.of, int(p.count*p.count))
	return p
}

// useOf returns the number of the innermost region, or, for work that is not recorded, of the pair of calls around.
func (k *waitReader) useOf(s *rowState) int32 {
	region := s.stack[len(s.stack)-1].region
	if p := k.between; p != nil && region == p.of {
		return p.first + s.calls[0]*p.count + s.calls[1]
	}
	return region
}

// numberOf returns the number of a call.
func (p *callPairs) numberOf(r trace.RegionID) int32 {
	if p == nil {
		return 0
	}
	return p.number[r]
}

// join notes that a thread of a team has nothing to do until a moment: the first of the
// team forks it when it gets there.
func (k *waitReader) join(a int32, begin, end trace.Time) {
	if k.team == nil || k.team[a] < 0 || k.team[a] == a {
		return
	}
	k.mu.Lock()
	k.b.Wait(budget.Wait{Actor: a, Late: k.team[a], Kind: budget.Join, Region: budget.Nothing, Begin: begin, End: end},
		end)
	k.mu.Unlock()
}

// teams finds the threads that fork and join: those of a process whose source names regions
// of OpenMP. It gives the first thread of the process of each actor, -1 for others.
func (k *waitReader) teams() []int32 {
	openMP := slices.ContainsFunc(k.regions, func(g trace.Region) bool {
		name := strings.ToLower(g.Name)
		return strings.Contains(name, "omp ") || strings.Contains(name, "omp_") ||
			strings.Contains(strings.ToLower(g.Category), "openmp")
	})
	if !openMP {
		return nil
	}
	first := map[trace.LocationID]int32{}
	out := make([]int32, len(k.actors))
	for a, id := range k.actors { // in order
		out[a] = -1
		if k.tree.Kind[id] != trace.KindThread {
			continue
		}
		home := k.tree.Parent[id]
		if _, ok := first[home]; !ok {
			first[home] = int32(a)
		}
		out[a] = first[home]
	}
	return out
}

// upto adds the time up to a moment to the innermost region.
func (k *waitReader) upto(a int32, s *rowState, t trace.Time) {
	if t <= s.at {
		return
	}
	k.pools.note(a, s)
	if n := len(s.stack); n > 0 && k.role[k.b.RegionOf(s.stack[n-1].region)].Busy() {
		s.busy = t
	}
	switch n := len(s.stack); {
	case s.cut && n > 0:
		k.b.Extend(a, t)
	case n > 0:
		use := k.useOf(s)
		if k.patchy != nil && use == s.use && s.at == s.until { // recorded or not, it is one visit
			k.b.Extend(a, t)
		} else {
			k.b.Add(a, s.at, t, use)
		}
		s.use, s.until = use, t
	}
	s.at, s.cut = t, false
}

// finish brings an actor to the end of a step.
func (k *waitReader) finish(a int32, end trace.Time) {
	s := &k.rows[a]
	k.endPolls(a, s)
	for len(s.stack) > 0 && s.stack[len(s.stack)-1].end <= end {
		k.upto(a, s, s.stack[len(s.stack)-1].end)
		s.stack = s.stack[:len(s.stack)-1]
	}
	if len(s.stack) > 0 {
		k.upto(a, s, end)
		s.cut = true
	} else {
		k.pools.note(a, s)
		s.at = max(s.at, min(end, k.window.End))
	}
}

// groupOf returns the group of a collective call.
func (k *waitReader) groupOf(a int32, r trace.RegionID, comm int32) int32 {
	key := groupKey{comm: comm, home: trace.NoLocation}
	g := &k.regions[r]
	if comm == 0 {
		key.name = k.number[r]
	}
	if g.Role == trace.RoleSynchronization && k.tree.Kind[k.actors[a]] == trace.KindThread &&
		!strings.Contains(strings.ToLower(g.Name), "mpi") {
		key.home = k.tree.Parent[k.actors[a]]
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	id, ok := k.groups[key]
	if !ok {
		id = k.f.Group(k.members(key))
		k.groups[key] = id
		if comm == 0 {
			k.f.Loose(id)
		}
	}
	return id
}

// members are the actors whose k-th calls belong together, nil if that is not known. If all comes in one
// step, the calls are counted after it.
func (k *waitReader) members(key groupKey) []int32 {
	if k.whole {
		return nil
	}
	if key.comm > 0 {
		for _, c := range k.store.Communicators() {
			if k.comms[c.Name] != key.comm {
				continue
			}
			var out []int32
			seen := map[int32]bool{}
			for _, id := range c.Members {
				if a := k.actorOf[id]; a >= 0 && !seen[a] {
					seen[a], out = true, append(out, a)
				}
			}
			return out
		}
		return nil
	}
	counts := map[int32]float64{}
	for i, r := range k.table.region {
		id := k.facts.rows[k.table.row[i]]
		if k.number[r] == key.name && k.table.calls[i] > 0 &&
			(key.home == trace.NoLocation || k.tree.Parent[id] == key.home) {
			counts[k.actorOf[id]] += k.table.calls[i]
		}
	}
	return alikeCounts(counts)
}

// alikeCounts are the actors where all have as many calls, else nil.
func alikeCounts[N int | float64](counts map[int32]N) []int32 {
	var out []int32
	var first N
	for a, n := range counts {
		if len(out) == 0 {
			first = n
		}
		if n != first || a < 0 {
			return nil
		}
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}

func (k *waitReader) countGroups() {
	if k.window.Begin > 0 {
		return // the first calls may be before
	}
	for id, counts := range k.f.Counts() {
		k.f.Members(int32(id), alikeCounts(counts))
	}
}

// numbered returns a function that numbers the value of an attribute of an actor's row in a
// step, 0 if it is unknown; nil where the source has no such attribute. Numbers are
// those of the names seen so far, from 1 on.
func (k *waitReader) numbered(ctx context.Context, w store.Window, attribute string,
	seen map[string]int32) (func(actor, row int) int32, error) {
	at := slices.Index(k.store.Attributes(), attribute)
	if at < 0 {
		return nil, nil
	}
	type column struct{ row, number []int32 }
	columns := make([]column, len(k.actors))
	err := k.store.AttributeColumn(ctx, w, trace.AttributeID(at), func(c *store.AttributeColumns) error {
		a := k.actorOf[c.Location]
		if a < 0 || c.Lane != 0 {
			return nil
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		for i, row := range c.Row {
			name := c.Value[i].String()
			n, ok := seen[name]
			if !ok {
				n = int32(len(seen)) + 1
				seen[name] = n
			}
			columns[a].row, columns[a].number = append(columns[a].row, row), append(columns[a].number, n)
		}
		return nil
	})
	return func(actor, row int) int32 {
		c := &columns[actor]
		if i, ok := slices.BinarySearch(c.row, int32(row)); ok {
			return c.number[i]
		}
		return 0
	}, err
}

// workersEnd notes that workers which idle to the end wait for the last of them, as long as that works.
func (k *waitReader) workersEnd() {
	late := int32(0)
	for a := range k.rows {
		if k.rows[a].busy > k.rows[late].busy {
			late = int32(a)
		}
	}
	for a := range k.rows {
		if c, ok := k.f.Last(int32(a)); ok && k.role[c.Region] == trace.RoleIdle && c.Begin >= k.rows[a].busy &&
			c.End >= k.rows[late].busy {
			k.b.Wait(budget.Wait{Actor: int32(a), Late: late, Kind: budget.Task, Region: c.Region, Begin: c.Begin,
				End: k.rows[late].busy}, c.End)
		}
	}
}

// takingTask is how long a worker may take from idling to a task.
const takingTask = 50_000

// sync reports whether a send waited for its receiver: it is synchronous by name, or it is a
// blocking one that ended only after the receiver came and mostly lay before.
func (k *waitReader) sync(s, r *budget.Call, m *budget.Message) bool {
	switch k.sends[s.Region] {
	case synchronous:
		return true
	case blocking:
		return s.End >= r.Begin && 2*(r.Begin-m.Sent) >= s.End-s.Begin
	}
	return false
}

// A sending says whether a call may wait for the receiver of its message.
type sending uint8

const (
	noWait sending = iota
	blocking
	synchronous
)

// sendings says of regions whether they send, by name.
func (k *waitReader) sendings() []sending {
	out := make([]sending, len(k.regionNames))
	for i, n := range k.regionNames {
		n = strings.ToLower(n)
		switch {
		case strings.Contains(n, "ssend"):
			out[i] = synchronous
		case !strings.Contains(n, "send"), strings.Contains(n, "isend"), strings.Contains(n, "sendrecv"),
			strings.Contains(n, "start"):
		default:
			out[i] = blocking
		}
	}
	return out
}

// style returns of collectives who waits for whom, by name.
func (k *waitReader) style() []budget.Style {
	out := make([]budget.Style, len(k.regionNames))
	for i, n := range k.regionNames {
		n = strings.ToLower(n)
		all := strings.Contains(n, "all")
		switch {
		case all:
		case strings.Contains(n, "bcast"), strings.Contains(n, "broadcast"), strings.Contains(n, "scatter") &&
			!strings.Contains(n, "reduce"):
			out[i] = budget.OneToAll
		case strings.Contains(n, "reduce") && !strings.Contains(n, "scatter"), strings.Contains(n, "gather"):
			out[i] = budget.AllToOne
		}
	}
	return out
}
