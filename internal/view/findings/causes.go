package findings

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A causeKey is an actor and the number of a region.
type causeKey struct{ actor, region int32 }

// waitedByOthers names the evidence of what a fault costs.
const waitedByOthers = "waited by others"

// open opens the books: explains waiting where times of different units can be compared.
func (c *court) open() (err error) {
	if c.profile || c.untimed || c.spans || len(c.processors) > 0 || !c.peers() {
		c.books = &accounts{}
		c.books.numberRegions(c.regions)
		c.books.chooseActors(c.facts)
		return c.books.sum(c.ctx, c.facts)
	}
	c.books, err = c.account(c.ctx)
	return err
}

// A sheet is a budget of waiting whose rows are charged one by one: of runs of processors
// and of GPUs, where nobody waits in a call. What is not charged is unexplained.
type sheet struct {
	Accounts
	columns []trace.LocationID // those who wait
	rows    []Cause
}

// charge explains some of the waiting, at most what is left. Victims are by column.
func (s *sheet) charge(kind finding.Kind, at trace.LocationID, region string, t trace.Time,
	victims map[int32]trace.Time) {
	if t = min(t, s.left()); t > 0 {
		s.rows = append(s.rows,
			Cause{Cause: string(kind), Location: at, Region: region, Time: t, Direct: t, victims: victims})
	}
}

// take charges what rules have charged to units.
func (s *sheet) take(list []Cause) {
	for _, x := range list {
		s.charge(finding.Kind(x.Cause), x.Location, x.Region, x.Time, x.victims)
	}
}

// left is what is not explained yet.
func (s *sheet) left() trace.Time {
	left := s.Waiting
	for i := range s.rows {
		left -= s.rows[i].Time
	}
	return left
}

// column is where a location, or what it belongs to, is among those who wait; -1.
func (s *sheet) column(t *store.Tree, at trace.LocationID) int32 {
	for up := at; up != trace.NoLocation; up = t.Parent[up] {
		if u := slices.Index(s.columns, up); u >= 0 {
			return int32(u)
		}
	}
	return -1
}

