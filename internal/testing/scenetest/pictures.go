package scenetest

import (
	"github.com/parallax-hpc/parallax/internal/scene"
)

// Pictures are the scenes of the golden files, by name.
func Pictures() map[string]*scene.Scene {
	return map[string]*scene.Scene{"marks": Marks(), "gallery": Gallery(), "palette": Palette(), "space": Spaces()}
}

// MarkOfKind returns an empty mark of a kind; nil for a kind without one.
func MarkOfKind(kind string) scene.Mark {
	for _, m := range []scene.Mark{
		&scene.Rect{}, &scene.Line{}, &scene.Path{}, &scene.Polygon{}, &scene.Point{}, &scene.Text{}, &scene.Image{},
		&scene.Space{},
	} {
		if m.Kind() == kind {
			return m
		}
	}
	return nil
}

// Unknown is a mark that no renderer knows.
type Unknown struct{}

func (Unknown) Kind() string { return "unknown" }
func (Unknown) Len() int     { return 0 }

// ManyRects is a busy timeline: n rectangles of all families side by side in rows.
func ManyRects(n int) *scene.Scene {
	const rows, width = 250, 1600
	m := &scene.Rect{}
	state := uint32(1)
	each := n / rows
	for r := range rows {
		x := float32(0)
		for range each {
			state = state*1664525 + 1013904223
			w := float32(width) / float32(each)
			m.Add(x, float32(r*4), w*(0.4+0.6*float32(state>>16&255)/255), 3,
				scene.Shade(uint8(state>>20%8+1), int(state>>24%26)))
			x += w
		}
	}
	return &scene.Scene{
		Width: width, Height: rows * 4, Title: "Many",
		Layers: []scene.Layer{{Name: "rows", Frame: -1, Marks: []scene.Mark{m}}},
	}
}
