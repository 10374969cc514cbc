package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// The header mirrors scene.Scene. Frames, scales, legend and marks are written from the types of package scene by their
// fields; the types of the page (web/src/scene/types.ts) are generated from them.
type header struct {
	Version     int      `json:"version"`
	Width       float64  `json:"width"`
	Height      float64  `json:"height"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Empty       *Empty   `json:"empty"`
	Coarse      bool     `json:"coarse"`
	Frames      []any    `json:"frames"`
	Layers      []layer  `json:"layers"`
	Legend      []any    `json:"legend"`
	Notes       []string `json:"notes"`
	Terms       []any    `json:"terms,omitempty"`
	Strings     []string `json:"strings"`
	// Facts of the items that marks carry; fewer where they would take too much.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Briefs are those of very many.
	Briefs []briefs `json:"briefs,omitempty"`
	// Placed are the items for which the page asks by place.
	Placed []int `json:"placed,omitempty"`
}

type layer struct {
	Name  string `json:"name"`
	Frame int    `json:"frame"`
	Marks []any  `json:"marks"`
}

func placesOf(places []scene.Spot) []int64 {
	out := make([]int64, 0, 5*len(places))
	for _, p := range places {
		if scene.Drawable(p.X, p.Y, p.W, p.H) {
			x, y := math.Round(float64(p.X)), math.Round(float64(p.Y))
			out = append(out, int64(x), int64(y), int64(math.Round(float64(p.X+p.W))-x),
				int64(math.Round(float64(p.Y+p.H))-y), int64(p.Location))
		}
	}
	return out
}

func (e *encoder) header(s *scene.Scene, x Extra) (*header, error) {
	h := &header{
		Version: Version, Width: finite(s.Width), Height: finite(s.Height), Title: s.Title, Description: s.Description,
		Empty: x.Empty, Coarse: x.Coarse, Facts: x.Facts,
		Frames: []any{}, Layers: []layer{}, Legend: []any{}, Notes: append([]string{}, s.Notes...),
	}
	for n, it := range s.Items {
		if it.Placed {
			h.Placed = append(h.Placed, n)
		}
	}
	for _, t := range s.Terms {
		t.Text, t.Label = scene.Visible(t.Text), scene.Visible(t.Label)
		h.Terms = append(h.Terms, plain(reflect.ValueOf(t)))
	}
	for _, f := range s.Frames {
		h.Frames = append(h.Frames, frameOf(f))
	}
	for _, l := range s.Legend {
		if !l.Ramps() {
			l.RampEnd = scene.None
		}
		h.Legend = append(h.Legend, plain(reflect.ValueOf(l)))
	}
	for _, l := range s.Layers {
		out := layer{Name: l.Name, Frame: l.Frame, Marks: []any{}}
		for _, m := range l.Marks {
			d, err := e.mark(m)
			if err != nil {
				return nil, fmt.Errorf("encode scene: layer %q: %w", l.Name, err)
			}
			out.Marks = append(out.Marks, d)
		}
		h.Layers = append(h.Layers, out)
	}
	h.Briefs = e.briefs(x.Briefs)
	h.Strings = append([]string{}, e.list...)
	return h, nil
}

// frameOf describes a frame. One that cannot be drawn has no extent; places that it lacks are left out.
func frameOf(f scene.Frame) object {
	drawable, places := scene.Drawable(f.X, f.Y, f.W, f.H), placesOf(f.Places)
	f.Places = nil
	o := plain(reflect.ValueOf(f)).(object)
	if !drawable {
		o.set("w", -1)
		o.set("h", -1)
	}
	o = o[:len(o)-1]
	if len(places) > 0 {
		o = append(o, field{"places", places})
	}
	return o
}
