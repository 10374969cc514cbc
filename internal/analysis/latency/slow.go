package latency

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	slowTimes = 3  // the median, from which on a call is slow
	fewCalls  = 20 // fewer have no norm
	mostSlow  = 1.0 / 3
	oneShare  = 0.8 // of what is lost, from which on it is of one place
	mostCalls = 0.7 // that such a place may have
	halfShare = 0.5
	fewWhole  = 3 // requests that are too few for a norm
)

// slow finds operations of which some calls take far longer by themselves than half of them do. What is
// lost is what these take beyond the median, as far as a request waits for it.
func (c *look) slow() []Fault {
	times := map[Op][]trace.Time{}
	for i := range int32(c.Len()) {
		if c.counts(i) {
			o := c.op(i)
			times[o] = append(times[o], c.Self[i])
		}
	}
	if len(c.chosen) <= fewWhole {
		return c.most()
	}
	found := map[Op]*Fault{}
	for o, list := range times {
		if len(list) >= fewCalls {
			slices.Sort(list)
			found[o] = &Fault{Kind: finding.SlowOperation, Ops: []Op{o}, All: int64(len(list)), Median: list[len(list)/2], At: trace.NoLocation}
		}
	}
	places := map[Op]map[trace.LocationID]*place{}
	for i := range int32(c.Len()) {
		if !c.counts(i) {
			continue
		}
		o := c.op(i)
		x := found[o]
		if x == nil {
			continue
		}
		at := c.At(i).Location
		if places[o] == nil {
			places[o] = map[trace.LocationID]*place{}
		}
		p := places[o][at]
		if p == nil {
			p = &place{}
			places[o][at] = p
		}
		p.calls++
		if c.Self[i] <= slowTimes*x.Median || c.critical[i] == 0 {
			continue
		}
		lost := min(c.critical[i], c.Self[i]-x.Median)
		x.Calls++
		x.Mean += float64(c.Self[i])
		x.lose(c.Of[i], lost)
		p.lost += lost
	}
	out := sorted(found, func(x *Fault) bool {
		return c.worthSaying(x.Lost) && float64(x.Calls) <= mostSlow*float64(x.All)
	})
	for i := range out {
		x := &out[i]
		x.Mean /= float64(x.Calls)
		for at, p := range places[x.Ops[0]] {
			if share := float64(p.lost) / float64(x.Lost); share >= oneShare && float64(p.calls) <= mostCalls*float64(x.All) {
				x.At, x.AtShare = at, share
			}
		}
	}
	return out
}

type place struct {
	calls int64
	lost  trace.Time
}

// most finds the operation that a request or two wait for more than for all others: there is no norm to hold it against.
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
		found[o].lose(c.Of[i], c.critical[i])
	}
	return sorted(found, func(x *Fault) bool { return float64(x.Lost) >= halfShare*float64(c.length) })
}
