package timeline

import (
	"context"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Sizes in pixels. A row shrinks to its least before groups are folded, and
// grows to its most where there is room.
const (
	labelSize = 11 // inside intervals
	axisRoom  = scene.AxisHeight + 4
	edgeRoom  = 4  // over the rows
	rightRoom = 12 // so that the last tick's label fits
	// tiny pictures have no axis and no labels.
	tinyHeight, tinyWidth = 80, 240

	leastLeaf, mostLeaf     = 3, 72
	leastLane, mostLane     = 9, 28 // of several in a row
	leastLevel, mostLevel   = 4, 22 // of nesting
	leastGroup, mostGroup   = 9, 56
	leastHeader, mostHeader = 9, 15
	leastPinned             = 18 // a label, off that of the header below
	mostGrow                = 2  // times the most, where rows are few
	tallHeader              = 14 // where two meet
	fewLevels               = 4  // of nesting, before groups are folded for want of room
	counterHeight           = 30
	// scrolled is the height of a row where not all fit anyway.
	scrolled = 14
	// A location with more lanes than this has them folded into its row.
	mostSplit = 6
)

// Bounds on the bytes of a scene, see layout.go.
const (
	cellBytes     = 1 << 20
	groupBytes    = 400 << 10
	leastBin      = 1.0 // pixels: a bin that is narrower could not be seen
	leastGroupBin = 2.0
)

// An area is the plot area of a picture.
type area struct{ x, y, w, h float32 }

func tiny(size scene.Size) bool { return size.Height < tinyHeight || size.Width < tinyWidth }

// room is the height that rows and counters have.
func room(size scene.Size) float32 {
	if tiny(size) {
		return float32(max(size.Height, 1))
	}
	return float32(size.Height) - axisRoom - edgeRoom
}

// frame is the plot area: labels on the left, the axis below.
func (r *result) frame(size scene.Size) area {
	if tiny(size) {
		return area{0, 0, float32(max(size.Width, 1)), room(size)}
	}
	if n := r.opt.labels; n > 0 {
		left := min(float32(n), float32(size.Width)/2)
		return area{left, edgeRoom, float32(size.Width) - left - rightRoom, room(size)}
	}
	// whole pixels, as --labels takes them; in a narrow picture no name fits into a quarter
	most := float32(min(max(size.Width/4, min(size.Width/3, 96)), 260))
	if r.labelWidth == 0 {
		rows := make([]scene.Row, len(r.rows))
		for i := range rows {
			rows[i] = r.sceneRow(i)
		}
		gutter := r.Arrangement().Gutter()
		r.labelWidth = scene.RowLabelWidth(rows, most-gutter) + gutter
	}
	left := min(r.labelWidth, most)
	return area{left, edgeRoom, float32(size.Width) - left - rightRoom, room(size)}
}

// choose decides the rows, how lanes are drawn, and the grid.
func (r *planner) choose(ctx context.Context, f *forest) error {
	space := room(r.size) - float32(len(r.opt.counters)*counterHeight)
	// Rows come before levels: those that are asked for and do not fit are left out
	// below, rather than the rows folded.
	wanted := r.levels()
	r.fit = min(wanted, fewLevels)
	rows, deeper, _ := f.rows(0, 1<<31-1)
	for level := 1; deeper && r.least(rows) <= space; level++ {
		next, more, ok := f.rows(level, int(space/leastLeaf)+1)
		if !ok || r.least(next) > space {
			break
		}
		rows, deeper = next, more
	}
	if r.arranged != nil {
		rows = r.arranged
	} else {
		var err error
		if rows, err = fitOptimal(ctx, r.result, f, rows, space); err != nil {
			return err
		}
		rows = r.spread(f, rows, space)
	}
	for r.fit < wanted {
		if r.fit++; r.least(rows) > space {
			r.fit--
			break
		}
	}
	r.noteRows(f, rows)
	pinned, rows, err := r.pinRows(f, rows, space)
	if err != nil {
		return err
	}
	r.total = len(rows)
	r.scroll(rows, space-r.least(pinned))
	r.pinned, r.rows = len(pinned), slices.Concat(pinned, r.rows)
	for i := range r.rows {
		w := &r.rows[i]
		if w.kind == folded && w.pieces == nil {
			w.pieces = f.pieces(w.location)
		}
		if w.label == "" {
			w.label = f.label(w.node)
		}
		if w.own {
			w.label = f.name(w.location) + " itself"
		}
	}
	r.chooseStrips(space)
	r.chooseLevel()
	return nil
}

// least is the height that rows take at least.
func (r *result) least(rows []row) float32 {
	h := float32(0)
	for i := range rows {
		h += r.leastOf(&rows[i])
	}
	return h
}

func (r *result) leastOf(w *row) float32 {
	switch w.kind {
	case header:
		return w.headerHeight()
	case folded:
		return leastGroup
	}
	if n := r.levels(); n > 0 {
		return leastLevel*float32(n*r.lanes(w.location)) + 1
	}
	return leastLeaf
}

func (w *row) headerHeight() float32 {
	if w.tall {
		return tallHeader
	}
	return leastHeader
}

// levels is how many levels of nesting are drawn; 0: the innermost alone. More
// than the picture can hold are never looked at.
func (r *result) levels() int {
	n := min(r.opt.depth, r.reader.Info().Depth, max(1, int(room(r.size)/leastLevel)))
	if r.fit > 0 {
		n = min(n, r.fit)
	}
	return n
}

func (r *result) lanes(id trace.LocationID) int {
	lanes := r.reader.Lanes()
	return max(int(lanes[id+1]-lanes[id]), 1) // a row of instants has none
}

// scroll takes the rows that are shown.
func (r *planner) scroll(rows []row, space float32) {
	r.rows = rows
	if r.least(rows) <= space {
		return
	}
	r.first = min(r.opt.scroll, max(len(rows)-1, 0))
	h := float32(0)
	n := r.first
	for n < len(rows) && (h < space || n == r.first) {
		h += max(scrolled, r.leastOf(&rows[n]))
		n++
	}
	if n > r.first+1 && h > space {
		n--
	}
	r.rows = rows[r.first:n]
	r.note("rows %s to %s of %s are shown; scroll, or fold groups, to see the others",
		view.Thousands(int64(r.first+1)), view.Thousands(int64(n)), view.Thousands(int64(len(rows))))
}

// noteRows says what of the tree is not drawn as it is.
func (r *planner) noteRows(f *forest, rows []row) {
	if n := r.levels(); n > 0 && n < r.reader.Info().Depth {
		r.note("%d of %d levels of nesting are drawn", n, r.reader.Info().Depth)
	}
	groups, members := 0, 0
	for i := range rows {
		if rows[i].auto {
			groups++
			members += rows[i].count
		}
	}
	if groups > 0 {
		r.note("%s for %s, which do not fit",
			count(int64(groups), "group")+stands(groups), count(int64(members), "location"))
	}
	pruned := 0
	for id := range f.tree.Len() {
		if f.below(trace.LocationID(id)) == 0 && f.isSelected(trace.LocationID(id)) {
			pruned++
		}
	}
	if pruned > 0 {
		r.note("not shown: %s without intervals", count(int64(pruned), "location"))
	}
}

func stands(n int) string {
	if n == 1 {
		return " stands"
	}
	return " stand"
}

func (f *forest) isSelected(id trace.LocationID) bool {
	if f.selected == nil {
		return true
	}
	i, found := slices.BinarySearch(f.selected, id)
	return found || i > 0 && f.tree.Last[f.selected[i-1]] >= id
}

// chooseStrips decides whether lanes share a row or have one each.
func (r *planner) chooseStrips(space float32) {
	r.leaves = make([]*strips, len(r.rows))
	r.groups = make([]*stack, len(r.rows))
	split := float32(0)
	for i := range r.rows {
		h := r.leastOf(&r.rows[i])
		if r.rows[i].kind == leaf {
			if n := r.lanes(r.rows[i].location); n > 1 && n <= mostSplit {
				h = float32(n) * leastLane
			}
		}
		split += max(h, scrolled)
	}
	for i := range r.rows {
		w := &r.rows[i]
		if w.kind != leaf {
			continue
		}
		n := r.lanes(w.location)
		r.leaves[i] = &strips{location: w.location, lanes: n, levels: r.levels(), split: r.levels() > 0 ||
			n > 1 && n <= mostSplit && split <= space}
	}
}

// chooseLevel takes the smallest bins that can be seen, and that keep the scene small.
func (r *planner) chooseLevel() {
	width := r.frame(r.size).w
	length := r.axisEnd - r.selection.Begin
	n := 0
	for _, s := range r.leaves {
		if s != nil {
			n += s.strips()
		}
	}
	sub := subRows(room(r.size) / float32(max(1, len(r.rows))))
	bins := min(width/leastBin, float32(cellBytes)/float32(2*sub*max(1, n)))
	r.grid = grid{r.selection.Begin, r.selection.End, levelFor(length, bins)}
}

// levelFor gives the smallest bins of 2^level ns of which at most that many fill length.
func levelFor(length trace.Time, bins float32) int {
	least := float64(length) / max(1, float64(bins))
	if least <= 1 {
		return 0
	}
	l := bits.Len64(uint64(least)) - 1
	if float64(uint64(1)<<l) < least {
		l++
	}
	return l
}
