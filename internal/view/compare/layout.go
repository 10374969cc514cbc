package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/runchange"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge    = 8
	topRoom = 18 // for the headings of columns
	rowHigh = 22
	mostRow = 34
	between = 32
)

var (
	colourA = scene.UIDataSoft
	colourB = scene.UIData
)

// colour returns which way a quantity went, where that is known.
func colour(q *runchange.Quantity) scene.Colour {
	if q.Verdict != compare.Changed {
		return scene.UIAggregate
	}
	return plot.Change(q.Estimate.Shift)
}

// Scene implements view.Result.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.text)
	s.Notes = r.Notes()
	picture, sentence := r.request.Values.Text("picture"), r.text
	if picture == "tree" { // next to the changes, which say the verdict
		sentence = "Call paths of both: the upper half of a box is A, the lower half B."
	}
	if picture != "tree" && r.request.Values.Text("verdict") == "none" {
		sentence = ""
	}
	top := scene.Sentence(s, sentence)
	switch picture {
	case "tree":
		r.drawTree(s, top)
	case "runs":
		r.drawRuns(s, top)
	case "steps":
		r.drawSteps(s, top)
	case "ranks":
		r.drawRanks(s, top)
	default:
		r.drawChanges(s, top)
	}
	return s
}

// shown lists the whole, and the rows that differ most, and the rest that no part
// explains.
func (r *result) shown(n int) (list []*runchange.Quantity, items []func(*scene.Scene) uint32) {
	add := func(q *runchange.Quantity, of uint8, at int) {
		list = append(list, q)
		items = append(items, func(s *scene.Scene) uint32 { return s.Item(of, at) })
	}
	add(r.Length, itemLength, 0)
	left := n - 1
	if r.Rest != nil && math.Abs(r.Rest.Difference()) >= runchange.LeastShare*r.Length.Estimate.A {
		left--
	}
	if top := r.request.Values.Integer("top"); top > 0 {
		left = min(left, top)
	}
	for i, q := range r.Rows {
		if i >= left {
			break
		}
		add(q, itemRow, i)
	}
	if r.Rest != nil && math.Abs(r.Rest.Difference()) >= runchange.LeastShare*r.Length.Estimate.A {
		add(r.Rest, itemRest, 0)
	}
	return list, items
}

// drawChanges draws one dumbbell per row from A to B, and the difference with its
// interval.
func (r *result) drawChanges(s *scene.Scene, top float32) {
	w, h := float32(s.Width), float32(s.Height)
	y0 := top + topRoom
	room := max(h-y0-scene.AxisHeight-4, rowHigh)
	list, items := r.shown(max(int(room/rowHigh), 2))
	pitch := min(room/float32(len(list)), mostRow)
	rows := plot.NewRows(len(list), y0, pitch, func(i int, row *scene.Row) {
		row.Label = r.rowLabel(list[i])
		if list[i].Node < 0 {
			return
		}
		if ids := r.regionsOf(list[i]); len(ids) > 0 {
			row.Region = uint32(ids[0])
		}
	})
	// lanes side by side may hold more than a run is long, and leave less than nothing
	least, most, far := 0.0, 0.0, 0.0
	for _, q := range list {
		e := &q.Estimate
		least, most = min(least, e.A, e.B), max(most, e.A, e.B)
		shift := math.Abs(e.Shift)
		far = max(far, shift)
		if lo, hi, ok := bounds(q); ok {
			far = max(far, min(math.Abs(lo), 3*shift), min(math.Abs(hi), 3*shift))
		}
	}
	left := rows.LabelWidth(w*0.34-edge) + edge
	words := min(w*0.17, 190)
	if w < 560 {
		words = 0
	}
	wide := max(w-left-words-between-edge, 2)
	f1 := rows.Frame("values", left, wide*0.55,
		scene.Scale{Kind: "linear", Begin: least * 1.02, End: max(most*1.02, 1), Label: r.perWords()})
	f2 := rows.Frame("difference", left+f1.W+between, max(wide*0.45, 1),
		scene.Scale{Kind: "linear", Begin: -max(far*1.08, 1), End: max(far*1.08, 1), Label: "B less A"})
	i1, i2 := s.AddFrame(f1), s.AddFrame(f2)
	s.XAxis(i1, scene.Axis{Unit: r.axisUnit()})
	s.XAxis(i2, scene.Axis{Unit: r.axisUnit()})
	bars, points := &scene.Rect{}, &scene.Point{}
	for i, q := range list {
		y := rows.Middle(i)
		a, b := f1.XPixel(q.Estimate.A), f1.XPixel(q.Estimate.B)
		thick := max(min(pitch*0.22, 5), 1)
		bars.Add(min(a, b), y-thick/2, max(float32(math.Abs(float64(b-a))), 0.5), thick, colour(q))
		addDots(points, &f1, q, y, pitch)
		radius := min(pitch*0.24, 5)
		points.Add(a, y, radius, colourA)
		points.Add(b, y, radius, colourB)
	}
	differs := rows.Bars(&f2, 0.6, func(i int) float64 { return list[i].Estimate.Shift },
		func(i int) scene.Colour { return colour(list[i]) })
	whiskers := rows.Whiskers(&f2, 2, func(i int) (low, high float64, ok bool) { return bounds(list[i]) })
	s.AddLayer("changes", -1, plot.Rule(&f2, 0, scene.UIAxis), bars, differs, whiskers, points)
	beside := rows.Words(f2.X+f2.W+edge, words-edge, func(i int) string { return besides(list[i]) })
	s.AddLayer("words", -1, beside, plot.Head(&f1, r.sideWords(f1.W), scene.UITextMuted),
		plot.Head(&f2, r.intervalHead(f2.W), scene.UITextMuted))
	s.RowLabels(i1, 0)
	s.AimRows(i1, 0, f2.X+f2.W, func(row int) uint32 { return items[row](s) })
	s.Legend = append(s.Legend, plot.Key("A", colourA), plot.Key("B", colourB), plot.Key("longer in B", plot.More),
		plot.Key("shorter in B", plot.Less), plot.Key("not certain", scene.UIAggregate))
}

