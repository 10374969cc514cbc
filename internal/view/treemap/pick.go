package treemap

import (
	"fmt"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Pick gives the innermost cell at a place: later cells lie inside earlier ones.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	for k := len(r.drawn.cells) - 1; k >= 0; k-- {
		c := r.drawn.cells[k]
		if x >= c.at.x && x < c.at.x+c.at.w && y >= c.at.y && y < c.at.y+c.at.h {
			return r.fact(c), true
		}
	}
	return view.Fact{}, false
}

func (r *result) fact(c cell) view.Fact {
	i := c.node
	f := view.Fact{Title: r.title(i), Count: int64(r.labels.Leaves[i])}
	line := func(label, value, exact string) {
		f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: exact})
	}
	line("path", r.hierarchy.Path(i), "")
	line("locations", view.Thousands(int64(r.labels.Leaves[i])), "")
	total := r.size(i)
	for x, v := range r.variables {
		value := r.value(x, i)
		if v.instant {
			line(v.name, view.Count(int(math.Round(value)), "instant"), strconv.FormatFloat(value, 'f', -1, 64))
			continue
		}
		line(v.name, fmt.Sprintf("%s, %s", view.FormatIn(value, r.unitName), view.FormatShare(ratio(r.labels.Sum[x][i], total))), strconv.FormatFloat(value, 'f', -1, 64))
	}
	if !r.tree.Leaf(int(i)) {
		loss := r.labels.Loss[i]
		line("loss as one", fmt.Sprintf("%s bits, %s of all", view.FormatCount(loss), view.FormatShare(r.share(loss))), strconv.FormatFloat(loss, 'g', -1, 64))
		line("gain as one", view.FormatCount(r.labels.Gain[i]), strconv.FormatFloat(r.labels.Gain[i], 'g', -1, 64))
		if p := r.threshold(i); p != nil {
			line("drawn as one above", fmt.Sprintf("p = %.4g", *p), strconv.FormatFloat(*p, 'g', -1, 64))
		}
	}
	switch c.look {
	case aggregate:
		f.Text = fmt.Sprintf("Aggregated: %s, loss %s.", view.Count(int(r.labels.Leaves[i]), "location"), view.FormatShare(r.share(r.labels.Loss[i])))
		if r.warns(i) {
			f.Text += " That is much: its members differ, and a smaller p shows how."
		} else {
			f.Text += " Its members are alike: nothing is hidden by reading it as one."
		}
	case unreadable:
		f.Text = "Its parts are too small to be drawn here: zoom in by choosing it."
	}
	if id := r.location(i); id != trace.NoLocation {
		f.Locations = []trace.LocationID{id}
	}
	return f
}

// title is the name of a node, and of a leaf that of its own.
func (r *result) title(i int32) string {
	if r.tree.Leaf(int(i)) {
		return r.hierarchy.Name(i)
	}
	return r.name(i)
}
