package wire

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// The header mirrors scene.Scene; web/src/scene/scene.ts has the same names.
type header struct {
	Version     int           `json:"version"`
	Width       float64       `json:"width"`
	Height      float64       `json:"height"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Empty       *Empty        `json:"empty"`
	Coarse      bool          `json:"coarse"`
	Frames      []frame       `json:"frames"`
	Layers      []layer       `json:"layers"`
	Legend      []legendEntry `json:"legend"`
	Notes       []string      `json:"notes"`
	Terms       []term        `json:"terms,omitempty"`
	Strings     []string      `json:"strings"`
	// Facts of the items that marks carry; fewer where they would take too much.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Briefs are those of very many.
	Briefs []briefs `json:"briefs,omitempty"`
	// Placed are the items for which the page asks by place.
	Placed []int `json:"placed,omitempty"`
}

type term struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Label string `json:"label"`
	By    string `json:"by"`
}

type frame struct {
	Name   string  `json:"name"`
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	W      float64 `json:"w"`
	H      float64 `json:"h"`
	XScale scale   `json:"xScale"`
	YScale scale   `json:"yScale"`
	// Places are x, y, w, h and location of each, one after the other, in whole pixels.
	Places []int64 `json:"places,omitempty"`
}

type scale struct {
	Kind  string  `json:"kind"`
	Begin float64 `json:"begin"`
	End   float64 `json:"end"`
	Label string  `json:"label"`
	Rows  []row   `json:"rows"`
}

type row struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Location uint32  `json:"location"`
	Region   uint32  `json:"region"`
	Label    string  `json:"label"`
	Count    int     `json:"count"`
	Level    int     `json:"level"`
	Open     bool    `json:"open"`
	Folded   bool    `json:"folded"`
}

type layer struct {
	Name  string `json:"name"`
	Frame int    `json:"frame"`
	Marks []any  `json:"marks"`
}

type legendEntry struct {
	Label    string       `json:"label"`
	Colour   scene.Colour `json:"colour"`
	RampEnd  scene.Colour `json:"rampEnd"`
	RampLow  string       `json:"rampLow"`
	RampHigh string       `json:"rampHigh"`
	Region   uint32       `json:"region"`
	Parent   uint32       `json:"parent"`
	Flags    scene.Flag   `json:"flags"`
}

func placesOf(places []scene.Spot) []int64 {
	out := make([]int64, 0, 5*len(places))
	for _, p := range places {
		if scene.Drawable(p.X, p.Y, p.W, p.H) {
			x, y := math.Round(float64(p.X)), math.Round(float64(p.Y))
			out = append(out, int64(x), int64(y), int64(math.Round(float64(p.X+p.W))-x), int64(math.Round(float64(p.Y+p.H))-y), int64(p.Location))
		}
	}
	return out
}

func (e *encoder) header(s *scene.Scene, x Extra) (*header, error) {
	h := &header{
		Version: Version, Width: finite(s.Width), Height: finite(s.Height), Title: s.Title, Description: s.Description,
		Empty: x.Empty, Coarse: x.Coarse, Facts: x.Facts,
		Frames: []frame{}, Layers: []layer{}, Legend: []legendEntry{}, Notes: append([]string{}, s.Notes...),
	}
	for n, it := range s.Items {
		if it.Placed {
			h.Placed = append(h.Placed, n)
		}
	}
	for _, t := range s.Terms {
		h.Terms = append(h.Terms, term{t.Name, scene.Visible(t.Text), scene.Visible(t.Label), t.By})
	}
	for _, f := range s.Frames {
		out := frame{f.Name, finite(f.X), finite(f.Y), finite(f.W), finite(f.H), scaleOf(&f.XScale), scaleOf(&f.YScale), placesOf(f.Places)}
		if !scene.Drawable(f.X, f.Y, f.W, f.H) {
			out.W, out.H = -1, -1 // nothing in it is drawn
		}
		h.Frames = append(h.Frames, out)
	}
	for _, l := range s.Legend {
		end := l.RampEnd
		if !l.Ramps() {
			end = scene.None
		}
		h.Legend = append(h.Legend, legendEntry{l.Label, l.Colour, end, l.RampLow, l.RampHigh, l.Region, l.Parent, l.Flags})
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

func scaleOf(s *scene.Scale) scale {
	out := scale{Kind: s.Kind, Begin: finite(s.Begin), End: finite(s.End), Label: s.Label, Rows: make([]row, 0, len(s.Rows))}
	for _, r := range s.Rows {
		out.Rows = append(out.Rows, row{
			finite(r.From), finite(r.To), r.Location, r.Region, r.Label, r.Count, r.Level, r.Open, r.Folded,
		})
	}
	return out
}

// finite makes a number fit for JSON: what is not finite becomes 0.
func finite[T float32 | float64](x T) float64 {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	return 0
}
