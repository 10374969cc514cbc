package png

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

// An EPS holds the pixels of the PNG, at twice its size in each direction.
func TestAnEPSIsTheSamePicture(t *testing.T) {
	s := scenetest.Marks()
	var b bytes.Buffer
	if err := RenderEPS(&b, s, scene.Dark); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	want, err := draw(s, scene.Dark, epsPixels)
	if err != nil {
		t.Fatal(err)
	}
	if box := fmt.Sprintf("%%%%BoundingBox: 0 0 %d %d\n", want.width/2, want.height/2); !strings.HasPrefix(text, "%!PS-Adobe-3.0 EPSF-3.0\n") || !strings.Contains(text, box) {
		t.Errorf("no header with %q: %.200q", box, text)
	}
	for i, line := range strings.Split(text, "\n") {
		if len(line) > 255 {
			t.Fatalf("line %d has %d characters", i, len(line))
		}
	}
	_, coded, _ := strings.Cut(text, " image\n")
	coded, tail, _ := strings.Cut(coded, "~>")
	if tail != "\ngrestore\nshowpage\n%%EOF\n" {
		t.Errorf("it ends in %q", tail)
	}
	unpacked, err := zlib.NewReader(ascii85.NewDecoder(strings.NewReader(coded)))
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := io.ReadAll(unpacked)
	if err != nil || len(pixels) != 3*len(want.pixels) {
		t.Fatalf("%d bytes for %d pixels: %v", len(pixels), len(want.pixels), err)
	}
	for i, p := range want.pixels {
		if pixels[3*i] != uint8(p) || pixels[3*i+1] != uint8(p>>8) || pixels[3*i+2] != uint8(p>>16) {
			t.Fatalf("pixel %d is %v, want %x", i, pixels[3*i:3*i+3], p)
		}
	}
}
