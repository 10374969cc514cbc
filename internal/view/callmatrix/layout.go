package callmatrix

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	mostSquare = 150
	// If few squares are left they are large enough to read each slice.
	fewSquares, largeSquare = 4, 480
	goodSquare              = 52 // of squares where the user does not ask for more of them
	cellGap                 = 2
	// mostShapes bounds the shapes of a picture; past it squares show medians alone.
	mostShapes = 24000
)

// ofSquare is the item kind of a square: a caller and a callee, and a place in their
// square.
const ofSquare = 1

// A drawing is where squares are put.
type drawing struct {
	left, x, y, size float32 // the room of names, the first square, and the size of each
	callers          []int32
	callees          []int32
}

// An inside is the content of squares: their boxes, and the colours of these.
type inside struct {
	pairs  map[callgraph.Pair]*drawnPair
	slices int
	scale  colours
	rows   []*colours // of each row
	cutMarks
}

// cutMarks say which marks of calls that began before the window are drawn: of slices that have no others, and of
// squares that do.
type cutMarks struct{ all, some bool }

// A drawnPair is one square: the box of each slice.
type drawnPair struct {
	boxes  []([5]float64)
	has    []bool
	cut    []float64 // mean time in the window of calls that began before it; NaN for none
	static bool
	scale  *colours
	// members are the slices that are drawn, where only some kinds of locations call; nil: all.
	members []int
	// only is the slice of the one group that calls, where slices are groups; -1: there are several.
	only int
	// group is the number, from 1, of the one group whose locations are slices; 0: there are several.
	group int
}

// Scene draws the matrix.
func (r *result) Scene(size scene.Size) *scene.Scene {
	d := r.place(size)
	s := r.frame(size, d, r.describe())
	in := r.inside(d)
	r.paint(s, d, in)
	cut := r.markCut(s, d)
	switch {
	case d.left > 0 && r.byRow():
		drawRowScales(s, d, in.rows, r.format)
	case d.left > 0:
		r.drawKey(s, in)
	}
	r.legend(s, in, cut)
	r.sceneNotes(s, d)
	return s
}

// eachSquare visits the squares on display that have a pair.
func (r *result) eachSquare(d *drawing, f func(key callgraph.Pair, x, y, side float32)) {
	gap := min(cellGap, d.size/8)
	for col, caller := range d.callers {
		for row, callee := range d.callees {
			if key := (callgraph.Pair{Caller: caller, Callee: callee}); r.pairs[key] != nil {
				f(key, d.x+float32(col)*d.size+gap/2, d.y+float32(row)*d.size+gap/2, d.size-gap)
			}
		}
	}
}

// place finds the place of squares, with room for names around them where there is any.
func (r *result) place(size scene.Size) *drawing {
	w, h := float32(size.Width), float32(size.Height)
	left, top := float32(0), float32(0)
	if w >= 200 && h >= 120 {
		left, top = r.labelRoom(w, h)
	}
	right := float32(8)
	if r.byRow() && left > 0 && w > 500 && !r.compared {
		right += rowScaleRoom
	}
	callers, callees := r.choose(max(w-left-right, 1), max(h-top-4, 1))
	most := float32(mostSquare)
	if len(callers)*len(callees) <= fewSquares {
		most = largeSquare
	}
	square := min((w-left-right)/float32(len(callers)), (h-top-4)/float32(len(callees)), most)
	return &drawing{left: left, x: left, y: top, size: max(square, 1), callers: callers, callees: callees}
}

// frame begins a scene: its directions, and the names around the squares.
func (r *result) frame(size scene.Size, d *drawing, description string) *scene.Scene {
	s := scene.New(size, "", description)
	frame := scene.Frame{Name: "main", X: d.x, Y: d.y, W: d.size * float32(len(d.callers)),
		H:      d.size * float32(len(d.callees)),
		XScale: scene.Scale{Kind: "rows", Label: "caller"}, YScale: scene.Scale{Kind: "rows", Label: "callee"}}
	for k, n := range d.callers {
		frame.XScale.Rows = append(frame.XScale.Rows, r.row(n, d.x+float32(k)*d.size, d.size))
	}
	for k, n := range d.callees {
		frame.YScale.Rows = append(frame.YScale.Rows, r.row(n, d.y+float32(k)*d.size, d.size))
	}
	s.AddFrame(frame)
	if d.left > 0 {
		s.RowLabels(0, 0)
		drawColumnLabels(s, &frame, d)
	}
	return s
}

