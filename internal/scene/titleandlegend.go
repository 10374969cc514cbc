package scene

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// AddTitleAndLegend makes a picture that stands alone: draw gives the plot at the size it is asked
// for, and title, legend and notes are written round it. A page shows those three in
// places of its own and needs the plot alone; files need all. Draw is called twice or more,
// since the plot's legend and notes decide how much room is left.
//
// A picture larger than a page is drawn smaller and zoomed, so that its text grows with
// it; one that stays blank at its edge ends where its plot does.
func AddTitleAndLegend(size Size, draw func(Size) *Scene) *Scene {
	zoom := zoomOf(size)
	if zoom == 1 {
		return addTitleAndLegend(size, draw, false)
	}
	width := int(float64(size.Width) / zoom)
	zoom = float64(size.Width) / float64(width) // so that the file is just as wide as asked for
	s := addTitleAndLegend(Size{width, int(float64(size.Height) / zoom)}, draw, false)
	s.Zoom = zoom
	return s
}

// AddTitleAndLegendLow is AddTitleAndLegend for a height that is not given: as much as the plot takes.
func AddTitleAndLegendLow(width int, draw func(Size) *Scene) *Scene {
	size := Size{width, int(math.Round(UsualHeight * float64(width)))}
	zoom := zoomOf(size)
	size = Size{int(float64(size.Width) / zoom), int(float64(size.Height) / zoom)}
	s := addTitleAndLegend(size, draw, true)
	s.Zoom = float64(width) / float64(size.Width)
	return s
}

// UsualHeight is the height of a picture without a given height, as a share of its width.
const UsualHeight = 0.7

// PrintText is the size of text on paper, in points, as journals ask for in figures.
const PrintText = 8

// PrintSize returns the number of pixels of a scene that make so many millimetres of paper.
func PrintSize(millimetres float64) int {
	return int(math.Round(millimetres * 72 / 25.4 * TextSize / PrintText))
}

// AddTitleAndLegendForPrint makes a picture for paper, so many millimetres wide as a column is. Its text
// has PrintText points, whatever the width. Height 0: as much as the plot takes.
func AddTitleAndLegendForPrint(width, height float64, draw func(Size) *Scene) *Scene {
	size := Size{Width: PrintSize(width), Height: PrintSize(height)}
	if height == 0 {
		size.Height = PrintSize(UsualHeight * width)
	}
	s := addTitleAndLegend(size, draw, height == 0)
	s.Print = width / s.Width
	return s
}

// Notes are set smaller than labels, in so many lines at most.
const (
	noteSize  = 11
	noteLines = 4
)

// Pictures up to this size are drawn as they are.
const (
	plainWidth  = 1600
	plainHeight = 900
)

// zoomOf gives half the growth of a picture, and some more, to its text, and the rest to
// detail: text of 12 pixels has 16 at 2400 × 1600 and 21 at 3840 × 2160.
func zoomOf(size Size) float64 {
	ratio := math.Min(float64(size.Width)/plainWidth, float64(size.Height)/plainHeight)
	if ratio <= 1 {
		return 1
	}
	return math.Pow(ratio, 2.0/3)
}

// addTitleAndLegend writes title, legend and notes round a plot; low: its height may be less.
func addTitleAndLegend(size Size, draw func(Size) *Scene, low bool) *Scene {
	first := draw(size)
	if first == nil {
		return New(size, "", "")
	}
	// A lower plot may have more notes, such as that its rows stand for several: then it is drawn once more, lower
	// still, with its own notes.
	s, inner := first, size
	top, bottom := float32(0), float32(0)
	for range 3 {
		above, below, _ := furniture(s, size)
		top, bottom = max(top, above), max(bottom, below)
		if size.Height-int(top+bottom) == inner.Height {
			break
		}
		inner.Height = size.Height - int(top+bottom)
		if inner.Height < size.Height/3 || inner.Height < 48 {
			return first // Too small a picture for anything but the plot.
		}
		if s = draw(inner); s == nil {
			return New(size, "", "")
		}
	}
	_, _, notes := furniture(s, size)
	s.Translate(0, top)
	s.Width, s.Height = float64(size.Width), float64(size.Height)
	y := float32(size.Height) - bottom
	if low {
		y = s.lower(y, bottom)
	} else if size.Height >= fitHeight {
		y, notes = s.fit(y, bottom, notes)
	}
	s.drawFurniture(top, y, notes, legendRows(size))
	s.Layers = slices.DeleteFunc(s.Layers, func(l Layer) bool { return l.Name == foldLayer })
	return s
}

// Pictures lower than this keep their size, whatever is blank in them; in others a part
// of the height or width may stay so.
const (
	fitHeight   = 600
	leastWidth  = 480
	leastHeight = 240
	mostBlank   = 0.2
)

// fit ends a picture where its plot does, where much beyond is blank: to the right and
// left of a square, under few rows. It gives where legend and notes come, and the notes
// as they fit.
func (s *Scene) fit(y, bottom float32, notes []string) (float32, []string) {
	b := s.Extent()
	width, height := float32(s.Width), float32(s.Height)
	if b.Empty() {
		return y, notes
	}
	if blank := b.Left - picturePad + width - b.Right - picturePad; blank > mostBlank*width {
		shift := max(b.Left-picturePad, 0)
		// The narrower, the more lines legend and notes need: halfway, where that is too many.
		for _, narrow := range [2]float32{max(b.Right-shift+picturePad, leastWidth),
			max(b.Right-shift+picturePad, 0.7*width)} {
			_, low, lines := furniture(s, Size{int(narrow), int(height)})
			if low > bottom+3*noteHeight {
				continue
			}
			s.Translate(-shift, 0)
			s.Width, s.Height = math.Ceil(float64(narrow)), math.Ceil(float64(y+low))
			bottom, notes = low, lines
			break
		}
	}
	if y-b.Bottom > mostBlank*height {
		y = max(b.Bottom, leastHeight) + 8
		s.Height = math.Ceil(float64(y + bottom))
	}
	return y, notes
}

