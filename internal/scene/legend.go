package scene

import (
	"image/color"
	"slices"
	"strings"
)

// Ramps reports whether the entry shows a run of colours.
func (e *LegendEntry) Ramps() bool {
	return e.RampEnd != None && e.RampEnd != 0 && e.RampEnd != e.Colour
}

// JoinSame puts entries that have one colour in a theme behind one sample of it, the
// further ones as words alone: where colours end, words go on.
func JoinSame(entries []LegendEntry, theme Theme) []LegendEntry {
	type look struct {
		colour color.NRGBA
		flags  Flag
	}
	var groups [][]LegendEntry
	at := map[look]int{}
	for _, e := range entries {
		l := look{e.Colour.RGBA(theme), e.Flags}
		i, ok := at[l]
		switch {
		case e.Ramps() || !isCategory(e.Colour):
			groups = append(groups, []LegendEntry{e})
		case ok:
			e.Label, e.Colour = sameColour+e.Label, None
			groups[i] = append(groups[i], e)
		default:
			at[l] = len(groups)
			groups = append(groups, []LegendEntry{e})
		}
	}
	return slices.Concat(groups...)
}

// isCategory reports whether a colour is that of a region or a location; others, such as that of lines, have the
// meaning of their label.
func isCategory(c Colour) bool {
	first, end := loadPalette().byName[roleSections[1]], loadPalette().byName[RampNames[0]]
	return int(c) >= first.Start && int(c) < end.Start
}

// sameColour is before the words of an entry that has the colour of the one before it.
const sameColour = "and "

// A legendItem is an entry with its place.
type legendItem struct {
	entry       *LegendEntry
	x, y, width float32
	label       string
}

const rampWidth = 128

// layoutLegend places entries from the left in rows of a width; rows is the number
// used. Past most rows it stops: more is how many are left out, said at moreX of the last row.
func layoutLegend(entries []LegendEntry, x, y, width float32, most int) (items []legendItem, rows, more int,
	moreX float32) {
	at, row := x, 0
	short := legendLabels(entries, width)
	for i := range entries {
		e := &entries[i]
		own, label := legendWidth(e, short[i], width)
		if at > x && at+own > x+width && row < most-1 {
			at, row = x, row+1
		}
		limit := x + width
		if row == most-1 && i < len(entries)-1 {
			limit -= moreWidth // the rest may not fit
			if own > limit-at && at == x {
				own, label = legendWidth(e, Shorten(short[i], limit-at-legendSwatch-6, TextSize), limit-at)
			}
		}
		if at+own > limit || own <= 0 {
			return items, row + 1, len(entries) - i, at
		}
		items = append(items, legendItem{e, at, y + float32(row)*legendRow, own, label})
		at += own + 16
	}
	if len(items) == 0 {
		return nil, 0, 0, x
	}
	return items, row + 1, 0, at
}

// moreWidth is the room for "+ 1,234 more" after a gap.
const moreWidth = 88

// legendLabels shortens the labels of entries so that they stay apart.
func legendLabels(entries []LegendEntry, width float32) []string {
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Label
		if entries[i].Colour == None {
			names[i] = strings.TrimPrefix(names[i], sameColour)
		}
	}
	out := Distinct(names, min(width-legendSwatch-6, 240), TextSize)
	for i := range out {
		if entries[i].Colour == None && out[i] != "" && strings.HasPrefix(entries[i].Label, sameColour) {
			out[i] = sameColour + out[i]
		}
	}
	return out
}

// legendWidth returns the width of an entry and its label as it fits.
// It is 0 where not even the colour fits.
func legendWidth(e *LegendEntry, label string, width float32) (float32, string) {
	if width < legendSwatch {
		return 0, ""
	}
	own := TextWidth(label, TextSize, false)
	if !e.Ramps() {
		if label == "" {
			return legendSwatch, ""
		}
		if e.Colour == None { // words alone: "+ 200 more"
			return own, label
		}
		return legendSwatch + 6 + own, label
	}
	ends := TextWidth(e.RampLow, TextSize, false) + TextWidth(e.RampHigh, TextSize, false)
	if label != "" {
		own += 8
	}
	return min(own+ends+12+rampWidth, width), label
}

