package boxprofile

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	headRoom   = 20 // over the frames, for their names
	bandGap    = 6  // between regions, at least
	mostGap    = 40 // where whole pixels leave room over
	leastLane  = 2  // one pixel of box, one between lanes
	fairLane   = 3  // where that leaves room for some regions
	goodLane   = 9  // a lane is not made lower than this to show more regions
	mostLane   = 22
	swatch     = 12
	columnGap  = 44  // between the axes of counts and of values, for the labels at their ends
	narrowGap  = 20  // where there is little room
	leastWidth = 200 // below it boxes alone are drawn
)

// ofBox is the item kind of a box: a region, and the owner of the box.
const ofBox = 1

// A drawing is a result that is laid out.
type drawing struct {
	*result
	lanes []lane
	gap   float32 // between regions
	cut   bool    // something goes on beyond the axis
	// violins: outlines of distributions are drawn
	violins bool
	open    bool // calls that began before the window are drawn
	boxes   scene.Frame
	bars    scene.Frame
}

// A lane is the place of one box.
type lane struct {
	region int // of result.regions
	owner  int32
	row    *callgraph.Row // nil: not called here
	cut    *callgraph.Cut // calls that began before the window; nil: none
	y, h   float32
	spread span
}

// owners is the number of lanes that a region has: locations, groups, or one for all.
func (r *result) owners() int {
	switch {
	case r.overAll():
		return 1
	case r.groupRows != nil:
		return len(r.groups.Members)
	}
	return len(r.locations)
}

// fit computes how many regions are drawn, the height of a lane and the gap between
// regions. Lanes have whole pixels, so that all look alike and none fuse.
func (r *drawing) fit(height float32) (regions int, laneHeight, gap float32) {
	n := float32(r.owners())
	want := max(leastLane, min(goodLane, height/6/n))
	if want < fairLane && 3*(fairLane*n+bandGap) <= height {
		want = fairLane
	}
	regions = max(1, min(len(r.regions), int((height+bandGap)/(want*n+bandGap))))
	if r.shown > 0 {
		regions = min(r.shown, len(r.regions), max(1, int((height+bandGap)/(leastLane*n+bandGap))))
	}
	laneHeight = ((height+bandGap)/float32(regions) - bandGap) / n
	laneHeight = max(min(laneHeight, mostLane), min(leastLane, height/n))
	if laneHeight >= leastLane {
		laneHeight = float32(math.Floor(float64(laneHeight)))
	}
	gap = bandGap
	if regions > 1 && laneHeight < goodLane {
		gap = min(max((height-float32(regions)*laneHeight*n)/float32(regions-1), bandGap), mostGap)
	}
	return regions, laneHeight, float32(math.Floor(float64(gap)))
}

// Scene draws bands of regions: names, colours of locations, bars of calls, boxes.
func (r *result) Scene(size scene.Size) *scene.Scene { return (&drawing{result: r}).scene(size) }

