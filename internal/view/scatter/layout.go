package scatter

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	topRoom   = 24 // for the label of the vertical axis
	rightRoom = 16
	inset     = 10   // between the frame's edge and the outermost points
	most2D    = 4000 // points of the plane; more are joined by cells
	most3D    = 40000
	cells3D   = 48 // cells of each direction where points in space are joined
)

// Item kinds: a spot of the plane with the cells of its grid, or one of space.
const (
	ofSpot = iota + 1
	ofSolid
)

// A spot is a point of the picture with the locations it stands for.
type spot struct {
	x, y, z float64 // 0 … 1
	value   float64 // of the colour; NaN of none
	first   int     // a location
	members []int32 // all of them, where more than one
}

// Scene draws a plane, or a space where three numbers are bound.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	var spots []spot
	if r.solid() {
		spots = r.drawSpace(s, size)
	} else {
		spots = r.drawPlane(s, size)
	}
	r.explain(s, spots)
	return s
}

func (r *result) describe() string {
	what := r.measure[0].Label
	for k, m := range r.measure[1:] {
		if m != nil {
			what += map[int]string{0: " against ", 1: " and ", 2: ", coloured by "}[k] + m.Label
		}
	}
	return fmt.Sprintf("Scatter plot of %s: %s.", view.Count(len(r.locations)-r.unplaced, "location"), what)
}

// spots returns the points to draw: one per location, or one per cell of a grid.
func (r *result) spots(nx, ny, nz, most int) []spot {
	n := len(r.locations) - r.unplaced
	out := make([]spot, 0, min(n, most))
	values := func(i int) float64 {
		if r.measure[colour] == nil {
			return math.NaN()
		}
		return r.measure[colour].Values[i]
	}
	if n <= most {
		for i, ok := range r.placed {
			if ok {
				out = append(out, spot{x: r.at.X[i], y: r.at.Y[i], z: r.at.Z[i], value: values(i), first: i})
			}
		}
		return out
	}
	cell := map[[3]int]int{}
	for i, ok := range r.placed {
		if !ok {
			continue
		}
		x, y, z := r.at.X[i], r.at.Y[i], r.at.Z[i]
		key := [3]int{int(x * float64(nx)), int(y * float64(ny)), int(z * float64(nz))}
		k, seen := cell[key]
		if !seen {
			k = len(out)
			cell[key] = k
			out = append(out, spot{first: i})
		}
		p := &out[k]
		p.x, p.y, p.z = p.x+x, p.y+y, p.z+z
		if v := values(i); !math.IsNaN(v) {
			p.value += v
		}
		p.members = append(p.members, int32(i))
	}
	for k := range out {
		p := &out[k]
		c := float64(len(p.members))
		p.x, p.y, p.z, p.value = p.x/c, p.y/c, p.z/c, p.value/c
	}
	// Spots of most locations come last, on top.
	slices.SortStableFunc(out, func(a, b spot) int { return cmp.Compare(len(a.members), len(b.members)) })
	return out
}

// paint returns the colour of a spot: by the fourth number, else by how many it stands
// for.
func (r *result) paint(p *spot, crowd int) (share float64, has bool) {
	switch {
	case r.measure[colour] != nil && math.IsNaN(p.value):
		return 0, false
	case r.measure[colour] != nil && r.high[colour] > r.low[colour]:
		return (p.value - r.low[colour]) / (r.high[colour] - r.low[colour]), true
	case r.measure[colour] == nil && crowd > 1:
		return math.Log(float64(max(len(p.members), 1))) / math.Log(float64(crowd)), true
	}
	return 0, r.measure[colour] != nil
}