// causes gives the rows, most first, those of one location and region together.
func (s *sheet) causes(c *court) []Cause {
	by := map[[2]string]int{}
	out := []Cause{}
	for _, r := range s.rows {
		r.Path = c.tree.Path(r.Location)
		key := [2]string{r.Path, r.Cause + "\n" + r.Region}
		if i, ok := by[key]; ok {
			out[i].Time += r.Time
			out[i].Direct += r.Direct
			for u, t := range r.victims {
				out[i].victims[u] += t
			}
			continue
		}
		by[key] = len(out)
		r.victims = maps.Clone(r.victims)
		if r.victims == nil {
			r.victims = map[int32]trace.Time{}
		}
		out = append(out, r)
	}
	for i := range out {
		out[i].Share = float64(out[i].Time) / float64(s.Waiting)
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// causesOf gives the budget of waiting: rows that are explained, most first, and the rest.
func causesOf(c *court) ([]Cause, trace.Time, Accounts) {
	a := c.books
	all, unexplained := a.waiting()
	out := []Cause{}
	if c.sheet != nil {
		return c.sheet.causes(c), c.sheet.left(), c.sheet.Accounts
	}
	if a.result == nil {
		return out, unexplained, sumsOf(c, all)
	}
	for i := range a.result.Rows {
		r := &a.result.Rows[i]
		if !r.Explained() {
			continue
		}
		id := a.actors[r.Actor]
		cause := string(c.told[causeKey{r.Actor, r.Region}])
		if cause == "" {
			cause = mainKind(r).String()
		}
		direct := trace.Time(0)
		for _, t := range r.Direct {
			direct += t
		}
		out = append(out,
			Cause{Cause: cause, Location: id, Path: c.tree.Path(id), Region: a.regionNames[r.Region], Time: r.Caused(),
				Share: float64(r.Caused()) / float64(all), Direct: direct})
	}
	return out, unexplained, sumsOf(c, all)
}

// unitSheet is for runs whose waits are not followed one by one: what rules charge to units is
// explained, the rest is not. The time is that of units then, and what they wait is told by phase.
func unitSheet(c *court) *sheet {
	s := &sheet{columns: c.units,
		Accounts: Accounts{Time: trace.SumProduct(int64(len(c.units)), c.length).Time(), Waiting: c.waited}}
	for _, u := range c.alike.useful {
		s.Work = trace.AddUp(s.Work, trace.Time(u))
	}
	s.Work = min(s.Work, s.Time-s.Waiting)
	s.Rest = restOf(s.Time, s.Time-s.Work-s.Waiting)
	s.take(c.charges)
	return s
}

// gpuSheet is the budget of the GPUs of a job: their time is computation and copies, communication that
// takes its time, and waiting. Who is late for the others is charged by the rules for it; idle time by
// what the host did instead of launching work.
func gpuSheet(c *court, d *view.Devices, job *step.Job) (*sheet, error) {
	waits, err := c.pairs(c.ctx)
	if err != nil {
		return nil, err
	}
	s := &sheet{columns: c.units}
	var exchange trace.Time
	for i := range job.GPUs {
		g := &job.GPUs[i]
		s.Time = trace.AddUp(s.Time, c.length)
		s.Work += g.Computation + g.ExposedCopy
		exchange += g.ExposedCommunication + g.Causes[step.ByExchange]
	}
	var charged, skew trace.Time
	for _, x := range c.charges {
		charged += x.Time
	}
	if waits != nil {
		for i := range waits.Meetings {
			skew += trace.Time(float64(waits.Meetings[i].Waited) * c.scale())
		}
	}
	s.Transfer = max(exchange-max(charged, skew), 0)
	s.Waiting = s.Time - s.Work - s.Transfer
	s.take(c.charges)
	// Late ranks may be charged with more than lies in communication, as where hosts exchange data and
	// GPUs idle: then that much less of the idle time is anybody else's.
	part := 1.0
	if idle := s.Time - s.Work - exchange; charged > exchange && idle > 0 {
		part = max(1-float64(charged-exchange)/float64(idle), 0)
	}
	for _, cause := range []step.Cause{step.ByLoader, step.ByAllocation, step.BySleep, step.ByOperators, step.ByPython,
		step.ByAnnotation, step.ByCall, step.ByQueue, step.BetweenWorks, step.BySynchronization} {
		for i := range job.GPUs {
			at, t := d.Units[d.Owner[i]], trace.Time(part*float64(job.GPUs[i].Causes[cause]))
			victims := map[int32]trace.Time{}
			if u := s.column(c.tree, at); u >= 0 {
				victims[u] = t
			}
			if !cause.Host() {
				at = d.GPUs[i]
			}
			s.charge(idleKinds[cause], at, cause.Words(), t, victims)
		}
	}
	return s, nil
}

// idleKinds are the kinds of findings that tell of idle time by its cause.
var idleKinds = [step.Causes]finding.Kind{
	step.ByLoader: finding.InputBound, step.ByAllocation: finding.LaunchBound, step.BySleep: finding.GPUIdle,
	step.ByOperators: finding.LaunchBound, step.ByPython: finding.LaunchBound, step.ByAnnotation: finding.LaunchBound,
	step.ByCall: finding.LaunchBound, step.ByQueue: finding.GPUIdle, step.BetweenWorks: finding.GPUIdle,
	step.BySynchronization: finding.SynchronizationBound,
}

// mainKind is the kind of most of a row's waits.
func mainKind(r *budget.Row) budget.Kind {
	best := budget.Kind(0)
	for k := range budget.Kind(budget.NumKinds) {
		if r.Of(k) > r.Of(best) {
			best = k
		}
	}
	return best
}

// restOf is what is left of a time; of one that was too long for a number of 64 bits, no less than nothing.
func restOf(time, rest trace.Time) trace.Time {
	if time == math.MaxInt64 {
		return max(rest, 0)
	}
	return rest
}

func sumsOf(c *court, waiting trace.Time) Accounts {
	a := c.books
	s := Accounts{Time: a.time, Work: a.busy, Waiting: waiting, Transfer: a.transfer()}
	s.Rest = restOf(s.Time, s.Time-s.Work-s.Waiting-s.Transfer)
	return s
}

// fillBudget adds up what units wait by phase: at most the phase's length, since the
// threads of a rank wait at the same time.
func (c *court) fillBudget() error {
	if err := c.count(); err != nil {
		return err
	}
	n := len(c.phases.List)
	c.budget = &finding.Budget{Units: len(c.units), Phases: n, Left: make([]trace.Time, len(c.units)*n)}
	for row, id := range c.rows {
		u := int(c.unitOf[id])
		for k := range n {
			c.budget.Left[u*n+k] += c.cells.Waiting[row*n+k]
		}
	}
	for u := range c.units {
		for k := range n {
			left := &c.budget.Left[u*n+k]
			*left = min(*left, c.phases.Span(u, k).Length())
		}
	}
	useful := make([]trace.Time, len(c.units)) // of GPUs: who computes does not wait
	for i, rows := range c.alike.members {
		u := c.unitOf[c.rows[rows[0]]]
		useful[u] = max(useful[u], trace.Time(c.alike.useful[i]))
	}
	for u := range c.units {
		sum := trace.Time(0)
		for k := range n {
			sum += c.budget.Left[u*n+k]
		}
		c.waited = trace.AddUp(c.waited, max(min(sum, c.length-useful[u]), 0))
	}
	return nil
}
