package treemap

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	line = 14 // height of a line of text
	dial = 5  // width of the bar that shows instants
)

// paint draws the cells: states as strips, names where they fit, folded corners on cells
// that stand for many. It reports whether one of them is a warning.
func (r *drawing) paint(s *scene.Scene) (warned bool) {
	frames, fills, dials, folds := &scene.Rect{}, &scene.Rect{}, &scene.Rect{}, &scene.Polygon{}
	p := &painter{result: r.result, plates: &scene.Rect{}, names: &scene.Text{Size: scene.TextSize}}
	heads := &scene.Text{Size: scene.TextSize, Bold: true}
	most := r.mostInstants()
	edges := &scene.Rect{}
	aims := &scene.Rect{}
	p.tellApart(r.cells)
	for _, c := range r.cells {
		aims.AddAim(float32(c.at.x), float32(c.at.y), float32(c.at.w), float32(c.at.h),
			s.Item(ofCell, int(c.node), int(c.look)))
		if c.look == group {
			frames.Add(float32(c.at.x), float32(c.at.y), float32(c.at.w), float32(c.at.h), scene.UISurface)
			frames.SetFlags(scene.Outlined)
			if c.at.h > 3*header && c.at.w > 48 {
				room := float32(c.at.w) - 8
				label := fmt.Sprintf("%s · %s", r.heading(c.node), view.Thousands(int64(r.labels.Leaves[c.node])))
				if scene.TextWidth(label, scene.TextSize, true) > room {
					label = r.heading(c.node)
				}
				heads.Add(float32(c.at.x)+4, float32(c.at.y)+header-4, scene.ShortenBold(label, room, scene.TextSize),
					scene.UIText, scene.Start)
			}
			continue
		}
		r.strips(fills, c)
		r.dials(dials, c, most)
		if c.look == aggregate {
			at := c.at.inset(gap/2.0, gap/2.0)
			warn := r.warns(c.node)
			if folds.AddFold(float32(at.x+at.w), float32(at.y), float32(min(at.w, at.h)), warn) && warn {
				warned = true
				edges.AddWarning(float32(at.x), float32(at.y), float32(at.w), float32(at.h),
					float32(r.share(r.labels.Loss[c.node])))
			}
		}
		p.label(c)
	}
	s.AddLayer("groups", 0, aims, frames)
	s.AddLayer("cells", 0, fills, dials, edges, folds)
	s.AddLayer("names", 0, p.plates, heads, p.names)
	r.paintInsets(s)
	return warned
}

// warns reports whether a cell hides so much that it should not be trusted.
func (r *result) warns(i int32) bool { return r.hidesMuch(i) && r.deviation(i) > warnDeviation }

// hidesMuch reports whether a cell hides much of all that there is to lose.
func (r *result) hidesMuch(i int32) bool { return r.share(r.labels.Loss[i]) > warnShare }

// paintInsets draws where each inset belongs.
func (r *drawing) paintInsets(s *scene.Scene) {
	if len(r.insets) == 0 {
		return
	}
	lines := &scene.Line{Width: 1}
	frame := func(b box) {
		x0, y0, x1, y1 := float32(b.x), float32(b.y), float32(b.x+b.w), float32(b.y+b.h)
		lines.Add(x0, y0, x1, y0, scene.UIAccent)
		lines.Add(x1, y0, x1, y1, scene.UIAccent)
		lines.Add(x1, y1, x0, y1, scene.UIAccent)
		lines.Add(x0, y1, x0, y0, scene.UIAccent)
	}
	for _, n := range r.insets {
		frame(n.from)
		frame(n.to)
		x := float32(n.from.x + n.from.w)
		lines.Add(x, float32(n.from.y), float32(n.to.x), float32(n.to.y), scene.UIAccent)
		lines.Add(x, float32(n.from.y+n.from.h), float32(n.to.x), float32(n.to.y+n.to.h), scene.UIAccent)
	}
	s.AddLayer("insets", 0, lines)
}

// heading names a group; of one that an inset shows, where it is.
func (r *drawing) heading(i int32) string {
	for _, n := range r.insets {
		if n.node == i {
			return r.hierarchy.Path(i)
		}
	}
	return r.name(i)
}

