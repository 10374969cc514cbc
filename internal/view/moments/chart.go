package moments

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// chartBins is how finely the two-state chart cuts the window.
	chartBins = 1024
	// chartMembers bounds the members of a group that are looked at for a chart.
	chartMembers = 32
	// fewIntervals are scanned; of more the blocks of bins are taken.
	fewIntervals = 1 << 20
)

// Where the two-state chart is drawn.
const (
	chartNone   = "none"
	chartBeside = "beside"
	chartBehind = "behind"
)

// readChart reads --gantt: none, beside, behind, or the width of a chart beside in
// pixels or as a share of what there is.
func (o *options) readChart(text string) error {
	o.chart, o.chartShare = chartBeside, 0.5
	switch text {
	case "", "false", chartNone:
		o.chart = chartNone
		return nil
	case "true", chartBeside:
		return nil
	case chartBehind:
		o.chart = chartBehind
		return nil
	}
	number, share := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || share && v >= 100 || v > 1e5 {
		return fmt.Errorf("--gantt %q: want none, beside, behind, or a width such as 300 or 30%%", text)
	}
	if share {
		o.chartShare = v / 100
	} else {
		o.chartShare, o.chartPixels = 0, v
	}
	return nil
}

// leastChart is the least width of the chart and of the moments beside it.
const leastChart = 48

// chartWidth gives the width of the chart beside, of what both have together.
func (o *options) chartWidth(both float32) float32 {
	w := float32(o.chartPixels)
	if o.chartShare > 0 {
		w = both * float32(o.chartShare)
	}
	return max(min(w, both-leastChart), min(leastChart, both/2))
}

// chartBeside: the two-state chart is asked for and there is room.
func (r *result) chartBeside(size scene.Size) bool {
	return r.opt.chart == chartBeside && r.charts != nil && !tiny(size) && size.Width >= 320
}

// chartBehind: it is asked for behind the rows, and they are high enough to show it.
func (r *result) chartBehind(d *drawing) bool {
	return r.opt.chart == chartBehind && r.charts != nil && d.style(r) >= full
}

// makeCharts finds the busy share of each row drawn in each bin.
func (r *result) makeCharts(ctx context.Context) error {
	if r.opt.chart == chartNone {
		return nil
	}
	if r.axis.counter != "" {
		r.notes = append(r.notes, "the two-state chart is drawn over time alone")
		return nil
	}
	c := &charts{}
	var err error
	if c.bars, err = r.exactBars(ctx); err != nil {
		return err
	}
	if c.bars == nil {
		c.shares, err = r.shares(ctx, r.states[0], r.rows, chartBins)
	}
	r.charts = c
	return err
}

// charts are the two-state chart of the rows drawn: bars where they are few enough
// to draw each, else shares in bins.
type charts struct {
	bars   [][]moment.Interval
	shares [][]float32
}

// mostBars bounds the bars that are drawn one by one.
const mostBars = 12_000

// exactBars gives every bar of every row; nil where they are too many, rows are
// groups, or a recorder kept no bars.
func (r *result) exactBars(ctx context.Context) ([][]moment.Interval, error) {
	begin, end := r.window()
	var ids []trace.LocationID
	at := map[trace.LocationID]int{}
	for k := range r.rows {
		if r.rows[k].group() || r.recorded != nil {
			return nil, nil
		}
		id := r.ids[r.rows[k].members[0]]
		at[id] = k
		ids = append(ids, id)
	}
	w := store.Window{Begin: begin, End: end, Locations: topmost(r.tree, sorted(ids))}
	if r.reader.Count(w) > 4*mostBars {
		return nil, nil
	}
	out := make([][]moment.Interval, len(r.rows))
	err := scanBars(ctx, r.reader, r.states[0].state, w, func(id trace.LocationID, a, b trace.Time) {
		k, ok := at[id]
		if !ok {
			return
		}
		if n := len(out[k]); n > 0 && out[k][n-1].End == a {
			out[k][n-1].End = b
			return
		}
		out[k] = append(out[k], moment.Interval{Begin: a, End: b})
	})
	n := 0
	for _, list := range out {
		n += len(list)
	}
	if n > mostBars {
		return nil, err
	}
	return out, err
}

// sampled gives the members of a row that are looked at, evenly spread.
func (w *row) sampled() []int32 {
	n := len(w.members)
	if n <= chartMembers {
		return w.members
	}
	out := make([]int32, chartMembers)
	for k := range out {
		out[k] = w.members[k*n/chartMembers]
	}
	return out
}

