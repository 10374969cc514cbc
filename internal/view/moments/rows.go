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
	"github.com/parallax-hpc/parallax/internal/scene"
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

// choose decides the rows and computes them.
func (r *planner) choose(size scene.Size) {
	capacity := max(1, int(r.room(size))/max(1, len(r.states)))
	order := r.ordered()
	if r.opt.top > 0 && r.opt.top < len(order) {
		r.hidden = len(order) - r.opt.top
		r.notes = append(r.notes,
			fmt.Sprintf("the first %s of %s are shown", view.Thousands(int64(r.opt.top)), plural(len(order), "row")))
		order = order[:r.opt.top]
	}
	switch {
	case r.opt.group == "optimal":
		r.groupOptimal(order, capacity)
	case r.opt.group != "" && r.opt.group != "none":
		r.groupBy(order, capacity)
	case len(order) <= capacity:
		r.rows = make([]row, len(order))
		for k, i := range order {
			r.rows[k] = row{members: order[k : k+1], node: r.ids[i]}
		}
	case r.fill(order, capacity):
	case r.opt.order == "location" && r.hidden == 0 && r.Arrangement() == nil:
		if !r.fitOptimal(order, capacity) {
			r.cut(order, capacity)
		}
	default:
		r.runs(order, capacity)
	}
	r.noteGroups()
	each(len(r.rows), func(k int) { r.measure(&r.rows[k]) })
	r.label()
}

// ordered lists the rows as they are asked for.
func (r *result) ordered() []int32 {
	order := make([]int32, len(r.ids))
	for i := range order {
		order[i] = int32(i)
	}
	switch {
	case r.opt.order == "location":
		r.Arrangement().SortPlaces(order, r.ids)
	case r.opt.order == "outliers":
		marks := r.everything().outliers
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(marks[b].Impact, marks[a].Impact) })
	default:
		k := int(r.opt.order[len(r.opt.order)-1] - '0')
		all := r.busy.every(r.ids)
		sign := 1
		if r.opt.order[0] == '-' {
			sign = -1
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			x, y := all[a].At(k), all[b].At(k)
			if math.IsNaN(x) || math.IsNaN(y) { // rows without busy time come last
				return cmp.Compare(boolInt(math.IsNaN(x)), boolInt(math.IsNaN(y)))
			}
			return sign * cmp.Compare(y, x)
		})
	}
	r.Arrangement().SortGroups(order, r.ids) // of a group in the order asked for
	return order
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// runs makes groups of equal numbers of rows that follow each other.
func (r *planner) runs(order []int32, capacity int) {
	size := (len(order) + capacity - 1) / capacity
	for part := range slices.Chunk(order, size) {
		r.rows = append(r.rows, row{members: part, node: trace.NoLocation})
	}
}

// A span is the rows below a node: those from lo to hi in preorder.
type span struct {
	node   trace.LocationID
	lo, hi int
}

// spans gives the rows below each node of a level; rows above it stand alone. It
// stops past most spans. Only nodes down to the level are looked at.
func (r *planner) spans(first, last trace.LocationID, lo, level, most int) (out []span) {
	for id := first; id <= last && lo < len(r.ids) && len(out) <= most; {
		next := id + 1
		switch {
		case int(r.tree.Level[id]) == level:
			next = r.tree.Last[id] + 1
			hi := lo + sort.Search(min(len(r.ids)-lo, int(next-id)), func(i int) bool { return r.ids[lo+i] >= next })
			if hi > lo {
				out = append(out, span{id, lo, hi})
			}
			lo = hi
		case r.ids[lo] == id: // holds intervals of its own
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
func (r *planner) cut(order []int32, capacity int) {
	var nodes []span
	level := 0
	all := trace.LocationID(r.tree.Len() - 1)
	for ; ; level++ {
		next := r.spans(0, all, 0, level, capacity)
		if len(next) > capacity {
			break
		}
		nodes = next
	}
	if nodes == nil { // not even the top fits
		r.runs(order, capacity)
		return
	}
	slots := capacity / len(nodes)
	for _, n := range nodes {
		r.split(order, n, level, slots)
	}
}

// split makes rows of one node: itself, or up to slots runs of what lies below.
func (r *planner) split(order []int32, n span, level, slots int) {
	var below []span
	if slots >= 2 && int(r.tree.Level[n.node]) < level {
		below = r.spans(n.node, r.tree.Last[n.node], n.lo, level, math.MaxInt32)
	}
	if len(below) < 2 {
		r.rows = append(r.rows, row{members: order[n.lo:n.hi], node: n.node})
		return
	}
	size := (len(below) + slots - 1) / slots
	for part := range slices.Chunk(below, size) {
		w := row{members: order[part[0].lo:part[len(part)-1].hi], node: trace.NoLocation}
		if len(part) == 1 {
			w.node = part[0].node
		}
		r.rows = append(r.rows, w)
	}
}

// groupBy makes a row of each location of a kind or level.
func (r *planner) groupBy(order []int32, capacity int) {
	level := r.levelOf(r.opt.group)
	if level < 0 {
		r.notes = append(r.notes, fmt.Sprintf("no location is a %q: rows are not grouped", r.opt.group))
		r.opt.group = ""
		r.runsOrRows(order, capacity)
		return
	}
	slices.Sort(order)
	if len(order) < len(r.ids) { // --top: the groups are of the rows shown
		r.runsOrRows(order, capacity)
		return
	}
	nodes := r.spans(0, trace.LocationID(r.tree.Len()-1), 0, level, capacity)
	if len(nodes) > capacity {
		r.cut(order, capacity)
		return
	}
	for _, n := range nodes {
		r.rows = append(r.rows, row{members: order[n.lo:n.hi], node: n.node})
	}
}

func (r *planner) runsOrRows(order []int32, capacity int) {
	if len(order) > capacity {
		r.runs(order, capacity)
		return
	}
	for k, i := range order {
		r.rows = append(r.rows, row{members: order[k : k+1], node: r.ids[i]})
	}
}

// levelOf reads --group: the number of a level, or a kind of location.
func (r *planner) levelOf(group string) int {
	if n, err := strconv.Atoi(group); err == nil && n >= 0 {
		return n
	}
	for id, k := range r.tree.Kind {
		if string(k) == group {
			return int(r.tree.Level[id])
		}
	}
	return -1
}

func (r *planner) noteGroups() {
	groups, members := 0, 0
	for i := range r.rows {
		if r.rows[i].group() {
			groups++
			members += len(r.rows[i].members)
		}
	}
	if groups > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s of %s: the mean utilization of the members, with the range of the middle 80 %% of their m1",
				plural(groups, "group"), plural(members, "location")))
	}
}

