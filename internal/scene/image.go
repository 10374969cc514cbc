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
