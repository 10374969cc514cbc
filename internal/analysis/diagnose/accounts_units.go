package diagnose

// Accounts of runs whose waits are not followed one by one: the waiting of units by phase.

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// unitBudget is the budget of runs whose waits are not traced one by one: waiting that rules charge to
// units is explained, the rest is not. Its time is that of units, and their waiting is known by phase.
func unitBudget(c *diagnosis) *chargedBudget {
	s := &chargedBudget{columns: c.units,
		Accounts: Accounts{Time: trace.SumProduct(int64(len(c.units)), c.length).Time(), Waiting: c.waited}}
	for _, u := range c.alike.useful {
		s.Work = trace.AddUp(s.Work, trace.Time(u))
	}
	s.Work = min(s.Work, s.Time-s.Waiting)
	s.Rest = restOf(s.Time, s.Time-s.Work-s.Waiting)
	s.take(c.charges)
	return s
}

// fillBudget adds up the waiting of units by phase: at most the phase's length, since the threads of a rank
// wait at the same time.
func (c *diagnosis) fillBudget() error {
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
	computes := c.computes() // who computes does not wait
	for u := range c.units {
		for k := range n {
			left := &c.budget.Left[u*n+k]
			*left = min(*left, max(c.phases.Span(u, k).Length()-computes[u*n+k], 0))
		}
	}
	c.whole = slices.Clone(c.budget.Left)
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

// computes is how long the GPU of each unit computes in each phase, at least: as long as the busiest of its streams.
func (c *diagnosis) computes() []trace.Time {
	n := len(c.phases.List)
	out := make([]trace.Time, len(c.units)*n)
	for row, id := range c.rows {
		if c.tree.Kind[id] != trace.KindStream && c.tree.Kind[id] != trace.KindDevice {
			continue
		}
		for k := range n {
			at := int(c.unitOf[id])*n + k
			out[at] = max(out[at], c.cells.Busy[row*n+k])
		}
	}
	return out
}