func (r *drawing) scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	top, bottom := float32(headRoom), float32(scene.AxisHeight+4)
	if h < 100 {
		top, bottom = 0, 0
	}
	plot := max(h-top-bottom, 1)
	regions, laneHeight, gap := r.fit(plot)
	r.gap = gap
	r.lanes = r.place(regions, laneHeight, top)
	used := min(float32(regions)*(laneHeight*float32(r.owners())+gap)-gap, plot)
	rows := r.scaleRows(regions, laneHeight, top)
	left := float32(0)
	if w >= leastWidth {
		left = scene.RowLabelWidth(rows, min(w/4, 240))
	}
	colours := scene.Frame{Name: "locations", X: left, Y: top, W: swatch, H: used,
		YScale: scene.Scale{Kind: "rows", Rows: rows}}
	if w < leastWidth {
		colours.W = min(4, w/4)
	}
	rest := w - left - colours.W
	bars := scene.Frame{Name: "calls", X: left + colours.W + 8, Y: top, W: max(rest*0.22, 1), H: used,
		XScale: scene.Scale{Kind: "linear", Begin: 0, End: max(r.mostCalls(), 1)}}
	if w < leastWidth {
		bars.W = 1
	}
	between := float32(columnGap)
	if w < 2*leastWidth {
		between = narrowGap
	}
	boxes := scene.Frame{Name: "main", X: bars.X + bars.W + between, Y: top, H: used, XScale: r.scale()}
	boxes.W = max(w-boxes.X-14, 1)
	boxes.YScale = scene.Scale{Kind: "rows", Rows: rows}
	for _, f := range []scene.Frame{colours, bars, boxes} {
		s.AddFrame(f)
	}
	r.bars, r.boxes = bars, boxes
	aims := &scene.Rect{}
	for _, l := range r.lanes {
		aims.AddAim(0, l.y, boxes.X+boxes.W, l.h, s.Item(ofBox, l.region, int(l.owner)))
	}
	s.AddLayer("items", -1, aims)
	if left > 0 {
		s.RowLabels(0, 0)
	}
	if bottom > 0 {
		s.XAxis(1, scene.Axis{Unit: "count"})
		s.XAxis(2, scene.Axis{Unit: r.unit})
		r.heads(s, &bars, &boxes)
	}
	r.bands(s, rows, w)
	r.paint(s, &colours, &bars, &boxes)
	r.separate(s, &colours, w)
	r.legend(s)
	s.Notes = r.Notes()
	if hidden := len(r.regions) - regions; hidden > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("of %s the first by %s are shown", view.Count(len(r.regions), "region"), r.orderWords()))
	}
	return s
}

// separate draws a line between lanes of different groups.
func (r *drawing) separate(s *scene.Scene, from *scene.Frame, width float32) {
	if r.Arrangement() == nil || r.overAll() || r.groupRows != nil {
		return
	}
	lines := &scene.Line{Width: 1}
	for i := 1; i < len(r.lanes); i++ {
		a, b := &r.lanes[i-1], &r.lanes[i]
		if a.region == b.region &&
			r.Arrangement().Group(r.locations[a.owner]) != r.Arrangement().Group(r.locations[b.owner]) {
			lines.Add(from.X, b.y, width-14, b.y, scene.UIGrid)
		}
	}
	s.AddLayer("groups of rows", -1, lines)
}

func (r *drawing) orderWords() string {
	if r.pair && r.request.Values.Text("order") == "differs" {
		return "how much the runs differ"
	}
	return map[string]string{"differs": "how much locations differ", "calls": "number of calls", "total": "total",
		"longest": "longest call", "name": "name"}[r.request.Values.Text("order")]
}

func (r *drawing) describe() string {
	g := &r.regions[0]
	return fmt.Sprintf("Box plots of %s of %s on %s; first %s.", r.what(), view.Count(len(r.regions), "region"),
		view.Count(len(r.locations), "location"), r.nodes[g.Callee].Name)
}

func (r *result) what() string {
	each := "per call"
	if r.over == "locations" {
		each = "per location"
	}
	switch r.metric {
	case "exclusive", "inclusive":
		return r.metric + " time " + each
	case "calls":
		return "calls " + each
	}
	return r.metric + " " + each
}

func (r *drawing) barsLabel() string {
	if r.over == "locations" {
		return "locations"
	}
	return "calls"
}

// heads names the two columns over their frames.
func (r *drawing) heads(s *scene.Scene, bars, boxes *scene.Frame) {
	const quantiles = ": 2, 25, 50, 75, 98 %"
	what, _, _ := strings.Cut(r.what(), " per ")
	short, _, _ := strings.Cut(what, " ")
	head := scene.Longest(boxes.W, r.what()+quantiles, what+quantiles, r.what(), what, short)
	s.AddLayer("heads", -1, plot.Head(bars, r.barsLabel(), scene.UIText), plot.Head(boxes, head, scene.UIText))
}

