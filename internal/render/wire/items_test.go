package wire

import (
	"encoding/json"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// The page finds the same item at every place as the scene itself; its half of this
// test reads the same fixtures.
func TestItemsAreFoundAlikeOnBothSides(t *testing.T) {
	s := scene.New(scene.Size{Width: 200, Height: 120}, "", "")
	s.AddFrame(scene.Frame{X: 20, Y: 10, W: 160, H: 100, YScale: scene.Scale{Kind: "rows", Rows: []scene.Row{{From: 10, To: 30}, {From: 30, To: 45}}}})
	s.AimRows(0, 0, 190, func(row int) uint32 { return s.Item(1, row) })
	rects, lines, polys, points := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Polygon{}, &scene.Point{}
	for i := range 8 {
		rects.Add(25+float32(i)*20, 12+float32(i%3), 12, 30, scene.Colour(i))
		if i != 3 {
			rects.SetItem(s.Item(2, i))
		}
		lines.Add(20, 50+float32(i)*2, 180, 110-float32(i)*7, 1)
		lines.SetItem(s.Item(3, i))
		points.Add(30+float32(i)*17, 100, float32(i), 2)
		points.SetItem(s.Item(4, i, i+1, i+2))
	}
	rects.Add(90, 60, 0.25, 0.25, 3) // drawn as a pixel, found as one
	rects.SetItem(s.Item(2, 99))
	polys.Add([]float32{100, 180, 140, 120}, []float32{50, 60, 105, 70}, 4)
	polys.SetItem(s.Item(5))
	image := &scene.Image{X: 20, Y: 70, W: 70, H: 25, Columns: 7, Rows: 3, Cells: make([]scene.Colour, 21), Of: 6, At: [2]int32{4, 0}}
	s.AddLayer("things", 0, rects, image, polys, lines)
	s.AddLayer("points", -1, points)
	b, err := Encode(s, Extra{Facts: json.RawMessage(`{"0":{"title":"row","lines":[]}}`)})
	if err != nil {
		t.Fatal(err)
	}
	var found [][3]float64
	kinds := map[uint8]int{}
	for y := -2.25; y < 124; y += 3.5 {
		for x := -2.25; x < 204; x += 2.75 {
			n := s.NumberAt(x, y)
			found = append(found, [3]float64{x, y, float64(n)})
			if it, ok := s.ItemOf(n); ok {
				kinds[it.Of]++
			} else if n >= 0 {
				t.Fatalf("number %d at %g, %g is no item", n, x, y)
			}
		}
	}
	if len(kinds) != 6 {
		t.Errorf("found kinds %v, want all six", kinds)
	}
	plain, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "items.scene", b)
	golden(t, "items.json", plain)
}
