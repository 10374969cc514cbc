package png

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

func TestManyPointsAreDrawnAsOneCoreDrawsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := &scene.Point{}
	for range manyPoints {
		m.X, m.Y = append(m.X, r.Float32()*330-10), append(m.Y, r.Float32()*230-10)
		m.R, m.Fill = append(m.R, r.Float32()*4), append(m.Fill, scene.Colour(r.IntN(20)))
	}
	all, one := newCanvas(310, 207, scene.Light, 1), newCanvas(310, 207, scene.Light, 1)
	blank := slices.Clone(one.pixels)
	all.points(m)
	one.eachPoint(m)
	if !slices.Equal(all.pixels, one.pixels) || slices.Equal(one.pixels, blank) {
		t.Error("the picture depends on the number of cores, or is blank")
	}
}
