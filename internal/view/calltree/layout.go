package calltree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	tallest    = 40 // of a level
	fewLevels  = 64 // of one of few: its time and calls stand below its name
	shallow    = 4  // levels that are few
	leastLevel = 12
	linePitch  = 15  // of lines of text in a box
	leastTable = 3   // rows, else there is none below the boxes
	leastWidth = 1.5 // of a box that is drawn on its own
	edge       = 12
	sideHead   = 20 // the title of one of two sides
)

// A box is something drawn that can be picked.
type box struct {
	x, y, w, h float32
	node       int32
	count      int // of nodes that it stands for
	side       side
}

// Item kinds: a node and how many it stands for, or a region of the graph.
const (
	ofNode = iota + 1
	ofRegion
)

// A drawing is a result that is laid out.
type drawing struct {
	*result
	boxes  []box
	levels int // drawn
	hidden int // nodes below them
	tableY float32
	side   side // that is drawn
}

// highest is how high a level may be.
func highest(levels int) float32 {
	if levels <= shallow {
		return fewLevels
	}
	return tallest
}

// weight is how wide a node is on the side that is drawn.
func (r *drawing) weight(n *pathtree.Node) float64 { return r.sides.weight(n, r.side) }

// rootWeight is how wide the roots are together.
func (r *drawing) rootWeight() float64 {
	sum := 0.0
	for i := range r.tree.Nodes {
		if r.tree.Nodes[i].Parent < 0 {
			sum += r.weight(&r.tree.Nodes[i])
		}
	}
	return sum
}

// Scene draws the tree in the form that was asked for.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := &drawing{result: r}
	switch r.request.Values.Text("form") {
	case "table":
		d.table(s)
	case "graph":
		d.graph(s)
	default:
		d.icicle(s)
	}
	s.Notes = append(s.Notes, r.notes...)
	return s
}

func (r *result) describe() string {
	way := "Call tree"
	if bottomUp(r.request) {
		way = "Callers"
	}
	if r.callers > 0 {
		way = "Callers and callees of " + r.tree.Name(&r.tree.Nodes[0])
	}
	return fmt.Sprintf("%s of %s locations: %s paths, %s in all.", way, view.Thousands(int64(r.tree.Locations)),
		view.Thousands(int64(len(r.tree.Nodes))), r.format(r.total))
}

func (r *result) format(v float64) string {
	if r.metric.Number == runfacts.NumberCalls {
		return view.FormatDuration(v)
	}
	return r.metric.Format(v)
}

// icicle draws boxes from the top down.
func (r *drawing) icicle(s *scene.Scene) {
	w, h := float32(s.Width), float32(s.Height)
	f := scene.Frame{Name: "main", W: w, H: h}
	axes := w >= 160 && h >= 90
	if axes {
		f.X, f.W, f.H = edge, w-2*edge, h-scene.AxisHeight-4
	}
	depth := 0
	for i := range r.tree.Nodes {
		depth = max(depth, int(r.tree.Nodes[i].Depth)+1)
	}
	if asked := r.request.Values.Integer("depth"); asked > 0 {
		depth = min(depth, asked)
	}
	sides, head := []side{bothSides}, float32(0)
	if r.sides.against != nil && r.request.Values.Text("form") == "beside" {
		sides, head = []side{hereSide, thereSide}, sideHead
	}
	part := f.H / float32(len(sides))
	height := r.levelHeight(part-head, depth)
	if len(sides) == 1 && r.callers == 0 {
		height = r.levelHeight(part, r.seenLevels(f, height))
	}
	if r.callers > 0 {
		f.H = r.sandwichHeight(f.H)
	} else if part = min(part, head+float32(r.levels)*height); axes { // nothing blank between the boxes and their axis
		f.H = part * float32(len(sides))
	}
	whole := 0.0
	for _, r.side = range sides {
		whole = max(whole, r.rootWeight())
	}
	f.XScale = scene.Scale{Kind: "linear", Begin: 0, End: max(whole, 1), Label: r.axisLabel()}
	s.AddFrame(f)
	if axes {
		unit := r.metric.Unit
		if r.metric.Number == runfacts.NumberCalls {
			unit = "count"
		}
		s.XAxis(0, scene.Axis{Unit: unit})
	}
	if r.callers > 0 {
		sides = nil
		r.sandwichBoxes(f)
	}
	last := r.tree.Last()
	titles := &scene.Text{Size: scene.TextSize}
	for k, side := range sides {
		r.side = side
		y := f.Y + float32(k)*part
		if side != bothSides && f.H > 120 {
			titles.Add(f.X, y+head-6, scene.Shorten(r.sideTitle(), f.W, scene.TextSize), scene.UIText, scene.Start)
		}
		r.row(0, int32(len(r.tree.Nodes))-1, f.X, y+head, f.W, height, whole, 0, last)
	}
	r.side = bothSides
	r.paint(s)
	s.AddLayer("sides", -1, titles)
	r.tableBelow(s, &f)
	if r.hidden > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("%s paths are deeper than the %d levels drawn", view.Thousands(int64(r.hidden)), r.levels))
	}
}

