package main

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// A figure is as wide as the column of a journal in every format, and its text as large.
func TestAFigureHasItsSizeOnPaper(t *testing.T) {
	dir := t.TempDir()
	made := func(size, name string, more ...string) []byte {
		t.Helper()
		file := filepath.Join(dir, name)
		if status, _, stderr := parallax(t, append([]string{"view", "moments", "demo:stencil?locations=16&intervals=4000", "--size", size, "-o", file}, more...)...); status != 0 {
			t.Fatal(stderr)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, width := range []float64{84, 174} {
		size := strconv.FormatFloat(width, 'f', -1, 64) + "mm"
		m := regexp.MustCompile(`width="([\d.]+)mm" height="([\d.]+)mm" viewBox="0 0 ([\d.]+) ([\d.]+)"`).FindSubmatch(made(size, "f.svg"))
		if m == nil {
			t.Fatal("the SVG has no size in millimetres")
		}
		number := func(i int) float64 { x, _ := strconv.ParseFloat(string(m[i]), 64); return x }
		if number(1) != width {
			t.Errorf("the SVG is %v mm wide", number(1))
		}
		// Text of 12 units has 8 points.
		if points := 12 * number(1) / number(3) * 72 / 25.4; points < 7.9 || points > 8.1 {
			t.Errorf("text has %v points", points)
		}
		picture := made(size, "f.png")
		p, err := png.DecodeConfig(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(picture, []byte("pHYs"))
		if at < 0 || binary.BigEndian.Uint32(picture[at+4:]) != 11811 {
			t.Error("the PNG does not say that it has 300 dots an inch")
		}
		near := func(what string, got, want float64) {
			if got < want-1.01 || got > want+1.01 {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("pixels across", float64(p.Width), width/25.4*300)
		near("pixels down", float64(p.Height), number(2)/25.4*300)
		box := regexp.MustCompile(`/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]`).FindSubmatch(made(size, "f.pdf"))
		if box == nil {
			t.Fatal("the PDF has no page")
		}
		across, _ := strconv.ParseFloat(string(box[1]), 64)
		down, _ := strconv.ParseFloat(string(box[2]), 64)
		near("points across", across, width/25.4*72)
		near("points down", down, number(2)/25.4*72)
	}
	if !bytes.Contains(made("84x60mm", "l.svg", "--letter", "b"), []byte(">(b)")) {
		t.Error("the picture has no letter")
	}
	for _, size := range []string{"84", "5mm", "84mmx2mm", "1600x", "x900", "84cm", "1600.5x900", "30000xAUTO"} {
		if status, _, _ := parallax(t, "view", "moments", "demo:stencil?locations=16&intervals=4000", "--size", size, "-o", filepath.Join(dir, "w.svg")); status != 2 {
			t.Errorf("--size %s: status %d", size, status)
		}
	}
}

// Where no height is given, a picture ends under its content.
func TestAPictureWithoutAHeightIsAsHighAsItsContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.png")
	if status, _, stderr := parallax(t, "view", "findings", "demo:stencil?locations=16&intervals=4000", "--size", "1200xAUTO", "-o", file); status != 0 {
		t.Fatal(stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil || p.Width != 1200 || p.Height < 100 || p.Height > 500 {
		t.Errorf("%d × %d, %v", p.Width, p.Height, err)
	}
}
