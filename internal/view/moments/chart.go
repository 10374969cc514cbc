package moments

import (
	"context"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// chartBins is how finely the two-state chart cuts the window.
	chartBins = 1024
	// chartMembers bounds the members of a group that are looked at for a chart.
	chartMembers = 32
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
		c.shares, err = k.Shares(ctx, k.states[0], k.sampled(rows), chartBins)
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
	ids := make([]trace.LocationID, len(rows))
	for i := range rows {
		if rows[i].group() {
			return nil, nil
		}
		ids[i] = k.IDs[rows[i].members[0]]
	}
	return k.Bars(ctx, k.states[0].State, ids, mostBars)
}

// sampled returns the members of rows that are looked at, evenly spread.
func (k *sketches) sampled(rows []row) [][]trace.LocationID {
	out := make([][]trace.LocationID, len(rows))
	for j := range rows {
		n := len(rows[j].members)
		out[j] = make([]trace.LocationID, min(n, chartMembers))
		for i := range out[j] {
			out[j][i] = k.IDs[rows[j].members[i*n/len(out[j])]]
		}
	}
	return out
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
