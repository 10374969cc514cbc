// Package scenetest holds scenes that show everything a scene can hold, for the
// tests of renderers.
package scenetest

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Marks is a plain picture with every mark and every flag, one band for each.
func Marks() *scene.Scene {
	s := &scene.Scene{
		Width: 480, Height: 360, Title: "Every mark",
		Description: "Rectangles, lines, paths, polygons, points, texts and images with every flag.",
		Frames:      []scene.Frame{{Name: "clip", X: 16, Y: 280, W: 200, H: 60}},
	}
	s.Layers = []scene.Layer{
		{Name: "rects", Frame: -1, Marks: []scene.Mark{rects()}},
		{Name: "lines", Frame: -1, Marks: []scene.Mark{lines(1), wideLines()}},
		{Name: "paths", Frame: -1, Marks: []scene.Mark{curve()}},
		{Name: "polygons", Frame: -1, Marks: []scene.Mark{polygons()}},
		{Name: "points", Frame: -1, Marks: []scene.Mark{points()}},
		{Name: "texts", Frame: -1, Marks: texts()},
		{Name: "images", Frame: -1, Marks: []scene.Mark{heat(240, 280, 220, 60)}},
		{Name: "clipped", Frame: 0, Marks: clipped()},
	}
	return s
}

func rects() *scene.Rect {
	m := &scene.Rect{}
	for i, f := range []scene.Flag{
		0, scene.Aggregated, scene.Hatched, scene.Dimmed, scene.Outlined,
		scene.Aggregated | scene.Outlined, scene.Aggregated | scene.Dimmed, scene.Hatched | scene.Outlined,
	} {
		m.Add(float32(16+i*36), 12, 32, 24, scene.RoleColour(uint8(i+1)))
		m.SetFlags(f)
	}
	// Thin ones are a pixel wide; without area they are not there.
	for i := range 12 {
		m.Add(float32(312+i*4), 12, float32(i)/8, 24, scene.UIData)
	}
	m.Add(376, 12, 32, 24, scene.None)
	m.SetFlags(scene.Outlined)
	m.Add(412.3, 12.4, 20.2, 23.5, scene.UIData)
	m.Add(432.5, 12.4, 20.2, 23.5, scene.RoleColour(2))
	return m
}

func lines(width float32) *scene.Line {
	m := &scene.Line{Width: width}
	for i, f := range []scene.Flag{0, scene.Arrow, scene.Dashed, scene.Dashed | scene.Arrow, scene.Dimmed} {
		x := float32(16 + 44*i)
		m.Add(x, 52, x+36, 72, scene.UIText)
		m.SetFlags(f)
		m.Add(x, 80, x+36, 80, scene.UIText)
		m.SetFlags(f)
	}
	return m
}

func wideLines() *scene.Line {
	m := &scene.Line{Width: 3}
	for i := range 9 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 8)
		m.Add(264, 80, 264+float32(30*cos), 80-float32(28*sin), scene.LocationColour(i))
		if i%2 == 0 {
			m.SetFlags(scene.Arrow)
		}
	}
	return m
}

func curve() *scene.Path {
	m := &scene.Path{Width: 1.5}
	for k := range 3 {
		var xs, ys []float32
		for i := range 61 {
			u := float64(i) / 60
			xs = append(xs, float32(316+u*144))
			ys = append(ys, float32(66-16*math.Sin(u*9+float64(k))*(1-u/2)))
		}
		if k == 2 {
			ys[30] = float32(math.NaN())
		}
		m.Add(xs, ys, scene.LocationColour(k))
	}
	return m
}

func polygons() *scene.Polygon {
	m := &scene.Polygon{}
	for i, f := range []scene.Flag{0, scene.Aggregated, scene.Hatched, scene.Dimmed, scene.Outlined,
		scene.Outlined | scene.Aggregated} {
		cx, cy := 36+float64(i)*48, 124.0
		var xs, ys []float32
		for k := range 5 + i {
			sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(5+i))
			xs, ys = append(xs, float32(cx+20*sin)), append(ys, float32(cy-20*cos))
		}
		m.Add(xs, ys, scene.Ramp("viridis", float64(i)/5))
		m.SetFlags(f)
	}
	m.Add([]float32{310, 330}, []float32{144, 104}, scene.UIError)
	return m
}

func points() *scene.Point {
	m := &scene.Point{}
	for i := range 5 {
		for k := range 4 {
			m.Add(float32(348+i*26), float32(108+k*11), float32(1.5+float64(k)), scene.LocationColour(i))
			m.SetShape(scene.Shape(i))
		}
	}
	m.SetCount(1024)
	return m
}

func texts() []scene.Mark {
	plain := &scene.Text{Size: 12}
	plain.Add(16, 176, "MPI_Allreduce 1.24 ms · 3.10 M calls ≤ ±½ µs", scene.UIText, scene.Start)
	plain.Add(240, 196, "in the middle", scene.UITextMuted, scene.Middle)
	plain.Add(464, 176, "at the end", scene.UIAccent, scene.End)
	for i, s := range Hostile() {
		plain.Add(16, float32(216+i*14), scene.Shorten(s, 200, 12), scene.UIText, scene.Start)
	}
	bold := &scene.Text{Size: 13, Bold: true}
	bold.Add(16, 196, "Bold 0123456789", scene.UIText, scene.Start)
	turned := &scene.Text{Size: 11, Turned: true}
	turned.Add(474, 270, "turned upwards", scene.UITextMuted, scene.Start)
	small := &scene.Text{Size: 10}
	for i := range 8 {
		fill := scene.RoleColour(uint8(i + 1))
		small.Add(float32(16+i*36+16), 28, "Ab", scene.Ink(fill), scene.Middle)
	}
	return []scene.Mark{plain, bold, turned, small}
}

func heat(x, y, w, h float32) *scene.Image {
	m := &scene.Image{X: x, Y: y, W: w, H: h, Columns: 44, Rows: 12}
	for r := range m.Rows {
		for c := range m.Columns {
			u, v := float64(c)/43, float64(r)/11
			name := []string{"viridis", "cividis", "diverging", "spectrum"}[r/3]
			fill := scene.Ramp(name, u*0.9+0.1*v)
			if r == 5 && c%6 == 0 {
				fill = scene.None
			}
			m.Cells = append(m.Cells, fill)
		}
	}
	return m
}

// clipped reaches over the edges of its frame on all sides.
func clipped() []scene.Mark {
	r := &scene.Rect{}
	r.Add(-100, 270, 1000, 20, scene.RoleColour(1))
	r.Add(100, 300, 4000, 10, scene.RoleColour(2))
	l := &scene.Line{Width: 2}
	l.Add(0, 260, 300, 360, scene.UIText)
	t := &scene.Text{Size: 24}
	t.Add(160, 336, "clipped text", scene.UIText, scene.Start)
	return []scene.Mark{r, l, t}
}
