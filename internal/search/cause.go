package search

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Step leads from an interval to a cause or an effect of it.
type Step struct {
	Hit
	// By is the kind of the link that leads there, or "caller".
	By       string
	From, To trace.Time // of the link; both 0 for a caller
	Size     int64      // bytes; -1 not known
}

// Neighbours are the causes and effects of an interval.
type Neighbours struct {
	Of Hit
	// Causes came in by links to the interval or to its callees, the latest first, and last comes its caller;
	// Effects are the targets of links out of it, in order of time.
	Causes, Effects         []Step
	CauseCount, EffectCount int64 // of links, also those that are not named
	Chain                   []Step
	Cut                     bool // the chain goes on
}

const mostChain = 24

// CausesOf finds the causes and effects of an interval. Chain goes from cause to cause: the link that came in last,
// or else the caller, until there is none. It reads the links of the location in the time of each interval of the
// chain.
func CausesOf(ctx context.Context, r store.Reader, at store.Row, limit int) (*Neighbours, bool, error) {
	of, ok, err := hitOf(r, at)
	if !ok || err != nil {
		return nil, false, err
	}
	n, err := nextTo(ctx, r, of, limit)
	if err != nil {
		return nil, false, err
	}
	seen := map[store.Row]bool{of.Row: true}
	for now := of; ; {
		next, ok, err := causeOf(ctx, r, now)
		if err != nil {
			return nil, false, err
		}
		if !ok || seen[next.Row] {
			break
		}
		if n.Cut = len(n.Chain) == mostChain; n.Cut {
			break
		}
		seen[next.Row] = true
		n.Chain = append(n.Chain, next)
		now = next.Hit
	}
	return n, true, nil
}

// nextTo finds the causes and effects that are one step away.
func nextTo(ctx context.Context, r store.Reader, of Hit, limit int) (*Neighbours, error) {
	last, err := lastWithin(r, of)
	if err != nil {
		return nil, err
	}
	in, out, err := linksOf(ctx, r, of, last, limit)
	if err != nil {
		return nil, err
	}
	n := &Neighbours{Of: of, Chain: []Step{}, CauseCount: in.count, EffectCount: out.count}
	if n.Causes, err = in.known(r); err != nil {
		return nil, err
	}
	if n.Effects, err = out.known(r); err != nil {
		return nil, err
	}
	c, ok, err := callerOf(r, of)
	if ok {
		n.Causes = append(n.Causes, c)
	}
	return n, err
}

// causeOf is the one step back from an interval: along the link that came in last at
// itself, or else to its caller.
func causeOf(ctx context.Context, r store.Reader, of Hit) (Step, bool, error) {
	in, _, err := linksOf(ctx, r, of, of.Row.Row, 1)
	if err != nil {
		return Step{}, false, err
	}
	first, err := in.known(r)
	if err != nil {
		return Step{}, false, err
	}
	if len(first) > 0 {
		return first[0], true, nil
	}
	return callerOf(r, of)
}

func hitOf(r store.Reader, at store.Row) (h Hit, ok bool, err error) {
	c, err := r.Interval(at)
	if err != nil || c == nil {
		return Hit{}, false, err
	}
	return Hit{Row: at, Region: c.Region[0], Begin: c.Begin[0], Duration: c.Duration[0]}, true, nil
}

func callerOf(r store.Reader, of Hit) (s Step, ok bool, err error) {
	c, err := r.Interval(of.Row)
	if err != nil || c == nil || c.Parent[0] < 0 {
		return Step{}, false, err
	}
	h, ok, err := hitOf(r, store.Row{Location: of.Location, Lane: of.Lane, Row: int(c.Parent[0])})
	return Step{Hit: h, By: "caller", Size: -1}, ok, err
}

// lastWithin returns the last row that an interval calls, itself if it calls nothing. Rows are in preorder, so it
// is found by bisection: O(log rows) reads.
func lastWithin(r store.Reader, of Hit) (row int, err error) {
	end := of.Begin + of.Duration
	within := func(row int) bool {
		c, failed := r.Interval(store.Row{Location: of.Location, Lane: of.Lane, Row: row})
		err = cmp.Or(err, failed)
		return err == nil && c != nil && c.Begin[0] < end
	}
	step := 1
	for within(of.Row.Row + step) {
		step *= 2
	}
	low, high := of.Row.Row+step/2, of.Row.Row+step // low is within (or itself), high is not
	for high-low > 1 {
		if mid := (low + high) / 2; within(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low, err
}

// ends are the far ends of links at an interval: how many there are, and the first few.
type ends struct {
	count int64
	limit int
	order func(a, b Step) int
	steps []Step // their intervals are not looked up yet
}

func (e *ends) add(s Step, count int64) {
	e.count += max(count, 1)
	if e.steps = append(e.steps, s); len(e.steps) > 1000+2*e.limit {
		e.trim()
	}
}

func (e *ends) trim() {
	slices.SortFunc(e.steps, e.order)
	e.steps = e.steps[:min(len(e.steps), e.limit)]
}

// known looks up the intervals of the first few.
func (e *ends) known(r store.Reader) ([]Step, error) {
	e.trim()
	out := []Step{}
	for _, s := range e.steps {
		h, ok, err := hitOf(r, s.Row)
		if err != nil {
			return nil, err
		}
		if ok {
			s.Hit = h
			out = append(out, s)
		}
	}
	return out, nil
}

func rowOrder(a, b Step) int {
	return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Row.Row, b.Row.Row))
}

// linksOf returns the far ends of the links that end, and of those that begin, at an interval or at the rows after
// it up to last. Memory does not grow with the links.
func linksOf(ctx context.Context, r store.Reader, of Hit, last, limit int) (in, out *ends, err error) {
	in = &ends{limit: limit, order: func(a, b Step) int {
		return cmp.Or(cmp.Compare(b.To, a.To), cmp.Compare(b.From, a.From), rowOrder(a, b))
	}}
	out = &ends{limit: limit, order: func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), rowOrder(a, b))
	}}
	if r.Info().Links == 0 {
		return in, out, nil
	}
	mine := func(location trace.LocationID, lane, row int32) bool {
		return location == of.Location && int(lane) == of.Lane && int(row) >= of.Row.Row && int(row) <= last
	}
	var mu sync.Mutex
	w := store.Window{Begin: of.Begin, End: of.Begin + max(of.Duration, 1) + 1,
		Locations: []trace.LocationID{of.Location}}
	err = r.Links(ctx, w, func(c *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Kind {
			to, from := mine(c.ToLocation[i], c.ToLane[i], c.ToRow[i]),
				mine(c.FromLocation[i], c.FromLane[i], c.FromRow[i])
			if c.Untimed[i] || to == from { // of another interval, or within this one
				continue
			}
			s := Step{By: c.Kind[i].String(), From: c.FromTime[i], To: c.ToTime[i], Size: c.Size[i]}
			if to {
				s.Row = store.Row{Location: c.FromLocation[i], Lane: int(c.FromLane[i]), Row: int(c.FromRow[i])}
				in.add(s, c.Count[i])
			} else {
				s.Row = store.Row{Location: c.ToLocation[i], Lane: int(c.ToLane[i]), Row: int(c.ToRow[i])}
				out.add(s, c.Count[i])
			}
		}
		return nil
	})
	return in, out, err
}
