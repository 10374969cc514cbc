package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Bounds of a scene, which together keep it below 2 MB.
const (
	mostRects  = 30000 // 23 bytes each
	mostLabels = 300   // more is noise; the widest have them
	labelWidth = 34    // least width of a span with a label
	// quarters is the number of steps in which the height of an aggregate shows the share of
	// its time with something open.
	quarters = 4
)

// subRows is how many cells high a strip of an image is.
func subRows(height float32) int {
	switch {
	case height >= 8:
		return quarters
	case height >= 3:
		return 2
	}
	return 1
}

// drawStrips draws the rows of single locations: rectangles where they are few, else an
// image of one cell per bin.
func drawStrips(s *scene.Scene, d *drawing, leaves []*strips, g grid, inks *inks) {
	rects, aims := &scene.Rect{}, &scene.Rect{}
	var marks []scene.Mark
	var labels []label
	n := 0
	for _, l := range leaves {
		if l != nil {
			n += len(l.list)
		}
	}
	each := max(150, mostRects/max(1, n))
	left := mostRects
	for i, l := range leaves {
		if l == nil {
			continue
		}
		for _, b := range d.rows[i].strips {
			runs, first, few := mergeFew(l.list[b.index].spans, min(each, left), inks.alike)
			if !few {
				m := imageOf(d, b, g, l.list[b.index].spans, inks)
				m.Of, m.At = ofCell, [2]int32{int32(i), int32(b.index)}
				marks = append(marks, m)
				continue
			}
			left -= len(runs)
			item := func(k int) uint32 { return s.Item(ofSpan, i, b.index, int(first[k])) }
			labels = drawRuns(d, b, runs, inks, item, rects, aims, labels)
		}
	}
	s.AddLayer("spans", 0, append(marks, aims, rects, writeLabels(labels, inks.regions))...)
}

// merge joins neighbouring aggregates that are alike; counts add up.
func merge(spans []span, alike func(a, b *span) bool) []span {
	out, _, _ := mergeFew(spans, len(spans), alike)
	return out
}

// mergeFew does the same, says which was the first of each, and gives up where more than most
// are left.
func mergeFew(spans []span, most int, alike func(a, b *span) bool) (out []span, first []int32, few bool) {
	out = make([]span, 0, min(len(spans), most))
	for i := range spans {
		s := &spans[i]
		if n := len(out); n > 0 && joins(&out[n-1], s, alike) {
			out[n-1].join(s)
			continue
		}
		if len(out) == most {
			return nil, nil, false
		}
		out, first = append(out, *s), append(first, int32(i))
	}
	return out, first, true
}

// joins reports whether an aggregate goes on in the next span.
func joins(a, b *span, alike func(a, b *span) bool) bool {
	return b.aggregate() && a.aggregate() && a.end == b.begin && alike(a, b)
}

// join adds the next aggregate to one.
func (s *span) join(next *span) {
	s.end, s.open, s.longest = next.end, s.open+next.open, max(s.longest, next.longest)
	s.count = uint32(min(uint64(s.count)+uint64(next.count), math.MaxUint32))
}

// cover is how many quarters of the height a span fills: an interval all, an
// aggregate by the part of its time in which anything is open, at least one.
// Annotations with nothing under them are low: the location does nothing then.
func cover(s *span) int {
	switch {
	case s.role == trace.RoleAnnotation:
		return 1
	case !s.aggregate() || s.end <= s.begin:
		return quarters
	}
	share := float64(s.open) / float64(s.end-s.begin)
	return min(max(1, int(math.Ceil(share*quarters-0.02))), quarters)
}

// drawRuns draws the spans of a strip, and adds the labels that they may have.
func drawRuns(d *drawing, b stripBand, runs []span, inks *inks, item func(k int) uint32, rects, aims *scene.Rect,
	labels []label) []label {
	h := b.to - b.from
	var ticks []int // empty intervals, drawn over the others
	for i := range runs {
		s := &runs[i]
		if s.begin == s.end && !s.aggregate() {
			ticks = append(ticks, i)
			continue
		}
		x0, x1 := d.x(s.begin), d.x(s.end)
		colour := inks.span(s)
		part := max(h*float32(cover(s))/quarters, min(h, 1))
		width := max(x1-x0, 0.5)
		if i+1 < len(runs) && width > 4 && runs[i+1].begin == s.end && !s.aggregate() &&
			inks.span(&runs[i+1]) == colour {
			width-- // so that two calls of a region do not look like one
		}
		rects.Add(x0, b.to-part, width, part, colour)
		rects.SetItem(item(i))
		if part < h { // it is found over its whole height
			aims.AddAim(x0, b.from, width, h-part, rects.Items[rects.Len()-1])
		}
		if s.aggregate() {
			rects.SetFlags(scene.Aggregated)
			rects.SetCount(s.count)
			continue
		}
		x0, x1 = max(x0, d.frame.x), min(x1, d.right())
		if x1-x0 >= labelWidth && h >= labelSize+1 && s.region != trace.NoRegion {
			labels = append(labels,
				label{x: x0 + 4, width: x1 - x0 - 8, b: b, region: s.region, fill: colour, low: cover(s) < quarters})
		}
	}
	for _, i := range ticks {
		rects.Add(d.x(runs[i].begin), b.from, 1, h, inks.span(&runs[i]))
		rects.SetItem(item(i))
	}
	return labels
}

// A label is the name of an interval that may be written into it.
type label struct {
	x, width float32
	b        stripBand
	region   trace.RegionID
	fill     scene.Colour
	low      bool // the text stands over a low bar
}

// writeLabels puts names into the widest intervals, shortened to fit.
func writeLabels(labels []label, regions []trace.Region) *scene.Text {
	if len(labels) > mostLabels {
		slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(b.width, a.width) })
		labels = labels[:mostLabels]
	}
	text := &scene.Text{Size: labelSize}
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = regions[l.region].Name
	}
	apart := scene.NewApart(names)
	for i, l := range labels {
		name := apart.Shorten(names[i], l.width, labelSize)
		if name == "" {
			continue
		}
		ink, y := scene.Ink(l.fill), (l.b.from+l.b.to)/2+scene.TextAscent(labelSize)/2
		if l.low {
			ink, y = scene.UITextMuted, min(y, l.b.to-(l.b.to-l.b.from)/quarters-2)
		}
		text.Add(l.x, y, name, ink, scene.Start)
	}
	return text
}

// imageOf draws a strip as cells: one column per bin, filled from the bottom by the
// share of the time with something open.
func imageOf(d *drawing, b stripBand, g grid, spans []span, inks *inks) *scene.Image {
	first := g.bin(g.begin)
	sub := subRows(b.to - b.from)
	m := &scene.Image{Columns: g.bins(), Rows: sub, Y: b.from, H: b.to - b.from}
	m.X = d.x(g.binBegin(first))
	m.W = d.x(g.binBegin(first+int64(m.Columns))) - m.X
	m.Cells = make([]scene.Colour, m.Columns*sub)
	for i := range m.Cells {
		m.Cells[i] = scene.None
	}
	most := make([]trace.Time, m.Columns) // of the piece that the column shows
	for i := range spans {
		s := &spans[i]
		colour := inks.span(s)
		high := max(1, cover(s)*sub/quarters)
		from := max(s.begin, g.binBegin(first))
		for k := int(g.bin(from) - first); k < m.Columns; k++ {
			next := g.binBegin(first + int64(k) + 1)
			if part := min(s.end, next) - from; part >= most[k] {
				most[k] = part
				at := k
				for y := sub - 1; y >= 0; y, at = y-1, at+m.Columns { // from the top
					if y < high {
						m.Cells[at] = colour
					} else {
						m.Cells[at] = scene.None
					}
				}
			}
			if from = next; from >= s.end {
				break
			}
		}
	}
	return m
}

// roleOrder is the stack of a group from the bottom: busy first.
var roleOrder = []trace.Role{
	trace.RoleCompute, trace.RoleIO, trace.RoleCopy, trace.RoleCommunication,
	trace.RoleSynchronization, trace.RoleOverhead, trace.RoleIdle, trace.RoleAnnotation,
}

// drawGroups draws rows of groups as stacked shares. Each role is an outline
// down to the row's lower edge, the highest first, so that the next one covers
// its lower part: half the corners of bands.
func drawGroups(s *scene.Scene, d *drawing, groups []*stack, fullShare float64, inks *inks) {
	shapes := &scene.Polygon{}
	for i, g := range groups {
		if g == nil {
			continue
		}
		pad := rowPad(d.rows[i].to - d.rows[i].from)
		bottom := d.rows[i].to - float32(len(d.rows[i].counters)*counterHeight) - pad
		drawStack(d, g, band{from: d.rows[i].from + pad, to: bottom}, fullShare, inks, shapes)
	}
	s.AddLayer("groups", 0, shapes)
}

func drawStack(d *drawing, g *stack, b band, fullShare float64, inks *inks, shapes *scene.Polygon) {
	bottom := b.to
	sums := make([]float64, g.bins)
	tops := make([][]float32, 0, len(roleOrder))
	colours := make([]scene.Colour, 0, len(roleOrder))
	for _, role := range roleOrder {
		any := false
		ys := make([]float32, g.bins)
		for k := range ys {
			share := g.share(k, role)
			any = any || share > 0
			sums[k] += share
			ys[k] = bottom - float32(min(sums[k]/fullShare, 1))*(bottom-b.from)
		}
		if !any {
			continue
		}
		colour := inks.role(role)
		if n := len(colours); n > 0 && colours[n-1] == colour { // busy or idle: one band
			tops[n-1] = ys
			continue
		}
		tops, colours = append(tops, ys), append(colours, colour)
	}
	for k := len(tops) - 1; k >= 0; k-- {
		xs, ys := outline(d, g, tops[k], bottom)
		if len(xs) > 2 {
			shapes.Add(xs, ys, colours[k])
		}
	}
}