func (r *result) row(node int32, from, size float32) scene.Row {
	out := scene.Row{From: from, To: from + size, Location: scene.NoID, Region: scene.NoID, Label: r.label(node),
		Count: 1}
	if node != callgraph.Root && len(r.nodes[node].Regions) > 0 {
		out.Region = uint32(r.nodes[node].Regions[0])
	}
	return out
}

func (r *result) label(node int32) string {
	if node == callgraph.Root {
		return "(root)"
	}
	return r.nodes[node].Name
}

// labelRoom returns the room for names of callees on the left and callers on top.
func (r *result) labelRoom(w, h float32) (left, top float32) {
	var rows []scene.Row
	for _, c := range r.callees[:min(len(r.callees), 60)] {
		rows = append(rows, scene.Row{Label: r.label(c.node)})
	}
	left = scene.RowLabelWidth(rows, min(w/4, 260))
	for _, c := range r.callers[:min(len(r.callers), 60)] {
		top = max(top, scene.TextWidth(r.label(c.node), scene.TextSize, false))
	}
	// a name of some ten characters, however low the picture
	return left, min(top+12, max(h/4, min(84, h*0.4)), 180) + 14
}

// drawColumnLabels writes the callers upright, and the meaning of the two directions.
func drawColumnLabels(s *scene.Scene, f *scene.Frame, d *drawing) {
	names, heads := &scene.Text{Size: scene.TextSize, Turned: true}, &scene.Text{Size: scene.TextSize}
	every := scene.Thin(d.size, 13, 0)
	labels := make([]string, len(f.XScale.Rows))
	for k := range labels {
		labels[k] = f.XScale.Rows[k].Label
	}
	for k, t := range scene.Distinct(labels, d.y-22, scene.TextSize) {
		if row := f.XScale.Rows[k]; k%every == 0 && t != "" {
			names.Add((row.From+row.To)/2+4, f.Y-6, t, scene.UITextMuted, scene.Start)
		}
	}
	heads.Add(f.X, 11, "callers →", scene.UIText, scene.Start)
	if t := scene.Shorten("callees ↓", f.X-16, scene.TextSize); t != "" {
		heads.Add(f.X-8, f.Y-6, t, scene.UIText, scene.End)
	}
	s.AddLayer("callers", -1, names, heads)
}

// square returns the boxes of a pair, slice by slice.
func (r *result) square(key callgraph.Pair) *drawnPair {
	rows, n := r.slices()
	p := r.pairs[key]
	q := &drawnPair{boxes: make([][5]float64, n), has: make([]bool, n), static: len(p.Owners) == 0 && p.Cut == 0,
		only: -1}
	r.setCuts(q, p)
	if r.over == "locations" {
		if x := r.overLocations(key); x != nil {
			q.boxes[0], q.has[0] = x.Box, true
		}
	}
	for _, i := range p.rows {
		q.boxes[rows[i].Owner], q.has[rows[i].Owner] = r.box(&rows[i]), true
	}
	if r.groupRows != nil && n > 1 && len(p.rows) == 1 && p.Cut == 0 {
		q.only = int(rows[p.rows[0]].Owner)
	}
	return q
}

// manyGroups is from how many groups on a square has no slices of those that never call: most would be empty.
const manyGroups = 5

