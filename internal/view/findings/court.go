package findings

import (
	"context"
	"slices"

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

// A rule looks for one sort of trouble.
type rule func(*court) error

// Rules by the sort of run, causes before their symptoms.
var (
	ofProfiles   = []rule{findUnevenStart, findImbalance, findMixed, findUnlike, findCostly, findCommunication, findShares}
	ofFollowed   = []rule{findFaults, findGrowth, findCostly, findMixed, findIdle, findUnlike, findOutliers, findCommunication} // waits are followed one by one
	ofUnfollowed = []rule{findStragglers, findLateArrivals, findLateMessages, findSerial, findImbalance, findMixed, findIdle, findUnlike, findOutliers, findCommunication}
	ofScheduler  = []rule{findScheduling}
	ofRequests   = []rule{findRequestFaults}
	ofAll        = []rule{findCrowded, findPipelines, findGPULosses} // but those of a scheduler
)

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
	rules, err := c.rules()
	if err != nil {
		return err
	}
	for _, find := range rules {
		if err := find(c); err != nil {
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

// rules are those of this sort of run.
func (c *court) rules() (list []rule, err error) {
	switch {
	case len(c.processors) > 0:
		return ofScheduler, nil
	case c.spans:
		return ofRequests, nil
	case !c.peers():
		if c.profile {
			list = []rule{findShares}
		}
	case c.profile:
		list = ofProfiles
	case c.books.result != nil:
		list = ofFollowed
	default:
		err = c.fillBudget()
		list = ofUnfollowed
	}
	return slices.Concat(list, ofAll), err
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