// strips fills a cell from the bottom up by the share of each state.
func (r *drawing) strips(fills *scene.Rect, c cell) {
	at := c.at.inset(gap/2.0, gap/2.0)
	flag := scene.Flag(0)
	if c.look == unreadable {
		flag = scene.Hatched
	}
	total := r.states(c.node)
	if total <= 0 {
		fills.Add(float32(at.x), float32(at.y), float32(at.w), float32(at.h), scene.UIEmpty)
		fills.SetFlags(flag)
		return
	}
	bottom := at.y + at.h
	for x := range r.variables {
		h := at.h * r.labels.Sum[x][c.node] / total
		if h <= 0 || r.overlay(x) {
			continue
		}
		bottom -= h
		fills.Add(float32(at.x), float32(bottom), float32(at.w), float32(h), r.variables[x].colour)
		fills.SetFlags(flag | r.variables[x].flag)
		fills.SetCount(uint32(r.labels.Leaves[c.node]))
	}
}

// states adds up the values in the strips of a node.
func (r *result) states(i int32) (total float64) {
	for x := range r.variables {
		if !r.overlay(x) {
			total += r.labels.Sum[x][i]
		}
	}
	return total
}

// mostInstants is the largest number of instants a location of any cell, by variable.
func (r *drawing) mostInstants() (most float64) {
	for _, c := range r.cells {
		for x := range r.variables {
			if r.overlay(x) && c.look != group {
				most = max(most, r.labels.Sum[x][c.node]/float64(r.labels.Leaves[c.node]))
			}
		}
	}
	return most
}

// dials draw instants beside states: a bar at the left edge, as high as the number of
// instants a location is, against the largest of any cell.
func (r *drawing) dials(dials *scene.Rect, c cell, most float64) {
	at := c.at.inset(gap/2.0, gap/2.0)
	x := at.x
	for k, v := range r.variables {
		if !r.overlay(k) || most <= 0 || at.w < 3*dial {
			continue
		}
		h := at.h * r.labels.Sum[k][c.node] / float64(r.labels.Leaves[c.node]) / most
		dials.Add(float32(x), float32(at.y), dial, float32(at.h), scene.UIBackground)
		dials.Add(float32(x)+1, float32(at.y+at.h-h), dial-1, float32(h), v.colour)
		x += dial
	}
}

// A painter writes names.
type painter struct {
	*result
	plates *scene.Rect
	names  *scene.Text
	// apart shortens the names of cells that are in one group, by that group.
	apart map[int32]*scene.Apart
	// numbers: locations are called by their numbers alone, since not all of them have room for more.
	numbers bool
	// deviations: cells have the deviation of their members and not their loss, since for some of them a loss that is
	// large as a share is small.
	deviations bool
}

// tellApart looks at the names of the cells that will be written.
func (p *painter) tellApart(cells []cell) {
	names := map[int32][]string{}
	for _, c := range cells {
		if c.look != group && hasName(c) {
			up := p.tree.Parent[c.node]
			names[up] = append(names[up], p.name(c.node))
		}
	}
	p.apart = make(map[int32]*scene.Apart, len(names))
	for up, list := range names {
		p.apart[up] = scene.NewApart(list)
	}
	for _, c := range cells {
		p.deviations = p.deviations || c.look == aggregate && p.hidesMuch(c.node) && !p.warns(c.node)
	}
	for _, c := range cells {
		if c.look == raw && hasName(c) {
			name := p.name(c.node)
			short := p.apart[p.tree.Parent[c.node]].Number(name) != ""
			if short && scene.TextWidth(name, scene.TextSize, false) > p.room(c) {
				p.numbers = true
				return
			}
		}
	}
}

// room is the width for a cell's name.
func (p *painter) room(c cell) float32 {
	room := float32(c.at.w-2*p.edge(c)) - 8
	for k := range p.variables {
		if p.overlay(k) {
			room -= dial
		}
	}
	return room
}

