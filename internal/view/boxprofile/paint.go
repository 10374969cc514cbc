package boxprofile

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// bands lays a pale ground under every other region.
func (r *drawing) bands(s *scene.Scene, rows []scene.Row, width float32) {
	ground := &scene.Rect{}
	for k := range rows {
		if k%2 == 1 {
			ground.Add(0, rows[k].From-r.gap/2, width, rows[k].To-rows[k].From+r.gap, scene.UIBand)
		}
	}
	// Behind the grid.
	s.Layers = append([]scene.Layer{{Name: "bands", Frame: -1, Marks: []scene.Mark{ground}}}, s.Layers...)
	if ground.Len() == 0 {
		s.Layers = s.Layers[1:]
	}
}

// paint draws all lanes.
func (r *drawing) paint(s *scene.Scene, colours, bars, boxes *scene.Frame) {
	p := &painter{r: r.result, bars: bars, boxes: boxes, swatches: &scene.Rect{}, counts: &scene.Rect{},
		pale: &scene.Rect{}, whiskers: &scene.Rect{}, bodies: &scene.Rect{}, medians: &scene.Rect{},
		single: &scene.Rect{}, words: &scene.Text{Size: 11}, cuts: &scene.Polygon{}, violins: &scene.Polygon{},
		stubs: &scene.Rect{}, open: &scene.Rect{}}
	most := 0.0
	for _, l := range r.lanes {
		if l.row != nil {
			most = max(most, l.row.Count)
		}
	}
	for i := range r.lanes {
		l := &r.lanes[i]
		c := r.colour(l)
		p.cutCalls(l, c)
		if l.row == nil {
			p.hollow(colours, l, c)
			if l.h >= 12 {
				text := "not called here"
				if l.cut != nil {
					text = view.Count(int(l.cut.Count), "cut call")
				}
				p.words.Add(bars.X+4, l.y+l.h/2+4, scene.Shorten(text, bars.W, 11), scene.UITextMuted,
					scene.Start)
			}
			continue
		}
		y, h := inner(l)
		p.swatches.Add(colours.X, y, colours.W, h, c)
		p.lane(l, c, math.Sqrt(l.row.Count/most))
	}
	s.AddLayer("locations", -1, p.swatches)
	s.AddLayer("calls", 1, p.counts, p.words)
	s.AddLayer("violins", 2, p.violins)
	s.AddLayer("boxes", 2, p.pale, p.whiskers, p.bodies, p.medians, p.single, p.open, p.stubs, p.cuts)
	r.cut, r.violins, r.open = p.isCut, p.isViolin, p.isOpen
}

// hollow draws the colour of a location that does not call the region as a frame.
func (p *painter) hollow(f *scene.Frame, l *lane, c scene.Colour) {
	const line = 1.5
	y, h := inner(l)
	if l.h < 4*line || f.W < 4*line {
		p.swatches.Add(f.X, y, f.W, h, scene.UIEmpty)
		return
	}
	p.swatches.Add(f.X, y, f.W, h, c)
	p.swatches.Add(f.X+line, y+line, f.W-2*line, h-2*line, scene.UIBackground)
}

type painter struct {
	r           *result
	bars, boxes *scene.Frame
	swatches    *scene.Rect
	counts      *scene.Rect
	pale        *scene.Rect // spread of a group's members
	whiskers    *scene.Rect
	bodies      *scene.Rect
	medians     *scene.Rect
	single      *scene.Rect
	words       *scene.Text
	cuts        *scene.Polygon // values outside the axis
	stubs       *scene.Rect    // the same in low lanes
	isCut       bool
	open        *scene.Rect // calls that began before the window
	isOpen      bool
	violins     *scene.Polygon // outlines of distributions
	isViolin    bool
}

// x returns the place of a value, cut at the ends of the axis.
func (p *painter) x(v float64) float32 {
	f := p.boxes
	if v = min(v, f.XScale.End); v < f.XScale.Begin {
		v = f.XScale.Begin
	}
	return f.XPixel(v)
}

