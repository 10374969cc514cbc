package calltree

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
}

// highest is how high a level may be.
func highest(levels int) float32 {
	if levels <= shallow {
		return fewLevels
	}
	return tallest
}

// A side is which of two compared trees is drawn.
type side uint8

const (
	bothSides side = iota
	hereSide
	thereSide
)

// weight is the value that the width of a box stands for: that of the node and all below
// it.
func (r *result) weight(n *node) float64 {
	here, there := n.inclusive, n.other
	if r.metric.Number == runfacts.NumberCalls {
		here, there = n.calls, n.otherCalls
	}
	switch {
	case r.against == nil:
	case r.side == hereSide:
		here *= r.against.here
	case r.side == thereSide:
		here = there * r.against.there
	default: // the mean of both, so that paths missing on one side are seen too
		here = (here*r.against.here + there*r.against.there) / 2
	}
	return max(here, 0)
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
	if r.bottomUp {
		way = "Callers"
	}
	if r.callers > 0 {
		way = "Callers and callees of " + r.regions[r.tree.nodes[0].region].Name
	}
	return fmt.Sprintf("%s of %s locations: %s paths, %s in all.", way, view.Thousands(int64(r.tree.locations)),
		view.Thousands(int64(len(r.tree.nodes))), r.format(r.total))
}

func (r *result) format(v float64) string {
	if r.metric.Number == runfacts.NumberCalls {
		return view.FormatDuration(v)
	}
	return r.metric.Format(v)
}

