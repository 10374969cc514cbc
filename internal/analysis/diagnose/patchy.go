package diagnose

// Regions of which the recorder kept only some calls.

import (
	"context"
	"math"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// fewestWith is how many calls with a region, and how many without it, tell whether it was left out.
	fewestWith = 8
	// patchySlack is how far the time of calls with and without a region may differ where it was left out, as a part
	// of the region's time.
	patchySlack = 0.2
	// surely is how many standard errors apart the two must be.
	surely = 4
)

// patchy finds regions that the recorder kept some calls of only, and returns, by region, whether its time counts as
// that of the region around it. Calls of the outer region without such a region have as much more time of their own as
// the region takes: it ran there too. To compare it by itself would charge ranks for calls that were recorded.
// Nil: there is none.
func (f *facts) patchy(ctx context.Context, actorOf []int32, n int64) ([]bool, error) {
	uneven := f.unevenCalls()
	if uneven == nil {
		return nil, nil
	}
	w := f.window
	if n > mostStepIntervals {
		w.End = w.Begin + trace.Time(float64(w.End-w.Begin)*mostStepIntervals/float64(n))
	}
	all := callSums{}
	var mu sync.Mutex
	err := f.store.Intervals(ctx, w, func(c *trace.Columns) error {
		if actorOf[c.Location] < 0 || c.Lane != 0 {
			return nil
		}
		found := sumCalls(c, uneven)
		mu.Lock()
		defer mu.Unlock()
		for k, s := range found {
			all.add(k, s)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	outer, some := make([]bool, len(f.regions)), false
	for k, s := range all {
		if k.inner != trace.NoRegion && leftOut(all[around{k.outer, trace.NoRegion}], s) {
			outer[k.outer], some = true, true
		}
	}
	if !some {
		return nil, nil
	}
	out := make([]bool, len(f.regions))
	for k := range all { // whatever else is inside
		if k.inner != trace.NoRegion && outer[k.outer] && !outer[k.inner] {
			out[k.inner] = true
		}
	}
	return out, nil
}

// unevenCalls returns, by region, whether rows do not call it equally often although it is work, and all of them less
// often than a region around others, which all call as often as one another; nil if none is so. Else there is nothing
// to look for in the calls.
func (f *facts) unevenCalls() []bool {
	type extremes struct {
		least, most float64
		rows        int
		inside      float64 // time in others inside
	}
	calls := make([]extremes, len(f.regions))
	for i, r := range f.table.region {
		x, n := &calls[r], f.table.calls[i]
		if x.rows++; x.rows == 1 {
			x.least = n
		}
		x.least, x.most = min(x.least, n), max(x.most, n)
		x.inside += f.table.inclusive[i] - f.table.exclusive[i]
	}
	steps := 0.0
	for r, x := range calls {
		if role := f.regions[r].Role; x.rows == len(f.rows) && x.least == x.most && x.inside > 0 &&
			(role == trace.RoleCompute || role == trace.RoleAnnotation) && !trace.Inferred(&f.regions[r]) {
			steps = max(steps, x.least)
		}
	}
	var out []bool
	for r, x := range calls {
		if f.regions[r].Role == trace.RoleCompute && !trace.Inferred(&f.regions[r]) && x.least < x.most &&
			x.most < steps && 2*x.rows > len(f.rows) {
			if out == nil {
				out = make([]bool, len(f.regions))
			}
			out[r] = true
		}
	}
	return out
}

// A callSum adds up calls of a region: how many, their own time, its square, and the time inside another region.
type callSum struct{ calls, own, squares, inner float64 }

func (s *callSum) add(o callSum) {
	s.calls, s.own, s.squares, s.inner = s.calls+o.calls, s.own+o.own, s.squares+o.squares, s.inner+o.inner
}

// An around is an outer region and one that its calls have or have not; NoRegion: all calls.
type around struct{ outer, inner trace.RegionID }

type callSums map[around]callSum

func (s callSums) add(k around, o callSum) {
	sum := s[k]
	sum.add(o)
	s[k] = sum
}

// leftOut reports whether calls without an inner region have its time as their own.
func leftOut(all, with callSum) bool {
	without := callSum{all.calls - with.calls, all.own - with.own, all.squares - with.squares, 0}
	if with.calls < fewestWith || without.calls < fewestWith {
		return false
	}
	inner := with.inner / with.calls
	more, spread := without.own/without.calls-with.own/with.calls, 0.0
	for _, s := range [...]callSum{with, without} {
		mean := s.own / s.calls
		spread += max(s.squares/s.calls-mean*mean, 0) / s.calls
	}
	return math.Abs(more-inner) < patchySlack*inner && more*more > surely*surely*spread
}

// sumCalls adds up a batch of an actor's calls by the uneven regions directly inside them.
func sumCalls(c *trace.Columns, uneven []bool) callSums {
	type call struct {
		region trace.RegionID
		end    trace.Time
		own    trace.Time
		inside map[trace.RegionID]trace.Time
	}
	out := callSums{}
	var stack []call
	leave := func(until trace.Time) {
		for n := len(stack); n > 0 && stack[n-1].end <= until; n-- {
			x := &stack[n-1]
			s := callSum{calls: 1, own: float64(x.own), squares: float64(x.own) * float64(x.own)}
			out.add(around{x.region, trace.NoRegion}, s)
			for r, t := range x.inside {
				s.inner = float64(t)
				out.add(around{x.region, r}, s)
			}
			stack = stack[:n-1]
		}
	}
	for i, r := range c.Region {
		b, e := c.Begin[i], c.End(i)
		leave(b)
		if n := len(stack); n > 0 {
			x := &stack[n-1]
			x.own -= e - b
			if uneven[r] && r != x.region {
				if x.inside == nil {
					x.inside = map[trace.RegionID]trace.Time{}
				}
				x.inside[r] += e - b
			}
		}
		stack = append(stack, call{region: r, end: e, own: e - b})
	}
	leave(math.MaxInt64)
	return out
}
