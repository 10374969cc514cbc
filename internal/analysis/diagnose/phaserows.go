package diagnose

// Phases of the run by unit, as rows for SQL.

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A PhaseRow is a phase of a unit, once for each kind of its rows.
type PhaseRow struct {
	Name       string
	Number     int // from 0
	Unit       trace.LocationID
	Kind       string // of the rows
	Begin, End trace.Time
	Busy       trace.Time
	Waiting    trace.Time // of all kinds of rows together, at most the length without computation of GPUs
}

// PhaseRows yields the phases of a run by unit. A run whose units are not cut into phases has none.
func PhaseRows(ctx context.Context, q *Question, add func(*PhaseRow) error) error {
	f, err := gather(ctx, q)
	if err != nil || f.phases == nil {
		return err
	}
	c := newDiagnosis(ctx, f)
	if err := c.fillBudget(); err != nil {
		return err
	}
	n := len(f.phases.List)
	kinds, busy := []string{}, map[string][]trace.Time{}
	for row, id := range f.rows {
		k := f.class[row]
		if busy[k] == nil {
			kinds, busy[k] = append(kinds, k), make([]trace.Time, len(f.units)*n)
		}
		for p := range n {
			busy[k][int(f.unitOf[id])*n+p] += f.cells.Busy[row*n+p]
		}
	}
	for u, id := range f.units {
		for p := range n {
			s := f.phases.Span(u, p)
			if s.Absent() {
				continue
			}
			for _, k := range kinds {
				err := add(&PhaseRow{Name: f.phases.List[p].Name, Number: p, Unit: id, Kind: k, Begin: s.Begin,
					End: s.End, Busy: busy[k][u*n+p], Waiting: c.budget.Left[u*n+p]})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// phaseTable is the table of phases in SQL; "" if the phases are not those that a query cuts.
func (f *facts) phaseTable() string {
	if how := f.question.Phase; how != "" && how != "auto" || f.question.Selection.Locations != nil {
		return ""
	}
	return fmt.Sprintf("phases(%d, %d)", f.window.Begin, f.window.End)
}
