package wire

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// mark describes one mark: a case for each kind of scene.MarkKinds.
func (e *encoder) mark(m scene.Mark) (any, error) {
	if err := check(m); err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *scene.Rect:
		return rectMark{m.Kind(), e.f32(m.X), e.f32(m.Y), e.f32(m.W), e.f32(m.H), u16(e, m.Fill), u8(e, m.Flags), optional(m.Count, e.u32), optional(m.Items, e.u32)}, nil
	case *scene.Line:
		return lineMark{m.Kind(), e.f32(m.X0), e.f32(m.Y0), e.f32(m.X1), e.f32(m.Y1), u16(e, m.Stroke), finite(m.Width), u8(e, m.Flags), optional(m.Items, e.u32)}, nil
	case *scene.Path:
		return pathMark{m.Kind(), e.u32(m.Offsets), e.f32(m.X), e.f32(m.Y), u16(e, m.Stroke), finite(m.Width)}, nil
	case *scene.Polygon:
		return polygonMark{m.Kind(), e.u32(m.Offsets), e.f32(m.X), e.f32(m.Y), u16(e, m.Fill), u8(e, m.Flags), optional(m.Items, e.u32)}, nil
	case *scene.Point:
		return pointMark{m.Kind(), e.f32(m.X), e.f32(m.Y), e.f32(m.R), u16(e, m.Fill), u8(e, m.Shape), optional(m.Count, e.u32), optional(m.Items, e.u32)}, nil
	case *scene.Text:
		return textMark{m.Kind(), e.f32(m.X), e.f32(m.Y), e.text(m.Text), e.f32(widths(m)), u16(e, m.Fill), u8(e, m.Anchor), finite(m.Size), m.Bold, m.Turned}, nil
	case *scene.Image:
		out := imageMark{m.Kind(), finite(m.X), finite(m.Y), finite(m.W), finite(m.H), m.Columns, m.Rows, u16(e, m.Cells), e.firstItem(m)}
		if !scene.Drawable(m.X, m.Y, m.W, m.H) {
			out.W, out.H = 0, 0 // not drawn
		}
		return out, nil
	case *scene.Space:
		return e.space(m), nil
	}
	return nil, fmt.Errorf("mark %q has no encoding", m.Kind())
}

// widths are the pixels that the layout gave each text. The page draws in the
// reader's own font and squeezes what would be wider.
func widths(m *scene.Text) []float32 {
	out := make([]float32, len(m.Text))
	for i, t := range m.Text {
		out[i] = scene.TextWidth(scene.Visible(t), m.Size, m.Bold)
	}
	return out
}

// check refuses marks whose columns differ in length: the decoder would read
// beyond the shorter ones.
func check(m scene.Mark) error {
	n, lengths := m.Len(), []int{}
	switch m := m.(type) {
	case *scene.Rect:
		lengths = []int{len(m.Y), len(m.W), len(m.H), len(m.Fill), or(m.Flags, n), or(m.Count, n), or(m.Items, n)}
	case *scene.Line:
		lengths = []int{len(m.Y0), len(m.X1), len(m.Y1), len(m.Stroke), or(m.Flags, n), or(m.Items, n)}
	case *scene.Path:
		if err := ragged(m.Kind(), m.Offsets, n, len(m.X), len(m.Y)); err != nil {
			return err
		}
	case *scene.Polygon:
		lengths = []int{or(m.Flags, n), or(m.Items, n)}
		if err := ragged(m.Kind(), m.Offsets, n, len(m.X), len(m.Y)); err != nil {
			return err
		}
	case *scene.Point:
		lengths = []int{len(m.Y), len(m.R), len(m.Fill), or(m.Shape, n), or(m.Count, n), or(m.Items, n)}
	case *scene.Text:
		lengths = []int{len(m.Y), len(m.Text), len(m.Fill), or(m.Anchor, n)}
	case *scene.Image:
		lengths = []int{m.Columns * m.Rows}
	case *scene.Space:
		lengths = []int{len(m.PY), len(m.PZ), len(m.Value), or(m.Fill, n)}
	}
	for _, l := range lengths {
		if l != n {
			return fmt.Errorf("mark %q has columns of %d and %d", m.Kind(), n, l)
		}
	}
	return nil
}

// ragged checks offsets into columns of points.
func ragged(kind string, offsets []uint32, n, xs, ys int) error {
	if n == 0 && len(offsets) <= 1 && xs == ys {
		return nil
	}
	ok := len(offsets) == n+1 && xs == ys && int(offsets[n]) <= xs
	for i := 0; ok && i < n; i++ {
		ok = offsets[i] <= offsets[i+1]
	}
	if !ok {
		return fmt.Errorf("mark %q has offsets that do not fit %d things of %d and %d points", kind, n, xs, ys)
	}
	return nil
}

// or is the length of an optional column, n where it is absent.
func or[T any](xs []T, n int) int {
	if len(xs) == 0 {
		return n
	}
	return len(xs)
}

type rectMark struct {
	Kind  string  `json:"kind"`
	X     *column `json:"x"`
	Y     *column `json:"y"`
	W     *column `json:"w"`
	H     *column `json:"h"`
	Fill  *column `json:"fill"`
	Flags *column `json:"flags,omitempty"`
	Count *column `json:"count,omitempty"`
	Items *column `json:"items,omitempty"`
}

type lineMark struct {
	Kind   string  `json:"kind"`
	X0     *column `json:"x0"`
	Y0     *column `json:"y0"`
	X1     *column `json:"x1"`
	Y1     *column `json:"y1"`
	Stroke *column `json:"stroke"`
	Width  float64 `json:"width"`
	Flags  *column `json:"flags,omitempty"`
	Items  *column `json:"items,omitempty"`
}

type pathMark struct {
	Kind    string  `json:"kind"`
	Offsets *column `json:"offsets"`
	X       *column `json:"x"`
	Y       *column `json:"y"`
	Stroke  *column `json:"stroke"`
	Width   float64 `json:"width"`
}

type polygonMark struct {
	Kind    string  `json:"kind"`
	Offsets *column `json:"offsets"`
	X       *column `json:"x"`
	Y       *column `json:"y"`
	Fill    *column `json:"fill"`
	Flags   *column `json:"flags,omitempty"`
	Items   *column `json:"items,omitempty"`
}

type pointMark struct {
	Kind  string  `json:"kind"`
	X     *column `json:"x"`
	Y     *column `json:"y"`
	R     *column `json:"r"`
	Fill  *column `json:"fill"`
	Shape *column `json:"shape,omitempty"`
	Count *column `json:"count,omitempty"`
	Items *column `json:"items,omitempty"`
}

type textMark struct {
	Kind   string  `json:"kind"`
	X      *column `json:"x"`
	Y      *column `json:"y"`
	Text   *column `json:"text"`
	Width  *column `json:"width"`
	Fill   *column `json:"fill"`
	Anchor *column `json:"anchor,omitempty"`
	Size   float64 `json:"size"`
	Bold   bool    `json:"bold"`
	Turned bool    `json:"turned"`
}

type imageMark struct {
	Kind    string  `json:"kind"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	W       float64 `json:"w"`
	H       float64 `json:"h"`
	Columns int     `json:"columns"`
	Rows    int     `json:"rows"`
	Cells   *column `json:"cells"`
	// FirstItem is the number of the first cell's item, where cells are items.
	FirstItem *int `json:"firstItem,omitempty"`
}
