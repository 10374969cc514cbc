package scene

import (
	"strconv"
	"strings"
)

// Furnish makes a picture that stands alone: draw gives the plot at the size it is asked
// for, and title, legend and notes are written round it. A page shows those three in
// places of its own and needs the plot alone; files need all. Draw is called twice, since
// the plot's legend decides how much room is left.
func Furnish(size Size, draw func(Size) *Scene) *Scene {
	first := draw(size)
	if first == nil {
		return New(size, "", "")
	}
	top, bottom, notes := furniture(first, size)
	inner := Size{size.Width, size.Height - int(top+bottom)}
	s := first
	if inner.Height != size.Height {
		if inner.Height < size.Height/3 || inner.Height < 48 {
			return first // Too small a picture for anything but the plot.
		}
		if s = draw(inner); s == nil {
			return New(size, "", "")
		}
		s.Translate(0, top)
		s.Width, s.Height = float64(size.Width), float64(size.Height)
	}
	s.drawFurniture(first, top, float32(size.Height)-bottom, notes)
	return s
}

// furniture gives the heights over and under the plot, and the lines of notes.
func furniture(s *Scene, size Size) (top, bottom float32, notes []string) {
	width := float32(size.Width) - 2*picturePad
	if s.Title != "" {
		top = titleHeight
	}
	if h := LegendHeight(s.Legend, width, legendRows(size)); h > 0 {
		bottom += h + 4
	}
	notes = wrapNotes(s.Notes, width, 3)
	if len(notes) > 0 {
		bottom += float32(len(notes))*noteHeight + 4
	}
	if bottom > 0 {
		bottom += 4
	}
	return top, bottom, notes
}

func legendRows(size Size) int { return max(size.Height/120, 1) }

func (s *Scene) drawFurniture(from *Scene, top, y float32, notes []string) {
	width := float32(s.Width) - 2*picturePad
	if top > 0 {
		title := &Text{Size: TitleSize, Bold: true}
		title.addNonEmpty(picturePad, 19, ShortenBold(from.Title, width, TitleSize), UIText, Start)
		s.AddLayer("title", -1, title)
	}
	size := Size{int(s.Width), int(s.Height)}
	if h := LegendHeight(from.Legend, width, legendRows(size)); h > 0 {
		s.DrawLegend(from.Legend, picturePad, y+4, width, legendRows(size))
		y += h + 4
	}
	if len(notes) > 0 {
		text := &Text{Size: 11}
		for i, n := range notes {
			text.Add(picturePad, y+float32(i)*noteHeight+14, n, UITextMuted, Start)
		}
		s.AddLayer("notes", -1, text)
	}
}

// wrapNotes sets notes into lines of a width, side by side where they fit; past most
// lines the last one says how many are left out.
func wrapNotes(notes []string, width float32, most int) (lines []string) {
	const between = "  ·  "
	used := 0
	for _, n := range notes {
		n = Shorten(n, width, 11)
		if n == "" {
			continue
		}
		if len(lines) > 0 && TextWidth(lines[len(lines)-1]+between+n, 11, false) <= width {
			lines[len(lines)-1] += between + n
		} else {
			if len(lines) == most {
				rest := " … and " + groupThousandsInt(len(notes)-used) + " more notes"
				lines[most-1] = strings.TrimSpace(Shorten(lines[most-1], width-TextWidth(rest, 11, false), 11)) + rest
				return lines
			}
			lines = append(lines, n)
		}
		used++
	}
	return lines
}

func groupThousandsInt(n int) string { return groupThousands(strconv.Itoa(n)) }
