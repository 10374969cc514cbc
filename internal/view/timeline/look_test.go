package timeline

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

func TestLook(t *testing.T) {
	spec := os.Getenv("LOOK")
	if spec == "" {
		t.Skip()
	}
	m := storetest.NewMemory(all.Summaries...)
	s, err := importer.NewSource(os.Getenv("LOOKSRC"))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{chrometrace.Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := chrometrace.Format.Import(context.Background(), runs[0], m); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	t.Log(r.Info().Intervals, r.Info().Rows, r.Locations().Len())
	for _, line := range strings.Split(spec, ";") {
		f := strings.Fields(line)
		w, h, _ := strings.Cut(f[1], "x")
		W, _ := strconv.Atoi(w)
		H, _ := strconv.Atoi(h)
		opts := map[string][]string{}
		var sp view.Spec
		theme := scene.Light
		for _, kv := range f[2:] {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "from":
				sp.From = v
			case "to":
				sp.To = v
			case "locations":
				sp.Locations = append(sp.Locations, v)
			case "regions":
				sp.Regions = append(sp.Regions, v)
			case "theme":
				theme = scene.Dark
			default:
				opts[k] = append(opts[k], v)
			}
		}
		at := time.Now()
		res := computeFor(t, r, sp, opts, scene.Size{Width: W, Height: H})
		took := time.Since(at)
		pic := scene.Furnish(scene.Size{Width: W, Height: H}, res.Scene)
		pic.Notes = nil
		var b bytes.Buffer
		if err := png.Render(&b, pic, theme); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(f[0], b.Bytes(), 0o644)
		t.Log(f[0], took, res.Notes(), res.grid.level)
	}
}
