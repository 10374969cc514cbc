package scenetest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// A textBox is the bounding box of a text.
type textBox struct {
	text           string
	x0, y0, x1, y1 float32
}

func textBoxes(s *scene.Scene) (out []textBox) {
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if t, ok := m.(*scene.Text); ok {
				for i := range t.Text {
					if b := boxOf(t, i); t.Text[i] != "" && b.clip(s, l.Frame) {
						out = append(out, b)
					}
				}
			}
		}
	}
	return out
}

// clip cuts the box to the frame of its layer and reports whether anything is left.
func (b *textBox) clip(s *scene.Scene, frame int) bool {
	if frame >= 0 {
		f := &s.Frames[frame]
		b.x0, b.x1 = max(b.x0, f.X), min(b.x1, f.X+f.W)
		b.y0, b.y1 = max(b.y0, f.Y), min(b.y1, f.Y+f.H)
	}
	return b.x0 < b.x1 && b.y0 < b.y1
}

func boxOf(t *scene.Text, i int) textBox {
	width := scene.TextWidth(t.Text[i], t.Size, t.Bold)
	from := float32(0)
	if t.Anchor != nil {
		from = -width * float32(t.Anchor[i]) / 2
	}
	up, down := scene.TextAscent(t.Size), scene.TextDescent(t.Size)
	if t.Turned {
		return textBox{t.Text[i], t.X[i] - up, t.Y[i] - from - width, t.X[i] + down, t.Y[i] - from}
	}
	return textBox{t.Text[i], t.X[i] + from, t.Y[i] - up, t.X[i] + from + width, t.Y[i] + down}
}

// TextFaults lists texts that overlap by more than a pixel, and texts outside the picture; our pictures have none.
// It takes O(n log n) for texts in rows.
func TextFaults(s *scene.Scene) (faults []string) {
	boxes := textBoxes(s)
	slices.SortStableFunc(boxes, func(a, b textBox) int { return cmp.Compare(a.y0, b.y0) })
	for i, a := range boxes {
		if a.x0 < -1 || a.y0 < -1 || float64(a.x1) > s.Width+1 || float64(a.y1) > s.Height+1 {
			faults = append(faults, fmt.Sprintf("%q at %.0f,%.0f reaches out of the picture", a.text, a.x0, a.y0))
		}
		for _, b := range boxes[i+1:] {
			if b.y0 >= a.y1-1 {
				break
			}
			if a.x0 < b.x1-1 && b.x0 < a.x1-1 {
				faults = append(faults,
					fmt.Sprintf("%q at %.0f,%.0f and %q at %.0f,%.0f overlap", a.text, a.x0, a.y0, b.text, b.x0, b.y0))
			}
		}
	}
	return faults
}
