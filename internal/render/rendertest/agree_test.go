// Package rendertest holds the renderers against each other and against other
// people's: an SVG and a PDF, drawn by the tools that readers use, must look like our PNG.
package rendertest

import (
	"bytes"
	"image"
	stdpng "image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/scenetest"
)

// outputs are the renderers and the tools that turn their files into pictures.
var outputs = []struct {
	name   string
	render func(io.Writer, *scene.Scene, scene.Theme) error
	tool   string
	args   func(in, out string) []string
	fonts  bool // draws our font
}{
	{"svg", svg.Render, "rsvg-convert", func(in, out string) []string { return []string{in, "-o", out + ".png"} }, false},
	{"pdf", pdf.Render, "pdftoppm", func(in, out string) []string { return []string{"-r", "96", "-png", "-singlefile", in, out} }, true},
}

func TestOtherToolsDrawTheSamePicture(t *testing.T) {
	for _, o := range outputs {
		t.Run(o.name, func(t *testing.T) {
			if _, err := exec.LookPath(o.tool); err != nil {
				t.Skipf("%s is not installed", o.tool)
			}
			for name, s := range scenetest.Pictures() {
				if !o.fonts {
					s = withoutText(s)
				}
				for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
					want, err := png.Image(s, theme)
					if err != nil {
						t.Fatal(err)
					}
					got := drawnBy(t, o.tool, o.args, func(w io.Writer) error { return o.render(w, s, theme) })
					d := meanDifference(got, want); t.Logf("%s %s %.2f", name, theme, d); if d > 2.5 {
						t.Errorf("%s, %s: pictures differ by %.2f of 255 on average", name, theme, d)
					}
				}
			}
		})
	}
}

func drawnBy(t *testing.T, tool string, args func(in, out string) []string, render func(io.Writer) error) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(tool, args(in, out)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", tool, err, text)
	}
	f, err := os.Open(out + ".png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := stdpng.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func withoutText(s *scene.Scene) *scene.Scene {
	out := *s
	out.Layers = nil
	for _, l := range s.Layers {
		kept := scene.Layer{Name: l.Name, Frame: l.Frame}
		for _, m := range l.Marks {
			if m.Kind() != "text" {
				kept.Marks = append(kept.Marks, m)
			}
		}
		out.Layers = append(out.Layers, kept)
	}
	return &out
}

// meanDifference is the mean over all pixels of the largest difference of a channel;
// pictures of different size differ by everything.
func meanDifference(a, b image.Image) float64 {
	size := a.Bounds().Size()
	if size != b.Bounds().Size() {
		return 255
	}
	sum := 0.0
	for y := range size.Y {
		for x := range size.X {
			r0, g0, b0, _ := a.At(x, y).RGBA()
			r1, g1, b1, _ := b.At(x, y).RGBA()
			sum += float64(max(apart(r0, r1), apart(g0, g1), apart(b0, b1))) / 257
		}
	}
	return sum / float64(size.X*size.Y)
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }
