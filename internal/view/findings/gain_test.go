package findings_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// gain is how much shorter the run is without its fault, by the simulation.
func (f *field) gain() trace.Time {
	f.ripen()
	end := slices.Max(f.at)
	healthy := *f
	healthy.change, healthy.extra, healthy.first = nil, nil, nil
	if f.first != nil {
		healthy.first = func(int) []task { return f.first(0) }
	}
	healthy.ripen()
	return end - slices.Max(healthy.at)
}

// gain is the same of a job of GPUs.
func (c *cluster) gain() trace.Time {
	healthy := train()
	return c.ripen().end() - healthy.ripen().end()
}

func (c *cluster) end() (end trace.Time) {
	for _, e := range c.events[0].device {
		end = max(end, e.end)
	}
	return end
}

// The gain that a replay predicts is how much shorter the same run is without the fault.
func TestThePredictedGainIsThatOfTheRunWithoutTheFault(t *testing.T) {
	var order []string
	rows := map[string][]string{}
	all, right := 0, 0
	for _, p := range plants() {
		x, ok := p.run.(interface{ gain() trace.Time })
		if !ok {
			continue
		}
		truth := float64(x.gain())
		switch f, _ := x.(*field); {
		case strings.HasPrefix(p.kind, "gradient"):
			truth /= 2 // as much is to be done, and spread evenly
		case truth == 0: // healthy runs hold the fault too: all lose it
			truth = float64(p.cost) / float64(f.ranks)
		}
		d := read(t, p.run.store(t))
		g := d.Findings[0].Gain
		said := "none"
		all++
		if g != nil {
			off := math.Abs(float64(g.Time)-truth) / truth
			said = fmt.Sprintf("%.1f %%", 100*off)
			if off <= 0.1 {
				right++
			} else {
				t.Logf("%s, %s: %s, truth %.1f ms, predicted %.1f ms", p.kind, p.size, said, truth/1e6, float64(g.Time)/1e6)
			}
			if g.If == "" || g.Share <= 0 {
				t.Errorf("%s: %+v", p.kind, g)
			}
		}
		if rows[p.kind] == nil {
			order = append(order, p.kind)
		}
		rows[p.kind] = append(rows[p.kind], said)
	}
	var out strings.Builder
	out.WriteString("| kind | error of the gain |\n| --- | --- |\n")
	for _, k := range order {
		fmt.Fprintf(&out, "| %s | %s |\n", k, strings.Join(rows[k], "; "))
	}
	fmt.Fprintf(&out, "\n%d of %d gains are within 10 %%.\n", right, all)
	if float64(right) < 0.9*float64(all) {
		t.Errorf("%d of %d gains are within 10 %%, want 90 %%", right, all)
	}
	documented(t, "gains", out.String())
}
