package treemap

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// leastCell is the area below which boxes are not drawn one by one, so that a
	// frame stays small whatever the hierarchy.
	leastCell = 90
	leastSide = 6
	header    = 15 // room for a name above what it holds
	gap       = 1
)

// A cell is something drawn that can be picked.
type cell struct {
	at   box
	node int32
	look look
}

type look uint8

const (
	raw        look = iota // one location
	aggregate              // drawn as one because that loses little
	unreadable             // drawn as one because its parts would be smaller than a pixel or two
	group                  // the frame of a group whose parts are drawn
)

// A drawing remembers where things were put, for Pick.
type drawing struct {
	cells  []cell
	merged int // nodes drawn as one for want of room
	hidden int // parts of the cut that they stand for
}

// Scene draws the cut as nested boxes.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	frame := scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)}
	s.AddFrame(frame)
	r.drawn = drawing{}
	r.place(0, box{0, 0, float64(size.Width), float64(size.Height)})
	s.Frames[0].Places = r.places()
	r.paint(s)
	for _, v := range r.variables {
		e := scene.LegendEntry{Label: v.name, Colour: v.colour, Region: uint32(v.region), Parent: scene.NoID}
		s.Legend = append(s.Legend, e)
	}
	s.Legend = append(s.Legend, scene.LegendEntry{Label: "drawn as one", Colour: scene.UIAggregate, Flags: scene.Aggregated, Region: scene.NoID, Parent: scene.NoID})
	s.Notes = append(s.Notes, r.summary())
	s.Notes = append(s.Notes, r.Notes()...)
	if a := r.Arrangement(); a != nil {
		s.Notes = append(s.Notes, a.Labels())
	}
	if r.drawn.merged > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s boxes stand for %s parts that are too small to be drawn", view.Thousands(int64(r.drawn.merged)), view.Thousands(int64(r.drawn.hidden))))
	}
	return s
}

// places say which location each cell is, the largest where there are too many.
func (r *result) places() []scene.Spot {
	least := 0.0
	if n := len(r.drawn.cells); n > scene.MostPlaces {
		areas := make([]float64, n)
		for i, c := range r.drawn.cells {
			areas[i] = c.at.w * c.at.h
		}
		slices.Sort(areas)
		least = areas[n-scene.MostPlaces]
	}
	out := []scene.Spot{}
	for _, c := range r.drawn.cells {
		id := r.location(c.node)
		if id == trace.NoLocation || c.at.w*c.at.h < least || len(out) == scene.MostPlaces {
			continue
		}
		out = append(out, scene.Spot{X: float32(c.at.x), Y: float32(c.at.y), W: float32(c.at.w), H: float32(c.at.h), Location: uint32(id)})
	}
	return out
}

func (r *result) describe() string {
	return fmt.Sprintf("Treemap of %s locations in %s parts: gain %s, loss %s of all.", view.Thousands(int64(r.hierarchy.Leaves)),
		view.Thousands(int64(len(r.cut.Parts))), view.FormatShare(ratio(r.cut.Gain, r.labels.Gain[0])), view.FormatShare(r.share(r.cut.Loss)))
}

