package latency

import (
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	slowTimes = 3  // the median, from which on a call is slow
	fewCalls  = 20 // fewer have no norm
	mostSlow  = 1.0 / 3
	oneShare  = 0.8 // of the loss, from which on it is of one place
	mostCalls = 0.7 // that such a place may have
	halfShare = 0.5
	fewWhole  = 3 // requests that are too few for a norm
)

// slow finds operations of which some calls take far longer by themselves than half of them do. The loss is
// their time beyond the median, as far as a request waits for it.
func (c *look) slow() []Fault {
	if len(c.chosen) <= fewWhole {
		return c.most()
	}
	ops := map[Op]*norm{}
	recent := make([]*norm, len(c.Regions)) // the last of a region: mostly it is of one service
	of := func(node int32) *norm {
		o := c.op(node)
		n := recent[o.Region]
		if n == nil || n.op != o {
			if n = ops[o]; n == nil {
				n = &norm{op: o}
				ops[o] = n
			}
			recent[o.Region] = n
		}
		return n
	}
	for i := range int32(c.Len()) {
		if c.counts(i) {
			n := of(i)
			n.times = append(n.times, c.Self[i])
		}
	}
	found := map[Op]*Fault{}
	for o, n := range ops {
		if all := len(n.times); all >= fewCalls {
			n.fault = &Fault{Kind: finding.SlowOperation, Ops: []Op{o}, All: int64(all),
				Median: orderstat.Nth(n.times, all/2), At: trace.NoLocation}
			found[o] = n.fault
		}
		n.times = nil
	}
	for i := range int32(c.Len()) {
		if !c.counts(i) {
			continue
		}
		n := of(i)
		x := n.fault
		if x == nil {
			continue
		}
		p := n.place(c.Location(i))
		p.calls++
		if c.Self[i] <= slowTimes*x.Median || c.critical[i] == 0 {
			continue
		}
		lost := min(c.critical[i], c.Self[i]-x.Median)
		x.Calls++
		x.Mean += float64(c.Self[i])
		c.lose(x, i, 1, lost)
		p.lost += lost
	}
	out := sorted(found, func(x *Fault) bool {
		return c.worthSaying(x.Lost) && float64(x.Calls) <= mostSlow*float64(x.All)
	})
	for i := range out {
		x := &out[i]
		x.Mean /= float64(x.Calls)
		for at, p := range ops[x.Ops[0]].places {
			if share := float64(p.lost) / float64(x.Lost); share >= oneShare &&
				float64(p.calls) <= mostCalls*float64(x.All) {
				x.At, x.AtShare = at, share
			}
		}
	}
	return out
}

// A norm is how long an operation takes by itself, and where.
type norm struct {
	op     Op
	times  []trace.Time
	fault  *Fault // nil if there are too few
	places map[trace.LocationID]*place
	last   *place // the one that came last, mostly the only one
}

type place struct {
	at    trace.LocationID
	calls int64
	lost  trace.Time
}

func (n *norm) place(at trace.LocationID) *place {
	if n.last != nil && n.last.at == at {
		return n.last
	}
	if n.places == nil {
		n.places = map[trace.LocationID]*place{}
	}
	p := n.places[at]
	if p == nil {
		p = &place{at: at}
		n.places[at] = p
	}
	n.last = p
	return p
}

// most finds the operation that a request or two wait for more than for all others: there is no norm to hold it
// against.
func (c *look) most() []Fault {
	found := map[Op]*Fault{}
	for i := range int32(c.Len()) {
		if !c.counts(i) || c.critical[i] == 0 {
			continue
		}
		o := c.op(i)
		if found[o] == nil {
			found[o] = &Fault{Kind: finding.SlowOperation, Ops: []Op{o}, At: trace.NoLocation}
		}
		found[o].Calls++
		c.lose(found[o], i, 1, c.critical[i])
	}
	return sorted(found, func(x *Fault) bool { return float64(x.Lost) >= halfShare*float64(c.length) })
}
