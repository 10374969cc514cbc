package findings

import (
	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A causeKey is an actor and the number of a region.
type causeKey struct{ actor, region int32 }

// waitedByOthers names the evidence of what a fault costs.
const waitedByOthers = "waited by others"

// open opens the books: explains waiting where times of different units can be compared.
func (c *court) open() (err error) {
	if c.profile || c.untimed || len(c.processors) > 0 || !c.peers() {
		c.books = &accounts{}
		c.books.numberRegions(c.regions)
		c.books.chooseActors(c.facts)
		c.books.sum(c.facts)
		return nil
	}
	c.books, err = c.account(c.ctx)
	return err
}

// causesOf gives the budget of waiting: rows that are explained, most first, and the rest.
func causesOf(c *court) ([]Cause, trace.Time, Accounts) {
	a := c.books
	all, unexplained := a.waiting()
	out := []Cause{}
	if a.result == nil {
		return causesOfFindings(c, all, unexplained)
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
		out = append(out, Cause{Cause: cause, Location: id, Path: c.tree.Path(id), Region: a.regionNames[r.Region], Time: r.Caused(), Share: float64(r.Caused()) / float64(all), Direct: direct})
	}
	return out, unexplained, sumsOf(c, all)
}

// causesOfFindings is for runs whose waits are not followed one by one, such as those of
// GPUs: what findings charge to locations is explained, the rest is not. The time is that
// of units then, and what they wait is told by phase.
func causesOfFindings(c *court, all, unexplained trace.Time) ([]Cause, trace.Time, Accounts) {
	out := []Cause{}
	if c.budget == nil || c.waited == 0 {
		return out, unexplained, sumsOf(c, all)
	}
	all, unexplained = c.waited, c.waited
	for i := range c.list {
		f := &c.list[i]
		if f.Kind != finding.Straggler || len(f.Selection.Locations) == 0 || len(f.Evidence) == 0 {
			continue
		}
		region := f.Evidence[0].Name
		for _, e := range f.Evidence {
			if e.Unit == "ns" && e.Name != waitedByOthers {
				region = e.Name
				break
			}
		}
		n := trace.Time(len(f.Selection.Locations))
		for k, id := range f.Selection.Locations {
			t := min(f.Lost/n, unexplained)
			if k == 0 {
				t = min(f.Lost-f.Lost/n*(n-1), unexplained)
			}
			unexplained -= t
			out = append(out, Cause{Cause: string(f.Kind), Location: id, Path: c.tree.Path(id), Region: region, Time: t, Share: float64(t) / float64(all), Direct: t})
		}
	}
	s := Accounts{Time: c.length * trace.Time(len(c.units)), Waiting: all}
	for _, u := range c.alike.useful {
		s.Work += trace.Time(u)
	}
	s.Work = min(s.Work, s.Time-s.Waiting)
	s.Rest = s.Time - s.Work - s.Waiting
	return out, unexplained, s
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

func sumsOf(c *court, waiting trace.Time) Accounts {
	a := c.books
	s := Accounts{Time: a.time, Work: a.busy, Waiting: waiting, Transfer: a.transfer()}
	s.Rest = s.Time - s.Work - s.Waiting - s.Transfer
	return s
}

// fillBudget adds up what units wait by phase: at most the phase's length, since the
// threads of a rank wait at the same time.
func (c *court) fillBudget() {
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
		c.waited += max(min(sum, c.length-useful[u]), 0)
	}
}
