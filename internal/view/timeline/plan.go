package timeline

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/words"
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
	leastGPU, mostGPU       = 16, 72
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
func (in *input) frame(size scene.Size, labelWidth float32) area {
	if tiny(size) {
		return area{0, 0, float32(max(size.Width, 1)), room(size)}
	}
	left := min(labelWidth, mostLabelWidth(size))
	if n := in.opt.labels; n > 0 {
		left = min(float32(n), float32(size.Width)/2)
	}
	return area{left, edgeRoom, float32(size.Width) - left - rightRoom, room(size)}
}

// mostLabelWidth is in whole pixels, as --labels takes them; in a narrow picture no name fits into a quarter, and
// names of groups ("main.worker (8)") need 140 pixels to be told apart.
func mostLabelWidth(size scene.Size) float32 {
	return float32(min(max(size.Width/4, min(2*size.Width/5, 140)), 260))
}

// A plan says which rows are drawn and how finely.
type plan struct {
	view.Arranged
	forest *forest
	rows   []row // shown, from the top
	first  int   // number of the first one among all that scroll
	pinned int   // how many at the top do not
	total  int   // of those that scroll, shown or not
	levels int   // of nesting; 0: the innermost interval alone
	// clipped: there are more levels than the lowest, which has the innermost of those that have no room.
	clipped    bool
	grid       grid
	labelWidth float32
	notes      notes
}

// notes are sentences on a picture.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// arrange decides the rows, how lanes are drawn, and the grid.
func arrange(ctx context.Context, q *view.Request, in *input) (*plan, error) {
	p := &plan{}
	folding, err := p.plant(ctx, q, in)
	if err != nil {
		return nil, err
	}
	arranged, err := p.arrangeRows(ctx, q, in)
	if err != nil {
		return nil, err
	}
	space := room(in.size) - float32(len(in.opt.counters)*counterHeight)
	// Rows come before levels: those that are asked for and do not fit are left out
	// below, rather than the rows folded.
	wanted := in.wantedLevels()
	p.levels = min(wanted, fewLevels)
	rows := arranged
	if rows == nil {
		if rows, err = p.foldRows(ctx, in, folding, space); err != nil {
			return nil, err
		}
	}
	for p.levels < wanted && in.leastHeight(rows, p.levels+1) <= space {
		p.levels++
	}
	p.noteRows(in, rows)
	pinned, rows, err := p.pinRows(in, rows, space)
	if err != nil {
		return nil, err
	}
	p.total, p.pinned = len(rows), len(pinned)
	shown := p.scroll(in, rows, space-in.leastHeight(pinned, p.levels))
	p.rows = slices.Concat(pinned, shown)
	p.labelRows()
	if err := p.fitLevels(ctx, in, space); err != nil {
		return nil, err
	}
	p.splitLanes(in, space)
	p.labelWidth = p.widthOfLabels(in.size)
	p.grid = in.gridFor(p)
	return p, nil
}

// plant makes the forest, and says which of its groups are open.
func (p *plan) plant(ctx context.Context, q *view.Request, in *input) (folding, error) {
	tree := in.reader.Locations()
	shows := tree.Shows // rows aside are seen, they only do not count
	if in.reader.Info().Intervals == 0 {
		has, err := withInstantsOrCounters(ctx, in.reader)
		if err != nil {
			return folding{}, err
		}
		shows = func(id trace.LocationID) bool { return has[id] }
	}
	folds, err := parseFolding(tree, in.opt.expand, in.opt.collapse)
	if err != nil {
		return folding{}, err
	}
	only, err := q.Only()
	if err != nil {
		return folding{}, err
	}
	p.forest = newForest(tree, shows, only)
	if p.forest.all() == 0 {
		return folding{},
			view.Empty("choose other locations", "none of the selected locations holds intervals, instants or counters")
	}
	switch group := q.Values.Text("group"); group {
	case "", "tree":
		return folds, nil
	case "optimal":
		return p.foldOptimal(ctx, q, in, folds)
	default:
		refused := words.NotOneOf("--group", group, "tree", "optimal")
		refused.More = "; --expand and --collapse open and close single groups"
		return folding{}, refused
	}
}

// foldRows opens groups level by level while their rows fit, and folds similar locations if that fits better.
func (p *plan) foldRows(ctx context.Context, in *input, folds folding, space float32) ([]row, error) {
	if rows, ok, err := p.foldFunctions(ctx, in, folds, space); ok || err != nil {
		return rows, err
	}
	rows, deeper, _ := p.forest.rows(folds, 1<<31-1)
	for deeper && in.leastHeight(rows, p.levels) <= space {
		folds.depth++
		next, more, ok := p.forest.rows(folds, int(space/leastLeaf)+1)
		if !ok || in.leastHeight(next, p.levels) > space {
			break
		}
		rows, deeper = next, more
	}
	rows, err := p.fitOptimal(ctx, in, folds, rows, space)
	if err != nil {
		return nil, err
	}
	return p.forest.foldGPUs(p.forest.spread(rows, space), folds, space), nil
}

