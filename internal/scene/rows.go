package scene

import (
	"slices"
	"strings"
)

// RowLabelWidth returns the width that labels of rows need on the left of a frame, not more than most: if they do not
// fit, the width of the shortened labels. It looks at all rows, so that scrolling does not move the frame.
func RowLabelWidth(rows []Row, most float32) float32 {
	tree := isTree(rows)
	indent := func(level int) float32 {
		if !tree {
			return 0
		}
		return float32(level+1) * rowIndent
	}
	need := func(label func(i int) string) (w float32) {
		for i := range rows {
			if w = max(w, TextWidth(label(i), TextSize, false)+indent(rows[i].Level)); w > most {
				break
			}
		}
		return upTo4(w + 2*rowLabelGap)
	}
	whole := need(func(i int) string { return cutFront(rows[i].Label, 400) })
	if whole <= most {
		return whole
	}
	short := shortRows(rows, func(level int) float32 {
		if !tree {
			return most - rowLabelGap - rowLabelEdge
		}
		return most - rowLabelGap - indent(level)
	})
	return min(need(func(i int) string { return short[i] }), most)
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
		labels[i] = Label{At: (r.From + r.To) / 2, Width: RowLabelPitch, Rank: 2 * r.Level}
		if h := r.To - r.From; h >= RowLabelPitch*nearlyFits {
			labels[i].Width = min(h, RowLabelPitch)
		}
		if tree { // the head of a group is low: labels below it move down rather than away
			labels[i].Slack = min((r.To-r.From)/2, mostRowSlack)
		}
		if r.Open {
			labels[i].Rank -= 3 // without it the rows below have no owner
		}
		if r.Label == "" {
			labels[i].Width = -1
		}
	}
	thinEvenly(labels, tree)
	if tree {
		thinSiblings(rows, labels)
	}
	short := shortRows(rows, func(level int) float32 {
		if !tree {
			return f.X - rowLabelGap - max(left, rowLabelEdge)
		}
		return f.X - rowLabelGap - left - float32(level+1)*rowIndent
	})
	for i, y := range Place(labels, f.Y-RowLabelPitch/2, f.Y+f.H+RowLabelPitch/2, 0) {
		if y != y {
			continue
		}
		r := &rows[i]
		baseline := y + TextAscent(TextSize)/2
		if !tree {
			text.addNonEmpty(f.X-rowLabelGap, baseline, short[i], UITextMuted, End)
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
		text.addNonEmpty(x+rowIndent, baseline, short[i], fill, Start)
	}
	if marks.Len() > 0 {
		s.AddLayer(foldLayer, -1, marks)
	}
	s.AddLayer("rows", -1, text)
}

// shortRows fits the labels of rows into the width that their level leaves, so that those
// of one level stay apart.
func shortRows(rows []Row, width func(level int) float32) []string {
	levels := map[int][]int{}
	for i := range rows {
		levels[rows[i].Level] = append(levels[rows[i].Level], i)
	}
	out := make([]string, len(rows))
	for level, list := range levels {
		labels := make([]string, len(list))
		for k, i := range list {
			labels[k] = rows[i].Label
		}
		for k, t := range Distinct(labels, width(level), TextSize) {
			out[list[k]] = t
		}
	}
	return out
}

// thinSiblings gives every nth of rows below one head the first claim, so that the remaining labels of many are
// regular there too.
func thinSiblings(rows []Row, labels []Label) {
	for i, first := 0, 0; i < len(rows); i++ {
		r := &rows[i]
		if i == 0 || r.Open || r.Folded || r.Level != rows[i-1].Level || rows[i-1].Open || rows[i-1].Folded {
			first = i
		}
		if n := Thin(r.To-r.From, RowLabelPitch*nearlyFits, 0); (i-first)%n != 0 {
			labels[i].Rank++ // ranks of levels are two apart
			labels[i].Slack = 0
		}
	}
}

// nearlyFits is the part of its height that a label can do with, as few letters reach up and down.
const nearlyFits = 0.95

