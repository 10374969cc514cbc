// Package plot draws charts of rows over package scene. A row is a band with a name; bars, whiskers, cells and words
// are drawn in it. A view defines its rows and the mark of each number, plot places them.
package plot

import (
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Fit returns how many of n rows have room in a height, where a row is as high as least at least, and how high they are
// then: as high as most at most.
func Fit(n int, room, least, most float32) (rows int, pitch float32) {
	rows = min(n, max(int(room/least), 1))
	return rows, min(room/float32(rows), most)
}

// Rows are bands of one height, from the top of a chart down.
type Rows struct {
	Top, Pitch float32
	List       []scene.Row
}

// NewRows makes n rows; fill sets the label of each and the location or region that it selects, by default none.
func NewRows(n int, top, pitch float32, fill func(i int, row *scene.Row)) Rows {
	r := Rows{top, pitch, make([]scene.Row, n)}
	for i := range r.List {
		y := top + float32(i)*pitch
		r.List[i] = scene.Row{From: y, To: y + pitch, Location: scene.NoID, Region: scene.NoID, Count: 1}
		fill(i, &r.List[i])
	}
	return r
}

// Height of all rows.
func (r Rows) Height() float32 { return r.Pitch * float32(len(r.List)) }

// Middle returns the height of the middle of a row.
func (r Rows) Middle(i int) float32 { return r.List[i].From + r.Pitch/2 }

// LabelWidth returns the room that names need on the left, at most so much.
func (r Rows) LabelWidth(most float32) float32 { return scene.RowLabelWidth(r.List, most) }

// Frame returns a column of the rows with an axis of its own.
func (r Rows) Frame(name string, x, width float32, scale scene.Scale) scene.Frame {
	return scene.Frame{Name: name, X: x, Y: r.Top, W: width, H: r.Height(), XScale: scale,
		YScale: scene.Scale{Kind: "rows", Rows: r.List}}
}

// Bars draws a bar a row from zero to a value, as high as a share of the row. A value that is not a number has none,
// nor has 0.
func (r Rows) Bars(f *scene.Frame, share float32, value func(i int) float64,
	colour func(i int) scene.Colour) *scene.Rect {
	bars := &scene.Rect{}
	zero := clip(f, 0)
	high := max(r.Pitch*share, min(r.Pitch, 0.5))
	for i := range r.List {
		v := value(i)
		if math.IsNaN(v) || v == 0 {
			continue
		}
		at := clip(f, v)
		bars.Add(min(at, zero), r.Middle(i)-high/2, max(at-zero, zero-at, 0.5), high, colour(i))
	}
	return bars
}

// Whiskers draws a line a row from a low to a high value with a stop at each end; where an end lies beyond the axis
// the line is cut there and has no stop.
func (r Rows) Whiskers(f *scene.Frame, width float32, ends func(i int) (low, high float64, ok bool)) *scene.Line {
	lines := &scene.Line{Width: width}
	stop := r.Pitch * 0.2
	for i := range r.List {
		low, high, ok := ends(i)
		if !ok {
			continue
		}
		y := r.Middle(i)
		lines.Add(clip(f, low), y, clip(f, high), y, scene.UIText)
		for _, v := range [2]float64{low, high} {
			if x := f.XPixel(v); x == clip(f, v) {
				lines.Add(x, y-stop, x, y+stop, scene.UIText)
			}
		}
	}
	return lines
}

// Words writes a text next to each row: of its parts, which " · " divides, as many as have room.
func (r Rows) Words(x, room float32, of func(i int) string) *scene.Text {
	text := &scene.Text{Size: scene.TextSize}
	for i := range r.List {
		if room > 0 {
			text.Add(x, r.Middle(i)+4, fitting(of(i), room), scene.UITextMuted, scene.Start)
		}
	}
	return text
}

// fitting leaves out the last parts of a text until the others fit: half a number reads as another.
func fitting(text string, room float32) string {
	for scene.TextWidth(text, scene.TextSize, false) > room {
		end := strings.LastIndex(text, " · ")
		if end < 0 {
			return scene.Shorten(text, room, scene.TextSize)
		}
		text = text[:end]
	}
	return text
}

// A Cell is a place of a heat map; the label is drawn where it has room.
type Cell struct {
	Fill  scene.Colour
	Label string
	Item  uint32
}

// Cells draws n cells a row of one width; at is the left edge of each.
func (r Rows) Cells(n int, width float32, at func(k int) float32, of func(i, k int) Cell) (*scene.Rect, *scene.Text) {
	cells, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	for i := range r.List {
		for k := range n {
			c := of(i, k)
			cells.Add(at(k), r.List[i].From+0.5, max(width-1, 0.5), max(r.Pitch-1, 0.5), c.Fill)
			cells.SetItem(c.Item)
			if scene.TextWidth(c.Label, scene.TextSize, false) < width-4 && r.Pitch >= 13 {
				ink := scene.UIText
				if c.Fill != scene.UISurface {
					ink = scene.Ink(c.Fill)
				}
				text.Add(at(k)+width/2, r.Middle(i)+4, c.Label, ink, scene.Middle)
			}
		}
	}
	return cells, text
}

// Rule draws a line down a frame at a value of its axis.
func Rule(f *scene.Frame, value float64, colour scene.Colour) *scene.Line {
	line := &scene.Line{Width: 1}
	x := f.XPixel(value)
	line.Add(x, f.Y, x, f.Y+f.H, colour)
	return line
}

// Head writes the heading of a column over its frame, cut to its width.
func Head(f *scene.Frame, words string, colour scene.Colour) *scene.Text {
	text := &scene.Text{Size: scene.TextSize}
	if t := scene.Shorten(words, f.W, scene.TextSize); t != "" && t != "…" {
		text.Add(f.X, f.Y-6, t, colour, scene.Start)
	}
	return text
}

// clip returns the place of a value on the axis of a frame, at its nearest end where it lies beyond.
func clip(f *scene.Frame, v float64) float32 { return min(max(f.XPixel(v), f.X), f.X+f.W) }
