package callgraph

import (
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Measure is the quantity whose distribution a bucket has.
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
	// Innermost takes the time in which a cut call is innermost, in place of that in which it is open.
	Innermost bool
	// Profile puts every call under the root: one bucket a callee.
	Profile bool
	// Closure puts each call into one bucket for every distinct node around it
	// and one for the root: the dynamic transitive closure, which does not
	// change for the remaining regions when others are inlined.
	Closure bool
	// Skip leaves out calls of these regions, by id; they still call others. nil: none.
	Skip []bool
	// Callees and Callers choose buckets, by node; nil: all. Callers are
	// indexed by node + 1, the root first.
	Callees, Callers []bool
	// Path keeps the calls whose callers, the direct one last, are in these
	// sets, indexed as Callers.
	Path [][]bool
	// Shapes asks for the shape of each distribution too.
	Shapes bool
}

// A Collector gathers the calls of many locations. Columns come as a store yields them: for many locations at once.
type Collector struct {
	Options
	// Also are options by which all calls are counted once more; nil: none. Their measure is Totals.
	Also    *Options
	mu      sync.Mutex
	graphs  map[trace.LocationID]*Graph
	spare   sync.Pool // of *Graph, emptied, for further locations
	rows    sync.Pool // of *rowReader
	readers sync.Pool // of *laneReader

	plainOnce sync.Once
	isPlain   bool
}

// Add takes the calls that begin in a batch. O(rows + paths × depth).
func (c *Collector) Add(cols *trace.Columns) {
	if cols.Len() > 0 {
		c.addTo(c.graph(cols.Location), cols)
	}
}

func (c *Collector) addTo(g *Graph, cols *trace.Columns) {
	w, _ := c.rows.Get().(*rowReader)
	if w == nil {
		w = &rowReader{}
	}
	w.add(&c.Options, g, cols)
	if c.Also != nil {
		w.put(c.Also, g.further())
	}
	c.rows.Put(w)
}

func (c *Collector) graph(id trace.LocationID) *Graph {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.graphs[id]
	if g == nil {
		if c.graphs == nil {
			c.graphs = map[trace.LocationID]*Graph{}
		}
		g = c.spareGraph()
		c.graphs[id] = g
	}
	return g
}

// spareGraph returns an empty graph.
func (c *Collector) spareGraph() *Graph {
	if g, ok := c.spare.Get().(*Graph); ok {
		return g
	}
	return &Graph{}
}

// Take returns the collected graphs and resets the collector.
func (c *Collector) Take() map[trace.LocationID]*Graph {
	g := c.graphs
	c.graphs = nil
	return g
}

// recycle takes a graph back that is no longer used.
func (c *Collector) recycle(g *Graph) {
	g.reset()
	c.spare.Put(g)
}
