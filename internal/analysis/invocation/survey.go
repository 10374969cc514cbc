package invocation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Survey is what only a look at every call tells, of some nodes and of all regions.
type Survey struct {
	Number  []int32 // of each node, in the order of the run
	Made    []int32 // calls that each node made
	Late    []int32 // those that began after a time
	Regions []Makes // of each region
	Fans    []Fan   // nodes that made many, in their order

	LeastMade, MostMade int32 // of those that made any
}

// A Fan is a node that made at least leastFan calls.
type Fan struct{ Node, Made int32 }

// leastFan keeps fans few: less than one in so many calls.
const leastFan = 256

// Makes says how many calls the calls of a region made.
type Makes struct {
	Calls       int
	Least, Most int32
	Total       int64
}

// Add counts a call.
func (m *Makes) Add(made int32) {
	if m.Calls == 0 {
		m.Least = made
	}
	m.Calls++
	m.Least, m.Most, m.Total = min(m.Least, made), max(m.Most, made), m.Total+int64(made)
}

// Survey goes through all rows of a tree of rows, a lane on a core, and keeps nothing but what is asked for: of nodes,
// which ascend. Late is a time.
func (c *Calls) Survey(ctx context.Context, nodes []int32, late trace.Time, regions int) (*Survey, error) {
	s := &Survey{Number: make([]int32, len(nodes)), Made: make([]int32, len(nodes)), Late: make([]int32, len(nodes)),
		Regions: make([]Makes, regions)}
	order := c.sortedKeys(nodes)
	var done []*surveyor
	lock := make(chan struct{}, 1)
	err := parallel.Each(ctx, len(c.lanes), func() *surveyor {
		w := &surveyor{Survey: s, tree: c.rows, nodes: nodes, late: late, keys: order, regions: make([]Makes, regions),
			before: make([]int32, len(order)+1), least: math.MaxInt32}
		lock <- struct{}{}
		done = append(done, w)
		<-lock
		return w
	}, func(_ context.Context, w *surveyor, k int) error {
		return c.rows.store.Peek(func(p store.Peek) error { w.lane(p, k); return nil })
	})
	if err != nil {
		return nil, err
	}
	before, root := make([]int32, len(order)+1), pending{}
	for _, w := range done {
		for k, n := range w.before {
			before[k] += n
		}
		for id := range w.regions {
			s.Regions[id].join(&w.regions[id])
		}
		root.made, root.late = root.made+w.root.made, root.late+w.root.late
	}
	s.LeastMade = math.MaxInt32
	for _, w := range done {
		s.Fans = append(s.Fans, w.fans...)
		s.LeastMade, s.MostMade = min(s.LeastMade, w.least), max(s.MostMade, w.most)
	}
	s.Fans = append(s.Fans, Fan{0, root.made})
	slices.SortFunc(s.Fans, func(a, b Fan) int { return cmp.Compare(a.Node, b.Node) })
	if len(nodes) > 0 && nodes[0] == 0 {
		s.Made[0], s.Late[0] = root.made, root.late
	}
	sum := int32(0)
	for k, key := range order {
		sum += before[k]
		if key.row >= 0 {
			s.Number[key.index] = 1 + sum
		}
	}
	return s, nil
}

func (m *Makes) join(o *Makes) {
	if o.Calls == 0 {
		return
	}
	if m.Calls == 0 {
		m.Least = o.Least
	}
	m.Calls, m.Total = m.Calls+o.Calls, m.Total+o.Total
	m.Least, m.Most = min(m.Least, o.Least), max(m.Most, o.Most)
}

// A runKey is the place of a call in the order of the run: by begin, of equal ones that of the first lane first.
type runKey struct {
	begin trace.Time
	at    trace.LocationID
	row   int32 // -1: the root
	index int32 // of the node
}

func (k *runKey) compare(o *runKey) int {
	return cmp.Or(cmp.Compare(k.begin, o.begin), cmp.Compare(k.at, o.at), cmp.Compare(k.row, o.row))
}

func (c *Calls) sortedKeys(nodes []int32) []runKey {
	out := make([]runKey, len(nodes))
	for i, n := range c.Pick(nodes, OfBegin, make([]Node, 0, len(nodes))) {
		out[i] = runKey{n.Begin, n.Location, n.Row, int32(i)}
		if n.Row < 0 {
			out[i].begin = math.MinInt64
		}
	}
	slices.SortFunc(out, func(a, b runKey) int { return a.compare(&b) })
	return out
}

// A surveyor goes through some lanes.
type surveyor struct {
	*Survey
	tree    *rowTree
	nodes   []int32
	late    trace.Time
	keys    []runKey
	before  []int32 // calls between each key and the one before it
	regions []Makes
	root    pending
	open    []pending
	fans    []Fan

	least, most int32
}

// A pending call may still make calls.
type pending struct {
	depth      int32
	node       int32
	region     trace.RegionID
	asked      int32 // its place among the nodes; -1: it is none
	made, late int32
}

func (w *surveyor) lane(p store.Peek, k int) {
	const part = rowBlock
	l, from := w.tree.lanes[k], w.tree.from[k]
	next, _ := slices.BinarySearch(w.nodes, w.tree.starts[k])
	key := 0
	w.open = w.open[:0]
	for lo, end := from, from+uint64(l.calls); lo < end; {
		hi := min((lo/part+1)*part, end)
		var depths []uint16
		var regions []trace.RegionID
		var begins []trace.Time
		p.Depths(lo, hi, func(v []uint16) { depths = v })
		p.Regions(lo, hi, func(v []trace.RegionID) { regions = v })
		p.Begins(lo, hi, func(v []trace.Time) { begins = v })
		for i, begin := range begins {
			row := int32(lo-from) + int32(i)
			at := runKey{begin: begin, at: l.Location, row: row}
			for key < len(w.keys) && w.keys[key].compare(&at) <= 0 {
				key++
			}
			w.before[key]++
			for len(w.open) > 0 && w.open[len(w.open)-1].depth >= int32(depths[i]) {
				w.close()
			}
			above := &w.root
			if n := len(w.open); n > 0 {
				above = &w.open[n-1]
			}
			above.made++
			if begin > w.late {
				above.late++
			}
			x := pending{depth: int32(depths[i]), node: w.tree.starts[k] + row, region: regions[i], asked: -1}
			if next < len(w.nodes) && w.nodes[next] == w.tree.starts[k]+row {
				x.asked = int32(next)
				next++
			}
			w.open = append(w.open, x)
		}
		lo = hi
	}
	for len(w.open) > 0 {
		w.close()
	}
}

// close ends the innermost call.
func (w *surveyor) close() {
	x := &w.open[len(w.open)-1]
	w.regions[x.region].Add(x.made)
	if x.asked >= 0 {
		w.Made[x.asked], w.Survey.Late[x.asked] = x.made, x.late
	}
	if x.made > 0 {
		w.least, w.most = min(w.least, x.made), max(w.most, x.made)
	}
	if x.made >= leastFan {
		w.fans = append(w.fans, Fan{x.node, x.made})
	}
	w.open = w.open[:len(w.open)-1]
}
