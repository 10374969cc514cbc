package wire

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// grain is the size in pixels below which a coarse picture merges things.
const grain = 4

// Coarsen returns the same picture with fewer things, for a slow line: things smaller than a few pixels are merged
// with their neighbours, places are rounded to a quarter of a pixel. Frames, texts and the size stay, so that nothing
// jumps when the exact picture replaces it. It returns false if that would save little. One pass over the columns.
func Coarsen(s *scene.Scene) (*scene.Scene, bool) {
	out := *s
	out.Layers = make([]scene.Layer, len(s.Layers))
	for i, l := range s.Layers {
		marks := make([]scene.Mark, len(l.Marks))
		for j, m := range l.Marks {
			marks[j] = coarsen(m)
		}
		out.Layers[i] = scene.Layer{Name: l.Name, Frame: l.Frame, Marks: marks}
	}
	if s.Marks() < 1000 || out.Marks()*10 > s.Marks()*7 {
		return s, false
	}
	return &out, true
}

func coarsen(m scene.Mark) scene.Mark {
	if m.Len() < 200 {
		return m
	}
	switch m := m.(type) {
	case *scene.Rect:
		return coarseRects(m)
	case *scene.Line:
		return coarseLines(m)
	case *scene.Polygon:
		return coarsePolygons(m)
	case *scene.Point:
		return coarsePoints(m)
	case *scene.Image:
		return coarseImage(m)
	}
	return m
}

// A cell is a place on the grid of a coarse picture.
type cell struct{ x, y, w, h float32 }

func floorTo(v, step float32) float32 {
	return float32(math.Floor(float64(v/step))) * step
}

func quarter(v float32) float32 { return float32(math.Round(float64(v)*4) / 4) }

// coarseRects merges narrow rectangles of a row that fall into one cell: the
// result is as wide as they are together and has the colour of the widest.
func coarseRects(m *scene.Rect) *scene.Rect {
	out := &scene.Rect{}
	at, widest := map[cell]int{}, map[int]float32{}
	for i := range m.X {
		x, y, w, h := quarter(m.X[i]), quarter(m.Y[i]), m.W[i], quarter(m.H[i])
		if h < grain/2 {
			y, h = floorTo(y, grain/2), grain/2
		}
		flags, count := scene.FlagsOf(m.Flags, i), uint32(1)
		if i < len(m.Count) {
			count = m.Count[i]
		}
		if w >= grain {
			addRect(out, x, y, quarter(w), h, m.Fill[i], flags, count)
			continue
		}
		key := cell{floorTo(x, grain), y, 0, h}
		k, known := at[key]
		if !known {
			at[key], widest[len(out.X)] = len(out.X), w
			addRect(out, x, y, quarter(w), h, m.Fill[i], flags, count)
			continue
		}
		out.W[k] = min(quarter(out.W[k]+w), grain)
		if w > widest[k] {
			widest[k], out.Fill[k] = w, m.Fill[i]
		}
		out.Flags[k] |= flags
		out.Count[k] += count
	}
	return out
}

func addRect(m *scene.Rect, x, y, w, h float32, fill scene.Colour, flags scene.Flag, count uint32) {
	m.Flags, m.Count = append(m.Flags, flags), append(m.Count, count)
	m.Add(x, y, max(w, 0.25), h, fill)
}

// coarseLines keeps one of the lines between the same two cells.
func coarseLines(m *scene.Line) *scene.Line {
	out, seen := &scene.Line{Width: m.Width}, map[cell]bool{}
	for i := range m.X0 {
		key := cell{floorTo(m.X0[i], grain), floorTo(m.Y0[i], grain), floorTo(m.X1[i], grain), floorTo(m.Y1[i], grain)}
		if seen[key] {
			continue
		}
		seen[key] = true
		out.Flags = append(out.Flags, scene.FlagsOf(m.Flags, i))
		out.Add(quarter(m.X0[i]), quarter(m.Y0[i]), quarter(m.X1[i]), quarter(m.Y1[i]), m.Stroke[i])
	}
	return out
}

// coarsePolygons keeps one of the small polygons of a cell.
func coarsePolygons(m *scene.Polygon) *scene.Polygon {
	out, seen := &scene.Polygon{}, map[cell]bool{}
	for i := range m.Len() {
		xs, ys := m.Corners(i)
		b := bounds(xs, ys)
		if b.w < grain && b.h < grain {
			key := cell{floorTo(b.x, grain), floorTo(b.y, grain), 0, 0}
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		out.Flags = append(out.Flags, scene.FlagsOf(m.Flags, i))
		out.Add(xs, ys, m.Fill[i])
	}
	return out
}

func bounds(xs, ys []float32) cell {
	if len(xs) == 0 {
		return cell{}
	}
	x0, x1, y0, y1 := xs[0], xs[0], ys[0], ys[0]
	for i := range xs {
		x0, x1, y0, y1 = min(x0, xs[i]), max(x1, xs[i]), min(y0, ys[i]), max(y1, ys[i])
	}
	return cell{x0, y0, x1 - x0, y1 - y0}
}

// coarsePoints keeps the largest point of a cell.
func coarsePoints(m *scene.Point) *scene.Point {
	out, at := &scene.Point{}, map[cell]int{}
	for i := range m.X {
		key := cell{floorTo(m.X[i], grain), floorTo(m.Y[i], grain), 0, 0}
		shape, count := scene.Disc, uint32(1)
		if i < len(m.Shape) {
			shape = m.Shape[i]
		}
		if i < len(m.Count) {
			count = m.Count[i]
		}
		k, known := at[key]
		if !known {
			at[key] = len(out.X)
			out.Shape, out.Count = append(out.Shape, shape), append(out.Count, count)
			out.Add(quarter(m.X[i]), quarter(m.Y[i]), quarter(m.R[i]), m.Fill[i])
			continue
		}
		out.Count[k] += count
		if r := quarter(m.R[i]); r > out.R[k] {
			out.R[k], out.Fill[k], out.Shape[k] = r, m.Fill[i], shape
		}
	}
	return out
}

// coarseImage takes the middle cell of each patch that is smaller than the grain.
func coarseImage(m *scene.Image) *scene.Image {
	columns := min(m.Columns, max(int(m.W/grain), 1))
	rows := min(m.Rows, max(int(m.H/grain), 1))
	out := &scene.Image{X: m.X, Y: m.Y, W: m.W, H: m.H, Columns: columns, Rows: rows,
		Cells: make([]scene.Colour, 0, columns*rows)}
	for r := range rows {
		row := (2*r + 1) * m.Rows / (2 * rows)
		for c := range columns {
			out.Cells = append(out.Cells, m.Cells[row*m.Columns+(2*c+1)*m.Columns/(2*columns)])
		}
	}
	return out
}
