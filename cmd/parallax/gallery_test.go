package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var galleryPicture = regexp.MustCompile(`!\[([^\]]+)\]\(([\w-]+)\.png\)\n\n    parallax (open|view) (.*)\n`)

// TestTheGalleryIsWhatTheProgramGives: every picture of docs/gallery has its command, and
// a view's picture is what the command gives now, but for a few pixels. First screens are
// taken in a browser (make gallery); here their sources open, and are of different kinds.
func TestTheGalleryIsWhatTheProgramGives(t *testing.T) {
	const dir = "../../docs/gallery"
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..") // commands are given at the top of the repository
	var shown []string
	kinds := map[string]bool{}
	for _, m := range galleryPicture.FindAllStringSubmatch(string(text), -1) {
		name, verb, words := m[2], m[3], strings.Fields(m[4])
		shown = append(shown, name+".png")
		kept, err := readPNG(filepath.Join("docs/gallery", name+".png"))
		if err != nil {
			t.Errorf("%v; run make gallery", err)
			continue
		}
		var out, errs bytes.Buffer
		if verb == "open" {
			if code := run(context.Background(), append([]string{"info", "--json"}, words...), &out, &errs); code != 0 {
				t.Errorf("%s: %s", name, errs.String())
				continue
			}
			var info struct{ Kind string }
			if err := json.Unmarshal(out.Bytes(), &info); err != nil {
				t.Fatal(err)
			}
			kinds[info.Kind] = true
			continue
		}
		file := filepath.Join(t.TempDir(), "now.png")
		if code := run(context.Background(), append(append([]string{"view"}, words[:len(words)-1]...), file), &out, &errs); code != 0 {
			t.Errorf("%s: %s", name, errs.String())
			continue
		}
		now, err := readPNG(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := difference(kept, now); d > 0.01 {
			t.Errorf("%s.png: %.1f %% of the pixels are not what `parallax %s %s` draws now; look, and run make gallery", name, 100*d, verb, m[4])
		}
	}
	files, err := filepath.Glob("docs/gallery/*.png")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(shown, filepath.Base(f)) {
			t.Errorf("%s is not in the gallery's README.md", f)
		}
	}
	for _, kind := range []string{"gpu", "ranks", "go", "profile", "requests", "moments"} {
		if !kinds[kind] {
			t.Errorf("the gallery has no first screen of a run of kind %s", kind)
		}
	}
}

func readPNG(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}

// difference is the share of pixels that are not the same; 1 where sizes differ.
func difference(a, b image.Image) float64 {
	if a.Bounds() != b.Bounds() {
		return 1
	}
	n := 0
	r := a.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			if ar>>12 != br>>12 || ag>>12 != bg>>12 || ab>>12 != bb>>12 {
				n++
			}
		}
	}
	return float64(n) / float64(r.Dx()*r.Dy())
}
