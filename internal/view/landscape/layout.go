package landscape

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Lengths of the box.
const (
	acrossRegions   = 1.0
	acrossLocations = 1.5
	height          = 0.6
)

// ofPlace is the item kind of a place of the grid, region by region.
const ofPlace = 1

// A grid is how many regions and columns are drawn.
type grid struct{ rows, columns int }

func (r *result) grid() grid {
	d := grid{rows: min(len(r.rows), mostRows), columns: min(r.columns, mostAcross)}
	if top := r.request.Values.Integer("top"); top > 0 {
		d.rows = min(len(r.rows), top, 200)
	}
	return d
}

// Scene draws a grid of regions × columns.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := r.grid()
	left := float32(size.Width) * 0.08 // for names of regions
	m := &scene.Space{X: left, W: float32(size.Width) - left, H: float32(size.Height), Form: scene.Mesh,
		Ramp: r.request.Values.Text("palette"), Camera: r.camera, Low: 0, High: 1, Columns: d.columns}
	bars := r.request.Values.Text("shape") == "bars" || d.rows == 1 || d.columns == 1
	if bars {
		m.Form, m.Half, m.Tall = scene.Bars, [2]float32{0.5, 0.4}, 1
		if d.columns <= 64 {
			m.Half[0] = 0.4
		}
	}
	for i := range d.rows {
		for c := range d.columns {
			v, _, _ := r.odd(&r.rows[i], c, d.columns)
			share := float32(r.share(v))
			z := share
			if bars {
				z = 0
			}
			// The highest region is at the back; names of regions have most room on the left.
			m.Add(float32(c), float32(d.rows-1-i), z, share)
		}
	}
	m.Axes[0], m.Axes[1], m.Axes[2] = r.locationAxis(&d), r.regionAxis(&d, max(m.W*0.15, 40)), r.heightAxis()
	m.Of = ofPlace
	s.AddLayer("landscape", -1, m)
	r.explain(s, &d)
	return s
}

func (r *result) describe() string {
	return fmt.Sprintf("Landscape of %s × %s by %s; the highest is %s.", view.Count(len(r.rows), "region"),
		view.Count(len(r.locations), "location"), r.metric.Name, r.metric.Format(r.most))
}

// share is where a value is between nothing and the highest.
func (r *result) share(v float64) float64 {
	if !r.log {
		return max(v, 0) / r.most
	}
	floor := r.floor()
	if v <= floor || r.most <= floor {
		return 0
	}
	return math.Log(v/floor) / math.Log(r.most/floor)
}

// floor of a logarithmic height: a tenth below the least, at most six decades down.
func (r *result) floor() float64 { return max(r.least/1.25, r.most*1e-6) }

// odd returns the value that stands for the locations of a drawn column, that farthest
// from the region's mean, and the columns of the table that it spans.
func (r *result) odd(x *row, k, columns int) (v float64, from, to int) {
	from, to = k*r.columns/columns, (k+1)*r.columns/columns
	v = x.mean
	for c := from; c < to; c++ {
		for _, w := range [2]float64{float64(x.low[c]), float64(x.high[c])} {
			if math.Abs(w-x.mean) >= math.Abs(v-x.mean) {
				v = w
			}
		}
	}
	return v, from, to
}

// regionAxis names the regions, in as much room as is left next to the box.
func (r *result) regionAxis(d *grid, room float32) scene.SpaceAxis {
	a := scene.SpaceAxis{Label: "regions", Begin: -0.5, End: float64(d.rows) - 0.5,
		Stretch: acrossRegions / float64(d.rows)}
	names := make([]string, d.rows)
	for i := range names {
		names[i] = r.regions[r.rows[i].region].Name
	}
	for i, name := range scene.Distinct(names, room, scene.TextSize) {
		a.Ticks = append(a.Ticks, scene.Tick{At: float64(d.rows - 1 - i), Label: name})
	}
	return a
}

