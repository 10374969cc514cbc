package rendertest

import (
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

// Whatever coordinates, colours and flags a scene holds, every renderer draws it.
func TestAnySceneIsDrawn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		s := randomScene(r)
		for name, render := range map[string]func(io.Writer, *scene.Scene, scene.Theme) error{"svg": svg.Render, "png": png.Render, "pdf": pdf.Render} {
			if err := render(io.Discard, s, scene.Theme(r.IntN(3))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// number is any float32: in the picture, far out, tiny, not finite.
func number(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return math.Float32frombits(r.Uint32())
	case 1:
		return (r.Float32() - 0.5) * 2e6
	case 2:
		return float32(r.IntN(400)-50) / 2
	}
	return r.Float32() * 300
}

func randomScene(r *rand.Rand) *scene.Scene {
	s := scene.New(scene.Size{Width: 1 + r.IntN(300), Height: 1 + r.IntN(300)}, scenetest.Hostile()[r.IntN(5)], "d")
	s.AddFrame(scene.Frame{X: number(r), Y: number(r), W: number(r), H: number(r)})
	colour := func() scene.Colour { return scene.Colour(r.IntN(2000)) }
	flags := func() scene.Flag { return scene.Flag(r.IntN(64)) }
	var several func(n int) []float32
	several = func(n int) (out []float32) {
		for range n {
			out = append(out, number(r))
		}
		return out
	}
	rects, lines, paths, polygons := &scene.Rect{}, &scene.Line{Width: number(r)}, &scene.Path{Width: number(r)}, &scene.Polygon{}
	points, texts := &scene.Point{}, &scene.Text{Size: number(r), Bold: r.IntN(2) == 0, Turned: r.IntN(2) == 0}
	for range r.IntN(30) {
		rects.Add(number(r), number(r), number(r), number(r), colour())
		rects.SetFlags(flags())
		lines.Add(number(r), number(r), number(r), number(r), colour())
		lines.SetFlags(flags())
		n := r.IntN(6)
		paths.Add(several(n), several(n), colour())
		polygons.Add(several(n), several(n), colour())
		polygons.SetFlags(flags())
		points.Add(number(r), number(r), number(r), colour())
		points.SetShape(scene.Shape(r.IntN(7)))
		texts.Add(number(r), number(r), scenetest.Hostile()[r.IntN(5)], colour(), scene.Anchor(r.IntN(4)))
	}
	picture := &scene.Image{X: number(r), Y: number(r), W: number(r), H: number(r), Columns: r.IntN(200), Rows: r.IntN(200)}
	for range picture.Columns * picture.Rows {
		picture.Cells = append(picture.Cells, colour())
	}
	s.AddLayer("all", r.IntN(2)-1, rects, lines, paths, polygons, points, texts, picture)
	return s
}
