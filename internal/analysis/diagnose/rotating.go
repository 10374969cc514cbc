package diagnose

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
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

// shares returns the waiting that culprits cause, most first.
func (a *culprits) shares(f *fault) (units []int32, cost map[int32]trace.Time) {
	cost = map[int32]trace.Time{}
	for _, r := range f.rows {
		cost[a.accounts.unit[r.Actor]] += r.Caused()
	}
	for u := range cost {
		units = append(units, u)
	}
	slices.SortFunc(units, func(x, y int32) int { return cmp.Or(cmp.Compare(cost[y], cost[x]), cmp.Compare(x, y)) })
	return units, cost
}