func (r *result) locationAxis(d *grid) scene.SpaceAxis {
	a := scene.SpaceAxis{Label: "locations", Begin: -0.5, End: float64(d.columns) - 0.5,
		Stretch: acrossLocations / float64(d.columns)}
	if r.Arrangement() != nil {
		return r.groupTicks(a, d)
	}
	var first []trace.LocationID
	for _, at := range scene.Ticks(0, float64(d.columns-1), 8) {
		if c := int(at); float64(c) == at {
			i, _ := r.members(c * r.columns / d.columns)
			first = append(first, r.locations[i])
			a.Ticks = append(a.Ticks, scene.Tick{At: at})
		}
	}
	for i, name := range runfacts.ShortNames(r.request.Store().Locations(), first) {
		a.Ticks[i].Label = name
	}
	return a
}

// groupTicks names the groups at the first of each.
func (r *result) groupTicks(a scene.SpaceAxis, d *grid) scene.SpaceAxis {
	a.Label = "locations, by groups"
	last := -2
	for c := range d.columns {
		i, _ := r.members(c * r.columns / d.columns)
		if g := r.Arrangement().Group(r.locations[i]); g != last {
			last = g
			label := "in no group"
			if g >= 0 {
				label = r.Arrangement().Groups[g].Name
			}
			a.Ticks = append(a.Ticks, scene.Tick{At: float64(c), Label: label})
		}
	}
	return a
}

func (r *result) heightAxis() scene.SpaceAxis {
	unit := r.metric.Unit
	if unit == "count" {
		unit = ""
	}
	a := scene.SpaceAxis{Label: r.metric.Name, Begin: 0, End: 1, Stretch: height}
	ticks := scene.LinearTicks(0, r.most, 6, unit)
	if r.log {
		ticks = scene.LogTicks(r.floor(), r.most, 6, unit)
	}
	for _, t := range ticks {
		a.Ticks = append(a.Ticks, scene.Tick{At: r.share(t.At), Label: t.Label})
	}
	return a
}

func (r *result) explain(s *scene.Scene, d *grid) {
	name := r.request.Values.Text("palette")
	low := "0"
	if r.log {
		low = r.metric.Format(r.floor())
	}
	s.Legend = append(s.Legend, plot.RampKey(r.metric.Name, name, low, r.metric.Format(r.most)))
	s.Notes = append(s.Notes, r.notes...)
	if a := r.Arrangement(); a != nil {
		s.Notes = append(s.Notes, a.Labels())
	}
	if d.columns < len(r.locations) {
		s.Notes = append(s.Notes,
			fmt.Sprintf("%s locations are drawn as %s places; one stands for up to %s and shows the one farthest "+
				"from its region's mean",
				view.Thousands(int64(len(r.locations))), view.Thousands(int64(d.columns)),
				view.Thousands(int64((len(r.locations)+d.columns-1)/d.columns))))
	}
	if left := len(r.rows) - d.rows; left > 0 {
		s.Notes = append(s.Notes, view.Count(left, "more region")+" not drawn")
	}
}

// Fact returns the region and the locations of a place.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	i, d := int(it.A), r.grid()
	if i < 0 || i >= d.rows*d.columns {
		return view.Fact{}, false
	}
	x := &r.rows[i/d.columns]
	g := &r.regions[x.region]
	v, from, to := r.odd(x, i%d.columns, d.columns)
	first, _ := r.members(from)
	_, last := r.members(to - 1)
	tree := r.request.Store().Locations()
	f := view.Fact{Title: g.Name, Regions: []trace.RegionID{x.region}}
	f.SetLocations(tree, r.holds, slices.Clone(r.locations[first:last]))
	path := tree.Path(r.locations[first])
	line := func(label string, v float64) { f.SayNumber(label, v, r.metric.Format) }
	if last-first > 1 {
		f.Count = int64(last - first)
		path = fmt.Sprintf("%s … (%s locations)", path, view.Thousands(f.Count))
	}
	f.Say("location", path, "")
	if f.Count > 1 {
		line("farthest from the mean", v)
	} else {
		line(r.metric.Name, r.mean(x, from))
	}
	line("mean per location", x.mean)
	line("standard deviation", x.spread)
	if f.Count == 0 {
		f.Lines = append(f.Lines, view.AttributeLines(tree, r.locations[first])...)
	}
	return f, true
}
