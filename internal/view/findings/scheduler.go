package findings

import (
	"errors"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A scheduler is what is known of a trace that holds both processors and the
// goroutines they ran, in ns. Its rules know the words of Go's runtime, which are
// those of the reader's regions.
type scheduler struct {
	steps    []capacityStep
	capacity float64 // time that processors had, by GOMAXPROCS
	busy     float64 // of it, not idle
	gc       collection
	groups   []goroutines // of the program, by where they start
	late     []lateRow    // goroutines that waited for a processor longer than is ordinary
	could    float64      // time in which goroutines of the program ran or could have run
	lives    float64      // of goroutines of the program
}

// goroutines are those of the program that start in one function.
type goroutines struct {
	at      trace.LocationID
	name    string
	n       int
	life    float64
	ran     float64
	waited  float64 // for a processor
	late    float64 // of it, beyond what is ordinary
	blocked map[trace.RegionID]*blocked
}

// blocked is what goroutines waited for one another; worst waited longest.
type blocked struct {
	n          int
	time, life float64
	worst      trace.LocationID
	longest    float64
}

func (b *blocked) add(id trace.LocationID, time, life float64) {
	b.n, b.time, b.life = b.n+1, b.time+time, b.life+life
	if time > b.longest {
		b.worst, b.longest = id, time
	}
}

// A lateRow is a goroutine and its wait beyond what is ordinary.
type lateRow struct {
	id   trace.LocationID
	late float64
	life float64
}

// collection is time of processors by what the garbage collector did in it.
type collection struct {
	workers, assists, sweeps, stopped float64
	idle                              float64 // of the workers, on processors that had nothing else to do
	cycles                            float64
	regions                           []trace.RegionID
}

func (g *collection) cost() float64 {
	return g.workers - g.idle + g.assists + g.sweeps + g.stopped
}

const (
	// ordinaryWait is how long a goroutine may wait for a processor each time it has
	// become able to run: a thread that sleeps takes tens of microseconds to wake.
	ordinaryWait = 100e3
	// parkedShare is the part of the run that a wait lasts on average where a goroutine is
	// parked, as one that waits for all others to end.
	parkedShare = 0.1
)

// Names of regions.
const (
	gcWorker      = "runtime.gcBgMarkWorker"
	stateRunning  = "running"
	stateRunnable = "runnable"
	waitLock      = "waiting: sync"
	waitSend      = "waiting: chan send"
)

// newScheduler adds up the table of totals. O(totals + rows).
func (c *court) newScheduler() (*scheduler, error) {
	s := &scheduler{}
	if err := c.capacitySteps(s); err != nil {
		return nil, err
	}
	s.capacity = s.capacityOf(c.window.Begin, c.window.Begin+c.length)
	life, own, workers := c.lives(s)
	group := map[trace.LocationID]int{}
	ran, waited, waits := make([]float64, len(c.rows)), make([]float64, len(c.rows)), make([]float64, len(c.rows))
	place := func(row int32) *goroutines {
		at := c.rows[row]
		if up := c.tree.Parent[at]; up != trace.NoLocation {
			at = up
		}
		k, ok := group[at]
		if !ok {
			k = len(s.groups)
			group[at] = k
			s.groups = append(s.groups, goroutines{at: at, name: c.tree.Name[at], blocked: map[trace.RegionID]*blocked{}})
		}
		return &s.groups[k]
	}
	t := c.table
	for i, row := range t.row {
		g := &c.regions[t.region[i]]
		switch kind := c.tree.Kind[c.rows[row]]; {
		case kind == trace.KindProcessor:
			s.addProcessor(g, t.region[i], t.exclusive[i])
		case kind != trace.KindGoroutine:
			if g.Category == "phase" && strings.HasPrefix(g.Name, "GC concurrent mark") {
				s.gc.cycles += t.calls[i]
			}
		case own[row]:
		case g.Name == stateRunning && g.Category == "state":
			ran[row] += t.inclusive[i]
		case g.Name == stateRunnable && g.Category == "state":
			waited[row] += t.inclusive[i]
			waits[row] += t.calls[i]
		case holdsUp(g):
			if t.calls[i] == 0 || t.inclusive[i] > parkedShare*float64(c.length)*t.calls[i] {
				continue
			}
			list := place(row).blocked
			if list[t.region[i]] == nil {
				list[t.region[i]] = &blocked{}
			}
			list[t.region[i]].add(c.rows[row], t.inclusive[i], life[row])
		}
	}
	for row, id := range c.rows {
		if c.tree.Kind[id] != trace.KindGoroutine || own[row] {
			continue
		}
		p := place(int32(row))
		late := max(waited[row]-ordinaryWait*waits[row], 0)
		p.n, p.life, p.ran, p.waited, p.late = p.n+1, p.life+life[row], p.ran+ran[row], p.waited+waited[row], p.late+late
		s.could += ran[row] + waited[row]
		s.lives += life[row]
		if late > 0 {
			s.late = append(s.late, lateRow{id, late, life[row]})
		}
	}
	return s, c.idleWorkers(s, workers)
}

// lives gives how long each goroutine lived, and which work for the runtime; workers
// are those of the garbage collector.
func (c *court) lives(s *scheduler) (life []float64, own []bool, workers []trace.LocationID) {
	life, own = make([]float64, len(c.rows)), make([]bool, len(c.rows))
	t := c.table
	for i, row := range t.row {
		g := &c.regions[t.region[i]]
		if g.Category != "goroutine" || c.tree.Kind[c.rows[row]] != trace.KindGoroutine {
			continue
		}
		life[row] = t.inclusive[i]
		own[row] = g.Role == trace.RoleOverhead
		if g.Name == gcWorker {
			workers = append(workers, c.rows[row])
		}
	}
	slices.Sort(workers)
	return life, own, workers
}

// holdsUp reports waits of goroutines that have something to do and may not: for a
// lock, or for one that takes what they send. Who receives or selects waits for work,
// which is what a server or a pool does all day.
func holdsUp(g *trace.Region) bool {
	return g.Category == "state" && (g.Name == waitLock || g.Name == waitSend)
}

// addProcessor counts exclusive time of a region on a processor.
func (s *scheduler) addProcessor(g *trace.Region, id trace.RegionID, time float64) {
	if g.Role == trace.RoleIdle {
		return
	}
	s.busy += time
	sum := &s.gc.workers
	switch {
	case g.Category == "goroutine" && g.Name == gcWorker:
	case g.Category == "goroutine" && g.Name == "runtime.bgsweep", g.Category == "range" && g.Name == "GC incremental sweep":
		sum = &s.gc.sweeps
	case g.Category == "range" && g.Name == "GC mark assist":
		sum = &s.gc.assists
	case g.Category == "range" && strings.HasPrefix(g.Name, "stop-the-world (GC"):
		sum = &s.gc.stopped
	default:
		return
	}
	*sum += time
	if !slices.Contains(s.gc.regions, id) {
		s.gc.regions = append(s.gc.regions, id)
	}
}

// A capacityStep says how many processors there are from a time on.
type capacityStep struct {
	from trace.Time
	n    float64
}

// capacitySteps reads GOMAXPROCS, which programs change: a processor beyond it is not
// idle, it is not there. Without the counter, or for some of the processors, all are.
func (c *court) capacitySteps(s *scheduler) error {
	s.steps = []capacityStep{{c.window.Begin, float64(len(c.processors))}}
	id := slices.IndexFunc(c.store.Counters(), func(x trace.Counter) bool { return x.Name == "sched/gomaxprocs" })
	if id < 0 || c.request.Selection.Locations != nil {
		return nil
	}
	var steps []capacityStep
	err := c.store.Samples(c.ctx, []trace.CounterID{trace.CounterID(id)}, 0, c.window.End, func(x *store.SampleColumns) error {
		for i, v := range x.Value {
			if n := len(steps); v > 0 && (n == 0 || steps[n-1].n != v) {
				steps = append(steps, capacityStep{x.Time[i], v})
			}
		}
		return nil
	})
	if len(steps) > 0 {
		steps[0].from = 0 // it is told a moment after the trace begins
		s.steps = steps
	}
	return err
}

// capacityOf is the time that processors have between two times.
func (s *scheduler) capacityOf(begin, end trace.Time) (sum float64) {
	for i, p := range s.steps {
		until := end
		if i+1 < len(s.steps) {
			until = min(end, s.steps[i+1].from)
		}
		if from := max(begin, p.from); until > from {
			sum += p.n * float64(until-from)
		}
	}
	return sum
}

// mostLabels bounds how many stays of workers are looked up.
const mostLabels = 1 << 18

var errEnough = errors.New("enough")

// idleWorkers finds the time of the collector's workers on processors that had nothing
// else to do: the runtime labels each stay of a worker. It costs nobody anything.
// O(stays of workers × log intervals), at most mostLabels of them.
func (c *court) idleWorkers(s *scheduler, workers []trace.LocationID) error {
	if len(workers) == 0 || s.gc.workers == 0 {
		return nil
	}
	label := slices.IndexFunc(c.regions, func(g trace.Region) bool { return g.Name == "GC (idle)" && g.Category == "label" })
	if label < 0 {
		return nil
	}
	all, seen := 0.0, 0
	for _, id := range workers {
		err := c.store.Instants(c.ctx, store.Window{Begin: c.window.Begin, End: c.window.End, Locations: []trace.LocationID{id}}, func(x *store.InstantColumns) error {
			for i, t := range x.Time {
				if c.regions[x.Region[i]].Category != "label" {
					continue
				}
				stay := float64(c.stay(id, t))
				if all += stay; x.Region[i] == trace.RegionID(label) {
					s.gc.idle += stay
				}
				if seen++; seen >= mostLabels {
					return errEnough
				}
			}
			return nil
		})
		if errors.Is(err, errEnough) { // the others are taken to be alike
			s.gc.idle *= s.gc.workers / max(all, 1)
			break
		}
		if err != nil {
			return err
		}
	}
	s.gc.idle = min(s.gc.idle, s.gc.workers)
	return nil
}

// stay is how long a goroutine of the runtime runs at a time, within the selection.
func (c *court) stay(id trace.LocationID, t trace.Time) trace.Time {
	lanes := c.store.Lanes()
	for lane := range int(lanes[id+1] - lanes[id]) {
		row, ok := c.store.At(id, lane, t)
		for ok {
			x, found := c.store.Interval(row)
			if !found || x.Len() == 0 {
				break
			}
			if g := &c.regions[x.Region[0]]; g.Category == "runtime" && g.Role == trace.RoleOverhead {
				return max(min(x.End(0), c.window.End)-max(x.Begin[0], c.window.Begin), 0)
			}
			row.Row, ok = int(x.Parent[0]), x.Parent[0] >= 0
		}
	}
	return 0
}
