package timeline

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A drawing says where things are put: rows down, time to the right.
type drawing struct {
	frame      area
	rows       []band
	begin, end trace.Time // of the window
	axisEnd    trace.Time
}

// A band is where a row was put: strips and counters of it from the top.
type band struct {
	from, to float32
	strips   []stripBand
	counters []stripBand // index into the list of counters
}

type stripBand struct {
	from, to float32
	index    int
}

// x returns the place of a time.
func (d *drawing) x(t trace.Time) float32 {
	return d.frame.x + float32(float64(t-d.begin)/float64(d.axisEnd-d.begin)*float64(d.frame.w))
}

// right is the right edge of the plot area.
func (d *drawing) right() float32 { return d.frame.x + d.frame.w }

// Scene lays the result out.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := placeRows(size, r.input, r.plan, r.content, r.labelWidth)
	s.AddFrame(frameOf(d, r.plan, r.counters.list))
	if !tiny(size) {
		s.XAxis(0, scene.Axis{})
		drawSeparators(s, d, r.rows)
	}
	aimRows(s, d, r.content)
	drawGroups(s, d, r.groups, r.fullShare, r.inks)
	drawStrips(s, d, r.leaves, r.grid, r.inks)
	drawCounters(s, d, r.counters.list)
	drawInstants(s, d, r.marks, r.regions, r.reader.Info().Intervals == 0)
	drawLinks(s, d, r.links)
	drawCritical(s, d, r.critical.drawn())
	if !tiny(size) {
		s.RowLabels(0, max(4, r.Arrangement().Gutter()))
	}
	if len(r.critical.drawn()) > 0 {
		s.Legend = append(s.Legend, plot.Key("critical path", criticalColour))
	}
	s.Legend = append(s.Legend, legend(r.content, r.inks)...)
	r.Arrangement().DrawScaleRows(s, 0)
	r.Arrangement().Explain(s)
	s.Notes = r.notes
	return s
}

// frameOf describes the directions of the picture.
func frameOf(d *drawing, p *plan, counters []*series) scene.Frame {
	f := scene.Frame{
		Name: "main", X: d.frame.x, Y: d.frame.y, W: d.frame.w, H: d.frame.h,
		XScale: scene.Scale{Kind: "time", Begin: float64(d.begin), End: float64(d.axisEnd), Label: "time"},
		YScale: scene.Scale{Kind: "rows", Begin: float64(p.first), End: float64(p.total)},
	}
	for i := range p.rows {
		b := &d.rows[i]
		row := p.rows[i].sceneRow()
		row.From, row.To = b.from, b.to-float32(len(b.counters)*counterHeight)
		f.YScale.Rows = append(f.YScale.Rows, row)
		for _, at := range b.counters {
			c := counters[at.index]
			f.YScale.Rows = append(f.YScale.Rows, scene.Row{From: at.from - 2, To: at.to + 2,
				Location: uint32(c.location), Region: scene.NoID, Label: c.name, Level: p.rows[i].level + 1, Count: 1})
		}
	}
	return f
}

// describe returns a sentence on the picture.
func (r *result) describe() string {
	what := "the innermost region"
	if r.levels > 0 {
		what = fmt.Sprintf("%d levels of regions", r.levels)
	}
	return fmt.Sprintf("Timeline of %s rows from %s to %s: %s of each location over time.",
		view.Thousands(int64(len(r.rows))),
		view.FormatTime(r.selection.Begin), view.FormatTime(r.selection.End), what)
}

func (w *row) sceneRow() scene.Row {
	row := scene.Row{Location: uint32(w.location), Region: scene.NoID, Label: w.label, Count: w.count, Level: w.level,
		Open: w.kind == header, Folded: w.kind == folded}
	if w.kind == folded && w.location != trace.NoLocation {
		row.Label += " (" + view.Thousands(int64(w.count)) + ")"
	}
	if w.location == trace.NoLocation { // a run of neighbours cannot be opened by itself
		row.Location, row.Folded = scene.NoID, false
		row.Label += " (" + view.Thousands(int64(w.count)) + ")"
	}
	return row
}

// placeRows gives every row its height: each kind has a least and a most, and the rest
// between them is shared in proportion. Few rows grow past their most rather than leave
// a part of the picture blank.
func placeRows(size scene.Size, in *input, p *plan, c *content, labelWidth float32) *drawing {
	d := &drawing{frame: in.frame(size, labelWidth), rows: make([]band, len(p.rows)), begin: in.selection.Begin,
		end: in.selection.End, axisEnd: in.axisEnd}
	bounds := make([]bound, len(p.rows))
	for i := range bounds {
		bounds[i] = boundOf(&p.rows[i], c.leaves[i], i < p.pinned)
	}
	raiseGPUs(in.reader.Locations(), p.rows, bounds, d.frame.h)
	counters := float32(len(c.counters.list) * counterHeight)
	y := d.frame.y
	for i, h := range heights(bounds, max(d.frame.h-counters, d.frame.h/2)) {
		if p.rows[i].kind == header {
			h = min(h, mostHeader)
		}
		d.rows[i] = placeRow(c.leaves[i], y, h)
		for k, c := range c.counters.list {
			if c.row == i {
				d.rows[i].addCounter(k)
			}
		}
		y = d.rows[i].to
	}
	d.frame.h = min(y-d.frame.y, d.frame.h)
	return d
}