// nameIn is the name of a cell in a width.
func (p *painter) nameIn(c cell, width float32) string {
	name, apart := p.name(c.node), p.apart[p.tree.Parent[c.node]]
	if p.numbers && c.look == raw {
		if n := apart.Number(name); n != "" {
			name = n
		}
	}
	return apart.Shorten(name, width, scene.TextSize)
}

// hasName reports whether a cell is large enough for letters.
func hasName(c cell) bool { return c.at.w >= 24 && c.at.h >= 16 }

// A band is a strip of a cell, from its top.
type band struct {
	from, to float64
	colour   scene.Colour
}

// bands returns the strips of a cell from the top down.
func (r *result) bands(c cell) (out []band) {
	total, y := r.states(c.node), 0.0
	if total <= 0 {
		return []band{{0, c.at.h, scene.UIEmpty}}
	}
	for x := len(r.variables) - 1; x >= 0; x-- {
		if r.overlay(x) {
			continue
		}
		if h := c.at.h * r.labels.Sum[x][c.node] / total; h > 0 {
			out = append(out, band{y, y + h, r.variables[x].colour})
			y += h
		}
	}
	return out
}

// label writes a cell's name, and below it how many it stands for and their loss: inside
// one strip, so that no boundary crosses a name, else on a plate.
func (p *painter) label(c cell) {
	if !hasName(c) {
		return
	}
	edge := p.edge(c)
	left, room := 4+edge, p.room(c)
	for k := range p.variables {
		if p.overlay(k) {
			left += dial
		}
	}
	beside := room
	if c.look == aggregate {
		beside -= 10 // of the folded corner
	}
	name, more := p.nameIn(c, beside), p.more(c)
	if more != "" && (c.at.h < 2*line+6 || scene.TextWidth(more, scene.TextSize, false) > room) {
		more = ""
	}
	lines := []string{name}
	if more != "" {
		lines = append(lines, more)
	}
	for ; len(lines) > 0; lines = lines[:len(lines)-1] {
		need := float64(len(lines))*line + 3
		for _, b := range p.bands(c) {
			if from := max(b.from, 1+edge); min(b.to, c.at.h-edge)-from >= need {
				p.write(c, lines, left, from, b.colour)
				return
			}
		}
		if len(lines) == 2 || c.at.w < 64 || c.at.h < 2*line { // a plate would hide the cell
			continue
		}
		w := scene.TextWidth(name, scene.TextSize, false)
		p.plates.Add(float32(c.at.x+left)-2, float32(c.at.y+edge)+2, w+4, line, scene.UIBackground)
		p.write(c, lines, left, 1+edge, scene.UIBackground)
	}
}

// edge is the width of a cell's frame.
func (p *painter) edge(c cell) float64 {
	if c.look != aggregate || !p.warns(c.node) {
		return 0
	}
	return float64(scene.WarningWidth(float32(p.share(p.labels.Loss[c.node])), float32(min(c.at.w, c.at.h)-gap)))
}

func (p *painter) write(c cell, lines []string, left, from float64, ground scene.Colour) {
	ink := scene.Ink(ground)
	if ground == scene.UIBackground {
		ink = scene.UIText
	}
	for k, text := range lines {
		p.names.Add(float32(c.at.x+left), float32(c.at.y+from)+float32(k)*line+12, text, ink, scene.Start)
	}
}

// more describes how many a cell stands for, and their loss.
func (p *painter) more(c cell) string {
	n := "×" + view.Thousands(int64(p.labels.Leaves[c.node]))
	switch c.look {
	case aggregate:
		if p.deviations {
			return n + ", deviation " + view.FormatShare(p.deviation(c.node))
		}
		return n + ", loss " + view.FormatShare(p.share(p.labels.Loss[c.node]))
	case unreadable:
		return n
	}
	return ""
}

// name of a node. A group that is all of the one above it, such as the only cluster of
// a site, is called as that one.
func (r *result) name(i int32) string {
	t := r.tree
	if t.Leaf(int(i)) {
		return r.hierarchy.Label(i)
	}
	for up := t.Parent[i]; up > 0 && up == i-1 && t.Last[up] == t.Last[i]; up = t.Parent[i] {
		i = up
	}
	return r.hierarchy.Label(i)
}