// part returns by slice which part of the locations it belongs to, where squares have slices only of parts that call:
// the kind of the location, or its group where those are many; nil: squares have all slices.
func (r *result) part() func(slice int) int {
	switch {
	case r.groupRows != nil || r.over == "locations" || r.compared:
		return nil
	case r.byKind:
		turn := map[trace.Kind]int{}
		for _, id := range r.locations {
			if _, seen := turn[r.tree.Kind[id]]; !seen {
				turn[r.tree.Kind[id]] = len(turn)
			}
		}
		return func(slice int) int { return turn[r.tree.Kind[r.locations[slice]]] }
	case r.Arrangement() == nil && r.groups != nil && len(r.groups.Members) >= manyGroups &&
		len(r.groups.Members) < len(r.locations):
		return func(slice int) int { return int(r.groups.Of[slice]) }
	}
	return nil
}

// narrow leaves out the slices of parts that never call: a kernel of GPUs has no slices of threads.
func (r *result) narrow(p *drawnPair) *drawnPair {
	kind := r.part()
	if kind == nil {
		return p
	}
	calls := map[int]bool{}
	for k := range p.has {
		if p.has[k] || !math.IsNaN(p.cut[k]) {
			calls[kind(k)] = true
		}
	}
	q := &drawnPair{static: p.static, scale: p.scale, only: p.only, members: []int{}}
	for k := range p.has {
		if calls[kind(k)] {
			q.boxes, q.has = append(q.boxes, p.boxes[k]), append(q.has, p.has[k])
			q.cut, q.members = append(q.cut, p.cut[k]), append(q.members, k)
		}
	}
	if len(q.members) == 0 || len(q.members) == len(p.has) {
		return p
	}
	if !r.byKind && len(calls) == 1 {
		q.group = kind(q.members[0]) + 1
	}
	return q
}

// alikeColours is how near to each other the colours of groups are that are drawn as one, as a part of the scale.
const alikeColours = 0.03

// whole is the square without slices, where one group calls or all call alike; else as it is.
func (p *drawnPair) whole() *drawnPair {
	slice := p.only
	if slice < 0 && len(p.boxes) > 1 && !slices.Contains(p.has, false) && p.alike() {
		slice = len(p.boxes) / 2
	}
	if slice < 0 {
		return p
	}
	return &drawnPair{boxes: p.boxes[slice : slice+1], has: []bool{true}, scale: p.scale, only: p.only}
}

// alike reports whether the colours of all slices are nearly the same.
func (p *drawnPair) alike() bool {
	for ring := range 5 {
		low, high := math.Inf(1), math.Inf(-1)
		for k := range p.boxes {
			at := p.scale.at(p.boxes[k][ring])
			low, high = min(low, at), max(high, at)
		}
		if high-low > alikeColours {
			return false
		}
	}
	return true
}

// inside gathers the boxes on display and the scales over them.
func (r *result) inside(d *drawing) *inside {
	in := &inside{pairs: map[callgraph.Pair]*drawnPair{}}
	_, in.slices = r.slices()
	r.eachSquare(d, func(key callgraph.Pair, _, _, _ float32) { in.pairs[key] = r.narrow(r.square(key)) })
	in.scale = r.newColours(in.pairs, func(callgraph.Pair) bool { return true })
	for _, callee := range d.callees {
		scale := &in.scale
		if r.byRow() {
			own := r.newColours(in.pairs, func(p callgraph.Pair) bool { return p.Callee == callee })
			scale = &own
		}
		in.rows = append(in.rows, scale)
		for _, caller := range d.callers {
			if p := in.pairs[callgraph.Pair{Caller: caller, Callee: callee}]; p != nil {
				p.scale = scale
			}
		}
	}
	return in
}

// byRow reports whether each row has colours of its own.
func (r *result) byRow() bool { return r.request.Values.Text("span") == "row" }

func (r *result) describe() string {
	_, n := r.slices()
	return fmt.Sprintf("Call matrix of %s on %s, %s time: %s of caller and callee, squares of %s.",
		view.Count(len(r.callees), "region"), view.Count(len(r.locations), "location"), r.metric,
		view.Count(len(r.pairs), "pair"), view.Count(n, "slice"))
}

