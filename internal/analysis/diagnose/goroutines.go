package diagnose

// Facts of a trace with processors and the goroutines that they ran, for the faults of Go programs.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A scheduler holds the facts of a trace with both processors and the goroutines they ran, in ns. Its rules
// know the words of Go's runtime, which are those of the reader's regions.
type scheduler struct {
	*diagnosis
	steps      []capacityStep
	capacity   float64 // time that processors had, by GOMAXPROCS
	busy       float64 // of it, not idle
	gc         collection
	place      map[trace.LocationID]int // where in groups one is
	groups     []goroutines             // of the program, by where they start
	late       []lateRow                // goroutines that waited for a processor longer than is ordinary
	could      float64                  // time in which goroutines of the program ran or could have run
	lives      float64                  // of goroutines of the program
	ids        []int                    // of processors, by place in the facts
	alone      [][]soloSpan             // by processor: where it idles while one function runs alone
	solo       []*solo
	inParallel trace.Time // half of the processors were busy
	parked     map[trace.LocationID]bool
	handed     []Cause // why processors idle otherwise, most first
	held       map[holding]trace.Time
	runtime    []trace.LocationID // goroutines that work for the runtime
	places     []goPlace
	note       func(*SchedulingRow) // receives pieces of time, where they are asked for
}

// goroutines are those of the program that start in one function.
type goroutines struct {
	at      trace.LocationID
	name    string
	n       int
	life    float64
	ran     float64
	waited  float64 // for a processor
	late    float64 // of it, beyond the ordinary
	blocked map[trace.RegionID]*blocked
	members []member // those that live long
}

// A member is a goroutine of a group.
type member struct {
	id                        trace.LocationID
	life, ran, ready, blocked float64 // ready: it could run; blocked: it waited for a lock
}

// blocked is the time that goroutines waited for one another; worst waited longest.
type blocked struct {
	n          int
	time, life float64
	worst      trace.LocationID
	ids        []trace.LocationID // the first of them
	longest    float64
}

func (g *goroutines) blockedIn(region trace.RegionID) *blocked {
	b := g.blocked[region]
	if b == nil {
		b = &blocked{}
		g.blocked[region] = b
	}
	return b
}

func (b *blocked) add(id trace.LocationID, time, life float64) {
	b.n, b.time, b.life = b.n+1, b.time+time, b.life+life
	if len(b.ids) <= mostNumbers {
		b.ids = append(b.ids, id)
	}
	if time > b.longest {
		b.worst, b.longest = id, time
	}
}

// A lateRow is a goroutine and its wait beyond the usual.
type lateRow struct {
	id   trace.LocationID
	late float64
	life float64
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
	stateSyscall  = "syscall"
	stateWaiting  = "waiting"
	waitLock      = "waiting: sync"
	waitCondition = "waiting: sync.(*Cond).Wait"
	waitSend      = "waiting: chan send"
)

// newScheduler adds up the table of totals. O(totals + rows).
func newScheduler(c *diagnosis) (*scheduler, error) {
	s := &scheduler{diagnosis: c, place: map[trace.LocationID]int{}, parked: map[trace.LocationID]bool{}}
	if err := s.capacitySteps(); err != nil {
		return nil, err
	}
	s.capacity = s.capacityOf(c.window.Begin, c.window.Begin+c.span)
	life, own := s.lifetimes()
	ran, waited, waits := make([]float64, len(c.rows)), make([]float64, len(c.rows)), make([]float64, len(c.rows))
	locked := make([]float64, len(c.rows))
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
			if g.Name == waitLock {
				locked[row] += t.inclusive[i]
			}
			if t.calls[i] == 0 || t.inclusive[i] > parkedShare*float64(c.length)*t.calls[i] {
				s.parked[c.rows[row]] = true
				continue
			}
			s.groupOf(row).blockedIn(t.region[i]).add(c.rows[row], t.inclusive[i], life[row])
		}
	}
	for row, id := range c.rows {
		if c.tree.Kind[id] == trace.KindGoroutine && own[row] {
			s.runtime = append(s.runtime, id)
		}
		if c.tree.Kind[id] != trace.KindGoroutine || own[row] {
			continue
		}
		p := s.groupOf(int32(row))
		late := max(waited[row]-ordinaryWait*waits[row], 0)
		p.n, p.life, p.ran, p.waited, p.late = p.n+1, p.life+life[row], p.ran+ran[row], p.waited+waited[row],
			p.late+late
		if life[row] >= starvedWait*float64(c.length) {
			p.members = append(p.members, member{id, life[row], ran[row], waited[row], locked[row]})
		}
		s.could += ran[row] + waited[row]
		s.lives += life[row]
		if late > 0 {
			s.late = append(s.late, lateRow{id, late, life[row]})
		}
	}
	return s, s.idleWorkers()
}

