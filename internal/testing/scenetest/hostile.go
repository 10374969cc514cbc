package scenetest

import (
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Hostile lists names that a trace may hold and that must be drawn as text.
func Hostile() []string {
	return []string{
		`<script>alert("x")</script>`,
		"nul\x00 and \x1b[31m and \n line",
		"right \u202eto left\u202c and עברית",
		strings.Repeat("long name ", 1000),
		"broken \xff\xfe utf",
	}
}

// HostileScene holds texts and coordinates that no renderer may stumble over.
func HostileScene() *scene.Scene {
	s := &scene.Scene{Width: 320, Height: 200, Title: Hostile()[0], Description: strings.Join(Hostile(), " & ")}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	bad := []float32{nan, inf, -inf, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32, 1e9, -1e9}
	s.Frames = []scene.Frame{{Name: Hostile()[1], X: nan, Y: 0, W: 10, H: 10}, {X: 0, Y: 0, W: 320, H: 200}}
	r, l, p, g, pt, t := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Path{Width: nan}, &scene.Polygon{},
		&scene.Point{}, &scene.Text{Size: 12}
	for _, v := range bad {
		for k := range 4 {
			at := [4]float32{10, 10, 40, 20}
			at[k] = v
			r.Add(at[0], at[1], at[2], at[3], scene.UIData)
			r.SetFlags(scene.Aggregated | scene.Outlined)
			l.Add(at[0], at[1], at[2], at[3], scene.UIText)
			l.SetFlags(scene.Arrow | scene.Dashed)
			p.Add([]float32{at[0], at[2], 100}, []float32{at[1], at[3], 50}, scene.UIText)
			g.Add([]float32{at[0], at[2], 100}, []float32{at[1], at[3], 50}, scene.UIData)
			g.SetFlags(scene.Hatched | scene.Outlined)
			pt.Add(at[0], at[1], at[2], scene.UIData)
			pt.SetShape(scene.Shape(k))
			t.Add(at[0], at[1], "far", scene.UIText, scene.Middle)
		}
	}
	r.Add(-1e9, 90, 2e9, 4, scene.RoleColour(1)) // reaches over the whole picture
	r.Add(5, 5, 5, 5, scene.Colour(60000))       // no such colour
	pt.Add(50, 50, 4, scene.UIData)
	pt.SetShape(scene.Shape(200))
	for i, name := range Hostile() {
		t.Add(4, float32(120+i*14), name, scene.UIText, scene.Start)
	}
	odd := &scene.Text{Size: nan, Turned: true}
	odd.Add(300, 100, Hostile()[3], scene.UIText, scene.End)
	s.Layers = []scene.Layer{
		{Name: Hostile()[0], Frame: -1, Marks: []scene.Mark{r, l, p, g, pt, t, odd}},
		{Frame: 0, Marks: []scene.Mark{r}},
		{Frame: 1,
			Marks: []scene.Mark{r, &scene.Image{X: nan, W: 10, H: 10, Columns: 1, Rows: 1, Cells: []scene.Colour{3}},
				&scene.Image{}}},
	}
	return s
}