// A bound is the least and the most height of a row without its counters.
type bound struct{ least, most float32 }

// heights shares space among rows: every row has the room for a label, heads of groups too, before any has
// more, where there is so much.
func heights(bounds []bound, space float32) []float32 {
	label := labelHeight(bounds, space)
	least, most := float32(0), float32(0)
	for i := range bounds {
		b := &bounds[i]
		b.least = max(b.least, label)
		b.most = max(b.least, b.most)
		least, most = least+b.least, most+b.most
	}
	grow, shrink := float32(0), float32(1)
	switch {
	case least > space:
		shrink = space / least
	case most > least:
		grow = min((space-least)/(most-least), mostGrow)
	}
	out := make([]float32, len(bounds))
	for i, b := range bounds {
		out[i] = b.least*shrink + (b.most-b.least)*grow
	}
	return out
}

// labelHeight is the room for a label that every row has; 0 if there is not so much.
func labelHeight(bounds []bound, space float32) float32 {
	for h := float32(scene.RowLabelPitch); h > scene.RowLabelPitch-1; h -= 0.25 {
		sum := float32(0)
		for _, b := range bounds {
			sum += max(b.least, h)
		}
		if sum <= space {
			return h
		}
	}
	return 0
}

// boundOf returns the heights of a row. Rows that are pinned have the room for a label: who
// looks for one does not want a line of three pixels.
func boundOf(w *row, l *strips, pinned bool) bound {
	b := bound{leastLeaf, mostLeaf}
	switch {
	case w.kind == header:
		b = bound{w.headerHeight(), mostHeader}
	case w.kind == folded:
		b = bound{leastGroup, mostGroup}
	case l == nil:
		b = bound{leastLeaf, mostGroup}
	case l.levels > 0:
		n := float32(max(1, len(l.list)))
		b = bound{leastLevel*n + 1, mostLevel*n + 6}
	case l.split && l.lanes > 1:
		n := float32(l.lanes)
		b = bound{leastLane * n, mostLane*n + 4}
	}
	if pinned {
		b.least = max(b.least, leastPinned)
		b.most = max(b.most, b.least)
	}
	return b
}

// raiseGPUs makes GPUs the tallest rows: as tall as threads with their levels of nesting, where GPUs take no more than
// half of the space by that, else as far as all rows have the height of a label next to them.
func raiseGPUs(t *store.Tree, rows []row, bounds []bound, space float32) {
	tallest, grows := bound{leastGPU, mostGPU}, float32(0)
	for i := range rows {
		if w := &rows[i]; w.kind == leaf && !w.isGPU(t) {
			tallest.least = max(tallest.least, bounds[i].least)
			grows = max(grows, bounds[i].most-bounds[i].least)
		}
	}
	tallest.most = max(tallest.most, tallest.least+grows)
	for _, to := range []bound{tallest, {leastGPU, mostGPU}} {
		raised, sum, gpus := slices.Clone(bounds), float32(0), float32(0)
		for i := range rows {
			b := &raised[i]
			if w := &rows[i]; w.kind != header && w.isGPU(t) {
				*b = bound{max(b.least, to.least), max(b.most, to.most)}
				gpus += b.least
			}
			sum += max(b.least, scene.RowLabelPitch-1)
		}
		if sum <= space && (to != tallest || 2*gpus <= space) {
			copy(bounds, raised)
			return
		}
	}
}

// placeRow puts strips into a row.
func placeRow(l *strips, y, h float32) band {
	b := band{from: y, to: y + h}
	if l != nil && len(l.list) > 0 {
		pad := rowPad(h)
		each := (h - 2*pad) / float32(len(l.list))
		for k := range l.list {
			from := y + pad + float32(k)*each
			b.strips = append(b.strips, stripBand{from, from + each - stripGap(each, len(l.list)), k})
		}
	}
	return b
}

// addCounter puts a counter below a row.
func (b *band) addCounter(index int) {
	b.counters = append(b.counters, stripBand{b.to + 2, b.to + counterHeight - 2, index})
	b.to += counterHeight
}

// rowPad is the distance of a row's content from its edges.
func rowPad(h float32) float32 {
	switch {
	case h >= 16:
		return 2
	case h >= 5:
		return 1
	}
	return 0
}

func stripGap(h float32, n int) float32 {
	if n > 1 && h >= 6 {
		return 1
	}
	return 0
}

// drawSeparators draws a hairline over each group at the top, so that the eye
// finds who belongs together.
func drawSeparators(s *scene.Scene, d *drawing, rows []row) {
	lines := &scene.Line{Width: 1}
	for i := range rows {
		b := d.rows[i]
		if i > 0 && (rows[i].kind != leaf || rows[i-1].level > rows[i].level || b.to-b.from >= 12) {
			lines.Add(d.frame.x, b.from, d.right(), b.from, scene.UIGrid)
		}
	}
	s.AddLayer("separators", 0, lines)
}
