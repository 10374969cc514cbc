package activity

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// A smaller picture is a minimap: colours alone, edge to edge.
	minimapHeight, minimapWidth = 72, 160
	// leastColumn is how wide a bin is drawn at least, in pixels.
	leastColumn = 1.5
	topRoom     = 24 // for the label of the vertical axis
	rightRoom   = 12
)

// ofPlace is the item kind of a place of the picture, whose columns have so many bins.
const ofPlace = 1

// columns are bins that are drawn together.
type columns struct {
	first []int       // first bin of each column, and the end
	tops  [][]float64 // share up to and including the series, by column
}

// Scene draws shares as stacked columns that touch.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	f := scene.Frame{
		Name: "main", W: float32(size.Width), H: float32(size.Height),
		XScale: scene.Scale{Kind: "time", Begin: float64(r.selection.Begin), End: float64(r.selection.Begin + r.length),
			Label: "time"},
		YScale: scene.Scale{Kind: "linear", Begin: 0, End: r.top(),
			Label: "share of " + view.Count(r.rows, "location")},
	}
	minimap := size.Height < minimapHeight || size.Width < minimapWidth
	axis := scene.Axis{Unit: "share"}
	if !minimap {
		f.Y, f.H = topRoom, f.H-topRoom-scene.AxisHeight-4
		f.X = scene.YAxisWidth(f.YScale, f.H, axis)
		f.W -= f.X + rightRoom
	}
	s.AddFrame(f)
	if !minimap {
		s.XAxis(0, scene.Axis{NoGrid: true})
		s.YAxis(0, axis)
	}
	join := max(1, int(math.Ceil(float64(leastColumn)*float64(r.bins())/float64(max(f.W, 1)))))
	drawn, shapes, aim := r.columns(join), &scene.Polygon{}, &scene.Rect{}
	aim.AddAim(f.X, f.Y, f.W, f.H, s.Place(ofPlace, join))
	for k := len(r.series) - 1; k >= 0; k-- {
		if r.blank(k) {
			continue
		}
		xs, ys := r.outline(&f, &drawn, k)
		if len(xs) > 2 {
			shapes.Add(xs, ys, r.colour(k))
		}
	}
	s.AddLayer("shares", 0, aim, shapes)
	for k := range r.series {
		if r.blank(k) {
			s.Notes = []string{"time in which only annotations are recorded is blank"}
			continue
		}
		e := plot.Key(r.series[k].name, r.colour(k))
		if r.series[k].kind == ofRegion {
			e.Region = uint32(r.series[k].region)
		}
		s.Legend = append(s.Legend, e)
	}
	s.Notes = append(s.Notes, r.notes...)
	return s
}

// blank reports whether a series is not drawn: an annotation is open round what a location does and tells nothing of
// it. It is the top of the stack, and drawn where it is all there is.
func (r *result) blank(k int) bool {
	s := &r.series[k]
	return s.kind == ofRole && s.role == trace.RoleAnnotation && len(r.series) > 1
}

// top is a round share that no bin exceeds: where few of many locations are
// ever active at once, a stack in the whole would be too low to read.
func (r *result) top() float64 {
	most := r.least
	for b := range r.bins() {
		left := r.left(b)
		if last := len(r.series) - 1; r.blank(last) {
			left += r.at(b, last)
		}
		most = max(most, 1-float64(left)/float64(r.whole(b)))
	}
	for _, top := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6} {
		if most <= top {
			return top
		}
	}
	return 1
}

// ShareScale implements view.Scaled.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	r.length, r.least = max(r.length, other.length), max(r.top(), other.top())
	other.length, other.least = r.length, r.least
}

func (r *result) describe() string {
	return fmt.Sprintf("Activity of %s from %s to %s: shares of %d kinds of activity over time.",
		view.Count(r.rows, "location"), view.FormatTime(r.selection.Begin), view.FormatTime(r.selection.End),
		len(r.series))
}

func (r *result) colour(k int) scene.Colour {
	switch s := &r.series[k]; s.kind {
	case ofRegion:
		return r.colours.Named(s.label, s.role)
	case ofOther:
		return scene.UIAggregate
	default:
		return scene.RoleColour(uint8(s.role))
	}
}

// columns joins as many bins as make a column wide enough to be seen.
func (r *result) columns(join int) columns {
	d := columns{}
	for b := 0; b < r.bins(); b += join {
		d.first = append(d.first, b)
		whole := trace.Time(0)
		tops := make([]float64, len(r.series))
		for k := b; k < min(b+join, r.bins()); k++ {
			whole += r.whole(k)
			for s := range tops {
				tops[s] += float64(r.at(k, s))
			}
		}
		sum := 0.0
		for s := range tops {
			sum += tops[s]
			tops[s] = sum / float64(whole)
		}
		d.tops = append(d.tops, tops)
	}
	d.first = append(d.first, r.bins())
	return d
}

// outline returns the steps of a series down to the lower edge; the series below
// are drawn over it.
func (r *result) outline(f *scene.Frame, drawn *columns, k int) (xs, ys []float32) {
	bottom := f.Y + f.H
	level := bottom
	add := func(x, y float32) { xs, ys = append(xs, x), append(ys, y) }
	add(f.XPixel(float64(r.edges[0])), bottom)
	for c, tops := range drawn.tops {
		y := f.YPixel(min(tops[k], f.YScale.End))
		if y == level {
			continue
		}
		x := f.XPixel(float64(r.edges[drawn.first[c]]))
		add(x, level)
		add(x, y)
		level = y
	}
	end := f.XPixel(float64(r.edges[r.bins()]))
	add(end, level)
	add(end, bottom)
	return xs, ys
}

// Fact returns the shares of the column at a place, and the series there.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	d := r.columns(int(it.A))
	x, y := it.Place()
	t := float64(r.selection.Begin) + x*float64(r.length)
	c := 0
	for c < len(d.tops)-1 && float64(r.edges[d.first[c+1]]) <= t {
		c++
	}
	begin, end := r.edges[d.first[c]], r.edges[d.first[c+1]]
	fact := view.Fact{
		Title: r.leftName, Begin: &begin, End: &end,
	}
	fact.SayTime("from", begin)
	fact.SayTime("to", end)
	at := (1 - y) * r.top()
	below := 0.0
	for k := range r.series {
		top := d.tops[c][k]
		if at >= below && at < top {
			fact.Title = r.series[k].name
			if r.series[k].kind == ofRegion {
				fact.Regions = []trace.RegionID{r.series[k].region}
			}
		}
		fact.SayNumber(r.series[k].name, top-below, view.FormatShare)
		below = top
	}
	fact.SayNumber(r.leftName, 1-below, view.FormatShare)
	return fact, true
}
