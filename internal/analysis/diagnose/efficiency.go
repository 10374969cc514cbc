package diagnose

// POP's efficiencies of the run, over rows that have the same work.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/analysis/processor"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// Efficiency computes POP's efficiencies of a whole run, NaN for those that it lacks, as Run has them.
func Efficiency(ctx context.Context, run *derived.Run) (pop.Efficiency, error) {
	f, err := gatherWork(ctx, &Question{Run: run, Selection: trace.Selection{End: run.Store.Info().End}})
	if err != nil {
		return pop.Efficiency{}, err
	}
	return f.pop, nil
}

// alike is the base of POP's efficiencies: rows, or sets of them, that have the same work. A thread that
// launches kernels, one that loads data and a stream are no peers, and a mean over them says nothing of
// balance.
type alike struct {
	what    string // "ranks", "threads", "GPUs" …
	members [][]int32
	useful  []float64 // busy time of each member
}

// words names the base: "16 ranks".
func (a *alike) words() string {
	if len(a.members) == 1 {
		return "1 " + One(a.what)
	}
	return words.Thousands(int64(len(a.members))) + " " + a.what
}

// One returns the singular of the base of efficiencies.
func One(what string) string {
	if what == "processes" {
		return "process"
	}
	return strings.TrimSuffix(what, "s")
}

// efficiency is POP's, over alike rows: processors where goroutines tell the same time
// again, GPUs where there are some, else ranks of a job or threads of a team.
func (f *facts) efficiency(ctx context.Context) error {
	if err := f.work(ctx); err != nil {
		return err
	}
	a := &f.alike
	switch {
	case f.processors != nil:
		a.what = "processors"
		for _, id := range f.processors {
			a.members = append(a.members, []int32{f.rowOf[id]})
		}
		f.notes = append(f.notes,
			fmt.Sprintf("efficiencies are of the %d processors alone, since goroutines repeat the same time",
				len(f.processors)))
	case f.spans: // services have different duties
		a.what = "services"
	case f.gpus():
	default:
		f.team()
	}
	f.peers()
	a.useful = make([]float64, len(a.members))
	for i, rows := range a.members {
		for _, row := range rows {
			a.useful[i] += f.useful[row]
		}
	}
	if err := f.together(ctx); err != nil {
		return err
	}
	f.pop = pop.Of(a.useful, float64(f.length))
	switch {
	case len(a.members) == 1:
		return f.alone(ctx)
	case !f.communicates():
		f.pop.Communication = math.NaN()
	}
	return nil
}

// alone is for one processor, which has no load balance and waits for no other: it computes only how busy it was from
// its first work to its last.
func (f *facts) alone(ctx context.Context) error {
	f.pop.LoadBalance, f.pop.Communication, f.pop.Parallel = math.NaN(), math.NaN(), math.NaN()
	if f.profile {
		return nil
	}
	ids := make([]trace.LocationID, len(f.alike.members[0]))
	for i, row := range f.alike.members[0] {
		ids[i] = f.rows[row]
	}
	begin, end, err := runfacts.FirstAndLast(ctx, f.store, ids, f.window.Begin, f.window.End)
	if err != nil || begin >= end {
		return err
	}
	runtime, err := runfacts.RecordedTime(ctx, f.store, begin, end)
	f.pop.Runtime = float64(runtime)
	return err
}

// balanceWords returns the load balance and its base, to follow a sentence; empty for one processor.
func (f *facts) balanceWords() string {
	if math.IsNaN(f.pop.LoadBalance) {
		return ""
	}
	return fmt.Sprintf(": load balance %s (POP, %s)", words.FormatShare(f.pop.LoadBalance), f.alike.words())
}

// communicates reports whether any row is in communication or synchronization: if none is, other time is not lost to
// it.
func (f *facts) communicates() bool {
	for i, r := range f.table.region {
		if role := f.regions[r].Role; f.table.exclusive[i] > 0 &&
			(role == trace.RoleCommunication || role == trace.RoleSynchronization) {
			return true
		}
	}
	return false
}

