package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// scheduling is the time that goroutines of one function cost others.
var scheduling = table.NewFunction("scheduling",
	"Time in which goroutines of one function run alone while processors idle, and in which goroutines wait for a "+
		"lock or a receiver while others run up to where they give the lock back or receive. Runs without goroutines "+
		"have no rows.",
	windowArguments,
	[]table.Column{
		{Name: "what", Kind: table.Text, Help: "alone; idle meanwhile; idle for a lock (its time is below 0, since " +
			"that time is no serial part); held by a lock; held by receiver; these two with a comma and what the " +
			"holder or receiver does that does not run"},
		{Name: "location", Kind: table.Integer, Help: "of the goroutines that run, by where they start"},
		{Name: "waits", Kind: table.Integer, Null: true, Help: "of those that wait"},
		{Name: "function", Kind: table.Text, Help: "that runs alone"},
		{Name: "place", Kind: table.Text, Help: "function and line where the lock is given back, or that receives"},
		{Name: "begin", Kind: table.Integer, Unit: "ns"},
		{Name: "end", Kind: table.Integer, Unit: "ns"},
		{Name: "time", Kind: table.Integer, Unit: "ns"},
	}, schedulingRows)

func schedulingRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	q, err := questionOf(r, f)
	if err != nil || q == nil {
		return err
	}
	return diagnose.SchedulingRows(ctx, q, func(x *diagnose.SchedulingRow) error {
		var waits any
		if x.Waits != trace.NoLocation {
			waits = int64(x.Waits)
		}
		return add(x.What, int64(x.Location), waits, x.Function, x.Place, int64(x.Begin), int64(x.End), int64(x.Time))
	})
}
