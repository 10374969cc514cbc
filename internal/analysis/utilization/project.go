package utilization

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Project returns n coefficients of a basis for each row. O(bars × coefficients).
func (f *Rows) Project(ctx context.Context, l *Layer, basis moment.Basis, n int) ([][]float64, error) {
	out := make([][]float64, len(f.IDs))
	for i := range out {
		out[i] = make([]float64, n)
	}
	begin, end := f.Selection.Begin, f.Selection.End
	length := float64(end - begin)
	// Stretches that touch are one bar, however they are handed out: the last digit of a
	// sum must not tell whether an index was at hand.
	open := make([]moment.Interval, len(f.IDs))
	closeBar := func(i int) {
		if o := open[i]; o.End > o.Begin {
			basis.AddBar(out[i], float64(o.Begin-begin)/length, float64(o.End-begin)/length)
		}
	}
	add := func(i int, a, b trace.Time) {
		if o := &open[i]; a == o.End && o.End > o.Begin {
			o.End = b
			return
		}
		closeBar(i)
		open[i] = moment.Interval{Begin: a, End: b}
	}
	var err error
	if bars := l.bars; bars != nil {
		each(len(f.IDs), func(i int) {
			bars.index.Each(bars.row(f.IDs[i]), begin, end, func(a, b trace.Time) { add(i, a, b) })
		})
		err = ctx.Err()
	} else {
		err = scanBars(ctx, f.Reader, l.State, f.window(f.IDs), func(id trace.LocationID, a, b trace.Time) {
			if i := f.at[id]; i >= 0 {
				add(int(i), a, b)
			}
		})
	}
	for i := range open {
		closeBar(i)
		basis.Finish(out[i])
	}
	return out, err
}