// groupOf finds the goroutines that start where a row does.
func (s *scheduler) groupOf(row int32) *goroutines {
	at := s.rows[row]
	if up := s.tree.Parent[at]; up != trace.NoLocation {
		at = up
	}
	k, ok := s.place[at]
	if !ok {
		k = len(s.groups)
		s.place[at] = k
		s.groups = append(s.groups, goroutines{at: at, name: s.tree.Name[at], blocked: map[trace.RegionID]*blocked{}})
	}
	return &s.groups[k]
}

// lifetimes returns how long each goroutine lived, and which work for the runtime.
func (s *scheduler) lifetimes() (life []float64, own []bool) {
	life, own = make([]float64, len(s.rows)), make([]bool, len(s.rows))
	t := s.table
	for i, row := range t.row {
		if g := &s.regions[t.region[i]]; g.Category == "goroutine" && s.tree.Kind[s.rows[row]] == trace.KindGoroutine {
			life[row], own[row] = t.inclusive[i], g.Role == trace.RoleOverhead
		}
	}
	return life, own
}

// holdsUp reports waits of goroutines that have something to do and may not: for a lock, or for a receiver
// of their sends. A goroutine that receives or selects waits for work, as servers and pools usually do.
func holdsUp(g *trace.Region) bool {
	return g.Category == "state" && (g.Name == waitLock || g.Name == waitSend)
}

// A capacityStep says how many processors there are from a time on.
type capacityStep struct {
	from trace.Time
	n    float64
}

// capacitySteps reads GOMAXPROCS, which programs change: a processor beyond it is not
// idle, it is not there. Without the counter, or for a choice of them, all are.
func (s *scheduler) capacitySteps() error {
	s.steps = []capacityStep{{s.window.Begin, float64(len(s.processors))}}
	id := slices.IndexFunc(s.store.Counters(), func(x trace.Counter) bool { return x.Name == "sched/gomaxprocs" })
	all := 0
	for _, k := range s.tree.Kind {
		if k == trace.KindProcessor {
			all++
		}
	}
	told := id >= 0 && len(s.processors) == all
	s.processorIDs(told)
	if !told {
		return nil
	}
	var steps []capacityStep
	err := s.store.Samples(s.ctx, []trace.CounterID{trace.CounterID(id)}, 0, s.window.End,
		func(x *store.SampleColumns) error {
			for i, v := range x.Value {
				if n := len(steps); v > 0 && (n == 0 || steps[n-1].n != v) {
					steps = append(steps, capacityStep{x.Time[i], v})
				}
			}
			return nil
		})
	if len(steps) > 0 {
		steps[0].from = 0 // it is recorded shortly after the trace begins
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

// errEnough ends a query before its end.
var errEnough = errors.New("enough")

// findScheduling hears the rules of traces that hold processors and the goroutines they
// ran. Goroutines are no peers, so none of the others is heard. A part of the regions
// has no whole to be held against, and says nothing.
func findScheduling(c *diagnosis) error {
	if len(c.processors) == 0 || c.profile || c.question.Selection.Regions != nil {
		return nil
	}
	s, err := newScheduler(c)
	if err != nil || s.capacity <= 0 {
		return err
	}
	if mean := s.capacity / float64(c.length); mean < 0.95*float64(len(c.processors)) {
		c.notes = append(c.notes,
			fmt.Sprintf("GOMAXPROCS is %.3g on average, so that some of the %d processors are not there all the time",
				mean, len(c.processors)))
	}
	c.charged = &chargedBudget{columns: c.processors,
		Accounts: Accounts{Time: trace.Time(s.capacity), Work: trace.Time(min(s.busy, s.capacity)),
			Waiting: trace.Time(s.capacity) - trace.Time(min(s.busy, s.capacity))}}
	s.collector()
	for _, find := range []func() error{s.findAlone, s.followWakes, s.serial, s.holdUps, s.lockLosses,
		s.processorWait, s.starvation, s.idleRest} {
		if err := find(); err != nil {
			return err
		}
	}
	return nil
}

func (f *facts) regionNamed(name, category string) (ids []trace.RegionID) {
	for i := range f.regions {
		if g := &f.regions[i]; g.Name == name && g.Category == category {
			ids = append(ids, trace.RegionID(i))
		}
	}
	return ids
}

// ofProcessors is the base of the losses of processors.
const ofProcessors = "the time of processors"
