package scenetest

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Spaces is a picture with every form of things in space, each seen from another side.
func Spaces() *scene.Scene {
	s := &scene.Scene{Width: 640, Height: 480, Title: "Spaces", Description: "Dots, balls, bars and a mesh in space."}
	for form := range scene.Form(4) {
		m := Wave(form, 16)
		m.X, m.Y, m.W, m.H = float32(form%2)*320, float32(form/2)*240, 320, 240
		m.Camera.Azimuth += float64(form) * 100
		s.AddLayer(scene.FormNames[form], -1, m)
	}
	s.Layers[0].Marks[0].(*scene.Space).Filter = scene.SpaceFilter{Ranged: true, Min: 0.6, Max: 0.4}
	s.Layers[1].Marks[0].(*scene.Space).Filter = scene.SpaceFilter{Slice: [3]bool{true}, At: [3]float64{8},
		Width: [3]float64{9}}
	balls := s.Layers[1].Marks[0].(*scene.Space)
	balls.Detail = scene.MostDetail
	for i := 1; i < balls.Len()-16; i += 5 { // lines to the row behind
		balls.Links.Add(i, i+16, scene.Ramp("viridis", float64(i)/256))
	}
	balls.Links.Width = 2
	balls.Labels = []scene.SpaceLabel{{Thing: 100, Text: "a hundred"}, {Thing: 101, Text: "no room"}}
	return s
}

// Wave is a surface of side × side things.
func Wave(form scene.Form, side int) *scene.Space {
	m := &scene.Space{W: 320, H: 240, Form: form, High: 1, Ramp: "viridis", Columns: side, Half: [2]float32{0.4, 0.4},
		Tall: float32(side) / 2, Camera: scene.UsualCamera}
	for i := range side * side {
		x, y := float64(i%side), float64(i/side)
		v := 0.5 + 0.5*math.Sin(x*7/float64(side))*math.Cos(y*5/float64(side))
		z := v * float64(side) / 2
		if form == scene.Bars {
			z = 0
		}
		m.Add(float32(x), float32(y), float32(z), float32(v))
	}
	m.Radius = 0.4
	for a, name := range []string{"column", "row", "height"} {
		m.Axes[a] = scene.FitAxis(name, 0, float64(side-1), "")
	}
	m.Axes[2].End = float64(side) / 2
	m.Axes[2].Ticks = scene.LinearTicks(0, float64(side)/2, 4, "")
	m.Value[0], m.PX[1] = float32(math.NaN()), float32(math.Inf(1))
	return m
}