// levelHeight shares a height among levels, and leaves out those that do not fit.
func (r *drawing) levelHeight(room float32, depth int) float32 {
	height := min(max(room/float32(depth), leastLevel), highest(depth))
	r.levels = max(min(depth, int(room/height)), 1)
	return height
}

// seenLevels counts the levels that have a box wide enough to be drawn: the others need no room.
func (r *drawing) seenLevels(f scene.Frame, height float32) int {
	r.row(0, int32(len(r.tree.Nodes))-1, f.X, 0, f.W, height, r.rootWeight(), 0, r.tree.Last())
	seen, levels := 1, r.levels
	for i := range r.boxes {
		seen = max(seen, int(r.boxes[i].y/height+0.5)+1)
	}
	r.boxes, r.hidden = nil, 0
	return min(seen, levels)
}

// sideTitle names a side and says how much it took.
func (r *drawing) sideTitle() string {
	name := "here"
	if r.sides.name != "" {
		name = r.sides.name
	}
	switch {
	case r.side == thereSide:
		name = r.sides.against.name
	case r.sides.against.another:
		name = r.request.Runs[0].Name
	}
	value := r.metric.Format(r.rootWeight())
	if !r.sides.against.another {
		value += " per " + r.sides.against.each
	}
	return name + ": " + value
}

// hereName describes where this side is.
func (r *drawing) hereName() string {
	if r.sides.name != "" {
		return "in " + r.sides.name
	}
	return "here"
}

func (r *drawing) axisLabel() string {
	switch {
	case r.request.Values.Text("form") == "beside" && r.sides.against != nil && r.sides.against.another:
		return "inclusive"
	case r.request.Values.Text("form") == "beside" && r.sides.against != nil:
		return "inclusive, mean per " + r.sides.against.each
	case r.sides.against != nil && r.sides.against.another:
		return "mean of both runs"
	case r.sides.against != nil:
		return "mean per " + r.sides.against.each + ", of both sides"
	case r.metric.Number == runfacts.NumberCalls:
		return "calls"
	case bottomUp(r.request):
		return "exclusive, by caller"
	case r.callers > 0:
		return "inclusive of " + r.tree.Name(&r.tree.Nodes[0])
	}
	return "inclusive"
}

