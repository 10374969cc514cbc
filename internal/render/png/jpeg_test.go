package png

import (
	"bytes"
	"image/jpeg"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

// A JPEG shows what the PNG shows: no pixel differs much on average.
func TestAJPEGIsTheSamePicture(t *testing.T) {
	s := scenetest.Marks()
	var b bytes.Buffer
	if err := RenderJPEG(&b, s, scene.Dark); err != nil {
		t.Fatal(err)
	}
	got, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Image(s, scene.Dark)
	if err != nil || got.Bounds() != want.Bounds() {
		t.Fatalf("%v, want %v: %v", got.Bounds(), want.Bounds(), err)
	}
	sum := 0.0
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			r, g, bl, _ := got.At(x, y).RGBA()
			wr, wg, wb, _ := want.At(x, y).RGBA()
			for _, d := range [3]int{int(r) - int(wr), int(g) - int(wg), int(bl) - int(wb)} {
				sum += float64(max(d, -d)) / 65535
			}
		}
	}
	if mean := sum / float64(3*want.Bounds().Dx()*want.Bounds().Dy()); mean > 0.02 {
		t.Errorf("pixels differ by %.3f on average", mean)
	}
}
