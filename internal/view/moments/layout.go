package moments

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Sizes in pixels.
const (
	axisRoom  = scene.AxisHeight + 4
	edgeRoom  = 4
	rightRoom = 14
	keyRoom   = 26
	chartGap  = 28 // between the chart and the moments
	mostRow   = 88 // few rows fill their space
	// tiny pictures have no axis and no labels.
	tinyHeight, tinyWidth = 80, 240
	keyHeight, keyWidth   = 120, 300
	// furniture is the height of title, legend and notes in a file.
	furniture = 84
)

// ofRow is the item kind of a row, and a state of it.
const ofRow = 1

// A drawing is where rows are put.
type drawing struct {
	frame, chart scene.Frame
	y, height    float32 // of the first row, of each
	style        float32 // the height that decides which marks rows have; all have the same
}

func tiny(size scene.Size) bool { return size.Height < tinyHeight || size.Width < tinyWidth }

func hasKey(size scene.Size) bool { return size.Height >= keyHeight && size.Width >= keyWidth }

// room is the height that rows have in a picture with all its furniture.
func room(size scene.Size) float32 {
	h := plotHeight(size)
	if size.Height > 4*furniture {
		h -= furniture
	}
	return h
}

func plotHeight(size scene.Size) float32 {
	h := float32(max(size.Height, 1))
	if tiny(size) {
		return h
	}
	if hasKey(size) {
		h -= keyRoom
	}
	return h - axisRoom - edgeRoom
}

// rowHeight shares the height.
func rowHeight(room float32, rows int) float32 { return min(room/float32(max(rows, 1)), mostRow) }

// edge returns where row i begins: low rows on whole pixels, some a pixel higher than
// others, so that they fill the height and none is blurred.
func (d *drawing) edge(i int) float32 {
	y := d.y + float32(i)*d.height
	if d.height >= 1 && d.height < 4 {
		return float32(math.Round(float64(y)))
	}
	return y
}

// aimRows makes rows items over their whole width, state by state.
func aimRows(s *scene.Scene, d *drawing, rows, states int) {
	aims := &scene.Rect{}
	for k := range rows {
		top, high := d.edge(k), d.edge(k+1)-d.edge(k)
		for state := range states {
			aims.AddAim(0, top+high*float32(state)/float32(states), d.frame.X+d.frame.W, high/float32(states),
				s.Item(ofRow, k, state))
		}
	}
	s.AddLayer("items", -1, aims)
}

// Scene lays the result out.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := r.place(size)
	if r.chartBeside(size) {
		s.AddFrame(d.chart)
	}
	main := s.AddFrame(d.frame)
	if !tiny(size) {
		for i := range s.Frames {
			s.XAxis(i, scene.Axis{Unit: r.axisUnit()})
		}
	}
	aimRows(s, d, len(r.rows), len(r.states))
	switch {
	case main > 0:
		bar, _, _ := r.colours(r.states[0])
		drawChart(s, d, 0, r.charts, bar)
	case r.chartBehind(d):
		drawChart(s, d, main, r.charts, scene.UIAggregate)
	}
	p := newPen(r.sketches, &s.Frames[main], r.axis.length())
	p.narrow = r.opt.chart == chartBehind && r.charts != nil
	if r.projection != nil {
		bar, _, _ := r.colours(r.busy)
		drawProjection(s, d, main, r.projection, bar)
		s.Legend = r.projection.legend(d, bar)
	} else {
		p.rows(r.rows, d)
		s.Legend = r.legend(d, p.isCut)
	}
	p.addTo(s, main)
	drawOutliers(s, d, r.rows, s.Frames[main].X)
	if !tiny(size) {
		s.RowLabels(0, r.Arrangement().Gutter())
		if hasKey(size) {
			r.drawKey(s, d)
		}
	}
	for i := range s.Frames {
		r.Arrangement().DrawRows(s, i, r.drawnIDs())
	}
	r.Arrangement().Explain(s)
	s.Notes = r.notes
	return s
}

// drawnIDs returns a location of each row.
func (r *result) drawnIDs() []trace.LocationID {
	ids := make([]trace.LocationID, len(r.rows))
	for i := range r.rows {
		ids[i] = r.IDs[r.rows[i].members[0]]
	}
	return ids
}

