package callmatrix

import (
	"fmt"
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	mostSquare = 150
	// Where few squares are left they are large enough to read each slice.
	fewSquares, largeSquare = 4, 480
	goodSquare              = 40 // of squares where the user does not ask for more of them
	cellGap                 = 2
	// mostShapes bounds what a picture holds; past it squares show medians alone.
	mostShapes = 24000
)

// A drawing remembers where things were put, for Pick.
type drawing struct {
	x, y, size float32 // of the first square, and of each
	callers    []int32
	callees    []int32
	pairs      map[callgraph.Pair]*drawnPair
	slices     int
	scale      colours
	rows       []*colours // of each row
}

// A drawnPair is one square: the box of each slice.
type drawnPair struct {
	boxes  []([5]float64)
	has    []bool
	static bool
	scale  *colours
}

// leastSquare is how small squares may get so that n slices can still be seen.
func leastSquare(n int) float32 {
	switch {
	case n <= 4:
		return 20
	case n <= 16:
		return 28
	}
	return 36
}

// choose picks callees and callers that fit: the most telling rows first, then
// the callers of those.
func (r *result) choose(width, height float32) (callers, callees []int32) {
	_, n := r.slices()
	least := max(leastSquare(n), goodSquare)
	top := r.request.Values.Integer("top")
	if top > 0 {
		least = leastSquare(n)
	}
	rows := max(int(height/least), 1)
	if top > 0 {
		rows = min(rows, top)
	}
	in := map[int32]bool{}
	for _, c := range r.callees[:min(rows, len(r.callees))] {
		callees = append(callees, c.node)
		in[c.node] = true
	}
	used := map[int32]bool{}
	for key := range r.pairs {
		if in[key.Callee] {
			used[key.Caller] = true
		}
	}
	columns := max(int(width/least), 1)
	for _, c := range r.callers {
		if used[c.node] && len(callers) < columns {
			callers = append(callers, c.node)
		}
	}
	return callers, callees
}

// Scene draws the matrix.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	left, top := float32(0), float32(0)
	if w >= 200 && h >= 120 {
		left, top = r.labelRoom(w, h)
	}
	right := float32(8)
	if r.byRow() && left > 0 && w > 500 {
		right += rowScaleRoom
	}
	callers, callees := r.choose(max(w-left-right, 1), max(h-top-4, 1))
	most := float32(mostSquare)
	if len(callers)*len(callees) <= fewSquares {
		most = largeSquare
	}
	square := min((w-left-right)/float32(len(callers)), (h-top-4)/float32(len(callees)), most)
	square = max(square, 1)
	r.drawn = drawing{x: left, y: top, size: square, callers: callers, callees: callees}
	_, r.drawn.slices = r.slices()
	r.collect()
	frame := scene.Frame{Name: "main", X: left, Y: top, W: square * float32(len(callers)), H: square * float32(len(callees)),
		XScale: scene.Scale{Kind: "rows", Label: "caller"}, YScale: scene.Scale{Kind: "rows", Label: "callee"}}
	for k, n := range callers {
		frame.XScale.Rows = append(frame.XScale.Rows, r.row(n, left+float32(k)*square, square))
	}
	for k, n := range callees {
		frame.YScale.Rows = append(frame.YScale.Rows, r.row(n, top+float32(k)*square, square))
	}
	s.AddFrame(frame)
	if left > 0 {
		s.RowLabels(0, 0)
		r.columnLabels(s, &frame, top)
	}
	r.paint(s)
	switch {
	case left > 0 && r.byRow():
		r.rowScales(s)
	case left > 0:
		r.key(s)
	}
	r.legend(s)
	r.sceneNotes(s)
	return s
}

