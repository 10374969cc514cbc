package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/table"
)

// phases are the parts into which findings cut a run.
var phases = table.NewFunction("phases",
	"The phases into which the findings cut a run (docs/findings.md), by unit and kind of its rows, with their busy "+
		"and waiting time. A run without peers, such as one of goroutines, has none.",
	windowArguments,
	[]table.Column{
		{Name: "phase", Kind: table.Text, Help: "its name"},
		{Name: "number", Kind: table.Integer, Help: "from 0, in order of time"},
		{Name: "unit", Kind: table.Integer, Help: "the location that is compared: of a rank with threads its process"},
		{Name: "rank", Kind: table.Integer, Null: true, Help: "of the unit"},
		{Name: "kind", Kind: table.Text, Help: "of the rows of the unit whose busy time it is"},
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "of the phase on this unit"},
		{Name: "end", Kind: table.Integer, Unit: "ns"},
		{Name: "busy", Kind: table.Integer, Unit: "ns", Help: "of the rows of this kind"},
		{Name: "waiting", Kind: table.Integer, Unit: "ns",
			Help: "of all rows of the unit, at most the phase without the computation of its GPU"},
	}, phaseRows)

func phaseRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	q, err := questionOf(r, f)
	if err != nil || q == nil {
		return err
	}
	return diagnose.PhaseRows(ctx, q, func(x *diagnose.PhaseRow) error {
		return add(x.Name, int64(x.Number), int64(x.Unit), rankOf(r, x.Unit), x.Kind, int64(x.Begin), int64(x.End),
			int64(x.Busy), int64(x.Waiting))
	})
}
