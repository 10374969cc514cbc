package findings

import (
	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A causeKey is an actor and the number of a region.
type causeKey struct{ actor, region int32 }

// open opens the books: explains waiting where times of different units can be compared.
func (c *court) open() (err error) {
	c.told = map[causeKey]finding.Kind{}
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

// causes gives the budget of waiting: rows that are explained, most first, and the rest.
func (c *court) causes() ([]Cause, trace.Time, Accounts) {
	a := c.books
	all, unexplained := a.waiting()
	out := []Cause{}
	if a.result == nil {
		// Findings say what they know; the others' waiting has no known cause.
		return out, unexplained, c.sums(all)
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
	return out, unexplained, c.sums(all)
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

func (c *court) sums(waiting trace.Time) Accounts {
	a := c.books
	s := Accounts{Time: a.time, Work: a.busy, Waiting: waiting, Transfer: a.transfer()}
	s.Rest = s.Time - s.Work - s.Waiting - s.Transfer
	return s
}
