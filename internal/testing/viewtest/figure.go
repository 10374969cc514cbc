package viewtest

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// figureSizes are those of a slide, a column of a paper, a screen and a poster.
var figureSizes = []scene.Size{{Width: 640, Height: 360}, {Width: 900, Height: 420}, {Width: 1600, Height: 900},
	{Width: 2400, Height: 1600}, {Width: 1000, Height: 1400}}

// figures: a file is filled by its content, its text grows with it, no text is cut off at
// the edge, and labels of an axis keep apart.
func figures(t *testing.T, v *view.View, c *Case, r store.Reader) {
	for _, size := range figureSizes {
		q := c.Request(t, v, r)
		q.Size = size
		result, err := view.Ask(t.Context(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		s := scene.AddTitleAndLegend(size, result.Scene)
		for _, fault := range FigureFaults(s, size) {
			t.Errorf("%d × %d: %s", size.Width, size.Height, fault)
		}
	}
}

// FigureFaults lists the faults of a picture made for a file of a size.
func FigureFaults(s *scene.Scene, size scene.Size) (faults []string) {
	width, height := float32(s.Width), float32(s.Height)
	if w := s.Width * s.Zoomed(); w > float64(size.Width)+0.5 {
		faults = append(faults, fmt.Sprintf("it is %g wide", w))
	}
	if size.Width >= 2400 && size.Height >= 1600 && s.Zoomed() < 1.25 {
		faults = append(faults, "text is as small as in a small picture")
	}
	b := s.Extent()
	if height >= 600 && b.Bottom < 0.75*height {
		faults = append(faults, fmt.Sprintf("blank from %.0f of %.0f", b.Bottom, height))
	}
	if height >= 600 && b.Left+width-b.Right > 0.35*width && width > 600 {
		faults = append(faults, fmt.Sprintf("blank left of %.0f and right of %.0f of %.0f", b.Left, b.Right, width))
	}
	var free []placed // texts that belong to no frame, which would clip them
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			text, ok := m.(*scene.Text)
			if !ok {
				continue
			}
			for i := range text.X {
				b := text.Box(i)
				if b.Empty() {
					continue
				}
				if l.Frame >= 0 {
					if f := s.Frames[l.Frame]; b.Right > f.X && b.Left < f.X+f.W && b.Bottom > f.Y && b.Top < f.Y+f.H &&
						(b.Left < f.X-1 || b.Right > f.X+f.W+1) {
						faults = append(faults,
							fmt.Sprintf("%q in layer %s is cut off at the edge of its frame", text.Text[i], l.Name))
					}
					continue
				}
				if b.Left < -1 || b.Right > width+1 || b.Top < -2 || b.Bottom > height+2 {
					faults = append(faults,
						fmt.Sprintf("%q in layer %s reaches from %.0f to %.0f across and %.0f to %.0f down, out of "+
							"%.0f × %.0f", text.Text[i], l.Name, b.Left, b.Right, b.Top, b.Bottom, width, height))
				}
				free = append(free, placed{text.Text[i], l.Name, b})
			}
		}
	}
	for i := range free {
		for k := i + 1; k < len(free); k++ {
			// Letters touch where boxes share more than the room that lines leave.
			if a, b := free[i].box, free[k].box; a.Left+1 < b.Right && b.Left+1 < a.Right && a.Top+2 < b.Bottom &&
				b.Top+2 < a.Bottom {
				faults = append(faults,
					fmt.Sprintf("%q (%s) and %q (%s) lie over each other", free[i].text, free[i].layer, free[k].text,
						free[k].layer))
			}
		}
	}
	return faults
}

type placed struct {
	text, layer string
	box         scene.Box
}