// sideWords names both sides within a width: the parts that distinguish them stay.
func (r *result) sideWords(width float32) string {
	const gap = "   "
	of := func(s string) float32 { return scene.TextWidth(s, scene.TextSize, false) }
	names := []string{r.label(0), r.label(1)}
	room := width - of("A: "+gap+"B: ")
	apart := scene.NewApart(names)
	a := apart.Shorten(names[0], max(room/2, room-of(names[1])), scene.TextSize)
	return "A: " + a + gap + "B: " + apart.Shorten(names[1], max(room/2, room-of(a)), scene.TextSize)
}

// addDots draws the value of each run, where there are several.
func addDots(to *scene.Point, f *scene.Frame, q *runchange.Quantity, y, pitch float32) {
	for s, side := range q.Values {
		if len(side) < 2 || len(side) > 64 {
			continue
		}
		for _, v := range side {
			to.Add(f.XPixel(v), y+pitch*[2]float32{-0.24, 0.24}[s], 1.4, [2]scene.Colour{colourA, colourB}[s])
		}
	}
}

// bounds of a difference: over runs, else over steps.
func bounds(q *runchange.Quantity) (lo, hi float64, ok bool) {
	e := &q.Estimate
	if math.IsNaN(e.Low) && q.Steps != nil {
		e = q.Steps
	}
	return e.Low, e.High, !math.IsNaN(e.Low)
}

// intervalHead describes the drawing within a width: the meaning of the interval is there as a whole
// or not.
func (r *result) intervalHead(width float32) string {
	words := r.intervalWords()
	if scene.TextWidth(words, scene.TextSize, false) > width {
		words, _, _ = strings.Cut(words, ",")
		words, _, _ = strings.Cut(words, " ")
	}
	return scene.Shorten(words, width, scene.TextSize)
}

func (r *result) intervalWords() string {
	e := &r.Length.Estimate
	switch {
	case !math.IsNaN(e.Low):
		return fmt.Sprintf("difference, %.0f %% interval over runs", 100*e.Confidence)
	case r.Length.Steps != nil:
		return "difference, 95 % interval over steps of one run per side"
	}
	return "difference of one run per side"
}

func (r *result) axisUnit() string {
	switch r.unit {
	case "ns", "bytes", "count":
		return r.unit
	}
	return ""
}

func (r *result) perWords() string {
	if r.Stepped {
		return "time per step"
	}
	return "time per location"
}

// rowLabel is a name, with its caller where several call paths end in it.
func (r *result) rowLabel(q *runchange.Quantity) string {
	switch q.Kind {
	case "length":
		if r.Stepped {
			return "whole step"
		}
		return "whole run"
	case "part":
		return "of it: " + q.Name
	}
	for callers := 0; callers < mostCallers; callers++ {
		if q.Node < 0 || !r.often(q, callers) {
			return r.within(q, callers)
		}
	}
	return r.within(q, mostCallers)
}

// mostCallers are named of a call path, where fewer do not tell it from others.
const mostCallers = 4

// within names a call path with so many of its callers, as far as it has them.
func (r *result) within(q *runchange.Quantity, callers int) string {
	label := label(q)
	for at := q.Node; callers > 0 && at >= 0; callers-- {
		if at = r.Tree.Nodes[at].Parent; at >= 0 {
			label += " in " + r.Tree.Nodes[at].Name
		}
	}
	return label
}

// often reports whether several call paths with time have one name with so many callers.
func (r *result) often(q *runchange.Quantity, callers int) bool {
	n, label := 0, r.within(q, callers)
	for _, other := range r.Rows {
		if other.Node >= 0 && other.Name == q.Name && r.within(other, callers) == label {
			n++
		}
	}
	return n > 1
}

// besides returns the text right of a row: the change, and how sure it is.
func besides(q *runchange.Quantity) string {
	e := &q.Estimate
	change := "new"
	switch {
	case e.B == 0:
		change = "gone"
	case e.A > 0:
		change = signedPercent(100 * e.Change.Share)
	}
	switch {
	case e.NA+e.NB <= 2:
		return change
	case q.Verdict == compare.Same:
		return change + " · same"
	case q.Verdict == compare.Unknown:
		return change + " · cannot tell"
	}
	if math.IsNaN(q.Q) {
		return change
	}
	return change + " · q " + probability(q.Q)
}

func drawWhyEmpty(s *scene.Scene, top float32, why string) {
	text := &scene.Text{Size: scene.TextSize}
	text.Add(edge, top+20, scene.Shorten(why, float32(s.Width)-2*edge, scene.TextSize), scene.UITextMuted, scene.Start)
	s.AddLayer("words", -1, text)
}

var _ view.Facts = (*result)(nil)