// shares gives the busy share of rows in n equal bins of the window.
func (r *result) shares(ctx context.Context, l *layer, rows []row, n int) ([][]float32, error) {
	begin, end := r.window()
	c := &coverage{begin: begin, width: float64(end-begin) / float64(n)}
	of := map[trace.LocationID][]float32{}
	out := make([][]float32, len(rows))
	var ids []trace.LocationID
	for k := range rows {
		out[k] = make([]float32, n)
		for _, i := range rows[k].sampled() {
			of[r.ids[i]] = out[k]
			ids = append(ids, r.ids[i])
		}
	}
	if err := r.cover(ctx, l, c, ids, of); err != nil {
		return nil, err
	}
	for k := range rows {
		scale := 1 / float32(c.width*float64(len(rows[k].sampled())))
		for b := range out[k] {
			out[k][b] = min(out[k][b]*scale, 1)
		}
	}
	return out, nil
}

// cover adds up busy time per bin from whatever knows it. Members of one row share
// a slice, so bars come one row at a time or under a lock.
func (r *result) cover(ctx context.Context, l *layer, c *coverage, ids []trace.LocationID,
	of map[trace.LocationID][]float32) error {
	begin, end := r.window()
	if l.bars != nil {
		for _, id := range ids {
			l.bars.index.Each(l.bars.row(id), begin, end, func(a, b trace.Time) { c.add(of[id], a, b, 1) })
		}
		return nil
	}
	if r.recorded != nil {
		for _, id := range ids {
			for _, m := range r.recorded.rows[id] {
				c.add(of[id], m.Begin, m.End, m.Weight/float64(max(m.End-m.Begin, 1)))
			}
		}
		return nil
	}
	ids = sorted(ids)
	w := store.Window{Begin: begin, End: end, Locations: topmost(r.tree, ids)}
	if !l.state.whole || r.reader.Count(w) <= fewIntervals {
		return scanBars(ctx, r.reader, l.state, w, func(id trace.LocationID, a, b trace.Time) {
			if bins := of[id]; bins != nil {
				c.mu.Lock()
				c.add(bins, a, b, 1)
				c.mu.Unlock()
			}
		})
	}
	level := max(0, bits.Len64(uint64(c.width))-1)
	return r.reader.Summaries(ctx, moment.Name, w, level, store.Visitor{
		Block: func(id trace.LocationID, _ int, a, b trace.Time, block trace.Block) error {
			var s moment.Cubic
			if bins := of[id]; bins != nil && s.AddBlock(block, l.state.roles) {
				c.mu.Lock()
				c.add(bins, a, b, s.Weight/float64(b-a))
				c.mu.Unlock()
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			if bins := of[x.Rows.Location]; bins != nil {
				c.mu.Lock()
				moment.EachBar(x.Segments, l.state.roles, func(a, b trace.Time) { c.add(bins, a, b, 1) })
				c.mu.Unlock()
			}
			return nil
		},
	})
}

// drawChart draws the two-state chart: what is busy is filled, and where a column
// stands for more than one state its height is the busy share.
func (r *painter) drawChart(s *scene.Scene, d *drawing, frame int, bar scene.Colour) {
	rects := &scene.Rect{}
	f := &s.Frames[frame]
	columns := max(1, min(int(f.W), chartBins))
	for k := range r.rows {
		pad := float32(0)
		if d.height >= full {
			pad = min(d.height*0.16, 4)
		}
		y := d.edge(k) + pad
		h := max(d.edge(k+1)-y-pad, 1)
		if r.charts.bars != nil {
			for _, b := range r.charts.bars[k] {
				x0, x1 := f.XPixel(float64(b.Begin)), f.XPixel(float64(b.End))
				rects.Add(x0, y, x1-x0, h, bar)
			}
			continue
		}
		share := folded(r.charts.shares[k], columns)
		for c := 0; c < columns; {
			e := c + 1
			for e < columns && alike(share[e], share[c]) {
				e++
			}
			if share[c] > 0 {
				x0, x1 := f.X+f.W*float32(c)/float32(columns), f.X+f.W*float32(e)/float32(columns)
				rects.Add(x0, y+h*(1-share[c]), x1-x0, h*share[c], bar)
			}
			c = e
		}
	}
	s.AddLayer("chart", frame, rects)
}

// alike joins columns that look the same: equal ones, and those within a sixteenth.
func alike(a, b float32) bool {
	return a == b || a > 0 && b > 0 && a < 1 && b < 1 && int(a*16) == int(b*16)
}

// folded averages bins into columns.
func folded(bins []float32, columns int) []float32 {
	out := make([]float32, columns)
	for c := range out {
		from, to := c*len(bins)/columns, max((c+1)*len(bins)/columns, c*len(bins)/columns+1)
		sum := float32(0)
		for _, x := range bins[from:to] {
			sum += x
		}
		if out[c] = sum / float32(to-from); out[c] > 0.999 {
			out[c] = 1
		}
	}
	return out
}
