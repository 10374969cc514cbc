package moments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A row is one line of the picture: a location, or a group of them.
type row struct {
	members []int32 // indices into ids
	// node is the location that the row stands for; NoLocation for a run of
	// neighbours or of rows that follow each other in some order.
	node    trace.LocationID
	label   string
	moments []moment.Moments // by state; of a group m0 is divided by the members
	spread  spread           // of the first state's m1 over the members
	higher  *moment.Sketch   // of busy, where orders above three are asked for
	outlier moment.Outlier
}

func (w *row) group() bool { return len(w.members) > 1 }

// A spread says how the m1 of a group's members lie. All are NaN without busy members.
type spread struct{ Min, Q10, Median, Q90, Max float64 }

// chooseRows decides the rows and computes them.
func (k *sketches) chooseRows(size scene.Size) (rows []row, notes []string) {
	capacity := max(1, int(room(size))/max(1, len(k.states)))
	order := k.ordered()
	all := len(order)
	if k.opt.top > 0 && k.opt.top < all {
		order = order[:k.opt.top]
		notes = append(notes,
			fmt.Sprintf("the first %s of %s are shown", view.Thousands(int64(k.opt.top)), view.Count(all, "row")))
	}
	rows, note := k.rowsOf(order, capacity)
	if note != "" {
		notes = append(notes, note)
	}
	if note := noteGroups(rows); note != "" {
		notes = append(notes, note)
	}
	each(len(rows), func(i int) { k.mergeMembers(&rows[i]) })
	for i := range rows {
		rows[i].label = k.labelOf(&rows[i])
	}
	k.markOutliers(rows)
	if note := k.noteOutliers(rows); note != "" {
		notes = append(notes, note)
	}
	return rows, notes
}

// rowsOf makes rows of the locations in an order: one each where they fit, else groups.
func (k *sketches) rowsOf(order []int32, capacity int) (rows []row, note string) {
	switch {
	case k.opt.group == "optimal":
		return k.groupOptimal(order, capacity)
	case k.opt.group != "" && k.opt.group != "none":
		return k.groupBy(order, capacity)
	case len(order) <= capacity:
		return k.single(order), ""
	}
	if rows, note := k.fill(order, capacity); rows != nil {
		return rows, note
	}
	if k.opt.order == "location" && len(order) == len(k.IDs) && k.Arrangement() == nil {
		if rows, note := k.fitOptimal(order, capacity); rows != nil {
			return rows, note
		}
		return k.cut(order, capacity), ""
	}
	return runs(order, capacity), ""
}

// single makes a row of each location.
func (k *sketches) single(order []int32) []row {
	rows := make([]row, len(order))
	for n, i := range order {
		rows[n] = row{members: order[n : n+1], node: k.IDs[i]}
	}
	return rows
}

// ordered lists the rows as they are asked for.
func (k *sketches) ordered() []int32 {
	order := make([]int32, len(k.IDs))
	for i := range order {
		order[i] = int32(i)
	}
	switch {
	case k.opt.order == "location":
		k.Arrangement().SortPlaces(order, k.IDs)
	case k.opt.order == "outliers":
		marks := k.everything().outliers
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(marks[b].Impact, marks[a].Impact) })
	default:
		nth := int(k.opt.order[len(k.opt.order)-1] - '0')
		all := k.busy.All()
		sign := 1
		if k.opt.order[0] == '-' {
			sign = -1
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			x, y := all[a].At(nth), all[b].At(nth)
			if math.IsNaN(x) || math.IsNaN(y) { // rows without busy time come last
				return cmp.Compare(boolInt(math.IsNaN(x)), boolInt(math.IsNaN(y)))
			}
			return sign * cmp.Compare(y, x)
		})
	}
	k.Arrangement().SortGroups(order, k.IDs) // of a group in the order asked for
	return order
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// runs makes groups of equal numbers of rows that follow each other.
func runs(order []int32, capacity int) (rows []row) {
	size := (len(order) + capacity - 1) / capacity
	for part := range slices.Chunk(order, size) {
		rows = append(rows, row{members: part, node: trace.NoLocation})
	}
	return rows
}

// A span is the rows below a node: those from lo to hi in preorder.
type span struct {
	node   trace.LocationID
	lo, hi int
}