// shows reports whether a value has a place on the axis; 0 has none on a logarithmic one.
func (p *painter) shows(v float64) bool { return v >= p.boxes.XScale.Begin && v <= p.boxes.XScale.End }

// inner returns the height of a lane that is drawn on: a pixel at least stays free, so
// that equal lanes do not fuse.
func inner(l *lane) (y, h float32) {
	switch {
	case l.h < leastLane:
		return l.y, l.h
	case l.h < 8:
		return l.y, l.h - 1
	}
	pad := min(l.h*0.12, 2)
	return l.y + pad, l.h - 2*pad
}

// lane draws the bar and the box; thick is how sure the box is, from 0 to 1.
func (p *painter) lane(l *lane, c scene.Colour, thick float64) {
	row := l.row
	top, h := inner(l)
	p.counts.Add(p.bars.X, top, max(p.bars.XPixel(row.Count)-p.bars.X, 1), h, c)
	p.cut(l, top, h)
	if row.Box[4] < p.boxes.XScale.Begin || row.Box[0] > p.boxes.XScale.End {
		return // outside of the zoomed range
	}
	if l.spread.low <= l.spread.high {
		a, b := p.x(l.spread.low), p.x(l.spread.high)
		p.pale.Add(a, top, max(b-a, 1), h, c)
		p.pale.SetFlags(scene.Dimmed)
	}
	y, lane := top, h
	if l.h >= 4 {
		high := max(h*float32(0.25+0.75*thick), 2)
		y, h = top+(h-high)/2, high
	}
	if p.violin(l, top, lane, c) {
		y, h = top+lane*0.32, lane*0.36
	}
	a, b := p.x(row.Box[0]), p.x(row.Box[4])
	if row.Count == 1 || b-a < 1 {
		p.single.Add(a-1, y, 2, h, c)
		return
	}
	if l.h < 4 {
		p.whiskers.Add(a, y, b-a, h, c)
		p.whiskers.SetFlags(scene.Dimmed)
	} else {
		thin := max(min(h*0.16, 2), 1)
		p.whiskers.Add(a, y+(h-thin)/2, b-a, thin, c)
		if p.shows(row.Box[0]) {
			p.whiskers.Add(a, y+h*0.2, 1, h*0.6, c)
		}
		if p.shows(row.Box[4]) {
			p.whiskers.Add(b-1, y+h*0.2, 1, h*0.6, c)
		}
	}
	p.body(row, y, h, c)
}

// body draws the middle half of the calls, as far as the axis shows it.
func (p *painter) body(row *callgraph.Row, y, h float32, c scene.Colour) {
	if row.Box[3] < p.boxes.XScale.Begin || row.Box[1] > p.boxes.XScale.End {
		return
	}
	q1, q3 := p.x(row.Box[1]), p.x(row.Box[3])
	p.bodies.Add(q1, y, max(q3-q1, 1), h, c)
	if q3-q1 >= 3 && p.shows(row.Box[2]) {
		m := p.x(row.Box[2])
		p.medians.Add(min(max(m-1, q1), q3-2), y, 2, h, scene.UIBackground)
	}
}

// cut marks values outside the axis, on the side where they are.
func (p *painter) cut(l *lane, y, h float32) {
	f, row := p.boxes, l.row
	low, high := row.Box[0], row.Box[4]
	if l.spread.low <= l.spread.high {
		low, high = min(low, l.spread.low), max(high, l.spread.high)
	}
	mark := func(x, dir float32) {
		p.isCut = true
		if h < 4 {
			p.stubs.Add(x+min(-dir*3, 0), y, 3, h, scene.UIWarning)
			return
		}
		p.cuts.AddCut(x, y+h/2, dir, min(max(h/3, 2), 4))
	}
	if low < f.XScale.Begin {
		mark(f.X, -1)
	}
	if high > f.XScale.End {
		mark(f.X+f.W, 1)
	}
}