// last returns the last node below each: the next sibling follows it. Takes O(nodes).
func (r *result) last() []int32 {
	last := make([]int32, len(r.tree.nodes))
	for i := len(last) - 1; i >= 0; i-- {
		last[i] = max(last[i], int32(i))
		if p := r.tree.nodes[i].parent; p >= 0 {
			last[p] = max(last[p], last[i])
		}
	}
	return last
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
	for i := range r.tree.nodes {
		depth = max(depth, int(r.tree.nodes[i].depth)+1)
	}
	if asked := r.request.Values.Integer("depth"); asked > 0 {
		depth = min(depth, asked)
	}
	sides, head := []side{bothSides}, float32(0)
	if r.against != nil && r.request.Values.Text("form") == "beside" {
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
		sum := 0.0
		for i := range r.tree.nodes {
			if r.tree.nodes[i].parent < 0 {
				sum += r.weight(&r.tree.nodes[i])
			}
		}
		whole = max(whole, sum)
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
		r.sandwich(f)
	}
	last := r.last()
	titles := &scene.Text{Size: scene.TextSize}
	for k, side := range sides {
		r.side = side
		y := f.Y + float32(k)*part
		if side != bothSides && f.H > 120 {
			titles.Add(f.X, y+head-6, scene.Shorten(r.sideTitle(), f.W, scene.TextSize), scene.UIText, scene.Start)
		}
		r.row(0, int32(len(r.tree.nodes))-1, f.X, y+head, f.W, height, whole, 0, last)
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
	whole := 0.0
	for i := range r.tree.nodes {
		if r.tree.nodes[i].parent < 0 {
			whole += r.weight(&r.tree.nodes[i])
		}
	}
	r.row(0, int32(len(r.tree.nodes))-1, f.X, 0, f.W, height, whole, 0, r.last())
	seen, levels := 1, r.levels
	for i := range r.boxes {
		seen = max(seen, int(r.boxes[i].y/height+0.5)+1)
	}
	r.boxes, r.hidden = nil, 0
	return min(seen, levels)
}

// sideTitle names a side and says how much it took.
func (r *drawing) sideTitle() string {
	sum := 0.0
	for i := range r.tree.nodes {
		if r.tree.nodes[i].parent < 0 {
			sum += r.weight(&r.tree.nodes[i])
		}
	}
	name := "here"
	if r.name != "" {
		name = r.name
	}
	switch {
	case r.side == thereSide:
		name = r.against.name
	case r.against.another:
		name = r.request.Runs[0].Name
	}
	value := r.metric.Format(sum)
	if !r.against.another {
		value += " per " + r.against.each
	}
	return name + ": " + value
}

// hereName describes where this side is.
func (r *drawing) hereName() string {
	if r.name != "" {
		return "in " + r.name
	}
	return "here"
}

func (r *drawing) axisLabel() string {
	switch {
	case r.request.Values.Text("form") == "beside" && r.against != nil && r.against.another:
		return "inclusive"
	case r.request.Values.Text("form") == "beside" && r.against != nil:
		return "inclusive, mean per " + r.against.each
	case r.against != nil && r.against.another:
		return "mean of both runs"
	case r.against != nil:
		return "mean per " + r.against.each + ", of both sides"
	case r.metric.Number == runfacts.NumberCalls:
		return "calls"
	case r.bottomUp:
		return "exclusive, by caller"
	case r.callers > 0:
		return "inclusive of " + r.regions[r.tree.nodes[0].region].Name
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
		sum += r.weight(&r.tree.nodes[i])
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
		own := float32(r.weight(&r.tree.nodes[i])/whole) * width
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
			r.row(i+1, last[i], x, y+height, own, height, r.weight(&r.tree.nodes[i]), level+1, last)
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
		n := &r.tree.nodes[b.node]
		g := &r.regions[n.region]
		fill, flags := r.colours.Of(g), scene.Flag(0)
		if n.context || find != "" && !hasName(g, find) {
			flags |= scene.Dimmed
		}
		if r.against != nil {
			fill = scene.Ramp("diverging", 0.5+r.tilt(n)/2)
		}
		if b.count > 1 {
			fill, flags = scene.UIAggregate, scene.Aggregated
		} else {
			width[n.region] += b.w
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
	if r.against != nil {
		s.Legend = append(s.Legend,
			plot.RampKey("time", "diverging", "longer in "+r.against.name, "longer "+r.hereName()))
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
		g := &r.regions[id]
		out = append(out, plot.RegionKey(g.Name, r.colours.Of(g), uint32(id)))
	}
	return out
}

// mostLegend is how many regions the legend names: boxes say their names, as far as these fit.
const mostLegend = 12

// boxLines returns the text of a box: its name, and if there is space its value and number of calls.
func (r *drawing) boxLines(n *node, b *box) (lines []string) {
	name := scene.Shorten(r.label(n), b.w-8, scene.TextSize)
	if name == "" {
		return nil
	}
	lines = []string{name}
	if r.against != nil {
		return lines
	}
	fits := func(t string) bool {
		return float32(len(lines)+1)*linePitch <= b.h-4 && scene.TextWidth(t, scene.TextSize, false) <= b.w-8
	}
	took := r.format(n.inclusive)
	if whole := took + " · " + view.FormatShare(r.base.Share(n.inclusive)); fits(whole) {
		took = whole
	}
	if !fits(took) {
		return lines
	}
	lines = append(lines, took)
	if calls := view.FormatCount(n.calls) + " calls"; n.calls > 0 && fits(calls) {
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
	if f.X == 0 || rows < min(leastTable, len(r.tree.nodes)) || r.against != nil || r.callers > 0 ||
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
	n := &r.tree.nodes[id]
	if count > 1 {
		f := view.Fact{Title: fmt.Sprintf("%s paths too small to be drawn", view.Thousands(int64(count))),
			Count: int64(count),
			Lines: []view.FactLine{{Label: "below", Value: r.parentName(n)}}}
		if n.parent > 0 || n.parent == 0 && !r.zoom.on { // they are wider below their caller alone
			f.Open = r.open(n.parent)
		}
		return f
	}
	f := view.Fact{Title: r.regions[n.region].Name, Text: r.path(int(id)), Open: r.open(id)}
	if id := r.known(n); id != trace.NoRegion {
		f.Regions = []trace.RegionID{id}
	}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	if !r.tree.alone {
		line("inclusive", r.format(n.inclusive), n.inclusive)
	}
	line("of "+r.base.Name, view.FormatShare(r.base.Share(n.inclusive)), r.base.Share(n.inclusive))
	line("exclusive", r.format(n.exclusive), n.exclusive)
	if r.counted {
		line("calls", view.FormatCount(n.calls), n.calls)
	}
	if q, ok := r.spread(n); ok && n.each != nil {
		for k, name := range []string{"2 % of calls", "25 % of calls", "median of a call", "75 % of calls",
			"98 % of calls"} {
			line(name, r.format(q[k]), q[k])
		}
		line("shortest call", r.format(float64(n.each.Min)), float64(n.each.Min))
		line("longest call", r.format(float64(n.each.Max)), float64(n.each.Max))
		line("mean of a call", r.format(n.each.Mean()), n.each.Mean())
		line("standard deviation", r.format(n.each.Deviation()), n.each.Deviation())
	} else if ok && r.tree.locations > 1 {
		line("minimum per location (2 %)", r.format(q[0]), q[0])
		line("median per location", r.format(q[2]), q[2])
		line("maximum per location (98 %)", r.format(q[4]), q[4])
	}
	if d := r.delta(n); d != nil {
		there := n.other * r.against.there
		line("in "+r.against.name, r.format(there), there)
		line("difference", r.format(*d), *d)
	}
	f.Say("node", fmt.Sprint(int(id)+r.zoom.first), "")
	return f
}

func (r *result) parentName(n *node) string {
	if n.parent < 0 {
		return "the top"
	}
	return r.path(int(n.parent))
}
