package rendertest

import (
	"bytes"
	"image"
	stdpng "image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

// outputs are the renderers and the tools that turn their files into pictures.
var outputs = []struct {
	name   string
	render func(io.Writer, *scene.Scene, scene.Theme) error
	tool   string
	args   func(in, out string) []string
	limit  float64 // mean difference of a channel, of 255: smoothed edges differ
}{
	{"svg", svg.Render, "rsvg-convert", func(in, out string) []string { return []string{in, "-o", out + ".png"} }, 1},
	{"pdf", pdf.Render, "pdftoppm", func(in, out string) []string { return []string{"-r", "96", "-png", "-singlefile", in, out} }, 3},
}

// An SVG and a PDF, drawn by the tools that readers use, must look like our PNG.
func TestOtherToolsDrawTheSamePicture(t *testing.T) {
	for _, o := range outputs {
		t.Run(o.name, func(t *testing.T) {
			if _, err := exec.LookPath(o.tool); err != nil {
				t.Skipf("%s is not installed", o.tool)
			}
			for name, s := range scenetest.Pictures() {
				s = WithoutText(s) // Fonts are smoothed, and found, in other ways.
				for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
					want, err := png.Image(s, theme)
					if err != nil {
						t.Fatal(err)
					}
					got := drawnBy(t, o.tool, o.args, func(w io.Writer) error { return o.render(w, s, theme) })
					if d := meanDifference(got, want); d > o.limit {
						t.Errorf("%s, %s: pictures differ by %.2f of 255 on average, want %.0f", name, theme, d, o.limit)
					}
				}
			}
		})
	}
}

// A reader must be able to search and copy what a PDF says.
func TestTextOfAPDFCanBeRead(t *testing.T) {
	if _, err := exec.LookPath("pdftotext"); err != nil {
		t.Skip("pdftotext is not installed")
	}
	path := filepath.Join(t.TempDir(), "in.pdf")
	var b bytes.Buffer
	if err := pdf.Render(&b, scenetest.Gallery(), scene.Light); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("pdftotext", "-layout", path, "-").CombinedOutput()
	if err != nil {
		t.Fatalf("pdftotext: %v: %s", err, text)
	}
	for _, want := range []string{"Gallery: 64 ranks on 4 hosts", "rank 7", "+500 µs", "from 2.012 s", "communication", "loss 0.3 %", "MPI_Wait", "3 GiB"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the PDF does not say %q", want)
		}
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