// scaleRows returns the bands as rows of a scale.
func (r *drawing) scaleRows(regions int, laneHeight, top float32) []scene.Row {
	rows := make([]scene.Row, regions)
	height := laneHeight * float32(r.owners())
	for k := range rows {
		y := top + float32(k)*(height+r.gap)
		n := &r.nodes[r.regions[k].Callee]
		rows[k] = scene.Row{From: y, To: y + height, Location: scene.NoID, Region: regionOf(n), Label: n.Name,
			Count: r.owners()}
	}
	return rows
}

// regionOf is the region of a row; none of those that the second run alone has.
func regionOf(n *callgraph.Node) uint32 {
	if len(n.Regions) == 0 {
		return scene.NoID
	}
	return uint32(n.Regions[0])
}

// lane finds the box of a region and an owner.
func (r *result) lane(region int, owner int32) lane {
	g := &r.regions[region]
	l := lane{region: region, owner: owner, cut: r.cutOf(g.Callee, owner), spread: span{math.NaN(), math.NaN()}}
	switch {
	case r.overAll():
		l.row = r.overRow(g)
	case r.groupRows != nil:
		for _, i := range g.groups {
			if r.groupRows[i].Owner == owner {
				l.row, l.spread = &r.groupRows[i], g.spread[owner]
			}
		}
	default:
		for _, i := range g.Rows {
			if r.rows[i].Owner == owner {
				l.row = &r.rows[i]
			}
		}
	}
	return l
}

// place gives every lane its place.
func (r *drawing) place(regions int, laneHeight, top float32) []lane {
	owners := r.owners()
	lanes := make([]lane, 0, regions*owners)
	y := top
	for k := range regions {
		g := &r.regions[k]
		first := len(lanes)
		for o := range owners {
			lanes = append(lanes,
				lane{region: k, owner: int32(o), cut: r.cutOf(g.Callee, int32(o)), y: y + float32(o)*laneHeight,
					h: laneHeight, spread: span{math.NaN(), math.NaN()}})
		}
		switch {
		case r.overAll():
			lanes[first].row, lanes[first].owner = r.overRow(g), -1
		case r.groupRows != nil:
			for _, i := range g.groups {
				l := &lanes[first+int(r.groupRows[i].Owner)]
				l.row, l.spread = &r.groupRows[i], g.spread[l.owner]
			}
		default:
			for _, i := range g.Rows {
				lanes[first+int(r.rows[i].Owner)].row = &r.rows[i]
			}
		}
		y += float32(owners)*laneHeight + r.gap
	}
	return lanes
}

func (r *drawing) mostCalls() (most float64) {
	if r.overAll() {
		return float64(len(r.locations))
	}
	for _, l := range r.lanes {
		if l.row != nil {
			most = max(most, l.row.Count)
		}
	}
	return most
}

