package scene

import "math"

// Image draws a grid of cells, Columns × Rows, row by row from the top left,
// stretched over X, Y, W, H without smoothing: heat strips and heat maps.
type Image struct {
	X, Y, W, H    float32
	Columns, Rows int
	Cells         []Colour // None: transparent
	// The cells are items {Of, At, number of the cell} unless Of is 0.
	Of uint8    `wire:"-"`
	At [2]int32 `wire:"-"`
}

func (*Image) Kind() string { return "image" }
func (m *Image) Len() int   { return len(m.Cells) }

// Rects returns the same picture as rectangles on whole pixels, equal neighbours in a
// row as one, for outputs where a raster would blur.
func (m *Image) Rects() *Rect {
	out := &Rect{}
	if m.Columns <= 0 || m.Rows <= 0 || len(m.Cells) < m.Columns*m.Rows {
		return out
	}
	column := func(i int) float32 { return snapEdge(m.X, m.W, i, m.Columns) }
	for r := range m.Rows {
		top, bottom := snapEdge(m.Y, m.H, r, m.Rows), snapEdge(m.Y, m.H, r+1, m.Rows)
		row := m.Cells[r*m.Columns : (r+1)*m.Columns]
		for from := 0; from < len(row); {
			to := from + 1
			for to < len(row) && row[to] == row[from] {
				to++
			}
			if row[from] != None {
				out.Add(column(from), top, column(to)-column(from), bottom-top, row[from])
			}
			from = to
		}
	}
	return out
}

// snapEdge returns the pixel border nearest to edge i of n.
func snapEdge(from, length float32, i, n int) float32 {
	return float32(math.Floor(float64(from) + float64(length)*float64(i)/float64(n) + 0.5))
}
