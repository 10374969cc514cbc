package runchange

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
)

// A Factor is one of those whose product is the length of a run: Log is its part of
// log(B / A), and these add up.
type Factor struct {
	Name string
	A, B float64
	Log  float64
}

// decompose writes the length as useful time per location, over load balance and
// communication efficiency; if the source has the counters, useful time as instructions
// over instructions per cycle and cycles per second. nil if POP's factors mean nothing.
func (c *Change) decompose() []Factor {
	if c.Stepped && !c.Parted {
		return nil // the factors are of whole runs, and these differ in how much they do
	}
	type sums struct {
		length, useful, balance, communication, instructions, ipc, frequency float64
	}
	of := func(p *fingerprint.Print) (sums, bool) {
		useful := make([]float64, len(p.Units))
		total := 0.0
		for i := range p.Units {
			useful[i] = p.Units[i].Useful
			total += useful[i]
		}
		e := pop.Of(useful, p.Length)
		n := float64(len(useful))
		s := sums{p.Length, total / n, e.LoadBalance, e.Communication, p.Instructions / n, p.Instructions / p.Cycles,
			p.Cycles / total}
		return s, total > 0 && e.Parallel > 0
	}
	var mean [2]sums // of logarithms: products then stay products
	counted := true
	for s, side := range c.Runs {
		n := float64(len(side))
		for _, i := range side {
			x, ok := of(c.Prints[i])
			if !ok {
				return nil
			}
			m := &mean[s]
			for k, to := range []*float64{&m.length, &m.useful, &m.balance, &m.communication, &m.instructions, &m.ipc,
				&m.frequency} {
				*to += math.Log([]float64{x.length, x.useful, x.balance, x.communication, x.instructions, x.ipc,
					x.frequency}[k]) / n
			}
			counted = counted && x.instructions > 0 && x.ipc > 0 && x.frequency > 0
		}
	}
	a, b := &mean[0], &mean[1]
	out := []Factor{}
	add := func(name string, x, y, sign float64) {
		out = append(out, Factor{name, math.Exp(x), math.Exp(y), sign * (y - x)})
	}
	if counted {
		add("instructions per location", a.instructions, b.instructions, 1)
		add("instructions a cycle", a.ipc, b.ipc, -1)
		add("cycles a ns", a.frequency, b.frequency, -1)
	} else {
		add("useful time per location", a.useful, b.useful, 1)
	}
	add("load balance", a.balance, b.balance, -1)
	add("communication efficiency", a.communication, b.communication, -1)
	add("length", a.length, b.length, 1)
	return out
}
