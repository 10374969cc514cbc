package scene

// An Anchor says which point of a text its place is.
type Anchor uint8

const (
	Start Anchor = iota
	Middle
	End
)

// Text draws short texts; Y is the baseline. Names come from traces and are
// drawn as they are, never interpreted.
type Text struct {
	X, Y   []float32
	Text   []string
	Fill   []Colour
	Anchor []Anchor `wire:"optional"` // nil: all Start
	// Size in pixels, for all.
	Size float32
	Bold bool
	// Turned texts run upwards.
	Turned bool
}

func (*Text) Kind() string { return "text" }
func (m *Text) Len() int   { return len(m.X) }

// Add appends one text.
func (m *Text) Add(x, y float32, text string, fill Colour, anchor Anchor) {
	m.X, m.Y, m.Text = append(m.X, x), append(m.Y, y), append(m.Text, text)
	m.Fill, m.Anchor = append(m.Fill, fill), append(m.Anchor, anchor)
}