// scale of the boxes: over the drawn values, unless the user says otherwise.
func (r *drawing) scale() scene.Scale {
	low, high := math.Inf(1), 0.0
	take := func(values ...float64) {
		for _, v := range values {
			if v > 0 && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	for _, l := range r.lanes {
		if l.cut != nil && r.timed() {
			take(l.cut.Min, l.cut.Max)
		}
		if l.row == nil {
			continue
		}
		// The smallest positive value drawn, whichever quantile that is: where the
		// lowest is 0 the others still have their places.
		take(append(l.row.Box[:], l.spread.low, l.spread.high)...)
	}
	if !(high > 0) {
		high = 1
	}
	out := scene.Scale{Kind: "linear", Begin: 0, End: high * 1.02, Label: ""}
	if r.stretch == "log" {
		low = min(low, high)
		out = scene.Scale{Kind: "log", Begin: math.Pow(10, math.Floor(math.Log10(low)*4)/4),
			End: math.Pow(10, math.Ceil(math.Log10(high)*4+0.01)/4)}
	}
	if !math.IsNaN(r.low) && (out.Kind != "log" || r.low > 0) {
		out.Begin = r.low
	}
	if !math.IsNaN(r.high) && r.high > out.Begin {
		out.End = r.high
	}
	if !(out.End > out.Begin) {
		out.End = out.Begin + 1
	}
	return out
}

// colour of a lane: of its location or of its group.
func (r *result) colour(l *lane) scene.Colour {
	switch {
	case r.overAll():
		n := &r.nodes[r.regions[l.region].Callee]
		return r.regionColours.Named(n.Name, n.Role)
	case r.groupRows != nil:
		return view.GroupColour(r.number(int(l.owner)))
	case r.byGroup():
		return view.GroupColour(r.number(int(r.groups.Of[l.owner])))
	}
	return r.own(int(l.owner))
}

// own is the colour of one location: a hue while they are few, else its place on a ramp.
func (r *result) own(i int) scene.Colour {
	if n := len(r.locations); n > mostHues {
		return scene.Ramp(ownRamp, ownEnd*float64(i)/float64(n-1))
	}
	return scene.LocationColour(i)
}

// The ramp of locations; its last colours are too pale for a line.
const ownRamp, ownEnd = "viridis", 0.88

func (r *drawing) legend(s *scene.Scene) {
	add := func(label string, c scene.Colour, f scene.Flag) {
		s.Legend = append(s.Legend, plot.FlaggedKey(label, c, f))
	}
	switch {
	case r.overAll():
		r.legendCut(s)
		return
	case r.groupRows != nil || r.byGroup():
		r.legendGroups(add)
	case len(r.locations) > mostHues:
		n := len(r.locations)
		s.Legend = append(s.Legend,
			plot.RangeKey("location, in the order of the boxes", r.own(0), r.own(n-1), r.names[0], r.names[n-1]))
	default:
		for i, name := range r.names {
			if g := r.Arrangement().Group(r.locations[i]); g >= 0 {
				name = fmt.Sprintf("%s (group %d)", name, g+1)
			}
			add(name, scene.LocationColour(i), 0)
		}
	}
	add("not called here", scene.UIEmpty, scene.Hatched)
	r.legendCut(s)
}

// legendGroups names groups, and their members where that is short.
func (r *drawing) legendGroups(add func(string, scene.Colour, scene.Flag)) {
	counts := make([]int, len(r.groups.Members))
	for k, members := range r.groups.Members {
		counts[r.number(k)] = len(members)
	}
	others, some := view.OtherGroups(counts)
	for k, members := range r.groups.Members {
		label := r.groupName(k)
		switch names := view.NameList(r.names, members, 5); {
		case label == names:
		case len(names) < 24:
			label += ": " + names
		default:
			label += ": " + view.Count(len(members), "location")
		}
		if r.numbers != nil && r.groupRows == nil {
			label = r.Arrangement().Label(r.number(k))
		}
		if c := view.GroupColour(r.number(k)); c != others.Colour || !some {
			add(label, c, 0)
		}
	}
	if some {
		add(others.Label, others.Colour, 0)
	}
}

// legendCut explains the marks of values outside the axis.
func (r *drawing) legendCut(s *scene.Scene) {
	if r.violins {
		s.Legend = append(s.Legend, plot.FlaggedKey("outline: calls with several modes", scene.UIData, scene.Dimmed))
	}
	if r.open {
		s.Legend = append(s.Legend,
			plot.FlaggedKey("cut: began before the window", scene.UIData, scene.Hatched|scene.Outlined))
	}
	if !r.cut {
		return
	}
	label := "goes on beyond the axis"
	if r.boxes.XScale.Kind == "log" {
		label += ", or down to 0"
	}
	s.Legend = append(s.Legend, plot.Key(label, scene.UIWarning))
}

func (r *result) locationsOf(l *lane) []trace.LocationID {
	switch {
	case l.owner < 0:
		return nil
	case r.pair:
		return nil
	case r.groupRows != nil:
		out := []trace.LocationID{}
		for _, m := range r.groups.Members[l.owner] {
			out = append(out, r.locations[m])
		}
		return out
	}
	return []trace.LocationID{r.locations[l.owner]}
}
