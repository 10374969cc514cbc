package findings

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A court hears the rules in order. Each rule adds findings to the docket and says which
// units are to blame; what a later rule finds about units that are blamed already is the
// same trouble seen from another side, and is dropped.
type court struct {
	*facts
	*docket
	ctx     context.Context
	budget  *finding.Budget // of runs whose waits are not followed one by one
	waited  trace.Time      // all that is in the budget at first
	untimed bool            // clocks disagree: times across units mean nothing
	sheet   *sheet          // the budget of runs of which no waits are followed, where it is known
}

func newCourt(ctx context.Context, f *facts) *court {
	return &court{facts: f, docket: newDocket(f), ctx: ctx}
}

// judge hears the rules that a run is to be held against.
func (c *court) judge() error {
	if err := findSuspicious(c); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	sort := c.sort()
	if sort == ofSummed {
		if err := c.fillBudget(); err != nil {
			return err
		}
	}
	for _, r := range rules {
		if r.runs&sort == 0 {
			continue
		}
		if err := r.find(c); err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	if c.sheet == nil && c.books.result == nil && c.waited > 0 {
		c.sheet = unitSheet(c)
	}
	return nil
}

// sort is which sort of run it is.
func (c *court) sort() sorts {
	switch {
	case len(c.processors) > 0:
		return ofScheduler
	case c.spans:
		return ofRequests
	case !c.peers() && c.profile:
		return ofMixedProfiles
	case !c.peers():
		return ofMixed
	case c.profile:
		return ofProfiles
	case c.books.result != nil:
		return ofFollowed
	}
	return ofSummed
}

// peers reports whether units may be compared. Ranks of a job may. Goroutines and
// tasks come and go, and each has its own job; processors run whatever a scheduler
// gives them, and where there is little to do the first do it all. Threads and streams
// of one process are peers only if most of them do what takes the most time.
func (c *court) peers() bool {
	if len(c.units) < 2 {
		return false
	}
	own, ranks := 0, map[int32]bool{} // own: with a job of its own
	for _, id := range c.units {
		switch c.tree.Kind[id] {
		case trace.KindGoroutine, trace.KindProcessor, "task", "fiber", "coroutine":
			own++
		}
		if r := c.tree.Rank[id]; r >= 0 {
			ranks[r] = true
		}
	}
	return 2*own <= len(c.units) && (len(ranks) == len(c.units) || c.shareWork())
}

// shareWork reports whether three quarters of the units use the region with most
// busy time.
func (c *court) shareWork() bool {
	uses := map[int32]bool{}
	for row, u := range c.users() {
		if u {
			uses[c.unitOf[c.rows[row]]] = true
		}
	}
	return 4*len(uses) >= 3*len(c.units)
}

// unfelt lowers the level of what units do differently where who waits for whom is known:
// it costs nobody's time beyond what is told.
func (c *court) unfelt(l finding.Level) finding.Level {
	if c.books.result != nil && c.books.pairs+int(c.books.result.Waits) > 0 {
		return finding.Low
	}
	return l
}
