package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/table"
)

// lateArrivals are waits at collectives.
var lateArrivals = table.NewFunction("late_arrivals",
	"Waits at collectives for the unit that came last, in runs whose waits are not traced one by one, such as GPU "+
		"jobs; `waited` has those of other runs.",
	windowArguments,
	[]table.Column{
		{Name: "meeting", Kind: table.Integer, Help: "number of the collective, those with most waiting first"},
		{Name: "cause", Kind: table.Integer, Help: "location of the unit that came last, later than its work explains"},
		{Name: "unit", Kind: table.Integer, Help: "location of the unit that waited"},
		{Name: "region", Kind: table.Text, Help: "the call in which it waited"},
		{Name: "begin", Kind: table.Integer, Unit: "ns"},
		{Name: "time", Kind: table.Integer, Unit: "ns",
			Help: "of the wait, without the part of stragglers that are reported before"},
	}, lateRows)

func lateRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	q, err := questionOf(r, f)
	if err != nil || q == nil {
		return err
	}
	return diagnose.LateRows(ctx, q, func(x *diagnose.LateRow) error {
		return add(int64(x.Meeting), int64(x.Cause), int64(x.Unit), x.Region, int64(x.Begin), int64(x.Time))
	})
}