func (r *result) drawPlane(s *scene.Scene, size scene.Size) []spot {
	f := scene.Frame{Name: "main", Y: topRoom, H: max(float32(size.Height)-topRoom-scene.AxisHeight-4, 1)}
	f.YScale = scene.Scale{Kind: "linear", Begin: 0, End: 1}
	if m := r.measure[1]; m != nil {
		f.YScale = r.scale(1, f.H)
	}
	axis := scene.Axis{Unit: r.unit(1)}
	f.X = min(scene.YAxisWidth(f.YScale, f.H, axis), float32(size.Width)/2)
	f.W = max(float32(size.Width)-f.X-rightRoom, 1)
	f.XScale = r.scale(0, f.W)
	s.AddFrame(f)
	s.XAxis(0, scene.Axis{Unit: r.unit(0)})
	if r.measure[1] != nil {
		s.YAxis(0, axis)
	}
	nx, ny := max(int(f.W/4), 1), max(int(f.H/4), 1)
	spots := r.inPlane(nx, ny)
	radius := float32(4)
	if n := len(spots); n > 300 {
		radius = float32(max(2, 4-math.Log10(float64(n)/300)*2))
	}
	crowd := 1
	for i := range spots {
		crowd = max(crowd, len(spots[i].members))
	}
	points := &scene.Point{}
	for i := range spots {
		p := &spots[i]
		x, y := r.pixel(&f, p)
		fill := scene.UIData
		if share, has := r.paint(p, crowd); has {
			fill = scene.Ramp(r.request.Values.Text("palette"), share)
		} else if r.measure[colour] != nil {
			fill = scene.UIAggregate
		}
		points.Add(x, y, radius, fill)
		points.SetItem(s.Item(ofSpot, i, nx, ny))
		if n := len(p.members); n > 1 {
			points.SetCount(uint32(n))
		}
	}
	s.AddLayer("points", 0, points)
	if crowd > 1 && r.measure[colour] == nil {
		r.ramp(s, "locations at a point", "1", view.Thousands(int64(crowd)))
	}
	return spots
}

// scale of an axis of the plane, with some room beyond its ends.
func (r *result) scale(k int, pixels float32) scene.Scale {
	lo, hi := r.low[k], r.high[k]
	if hi <= lo {
		pad := math.Max(math.Abs(lo)*0.1, 0.5)
		return scene.Scale{Kind: "linear", Begin: lo - pad, End: lo + pad, Label: r.measure[k].Label}
	}
	pad := (hi - lo) * float64(inset/max(pixels-2*inset, inset))
	return scene.Scale{Kind: "linear", Begin: lo - pad, End: hi + pad, Label: r.measure[k].Label}
}

func (r *result) unit(k int) string {
	if m := r.measure[k]; m != nil && m.Unit != "count" {
		return m.Unit
	}
	return ""
}

// pixel returns the place of a spot in the plane.
func (r *result) pixel(f *scene.Frame, p *spot) (x, y float32) {
	value := func(k int, at float64) float64 { return r.low[k] + at*(r.high[k]-r.low[k]) }
	y = f.Y + f.H/2
	if r.measure[1] != nil {
		y = f.YPixel(value(1, p.y))
	}
	return f.XPixel(value(0, p.x)), y
}

// drawSpace passes the points to a mark that the page can turn by itself.
func (r *result) drawSpace(s *scene.Scene, size scene.Size) []spot {
	spots := r.inSpace()
	m := &scene.Space{W: float32(size.Width), H: float32(size.Height), Form: scene.Balls,
		Ramp: r.request.Values.Text("palette"), Camera: r.camera, Low: 0, High: 1}
	m.Radius = float32(min(0.018, 0.25/math.Cbrt(float64(max(len(spots), 1)))))
	if len(spots) > 3000 {
		m.Form, m.Radius = scene.Dots, 0.004
	}
	crowd := 1
	for i := range spots {
		crowd = max(crowd, len(spots[i].members))
	}
	for i := range spots {
		p := &spots[i]
		share, _ := r.paint(p, crowd)
		m.Add(float32(p.x), float32(p.y), float32(p.z), float32(share))
	}
	for k := range 3 {
		m.Axes[k] = r.axis(k)
		m.Axes[k].Label = scene.Shorten(m.Axes[k].Label, max(m.W*0.2, 48), scene.TextSize)
	}
	if crowd == 1 { // one location each: the page marks those that are chosen elsewhere
		ids := make([]trace.LocationID, len(spots))
		for i := range spots {
			ids[i] = r.locations[spots[i].first]
		}
		m.Runs = scene.RunsOf(ids)
	}
	m.Of = ofSolid
	s.AddLayer("space", -1, m)
	if crowd > 1 && r.measure[colour] == nil {
		r.ramp(s, "locations at a point", "1", view.Thousands(int64(crowd)))
	}
	return spots
}

