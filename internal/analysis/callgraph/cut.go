package callgraph

import (
	"cmp"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Cut is the calls of one bucket that began before the window and are open in it. Their durations are not known
// from the window, so that they are in no distribution: Time is how long they are open in it, in ns, or with Innermost
// how long they are innermost.
type Cut struct {
	Owner int32
	Pair
	Count          float64
	Time, Min, Max float64 // in all, and of the calls that are open for the shortest and the longest time
}

func (c *Cut) merge(o *Cut) {
	c.Count += o.Count
	c.Time += o.Time
	c.Min, c.Max = min(c.Min, o.Min), max(c.Max, o.Max)
}

// A cutCollector gathers the calls that are open in a window when it begins.
type cutCollector struct {
	calls      Collector
	begin, end trace.Time

	mu   sync.Mutex
	list []Cut
}

// newCutCollector forgets the open calls of a Gather before.
func (p *Plan) newCutCollector() *cutCollector {
	p.Open.Store(0)
	c := &cutCollector{calls: Collector{Options: p.Options}, begin: p.Begin, end: p.End}
	c.calls.Measure, c.calls.Shapes = Inclusive, false
	return c
}

// add takes the calls of a lane that are open. O(depth), and for exclusive times as DigestedLane.OpenTime.
func (c *cutCollector) add(l *trace.DigestedLane, owner int32) (err error) {
	n := len(l.Open)
	if n == 0 || c.end <= c.begin {
		return nil
	}
	cols := &trace.Columns{Location: l.Location, Lane: l.Lane, First: l.Open[0].Row, Callers: l.Callers,
		Begin: make([]trace.Time, n), Duration: make([]trace.Time, n), Exclusive: make([]trace.Time, n),
		Region: make([]trace.RegionID, n), Depth: make([]uint16, n)}
	for i, x := range l.Open {
		cols.Duration[i] = min(x.End, c.end) - c.begin
		cols.Region[i], cols.Depth[i] = x.Region, uint16(i)
	}
	if c.calls.Innermost {
		if cols.Duration, err = l.OpenTime(); err != nil {
			return err
		}
	}
	var g Graph
	c.calls.addTo(&g, cols)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range g.buckets {
		b := &g.buckets[i]
		c.list = append(c.list, Cut{Owner: owner, Pair: b.Pair, Count: float64(b.Count), Time: b.Inclusive.Float64(),
			Min: float64(b.Calls.Min), Max: float64(b.Calls.Max)})
	}
	return nil
}

// MergeCuts puts cuts of one owner and pair together, in the order of owners and pairs; group gives the group of each
// owner, nil: itself.
func MergeCuts(cuts []Cut, group []int32) []Cut {
	out := slices.Clone(cuts)
	if group != nil {
		for i := range out {
			out[i].Owner = group[out[i].Owner]
		}
	}
	slices.SortFunc(out, func(a, b Cut) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), comparePairs(a.Pair, b.Pair))
	})
	merged := out[:0]
	for _, x := range out {
		if n := len(merged); n > 0 && merged[n-1].Owner == x.Owner && merged[n-1].Pair == x.Pair {
			merged[n-1].merge(&x)
		} else {
			merged = append(merged, x)
		}
	}
	return merged
}

// RenumberCuts makes owner order[i] number i.
func RenumberCuts(cuts []Cut, order []int32) []Cut {
	number := make([]int32, len(order))
	for i, old := range order {
		number[old] = int32(i)
	}
	return MergeCuts(cuts, number)
}