// work is the busy time of each row: its lanes' union, annotations transparent, as everywhere. A
// profile has no instants, so there the times of busy regions add up.
func (f *facts) work(ctx context.Context) error {
	f.useful = make([]float64, len(f.rows))
	if f.profile {
		t := f.table
		for i := range t.region {
			if f.regions[t.region[i]].Role.Busy() {
				f.useful[t.row[i]] += t.exclusive[i]
			}
		}
		return nil
	}
	times, err := store.RoleTimes(ctx, f.store, f.rows, []trace.Time{f.window.Begin, f.window.End})
	if err != nil {
		return err
	}
	longest := trace.Time(0)
	for row := range f.rows {
		all := trace.Time(0)
		for role, t := range times[row*trace.RoleCount : (row+1)*trace.RoleCount] {
			if all += t; trace.Role(role).Busy() {
				f.useful[row] += float64(t)
			}
		}
		longest = max(longest, all)
	}
	return f.recorded(ctx, longest)
}

// gpus makes a member of each GPU: the streams below one device, or of one process.
func (f *facts) gpus() bool {
	byDevice := map[trace.LocationID][]int32{}
	busy := false
	for row, id := range f.rows {
		if k := f.tree.Kind[id]; k != trace.KindStream && k != trace.KindDevice {
			continue
		}
		d := id
		for up := id; up != trace.NoLocation; up = f.tree.Parent[up] {
			if k := f.tree.Kind[up]; k == trace.KindDevice || k == trace.KindProcess {
				d = up
				break
			}
		}
		byDevice[d] = append(byDevice[d], int32(row))
		busy = busy || f.useful[row] > 0
	}
	if !busy {
		return false
	}
	for _, rows := range byDevice {
		f.alike.members = append(f.alike.members, rows)
	}
	slices.SortFunc(f.alike.members, func(a, b []int32) int { return cmp.Compare(a[0], b[0]) })
	f.alike.what = "GPUs"
	return true
}

// teamShare is the part of the rows that must use the longest region for all of them to count as a team.
const teamShare = 0.75

