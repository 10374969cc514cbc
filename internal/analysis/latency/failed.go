package latency

import "github.com/parallax-hpc/parallax/internal/analysis/finding"

// failedShare is of the requests, from which on failures are reported.
const failedShare = 0.01

// failed finds operations that fail while a request waits for them, and are not tried again: those that failed first,
// since callers mostly fail with their callees.
func (c *look) failed(tried map[int32]bool) []Fault {
	found := map[Op]*Fault{}
	for i := range int32(c.Len()) {
		if !c.on[i] || !c.Failed(i) || !c.counts(i) || tried[i] || c.passedOn(i) || c.Apart(i) {
			continue
		}
		o := c.op(i)
		if found[o] == nil {
			found[o] = &Fault{Kind: finding.FailedCalls, Ops: []Op{o}}
		}
		found[o].Calls++
		c.lose(found[o], i, 1, c.critical[i])
	}
	return sorted(found, func(x *Fault) bool { return float64(len(x.requests)) >= failedShare*float64(len(c.chosen)) })
}

// passedOn reports whether a call failed because one that it made did, and was not made again.
func (c *look) passedOn(node int32) bool {
	for _, k := range c.Kids(node) {
		if c.Failed(k) && c.on[k] {
			return true
		}
	}
	return false
}
