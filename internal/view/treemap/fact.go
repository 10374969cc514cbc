package treemap

import (
	"fmt"
	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Fact describes a cell.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	i := it.A
	f := view.Fact{Title: r.title(i), Count: int64(r.labels.Leaves[i])}
	f.Say("path", r.hierarchy.Path(i), "")
	if g := r.hierarchy.Group(i); g != "" {
		f.Say("group", g, "")
	}
	f.Say("locations", view.Thousands(int64(r.labels.Leaves[i])), "")
	total := r.size(i)
	for x, v := range r.variables {
		value := r.value(x, i)
		if v.Instant {
			f.Say(v.Name, view.Count(int(math.Round(value)), "instant"), strconv.FormatFloat(value, 'f', -1, 64))
			continue
		}
		f.Say(v.Name,
			fmt.Sprintf("%s, %s of its sum", view.FormatIn(value, r.unitName),
				view.FormatShare(ratio(r.labels.Sum[x][i], total))), strconv.FormatFloat(value, 'f', -1, 64))
	}
	if !r.tree.Leaf(int(i)) {
		loss := r.labels.Loss[i]
		f.Say("loss as one", fmt.Sprintf("%s bits, %s of all", view.FormatCount(loss), view.FormatShare(r.share(loss))),
			strconv.FormatFloat(loss, 'g', -1, 64))
		f.Say("gain as one", view.FormatCount(r.labels.Gain[i]), strconv.FormatFloat(r.labels.Gain[i], 'g', -1, 64))
		if p := r.threshold(i); p != nil {
			f.Say("drawn as one above", "p = "+entropy.FormatP(*p), strconv.FormatFloat(*p, 'g', -1, 64))
		}
	}
	switch look(it.B) {
	case aggregate:
		f.Text = fmt.Sprintf("Aggregated: %s, loss %s. They deviate by %s from their mean.",
			view.Count(int(r.labels.Leaves[i]), "location"),
			view.FormatShare(r.share(r.labels.Loss[i])), view.FormatShare(r.deviation(i)))
		if r.warns(i) {
			f.Text += " That is much: its members differ, and a " + r.finer() + " shows how."
		} else {
			f.Text += " Its members are alike: nothing is hidden by reading it as one."
		}
	case unreadable:
		f.Text = "Its parts are too small to be drawn here: zoom in by choosing it."
	}
	if id := r.location(i); id != trace.NoLocation {
		f.Locations = []trace.LocationID{id}
	}
	return f, true
}

// title is the name of a node, and of a leaf that of its own.
func (r *result) title(i int32) string {
	if r.tree.Leaf(int(i)) {
		return r.hierarchy.Name(i)
	}
	return r.name(i)
}
