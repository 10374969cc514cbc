package scene

import (
	"cmp"
	"slices"
	"sort"
)

// A Run is a set of rectangles of one look, none of which overlaps another.
type Run struct {
	Fill  Colour
	Flags Flag
	Index []int32 // into the columns, ascending
}

// Runs sorts rectangles into runs that, drawn one after the other, give the same
// picture as drawing the rectangles in their order: a rectangle over others is in a
// later run than they. Outputs that write a path for each run stay small. Things that
// are not drawn are left out. Takes O(n log n); O(n) where rectangles lie side by
// side in rows, ordered from the left.
func (m *Rect) Runs() []Run {
	level := m.levels()
	type key struct {
		level int32
		fill  Colour
		flags Flag
	}
	at := map[key]int{}
	var keys []key
	var runs []Run
	for i := range m.X {
		if level[i] < 0 {
			continue
		}
		k := key{level[i], m.Fill[i], FlagsOf(m.Flags, i)}
		r, ok := at[k]
		if !ok {
			r = len(runs)
			at[k] = r
			keys = append(keys, k)
			runs = append(runs, Run{Fill: k.fill, Flags: k.flags})
		}
		runs[r].Index = append(runs[r].Index, int32(i))
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.fill, b.fill), cmp.Compare(a.flags, b.flags))
	})
	out := make([]Run, len(keys))
	for i, k := range keys {
		out[i] = runs[at[k]]
	}
	return out
}

// overlap is how far rectangles may reach into each other and still count as side
// by side: less than can be seen.
const overlap = 0.02

type span struct {
	from, to float32
	index    int32
}

// levels gives each rectangle a number above those of all earlier ones that it may
// overlap, or -1 where nothing is drawn.
func (m *Rect) levels() []int32 {
	level := make([]int32, len(m.X))
	rows := make([]span, 0, len(m.X))
	for i := range m.X {
		level[i] = -1
		if m.Fill[i] == None && FlagsOf(m.Flags, i)&Outlined == 0 {
			continue
		}
		if _, y, _, h, ok := m.DrawnRect(i); ok {
			level[i] = 0
			rows = append(rows, span{y, y + trueExtent(h, m.H[i]), int32(i)})
		}
	}
	sort.SliceStable(rows, func(a, b int) bool { return rows[a].from < rows[b].from })
	for from := 0; from < len(rows); {
		// A band holds the rows that overlap each other, directly or through others.
		bottom, to := rows[from].to, from+1
		for to < len(rows) && rows[to].from < bottom {
			bottom = max(bottom, rows[to].to)
			to++
		}
		m.levelBand(rows[from:to], level)
		from = to
	}
	return level
}

// levelBand compares by x alone, so rectangles that overlap in x count as overlapping.
func (m *Rect) levelBand(band []span, level []int32) {
	for i := range band {
		x, _, w, _, _ := m.DrawnRect(int(band[i].index))
		band[i].from, band[i].to = x, x+trueExtent(w, m.W[band[i].index])
	}
	slices.SortFunc(band, func(a, b span) int { return cmp.Compare(a.index, b.index) })
	sideBySide := true
	for i := 1; i < len(band) && sideBySide; i++ {
		sideBySide = band[i].from >= band[i-1].to
	}
	if sideBySide {
		return
	}
	edges := make([]float32, 0, 2*len(band))
	for _, s := range band {
		edges = append(edges, s.from, s.to)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	tree := newLevelTree(len(edges))
	for _, s := range band {
		a, _ := slices.BinarySearch(edges, s.from)
		b, _ := slices.BinarySearch(edges, s.to)
		l := tree.highest(a, b)
		tree.raise(a, b, l+1)
		level[s.index] = l
	}
}

// trueExtent returns the extent without the addition that makes it visible: that a thing is drawn a pixel wide must
// not push its neighbours into another run.
func trueExtent(drawn, own float32) float32 { return min(drawn, max(own-overlap, 0)) }

// A levelTree keeps the highest level painted on each stretch between edges.
type levelTree struct {
	size      int
	top, lazy []int32 // highest below a node; level laid over the whole node
}

func newLevelTree(n int) *levelTree {
	size := 1
	for size < n {
		size *= 2
	}
	return &levelTree{size, make([]int32, 2*size), make([]int32, 2*size)}
}

func (t *levelTree) highest(a, b int) int32 { return t.query(1, 0, t.size, a, max(b, a+1)) }

func (t *levelTree) query(node, lo, hi, a, b int) int32 {
	if b <= lo || hi <= a {
		return 0
	}
	if a <= lo && hi <= b {
		return t.top[node]
	}
	mid := (lo + hi) / 2
	return max(t.lazy[node], t.query(2*node, lo, mid, a, b), t.query(2*node+1, mid, hi, a, b))
}

func (t *levelTree) raise(a, b int, level int32) { t.lay(1, 0, t.size, a, max(b, a+1), level) }

func (t *levelTree) lay(node, lo, hi, a, b int, level int32) {
	if b <= lo || hi <= a {
		return
	}
	t.top[node] = max(t.top[node], level)
	if a <= lo && hi <= b {
		t.lazy[node] = max(t.lazy[node], level)
		return
	}
	mid := (lo + hi) / 2
	t.lay(2*node, lo, mid, a, b, level)
	t.lay(2*node+1, mid, hi, a, b, level)
}
