// Package rendertest compares renderers: the same scenes drawn by render/png and by the page, pixel by pixel. The
// Go half writes the fixtures, web/test/browser/painter.test.ts reads them.
package rendertest

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

// Scenes are the pictures to compare, by name. They hold no text: the page draws it
// in the reader's own font.
func Scenes() map[string]*scene.Scene {
	return map[string]*scene.Scene{
		"marks":   WithoutText(scenetest.Marks()),
		"hostile": WithoutText(scenetest.HostileScene()),
		"rows":    Rows(320, 200, 12, 4000),
		"shapes":  shapes(),
		"space":   WithoutText(scenetest.Spaces()),
	}
}

// WithoutText leaves out the texts of a scene.
func WithoutText(s *scene.Scene) *scene.Scene {
	out := *s
	out.Layers = nil
	for _, l := range s.Layers {
		kept := scene.Layer{Name: l.Name, Frame: l.Frame}
		for _, m := range l.Marks {
			if v, ok := m.(*scene.Space); ok {
				m = unlabelled(v)
			}
			if m.Kind() != "text" {
				kept.Marks = append(kept.Marks, m)
			}
		}
		out.Layers = append(out.Layers, kept)
	}
	return &out
}

// unlabelled is a space whose axes have ticks without labels.
func unlabelled(m *scene.Space) *scene.Space {
	out := *m
	for a := range out.Axes {
		out.Axes[a].Label = ""
		ticks := append([]scene.Tick{}, out.Axes[a].Ticks...)
		for i := range ticks {
			ticks[i].Label = ""
		}
		out.Axes[a].Ticks = ticks
	}
	return &out
}

// Rows is a picture like a timeline: n rectangles side by side in rows, most of them narrower than a pixel if there
// are many, clipped to a frame.
func Rows(width, height, rows, n int) *scene.Scene {
	s := scene.New(scene.Size{Width: width, Height: height}, "rows", "Rectangles in rows.")
	frame := s.AddFrame(scene.Frame{X: 20, Y: 10, W: float32(width - 40), H: float32(height - 30)})
	m := &scene.Rect{}
	pitch := float32(height-30) / float32(rows)
	state := uint32(1)
	next := func() float32 { // a small generator, the same everywhere
		state = state*1664525 + 1013904223
		return float32(state>>8) / (1 << 24)
	}
	each := n / rows
	for r := range rows {
		x := float32(10)
		for range each {
			w := next() * 2 * float32(width) / float32(each)
			if next() < 0.9 {
				m.Add(x, 10+float32(r)*pitch, w, pitch-2, scene.RoleColour(uint8(1+int(next()*8))))
				if next() < 0.1 {
					m.SetFlags(scene.Flag(1 << int(next()*4)))
				}
			}
			x += w
		}
	}
	s.AddLayer("bars", frame, m)
	return s
}

// shapes has marks that are hard to rasterise alike: slanted lines of many widths, concave and thin polygons,
// curves, symbols of all sizes, translucent colours.
func shapes() *scene.Scene {
	s := scene.New(scene.Size{Width: 320, Height: 240}, "shapes", "Lines, polygons and points.")
	for i := range 6 {
		m := &scene.Line{Width: 0.5 + float32(i)*0.75}
		for k := range 7 {
			sin, cos := math.Sincos(float64(k) * math.Pi / 7)
			x, y := float32(28+i*52), float32(30)
			m.Add(x-20*float32(cos), y-20*float32(sin), x+20*float32(cos), y+20*float32(sin), scene.UILink)
			if k%3 == 2 {
				m.SetFlags(scene.Arrow)
			}
		}
		s.AddLayer("lines", -1, m)
	}
	poly := &scene.Polygon{}
	star := func(x, y, inner, outer float64, rays int) (xs, ys []float32) {
		for k := range 2 * rays {
			r := outer
			if k%2 == 1 {
				r = inner
			}
			sin, cos := math.Sincos(float64(k) * math.Pi / float64(rays))
			xs, ys = append(xs, float32(x+r*sin)), append(ys, float32(y-r*cos))
		}
		return xs, ys
	}
	for i, f := range []scene.Flag{0, scene.Aggregated, scene.Hatched, scene.Outlined, scene.Dimmed} {
		xs, ys := star(32+float64(i)*60, 90, 10, 26, 5+i)
		poly.Add(xs, ys, scene.RoleColour(uint8(i+1)))
		poly.SetFlags(f)
	}
	poly.Add([]float32{10, 150, 152}, []float32{125, 130, 131}, scene.UIData)
	poly.Add([]float32{160, 310}, []float32{125, 135}, scene.UIData)
	poly.Add([]float32{-40, 60, -40}, []float32{150, 170, 200}, scene.UISelection)
	s.AddLayer("polygons", -1, poly)
	curve := &scene.Path{Width: 2}
	for k := range 3 {
		var xs, ys []float32
		for i := range 80 {
			xs, ys = append(xs, float32(70+i*3)),
				append(ys, float32(160+k*8)+14*float32(math.Sin(float64(i)/6+float64(k))))
		}
		curve.Add(xs, ys, scene.LocationColour(k))
	}
	s.AddLayer("paths", -1, curve)
	point := &scene.Point{}
	for i := range 20 {
		point.Add(float32(12+i*15), 215+float32(i%3)/3, 0.5+float32(i)/3, scene.LocationColour(i))
		point.SetShape(scene.Shape(i % 5))
	}
	s.AddLayer("points", -1, point)
	return s
}
