package diagnose

// The units that cause most waiting, one after another in time.

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// costs returns the waiting that units cause over time.
func (a *culprits) costs(f *fault) [][]float64 {
	out := make([][]float64, len(a.units))
	for _, r := range f.rows {
		u := a.accounts.unit[r.Actor]
		if out[u] == nil {
			out[u] = make([]float64, budget.Bins)
		}
		for i, t := range r.Series.All() {
			out[u][i] += float64(t)
		}
	}
	return out
}

// shares returns the culprits, those that cause most waiting first, and what each unit causes.
func (a *culprits) shares(f *fault) (units []int32, cost []trace.Time) {
	cost = make([]trace.Time, len(a.units))
	blamed := make([]bool, len(a.units))
	for _, r := range f.rows {
		u := a.accounts.unit[r.Actor]
		cost[u] += r.Caused()
		blamed[u] = true
	}
	for u, b := range blamed {
		if b {
			units = append(units, int32(u))
		}
	}
	parallel.Sort(units, func(x, y int32) int { return cmp.Or(cmp.Compare(cost[y], cost[x]), cmp.Compare(x, y)) })
	return units, cost
}
