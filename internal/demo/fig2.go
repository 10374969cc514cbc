package demo

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The figures of Godin, Quinn and Pancake: "Parallel Performance Visualization Using
// Moments of Utilization Data". Their data were never published; these charts have the
// properties that the paper states of them, and tests hold them to it.

// A figureRow is the two-state chart of one processor: busy from begin to end, in
// milliseconds of a run of figureLength.
type figureRow struct {
	group, name string
	busy        [][2]float64
}

const figureLength = 100 // ms

var fig2Demo = figureDemo("fig2", "Moments: how each changes with the chart (Fig. 2 of Godin, Quinn, Pancake)",
	fig2Rows(), []string{
		"Two rows a moment, and only that one differs: a, the second row's bar is twice as long (m0); b, it lies " +
			"later (m1); c, its outer bars reach further, since the same busy time is interrupted (m2); d, its line " +
			"points the other way (m3).",
		"The rows of a and b are unbroken: m2 is m0/2 exactly and the outer bars are hairlines. The rows of a, b and " +
			"c are symmetric: their skew is 0.",
	})

func fig2Rows() []figureRow {
	return []figureRow{
		{"a norm", "short", [][2]float64{{40, 60}}},
		{"a norm", "long", [][2]float64{{30, 70}}},
		{"b mean", "early", [][2]float64{{10, 40}}},
		{"b mean", "late", [][2]float64{{60, 90}}},
		{"c deviation", "unbroken", [][2]float64{{35, 65}}},
		{"c deviation", "interrupted", [][2]float64{{20, 30}, {45, 55}, {70, 80}}},
		{"d skew", "a little late", [][2]float64{{15, 35}, {38, 42}, {62, 66}, {84, 88}}},
		{"d skew", "a little early", [][2]float64{{12, 16}, {34, 38}, {58, 62}, {65, 85}}},
	}
}

// figureDemo makes a demo of a chart.
func figureDemo(name, title string, rows []figureRow, truth []string) *Demo {
	n := int64(0)
	for _, r := range rows {
		end := 0.0
		for _, b := range append(r.busy[:len(r.busy):len(r.busy)], [2]float64{figureLength}) {
			if b[0] > end {
				n++ // idle
			}
			end = b[1]
		}
		n += int64(len(r.busy))
	}
	size := Options{Locations: len(rows), Intervals: n}
	return &Demo{Name: name, Title: title, Truth: truth, Options: size,
		Write: func(ctx context.Context, o Options, w trace.Writer) error {
			if o = o.or(size); o.Locations != size.Locations || o.Intervals != size.Intervals {
				return fmt.Errorf("demo %s is a figure with %d processors; for other sizes ask for demo uniform", name,
					size.Locations)
			}
			return writeFigure(ctx, rows, w)
		}}
}

// writeFigure writes one row per processor; the run lasts figureLength for all.
func writeFigure(ctx context.Context, rows []figureRow, w trace.Writer) error {
	busy := w.Region(trace.Region{Name: "busy", Category: "state", Role: trace.RoleCompute})
	idle := w.Region(trace.Region{Name: "idle", Category: "state", Role: trace.RoleIdle})
	at := func(ms float64) trace.Time { return trace.Time(ms*1e6 + 0.5) }
	for i, r := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		parent := trace.NoLocation
		if r.group != "" {
			parent = w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: r.group,
				Rank: trace.NoRank})
		}
		id := w.Location(trace.Location{Parent: parent, Kind: trace.KindProcess, Name: r.name, Rank: i,
			Order: int64(i)})
		out := w.Stream(id, trace.StreamOptions{})
		end := trace.Time(0)
		for _, b := range r.busy {
			if begin := at(b[0]); begin > end {
				out.Interval(end, begin, idle)
			}
			end = at(b[1])
			out.Interval(at(b[0]), end, busy)
		}
		if end < figureLength*millisecond {
			out.Interval(end, figureLength*millisecond, idle)
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}