// thinEvenly gives every nth row of a flat list the first claim, so that the remaining labels of many are regular.
func thinEvenly(labels []Label, tree bool) {
	if tree || len(labels) < 2 {
		return
	}
	n := Thin((labels[len(labels)-1].At-labels[0].At)/float32(len(labels)-1), RowLabelPitch, 0)
	if n == 1 {
		return
	}
	for i := range labels {
		if i%n != 0 {
			labels[i].Width = -1
		}
	}
}

// foldLayer holds the marks of groups that can be opened and closed: a file has no use for them.
const foldLayer = "folds"

// addTriangle draws the mark of a group: pointing down where it is open, else to the right.
func (m *Polygon) addTriangle(x, y float32, open bool) {
	if open {
		m.Add([]float32{x - 3.5, x + 3.5, x}, []float32{y - 2, y - 2, y + 2.5}, UITextMuted)
		return
	}
	m.Add([]float32{x - 2, x + 2.5, x - 2}, []float32{y - 3.5, y, y + 3.5}, UITextMuted)
}

// Distinct shortens labels that stand below each other so that those that differ still do, see Apart:
// "ProfilerStep#3 · rank 0" becomes "Pr…#3 · rank 0" and not "Prof…nk 0".
// A whole part that all have in common goes first, and parts without which all still differ:
// "rank 3 · main thread" becomes "rank 3", and so does "rank 3 · P#3T#0".
func Distinct(labels []string, width, size float32) []string {
	out := make([]string, len(labels))
	wide := func() bool {
		return slices.ContainsFunc(labels, func(l string) bool { return TextWidth(l, size, false) > width })
	}
	if wide() {
		labels = withoutCommonParts(labels)
	}
	if wide() {
		labels = firstParts(labels)
	}
	if !wide() {
		for i, l := range labels {
			out[i] = Visible(l)
		}
		return out
	}
	apart := NewApart(labels)
	for i, l := range labels {
		if out[i] = apart.Shorten(l, width, size); out[i] == "" {
			out[i] = Shorten(l, width, size)
		}
	}
	return out
}

// firstParts returns the first of several parts of each label where these differ as the labels do.
func firstParts(labels []string) []string {
	firsts, of := make([]string, len(labels)), map[string]string{}
	for i, l := range labels {
		first, _, ok := strings.Cut(l, " · ")
		if before, seen := of[first]; !ok || seen && before != l {
			return labels
		}
		firsts[i], of[first] = first, l
	}
	return firsts
}

// withoutCommonParts takes from labels of several parts those that all of them end or begin
// with, as long as something is left of each; the labels themselves where they are one and the same.
func withoutCommonParts(labels []string) []string {
	all := make([]int, len(labels))
	for i := range all {
		all[i] = i
	}
	if len(labels) < 2 || same(labels, all) {
		return labels
	}
	out := slices.Clone(labels)
	for _, sep := range []string{" · ", "/"} {
		for cutAll(out, func(l string) (rest, part string, ok bool) {
			i := strings.LastIndex(l, sep)
			if i <= 0 {
				return l, "", false
			}
			return l[:i], l[i:], true
		}) {
		}
		for cutAll(out, func(l string) (rest, part string, ok bool) {
			part, rest, ok = strings.Cut(l, sep)
			return rest, part, ok && rest != ""
		}) {
		}
	}
	return out
}

// cutAll cuts one part from all labels, where all have it and it is the same.
func cutAll(labels []string, cut func(string) (rest, part string, ok bool)) bool {
	_, first, ok := cut(labels[0])
	for _, l := range labels {
		if _, part, has := cut(l); !ok || !has || part != first {
			return false
		}
	}
	for i, l := range labels {
		labels[i], _, _ = cut(l)
	}
	return true
}

// same reports whether some labels are one and the same.
func same(labels []string, list []int) bool {
	for _, i := range list {
		if labels[i] != labels[list[0]] {
			return false
		}
	}
	return true
}
