package moments

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
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
	mostRow   = 40
	// full is the height from which a row has all its marks; below it shows what fits.
	full = 8
	// tiny pictures have no axis and no labels.
	tinyHeight, tinyWidth = 80, 240
	keyHeight, keyWidth   = 220, 620
	// furniture is what title, legend and notes take in a file.
	furniture = 84
)

// A drawing remembers where rows were put, for Pick.
type drawing struct {
	frame, chart scene.Frame
	y, height    float32 // of the first row, of each
}

func tiny(size scene.Size) bool { return size.Height < tinyHeight || size.Width < tinyWidth }

func hasKey(size scene.Size) bool { return size.Height >= keyHeight && size.Width >= keyWidth }

// room is the height that rows have in a picture with all its furniture.
func (r *result) room(size scene.Size) float32 {
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

// rowHeight shares the height; the lowest rows have whole pixels, so that they look alike.
func rowHeight(room float32, rows int) float32 {
	h := min(room/float32(max(rows, 1)), mostRow)
	if h > 1 && h < 2 {
		h = float32(math.Floor(float64(h)))
	}
	return h
}

// Scene lays the result out.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := r.place(size)
	r.drawn = d
	if r.chartWanted(size) {
		s.AddFrame(d.chart)
	}
	main := s.AddFrame(d.frame)
	if !tiny(size) {
		for i := range s.Frames {
			s.XAxis(i, scene.Axis{Unit: r.axisUnit()})
		}
	}
	if main > 0 {
		r.drawChart(s, d)
	}
	r.drawRows(s, d, main)
	if !tiny(size) {
		s.RowLabels(0, r.Arrangement().Gutter())
		if hasKey(size) {
			r.drawKey(s, d)
		}
	}
	s.Legend = r.legend()
	for i := range s.Frames {
		r.Arrangement().DrawRows(s, i, r.drawnIDs())
	}
	r.Arrangement().Explain(s)
	s.Notes = r.notes
	return s
}

// drawnIDs gives a location of each row.
func (r *result) drawnIDs() []trace.LocationID {
	ids := make([]trace.LocationID, len(r.rows))
	for i := range r.rows {
		ids[i] = r.ids[r.rows[i].members[0]]
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
	f.XScale = scene.Scale{Kind: "time", Begin: r.axis.begin, End: r.axis.end}
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
		f.X, f.Y = min(scene.RowLabelWidth(rows, 260)+r.Arrangement().Gutter(), max(width/4, min(width/3, 124))), edgeRoom
		if hasKey(size) {
			f.Y += keyRoom
		}
		f.W = float32(size.Width) - f.X - rightRoom
	}
	d.y, d.height = f.Y, rowHeight(f.H, len(r.rows))
	for i := range rows {
		rows[i].From = d.y + float32(i)*d.height
		rows[i].To = rows[i].From + d.height
	}
	f.H = min(f.H, d.height*float32(len(rows)))
	f.YScale.Rows = rows
	if r.chartWanted(size) {
		d.chart = f
		d.chart.Name = "chart"
		d.chart.W = (f.W - chartGap) / 2
		f.X, f.W = f.X+d.chart.W+chartGap, d.chart.W
	}
	d.frame = f
	return d
}

// describe says in a sentence what the picture shows.
func (r *result) describe() string {
	marked := 0
	for i := range r.rows {
		if r.rows[i].outlier.StandsOut() {
			marked++
		}
	}
	return fmt.Sprintf("Moments of busy time of %s in %s from %s to %s; %d stand out.", plural(len(r.ids), "location"), plural(len(r.rows), "row"),
		view.FormatTime(r.selection.Begin), view.FormatTime(r.selection.End), marked)
}

// legend explains the colours; the key in the picture explains the marks.
func (r *result) legend() []scene.LegendEntry {
	entry := func(label string, c scene.Colour, flags scene.Flag) scene.LegendEntry {
		return scene.LegendEntry{Label: label, Colour: c, Region: scene.NoID, Parent: scene.NoID, Flags: flags}
	}
	var out []scene.LegendEntry
	for _, l := range r.states {
		bar, _, _ := r.colours(l)
		label := "busy time (m0)"
		if len(r.states) > 1 || l != r.busy {
			label = l.state.name + " (m0)"
		}
		out = append(out, entry(label, bar, 0))
	}
	_, reach, flags := r.colours(r.states[0])
	out = append(out, entry("likely range (m1 ± m2)", reach, flags), entry("mean (m1), skew (m3)", r.ink(), 0))
	for i := range r.rows {
		if r.rows[i].group() {
			out = append(out, entry("m1 of the middle 80 % of a group", scene.UIAccent, 0))
			break
		}
	}
	for i := range r.rows {
		if r.rows[i].outlier.StandsOut() {
			out = append(out, entry("stands out from its peers", scene.UIError, 0))
			break
		}
	}
	if r.leavesAxis() {
		out = append(out, entry("goes on beyond the axis", scene.UIWarning, 0))
	}
	return out
}

func (r *result) leavesAxis() bool {
	for i := range r.rows {
		for _, m := range r.rows[i].moments {
			if lo, hi := reachOf(m); !m.Empty() && (lo < 0 || hi > r.axis.length()) {
				return true
			}
		}
	}
	return false
}

// ink is the colour of ticks and skew lines.
func (r *result) ink() scene.Colour {
	if r.opt.paper {
		return scene.PaperBlack
	}
	return scene.UIText
}
