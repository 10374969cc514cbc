package scene

// Ramps reports whether the entry shows a run of colours.
func (e *LegendEntry) Ramps() bool {
	return e.RampEnd != None && e.RampEnd != 0 && e.RampEnd != e.Colour
}

// A legendItem is an entry with its place.
type legendItem struct {
	entry       *LegendEntry
	x, y, width float32
	label       string
}

const rampWidth = 128

// layoutLegend places entries from the left in rows of a width; rows is the number
// used. Past most rows it stops and says in more how many are left out.
func layoutLegend(entries []LegendEntry, x, y, width float32, most int) (items []legendItem, rows, more int) {
	at, row := x, 0
	// The last row keeps room for "+ 1,234 more".
	const reserve = 88
	for i := range entries {
		e := &entries[i]
		own, label := legendWidth(e, width)
		limit := x + width
		if row == most-1 && i < len(entries)-1 {
			limit -= reserve
		}
		if at > x && at+own > limit {
			if row == most-1 {
				return items, row + 1, len(entries) - i
			}
			at, row = x, row+1
		}
		items = append(items, legendItem{e, at, y + float32(row)*legendRow, own, label})
		at += own + 16
	}
	if len(items) == 0 {
		return nil, 0, 0
	}
	return items, row + 1, 0
}

// legendWidth gives the width of an entry and its label as it fits.
func legendWidth(e *LegendEntry, width float32) (float32, string) {
	label := Shorten(e.Label, min(width-legendSwatch-6, 240), TextSize)
	own := TextWidth(label, TextSize, false)
	if !e.Ramps() {
		return legendSwatch + 6 + own, label
	}
	ends := TextWidth(e.RampLow, TextSize, false) + TextWidth(e.RampHigh, TextSize, false)
	if label != "" {
		own += 8
	}
	return min(own+ends+12+rampWidth, width), label
}

// LegendHeight gives the room that Legend takes.
func LegendHeight(entries []LegendEntry, width float32, mostRows int) float32 {
	_, rows, _ := layoutLegend(entries, 0, 0, width, mostRows)
	return float32(rows) * legendRow
}

// DrawLegend writes entries into an area of a width, wrapped into rows; long labels are
// shortened, and what does not fit into the rows is counted. It gives the height used.
func (s *Scene) DrawLegend(entries []LegendEntry, x, y, width float32, mostRows int) float32 {
	items, rows, more := layoutLegend(entries, x, y, width, max(mostRows, 1))
	swatches, text := &Rect{}, &Text{Size: TextSize}
	marks := []Mark{swatches}
	end := x
	for _, it := range items {
		baseline := it.y + legendRow/2 + TextAscent(TextSize)/2
		if it.entry.Ramps() {
			marks = append(marks, drawRamp(it, text, baseline))
		} else {
			swatches.Add(it.x, it.y+(legendRow-legendSwatch)/2, legendSwatch, legendSwatch, it.entry.Colour)
			swatches.SetFlags(it.entry.Flags | paleOutline(it.entry.Colour))
			text.Add(it.x+legendSwatch+6, baseline, it.label, UIText, Start)
		}
		end = it.x + it.width + 16
	}
	if more > 0 {
		text.Add(end, float32(rows-1)*legendRow+y+legendRow/2+TextAscent(TextSize)/2, "+ "+groupThousandsInt(more)+" more", UITextMuted, Start)
	}
	s.AddLayer("legend", -1, append(marks, text)...)
	return float32(rows) * legendRow
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