// spans returns the rows below each node of a level; rows above it stand alone. It
// stops past most spans. Only nodes down to the level are looked at.
func (k *sketches) spans(first, last trace.LocationID, lo, level, most int) (out []span) {
	for id := first; id <= last && lo < len(k.IDs) && len(out) <= most; {
		next := id + 1
		switch {
		case int(k.Tree.Level[id]) == level:
			next = k.Tree.Last[id] + 1
			hi := lo + sort.Search(min(len(k.IDs)-lo, int(next-id)), func(i int) bool { return k.IDs[lo+i] >= next })
			if hi > lo {
				out = append(out, span{id, lo, hi})
			}
			lo = hi
		case k.IDs[lo] == id: // holds intervals of its own
			out = append(out, span{id, lo, lo + 1})
			lo++
		}
		id = next
	}
	return out
}

// cut makes groups of the deepest level of the tree that fits, and of runs of
// neighbours below it as far as there is room: 1,000 clusters in 700 rows are 500
// pairs. Rows must be in preorder. O(nodes down to the level below the cut).
func (k *sketches) cut(order []int32, capacity int) (rows []row) {
	var nodes []span
	level := 0
	all := trace.LocationID(k.Tree.Len() - 1)
	for ; ; level++ {
		next := k.spans(0, all, 0, level, capacity)
		if len(next) > capacity {
			break
		}
		nodes = next
	}
	if nodes == nil { // not even the top fits
		return runs(order, capacity)
	}
	slots := capacity / len(nodes)
	for _, n := range nodes {
		rows = append(rows, k.split(order, n, level, slots)...)
	}
	return rows
}

// split makes rows of one node: itself, or up to slots runs of its descendants.
func (k *sketches) split(order []int32, n span, level, slots int) (rows []row) {
	var below []span
	if slots >= 2 && int(k.Tree.Level[n.node]) < level {
		below = k.spans(n.node, k.Tree.Last[n.node], n.lo, level, math.MaxInt32)
	}
	if len(below) < 2 {
		return []row{{members: order[n.lo:n.hi], node: n.node}}
	}
	size := (len(below) + slots - 1) / slots
	for part := range slices.Chunk(below, size) {
		w := row{members: order[part[0].lo:part[len(part)-1].hi], node: trace.NoLocation}
		if len(part) == 1 {
			w.node = part[0].node
		}
		rows = append(rows, w)
	}
	return rows
}

// groupBy makes a row of each location of a kind or level.
func (k *sketches) groupBy(order []int32, capacity int) (rows []row, note string) {
	level := levelOf(k.Tree, k.opt.group)
	if level < 0 {
		return k.runsOrRows(order, capacity),
			fmt.Sprintf("no location is a %q: rows are not grouped", k.opt.group)
	}
	slices.Sort(order)
	if len(order) < len(k.IDs) { // --top: the groups are of the rows shown
		return k.runsOrRows(order, capacity), ""
	}
	nodes := k.spans(0, trace.LocationID(k.Tree.Len()-1), 0, level, capacity)
	if len(nodes) > capacity {
		return k.cut(order, capacity), ""
	}
	for _, n := range nodes {
		rows = append(rows, row{members: order[n.lo:n.hi], node: n.node})
	}
	return rows, ""
}

func (k *sketches) runsOrRows(order []int32, capacity int) []row {
	if len(order) > capacity {
		return runs(order, capacity)
	}
	return k.single(order)
}

// levelOf reads --group: the number of a level, or a kind of location.
func levelOf(tree *store.Tree, group string) int {
	if n, err := strconv.Atoi(group); err == nil && n >= 0 {
		return n
	}
	for id, kind := range tree.Kind {
		if string(kind) == group {
			return int(tree.Level[id])
		}
	}
	return -1
}

func noteGroups(rows []row) string {
	groups, members := 0, 0
	for i := range rows {
		if rows[i].group() {
			groups++
			members += len(rows[i].members)
		}
	}
	if groups == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s: the mean utilization of the members, with the range of the middle 80 %% of their m1",
		view.Count(groups, "group"), view.Count(members, "location"))
}

