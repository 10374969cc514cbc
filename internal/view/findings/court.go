package findings

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A court hears the rules in order. Each rule adds findings and says which units
// are to blame; what a later rule finds about units that are blamed already is the
// same trouble seen from another side, and is dropped.
type court struct {
	*facts
	ctx     context.Context
	list    []finding.Finding
	blamed  []bool // by unit
	budget  *finding.Budget
	waited  trace.Time                // all that is in the budget at first
	untimed bool                      // clocks disagree: times across units mean nothing
	told    map[causeKey]finding.Kind // causes of waiting that a finding tells of
}

// judge runs the rules, causes before their symptoms.
func (c *court) judge() error {
	c.blamed = make([]bool, len(c.units))
	c.suspicious()
	if err := c.open(); err != nil {
		return err
	}
	rules := []func() error{c.unevenStart, c.imbalance, c.mixed, c.unlike, c.costly, c.communication} // of a profile
	switch {
	case len(c.processors) > 0:
		return c.scheduler()
	case !c.peers():
		rules = nil
	case c.books.result != nil:
		rules = []func() error{c.audited, c.longer, c.costly, c.mixed, c.idle, c.unlike, c.outliers, c.communication}
	case !c.profile:
		c.fillBudget()
		rules = []func() error{c.stragglers, c.arrivals, c.messages, c.serial, c.imbalance, c.mixed, c.idle, c.unlike, c.outliers, c.communication}
	}
	for _, rule := range rules {
		if err := rule(); err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
	}
	if err := pipelines(c); err != nil {
		return err
	}
	return gpus(c)
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

// findings gives what was found, ranked.
func (c *court) findings() []finding.Finding {
	c.list = slices.DeleteFunc(c.list, c.minor)
	// Waits count at their full length, so in a window of a few of them more could be lost than there
	// is: such a finding is not of this window.
	c.list = slices.DeleteFunc(c.list, func(f finding.Finding) bool { return float64(f.Lost) > float64(c.length)*float64(len(c.rows)) })
	finding.Sort(c.list)
	for i := range c.list {
		if f := &c.list[i]; f.Share == 0 {
			f.Share = float64(f.Lost) / (float64(c.length) * float64(len(c.units)))
		}
	}
	return c.list
}

// minorShare is the part of the largest straggle below which others at the same
// time are not told: the largest hides them.
const minorShare = 0.15

// minor reports whether a finding is hidden by a far larger straggle at the same time.
func (c *court) minor(f finding.Finding) bool {
	if c.books.result != nil || f.Kind != finding.Straggler && f.Kind != finding.Imbalance {
		return false
	}
	for i := range c.list {
		g := &c.list[i]
		if g.Kind == finding.Straggler && float64(f.Lost) < minorShare*float64(g.Lost) && f.Selection.Begin < g.Selection.End && g.Selection.Begin < f.Selection.End {
			return true
		}
	}
	return false
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

// known reports whether most of the units are blamed for something already.
func (c *court) known(units []int32) bool {
	n := 0
	for _, u := range units {
		if c.blamed[u] {
			n++
		}
	}
	return len(units) > 0 && float64(n) >= 0.8*float64(len(units))
}

// add accepts a finding. Units are to blame for it.
func (c *court) add(f finding.Finding, units []int32) {
	if f.Options == nil {
		f.Options = map[string][]string{}
	}
	if f.Selection.End == 0 {
		f.Selection.Begin, f.Selection.End = c.window.Begin, c.window.End
	}
	if f.Selection.Locations == nil {
		f.Selection.Locations = []trace.LocationID{}
	}
	if f.Selection.Regions == nil {
		f.Selection.Regions = []trace.RegionID{}
	}
	if f.Phases == nil {
		f.Phases = []string{}
	}
	if f.Evidence == nil {
		f.Evidence = []finding.Evidence{}
	}
	c.list = append(c.list, f)
	if f.Severity != finding.Low {
		for _, u := range units {
			c.blamed[u] = true
		}
	}
}

// unfelt lowers the level of what units do differently where who waits for whom is known:
// it costs nobody's time beyond what is told.
func (c *court) unfelt(l finding.Level) finding.Level {
	if c.books.result != nil && c.books.pairs+int(c.books.result.Waits) > 0 {
		return finding.Low
	}
	return l
}

// mostChosen bounds the locations that a finding selects.
const mostChosen = 500

// locations of units, for a selection.
func (c *court) locations(units []int32) []trace.LocationID {
	out := make([]trace.LocationID, 0, len(units))
	for _, u := range units {
		out = append(out, c.units[u])
	}
	slices.Sort(out)
	return out[:min(len(out), mostChosen)]
}

// named writes units for people: "rank 5", "ranks 40–47 (all of node05)".
func (c *court) named(units []int32) string {
	text := view.NameList(c.names, units, 6)
	if len(units) > 1 {
		if rest, ok := cut(text, "rank "); ok {
			text = "ranks " + rest
		}
		if group, ok := c.wholeGroup(units); ok {
			text += " (all of " + group + ")"
		}
	}
	return text
}

func cut(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// wholeGroup finds a location whose units are exactly these.
func (c *court) wholeGroup(units []int32) (string, bool) {
	up, n := c.units[units[0]], 0
	for n < len(units) {
		if up = c.tree.Parent[up]; up == trace.NoLocation {
			return "", false
		}
		from, _ := slices.BinarySearch(c.units, up)
		to, _ := slices.BinarySearch(c.units, c.tree.Last[up]+1)
		n = to - from
	}
	for _, u := range units {
		if id := c.units[u]; id < up || id > c.tree.Last[up] {
			return "", false
		}
	}
	return c.tree.Name[up], n == len(units) && n < len(c.units)
}
