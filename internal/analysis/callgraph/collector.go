package callgraph

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Measure is what the distribution of a bucket is over.
type Measure uint8

const (
	Totals    Measure = iota // no distribution, counts and totals alone
	Exclusive                // exclusive time of each call
	Inclusive                // inclusive time of each call
)

// Options say which calls are collected and how.
type Options struct {
	// Node of each region, by id; Nodes is how many there are.
	Node    []int32
	Nodes   int
	Measure Measure
	// Profile puts every call under the root: one bucket a callee.
	Profile bool
	// Closure puts each call into one bucket for every distinct node around it
	// and one for the root: the dynamic transitive closure, which does not
	// change for the remaining regions when others are inlined.
	Closure bool
	// Callees and Callers choose buckets, by node; nil: all. Callers are
	// indexed by node + 1, the root first.
	Callees, Callers []bool
	// Path keeps the calls whose callers, the direct one last, are in these
	// sets, indexed as Callers.
	Path [][]bool
}

// A Collector gathers the calls of many locations. Columns come as a store hands
// them out: for many locations at once.
type Collector struct {
	Options
	mu      sync.Mutex
	graphs  map[trace.LocationID]*Graph
	spare   []*Graph // emptied, for further locations
	walkers sync.Pool
	readers sync.Pool // of *laneReader

	plainOnce sync.Once
	isPlain   bool
}

// Add takes the calls that begin in a batch. O(rows), with Closure O(rows × depth).
func (c *Collector) Add(cols *trace.Columns) {
	if cols.Len() > 0 {
		c.addTo(c.graph(cols.Location), cols)
	}
}

func (c *Collector) addTo(g *Graph, cols *trace.Columns) {
	w, _ := c.walkers.Get().(*walker)
	if w == nil {
		w = &walker{active: make([]int32, c.Nodes), seen: make([]int, c.Nodes)}
	}
	w.options, w.graph = &c.Options, g
	w.add(cols)
	c.walkers.Put(w)
}

func (c *Collector) graph(id trace.LocationID) *Graph {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.graphs[id]
	if g == nil {
		if c.graphs == nil {
			c.graphs = map[trace.LocationID]*Graph{}
		}
		if n := len(c.spare); n > 0 {
			g, c.spare = c.spare[n-1], c.spare[:n-1]
		} else {
			g = &Graph{}
		}
		c.graphs[id] = g
	}
	return g
}

// Take gives what was collected and forgets it.
func (c *Collector) Take() map[trace.LocationID]*Graph {
	g := c.graphs
	c.graphs = nil
	return g
}

// recycle takes a graph back that nobody looks at any more.
func (c *Collector) recycle(g *Graph) {
	g.reset()
	c.spare = append(c.spare, g)
}

// A walker follows the stack of a lane. Depth is known for every row, so a stack
// of nodes by depth needs no search for parents.
type walker struct {
	options *Options
	graph   *Graph
	stack   []int32
	active  []int32 // by node: how often it is on the stack
	seen    []int   // by node: the row that met it last, for the closure
	rows    int
}

func (w *walker) cut(depth int) {
	for _, n := range w.stack[depth:] {
		w.active[n]--
	}
	w.stack = w.stack[:depth]
}

func (w *walker) push(node int32) {
	w.active[node]++
	w.stack = append(w.stack, node)
}

func (w *walker) add(cols *trace.Columns) {
	o := w.options
	w.cut(0)
	for _, x := range cols.Open {
		w.push(o.Node[x.Region])
	}
	for i, region := range cols.Region {
		w.cut(min(int(cols.Depth[i]), len(w.stack)))
		node := o.Node[region]
		if (o.Callees == nil || o.Callees[node]) && (o.Path == nil || w.onPath()) {
			w.call(node, int64(cols.Duration[i]), int64(cols.Exclusive[i]))
		}
		w.push(node)
	}
}

// call puts one call into its buckets.
func (w *walker) call(node int32, inclusive, exclusive int64) {
	o := w.options
	switch {
	case o.Profile && o.Callers == nil:
		w.count(Pair{Root, node}, inclusive, exclusive)
	case o.Closure:
		w.rows++
		w.choose(Root, node, inclusive, exclusive)
		for _, up := range w.stack {
			if w.seen[up] != w.rows {
				w.seen[up] = w.rows
				w.choose(up, node, inclusive, exclusive)
			}
		}
	default:
		w.choose(w.caller(len(w.stack)-1), node, inclusive, exclusive)
	}
}

func (w *walker) caller(at int) int32 {
	if at < 0 {
		return Root
	}
	return w.stack[at]
}

func (w *walker) choose(caller, callee int32, inclusive, exclusive int64) {
	if o := w.options; o.Callers != nil && !o.Callers[caller+1] {
		return
	}
	if w.options.Profile {
		caller = Root
	}
	w.count(Pair{caller, callee}, inclusive, exclusive)
}

func (w *walker) count(p Pair, inclusive, exclusive int64) {
	b := w.graph.At(p)
	b.Count++
	b.Inclusive += inclusive
	b.Exclusive += exclusive
	if w.active[p.Callee] == 0 {
		b.Outermost += inclusive
	}
	switch w.options.Measure {
	case Exclusive:
		b.Calls.Add(exclusive)
	case Inclusive:
		b.Calls.Add(inclusive)
	}
}

// onPath reports whether the innermost callers are those of the path.
func (w *walker) onPath() bool {
	path := w.options.Path
	first := len(w.stack) - len(path)
	if first < -1 {
		return false
	}
	for k, set := range path {
		if !set[w.caller(first+k)+1] {
			return false
		}
	}
	return true
}