func (r *result) summary() string {
	return fmt.Sprintf("p = %.4g: %s locations in %s parts, gain %s, loss %s", r.p, view.Thousands(int64(r.hierarchy.Leaves)),
		view.Thousands(int64(len(r.cut.Parts))), view.FormatShare(ratio(r.cut.Gain, r.labels.Gain[0])), view.FormatShare(r.share(r.cut.Loss)))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// size of a node: the values below it; where all are 0, its leaves.
func (r *result) size(i int32) float64 {
	sum, whole := 0.0, 0.0
	for x := range r.labels.Sum {
		sum += r.labels.Sum[x][i]
		whole += r.labels.Sum[x][0]
	}
	if whole <= 0 {
		return float64(r.labels.Leaves[i])
	}
	return sum
}

// place decides how a node is drawn and goes down where its parts have room.
func (r *result) place(i int32, at box) {
	if at.w <= 0 || at.h <= 0 {
		return
	}
	if r.inCut[i] {
		l := raw
		if r.aggregated(i) {
			l = aggregate
		}
		r.drawn.cells = append(r.drawn.cells, cell{at, i, l})
		return
	}
	t := r.tree
	var children []int32
	var sizes []float64
	for c := i + 1; c <= t.Last[i]; c = t.Last[c] + 1 {
		children = append(children, c)
		sizes = append(sizes, r.size(c))
	}
	inner := at.inset(gap, gap)
	if at.h > 3*header && at.w > 48 {
		inner = at.inset(2, header)
	}
	if len(children) == 1 {
		r.place(children[0], at)
		return
	}
	if inner.w < leastSide || inner.h < leastSide || inner.w*inner.h < leastCell*float64(len(children))/4 {
		r.drawn.cells = append(r.drawn.cells, cell{at, i, unreadable})
		r.drawn.merged++
		r.drawn.hidden += r.partsBelow(i)
		return
	}
	r.drawn.cells = append(r.drawn.cells, cell{at, i, group})
	for k, b := range squarify(sizes, inner) {
		r.place(children[k], b)
	}
}

// partsBelow counts the parts of the cut below a node. O(parts).
func (r *result) partsBelow(i int32) int {
	n := 0
	t := r.tree
	for c := i; c <= t.Last[i]; {
		if r.inCut[c] {
			n++
			c = t.Last[c] + 1
		} else {
			c++
		}
	}
	return n
}

// paint draws the cells: states as strips, names where they fit, marks of warning.
func (r *result) paint(s *scene.Scene) {
	frames, fills, warn := &scene.Rect{}, &scene.Rect{}, &scene.Point{}
	names := &scene.Text{Size: scene.TextSize}
	heads := &scene.Text{Size: scene.TextSize, Bold: true}
	for _, c := range r.drawn.cells {
		if c.look == group {
			frames.Add(float32(c.at.x), float32(c.at.y), float32(c.at.w), float32(c.at.h), scene.UISurface)
			frames.SetFlags(scene.Outlined)
			if c.at.h > 3*header && c.at.w > 48 {
				label := fmt.Sprintf("%s · %s", r.hierarchy.Label(c.node), view.Thousands(int64(r.labels.Leaves[c.node])))
				heads.Add(float32(c.at.x)+4, float32(c.at.y)+header-4, scene.ShortenBold(label, float32(c.at.w)-8, scene.TextSize), scene.UIText, scene.Start)
			}
			continue
		}
		r.strips(fills, c)
		if c.look == aggregate && r.share(r.labels.Loss[c.node]) > warnShare && c.at.w > 14 && c.at.h > 14 {
			warn.Add(float32(c.at.x+c.at.w)-8, float32(c.at.y)+8, 4, scene.UIWarning)
			warn.SetShape(scene.Triangle)
		}
		r.label(names, c)
	}
	s.AddLayer("groups", 0, frames)
	s.AddLayer("cells", 0, fills)
	s.AddLayer("names", 0, warn, heads, names)
}

// strips fills a cell from the bottom up by the share of each state.
func (r *result) strips(fills *scene.Rect, c cell) {
	at := c.at.inset(gap/2.0, gap/2.0)
	flag := scene.Flag(0)
	switch c.look {
	case aggregate:
		flag = scene.Aggregated
	case unreadable:
		flag = scene.Hatched
	}
	total := 0.0
	for x := range r.variables {
		total += r.labels.Sum[x][c.node]
	}
	if total <= 0 {
		fills.Add(float32(at.x), float32(at.y), float32(at.w), float32(at.h), scene.UIEmpty)
		fills.SetFlags(flag)
		return
	}
	bottom := at.y + at.h
	for x := range r.variables {
		h := at.h * r.labels.Sum[x][c.node] / total
		if h <= 0 {
			continue
		}
		bottom -= h
		fills.Add(float32(at.x), float32(bottom), float32(at.w), float32(h), r.variables[x].colour)
		fills.SetFlags(flag)
		fills.SetCount(uint32(r.labels.Leaves[c.node]))
	}
}

// label writes a cell's name, and below it how many it stands for and what that loses.
func (r *result) label(names *scene.Text, c cell) {
	if c.at.w < 34 || c.at.h < 16 {
		return
	}
	write := func(line string, baseline float64) {
		names.Add(float32(c.at.x)+4, float32(c.at.y+baseline), line, scene.Ink(r.colourAt(c, baseline-4)), scene.Start)
	}
	write(scene.Shorten(r.hierarchy.Label(c.node), float32(c.at.w)-8, scene.TextSize), 13)
	if c.look == raw || c.at.h < 32 {
		return
	}
	more := fmt.Sprintf("×%s, loss %s", view.Thousands(int64(r.labels.Leaves[c.node])), view.FormatShare(r.share(r.labels.Loss[c.node])))
	if c.look == unreadable {
		more = "×" + view.Thousands(int64(r.labels.Leaves[c.node]))
	}
	if scene.TextWidth(more, scene.TextSize, false) <= float32(c.at.w)-8 {
		write(more, 27)
	}
}

// colourAt is the colour of a cell so far below its top, behind a line of text.
func (r *result) colourAt(c cell, below float64) scene.Colour {
	total := 0.0
	for x := range r.variables {
		total += r.labels.Sum[x][c.node]
	}
	bottom := 0.0
	for x := len(r.variables) - 1; x >= 0 && total > 0; x-- {
		if bottom += c.at.h * r.labels.Sum[x][c.node] / total; bottom > below {
			return r.variables[x].colour
		}
	}
	return scene.UIEmpty
}
