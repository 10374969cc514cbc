package pdf

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/scenetest"
)

func render(t *testing.T, s *scene.Scene, theme scene.Theme) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, s, theme); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryMarkHasACase(t *testing.T) {
	p := open(scenetest.Marks(), scene.Light)
	for _, kind := range scene.MarkKinds {
		if err := p.mark(scenetest.MarkOfKind(kind)); err != nil {
			t.Error(err)
		}
	}
	if err := p.mark(scenetest.Unknown{}); err == nil {
		t.Error("no error for a mark without a case")
	}
}

func TestTheSameSceneGivesTheSameBytes(t *testing.T) {
	for name, s := range scenetest.Pictures() {
		a, b := render(t, s, scene.Light), render(t, s, scene.Light)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs from one time to the next", name)
		}
		if bytes.Equal(a, render(t, s, scene.Dark)) {
			t.Errorf("%s is the same in light and dark", name)
		}
		if !bytes.HasPrefix(a, []byte("%PDF-1.")) || !bytes.HasSuffix(bytes.TrimSpace(a), []byte("%%EOF")) {
			t.Errorf("%s is not a PDF", name)
		}
		if n := bytes.Count(a, []byte("/FontFile2")); n != 2 {
			t.Errorf("%s embeds %d fonts, want regular and bold", name, n)
		}
	}
}

func TestHostileScenesAreDrawn(t *testing.T) {
	got := render(t, scenetest.HostileScene(), scene.Dark)
	if len(got) > 300_000 {
		t.Errorf("the picture takes %d bytes: hatches reach beyond the page", len(got))
	}
}

func TestScenesThatCannotBeDrawnAreRefused(t *testing.T) {
	for name, s := range map[string]*scene.Scene{
		"no size":      {},
		"no number":    {Width: math.NaN(), Height: 10},
		"unknown mark": {Width: 9, Height: 9, Layers: []scene.Layer{{Frame: -1, Marks: []scene.Mark{scenetest.Unknown{}}}}},
	} {
		if err := Render(io.Discard, s, scene.Light); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCharactersWithoutAGlyphAreBoxes(t *testing.T) {
	for in, want := range map[string]string{"µs ≤ …": "µs ≤ …", "中x": "□x", "e\u0301": "e", "a\x00": `a\x00`, "😀": "□"} {
		if got := drawn(in); got != want {
			t.Errorf("%q is drawn %q, want %q", in, got, want)
		}
	}
}

func TestNumbersAreShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0 ", 1: "1 ", -0.5: "-0.5 ", 1.2345: "1.235 ", 100: "100 ", math.NaN(): "0 ", 0.05: "0.05 ", -0.0001: "0 "} {
		p := &page{}
		if got := string(p.num(v).b); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}

func BenchmarkRects(b *testing.B) {
	s := scenetest.ManyRects(200_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := Render(io.Discard, s, scene.Light); err != nil {
			b.Fatal(err)
		}
	}
}
