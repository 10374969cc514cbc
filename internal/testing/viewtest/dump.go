package viewtest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Dump writes a scene as text: one thing per line, coordinates to a hundredth of a pixel, colours by their place in
// the palette.
func Dump(s *scene.Scene) string {
	var b strings.Builder
	fmt.Fprintf(&b, "scene %g × %g %q\n%s\n", s.Width, s.Height, s.Title, s.Description)
	for _, f := range s.Frames {
		fmt.Fprintf(&b, "frame %s %s\n", f.Name, numbers(f.X, f.Y, f.W, f.H))
		dumpScale(&b, "x", &f.XScale)
		dumpScale(&b, "y", &f.YScale)
	}
	for _, l := range s.Layers {
		fmt.Fprintf(&b, "layer %s frame %d\n", l.Name, l.Frame)
		for _, m := range l.Marks {
			fmt.Fprintf(&b, "  %s × %d\n", m.Kind(), m.Len())
			dumpMark(&b, s, m)
		}
	}
	for _, e := range s.Legend {
		fmt.Fprintf(&b, "legend %q %s", e.Label, colour(e.Colour))
		if e.Ramps() {
			fmt.Fprintf(&b, " … %s %q %q", colour(e.RampEnd), e.RampLow, e.RampHigh)
		}
		if e.Region != scene.NoID {
			fmt.Fprintf(&b, " region %d", e.Region)
		}
		b.WriteString("\n")
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

func dumpScale(b *strings.Builder, name string, s *scene.Scale) {
	fmt.Fprintf(b, "  %s %s %s to %s %q\n", name, s.Kind, number(s.Begin), number(s.End), s.Label)
	for _, r := range s.Rows {
		fmt.Fprintf(b, "    row %s %q", numbers(r.From, r.To), r.Label)
		if r.Location != scene.NoID {
			fmt.Fprintf(b, " location %d", r.Location)
		}
		if r.Region != scene.NoID {
			fmt.Fprintf(b, " region %d", r.Region)
		}
		fmt.Fprintf(b, " level %d count %d%s%s\n", r.Level, r.Count, word(r.Open, " open"), word(r.Folded, " folded"))
	}
}

func word(is bool, s string) string {
	if is {
		return s
	}
	return ""
}

func dumpMark(b *strings.Builder, s *scene.Scene, m scene.Mark) {
	switch m := m.(type) {
	case *scene.Rect:
		for i := range m.X {
			fmt.Fprintf(b, "    %s %s%s%s%s\n", numbers(m.X[i], m.Y[i], m.W[i], m.H[i]), colour(m.Fill[i]),
				flags(m.Flags, i), count(m.Count, i), item(s, m.Items, i))
		}
	case *scene.Line:
		for i := range m.X0 {
			fmt.Fprintf(b, "    %s %s%s%s\n", numbers(m.X0[i], m.Y0[i], m.X1[i], m.Y1[i]), colour(m.Stroke[i]),
				flags(m.Flags, i), item(s, m.Items, i))
		}
	case *scene.Path:
		for i := range m.Stroke {
			fmt.Fprintf(b, "    %s%s\n", colour(m.Stroke[i]), corners(m.Offsets, m.X, m.Y, i))
		}
	case *scene.Polygon:
		for i := range m.Fill {
			fmt.Fprintf(b, "    %s%s%s%s\n", colour(m.Fill[i]), flags(m.Flags, i), corners(m.Offsets, m.X, m.Y, i),
				item(s, m.Items, i))
		}
	case *scene.Point:
		for i := range m.X {
			shape := scene.Disc
			if i < len(m.Shape) {
				shape = m.Shape[i]
			}
			fmt.Fprintf(b, "    %s %s shape %d%s%s\n", numbers(m.X[i], m.Y[i], m.R[i]), colour(m.Fill[i]), shape,
				count(m.Count, i), item(s, m.Items, i))
		}
	case *scene.Text:
		for i := range m.X {
			anchor := scene.Start
			if i < len(m.Anchor) {
				anchor = m.Anchor[i]
			}
			fmt.Fprintf(b, "    %s %s anchor %d %q\n", numbers(m.X[i], m.Y[i]), colour(m.Fill[i]), anchor, m.Text[i])
		}
	case *scene.Space:
		fmt.Fprintf(b,
			"    %s %s, values %g … %g, radius %.4g, half %.4g, tall %.4g, columns %d, gap %.4g, camera %+v, filter "+
				"%+v\n",
			numbers(m.X, m.Y, m.W, m.H), scene.FormNames[m.Form], m.Low, m.High, m.Radius, m.Half, m.Tall, m.Columns,
			m.Gap, m.Camera, m.Filter)
		for _, a := range m.Axes {
			fmt.Fprintf(b, "    axis %q %g … %g by %.4g, ticks %v\n", a.Label, a.Begin, a.End, a.Stretch, a.Ticks)
		}
		for i := range m.PX {
			fmt.Fprintf(b, "    %s %g %s\n", numbers(m.PX[i], m.PY[i], m.PZ[i]), m.Value[i], colour(m.Look(i)))
		}
	case *scene.Image:
		fmt.Fprintf(b, "    %s, %d × %d%s\n", numbers(m.X, m.Y, m.W, m.H), m.Columns, m.Rows,
			word(m.Of != 0, fmt.Sprintf(" items %d(%d %d)", m.Of, m.At[0], m.At[1])))
		for y := range m.Rows {
			b.WriteString("   ")
			dumpCells(b, m.Cells[y*m.Columns:(y+1)*m.Columns])
			b.WriteString("\n")
		}
	}
}

// dumpCells writes runs of equal cells once.
func dumpCells(b *strings.Builder, cells []scene.Colour) {
	for i := 0; i < len(cells); {
		n := i
		for n < len(cells) && cells[n] == cells[i] {
			n++
		}
		fmt.Fprintf(b, " %s×%d", colour(cells[i]), n-i)
		i = n
	}
}

func corners(offsets []uint32, xs, ys []float32, i int) string {
	var b strings.Builder
	for k := offsets[i]; k < offsets[i+1]; k++ {
		b.WriteString(" " + number(float64(xs[k])) + "," + number(float64(ys[k])))
	}
	return b.String()
}

func numbers(v ...float32) string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = number(float64(x))
	}
	return strings.Join(out, " ")
}

// number writes at most two decimals.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func colour(c scene.Colour) string {
	if c == scene.None {
		return "none"
	}
	for _, s := range scene.Sections() {
		if int(c) >= s.Start && int(c) < s.Start+s.Length {
			return fmt.Sprintf("%s/%d", s.Name, int(c)-s.Start)
		}
	}
	return fmt.Sprint(uint16(c))
}

func flags(list []scene.Flag, i int) string {
	if f := scene.FlagsOf(list, i); f != 0 {
		return fmt.Sprintf(" flags %d", f)
	}
	return ""
}

func count(list []uint32, i int) string {
	if i < len(list) && list[i] != 1 {
		return fmt.Sprintf(" count %d", list[i])
	}
	return ""
}

// item writes the item of a mark: its kind, and its numbers.
func item(s *scene.Scene, list []uint32, i int) string {
	if i >= len(list) || list[i] == scene.NoItem {
		return ""
	}
	it := s.Items[list[i]]
	return fmt.Sprintf(" item %d(%d %d %d)%s", it.Of, it.A, it.B, it.C, word(it.Placed, " placed"))
}
