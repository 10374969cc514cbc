package diagnose

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
		f := a.claim(func(r *budget.Row) bool { return a.alone[r.Region] && a.accounts.unit[r.Actor] == u })
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
