package derived

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// waitsOf sums up waiting by its cause.
var waitsOf = table.NewFunction("waits",
	"The budget of waiting: the time that locations waited for others, summed by cause. Waiting without a known cause "+
		"is a row without a location. All rows add up to `accounts.waiting` of the findings.",
	[]table.Column{
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "of the window; left out or null: 0"},
		{Name: "end", Kind: table.Integer, Unit: "ns", Help: "of the window; left out or null: the end of the run"},
	},
	[]table.Column{
		{Name: "cause", Kind: table.Text, Help: "kind of the finding that reports it, else the way of waiting"},
		{Name: "finding", Kind: table.Text, Null: true, Help: "kind of the finding that reports it; null: none does"},
		{Name: "location", Kind: table.Integer, Null: true, Help: "location that made others wait; null: not known"},
		{Name: "path", Kind: table.Text, Null: true, Help: "of the location"},
		{Name: "rank", Kind: table.Integer, Null: true, Help: "of the location"},
		{Name: "region", Kind: table.Text, Null: true, Help: "its region at that time"},
		{Name: "time", Kind: table.Integer, Unit: "ns", Help: "waited by others, added up"},
		{Name: "direct", Kind: table.Integer, Unit: "ns",
			Help: "of it, waited for the location itself; the rest was passed on by others that waited"},
	}, waitsRows)

func waitsRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	d, err := findingsData(ctx, r, windowOf(r, f))
	if err != nil || d == nil {
		return err
	}
	tree := r.Store.Locations()
	for i := range d.Budget {
		c := &d.Budget[i]
		var told, rank any
		if c.Finding != "" {
			told = c.Finding
		}
		if n := tree.Rank[c.Location]; n != trace.NoRank {
			rank = int64(n)
		}
		err := add(c.Cause, told, int64(c.Location), c.Path, rank, c.Region, int64(c.Time), int64(c.Direct))
		if err != nil {
			return err
		}
	}
	if d.Unexplained > 0 {
		return add("unexplained", nil, nil, nil, nil, nil, int64(d.Unexplained), int64(0))
	}
	return nil
}
