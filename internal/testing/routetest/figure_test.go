package routetest

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/all"
)

// Files of every view at several sizes: filled, legible, nothing cut off or over another.
func TestFiguresOfEveryViewAreLegible(t *testing.T) {
	for _, s := range Shapes {
		if s.Large {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			x := Open(t, s, 0)
			for _, w := range x.Windows(0, true) {
				for _, v := range all.Views {
					if !suits(v, x.Reader) {
						continue
					}
					r := x.Ask(t, v, w, nil)
					if r.Result == nil {
						continue
					}
					for _, size := range []scene.Size{{Width: 500, Height: 300}, {Width: 900, Height: 600}, {Width: 2400, Height: 1600}} {
						for i, fault := range viewtest.FigureFaults(scene.AddTitleAndLegend(size, r.Result.Scene), size) {
							if i < 2 {
								t.Errorf("%s %s, %s: %s", v.Name, w.String(), fmt.Sprint(size), fault)
							}
						}
					}
				}
			}
		})
	}
}
