package latency

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	manyCalls   = 5   // of one operation by one caller, from which on it repeats them
	serialShare = 0.8 // of them, that wait for the one before
)

type pair struct{ caller, op Op }

// groups puts calls of one operation together, in the order of their first.
func (c *look) groups(kids []int32) (out [][]int32) {
	at := make(map[Op]int, len(kids))
	for _, n := range kids {
		o := c.op(n)
		k, ok := at[o]
		if !ok {
			k = len(out)
			at[o] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], n)
	}
	return out
}

// repeated finds callers that make many calls of one operation one after the other: one for many would do. The loss is
// the time that the request waits for all of them but the longest.
func (c *look) repeated() []Fault {
	found := map[pair]*Fault{}
	c.callers(func(node int32, kids []int32) {
		if len(kids) < manyCalls {
			return
		}
		for _, g := range c.groups(kids) {
			lost, n := c.oneByOne(g)
			if n < manyCalls {
				continue
			}
			k := pair{c.op(node), c.op(g[0])}
			x := found[k]
			if x == nil {
				x = &Fault{Kind: finding.RepeatedCalls, Caller: k.caller, Ops: []Op{k.op}}
				found[k] = x
			}
			x.Calls += int64(n)
			x.Callers++
			x.MostCalled = max(x.MostCalled, int64(n))
			c.lose(x, node, int64(n), lost)
		}
	})
	return sorted(found, func(x *Fault) bool { return c.worthSaying(x.Lost) })
}

// oneByOne returns how long a caller waits for calls of one operation but the longest, and how many these are; 0 if
// they are not one after the other.
func (c *look) oneByOne(calls []int32) (lost trace.Time, n int) {
	var longest trace.Time
	after, last := 0, int32(-1)
	for _, k := range calls {
		if c.Failed(k) || c.Apart(k) { // what is tried again is another matter
			continue
		}
		if last >= 0 && c.Begin[k] >= c.End[last] {
			after++
		}
		last = k
		n++
		if c.on[k] {
			t := c.within(k)
			lost += t
			longest = max(longest, t)
		}
	}
	if n < manyCalls || float64(after) < serialShare*float64(n-1) {
		return 0, 0
	}
	return lost - longest, n
}

// retries finds calls that fail and are made again. The loss is the time of the one that fails, if the request waits
// for it, and the pause before the next, without the caller's other work. tried are all calls that were made again.
func (c *look) retries() (out []Fault, tried map[int32]bool) {
	found := map[pair]*Fault{}
	tried = map[int32]bool{}
	c.callers(func(node int32, kids []int32) {
		some := false
		for _, n := range kids {
			some = some || c.Failed(n)
		}
		if !some {
			return
		}
		busy := c.busyWith(kids)
		for _, g := range c.groups(kids) {
			for i := 1; i < len(g); i++ {
				a, b := g[i-1], g[i]
				if !c.Failed(a) || c.Begin[b] < c.End[a] {
					continue
				}
				tried[a] = true
				k := pair{c.op(node), c.op(a)}
				x := found[k]
				if x == nil {
					x = &Fault{Kind: finding.Retry, Caller: k.caller, Ops: []Op{k.op}}
					found[k] = x
				}
				x.Calls++
				lost := trace.Time(0)
				if c.on[a] {
					lost = c.within(a)
				}
				if from, to := max(c.End[a], c.Begin[node]), min(c.Begin[b], c.End[node]); from < to &&
					(c.on[a] || c.on[b]) {
					lost += to - from - busy.within(from, to)
				}
				c.lose(x, a, 1, lost)
			}
		}
	})
	return sorted(found, func(x *Fault) bool { return c.worthSaying(x.Lost) }), tried
}

// A cover is the time in which at least one of some calls runs: spans in order that do not overlap, and the sum of all
// before each.
type cover struct{ begin, end, before []trace.Time }

// busyWith covers the calls that a caller waits for; kids are in order of their begin.
func (c *look) busyWith(kids []int32) (v cover) {
	for _, k := range kids {
		last := len(v.end) - 1
		switch {
		case c.Apart(k) || c.End[k] <= c.Begin[k]:
		case last >= 0 && c.Begin[k] <= v.end[last]:
			v.end[last] = max(v.end[last], c.End[k])
		default:
			sum := trace.Time(0)
			if last >= 0 {
				sum = v.before[last] + v.end[last] - v.begin[last]
			}
			v.begin, v.end, v.before = append(v.begin, c.Begin[k]), append(v.end, c.End[k]), append(v.before, sum)
		}
	}
	return v
}

// within is how much of [from, to) is covered. O(log n).
func (v *cover) within(from, to trace.Time) trace.Time { return v.until(to) - v.until(from) }

func (v *cover) until(t trace.Time) trace.Time {
	i, _ := slices.BinarySearch(v.begin, t)
	if i == 0 {
		return 0
	}
	return v.before[i-1] + min(t, v.end[i-1]) - v.begin[i-1]
}
