package png

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, s *scene.Scene, theme scene.Theme) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, s, theme); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPicturesAreAsInTheGoldenFiles(t *testing.T) {
	for name, s := range scenetest.Pictures() {
		for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
			path := filepath.Join("testdata", name+"-"+theme.String()+".png")
			got := render(t, s, theme)
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := scenetest.Alike(decode(t, got), decode(t, want), 0.001); err != nil {
				changed := strings.TrimSuffix(path, ".png") + "-changed.png"
				os.WriteFile(changed, got, 0o644)
				t.Errorf("%s: %v; the new picture is %s, -update accepts it", path, err, changed)
			}
		}
	}
}

func TestEveryMarkHasACase(t *testing.T) {
	c := newCanvas(8, 8, scene.Light, 1)
	for _, kind := range scene.MarkKinds {
		if err := c.mark(scenetest.MarkOfKind(kind)); err != nil {
			t.Error(err)
		}
	}
	if err := c.mark(scenetest.Unknown{}); err == nil {
		t.Error("no error for a mark without a case")
	}
}

func TestTheSameSceneGivesTheSameBytes(t *testing.T) {
	for name, s := range scenetest.Pictures() {
		if !bytes.Equal(render(t, s, scene.Dark), render(t, s, scene.Dark)) {
			t.Errorf("%s differs from one time to the next", name)
		}
	}
}

func TestHostileScenesAreDrawn(t *testing.T) {
	m := decode(t, render(t, scenetest.HostileScene(), scene.Light))
	if m.Bounds() != image.Rect(0, 0, 320, 200) {
		t.Errorf("the picture is %v", m.Bounds())
	}
	// The rectangle that reaches over everything is there from edge to edge.
	want := scene.RoleColour(1).RGBA(scene.Light)
	for _, x := range []int{0, 150, 319} {
		if r, g, b, _ := m.At(x, 91).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(b>>8) != want.B {
			t.Errorf("at %d the wide rectangle is missing", x)
		}
	}
}

func TestScenesThatCannotBeDrawnAreRefused(t *testing.T) {
	for name, s := range map[string]*scene.Scene{
		"no size":      {},
		"no number":    {Width: math.NaN(), Height: 10},
		"too large":    {Width: 30000, Height: 30000},
		"unknown mark": {Width: 9, Height: 9, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{scenetest.Unknown{}}}}},
	} {
		if err := Render(io.Discard, s, scene.Light); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := RenderScaled(io.Discard, scenetest.Marks(), scene.Light, 100); err == nil {
		t.Error("no error for a scale of 100")
	}
}