// outline returns the steps of one role. Steps that differ by less than an eighth
// of a pixel are one.
func outline(d *drawing, g *stack, tops []float32, bottom float32) (xs, ys []float32) {
	level := bottom
	add := func(x, y float32) { xs, ys = append(xs, x), append(ys, y) }
	add(d.x(g.begin(0)), bottom)
	for b, y := range tops {
		if diff := y - level; diff < 0.125 && diff > -0.125 && !(y == bottom && level != bottom) {
			continue
		}
		x := d.x(g.begin(b))
		add(x, level)
		add(x, y)
		level = y
	}
	end := d.x(g.begin(g.bins))
	add(end, level)
	add(end, bottom)
	return xs, ys
}

// drawCounters draws counters as lines, from the least to the greatest value of
// each bin.
func drawCounters(s *scene.Scene, d *drawing, list []*series) {
	paths, text := &scene.Path{Width: 1}, &scene.Text{Size: labelSize}
	for _, b := range d.rows {
		for _, c := range b.counters {
			drawCounter(d, list[c.index], c, paths, text)
		}
	}
	s.AddLayer("counters", 0, paths)
	s.AddLayer("counter labels", 0, text)
}

func drawCounter(d *drawing, c *series, b stripBand, paths *scene.Path, text *scene.Text) {
	if c.min > c.max {
		return
	}
	span := c.max - c.min
	y := func(v float64) float32 {
		if span == 0 {
			return (b.from + b.to) / 2
		}
		return b.to - float32((v-c.min)/span)*(b.to-b.from)
	}
	var xs, ys []float32
	first := c.grid.bin(c.grid.begin)
	for i := range c.low {
		if math.IsNaN(c.low[i]) {
			continue
		}
		x := d.x(c.grid.binBegin(first+int64(i)) + trace.Time(1)<<c.grid.level/2)
		if c.high[i] > c.low[i] {
			xs, ys = append(xs, x), append(ys, y(c.high[i]))
		}
		xs, ys = append(xs, x), append(ys, y(c.low[i]))
	}
	if len(xs) == 1 {
		xs, ys = append(xs, d.right()), append(ys, ys[0])
	}
	paths.Add(xs, ys, scene.UIData)
	text.Add(d.frame.x+4, b.from+labelSize-1, counterRange(c), scene.UITextMuted, scene.Start)
}

// drawInstants puts a small diamond under the upper edge of the row, in its middle where no intervals are, and at its
// lower edge where it has levels: the names of the outermost stand above.
func drawInstants(s *scene.Scene, d *drawing, marks []instant, regions []trace.Region, alone bool) {
	points, text, aims := &scene.Point{}, &scene.Text{Size: scene.TextSize}, &scene.Rect{}
	for i, m := range marks {
		b := d.rows[m.row]
		size := min(3.5, max(1.5, (b.to-b.from)/5))
		x := d.x(m.time)
		y, top := b.from+size, b.from
		high := min(b.to-b.from, 8)
		switch {
		case alone:
			y, high = (b.from+b.to)/2, b.to-b.from
		case len(b.strips) > 1:
			y, top = b.to-size, b.to-high
		}
		points.Add(x, y, size, scene.UIText)
		points.SetShape(scene.Diamond)
		points.SetCount(m.count)
		aims.AddAim(x-near-1, top, 2*near+2, high, s.Item(ofInstant, i))
		if alone && b.to-b.from >= 2*scene.TextSize { // with nothing else in the row there is room for words
			left, right := d.frame.x, d.right()
			if i > 0 && marks[i-1].row == m.row {
				left = d.x(marks[i-1].time)
			}
			if i+1 < len(marks) && marks[i+1].row == m.row {
				right = d.x(marks[i+1].time)
			}
			words := regions[m.region].Name
			if m.count > 1 {
				words = count(int64(m.count), "instant")
			}
			need, y := scene.TextWidth(words, scene.TextSize, false)+4*size, (b.from+b.to)/2+4
			switch {
			case right-x >= need:
				text.Add(x+2*size, y, words, scene.UITextMuted, scene.Start)
			// the last: the one before may have its words between
			case right == d.right() && x-left >= 2*need:
				text.Add(x-2*size, y, words, scene.UITextMuted, scene.End)
			}
		}
	}
	s.AddLayer("instants", 0, points, text, aims)
}
