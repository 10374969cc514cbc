package diagnose

// Waits at collectives for the unit that came last, as rows for SQL.

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A LateRow is a wait at a collective for the unit that came last, in runs whose waits are not traced one by one.
type LateRow struct {
	Meeting     int // number of the collective, those with most waiting first
	Cause, Unit trace.LocationID
	Region      string
	Begin       trace.Time
	// Time is the part of the wait that no earlier finding has.
	Time trace.Time
}

// LateRows diagnoses a run and yields the waits at collectives. Runs whose waits are traced one by one have none.
func LateRows(ctx context.Context, q *Question, add func(*LateRow) error) error {
	f, err := gather(ctx, q)
	if err != nil {
		return err
	}
	c := newDiagnosis(ctx, f)
	var failed error
	c.late = func(x *LateRow) {
		if failed == nil {
			failed = add(x)
		}
	}
	if err := c.findFaults(); err != nil {
		return err
	}
	return failed
}

// lateQuery asks for something of the waits for units that come last; "" if some of them were looked at, or of a choice
// of locations.
func (c *diagnosis) lateQuery(what string, units []int32) string {
	if c.partial || c.question.Selection.Locations != nil || c.phaseTable() == "" || len(units) > mostNumbers {
		return ""
	}
	return fmt.Sprintf("with l as (select * from late_arrivals(%d, %d) where cause in (%s)), m as (select meeting, "+
		"cause, total(time) as t from l group by 1, 2 having t > 0) select %s", c.window.Begin, c.window.End,
		numbers(c.locations(units)), what)
}
