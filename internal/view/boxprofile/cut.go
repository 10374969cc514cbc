package boxprofile

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A cutKey names a box: a region, and whose it is.
type cutKey struct{ node, owner int32 }

// cutsByBox finds cuts by the box that they belong to.
func cutsByBox(cuts []callgraph.Cut) map[cutKey]*callgraph.Cut {
	out := make(map[cutKey]*callgraph.Cut, len(cuts))
	for i := range cuts {
		out[cutKey{cuts[i].Callee, cuts[i].Owner}] = &cuts[i]
	}
	return out
}

// overCuts is the cut of a region over all locations: its shortest and longest are of locations, as all values there.
func (r *result) overCuts(node int32) *callgraph.Cut {
	var out *callgraph.Cut
	for i := range r.cuts {
		x := r.cuts[i]
		if x.Callee != node {
			continue
		}
		if out == nil {
			out = &callgraph.Cut{Owner: -1, Pair: x.Pair, Min: x.Time, Max: x.Time}
		}
		out.Count, out.Time = out.Count+x.Count, out.Time+x.Time
		out.Min, out.Max = min(out.Min, x.Time), max(out.Max, x.Time)
	}
	return out
}

// cutOf is the calls of a box that began before the window; nil for none.
func (r *result) cutOf(node, owner int32) *callgraph.Cut {
	switch {
	case len(r.cuts) == 0:
		return nil
	case r.overAll():
		return r.overCuts(node)
	case r.groupRows != nil:
		return r.groupCutAt[cutKey{node, owner}]
	}
	return r.cutAt[cutKey{node, owner}]
}

// cutUnit is that of the time of cut calls; a profile has none, and its own unit.
func (r *result) cutUnit() string {
	if r.hasProfile {
		return r.unit
	}
	return "ns"
}

// timed reports whether the axis is of time, on which a cut call has a place.
func (r *result) timed() bool { return r.unit == "ns" }

// cutCalls draws the calls of a lane that began before the window: a hatched box from the shortest to the longest time
// that one of them has in it.
func (p *painter) cutCalls(l *lane, c scene.Colour) {
	axis := &p.boxes.XScale
	if l.cut == nil || !p.r.timed() || l.cut.Max > 0 && l.cut.Max < axis.Begin || l.cut.Min > axis.End {
		return
	}
	const least, line = 8, 1
	y, h := inner(l)
	a, b := p.x(l.cut.Min), p.x(l.cut.Max)
	if b-a < least {
		middle := (a + b) / 2
		a = max(middle-least/2, p.boxes.X) // also of calls that are nowhere innermost, on a logarithmic axis
		b = a + least
	}
	p.isOpen = true
	if h > 4*line { // apart from a box that it covers
		p.open.Add(a-line, y-line, b-a+2*line, h+2*line, scene.UIBackground)
	}
	p.open.Add(a, y, b-a, h, c)
	p.open.SetFlags(scene.Hatched | scene.Outlined)
}

// cutNote counts the calls that began before the selection.
func (r *result) cutNote() {
	r.notes = append(r.notes, view.CutNotes(r.cuts, "hatched boxes show", r.metric)...)
}

// sayCut counts the cut calls of a box.
func (r *result) sayCut(f *view.Fact, cut *callgraph.Cut) {
	if cut == nil {
		return
	}
	view.SayCut(f, cut.Count, cut.Time, r.metric, "")
	f.Text += fmt.Sprintf(" %s began before the window.", view.Count(int(cut.Count), "call"))
}
