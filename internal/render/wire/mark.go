package wire

import (
	"fmt"
	"reflect"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// mark describes one mark by the fields of its struct: lists become columns, all else is in the header. Fields that
// are tagged `wire:"optional"` are left out where they are empty, those with `wire:"-"` always. The columns of a mark
// in space are its own.
func (e *encoder) mark(m scene.Mark) (any, error) {
	if err := checkLengths(m); err != nil {
		return nil, err
	}
	if s, ok := m.(*scene.Space); ok {
		return e.space(s), nil
	}
	o := object{{"kind", m.Kind()}}
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		switch tag := f.Tag.Get("wire"); {
		case tag == "-" || tag == optionalTag && x.Len() == 0:
			continue
		case x.Kind() != reflect.Slice:
			o = append(o, field{NameOf(f.Name), plain(x)})
			continue
		}
		c, err := e.columnOf(x.Interface())
		if err != nil {
			return nil, fmt.Errorf("mark %q: %s: %w", m.Kind(), f.Name, err)
		}
		o = append(o, field{NameOf(f.Name), c})
		if t, ok := m.(*scene.Text); ok && f.Name == "Text" {
			o = append(o, field{"width", e.f32(widths(t))})
		}
	}
	if m, ok := m.(*scene.Image); ok {
		if !scene.Drawable(m.X, m.Y, m.W, m.H) { // not drawn
			o.set("w", 0.0)
			o.set("h", 0.0)
		}
		if first := e.firstItem(m); first != nil {
			o = append(o, field{"firstItem", *first})
		}
	}
	return o, nil
}

// optionalTag marks columns that may be empty.
const optionalTag = "optional"

// columnOf places a column by the type of its values.
func (e *encoder) columnOf(list any) (*column, error) {
	switch list := list.(type) {
	case []float32:
		return e.f32(list), nil
	case []uint32:
		return e.u32(list), nil
	case []string:
		return e.text(list), nil
	case []scene.Colour:
		return u16(e, list), nil
	case []scene.Flag:
		return u8(e, list), nil
	case []scene.Shape:
		return u8(e, list), nil
	case []scene.Anchor:
		return u8(e, list), nil
	}
	return nil, fmt.Errorf("a column of %T has no encoding", list)
}

// widths returns the pixels that the layout gave each text. The page draws in the reader's own font and squeezes text
// that would be wider.
func widths(m *scene.Text) []float32 {
	out := make([]float32, len(m.Text))
	for i, t := range m.Text {
		out[i] = scene.TextWidth(scene.Visible(t), m.Size, m.Bold)
	}
	return out
}

// checkLengths refuses marks whose columns differ in length: the decoder would read beyond the shorter ones. A mark
// with offsets has points next to its columns.
func checkLengths(m scene.Mark) error {
	n, v := m.Len(), reflect.ValueOf(m).Elem()
	offsets := v.FieldByName("Offsets")
	ragged := offsets.IsValid()
	if ragged {
		starts := offsets.Interface().([]uint32)
		if err := checkOffsets(m.Kind(), starts, n, v.FieldByName("X").Len(), v.FieldByName("Y").Len()); err != nil {
			return err
		}
	}
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		tag := f.Tag.Get("wire")
		switch {
		case x.Kind() != reflect.Slice || tag == "-" || tag == optionalTag && x.Len() == 0:
		case ragged && (f.Name == "Offsets" || f.Name == "X" || f.Name == "Y"):
		case x.Len() != n:
			return fmt.Errorf("mark %q has columns of %d and %d", m.Kind(), n, x.Len())
		}
	}
	if m, ok := m.(*scene.Image); ok && m.Columns*m.Rows != n {
		return fmt.Errorf("mark %q has %d × %d cells and columns of %d", m.Kind(), m.Columns, m.Rows, n)
	}
	return nil
}

// checkOffsets checks offsets into columns of points.
func checkOffsets(kind string, offsets []uint32, n, xs, ys int) error {
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
