package latency

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	otherShare = 0.05 // of callers that make two calls in another order, from which on neither needs the other
	fewCallers = 20
	mostOps    = 12   // of a caller
	gapShare   = 0.01 // of a caller between two calls, up to which the second follows at once
	fewInRow   = 3
	rowShare   = 0.1 // of the time of all requests, from which on calls that may need each other are reported
)

// A twosome is two operations that one caller calls.
type twosome struct{ caller, a, b Op }

// An order says how often one was before the other, and at once with it.
type order struct{ before, after, together int64 }

// serial finds calls of one caller, of different operations, that are made one after the other though they could
// overlap. That is known if some callers make them in another order, or at once; else it is only likely, for three or
// more that follow each other without a pause. The loss is the time that the request waits for all of them but the
// longest.
func (c *look) serial(tried map[int32]bool) []Fault {
	orders := map[twosome]*order{}
	singles := map[int32][]int32{}
	c.callers(func(node int32, kids []int32) {
		list := c.singles(kids, tried)
		if len(list) < 2 {
			return
		}
		singles[node] = list
		for i, a := range list {
			for _, b := range list[i+1:] {
				c.note(orders, c.op(node), a, b)
			}
		}
	})
	found := map[string]*Fault{}
	nodes := make([]int32, 0, len(singles))
	for n := range singles {
		nodes = append(nodes, n)
	}
	slices.Sort(nodes)
	for _, node := range nodes {
		list, other, known := c.free(orders, node, singles[node]), int64(0), true
		if len(list) < 2 {
			list, known = c.inRow(node, singles[node]), false
		}
		if len(list) < 2 {
			continue
		}
		var sum, longest trace.Time
		x := &Fault{Kind: finding.SerialCalls, Caller: c.op(node), Known: known}
		for i, n := range list {
			sum += c.within(n)
			longest = max(longest, c.within(n))
			x.Ops = append(x.Ops, c.op(n))
			if i > 0 && known {
				o := orders[pairOf(x.Caller, c.op(list[0]), c.op(n))]
				other = max(other, o.together, min(o.before, o.after))
			}
		}
		x.Ops = Ordered(x.Ops)
		k := key(x)
		if found[k] == nil {
			found[k] = x
		}
		x = found[k]
		x.Calls += int64(len(list))
		x.Callers++
		x.OtherWise = max(x.OtherWise, other)
		c.lose(x, node, int64(len(list)), sum-longest)
	}
	return sorted(found, func(x *Fault) bool {
		if !x.Known && float64(x.Lost) < rowShare*float64(c.length) {
			return false
		}
		return c.worthSaying(x.Lost)
	})
}

func key(x *Fault) string {
	b := make([]byte, 0, 64)
	for _, o := range append([]Op{x.Caller}, x.Ops...) {
		for _, v := range []uint32{uint32(o.Service), uint32(o.Region)} {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
	}
	if x.Known {
		b = append(b, 1)
	}
	return string(b)
}

// singles are calls of operations that the caller calls once and waits for, by begin.
func (c *look) singles(kids []int32, tried map[int32]bool) (out []int32) {
	for _, g := range c.groups(kids) {
		if len(g) == 1 && !c.Apart(g[0]) && !tried[g[0]] && c.within(g[0]) > 0 {
			out = append(out, g[0])
		}
	}
	if len(out) > mostOps {
		return nil
	}
	slices.SortFunc(out, func(a, b int32) int { return cmp.Or(cmp.Compare(c.Begin[a], c.Begin[b]), cmp.Compare(a, b)) })
	return out
}

// pairOf names two operations, whichever is first.
func pairOf(caller, a, b Op) twosome {
	if cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region)) > 0 {
		a, b = b, a
	}
	return twosome{caller, a, b}
}

// note counts how two calls of a caller lie, of which a begins first.
func (c *look) note(orders map[twosome]*order, caller Op, a, b int32) {
	k := pairOf(caller, c.op(a), c.op(b))
	o := orders[k]
	if o == nil {
		o = &order{}
		orders[k] = o
	}
	switch {
	case c.Begin[b] < c.End[a]:
		o.together++
	case k.a == c.op(a):
		o.before++
	default:
		o.after++
	}
}

// free are those of a caller's calls on the path of which none needs another, as other callers show.
func (c *look) free(orders map[twosome]*order, node int32, list []int32) (out []int32) {
	for _, n := range list {
		if !c.on[n] {
			continue
		}
		alone := func(o int32) bool {
			x := orders[pairOf(c.op(node), c.op(o), c.op(n))]
			all := x.before + x.after + x.together
			return all >= fewCallers && float64(max(x.together, min(x.before, x.after))) >= otherShare*float64(all)
		}
		if !slices.ContainsFunc(out, func(o int32) bool { return !alone(o) || c.Begin[n] < c.End[o] }) {
			out = append(out, n)
		}
	}
	return out
}

// inRow is the longest row of calls to other services on the path that follow each other at once.
func (c *look) inRow(node int32, list []int32) (best []int32) {
	gap := trace.Time(gapShare * float64(c.End[node]-c.Begin[node]))
	var row []int32
	for _, n := range list {
		if !c.on[n] || c.serves(n) == c.Service(node) {
			continue
		}
		if k := len(row); k > 0 && (c.Begin[n] < c.End[row[k-1]] || c.Begin[n]-c.End[row[k-1]] > gap) {
			row = nil
		}
		if row = append(row, n); len(row) > len(best) {
			best = slices.Clone(row)
		}
	}
	if len(best) < fewInRow {
		return nil
	}
	return best
}

// serves is the service that a call goes to: its own, or where it is the caller's half of one, that of the other half.
func (c *look) serves(node int32) trace.LocationID {
	at := c.Service(node)
	for _, k := range c.Kids(node) {
		if s := c.Service(k); s != at {
			return s
		}
	}
	return at
}
