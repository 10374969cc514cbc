package callmatrix

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

// sliceCuts are the calls that began before the window, by slice.
func (r *result) sliceCuts() []callgraph.Cut {
	switch {
	case r.over == "locations" || r.compared:
		return nil
	case r.groupRows != nil:
		return r.groupCuts
	}
	return r.cuts
}

// cutNote counts the calls that began before the selection; shown names the number that includes
// their time.
func (r *result) cutNote(shown string) {
	r.notes = append(r.notes, view.CutNotes(r.cuts, shown, r.metric)...)
}

// cutUnit is that of the time of cut calls; a profile has none, and its own unit.
func (r *result) cutUnit() string {
	if !r.request.Store().Info().Timed() {
		return r.unit
	}
	return "ns"
}

// timed reports whether colours are of time, so that a cut call has one.
func (r *result) timed() bool { return r.unit == "ns" && r.metric != "calls" }

// cutOf is the cut calls of a slice; nil for none.
func (r *result) cutOf(p *pair, slice int) *callgraph.Cut {
	if r.over == "locations" && p.Cut > 0 {
		return &callgraph.Cut{Count: p.Cut, Time: p.CutTime}
	}
	cuts := r.sliceCuts()
	for _, i := range p.cuts {
		if int(cuts[i].Owner) == slice {
			return &cuts[i]
		}
	}
	return nil
}

// setCuts gives a square the mean time of the cut calls of each slice.
func (r *result) setCuts(q *drawnPair, p *pair) {
	q.cut = make([]float64, len(q.boxes))
	for k := range q.cut {
		q.cut[k] = math.NaN()
		if p.Cut == 0 {
			continue
		}
		if x := r.cutOf(p, k); x != nil {
			q.cut[k] = x.Time / x.Count
		}
	}
}

// drawCuts draws the slices whose calls all began before the window, hatched in the colour of their time in it, and
// marks squares where some did.
func (r *result) drawCuts(in *inside, p *drawnPair, x, y, size float32, parts, marks *scene.Polygon) {
	some := false
	for k, v := range p.cut {
		if math.IsNaN(v) {
			continue
		}
		if p.has[k] {
			some = true
			continue
		}
		in.all = true
		colour := scene.UIEmpty
		if r.timed() {
			colour = p.scale.colour(v)
		}
		xs, ys := r.sliceOutline(k, len(p.boxes), x, y, size)
		parts.Add(xs, ys, colour)
		parts.SetFlags(scene.Hatched)
	}
	if some && size >= leastMarked {
		in.some = true
		marks.AddCut(x, y+size/2, -1, min(4, size/4))
	}
}

// leastMarked is the size of squares from which on marks are drawn in them.
const leastMarked = 8

// sliceOutline is the outline of a slice of a square.
func (r *result) sliceOutline(k, n int, x, y, size float32) (xs, ys []float32) {
	switch {
	case n == 1:
		return []float32{x, x + size, x + size, x}, []float32{y, y, y + size, y + size}
	case r.striped():
		from, to := x+size*float32(k)/float32(n), x+size*float32(k+1)/float32(n)
		return []float32{from, to, to, from}, []float32{y, y, y + size, y + size}
	}
	for _, q := range callgraph.Arc(nil, k, k, n) {
		xs, ys = append(xs, x+float32(q.X)*size), append(ys, y+float32(q.Y)*size)
	}
	return append(xs, x+size/2), append(ys, y+size/2)
}

// explain adds the marks of cut calls to the legend.
func (m cutMarks) explain(s *scene.Scene, all string) {
	if m.all {
		s.Legend = append(s.Legend, plot.FlaggedKey(all, scene.UIData, scene.Hatched))
	}
	if m.some {
		s.Legend = append(s.Legend, plot.Key("some calls began before the window", scene.UIWarning))
	}
}

// sayCut counts cut calls; whose is added to the labels.
func (r *result) sayCut(f *view.Fact, cut *callgraph.Cut, whose string) {
	if cut == nil {
		return
	}
	view.SayCut(f, cut.Count, cut.Time, r.metric, whose)
	f.Text += fmt.Sprintf("%s began before the window. ", view.Count(int(cut.Count), "call"))
}