func (r *result) axisUnit() string {
	if r.axis.counter == "" {
		return ""
	}
	return "count"
}

// place decides the frames and the height of rows.
func (r *result) place(size scene.Size) *drawing {
	d := &drawing{}
	f := scene.Frame{Name: "main", W: float32(max(size.Width, 1)), H: plotHeight(size)}
	f.XScale = scene.Scale{Kind: "time", Begin: r.axis.begin, End: r.axis.end, Label: "time"}
	if r.axis.counter != "" {
		f.XScale = scene.Scale{Kind: "linear", Begin: r.axis.begin, End: r.axis.end, Label: r.axis.counter}
	}
	f.YScale = scene.Scale{Kind: "rows", Begin: 0, End: float64(len(r.rows))}
	rows := make([]scene.Row, len(r.rows))
	for i := range r.rows {
		w := &r.rows[i]
		rows[i] = scene.Row{Location: uint32(w.node), Region: scene.NoID, Label: w.label, Count: len(w.members)}
	}
	if !tiny(size) {
		width := float32(size.Width)
		f.X, f.Y = min(scene.RowLabelWidth(rows, 260)+r.Arrangement().Gutter(), max(width/4, min(width/3, 124))),
			edgeRoom
		if hasKey(size) {
			f.Y += keyRoom
		}
		f.W = float32(size.Width) - f.X - rightRoom
	}
	d.y, d.height = f.Y, rowHeight(f.H, len(r.rows))
	d.style = d.height / float32(len(r.states))
	for i := range rows {
		rows[i].From, rows[i].To = d.edge(i), d.edge(i+1)
	}
	f.H = min(f.H, d.edge(len(rows))-d.y)
	f.YScale.Rows = rows
	if r.chartBeside(size) {
		d.chart = f
		d.chart.Name = "chart"
		d.chart.W = r.opt.chartWidth(f.W - chartGap)
		f.X, f.W = f.X+d.chart.W+chartGap, f.W-chartGap-d.chart.W
	}
	d.frame = f
	return d
}

// describe returns a sentence on the picture.
func (r *result) describe() string {
	marked := 0
	for i := range r.rows {
		if r.rows[i].outlier.StandsOut() {
			marked++
		}
	}
	return fmt.Sprintf("Moments of busy time of %s in %s from %s to %s; %d stand out.",
		view.Count(len(r.IDs), "location"),
		view.Count(len(r.rows), "row"),
		view.FormatTime(r.Selection.Begin), view.FormatTime(r.Selection.End), marked)
}

// legend explains the colours; the key in the picture explains the marks.
func (r *result) legend(d *drawing, cut bool) []scene.LegendEntry {
	var out []scene.LegendEntry
	for _, l := range r.states {
		bar, _, _ := r.colours(l)
		label := "busy time (m0)"
		if len(r.states) > 1 || l != r.busy {
			label = l.State.Name + " (m0)"
		}
		out = append(out, plot.Key(label, bar))
	}
	_, reach, flags := r.colours(r.states[0])
	out = append(out, plot.FlaggedKey("likely range (m1 ± m2)", reach, flags))
	if d.style < thin {
		skew := "end of the skew (m3)"
		if cut {
			skew += ", or beyond the axis"
		}
		out = append(out, plot.Key("mean (m1)", r.ink()), plot.Key(skew, scene.UIWarning))
	} else {
		out = append(out, plot.Key("mean (m1), skew (m3)", r.ink()))
	}
	if r.chartBehind(d) {
		out = append(out, plot.Key("when it was busy", scene.UIAggregate))
	}
	if slices.ContainsFunc(r.rows, func(w row) bool { return w.group() }) {
		out = append(out, plot.Key("m1 of the middle 80 % per group", scene.UIAccent))
	}
	if slices.ContainsFunc(r.rows, func(w row) bool { return w.outlier.StandsOut() }) {
		out = append(out, plot.Key("stands out from its peers", scene.UIError))
	}
	if cut && d.style >= thin {
		out = append(out, plot.Key("goes on beyond the axis", scene.UIWarning))
	}
	return out
}

// ink is the colour of ticks and skew lines.
func (k *sketches) ink() scene.Colour {
	if k.opt.paper {
		return scene.PaperBlack
	}
	return scene.UIText
}