// row places the siblings from first to end side by side in a width that stands for
// whole, and the nodes below them. Those too narrow to be seen are drawn as one.
func (r *drawing) row(first, end int32, x, y, width, height float32, whole float64, level int, last []int32) {
	if level >= r.levels {
		r.hidden += int(end-first) + 1
		return
	}
	sum := 0.0
	for i := first; i <= end; i = last[i] + 1 {
		sum += r.weight(&r.tree.Nodes[i])
	}
	whole = max(whole, sum)
	if whole <= 0 {
		return
	}
	// Those too narrow to be seen wait until a wide one comes.
	narrow, few, from := float32(0), 0, int32(0)
	flush := func() {
		if narrow >= 0.5 {
			r.boxes = append(r.boxes, box{x: x, y: y, w: narrow, h: height, node: from, count: few, side: r.side})
		}
		x += narrow
		narrow, few = 0, 0
	}
	for i := first; i <= end; i = last[i] + 1 {
		own := float32(r.weight(&r.tree.Nodes[i])/whole) * width
		if own < leastWidth {
			if few == 0 {
				from = i
			}
			narrow += own
			few += int(last[i]-i) + 1
			continue
		}
		flush()
		r.boxes = append(r.boxes, box{x: x, y: y, w: own, h: height, node: i, count: 1, side: r.side})
		if last[i] > i {
			r.row(i+1, last[i], x, y+height, own, height, r.weight(&r.tree.Nodes[i]), level+1, last)
		}
		x += own
	}
	flush()
}

func (r *drawing) paint(s *scene.Scene) {
	boxes, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	width := map[trace.RegionID]float32{} // of boxes that have the region's colour
	find := searched(r.result)
	for _, b := range r.boxes {
		n := &r.tree.Nodes[b.node]
		g := &r.tree.Regions[n.Region]
		fill, flags := r.colours.Of(g), scene.Flag(0)
		if n.Context || find != "" && !pathtree.HasName(g, find) {
			flags |= scene.Dimmed
		}
		if r.sides.against != nil {
			fill = scene.Ramp("diverging", 0.5+r.sides.tilt(n)/2)
		}
		if b.count > 1 {
			fill, flags = scene.UIAggregate, scene.Aggregated
		} else {
			width[n.Region] += b.w
		}
		boxes.Add(b.x, b.y, max(b.w-1, 0.5), b.h-1, fill)
		boxes.SetFlags(flags)
		boxes.SetCount(uint32(b.count))
		boxes.SetItem(s.Item(ofNode, int(b.node), b.count))
		if b.count == 1 && b.h >= 12 {
			lines := r.boxLines(n, &b)
			for k, line := range lines {
				y := b.y + b.h/2 + linePitch*(float32(k)-float32(len(lines)-1)/2)
				text.Add(b.x+4, y+scene.TextAscent(scene.TextSize)/2-0.5, line, scene.InkFor(fill, flags), scene.Start)
			}
		}
	}
	if find != "" {
		s.Notes = append(s.Notes, foundNote(r.result, find))
	}
	s.AddLayer("boxes", 0, boxes)
	s.AddLayer("names", 0, text)
	if r.sides.against != nil {
		s.Legend = append(s.Legend,
			plot.RampKey("time", "diverging", "longer in "+r.sides.against.name, "longer "+r.hereName()))
	} else {
		s.Legend = append(s.Legend, r.regionLegend(width)...)
	}
}

// regionLegend explains the colours of the regions that take most of the picture.
func (r *drawing) regionLegend(width map[trace.RegionID]float32) (out []scene.LegendEntry) {
	shown := slices.SortedFunc(maps.Keys(width), func(a, b trace.RegionID) int {
		return cmp.Or(cmp.Compare(width[b], width[a]), cmp.Compare(a, b))
	})
	for _, id := range shown[:min(len(shown), mostLegend)] {
		g := &r.tree.Regions[id]
		out = append(out, plot.RegionKey(g.Name, r.colours.Of(g), uint32(id)))
	}
	return out
}

// mostLegend is how many regions the legend names: boxes say their names, as far as these fit.
const mostLegend = 12