// measure merges the members of a row.
func (r *planner) measure(w *row) {
	w.moments = make([]moment.Moments, len(r.states))
	var means []float64
	if w.group() {
		means = make([]float64, 0, len(w.members))
	}
	for k, l := range r.states {
		var sum moment.Cubic
		for _, i := range w.members {
			if mean, busy := l.addTo(&sum, r.ids, int(i)); busy && k == 0 && w.group() {
				means = append(means, mean)
			}
		}
		// The mean of the members' utilization: sums are divided by their number.
		n := float64(len(w.members))
		sum.Weight, sum.M2, sum.M3 = sum.Weight/n, sum.M2/n, sum.M3/n
		w.moments[k] = sum.Moments(l.begin)
	}
	w.spread = spreadOf(means)
	if r.busy.higher != nil {
		sum := moment.Sketch{}
		for _, i := range w.members {
			sum.Merge(&r.busy.higher[i], r.opt.orders)
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
		slices.Min(v), moment.Nth(v, (len(v)-1)/10), moment.Nth(v, (len(v)-1)/2), moment.Nth(v, (len(v)-1)*9/10),
		slices.Max(v),
	}
}

// mark finds the rows drawn that stand out from the others.
func (r *planner) mark() {
	var out []moment.Outlier
	single := len(r.rows) == len(r.ids) && r.busy.whole() != nil
	if single {
		out = r.everything().outliers
		for k := range r.rows {
			if w := &r.rows[k]; !w.group() {
				w.outlier = out[w.members[0]]
			}
		}
	} else {
		list := make([]moment.Moments, len(r.rows))
		for k := range r.rows {
			list[k] = r.rows[k].moments[0]
		}
		out = moment.FewOutliers(list, nil, r.axis.length())
		for k := range r.rows {
			r.rows[k].outlier = out[k]
		}
	}
	n, best := 0, -1
	for k := range r.rows {
		if o := &r.rows[k].outlier; o.StandsOut() {
			if n++; best < 0 || o.Impact > r.rows[best].outlier.Impact {
				best = k
			}
		}
	}
	if n > 0 {
		r.notes = append(r.notes,
			fmt.Sprintf("%s out, most of all %s: %s", stands(n), r.rows[best].label, r.why(&r.rows[best].outlier)))
	}
}

func stands(n int) string {
	if n == 1 {
		return "1 row stands"
	}
	return view.Thousands(int64(n)) + " rows stand"
}

// why says what is unusual about a row.
func (r *result) why(o *moment.Outlier) string {
	name := [...]string{"busy time", "mean time", "deviation", "skewness"}[o.Moment]
	if o.Moment == 3 {
		return fmt.Sprintf("%s %.2g, its peers have %.2g", name, o.Value, o.Median)
	}
	return fmt.Sprintf("%s %s, its peers have %s", name, r.quantity(o.Value), r.quantity(o.Median))
}

// quantity writes a value on the axis.
func (r *result) quantity(x float64) string {
	if r.axis.counter == "" {
		return view.FormatDuration(x)
	}
	return strings.TrimSpace(view.FormatCount(x) + " " + r.axis.unit)
}

// label names the rows.
func (r *result) label() {
	for k := range r.rows {
		w := &r.rows[k]
		first, last := r.ids[w.members[0]], r.ids[w.members[len(w.members)-1]]
		switch {
		case !w.group():
			w.label = r.name(first)
		case w.node != trace.NoLocation:
			w.label = r.name(w.node)
		case r.tree.Rank[first] != trace.NoRank && r.tree.Rank[last] > r.tree.Rank[first]:
			w.label = fmt.Sprintf("rank %d – %d", r.tree.Rank[first], r.tree.Rank[last])
		case r.tree.Parent[first] == r.tree.Parent[last]:
			w.label = r.name(first) + " – " + r.tree.Name[last]
		default:
			w.label = r.name(first) + " – " + r.name(last)
		}
		if w.group() {
			w.label += " (" + view.Thousands(int64(len(w.members))) + ")"
		}
	}
}

// name of a location: its rank, and its own name where that says more; else with
// its parent's.
func (r *result) name(id trace.LocationID) string {
	t := r.tree
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
