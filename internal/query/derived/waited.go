package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// windowArguments are those of functions about a window whose rows have times.
var windowArguments = []table.Column{
	{Name: "from_time", Kind: table.Integer, Unit: "ns", Help: "begin of the window; left out or null: 0"},
	{Name: "to_time", Kind: table.Integer, Unit: "ns", Help: "end of the window; left out or null: the end of the run"},
}

// waited is the waits themselves.
var waited = table.NewFunction("waited",
	"Every wait of one location for another: one row per wait and cause, with the waiting location, the call, "+
		"the awaited location, and the time due to the cause. It is computed from the run for each query. Runs "+
		"whose waits are not traced one by one (GPUs, goroutines, profiles, clock skew) have no rows.",
	windowArguments,
	[]table.Column{
		{Name: "location", Kind: table.Integer, Help: "location that waited"},
		{Name: "rank", Kind: table.Integer, Null: true, Help: "of the location"},
		{Name: "unit", Kind: table.Integer, Help: "the location that is compared: of a rank with threads its process"},
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "of the wait"},
		{Name: "end", Kind: table.Integer, Unit: "ns", Help: "of the wait"},
		{Name: "region", Kind: table.Text, Help: "the call in which it waited"},
		{Name: "role", Kind: table.Text, Help: "of that region"},
		{Name: "kind", Kind: table.Text, Help: "late sender, wait at collective …"},
		{Name: "late", Kind: table.Integer, Help: "location it waited for"},
		{Name: "cause", Kind: table.Integer, Null: true,
			Help: "location that caused it, by itself or through others that waited; null: the records contradict it"},
		{Name: "cause_rank", Kind: table.Integer, Null: true, Help: "of the cause"},
		{Name: "cause_unit", Kind: table.Integer, Null: true, Help: "as unit, of the cause"},
		{Name: "cause_region", Kind: table.Text, Help: "region of the cause at that time"},
		{Name: "direct", Kind: table.Flag, Help: "0: passed on by others that waited themselves"},
		{Name: "time", Kind: table.Integer, Unit: "ns", Help: "part of the wait that this cause has"},
	}, waitedRows)

func waitedRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	q, err := questionOf(r, f)
	if err != nil || q == nil {
		return err
	}
	tree := r.Store.Locations()
	rank := func(id trace.LocationID) any {
		if id == trace.NoLocation || tree.Rank[id] == trace.NoRank {
			return nil
		}
		return int64(tree.Rank[id])
	}
	maybe := func(id trace.LocationID) any {
		if id == trace.NoLocation {
			return nil
		}
		return int64(id)
	}
	return diagnose.WaitRows(ctx, q, func(x *diagnose.WaitRow) error {
		return add(int64(x.Waiter), rank(x.Waiter), int64(x.WaiterUnit), int64(x.Begin), int64(x.End), x.Region,
			x.Role.String(), x.Kind, int64(x.Late), maybe(x.Cause), rank(x.Cause), maybe(x.CauseUnit), x.CauseRegion,
			flag(x.Direct), int64(x.Time))
	})
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}

// questionOf asks about a window of a run; nil for one that has no intervals.
func questionOf(r *table.Run, f *table.Filter) (*diagnose.Question, error) {
	if r.Store.Info().Intervals == 0 {
		return nil, nil
	}
	selected,
		err := specOf(r, bound(f, "from_time", 0), bound(f, "to_time", int64(r.Store.Info().End))).Resolve(r.Store)
	if err != nil {
		return nil, err
	}
	return &diagnose.Question{Run: &view.Run{Name: r.Name, Source: r.Source, Store: r.Store}, Selection: selected,
		Phase: "auto", Match: func(string) ([]trace.RegionID, error) { return nil, nil }}, nil
}