// processorRows are the rows that are processors: helpers of a runtime and rows of the recorder are compared with
// nobody. It is all rows where locations are selected, and of GPU jobs: there GPUs are compared, not threads.
func (f *facts) processorRows() (rows []int32) {
	all := f.question.Selection.Locations != nil || f.alike.what == "GPUs"
	of := processor.Choose(f.tree, processor.Processors).Row
	all = all || !slices.ContainsFunc(f.rows, func(id trace.LocationID) bool { return of[id] != trace.NoLocation })
	for row, id := range f.rows {
		if all || of[id] != trace.NoLocation {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// peers are the rows whose work is that of a unit where units are compared: GPUs of a GPU job, else processors.
func (f *facts) peers() {
	f.peer = make([]bool, len(f.rows))
	if f.alike.what != "GPUs" {
		for _, row := range f.processorRows() {
			f.peer[row] = true
		}
		return
	}
	for _, rows := range f.alike.members {
		for _, row := range rows {
			f.peer[row] = true
		}
	}
}

// peerRows are the rows that are peers.
func (f *facts) peerRows() (rows []int32) {
	for row, is := range f.peer {
		if is {
			rows = append(rows, int32(row))
		}
	}
	return rows
}

// team makes a member of each rank, where ranks have one processor each, else of each processor that uses the longest
// region.
func (f *facts) team() {
	a := &f.alike
	rows := f.processorRows()
	kind := f.class[rows[0]]
	ranks := map[int32]bool{}
	for _, row := range rows {
		if f.class[row] != kind {
			kind = "location"
		}
		if r := f.tree.Rank[f.rows[row]]; r >= 0 {
			ranks[r] = true
		}
	}
	if a.what = kind + "s"; kind == "process" {
		a.what = "processes"
	}
	all := len(ranks) == len(rows)
	if all {
		a.what = "ranks"
	}
	uses := f.users()
	n := 0
	for _, row := range rows {
		if uses[row] {
			n++
		}
	}
	all = all || n == 0 || float64(n) >= teamShare*float64(len(rows))
	for _, row := range rows {
		if all || uses[row] {
			a.members = append(a.members, []int32{row})
		}
	}
	if len(a.members) == len(f.rows) {
		return
	}
	if all {
		f.notes = append(f.notes, fmt.Sprintf("efficiencies are of %s; the other %d of %d locations help a runtime or "+
			"the recorder", a.words(), len(f.rows)-len(rows), len(f.rows)))
		return
	}
	f.notes = append(f.notes,
		fmt.Sprintf("efficiencies are of the %d of %d locations that share the work that takes most time; the others "+
			"have other duties", len(a.members), len(f.rows)))
	if len(ranks) > 1 && len(a.members) == len(ranks) {
		a.what = "ranks"
	}
}

// users returns the rows that do the work with most time: a region by its name, or a program, where a scheduler records
// only that its tasks run.
func (f *facts) users() []bool {
	sums := map[string]float64{}
	for i, r := range f.table.region {
		if f.regions[r].Role.Busy() {
			sums[f.workOf(i)] += f.table.exclusive[i]
		}
	}
	top := ""
	for n, v := range sums {
		if top == "" || v > sums[top] || v == sums[top] && n < top {
			top = n
		}
	}
	out := make([]bool, len(f.rows))
	for i, r := range f.table.region {
		if f.regions[r].Role.Busy() && f.workOf(i) == top && f.table.exclusive[i] > 0 {
			out[f.table.row[i]] = true
		}
	}
	return out
}

// workOf names the work of an entry of the totals.
func (f *facts) workOf(i int) string {
	g := &f.regions[f.table.region[i]]
	if !isRunning(g) {
		return g.Name
	}
	return strings.TrimRight(f.tree.Name[f.rows[f.table.row[i]]], "0123456789 ._-/:#")
}

// isRunning reports whether a region says that a task runs, and not what it does.
func isRunning(g *trace.Region) bool { return g.Category == "scheduler" && g.Name == stateRunning }

// scheduled reports whether a scheduler of the system recorded when tasks run: they may have nothing to do with one
// another, and who woke whom is known.
func (f *facts) scheduled() bool {
	return slices.ContainsFunc(f.regions,
		func(g trace.Region) bool { return isRunning(&g) })
}

// together counts time in which several streams of a GPU are busy once. It reads the
// intervals of those GPUs; where these are too many, a GPU is busy for the sum of its
// streams, at most for the whole time. O(n log n).
func (f *facts) together(ctx context.Context) error {
	var ids []trace.LocationID
	member := map[trace.LocationID]int{}
	for i, rows := range f.alike.members {
		for _, row := range rows {
			if len(rows) > 1 {
				ids = append(ids, f.rows[row])
				member[f.rows[row]] = i
			}
		}
	}
	if len(ids) == 0 || f.profile {
		return nil
	}
	slices.Sort(ids)
	w := store.Window{Begin: f.window.Begin, End: f.window.End, Locations: ids}
	n, err := f.store.Count(w)
	if err != nil {
		return err
	}
	if n > mostScanned {
		for i := range f.alike.useful {
			f.alike.useful[i] = min(f.alike.useful[i], float64(f.length))
		}
		return nil
	}
	type stay struct{ begin, end trace.Time }
	var mu sync.Mutex
	stays := make([][]stay, len(f.alike.members))
	err = f.store.Intervals(ctx, w, func(c *trace.Columns) error {
		i, ok := member[c.Location]
		if !ok {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for _, o := range c.Open {
			if f.regions[o.Region].Role.Busy() && o.Begin < w.Begin {
				stays[i] = append(stays[i], stay{w.Begin, min(o.End, w.End)})
			}
		}
		for k, r := range c.Region {
			if f.regions[r].Role.Busy() {
				stays[i] = append(stays[i], stay{c.Begin[k], min(c.End(k), w.End)})
			}
		}
		return nil
	})
	for i, list := range stays {
		if len(f.alike.members[i]) < 2 {
			continue
		}
		slices.SortFunc(list, func(a, b stay) int { return cmp.Compare(a.begin, b.begin) })
		sum, until := trace.Time(0), w.Begin
		for _, s := range list {
			if s.end > until {
				sum += s.end - max(s.begin, until)
				until = s.end
			}
		}
		f.alike.useful[i] = float64(sum)
	}
	return err
}
