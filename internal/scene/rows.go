package scene

// RowLabelWidth gives the room that labels of rows need on the left of a frame, not
// more than most. It looks at all rows, so that scrolling does not move the frame.
func RowLabelWidth(rows []Row, most float32) float32 {
	w, tree := float32(0), isTree(rows)
	for i := range rows {
		own := TextWidth(cutFront(rows[i].Label, 400), TextSize, false)
		if tree {
			own += float32(rows[i].Level+1) * rowIndent
		}
		if w = max(w, own); w > most {
			break
		}
	}
	return min(upTo4(w+2*rowLabelGap), most)
}

func isTree(rows []Row) bool {
	for i := range rows {
		if rows[i].Level > 0 || rows[i].Open || rows[i].Folded {
			return true
		}
	}
	return false
}

// RowLabels writes the labels of a frame's rows between left and the frame: indented
// by level with a mark to open or close them where the rows are a tree, else flush with
// the frame. Rows too low for text are labelled as far as there is room, open groups first.
func (s *Scene) RowLabels(frame int, left float32) {
	f := &s.Frames[frame]
	rows := f.YScale.Rows
	tree := isTree(rows)
	text, marks := &Text{Size: TextSize}, &Polygon{}
	labels := make([]Label, len(rows))
	for i, r := range rows {
		labels[i] = Label{At: (r.From + r.To) / 2, Width: rowLabelPitch, Rank: 2 * r.Level}
		if r.Open {
			labels[i].Rank -= 3 // without it nobody knows whose the rows below are
		}
		if r.Label == "" {
			labels[i].Width = -1
		}
	}
	thinEvenly(labels, tree)
	for i, y := range Place(labels, f.Y-rowLabelPitch/2, f.Y+f.H+rowLabelPitch/2, 0) {
		if y != y {
			continue
		}
		r := &rows[i]
		baseline := y + TextAscent(TextSize)/2
		if !tree {
			text.addNonEmpty(f.X-rowLabelGap, baseline, Shorten(r.Label, f.X-rowLabelGap-left, TextSize), UITextMuted, End)
			continue
		}
		x := left + float32(r.Level)*rowIndent
		if r.Open || r.Folded {
			marks.addTriangle(x+4, y, r.Open)
		}
		fill := UITextMuted
		if r.Open || r.Folded {
			fill = UIText
		}
		text.addNonEmpty(x+rowIndent, baseline, Shorten(r.Label, f.X-rowLabelGap-x-rowIndent, TextSize), fill, Start)
	}
	s.AddLayer("rows", -1, marks, text)
}

// thinEvenly gives every nth row of a flat list the first claim, so that what remains
// of many labels is regular.
func thinEvenly(labels []Label, tree bool) {
	if tree || len(labels) < 2 {
		return
	}
	n := Thin((labels[len(labels)-1].At-labels[0].At)/float32(len(labels)-1), rowLabelPitch, 0)
	if n == 1 {
		return
	}
	for i := range labels {
		if i%n != 0 {
			labels[i].Width = -1
		}
	}
}

// addTriangle draws the mark of a group: pointing down where it is open, else to the right.
func (m *Polygon) addTriangle(x, y float32, open bool) {
	if open {
		m.Add([]float32{x - 3.5, x + 3.5, x}, []float32{y - 2, y - 2, y + 2.5}, UITextMuted)
		return
	}
	m.Add([]float32{x - 2, x + 2.5, x - 2}, []float32{y - 3.5, y, y + 3.5}, UITextMuted)
}