// boxLines returns the text of a box: its name, and if there is space its value and number of calls.
func (r *drawing) boxLines(n *pathtree.Node, b *box) (lines []string) {
	name := scene.Shorten(r.label(n), b.w-8, scene.TextSize)
	if name == "" {
		return nil
	}
	lines = []string{name}
	if r.sides.against != nil {
		return lines
	}
	fits := func(t string) bool {
		return float32(len(lines)+1)*linePitch <= b.h-4 && scene.TextWidth(t, scene.TextSize, false) <= b.w-8
	}
	took := r.format(n.Inclusive)
	if whole := took + " · " + view.FormatShare(r.base.Share(n.Inclusive)); fits(whole) {
		took = whole
	}
	if !fits(took) {
		return lines
	}
	lines = append(lines, took)
	if calls := view.FormatCount(n.Calls) + " calls"; n.Calls > 0 && fits(calls) {
		lines = append(lines, calls)
	}
	return lines
}

// tableBelow fills the space that boxes of few levels leave blank, or boxes in less than half of the picture, with the
// same paths as rows.
func (r *drawing) tableBelow(s *scene.Scene, f *scene.Frame) {
	r.tableY = f.Y + f.H + scene.AxisHeight + linePitch
	rows := int((float32(s.Height) - r.tableY - head) / pitch)
	blank := 2*r.tableY < float32(s.Height)
	if f.X == 0 || rows < min(leastTable, len(r.tree.Nodes)) || r.sides.against != nil || r.callers > 0 ||
		r.levels > shallow && !blank {
		return
	}
	r.table(s)
}

// Fact describes a path or a region.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofRegion {
		return r.regionFact(int(it.A)), true
	}
	return r.fact(it.A, int(it.B)), true
}

func (r *result) fact(id int32, count int) view.Fact {
	n := &r.tree.Nodes[id]
	if count > 1 {
		f := view.Fact{Title: fmt.Sprintf("%s paths too small to be drawn", view.Thousands(int64(count))),
			Count: int64(count),
			Lines: []view.FactLine{{Label: "below", Value: r.parentName(n)}}}
		if n.Parent > 0 || n.Parent == 0 && !r.zoom.on { // they are wider below their caller alone
			f.Open = r.open(n.Parent)
		}
		return f
	}
	f := view.Fact{Title: r.tree.Name(n), Text: r.path(int(id)), Open: r.open(id)}
	if id := r.known(n); id != trace.NoRegion {
		f.Regions = []trace.RegionID{id}
	}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	if !r.tree.Alone {
		line("inclusive", r.format(n.Inclusive), n.Inclusive)
	}
	line("of "+r.base.Name, view.FormatShare(r.base.Share(n.Inclusive)), r.base.Share(n.Inclusive))
	line("exclusive", r.format(n.Exclusive), n.Exclusive)
	if r.counted {
		line("calls", view.FormatCount(n.Calls), n.Calls)
	}
	if q, ok := r.tree.Quantiles(n); ok && n.Each != nil {
		for k, name := range []string{"2 % of calls", "25 % of calls", "median of a call", "75 % of calls",
			"98 % of calls"} {
			line(name, r.format(q[k]), q[k])
		}
		line("shortest call", r.format(float64(n.Each.Min)), float64(n.Each.Min))
		line("longest call", r.format(float64(n.Each.Max)), float64(n.Each.Max))
		line("mean of a call", r.format(n.Each.Mean()), n.Each.Mean())
		line("standard deviation", r.format(n.Each.Deviation()), n.Each.Deviation())
	} else if ok && r.tree.Locations > 1 {
		line("minimum per location (2 %)", r.format(q[0]), q[0])
		line("median per location", r.format(q[2]), q[2])
		line("maximum per location (98 %)", r.format(q[4]), q[4])
	}
	if d := r.sides.delta(n); d != nil {
		there := n.Other * r.sides.against.there
		line("in "+r.sides.against.name, r.format(there), there)
		line("difference", r.format(*d), *d)
	}
	f.Say("node", fmt.Sprint(int(id)+r.zoom.first), "")
	return f
}

func (r *result) parentName(n *pathtree.Node) string {
	if n.Parent < 0 {
		return "the top"
	}
	return r.path(int(n.Parent))
}
