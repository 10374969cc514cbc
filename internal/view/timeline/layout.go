package timeline

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A drawing says where things are put.
type drawing struct {
	size  scene.Size
	frame area
	rows  []band
}

// A band is where a row was put: strips and counters of it from the top.
type band struct {
	from, to float32
	strips   []stripBand
	counters []stripBand // index into result.series
}

type stripBand struct {
	from, to float32
	index    int
}

// Scene lays the result out.
func (r *result) Scene(size scene.Size) *scene.Scene { return (&painter{r}).scene(size) }

func (r *painter) scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := r.place(size)
	f := scene.Frame{
		Name: "main", X: d.frame.x, Y: d.frame.y, W: d.frame.w, H: d.frame.h,
		XScale: scene.Scale{Kind: "time", Begin: float64(r.selection.Begin), End: float64(r.axisEnd), Label: "time"},
		YScale: scene.Scale{Kind: "rows", Begin: float64(r.first), End: float64(r.total)},
	}
	for i := range r.rows {
		row := r.sceneRow(i)
		row.From, row.To = d.rows[i].from, d.rows[i].to-float32(len(d.rows[i].counters)*counterHeight)
		f.YScale.Rows = append(f.YScale.Rows, row)
		for _, c := range d.rows[i].counters {
			f.YScale.Rows = append(f.YScale.Rows, r.counterRow(i, c))
		}
	}
	s.AddFrame(f)
	if !tiny(size) {
		s.XAxis(0, scene.Axis{})
		r.drawSeparators(s, d)
	}
	r.aimRows(s, d)
	r.drawGroups(s, d)
	r.drawStrips(s, d)
	r.drawCounters(s, d)
	r.drawInstants(s, d)
	r.drawLinks(s, d)
	r.drawCritical(s, d)
	if !tiny(size) {
		s.RowLabels(0, max(4, r.Arrangement().Gutter()))
	}
	s.Legend = r.legend()
	if r.critical != nil && len(r.critical.list) > 0 {
		s.Legend = append([]scene.LegendEntry{entry("critical path", criticalColour)}, s.Legend...)
	}
	r.Arrangement().DrawScaleRows(s, 0)
	r.Arrangement().Explain(s)
	s.Notes = r.notes
	return s
}

// describe says in a sentence what the picture shows.
func (r *painter) describe() string {
	what := "the innermost region"
	if n := r.levels(); n > 0 {
		what = fmt.Sprintf("%d levels of regions", n)
	}
	return fmt.Sprintf("Timeline of %s rows from %s to %s: %s of each location over time.",
		view.Thousands(int64(len(r.rows))),
		view.FormatTime(r.selection.Begin), view.FormatTime(r.selection.End), what)
}

func (r *result) sceneRow(i int) scene.Row {
	w := &r.rows[i]
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

// counterRow is the row of a counter below row i.
func (r *painter) counterRow(i int, b stripBand) scene.Row {
	c := r.series[b.index]
	return scene.Row{From: b.from - 2, To: b.to + 2, Location: uint32(c.location), Region: scene.NoID, Label: c.name,
		Level: r.rows[i].level + 1, Count: 1}
}

// place gives every row its height: each kind has a least and a most, and what
// is left between them is shared in proportion. Few rows grow past their most rather
// than leave a part of the picture blank.
func (r *painter) place(size scene.Size) *drawing {
	d := &drawing{size: size, frame: r.frame(size), rows: make([]band, len(r.rows))}
	counters := float32(len(r.series) * counterHeight)
	space := max(d.frame.h-counters, d.frame.h/2)
	label := r.labelHeight(space)
	bounds := func(i int) (least, most float32) {
		least, most = r.bounds(i)
		least = max(least, label)
		return least, max(least, most)
	}
	least, most := float32(0), float32(0)
	for i := range r.rows {
		a, b := bounds(i)
		least, most = least+a, most+b
	}
	grow, shrink := float32(0), float32(1)
	switch {
	case least > space:
		shrink = space / least
	case most > least:
		grow = min((space-least)/(most-least), mostGrow)
	}
	y := d.frame.y
	for i := range r.rows {
		a, b := bounds(i)
		h := a*shrink + (b-a)*grow
		if r.rows[i].kind == header {
			h = min(h, mostHeader)
		}
		d.rows[i] = r.placeRow(i, y, h)
		y = d.rows[i].to
	}
	d.frame.h = min(y-d.frame.y, d.frame.h)
	return d
}

// labelHeight is the room for a label that every row has, heads of groups too, before any has more; 0 where
// there is not so much.
func (r *painter) labelHeight(space float32) float32 {
	for h := float32(scene.RowLabelPitch); h > scene.RowLabelPitch-1; h -= 0.25 {
		sum := float32(0)
		for i := range r.rows {
			least, _ := r.bounds(i)
			sum += max(least, h)
		}
		if sum <= space {
			return h
		}
	}
	return 0
}

// bounds gives the least and the most height of a row without its counters. Rows that are
// pinned have the room for a label: who looks for one does not want a line of three pixels.
func (r *painter) bounds(i int) (least, most float32) {
	least, most = r.boundsOf(i)
	if i < r.pinned {
		least = max(least, leastPinned)
		most = max(most, least)
	}
	return least, most
}

func (r *painter) boundsOf(i int) (least, most float32) {
	w := &r.rows[i]
	switch {
	case w.kind == header:
		return w.headerHeight(), mostHeader
	case w.kind == folded:
		return leastGroup, mostGroup
	case r.leaves[i] == nil:
		return leastLeaf, mostGroup
	case r.leaves[i].levels > 0:
		n := float32(max(1, len(r.leaves[i].list)))
		return leastLevel*n + 1, mostLevel*n + 6
	case r.leaves[i].split && r.leaves[i].lanes > 1:
		n := float32(r.leaves[i].lanes)
		return leastLane * n, mostLane*n + 4
	}
	return leastLeaf, mostLeaf
}

// placeRow puts strips and counters into a row.
func (r *painter) placeRow(i int, y, h float32) band {
	b := band{from: y, to: y + h}
	if s := r.leaves[i]; s != nil && len(s.list) > 0 {
		pad := rowPad(h)
		each := (h - 2*pad) / float32(len(s.list))
		for k := range s.list {
			from := y + pad + float32(k)*each
			b.strips = append(b.strips, stripBand{from, from + each - stripGap(each, len(s.list)), k})
		}
	}
	for k, c := range r.series {
		if c.row == i {
			b.counters = append(b.counters, stripBand{b.to + 2, b.to + counterHeight - 2, k})
			b.to += counterHeight
		}
	}
	return b
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

// x gives the place of a time.
func (d *drawing) x(r *result, t trace.Time) float32 {
	begin, length := r.selection.Begin, r.axisEnd-r.selection.Begin
	return d.frame.x + float32(float64(t-begin)/float64(length)*float64(d.frame.w))
}

// drawSeparators draws a hairline over each group at the top, so that the eye
// finds who belongs together.
func (r *painter) drawSeparators(s *scene.Scene, d *drawing) {
	lines := &scene.Line{Width: 1}
	for i := range r.rows {
		b := d.rows[i]
		if i > 0 && (r.rows[i].kind != leaf || r.rows[i-1].level > r.rows[i].level || b.to-b.from >= 12) {
			lines.Add(d.frame.x, b.from, d.frame.x+d.frame.w, b.from, scene.UIGrid)
		}
	}
	s.AddLayer("separators", 0, lines)
}