func (r *result) legend(s *scene.Scene, in *inside, cut bool) {
	c := &in.scale
	what := r.metric + " time per call"
	switch {
	case r.metric == "calls":
		what = "calls"
	case r.over == "locations":
		what = r.metric + " time per location"
	}
	low, high := c.ends(r.format)
	if r.byRow() {
		low, high = "least of the row", "most of the row"
	}
	s.Legend = append(s.Legend, plot.RampKey(fmt.Sprintf("%s, %s", what, c.stretch), c.ramp, low, high))
	s.Legend = append(s.Legend, plot.Key("not called there", scene.UIEmpty))
	in.cutMarks.explain(s, "cut: began before the window")
	if cut {
		s.Legend = append(s.Legend, plot.Key("called by others too, that are not shown", scene.UIWarning))
	}
	if r.over == "calls" {
		r.Arrangement().Explain(s)
	}
}

// corner is the direction in a note.
func (r *result) corner() string {
	if r.striped() {
		return r.direction()
	}
	return r.direction() + " corner"
}

// sceneNotes describes the order of slices and the parts left out.
func (r *result) sceneNotes(s *scene.Scene, d *drawing) {
	_, n := r.slices()
	switch {
	case r.blocks != nil:
		s.Notes = append(s.Notes, fmt.Sprintf("slices %s: %s", r.corner(), strings.Join(r.blocks.Names, ", ")))
	case r.groupRows != nil:
		text := fmt.Sprintf("slices %s: groups 1 to %d, the largest first", r.corner(), n)
		if r.otherGroups > 0 {
			text = fmt.Sprintf("slices %s: groups 1 to %d, the largest first, and the others as one", r.corner(), n-1)
		}
		s.Notes = append(s.Notes, text+r.largestGroups(),
			"a square with a number is of that group alone, one without slices alike in all")
	case n > 1 && r.Arrangement() != nil && r.over == "calls":
		s.Notes = append(s.Notes, "slices "+r.corner()+": group after group, with a line between them")
	case n > 1:
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		s.Notes = append(s.Notes, "slices "+r.corner()+": "+view.NameList(r.names, all, 4))
		switch {
		case r.byKind:
			s.Notes = append(s.Notes, "squares have slices of the kinds of locations that call")
		case r.part() != nil:
			s.Notes = append(s.Notes, "squares have slices of the groups that call, with the number of the group "+
				"where it is one"+r.firstGroups())
		}
	}
	if r.striped() {
		s.Notes = append(s.Notes, "stripes from the bottom: 2, 25, 50, 75, 98 %")
	} else {
		s.Notes = append(s.Notes, "rings from the centre: 2, 25, 50, 75, 98 %")
	}
	r.noteLeftOut(s, d)
	s.Notes = append(s.Notes, r.notes...)
}

// firstGroups names the first groups of locations by one of their members.
func (r *result) firstGroups() string {
	var parts []string
	for k, members := range r.groups.Members[:min(len(r.groups.Members), 4)] {
		parts = append(parts, fmt.Sprintf("%d %s", k+1, view.NameList(r.names, members, 1)))
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// largestGroups names the first groups by one of their members.
func (r *result) largestGroups() string {
	var parts []string
	for k, members := range r.sliceMembers[:min(len(r.sliceMembers), 4)] {
		if len(members) > 0 && !r.isOthers(k) {
			parts = append(parts, fmt.Sprintf("%s %s", r.groupNumber(k), view.NameList(r.names, members, 1)))
		}
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// noteLeftOut says how many rows and columns there are more.
func (r *result) noteLeftOut(s *scene.Scene, d *drawing) {
	if len(d.callees) < len(r.callees) || len(d.callers) < len(r.callers) {
		s.Notes = append(s.Notes,
			fmt.Sprintf("of %s and %s the most telling are shown, by --order %s", view.Count(len(r.callees), "callee"),
				view.Count(len(r.callers), "caller"), r.request.Values.Text("order")))
	}
}

func (r *result) format(v float64) string { return view.FormatIn(v, r.unit) }