// axis of the space: from 0 to 1 as the layout says, labelled with the measure.
func (r *result) axis(k int) scene.SpaceAxis {
	m := r.measure[k]
	if m == nil {
		return scene.SpaceAxis{Begin: 0, End: 1, Stretch: 1}
	}
	a := scene.FitAxis(m.Label, r.low[k], r.high[k], r.unit(k))
	for i, t := range a.Ticks {
		a.Ticks[i].At = (t.At - r.low[k]) / (r.high[k] - r.low[k])
	}
	if len(a.Ticks) == 0 { // a number that is the same for all
		a.Ticks = []scene.Tick{{At: 0, Label: m.Format(r.low[k])}}
	}
	a.Begin, a.End, a.Stretch = 0, 1, 1
	return a
}

func (r *result) ramp(s *scene.Scene, label, low, high string) {
	name := r.request.Values.Text("palette")
	s.Legend = append(s.Legend, plot.RampKey(label, name, low, high))
}

func (r *result) explain(s *scene.Scene, spots []spot) {
	if m := r.measure[colour]; m != nil {
		r.ramp(s, m.Label, m.Format(r.low[colour]), m.Format(r.high[colour]))
	}
	s.Notes = append(s.Notes, r.notes...)
	joined := 0
	for i := range spots {
		joined = max(joined, len(spots[i].members))
	}
	if joined > 1 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("%s locations are drawn as %s points; one stands for up to %s close by, with their mean colour",
				view.Thousands(int64(len(r.locations)-r.unplaced)), view.Thousands(int64(len(spots))),
				view.Thousands(int64(joined))))
	}
}

// inPlane returns the spots of the plane for so many cells; the last are kept for Fact.
func (r *result) inPlane(nx, ny int) []spot {
	if r.plane.spots == nil || r.plane.nx != nx || r.plane.ny != ny {
		r.plane.nx, r.plane.ny, r.plane.spots = nx, ny, r.spots(nx, ny, 1, most2D)
	}
	return r.plane.spots
}

// inSpace returns the spots in space, made once.
func (r *result) inSpace() []spot {
	if r.space == nil {
		r.space = r.spots(cells3D, cells3D, cells3D, most3D)
	}
	return r.space
}

// Fact describes one point.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	spots := r.inSpace
	if it.Of == ofSpot {
		spots = func() []spot { return r.inPlane(int(it.B), int(it.C)) }
	}
	list := spots()
	if it.A < 0 || int(it.A) >= len(list) {
		return view.Fact{}, false
	}
	p := &list[it.A]
	tree := r.request.Store().Locations()
	id := r.locations[p.first]
	f := view.Fact{Title: tree.Path(id), Locations: []trace.LocationID{id}}
	if n := len(p.members); n > 1 {
		f.Count = int64(n)
		f.Title = fmt.Sprintf("%s … (%s locations)", tree.Path(id), view.Thousands(f.Count))
		ids := make([]trace.LocationID, n)
		for i, k := range p.members {
			ids[i] = r.locations[k]
		}
		f.SetLocations(tree, r.holds, ids)
	} else if tree.Rank[id] >= 0 {
		f.Say("rank", fmt.Sprint(tree.Rank[id]), "")
	}
	for k, m := range r.measure {
		if m == nil {
			continue
		}
		label := axisNames[k] + ": " + m.Label
		if f.Count > 1 {
			low, high := r.between(k, p.members)
			f.Say(label, m.Format(low)+" to "+m.Format(high), "")
			continue
		}
		f.SayNumber(label, m.Values[p.first], m.Format)
	}
	if f.Count == 0 {
		f.Lines = append(f.Lines, view.AttributeLines(tree, id)...)
	}
	return f, true
}

func (r *result) between(k int, members []int32) (low, high float64) {
	values := make([]float64, len(members))
	for i, m := range members {
		values[i] = r.measure[k].Values[m]
	}
	return extent(values)
}
