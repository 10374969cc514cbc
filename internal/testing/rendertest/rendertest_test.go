package rendertest

import (
	"bytes"
	"flag"
	"image/color"
	stdpng "image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/wire"
	"github.com/parallax-hpc/parallax/internal/scene"
)

var update = flag.Bool("update", false, "rewrite the fixtures that web/test/browser/painter.test.ts reads")

// The fixtures are what the encoder and render/png make today.
func TestFixturesAreUpToDate(t *testing.T) {
	for name, s := range Scenes() {
		t.Run(name, func(t *testing.T) {
			encoded, err := wire.Encode(s, wire.Extra{})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encoded, fixture(t, name+".scene", func() ([]byte, error) { return encoded, nil })) {
				t.Errorf("%s.scene is out of date; run with -update, then the page's test", name)
			}
			for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
				samePicture(t, name+"."+theme.String()+".png", s, theme)
			}
			// For screens with two pixels to each of the scene's; looked at by the page's test alone.
			fixture(t, name+".2x.png", func() ([]byte, error) {
				var b bytes.Buffer
				err := png.RenderScaled(&b, s, scene.Light, 2)
				return b.Bytes(), err
			})
		})
	}
}

// samePicture compares pixels, not bytes: how a PNG is packed is its encoder's affair.
func samePicture(t *testing.T, name string, s *scene.Scene, theme scene.Theme) {
	t.Helper()
	want, err := stdpng.Decode(bytes.NewReader(fixture(t, name, func() ([]byte, error) {
		var b bytes.Buffer
		err := png.Render(&b, s, theme)
		return b.Bytes(), err
	})))
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Image(s, theme)
	if err != nil {
		t.Fatal(err)
	}
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			if color.NRGBAModel.Convert(want.At(x, y)) != color.NRGBAModel.Convert(got.At(x, y)) {
				t.Fatalf("%s is out of date at %d, %d; run with -update, then the page's test", name, x, y)
			}
		}
	}
}

// fixture reads a file of testdata, after writing it anew where asked to.
func fixture(t *testing.T, name string, make func() ([]byte, error)) []byte {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		b, err := make()
		if err == nil {
			err = os.WriteFile(file, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
