package moments

import (
	"context"
	"math/bits"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// chartBins is how finely the two-state chart cuts the window.
	chartBins = 1024
	// chartMembers bounds the members of a group that are looked at for a chart.
	chartMembers = 32
	// fewIntervals are scanned; of more the blocks of bins are taken.
	fewIntervals = 1 << 20
)

// Places of the two-state chart.
const (
	chartNone   = "none"
	chartBeside = "beside"
	chartBehind = "behind"
)

// readChart reads --gantt: none, beside, behind, or the width of a chart beside in
// pixels or as a share of the available width.
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
		refused := words.NotOneOf("--gantt", text, chartNone, chartBeside, chartBehind)
		refused.More = ", or a width such as 300 or 30%"
		return refused
	}
	if share {
		o.chartShare = v / 100
	} else {
		o.chartShare, o.chartPixels = 0, v
	}
	return nil
}

// leastChart is the least width of the chart and of the moments next to it.
const leastChart = 48

// chartWidth returns the width of the chart beside, out of the width of both.
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
	return r.opt.chart == chartBehind && r.charts != nil && d.style >= full
}

// makeCharts finds the busy share of each row drawn in each bin; nil if that is not asked for.
func (k *sketches) makeCharts(ctx context.Context, rows []row) (*charts, error) {
	if k.opt.chart == chartNone {
		return nil, nil
	}
	c := &charts{}
	var err error
	if c.bars, err = k.exactBars(ctx, rows); err != nil {
		return nil, err
	}
	if c.bars == nil {
		c.shares, err = k.shares(ctx, k.states[0], rows, chartBins)
	}
	return c, err
}

// charts are the two-state chart of the rows drawn: bars where they are few enough
// to draw each, else shares in bins.
type charts struct {
	bars   [][]moment.Interval
	shares [][]float32
}

// mostBars bounds the bars that are drawn one by one.
const mostBars = 12_000

// exactBars returns every bar of every row; nil if they are too many, rows are
// groups, or a recorder kept no bars.
func (k *sketches) exactBars(ctx context.Context, rows []row) ([][]moment.Interval, error) {
	var ids []trace.LocationID
	at := map[trace.LocationID]int{}
	for i := range rows {
		if rows[i].group() || k.recorded != nil {
			return nil, nil
		}
		id := k.ids[rows[i].members[0]]
		at[id] = i
		ids = append(ids, id)
	}
	w := k.window(sorted(ids))
	if n, err := k.reader.Count(w); err != nil || n > 4*mostBars {
		return nil, err
	}
	out := make([][]moment.Interval, len(rows))
	err := scanBars(ctx, k.reader, k.states[0].state, w, func(id trace.LocationID, a, b trace.Time) {
		i, ok := at[id]
		if !ok {
			return
		}
		if n := len(out[i]); n > 0 && out[i][n-1].End == a {
			out[i][n-1].End = b
			return
		}
		out[i] = append(out[i], moment.Interval{Begin: a, End: b})
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

// sampled returns the members of a row that are looked at, evenly spread.
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

// shares returns the busy share of rows in n equal bins of the window.
func (k *sketches) shares(ctx context.Context, l *layer, rows []row, n int) ([][]float32, error) {
	begin, end := k.selection.Begin, k.selection.End
	c := &coverage{begin: begin, width: float64(end-begin) / float64(n)}
	of := map[trace.LocationID][]float32{}
	out := make([][]float32, len(rows))
	var ids []trace.LocationID
	for j := range rows {
		out[j] = make([]float32, n)
		for _, i := range rows[j].sampled() {
			of[k.ids[i]] = out[j]
			ids = append(ids, k.ids[i])
		}
	}
	if err := k.cover(ctx, l, c, ids, of); err != nil {
		return nil, err
	}
	for j := range rows {
		scale := 1 / float32(c.width*float64(len(rows[j].sampled())))
		for b := range out[j] {
			out[j][b] = min(out[j][b]*scale, 1)
		}
	}
	return out, nil
}

// cover adds up busy time per bin from whatever knows it. Members of one row share
// a slice, so bars come one row at a time or under a lock.
func (k *sketches) cover(ctx context.Context, l *layer, c *coverage, ids []trace.LocationID,
	of map[trace.LocationID][]float32) error {
	begin, end := k.selection.Begin, k.selection.End
	if l.bars != nil {
		for _, id := range ids {
			l.bars.index.Each(l.bars.row(id), begin, end, func(a, b trace.Time) { c.add(of[id], a, b, 1) })
		}
		return nil
	}
	if k.recorded != nil {
		for _, id := range ids {
			for _, m := range k.recorded.rows[id] {
				c.add(of[id], m.Begin, m.End, m.Weight/float64(max(m.End-m.Begin, 1)))
			}
		}
		return nil
	}
	ids = sorted(ids)
	w := k.window(ids)
	n, err := k.reader.Count(w)
	if err != nil {
		return err
	}
	if !l.state.whole || n <= fewIntervals {
		return scanBars(ctx, k.reader, l.state, w, func(id trace.LocationID, a, b trace.Time) {
			if bins := of[id]; bins != nil {
				c.mu.Lock()
				c.add(bins, a, b, 1)
				c.mu.Unlock()
			}
		})
	}
	level := max(0, bits.Len64(uint64(c.width))-1)
	return k.reader.Summaries(ctx, moment.Name, w, level, store.Visitor{
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

// drawChart draws the two-state chart: busy time is filled, and if a column stands for
// more than one state its height is the busy share.
func drawChart(s *scene.Scene, d *drawing, frame int, c *charts, bar scene.Colour) {
	rects := &scene.Rect{}
	f := &s.Frames[frame]
	columns := max(1, min(int(f.W), chartBins))
	for k := range max(len(c.bars), len(c.shares)) {
		pad := float32(0)
		if d.height >= full {
			pad = min(d.height*0.16, 4)
		}
		y := d.edge(k) + pad
		h := max(d.edge(k+1)-y-pad, 1)
		if c.bars != nil {
			for _, b := range c.bars[k] {
				x0, x1 := f.XPixel(float64(b.Begin)), f.XPixel(float64(b.End))
				rects.Add(x0, y, x1-x0, h, bar)
			}
			continue
		}
		share := folded(c.shares[k], columns)
		for i := 0; i < columns; {
			e := i + 1
			for e < columns && alike(share[e], share[i]) {
				e++
			}
			if share[i] > 0 {
				x0, x1 := f.X+f.W*float32(i)/float32(columns), f.X+f.W*float32(e)/float32(columns)
				rects.Add(x0, y+h*(1-share[i]), x1-x0, h*share[i], bar)
			}
			i = e
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
