package profile_test

import (
	"maps"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/profile"
)

// TestRowsOfTwoRunsLineUp: a region has one height in both pictures, also where one run does not have those above it.
// The name of a region that the other run alone has is there in grey, without a bar or numbers.
func TestRowsOfTwoRunsLineUp(t *testing.T) {
	c := viewtest.Case{Trace: `
region solve role=compute
region init role=compute
region send role=communication
location process p1 rank=0
  0..60 solve
  60..80 init
  80..90 send
`, Others: []string{`
region solve role=compute
region grow role=compute
region send role=communication
location process p1 rank=0
  0..40 solve
  40..70 grow
  70..90 send
`}, Size: scene.Size{Width: 1000, Height: 300}}
	r := c.Compute(t, profile.View, c.Open(t))
	s := r.Scene(c.Size)
	type place struct {
		y    float32
		grey bool
	}
	var got [2]map[string]place
	half := -1
	for _, l := range s.Layers {
		if l.Name != "names" {
			continue
		}
		half++
		got[half] = map[string]place{}
		text := l.Marks[0].(*scene.Text)
		for i := range text.Len() {
			got[half][text.Text[i]] = place{float32(int(text.Y[i])), text.Fill[i] == scene.UITextMuted}
		}
	}
	pitch := got[0]["grow"].y - got[0]["solve"].y
	at := func(n float32, grey bool) place { return place{got[0]["solve"].y + n*pitch, grey} }
	for k, want := range []map[string]place{
		{"solve": at(0, false), "grow": at(1, true), "init": at(2, false), "send": at(3, false)},
		{"solve": at(0, false), "grow": at(1, false), "init": at(2, true), "send": at(3, false)},
	} {
		if !maps.Equal(got[k], want) {
			t.Errorf("run %d: %v, want %v", k, got[k], want)
		}
	}
	// Each bar is that of its row: the facts under the cursor are of the region named there.
	for name, p := range got[1] {
		it, ok := s.ItemAt(float64(c.Size.Width/2)+10, float64(p.y))
		if ok == p.grey {
			t.Errorf("%s: an item %v", name, ok)
		}
		if f, _ := r.(view.Facts).Fact(it); ok && f.Title != name+", test2" {
			t.Errorf("at %s: %q", name, f.Title)
		}
	}
}
