package treemap_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// TestPlacesSayWhichLocationACellIs: the page marks chosen locations by them.
func TestPlacesSayWhichLocationACellIs(t *testing.T) {
	c := viewtest.Case{Reader: func(tb testing.TB) store.Reader {
		return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 64, 6400) })
	}, Options: map[string][]string{"p": {"0"}}}
	r := c.Open(t)
	result := c.Compute(t, treemap.View, r)
	s := result.Scene(scene.Size{Width: 800, Height: 600})
	places := s.Frames[0].Places
	if len(places) < 64 {
		t.Fatalf("%d places of 64 ranks", len(places))
	}
	for _, p := range places {
		f, ok, _ := view.PickAt(result, s, float64(p.X+p.W/2), float64(p.Y+p.H)-1.5)
		if !ok || len(f.Locations) != 1 {
			t.Fatalf("nothing at the place of location %d", p.Location)
		}
		if id := uint32(f.Locations[0]); id < p.Location || id > uint32(r.Locations().Last[p.Location]) {
			t.Errorf("at the place of location %d is %d", p.Location, id)
		}
	}
}
