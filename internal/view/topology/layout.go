package topology

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostPoints bounds what a scene holds; more are drawn as every n-th, and said.
const mostPoints = 50000

// A place is where a location was drawn.
type place struct {
	x, y, depth float64
	i           int
}

// A camera looks at the middle of all points from an angle.
type camera struct {
	azimuth, elevation float64 // radians
	zoom               float64
}

func parseCamera(text string) (c camera, err error) {
	c = camera{math.Pi / 6, math.Pi / 9, 1}
	parts := strings.Split(text, ",")
	for k, part := range parts {
		v, bad := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if bad != nil || k > 2 || math.IsNaN(v) || math.IsInf(v, 0) {
			return c, fmt.Errorf("--camera %q: want azimuth,elevation,zoom", text)
		}
		switch k {
		case 0:
			c.azimuth = v * math.Pi / 180
		case 1:
			c.elevation = v * math.Pi / 180
		case 2:
			c.zoom = min(max(v, 0.05), 50)
		}
	}
	return c, nil
}

// project turns a place into the picture's plane; depth grows away from the eye.
func (c *camera) project(x, y, z float64) (u, v, depth float64) {
	sa, ca := math.Sincos(c.azimuth)
	se, ce := math.Sincos(c.elevation)
	u = x*ca - y*sa
	w := x*sa + y*ca
	return u, -(z*ce - w*se), w*ce + z*se
}

// Scene draws the points from far to near.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", fmt.Sprintf("Topology of %s locations by the layout %s, coloured by %s.", view.Thousands(int64(len(r.location))), r.layout, r.colourLabel()))
	s.AddFrame(scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)})
	cam, _ := parseCamera(r.request.Values.Text("camera")) // checked before
	lo, hi := r.bounds()
	span := 0.0
	var middle [3]float64
	for a := range 3 {
		middle[a] = (lo[a] + hi[a]) / 2
		span += (hi[a] - lo[a]) * (hi[a] - lo[a])
	}
	span = max(math.Sqrt(span), 1e-9)
	scale := 0.92 * cam.zoom * float64(min(size.Width, size.Height)) / span
	cx, cy := float64(size.Width)/2, float64(size.Height)/2
	at := func(x, y, z float64) (float64, float64, float64) {
		u, v, d := cam.project(x-middle[0], y-middle[1], z-middle[2])
		return cx + u*scale, cy + v*scale, d
	}
	r.axes(s, lo, hi, at)
	points, step := r.draw(at, scale)
	s.AddLayer("points", 0, points)
	ramp := r.request.Values.Text("palette")
	s.Legend = []scene.LegendEntry{{Label: r.colourLabel(), Colour: scene.Ramp(ramp, 0), RampEnd: scene.Ramp(ramp, 1), RampLow: r.format(r.lo), RampHigh: r.format(r.hi), Region: scene.NoID, Parent: scene.NoID}}
	s.Notes = r.Notes()
	if step > 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("one point in %d is drawn", step))
	}
	return s
}

func (r *result) colourLabel() string { return r.bound[len(r.bound)-1].label }

// bounds of all placed points.
func (r *result) bounds() (lo, hi [3]float64) {
	lo, hi = [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for k := range r.points {
		p := &r.points[k]
		for i, ok := range r.placed[k] {
			if !ok {
				continue
			}
			for a, v := range [3]float64{p.X[i], p.Y[i], p.Z[i]} {
				lo[a], hi[a] = min(lo[a], v), max(hi[a], v)
			}
		}
	}
	if lo[0] > hi[0] {
		return [3]float64{}, [3]float64{}
	}
	return lo, hi
}

// axes draws the edges of the box that meet in its lowest corner, with their ends.
func (r *result) axes(s *scene.Scene, lo, hi [3]float64, at func(x, y, z float64) (float64, float64, float64)) {
	lines, text := &scene.Line{Width: 1}, &scene.Text{Size: scene.TextSize}
	ox, oy, _ := at(lo[0], lo[1], lo[2])
	for a, name := range []string{"x", "y", "z"} {
		end := lo
		end[a] = hi[a]
		if hi[a] == lo[a] {
			continue
		}
		x, y, _ := at(end[0], end[1], end[2])
		lines.Add(float32(ox), float32(oy), float32(x), float32(y), scene.UIAxis)
		text.Add(float32(x)+4, float32(y)-4, fmt.Sprintf("%s %.4g", name, hi[a]), scene.UITextMuted, scene.Start)
	}
	s.AddLayer("axes", 0, lines, text)
}

// draw gives the points, of too many every step-th.
func (r *result) draw(at func(x, y, z float64) (float64, float64, float64), scale float64) (out *scene.Point, step int) {
	r.drawn = r.drawn[:0]
	total := 0
	for _, v := range r.visible {
		if v {
			total++
		}
	}
	step = max(1, (total*len(r.points)+mostPoints-1)/mostPoints)
	seen := 0
	for k := range r.points {
		p := &r.points[k]
		for i, ok := range r.placed[k] {
			if !ok || !r.visible[i] {
				continue
			}
			if seen++; seen%step != 0 {
				continue
			}
			x, y, d := at(p.X[i], p.Y[i], p.Z[i])
			r.drawn = append(r.drawn, place{x, y, d, i})
		}
	}
	sort.SliceStable(r.drawn, func(a, b int) bool { return r.drawn[a].depth > r.drawn[b].depth })
	out = &scene.Point{}
	radius := float32(min(max(scale*0.35, 1.2), 9))
	if n := len(r.drawn); n > 2000 {
		radius = min(radius, float32(max(1.2, 160/math.Sqrt(float64(n)))))
	}
	ramp := r.request.Values.Text("palette")
	colour := r.points[0].Color
	for _, p := range r.drawn {
		share := 0.0
		if r.hi > r.lo {
			share = (colour[p.i] - r.lo) / (r.hi - r.lo)
		}
		out.Add(float32(p.x), float32(p.y), radius, scene.Ramp(ramp, share))
	}
	return out, step
}

// Pick gives the nearest point, of those at one place the one in front.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	best, near := -1, 144.0
	for k, p := range r.drawn {
		if d := (p.x-x)*(p.x-x) + (p.y-y)*(p.y-y); d <= near {
			best, near = k, d
		}
	}
	if best < 0 {
		return view.Fact{}, false
	}
	i := r.drawn[best].i
	tree := r.request.Store().Locations()
	id := r.location[i]
	f := view.Fact{Title: tree.Name[id], Locations: []trace.LocationID{id}}
	line := func(label, value string, exact float64) {
		f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: strconv.FormatFloat(exact, 'g', -1, 64)})
	}
	f.Lines = append(f.Lines, view.FactLine{Label: "path", Value: tree.Path(id)})
	line("rank", strconv.Itoa(r.rank[i]), float64(r.rank[i]))
	for _, b := range r.bound {
		text := view.FormatCount(b.values[i])
		if b.unit == "ns" {
			text = view.FormatDuration(b.values[i])
		}
		line(b.label, text, b.values[i])
	}
	p := &r.points[0]
	f.Lines = append(f.Lines, view.FactLine{Label: "place", Value: fmt.Sprintf("%.4g, %.4g, %.4g", p.X[i], p.Y[i], p.Z[i])})
	return f, true
}
