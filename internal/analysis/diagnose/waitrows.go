package diagnose

// Waits one by one, each once per cause, as rows for SQL.

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A WaitRow is the part of one wait that one cause has.
type WaitRow struct {
	Waiter, WaiterUnit trace.LocationID
	Begin, End         trace.Time
	Region             string // of the call in which it waited
	Role               trace.Role
	Kind               string
	Late               trace.LocationID // it waited for
	// Cause is NoLocation where the records contradict one another.
	Cause, CauseUnit trace.LocationID
	CauseRegion      string
	Direct           bool
	Time             trace.Time
}

// WaitRows reads the waits of a run anew, one by one, and yields each once per cause. A run whose waits are not
// followed one by one has none.
func WaitRows(ctx context.Context, q *Question, add func(*WaitRow) error) error {
	f, err := gather(ctx, q)
	if err != nil {
		return err
	}
	c := newDiagnosis(ctx, f)
	if err := findSuspicious(c); err != nil || !c.follows() {
		return err
	}
	a := &accounts{}
	a.numberRegions(f.regions)
	a.chooseActors(f)
	if err := a.sum(ctx, f); err != nil {
		return err
	}
	unit := func(actor int32) trace.LocationID { return f.units[a.unit[actor]] }
	var failed error
	f.each = func(w *budget.Wait, actor, region int32, direct bool, t trace.Time) {
		if failed != nil {
			return
		}
		row := WaitRow{Waiter: a.actors[w.Actor], WaiterUnit: unit(w.Actor), Begin: w.Begin, End: w.End,
			Region: a.regionNames[w.Region], Role: a.role[w.Region], Kind: w.Kind.String(), Late: a.actors[w.Late],
			Cause: trace.NoLocation, CauseUnit: trace.NoLocation, CauseRegion: a.regionNames[region], Direct: direct,
			Time: t}
		if actor != budget.NoActor {
			row.Cause, row.CauseUnit = a.actors[actor], unit(actor)
		}
		failed = add(&row)
	}
	n, err := f.store.Count(f.window)
	if err != nil || !f.explains(a, n) {
		return err
	}
	if _, err := f.follow(ctx, a, n); err != nil {
		return err
	}
	return failed
}
