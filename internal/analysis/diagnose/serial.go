package diagnose

// Fault: one unit, or few, do something alone while the others wait.

import (
	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
)

// serial: regions that one unit, or few, do alone while the others wait. All visits count,
// however short.
func (a *culprits) serial() error {
	for range 4 {
		byUnit := a.byUnit(func(r *budget.Row) bool { return a.alone[r.Region] })
		u, most := top(byUnit)
		if most == 0 {
			return nil
		}
		also := a.lateAnyway(u, most)
		f := a.claim(func(r *budget.Row) bool {
			return (a.alone[r.Region] || also && a.common(r)) && a.accounts.unit[r.Actor] == u
		})
		if !a.grave(f) {
			a.give(f)
			return nil
		}
		kind := finding.Serial
		if f.messages() {
			kind = a.byMessages(f)
		}
		if err := a.tell(f, kind); err != nil {
			return err
		}
	}
	return nil
}

// lateAnyway reports whether a unit that delays others by work of its own also causes most waiting for work that all
// do: then it is one fault. That happens if only some of its calls are recorded.
func (a *culprits) lateAnyway(u int32, alone float64) bool {
	common := a.byUnit(a.common)
	return 2*common[u] > sumOf(common) && common[u] > 0.1*alone
}