// mergeMembers merges the members of a row.
func (k *sketches) mergeMembers(w *row) {
	w.moments = make([]moment.Moments, len(k.states))
	var means []float64
	for n, l := range k.states {
		m, of := l.Mean(w.members)
		if w.moments[n] = m; n == 0 && w.group() {
			means = of
		}
	}
	w.spread = spreadOf(means)
	if k.busy.Higher != nil {
		sum := moment.Sketch{}
		for _, i := range w.members {
			sum.Merge(&k.busy.Higher[i], k.opt.orders)
		}
		if !sum.Empty() {
			w.higher = &sum
		}
	}
}

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		nan := math.NaN()
		return spread{nan, nan, nan, nan, nan}
	}
	return spread{
		slices.Min(v), orderstat.Nth(v, (len(v)-1)/10), orderstat.Nth(v, (len(v)-1)/2),
		orderstat.Nth(v, (len(v)-1)*9/10),
		slices.Max(v),
	}
}

// markOutliers finds the rows drawn that stand out from the others.
func (k *sketches) markOutliers(rows []row) {
	if len(rows) == len(k.IDs) && k.busy.AtHand() != nil {
		of := k.everything().outliers
		for i := range rows {
			if w := &rows[i]; !w.group() {
				w.outlier = of[w.members[0]]
			}
		}
		return
	}
	list := make([]moment.Moments, len(rows))
	for i := range rows {
		list[i] = rows[i].moments[0]
	}
	for i, o := range moment.FewOutliers(list, nil, k.axis.length()) {
		rows[i].outlier = o
	}
}

func (k *sketches) noteOutliers(rows []row) string {
	n, best := 0, -1
	for i := range rows {
		if o := &rows[i].outlier; o.StandsOut() {
			if n++; best < 0 || o.Impact > rows[best].outlier.Impact {
				best = i
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s out, most of all %s: %s", stands(n), rows[best].label, k.axis.why(&rows[best].outlier))
}

func stands(n int) string {
	if n == 1 {
		return "1 row stands"
	}
	return view.Thousands(int64(n)) + " rows stand"
}

// why names the unusual value of a row.
func (a axis) why(o *moment.Outlier) string {
	name := [...]string{"busy time", "mean time", "deviation", "skewness"}[o.Moment]
	if o.Moment == 3 {
		return fmt.Sprintf("%s %.2g, its peers have %.2g", name, o.Value, o.Median)
	}
	return fmt.Sprintf("%s %s, its peers have %s", name, a.quantity(o.Value), a.quantity(o.Median))
}

// exact writes a quantity with all its digits.
func (a axis) exact(x float64) string { return fmt.Sprintf("%.17g %s", x, a.unit) }

// quantity writes a value on the axis.
func (a axis) quantity(x float64) string {
	if a.counter == "" {
		return view.FormatDuration(x)
	}
	return strings.TrimSpace(view.FormatCount(x) + " " + a.unit)
}

// labelOf names a row.
func (k *sketches) labelOf(w *row) string {
	t, first, last := k.Tree, k.IDs[w.members[0]], k.IDs[w.members[len(w.members)-1]]
	if !w.group() {
		return nameOf(t, first)
	}
	label := ""
	switch {
	case w.node != trace.NoLocation:
		label = nameOf(t, w.node)
	case t.Rank[first] != trace.NoRank && t.Rank[last] > t.Rank[first]:
		label = fmt.Sprintf("rank %d – %d", t.Rank[first], t.Rank[last])
	case t.Parent[first] == t.Parent[last]:
		label = nameOf(t, first) + " – " + t.Name[last]
	default:
		label = nameOf(t, first) + " – " + nameOf(t, last)
	}
	return label + " (" + view.Thousands(int64(len(w.members))) + ")"
}

// nameOf names a location: its rank, and its own name where that says more; else with
// its parent's.
func nameOf(t *store.Tree, id trace.LocationID) string {
	rank, p := t.Rank[id], t.Parent[id]
	if rank == trace.NoRank {
		if p == trace.NoLocation || t.Level[p] == 0 && len(t.Name[p]) > 24 {
			return t.Name[id]
		}
		return t.Name[p] + " · " + t.Name[id]
	}
	own := p == trace.NoLocation || t.Rank[p] != rank
	number := strconv.Itoa(int(rank))
	if own && strings.HasSuffix(t.Name[id], number) && len(t.Name[id]) < 16 {
		return "rank " + number
	}
	return "rank " + number + " · " + t.Name[id]
}
