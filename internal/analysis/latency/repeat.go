package latency

import (
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

// repeated finds callers that make many calls of one operation one after the other: one for many would do. What is lost
// is what the request waits for all of them but the longest.
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
			x.lose(c.Of[node], lost)
		}
	})
	return sorted(found, func(x *Fault) bool { return c.worthSaying(x.Lost) })
}

// oneByOne gives how long a caller waits for calls of one operation but the longest, and how many these are; 0 where
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

// retries finds calls that fail and are made again. What is lost is from the begin of the one that fails to the begin of
// the next. Tried are all calls that were made again.
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
				if c.on[a] || c.on[b] {
					lost = min(c.Begin[b], c.End[node]) - max(c.Begin[a], c.Begin[node])
				}
				x.lose(c.Of[node], max(lost, 0))
			}
		}
	})
	return sorted(found, func(x *Fault) bool { return c.worthSaying(x.Lost) }), tried
}
