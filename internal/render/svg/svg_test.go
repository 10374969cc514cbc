package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
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

func TestPicturesAreAsInTheGoldenFiles(t *testing.T) {
	for name, s := range scenetest.Pictures() {
		for _, theme := range []scene.Theme{scene.Light, scene.Dark} {
			path := filepath.Join("testdata", name+"-"+theme.String()+".svg")
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
			if !bytes.Equal(got, want) {
				changed := strings.TrimSuffix(path, ".svg") + "-changed.svg"
				os.WriteFile(changed, got, 0o644)
				t.Errorf("%s differs; the new picture is %s, -update accepts it", path, changed)
			}
		}
	}
}

func TestEveryMarkHasACase(t *testing.T) {
	for _, kind := range scene.MarkKinds {
		w := &writer{}
		if err := w.mark(scenetest.MarkOfKind(kind)); err != nil {
			t.Error(err)
		}
	}
	if err := (&writer{}).mark(scenetest.Unknown{}); err == nil {
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

// Hostile names and coordinates give well-formed XML without elements or numbers of theirs.
func TestHostileScenesGiveWellFormedPictures(t *testing.T) {
	got := render(t, scenetest.HostileScene(), scene.Light)
	d := xml.NewDecoder(bytes.NewReader(got))
	d.Strict = true
	names := map[string]int{}
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			names[token.Name.Local]++
		case xml.CharData:
			text.Write(token)
		}
	}
	if names["script"] > 0 {
		t.Error("a name became an element")
	}
	for _, want := range []string{`<script>alert("x")</script>`, `nul\x00`, `\u202e`, `\xff`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text %q is not drawn", want)
		}
	}
	for _, bad := range []string{"NaN", "Inf", "e+"} {
		if strings.Contains(string(got), bad) {
			t.Errorf("the picture holds %q", bad)
		}
	}
}

func TestScenesThatCannotBeDrawnAreRefused(t *testing.T) {
	ragged := &scene.Rect{X: []float32{1}, Fill: []scene.Colour{1, 2}}
	for name, s := range map[string]*scene.Scene{
		"no size":       {},
		"endless":       {Width: math.Inf(1), Height: 10},
		"no number":     {Width: math.NaN(), Height: 10},
		"no such frame": {Width: 9, Height: 9, Layers: []scene.Layer{{Frame: 2}}},
		"ragged":        {Width: 9, Height: 9, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{ragged}}}},
		"unknown mark":  {Width: 9, Height: 9, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{scenetest.Unknown{}}}}},
	} {
		if err := Render(io.Discard, s, scene.Light); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", -1: "-1", 0.5: ".5", -0.25: "-.25", 12.345: "12.35", 1.004: "1", -0.004: "0", 100: "100", 1e5: "100000", 3.10: "3.1",
	} {
		if got := string(appendHundredths(nil, hundredths(v))); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

// Two hundred thousand rectangles are a busy screen; the file must stay small.
func TestManyRectanglesStaySmall(t *testing.T) {
	got := len(render(t, scenetest.ManyRects(200_000), scene.Light))
	if got > 6_000_000 {
		t.Errorf("200,000 rectangles take %d bytes, want at most 6 MB", got)
	}
}

func BenchmarkRects(b *testing.B) {
	for _, n := range []int{20_000, 200_000} {
		s := scenetest.ManyRects(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var size counter
				if err := Render(&size, s, scene.Light); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(size), "bytes/picture")
			}
		})
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
