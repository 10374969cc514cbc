package scene

// Image draws a grid of cells, Columns × Rows, row by row from the top left,
// stretched over X, Y, W, H without smoothing: heat strips and heat maps.
type Image struct {
	X, Y, W, H    float32
	Columns, Rows int
	Cells         []Colour // None: transparent
}

func (*Image) Kind() string { return "image" }
func (m *Image) Len() int   { return len(m.Cells) }

// Rects gives the same picture as rectangles, equal neighbours in a row as one, for
// outputs where a raster would blur.
func (m *Image) Rects() *Rect {
	out := &Rect{}
	if m.Columns <= 0 || m.Rows <= 0 || len(m.Cells) < m.Columns*m.Rows {
		return out
	}
	w, h := m.W/float32(m.Columns), m.H/float32(m.Rows)
	for r := range m.Rows {
		row := m.Cells[r*m.Columns : (r+1)*m.Columns]
		for from := 0; from < len(row); {
			to := from + 1
			for to < len(row) && row[to] == row[from] {
				to++
			}
			if row[from] != None {
				out.Add(m.X+float32(from)*w, m.Y+float32(r)*h, float32(to-from)*w, h, row[from])
			}
			from = to
		}
	}
	return out
}