func (r *result) row(node int32, from, size float32) scene.Row {
	out := scene.Row{From: from, To: from + size, Location: scene.NoID, Region: scene.NoID, Label: r.label(node), Count: 1}
	if node != callgraph.Root {
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

// labelRoom gives the room for names of callees on the left and callers on top.
func (r *result) labelRoom(w, h float32) (left, top float32) {
	var rows []scene.Row
	for _, c := range r.callees[:min(len(r.callees), 60)] {
		rows = append(rows, scene.Row{Label: r.label(c.node)})
	}
	left = scene.RowLabelWidth(rows, min(w/4, 260))
	for _, c := range r.callers[:min(len(r.callers), 60)] {
		top = max(top, scene.TextWidth(r.label(c.node), scene.TextSize, false))
	}
	return left, min(top+12, h/4, 180) + 14
}

// columnLabels writes the callers upright, and what the two directions mean.
func (r *result) columnLabels(s *scene.Scene, f *scene.Frame, top float32) {
	names, heads := &scene.Text{Size: scene.TextSize, Turned: true}, &scene.Text{Size: scene.TextSize}
	every := scene.Thin(r.drawn.size, 13, 0)
	for k, row := range f.XScale.Rows {
		if k%every == 0 {
			if t := scene.Shorten(row.Label, top-22, scene.TextSize); t != "" {
				names.Add((row.From+row.To)/2+4, f.Y-6, t, scene.UITextMuted, scene.Start)
			}
		}
	}
	heads.Add(f.X, 11, "callers →", scene.UIText, scene.Start)
	if t := scene.Shorten("callees ↓", f.X-16, scene.TextSize); t != "" {
		heads.Add(f.X-8, f.Y-6, t, scene.UIText, scene.End)
	}
	s.AddLayer("callers", -1, names, heads)
}

// collect gathers the boxes on display and the scale over them.
func (r *result) collect() {
	d := &r.drawn
	d.pairs = map[callgraph.Pair]*drawnPair{}
	rows, n := r.slices()
	for _, caller := range d.callers {
		for _, callee := range d.callees {
			key := callgraph.Pair{Caller: caller, Callee: callee}
			p := r.pairs[key]
			if p == nil {
				continue
			}
			q := &drawnPair{boxes: make([][5]float64, n), has: make([]bool, n), static: len(p.all) == 0}
			if r.over == "locations" && len(p.all) > 0 {
				q.boxes[0], _ = r.overLocations(key)
				q.has[0] = true
			}
			for _, i := range p.rows {
				q.boxes[rows[i].Owner], q.has[rows[i].Owner] = r.box(&rows[i]), true
			}
			d.pairs[key] = q
		}
	}
	d.scale = r.newColours(func(callgraph.Pair) bool { return true })
	for _, callee := range d.callees {
		scale := &d.scale
		if r.byRow() {
			own := r.newColours(func(p callgraph.Pair) bool { return p.Callee == callee })
			scale = &own
		}
		d.rows = append(d.rows, scale)
		for _, caller := range d.callers {
			if p := d.pairs[callgraph.Pair{Caller: caller, Callee: callee}]; p != nil {
				p.scale = scale
			}
		}
	}
}

// byRow reports whether each row has colours of its own.
func (r *result) byRow() bool { return r.request.Values.Text("span") == "row" }

// colours turn values into a ramp.
type colours struct {
	low, high float64
	stretch   string
	values    []float64 // ascending, for ranks
	ramp      string
}

// newColours spans the lowest to the highest value on display of some pairs.
func (r *result) newColours(of func(callgraph.Pair) bool) colours {
	c := colours{low: math.Inf(1), high: math.Inf(-1), stretch: r.request.Values.Text("stretch"), ramp: r.request.Values.Text("palette")}
	if r.request.Values.Switch("paper") {
		c.ramp = "green-red"
		if !r.request.Values.Set("stretch") {
			c.stretch = "linear"
		}
	}
	for key, p := range r.drawn.pairs {
		if !of(key) {
			continue
		}
		for i, box := range p.boxes {
			if p.has[i] {
				c.low, c.high = min(c.low, box[0]), max(c.high, box[4])
				if c.stretch == "rank" {
					c.values = append(c.values, box[:]...)
				}
			}
		}
	}
	if c.low > c.high {
		c.low, c.high = 0, 0
	}
	if !math.IsNaN(r.low) {
		c.low = r.low
	}
	if !math.IsNaN(r.high) {
		c.high = max(r.high, c.low)
	}
	sort.Float64s(c.values)
	return c
}

// at gives the place of a value from 0 to 1.
func (c *colours) at(v float64) float64 {
	switch {
	case c.low == c.high:
		return 0
	case c.stretch == "log":
		// From 1 ns (or one call) on, so that an empty call does not take all the room.
		low, high := math.Log(max(c.low, 1)), math.Log(max(c.high, 1))
		if low == high {
			return 0
		}
		return (math.Log(max(v, 1)) - low) / (high - low)
	case c.stretch == "rank":
		first := sort.SearchFloat64s(c.values, v)
		last := sort.Search(len(c.values), func(i int) bool { return c.values[i] > v })
		return (float64(first) + float64(max(last-1, first))) / 2 / float64(max(len(c.values)-1, 1))
	}
	return (v - c.low) / (c.high - c.low)
}

func (c *colours) colour(v float64) scene.Colour { return scene.Ramp(c.ramp, c.at(v)) }

func (r *result) describe() string {
	_, n := r.slices()
	return fmt.Sprintf("Call matrix of %s on %s, %s time: %s of caller and callee, squares of %s.", view.Count(len(r.callees), "region"), view.Count(len(r.locations), "location"), r.metric, view.Count(len(r.pairs), "pair"), view.Count(n, "slice"))
}

func (r *result) legend(s *scene.Scene) {
	c := &r.drawn.scale
	what := r.metric + " time a call"
	switch {
	case r.metric == "calls":
		what = "calls"
	case r.over == "locations":
		what = r.metric + " time a location"
	}
	low, high := r.format(c.low), r.format(c.high)
	if r.byRow() {
		low, high = "least of the row", "most of the row"
	}
	s.Legend = append(s.Legend, scene.LegendEntry{Label: fmt.Sprintf("%s, %s", what, c.stretch), Colour: scene.Ramp(c.ramp, 0), RampEnd: scene.Ramp(c.ramp, 1),
		RampLow: low, RampHigh: high, Region: scene.NoID, Parent: scene.NoID})
	s.Legend = append(s.Legend, scene.LegendEntry{Label: "not called there", Colour: scene.UIEmpty, Region: scene.NoID, Parent: scene.NoID})
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

// sceneNotes say how slices run and what was left out.
func (r *result) sceneNotes(s *scene.Scene) {
	_, n := r.slices()
	switch {
	case r.groupRows != nil:
		s.Notes = append(s.Notes, fmt.Sprintf("slices %s: groups 1 to %d, the largest first", r.corner(), n))
	case n > 1 && r.Arrangement() != nil && r.over == "calls":
		s.Notes = append(s.Notes, "slices "+r.corner()+": group after group, with a line between them")
	case n > 1:
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		s.Notes = append(s.Notes, "slices "+r.corner()+": "+view.NameList(r.names, all, 4))
	}
	if r.striped() {
		s.Notes = append(s.Notes, "stripes from the bottom: 2, 25, 50, 75, 98 %")
	} else {
		s.Notes = append(s.Notes, "rings from the centre: 2, 25, 50, 75, 98 %")
	}
	if len(r.drawn.callees) < len(r.callees) || len(r.drawn.callers) < len(r.callers) {
		s.Notes = append(s.Notes, fmt.Sprintf("of %s and %s the most telling are shown, by --order %s; the table has all", view.Count(len(r.callees), "callee"), view.Count(len(r.callers), "caller"), r.request.Values.Text("order")))
	}
	s.Notes = append(s.Notes, r.notes...)
}

func (r *result) format(v float64) string {
	if r.unit == "ns" {
		return view.FormatDuration(v)
	}
	return view.FormatCount(v)
}
