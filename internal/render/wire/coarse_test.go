package wire

import (
	"reflect"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// dense is a row of n rectangles, each a tenth of a pixel wide, every seventh wider.
func dense(n int) *scene.Rect {
	m := &scene.Rect{}
	for i := range n {
		w := float32(0.1)
		if i%7 == 0 {
			w = 0.2
		}
		m.Add(float32(i)*0.1, 10, w, 8, scene.Colour(40+i%2))
	}
	return m
}

func picture(m ...scene.Mark) *scene.Scene {
	return &scene.Scene{Width: 800, Height: 600, Frames: []scene.Frame{{W: 800, H: 600}}, Layers: []scene.Layer{{Frame: 0, Marks: m}}}
}

func TestCoarsePictureHasFewThingsAndCountsAll(t *testing.T) {
	got, changed := Coarsen(picture(dense(5000)))
	if !changed {
		t.Fatal("nothing changed")
	}
	m := got.Layers[0].Marks[0].(*scene.Rect)
	if m.Len() > 5000/40+1 {
		t.Errorf("%d rectangles are left, want one for each 4 pixels", m.Len())
	}
	total := uint32(0)
	for i := range m.X {
		total += m.Count[i]
		if m.W[i] > grain || m.Y[i] != 10 || m.H[i] != 8 {
			t.Errorf("rectangle %d left its row or cell: %g %g %g %g", i, m.X[i], m.Y[i], m.W[i], m.H[i])
		}
	}
	if total != 5000 {
		t.Errorf("counts add up to %d, want 5000", total)
	}
	if err := got.Check(); err != nil {
		t.Error(err)
	}
}

func TestCoarsePictureKeepsWhatIsLargeAndAllTexts(t *testing.T) {
	wide := &scene.Rect{}
	for i := range 300 {
		wide.Add(float32(i), float32(i), 50, 20, 3)
	}
	text := &scene.Text{Size: 12}
	for range 300 {
		text.Add(1, 1, "a", 2, scene.Start)
	}
	got, _ := Coarsen(picture(wide, text, dense(5000)))
	marks := got.Layers[0].Marks
	if marks[0].Len() != 300 || marks[1].Len() != 300 {
		t.Errorf("kept %d wide rectangles and %d texts, want 300 of each", marks[0].Len(), marks[1].Len())
	}
	if got.Width != 800 || !reflect.DeepEqual(got.Frames, picture().Frames) {
		t.Error("size or frames changed; the picture would jump")
	}
}

func TestCoarseMarksOfEveryKindStayDrawable(t *testing.T) {
	line, path, poly, point := &scene.Line{Width: 1}, &scene.Path{Width: 1}, &scene.Polygon{}, &scene.Point{}
	image := &scene.Image{W: 100, H: 10, Columns: 1000, Rows: 3, Cells: make([]scene.Colour, 3000)}
	for i := range 3000 {
		x := float32(i%100) / 10
		line.Add(x, 1, x+1, 2, 1)
		poly.Add([]float32{x, x + 1, x}, []float32{0, 0, 1}, 1)
		point.Add(x, 5, 1+x/10, 1)
		image.Cells[i] = scene.Colour(i % 1000)
	}
	path.Add([]float32{1, 2}, []float32{1, 2}, 1)
	got, changed := Coarsen(picture(line, path, poly, point, image))
	if err := got.Check(); err != nil || !changed {
		t.Fatal(changed, err)
	}
	if m := got.Layers[0].Marks[4].(*scene.Image); m.Columns != 25 || m.Cells[0] != 20 {
		t.Errorf("image has %d columns and starts with %d, want 25 and the middle of the first 40", m.Columns, m.Cells[0])
	}
	if _, err := Encode(got, Extra{Coarse: true}); err != nil {
		t.Error(err)
	}
}

func TestSmallPicturesStayExact(t *testing.T) {
	s := picture(dense(500))
	if got, changed := Coarsen(s); changed || got != s {
		t.Error("a small picture was made coarse")
	}
}