// lower ends a picture under its plot.
func (s *Scene) lower(y, bottom float32) float32 {
	if b := s.Extent(); !b.Empty() && b.Bottom+8 < y {
		y = b.Bottom + 8
		s.Height = math.Ceil(float64(y + bottom))
	}
	return y
}

// furniture returns the heights over and under the plot, and the lines of notes.
func furniture(s *Scene, size Size) (top, bottom float32, notes []string) {
	width := float32(size.Width) - 2*picturePad
	if s.Title != "" {
		top = titleHeight
	}
	if h := LegendHeight(s.Legend, width, legendRows(size)); h > 0 {
		bottom += h + 4
	}
	notes = wrapNotes(s.Notes, width, noteLines)
	if len(notes) > 0 {
		bottom += float32(len(notes))*noteHeight + 4
	}
	if bottom > 0 {
		bottom += 4
	}
	return top, bottom, notes
}

// legendRows returns how many rows a legend may take: up to three of a low picture, as figures in a column are.
func legendRows(size Size) int { return max(size.Height/120, min(size.Height/80, 3), 1) }

func (s *Scene) drawFurniture(top, y float32, notes []string, rows int) {
	width := float32(s.Width) - 2*picturePad
	if top > 0 {
		title := &Text{Size: TitleSize, Bold: true}
		title.addNonEmpty(picturePad, 19, ShortenBold(s.Title, width, TitleSize), UIText, Start)
		s.AddLayer("title", -1, title)
	}
	if h := LegendHeight(s.Legend, width, rows); h > 0 {
		s.DrawLegend(s.Legend, picturePad, y+4, width, rows)
		y += h + 4
	}
	if len(notes) > 0 {
		text := &Text{Size: noteSize}
		for i, n := range notes {
			text.Add(picturePad, y+float32(i)*noteHeight+14, n, UITextMuted, Start)
		}
		s.AddLayer("notes", -1, text)
	}
}

// wrapNotes sets notes into lines of a width, side by side where they fit, and those that are longer in several. Notes
// that would take more than most lines are left out whole, and the last line says how many.
func wrapNotes(notes []string, width float32, most int) (lines []string) {
	const between = "  ·  "
	fits := func(s string) bool { return TextWidth(s, noteSize, false) <= width }
	for i, n := range notes {
		last := len(lines) - 1
		if own := Wrap(n, width, noteSize, most); last >= 0 && len(own) == 1 && fits(lines[last]+between+n) {
			lines[last] += between + n
			continue
		} else if len(lines)+len(own) <= most {
			lines = append(lines, own...)
			continue
		}
		rest := moreNotes(len(notes) - i)
		if len(lines) < most {
			return append(lines, rest)
		}
		if fits(lines[last] + between + rest) {
			lines[last] += between + rest
		} else {
			lines[last] = firstWords(lines[last]+" …", width-TextWidth(between+rest, noteSize, false), noteSize) +
				between + rest
		}
		return lines
	}
	return lines
}

// moreNotes describes how many are left out.
func moreNotes(n int) string {
	if n == 1 {
		return "and 1 more note"
	}
	return "and " + groupThousandsInt(n) + " more notes"
}

func groupThousandsInt(n int) string { return groupThousands(strconv.Itoa(n)) }

// A Picture is how large one is to be: in pixels, or in millimetres of paper.
type Picture struct {
	width, height float64 // height 0: as much as the content takes
	paper         bool
}

var pictureSize = regexp.MustCompile(`^(\d+(?:\.\d+)?)(mm)?(?:x(?:(?i:(auto))|(\d+(?:\.\d+)?)(mm)?))?$`)

var errPicture = errors.New("want WIDTHxHEIGHT in pixels, such as 1600x900 or 1600xAUTO, at most 20000 each way, or " +
	"millimetres of paper, such as 84mm or 174x90mm")

// ParsePicture reads "1920x1080", "1600xAUTO", "84mm", "174x90mm".
func ParsePicture(s string) (p Picture, err error) {
	m := pictureSize.FindStringSubmatch(s)
	if m == nil {
		return p, errPicture
	}
	p.width, _ = strconv.ParseFloat(m[1], 64)
	p.height, _ = strconv.ParseFloat(m[4], 64)
	if p.paper = m[2] != "" || m[5] != ""; p.paper {
		if p.width < 30 || p.width > 1200 || p.height > 1200 || p.height > 0 && p.height < 15 {
			return p, errPicture
		}
		return p, nil
	}
	if m[3] == "" && m[4] == "" || p.width < 64 || p.width > 20000 || p.height > 20000 || m[3] == "" && p.height < 32 ||
		p.width != math.Trunc(p.width) || p.height != math.Trunc(p.height) {
		return p, errPicture
	}
	return p, nil
}

// Size returns the size that a view must draw.
func (p Picture) Size() Size {
	if p.paper {
		return Size{Width: PrintSize(p.width), Height: PrintSize(cmp.Or(p.height, UsualHeight*p.width))}
	}
	return Size{Width: int(p.width), Height: int(cmp.Or(p.height, UsualHeight*p.width))}
}

// AddTitleAndLegend draws the picture with all that stands round it.
func (p Picture) AddTitleAndLegend(draw func(Size) *Scene) *Scene {
	switch {
	case p.paper:
		return AddTitleAndLegendForPrint(p.width, p.height, draw)
	case p.height == 0:
		return AddTitleAndLegendLow(int(p.width), draw)
	}
	return AddTitleAndLegend(p.Size(), draw)
}