func TestRectanglesFillWholePixels(t *testing.T) {
	m := &scene.Rect{}
	m.Add(1, 1, 3, 2, scene.UIInkDark)
	m.Add(6.4, 1, 0.1, 1, scene.UIInkDark) // a pixel, however thin
	m.Add(8, 1, 0, 5, scene.UIInkDark)     // nothing
	m.Add(9, 1, -3, 5, scene.UIInkDark)    // nothing
	s := &scene.Scene{Width: 12, Height: 5, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
	img, err := Image(s, scene.Light)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for y := range 5 {
		for x := range 12 {
			got.WriteByte(map[uint8]byte{0: '#', 255: '.'}[img.RGBAAt(x, y).R])
		}
		got.WriteByte('\n')
	}
	want := "............\n.###..#.....\n.###........\n............\n............\n"
	if got.String() != want {
		t.Errorf("drawn as\n%swant\n%s", got.String(), want)
	}
}

func TestHairlinesAreSharp(t *testing.T) {
	m := &scene.Line{Width: 1}
	m.Add(0, 2, 8, 2, scene.UIInkDark)
	m.Add(4, 0, 4, 8, scene.UIInkDark)
	s := &scene.Scene{Width: 8, Height: 8, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
	img, err := Image(s, scene.Light)
	if err != nil {
		t.Fatal(err)
	}
	for y := range 8 {
		for x := range 8 {
			want := uint8(255)
			if y == 2 || x == 4 {
				want = 0
			}
			if got := img.RGBAAt(x, y).R; got != want {
				t.Errorf("pixel %d,%d is %d, want %d", x, y, got, want)
			}
		}
	}
}

// A line of any direction has the weight of its length and width.
func TestLinesKeepTheirWeight(t *testing.T) {
	for _, width := range []float32{0.5, 1, 2, 5} {
		for turn := 3.0; turn < 180; turn += 23 {
			sin, cos := math.Sincos(turn * math.Pi / 180)
			m := &scene.Line{Width: width}
			m.Add(100-float32(80*cos), 100-float32(80*sin), 100+float32(80*cos), 100+float32(80*sin), scene.UIInkDark)
			s := &scene.Scene{Width: 200, Height: 200, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
			img, err := Image(s, scene.Light)
			if err != nil {
				t.Fatal(err)
			}
			ink := 0.0
			for i := 0; i < len(img.Pix); i += 4 {
				ink += float64(255-img.Pix[i]) / 255
			}
			if want := 160 * float64(width); math.Abs(ink-want) > 0.06*want {
				t.Errorf("width %v at %v°: ink of %.1f pixels, want %.1f", width, turn, ink, want)
			}
		}
	}
}

// A polygon over everything is cut before it is filled; the picture is that of the part inside.
func TestPolygonsThatReachFarOutAreFilledInside(t *testing.T) {
	picture := func(xs, ys []float32) *image.RGBA {
		m := &scene.Polygon{}
		m.Add(xs, ys, scene.UIInkDark)
		s := &scene.Scene{Width: 60, Height: 60, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
		img, err := Image(s, scene.Light)
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	far := picture([]float32{-9e5, 9e5, 9e5, -9e5}, []float32{-9e5, 9e5, 9.1e5, 9.1e5}) // below the diagonal
	near := picture([]float32{0, 60, 0}, []float32{0, 60, 60})
	if err := scenetest.Alike(far, near, 0.03); err != nil {
		t.Error(err)
	}
	zigzag := &scene.Polygon{}
	var xs, ys []float32
	for i := range 2000 {
		xs, ys = append(xs, float32(i%2)*1.9e6-9.5e5), append(ys, float32(i)*500-5e5)
	}
	zigzag.Add(xs, ys, scene.UIData)
	s := &scene.Scene{Width: 900, Height: 900, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{zigzag}}}}
	if _, err := Image(s, scene.Light); err != nil {
		t.Error(err)
	}
}

func TestFewColoursAreWrittenWithAPalette(t *testing.T) {
	few := &scene.Rect{}
	many := &scene.Rect{}
	for i := range 300 {
		few.Add(float32(i), 0, 1, 10, scene.LocationColour(i))
		many.Add(float32(i), 0, 1, 10, scene.Ramp([]string{"viridis", "cividis"}[i%2], float64(i)/300))
	}
	for kind, m := range map[byte]*scene.Rect{3: few, 2: many} {
		s := &scene.Scene{Width: 300, Height: 10, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
		data := render(t, s, scene.Light)
		if data[25] != kind {
			t.Errorf("colour type %d, want %d", data[25], kind)
		}
		img := decode(t, data)
		for i := range 300 {
			want := m.Fill[i].RGBA(scene.Light)
			if r, g, b, _ := img.At(i, 5).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(b>>8) != want.B {
				t.Fatalf("column %d has the wrong colour", i)
			}
		}
	}
}

func TestTheDescriptionIsInTheFile(t *testing.T) {
	s := scenetest.Marks()
	s.Title, s.Description = "Zeit in µs", "loss ≤ 0.3 %\x00 of 中"
	chunks := readChunks(t, render(t, s, scene.Light))
	if got := chunks["tEXt"]; !strings.HasPrefix(got, "Title\x00Zeit in \xb5s") {
		t.Errorf("tEXt holds %q", got)
	}
	if got := chunks["iTXt"]; got != "Description\x00\x00\x00\x00\x00loss ≤ 0.3 % of 中" {
		t.Errorf("iTXt holds %q", got)
	}
}

// readChunks gives the first chunk of each kind, checking all sums.
func readChunks(t *testing.T, data []byte) map[string]string {
	t.Helper()
	chunks := map[string]string{}
	for data = data[8:]; len(data) > 0; {
		n := binary.BigEndian.Uint32(data)
		kind, body := string(data[4:8]), data[8:8+n]
		if binary.BigEndian.Uint32(data[8+n:]) != crc32.ChecksumIEEE(data[4:8+n]) {
			t.Errorf("chunk %s has a wrong sum", kind)
		}
		if _, ok := chunks[kind]; !ok {
			chunks[kind] = string(body)
		}
		data = data[12+n:]
	}
	return chunks
}

func TestAScaleMultipliesPixels(t *testing.T) {
	var b bytes.Buffer
	if err := RenderScaled(&b, scenetest.Marks(), scene.Light, 2); err != nil {
		t.Fatal(err)
	}
	if got := decode(t, b.Bytes()).Bounds(); got != image.Rect(0, 0, 960, 720) {
		t.Errorf("the picture is %v", got)
	}
}

func TestAWriterThatFailsIsReported(t *testing.T) {
	broken := errors.New("disk full")
	if err := Render(failing{broken}, scenetest.Marks(), scene.Light); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func BenchmarkRects(b *testing.B) {
	for _, n := range []int{20_000, 200_000} {
		s := scenetest.ManyRects(n)
		b.Run(fmt.Sprint("draw/", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := draw(s, scene.Light, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("encode/", n), func(b *testing.B) {
			c, _ := draw(s, scene.Light, 1)
			for b.Loop() {
				var size counter
				if err := encode(&size, c, nil); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size), "bytes/picture")
			}
		})
		b.Run(fmt.Sprint("standard-encode/", n), func(b *testing.B) {
			img, _ := Image(s, scene.Light)
			e := png.Encoder{CompressionLevel: png.BestSpeed}
			for b.Loop() {
				var size counter
				if err := e.Encode(&size, img); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size), "bytes/picture")
			}
		})
	}
}

func BenchmarkText(b *testing.B) {
	m := &scene.Text{Size: 12}
	for i := range 5000 {
		m.Add(float32(i%10)*100, float32(i/10)*2, "MPI_Allreduce 1.24 ms", scene.UIText, scene.Start)
	}
	s := &scene.Scene{Width: 1100, Height: 1000, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{m}}}}
	for b.Loop() {
		if _, err := draw(s, scene.Light, 1); err != nil {
			b.Fatal(err)
		}
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