// LegendHeight returns the room that Legend takes.
func LegendHeight(entries []LegendEntry, width float32, mostRows int) float32 {
	_, rows, _, _ := layoutLegend(entries, 0, 0, width, max(mostRows, 1))
	return float32(rows) * legendRow
}

// DrawLegend writes entries into an area of a width, wrapped into rows; long labels are shortened, and entries that do
// not fit into the rows are counted. It returns the height used.
func (s *Scene) DrawLegend(entries []LegendEntry, x, y, width float32, mostRows int) float32 {
	items, rows, more, end := layoutLegend(entries, x, y, width, max(mostRows, 1))
	swatches, text := &Rect{}, &Text{Size: TextSize}
	marks := []Mark{swatches}
	for _, it := range items {
		baseline := it.y + legendRow/2 + TextAscent(TextSize)/2
		if it.entry.Ramps() {
			marks = append(marks, drawRamp(it, text, baseline))
		} else if it.entry.Colour == None {
			text.addNonEmpty(it.x, baseline, it.label, UITextMuted, Start)
		} else {
			top := it.y + (legendRow-legendSwatch)/2
			swatches.Add(it.x, top, legendSwatch, legendSwatch, it.entry.Colour)
			if it.entry.Flags == Outlined { // the sample of a frame is one
				swatches.Add(it.x+3, top+3, legendSwatch-6, legendSwatch-6, UIBackground)
			} else {
				swatches.SetFlags(it.entry.Flags | paleOutline(it.entry.Colour))
			}
			text.addNonEmpty(it.x+legendSwatch+6, baseline, it.label, UIText, Start)
		}
	}
	if more > 0 {
		text.Add(end, float32(rows-1)*legendRow+y+legendRow/2+TextAscent(TextSize)/2,
			"+ "+groupThousandsInt(more)+" more", UITextMuted, Start)
	}
	s.AddLayer("legend", -1, append(marks, text)...)
	return float32(rows) * legendRow
}

// addNonEmpty adds a text unless it is empty.
func (m *Text) addNonEmpty(x, y float32, text string, fill Colour, anchor Anchor) {
	if text != "" {
		m.Add(x, y, text, fill, anchor)
	}
}

// paleOutline rings swatches that would be lost on the background.
func paleOutline(c Colour) Flag {
	for _, t := range []Theme{Light, Dark} {
		a, b := luminance(c.RGBA(t))+0.05, luminance(UIBackground.RGBA(t))+0.05
		if max(a, b)/min(a, b) < 1.4 {
			return Outlined
		}
	}
	return 0
}

// drawRamp writes label, low end, colours, high end.
func drawRamp(it legendItem, text *Text, baseline float32) *Image {
	e := it.entry
	x := it.x
	if it.label != "" {
		text.Add(x, baseline, it.label, UIText, Start)
		x += TextWidth(it.label, TextSize, false) + 8
	}
	low, high := TextWidth(e.RampLow, TextSize, false), TextWidth(e.RampHigh, TextSize, false)
	room := it.x + it.width - x
	if bar := room - low - high - 12; bar < 24 {
		// Nothing but the colours fits.
		low, high = 0, 0
	}
	if low > 0 {
		text.Add(x, baseline, e.RampLow, UITextMuted, Start)
		x += low + 6
		room -= low + 6
	}
	if high > 0 {
		text.Add(it.x+it.width, baseline, e.RampHigh, UITextMuted, End)
		room -= high + 6
	}
	ramp := &Image{X: x, Y: it.y + (legendRow-legendSwatch)/2, W: max(room, 1), H: legendSwatch, Rows: 1}
	first, last := int(e.Colour), int(e.RampEnd)
	for i := range 64 {
		ramp.Cells = append(ramp.Cells, Colour(first+(last-first)*i/63))
	}
	ramp.Columns = len(ramp.Cells)
	return ramp
}

// AddFoldLegend explains folded corners and the frames of marks that hide much.
func (s *Scene) AddFoldLegend(warned bool) {
	s.Legend = append(s.Legend,
		LegendEntry{Label: "folded corner: drawn as one", Colour: UIText, Region: NoID, Parent: NoID})
	if warned {
		s.Legend = append(s.Legend,
			LegendEntry{Label: "frame: hides > 1 %, wider is more", Colour: UIWarning, Region: NoID, Parent: NoID,
				Flags: Outlined})
	}
}