// leastHeight is the height that rows take at least.
func (in *input) leastHeight(rows []row, levels int) float32 {
	h := float32(0)
	for i := range rows {
		h += in.leastOf(&rows[i], levels)
	}
	return h
}

func (in *input) leastOf(w *row, levels int) float32 {
	switch {
	case w.kind == header:
		return w.headerHeight()
	case w.kind == folded:
		return leastGroup
	case levels > 0:
		return leastLevel*float32(levels*in.lanes(w.location)) + 1
	}
	return leastLeaf
}

func (w *row) headerHeight() float32 {
	if w.tall {
		return tallHeader
	}
	return leastHeader
}

// wantedLevels is how many levels of nesting are asked for; 0: the innermost alone. More
// than the picture can hold are never looked at.
func (in *input) wantedLevels() int {
	return min(in.opt.depth, in.reader.Info().Depth, max(1, int(room(in.size)/leastLevel)))
}

// scroll takes the rows that are shown.
func (p *plan) scroll(in *input, rows []row, space float32) []row {
	if in.leastHeight(rows, p.levels) <= space {
		return rows
	}
	p.first = min(in.opt.scroll, max(len(rows)-1, 0))
	h := float32(0)
	n := p.first
	for n < len(rows) && (h < space || n == p.first) {
		h += max(scrolled, in.leastOf(&rows[n], p.levels))
		n++
	}
	if n > p.first+1 && h > space {
		n--
	}
	p.notes.add("rows %s to %s of %s are shown; scroll, or fold groups, to see the others",
		view.Thousands(int64(p.first+1)), view.Thousands(int64(n)), view.Thousands(int64(len(rows))))
	return rows[p.first:n]
}

// noteRows lists the parts of the tree that are not drawn as they are.
func (p *plan) noteRows(in *input, rows []row) {
	f := p.forest
	if depth := in.reader.Info().Depth; p.levels > 0 && p.levels < depth {
		p.notes.add("%d of %d levels of nesting are drawn", p.levels, depth)
	}
	groups, members := 0, 0
	for i := range rows {
		if rows[i].auto {
			groups++
			members += rows[i].count
		}
	}
	if groups > 0 {
		p.notes.add("%s for %s, which do not fit",
			count(int64(groups), "group")+stands(groups), count(int64(members), "location"))
	}
	pruned := 0
	for id := range f.tree.Len() {
		if f.below(trace.LocationID(id)) == 0 && f.isSelected(trace.LocationID(id)) {
			pruned++
		}
	}
	if pruned > 0 {
		p.notes.add("not shown: %s without intervals", count(int64(pruned), "location"))
	}
}

func stands(n int) string {
	if n == 1 {
		return " stands"
	}
	return " stand"
}

// labelRows names the rows that are shown, and says whom groups stand for.
func (p *plan) labelRows() {
	f := p.forest
	for i := range p.rows {
		w := &p.rows[i]
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
}

func (p *plan) widthOfLabels(size scene.Size) float32 {
	rows := make([]scene.Row, len(p.rows))
	for i := range rows {
		rows[i] = p.rows[i].sceneRow()
	}
	gutter := p.Arrangement().Gutter()
	return scene.RowLabelWidth(rows, mostLabelWidth(size)-gutter) + gutter
}

// splitLanes decides whether lanes share a row or have a strip each.
func (p *plan) splitLanes(in *input, space float32) {
	split := float32(0)
	for i := range p.rows {
		w := &p.rows[i]
		h := in.leastOf(w, p.levels)
		if w.kind == leaf {
			if w.lanes = in.lanes(w.location); w.lanes > 1 && w.lanes <= mostSplit {
				h = float32(w.lanes) * leastLane
			}
		}
		split += max(h, scrolled)
	}
	for i := range p.rows {
		w := &p.rows[i]
		w.split = w.kind == leaf && (p.levels > 0 || w.lanes > 1 && w.lanes <= mostSplit && split <= space)
	}
}

// strips is the largest number in a row.
func (p *plan) strips(w *row) int {
	switch {
	case w.kind != leaf:
		return 0
	case w.split:
		return max(1, p.levels) * w.lanes
	}
	return max(1, p.levels)
}

// gridFor takes the smallest bins that can be seen, and that keep the scene small.
func (in *input) gridFor(p *plan) grid {
	n := 0
	for i := range p.rows {
		n += p.strips(&p.rows[i])
	}
	sub := subRows(room(in.size) / float32(max(1, len(p.rows))))
	width := in.frame(in.size, p.labelWidth).w
	bins := min(width/leastBin, float32(cellBytes)/float32(2*sub*max(1, n)))
	return grid{in.selection.Begin, in.selection.End, levelFor(in.length(), bins)}
}

// levelFor returns the smallest bins of 2^level ns of which at most that many fill
// length.
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
