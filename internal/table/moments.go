package table

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A distribution is a row of the table.
type distribution struct {
	*Run
	*trace.AtomicRow
}

var distributions = scanned("distributions",
	"Distributions that a profile gives condensed, such as sizes of messages: of each location and call path.",
	func(r *Run) int64 { return r.Store.Info().Profile },
	[]column[distribution]{
		integer("location", "", "its id", func(x *distribution) int64 { return int64(x.Location) }),
		text("path", "of the location", func(x *distribution) string { return x.Run.path(x.Location) }),
		maybe("callpath", "", "its number in callpaths; null if it is tied to none",
			func(x *distribution) (int64, bool) {
				return int64(x.Path), x.Path != trace.NoCallPath
			}),
		text("metric", "", func(x *distribution) string { return x.Store.Metrics()[x.Metric].Name }),
		number("count", "", "of values", func(x *distribution) float64 { return x.Count }),
		number("min", "", "", func(x *distribution) float64 { return x.Min }),
		number("max", "", "", func(x *distribution) float64 { return x.Max }),
		number("mean", "", "", func(x *distribution) float64 { return x.Mean }),
		number("sum_squares", "", "of the values", func(x *distribution) float64 { return x.SumSquares }),
	}, func(ctx context.Context, r *Run, _ *Filter, to *rowsOf[distribution]) error {
		x := &distribution{Run: r}
		return r.Store.Atomics(ctx, nil, func(rows []trace.AtomicRow) error {
			to.read(len(rows))
			for i := range rows {
				x.AtomicRow = &rows[i]
				if err := to.add(x); err != nil {
					return err
				}
			}
			return nil
		})
	})

// A momentsRow is a row of moments.
type momentsRow struct {
	*Run
	*trace.MomentRow
}

var moments = scanned("moments",
	"Statistics of a recorder inside a program, in place of intervals: weight, mean and central sums of time for each "+
		"location, role and window.",
	func(r *Run) int64 { return int64(r.Store.Locations().Len()) },
	func() []column[momentsRow] {
		columns := []column[momentsRow]{
			integer("location", "", "its id", func(x *momentsRow) int64 { return int64(x.Location) }),
			text("path", "of the location", func(x *momentsRow) string { return x.path(x.Location) }),
			text("role", "", func(x *momentsRow) string { return x.Role.String() }),
			integer("begin", "ns", "of the window", func(x *momentsRow) int64 { return int64(x.Begin) }),
			integer("end", "ns", "of the window", func(x *momentsRow) int64 { return int64(x.End) }),
			number("weight", "ns", "time in the role", func(x *momentsRow) float64 { return x.Weight }),
			number("mean", "ns", "from begin", func(x *momentsRow) float64 { return x.Mean }),
		}
		for k := 2; k <= trace.MaxMoment; k++ {
			columns = append(columns,
				number(fmt.Sprintf("m%d", k), "", fmt.Sprintf("central sum of order %d", k),
					func(x *momentsRow) float64 { return x.Central[k] }))
		}
		return columns
	}(), func(ctx context.Context, r *Run, _ *Filter, to *rowsOf[momentsRow]) error {
		x := &momentsRow{Run: r}
		return r.Store.Moments(ctx, nil, func(rows []trace.MomentRow) error {
			to.read(len(rows))
			for i := range rows {
				x.MomentRow = &rows[i]
				if err := to.add(x); err != nil {
					return err
				}
			}
			return nil
		})
	})
