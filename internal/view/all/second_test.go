package all_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	analysis "github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

const shortRun = `
region work role=compute
region extra role=compute
region wait role=idle
location thread "rank 0" rank=0
  0..1000 work
  1000..1200 wait
location thread "rank 1" rank=1
  0..600 work
  600..1200 wait
`

const longRun = `
region work role=compute
region extra role=compute
region wait role=idle
location thread "rank 0" rank=0
  0..1500 extra
  1500..3500 work
  3500..4000 wait
location thread "rank 1" rank=1
  0..1500 extra
  1500..2500 work
  2500..4000 wait
`

// Views of one run that take a second draw both on one scale, and have the data of both.
func TestTwoRunsAreDrawnOnOneScale(t *testing.T) {
	one, two := storetest.Text(t, shortRun, analysis.Summaries...), storetest.Text(t, longRun, analysis.Summaries...)
	for name, frame := range map[string]string{"profile": "bars", "groups": "", "histogram": "counts", "landscape": "",
		"scatter": "main", "activity": "main"} {
		var v *view.View
		for _, x := range all.Views {
			if x.Name == name {
				v = x
			}
		}
		values, err := view.NewValues(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		size := scene.Size{Width: 1000, Height: 600}
		q := &view.Request{Runs: []view.Run{{Name: "a", Store: one}, {Name: "b", Store: two}},
			Selection: trace.Selection{End: one.Info().End}, Values: values, Size: size}
		r, err := view.Ask(context.Background(), v, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var data map[string]any
		text, err := json.Marshal(r.Data())
		if err != nil || json.Unmarshal(text, &data) != nil || data["with"] == nil {
			t.Errorf("%s: the data of the second run are not in %s (%v)", name, text, err)
		}
		var scales []scene.Frame
		for _, f := range r.Scene(size).Frames {
			if f.Name == frame {
				scales = append(scales, f)
			}
		}
		if frame == "" {
			continue
		}
		if len(scales) != 2 {
			t.Fatalf("%s: %d frames %q", name, len(scales), frame)
		}
		a, b := &scales[0], &scales[1]
		if a.XScale.Begin != b.XScale.Begin || a.XScale.End != b.XScale.End || a.XScale.Label != b.XScale.Label ||
			math.Abs(float64(a.W-b.W)) > 12 || a.YScale.Begin != b.YScale.Begin || a.YScale.End != b.YScale.End {
			t.Errorf("%s: one half has %+v by %+v in %g pixels, the other %+v by %+v in %g", name, a.XScale,
				a.YScale, a.W, b.XScale, b.YScale, b.W)
		}
	}
}
