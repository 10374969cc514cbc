package timeline_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/timeline"
)

// stepping is a run of steps of 100 ns after a time of preparation.
func stepping(prepare, steps int) string {
	var b strings.Builder
	b.WriteString("region setup role=compute\nregion iteration role=annotation\nregion solve role=compute\n")
	for rank := range 2 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..%d setup\n", rank, rank, prepare)
		for i := range steps {
			from := prepare + 100*i
			fmt.Fprintf(&b, "  %d..%d iteration\n    %d..%d solve\n", from, from+100, from+10, from+90)
		}
	}
	return b.String()
}

func stack(t *testing.T, options map[string][]string) (*scene.Scene, *timeline.Aligned, view.Result) {
	t.Helper()
	c := viewtest.Case{Trace: stepping(200, 6), Others: []string{stepping(500, 6)}, Options: options}
	r := c.Compute(t, timeline.View, c.Open(t))
	var d struct{ Aligned *timeline.Aligned }
	b, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return r.Scene(scene.Size{Width: 640, Height: 360}), d.Aligned, r
}

// timeFrames are the plot areas of both runs.
func timeFrames(t *testing.T, s *scene.Scene) (a, b *scene.Frame) {
	t.Helper()
	for i := range s.Frames {
		if f := &s.Frames[i]; f.XScale.Kind == "time" && f.Y < 180 {
			a = f
		} else if f.XScale.Kind == "time" {
			b = f
		}
	}
	if a == nil || b == nil {
		t.Fatal("not two time axes")
	}
	return a, b
}

func TestTwoRunsAreOnOneScaleAndTheirPhasesBeginTogether(t *testing.T) {
	s, aligned, r := stack(t, nil)
	a, b := timeFrames(t, s)
	if wide := func(f *scene.Frame) float64 { return (f.XScale.End - f.XScale.Begin) / float64(f.W) }; math.Abs(wide(a)/wide(b)-1) > 1e-6 || a.X != b.X {
		t.Errorf("a pixel is %v ns above and %v ns below", wide(a), wide(b))
	}
	if aligned == nil || aligned.First != 200 || aligned.Second != 500 {
		t.Fatalf("aligned %+v, want the first iteration, at 200 and 500", aligned)
	}
	if x, y := a.XPixel(200), b.XPixel(500); math.Abs(float64(x-y)) > 0.01 {
		t.Errorf("the first iteration begins at pixel %v above and %v below", x, y)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, "the first 300 ns of test2 lie to the left") {
		t.Errorf("what is not drawn is not said: %s", notes)
	}
}

func TestTwoRunsMayBeginTogether(t *testing.T) {
	s, aligned, _ := stack(t, map[string][]string{"at-phase": {"none"}})
	a, b := timeFrames(t, s)
	if aligned != nil || a.XScale.Begin != 0 || b.XScale.Begin != 0 || a.XScale.End != b.XScale.End {
		t.Errorf("aligned %+v, axes from %v to %v and from %v to %v", aligned, a.XScale.Begin, a.XScale.End, b.XScale.Begin, b.XScale.End)
	}
	if _, third, _ := stack(t, map[string][]string{"at-phase": {"3"}}); third == nil || third.First != 400 || third.Second != 700 {
		t.Errorf("the third phase: %+v", third)
	}
}
