package plot_test

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
)

func TestFit(t *testing.T) {
	for _, x := range []struct {
		n           int
		room        float32
		rows        int
		pitch, most float32
	}{{3, 100, 3, 30, 30}, {3, 60, 3, 20, 30}, {10, 60, 3, 20, 30}, {10, 5, 1, 5, 30}} {
		if rows, pitch := plot.Fit(x.n, x.room, 20, x.most); rows != x.rows || pitch != x.pitch {
			t.Errorf("%d in %g: %d rows of %g, want %d of %g", x.n, x.room, rows, pitch, x.rows, x.pitch)
		}
	}
}

// Bars begin at zero, go both ways, and end at the ends of the axis.
func TestBarsAndWhiskers(t *testing.T) {
	rows := plot.NewRows(4, 10, 20, func(i int, row *scene.Row) { row.Label = "row" })
	f := rows.Frame("f", 100, 200, scene.Scale{Kind: "linear", Begin: -10, End: 10})
	if f.Y != 10 || f.H != 80 || rows.List[3].To != 90 || rows.List[1].Region != scene.NoID {
		t.Errorf("frame %+v, rows %+v", f, rows.List)
	}
	values := []float64{5, -30, 0, math.NaN()}
	bars := rows.Bars(&f, 0.5, func(i int) float64 { return values[i] }, func(i int) scene.Colour { return plot.Change(values[i]) })
	if bars.Len() != 2 || bars.X[0] != 200 || bars.W[0] != 50 || bars.Y[0] != 15 || bars.H[0] != 10 {
		t.Errorf("the first of %d bars is at %g, %g wide", bars.Len(), bars.X[0], bars.W[0])
	}
	if bars.X[1] != 100 || bars.W[1] != 100 || bars.Fill[1] != plot.Less {
		t.Errorf("the bar beyond the axis is at %g, %g wide", bars.X[1], bars.W[1])
	}
	lines := rows.Whiskers(&f, 1, func(i int) (float64, float64, bool) { return -5, 30, i == 1 })
	if lines.Len() != 2 { // one stop: the other end is beyond the axis
		t.Errorf("%d lines", lines.Len())
	}
}

// Labels of cells are drawn where they have room, in an ink that can be read.
func TestCells(t *testing.T) {
	rows := plot.NewRows(2, 0, 20, func(int, *scene.Row) {})
	cells, text := rows.Cells(3, 40, func(k int) float32 { return float32(k) * 40 }, func(i, k int) plot.Cell {
		return plot.Cell{Fill: scene.UISurface, Label: []string{"1", "a long label"}[i], Item: uint32(k)}
	})
	if cells.Len() != 6 || text.Len() != 3 || text.Fill[0] != scene.UIText {
		t.Errorf("%d cells with %d labels", cells.Len(), text.Len())
	}
}
