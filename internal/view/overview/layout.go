package overview

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// ofPart is the item kind of a part.
const ofPart = 1

type box struct{ x, y, w, h float32 }

// Scene draws each part as a box over its rows and slices.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", fmt.Sprintf("Overview of %s locations over %d slices of time, in %s boxes.",
		view.Thousands(int64(r.hierarchy.Leaves)), r.slices(), view.Thousands(int64(len(r.parts)))))
	sel := r.request.Selection
	f := scene.Frame{Name: "main", Y: 4, H: float32(size.Height) - scene.AxisHeight - 8,
		XScale: scene.Scale{Kind: "time", Begin: float64(sel.Begin), End: float64(sel.Begin + r.length), Label: "time"}}
	first, last := r.rowRanges(&f)
	rows := r.labels(&f, first, last)
	f.X = scene.RowLabelWidth(rows, min(220, float32(size.Width)/3)) + r.Arrangement().Gutter()
	f.W = float32(size.Width) - f.X - 12
	f.YScale = scene.Scale{Kind: "rows", Rows: rows}
	s.AddFrame(f)
	s.XAxis(0, scene.Axis{NoGrid: true})
	s.RowLabels(0, r.Arrangement().Gutter())
	aims, fills, edges, folds := &scene.Rect{}, &scene.Rect{}, &scene.Rect{}, &scene.Polygon{}
	warned := false
	for k, p := range r.parts {
		b, e := r.span(p)
		if e <= b {
			continue
		}
		x0, x1 := f.XPixel(float64(b)), f.XPixel(float64(e))
		at := box{x0, first[p.Node], x1 - x0, last[p.Node] - first[p.Node]}
		aims.AddAim(at.x, at.y, at.w, at.h, s.Item(ofPart, k))
		if at.w > 4 && at.h > 4 { // a gap distinguishes neighbours
			at.x, at.y, at.w, at.h = at.x+0.5, at.y+0.5, at.w-1, at.h-1
		}
		filled := r.fill(fills, at, p)
		hidden := r.lossShare(p.Loss)
		if r.aggregated(p) && (filled || hidden > warnShare) { // an empty box has nothing to fold
			if folds.AddFold(at.x+at.w, at.y, min(at.w, at.h), hidden > warnShare) && hidden > warnShare {
				warned = true
				edges.AddWarning(at.x, at.y, at.w, at.h, float32(hidden))
			}
		}
	}
	s.AddLayer("boxes", 0, aims, fills, edges, folds)
	r.Arrangement().DrawScaleRows(s, 0)
	for _, of := range r.states {
		key := plot.Key(of.name, of.colour)
		key.Flags = of.flag
		s.Legend = append(s.Legend, key)
	}
	s.AddFoldLegend(warned)
	r.Arrangement().Explain(s)
	s.Notes = r.Notes()
	return s
}

// rowRanges gives each node of the reduced tree the rows of its leaves, in pixels.
func (r *result) rowRanges(f *scene.Frame) (first, last []float32) {
	n := r.rows()
	first, last = make([]float32, r.tree.Len()), make([]float32, r.tree.Len())
	row := n
	for i := r.tree.Len() - 1; i >= 0; i-- {
		if r.tree.Leaf(i) {
			row--
			first[i] = f.Y + f.H*float32(row)/float32(n)
			last[i] = f.Y + f.H*float32(row+1)/float32(n)
			continue
		}
		first[i] = first[i+1]
		last[i] = last[r.tree.Last[i]]
		for k := i + 1; k <= int(r.tree.Last[i]); k = int(r.tree.Last[k]) + 1 {
			last[i] = max(last[i], last[k])
		}
	}
	return first, last
}

// labels names the leaves where they are high enough, else the groups that are.
func (r *result) labels(f *scene.Frame, first, last []float32) []scene.Row {
	var rows []scene.Row
	for i := range r.tree.Len() {
		if last[i]-first[i] < 11 || i == 0 && !r.tree.Leaf(0) {
			continue
		}
		if !r.tree.Leaf(i) && last[i+1]-first[i+1] >= 11 {
			continue // its children are named
		}
		node := r.node[i]
		id := uint32(scene.NoID)
		if l := r.hierarchy.Location[node]; l != trace.NoLocation {
			id = uint32(l)
		}
		rows = append(rows,
			scene.Row{From: first[i], To: last[i], Location: id, Region: scene.NoID, Label: r.name(i),
				Count: int(r.count[i])})
	}
	return rows
}

// name of a node: that of the topmost location which holds nothing else, so that
// the only thread of rank 7 is called rank 7.
func (r *result) name(i int) string {
	for p := int(r.tree.Parent[i]); p > 0 && int(r.tree.Last[p]) == int(r.tree.Last[i]) &&
		i == p+1; p = int(r.tree.Parent[i]) {
		i = p
	}
	label := r.hierarchy.Label(r.node[i])
	if r.tree.Leaf(i) && r.count[i] > 1 {
		label += " · " + view.Thousands(int64(r.count[i]))
	}
	return label
}

// fill paints a box by the share of each role, the rest being nothing open. It reports
// whether there was something to paint.
func (r *result) fill(fills *scene.Rect, at box, p entropy.Part) (filled bool) {
	begin, end := r.span(p)
	whole := float64(end-begin) / 1e9 * r.count[p.Node]
	if whole <= 0 {
		return false
	}
	sum := 0.0
	for x := range r.states {
		sum += r.programme.Sum(x, p)
	}
	whole = max(whole, sum) // two runs may differ by more than the time there is
	bottom := at.y + at.h
	for x, of := range r.states {
		h := at.h * float32(r.programme.Sum(x, p)/whole)
		if bottom -= h; h < 0.4 { // a sliver would be drawn as a whole pixel
			continue
		}
		fills.Add(at.x, bottom, at.w, h, of.colour)
		fills.SetFlags(of.flag)
		fills.SetCount(uint32(r.count[p.Node]) * uint32(p.Last-p.First+1))
		filled = true
	}
	return filled
}
