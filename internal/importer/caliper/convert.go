package caliper

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A step is a region of a call path.
type step struct{ name, category string }

// A snapshot is one record: where, and its numbers.
type snapshot struct {
	path    []step
	numbers []value
	facts   map[string]string // strings that are no part of the path
	rank    int
	thread  int64
}

type value struct {
	of *attribute
	n  float64
}

// value takes a value of an attribute, a number or a part of the path.
func (s *snapshot) value(a *attribute, text string) {
	switch a.name {
	case "mpi.rank":
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < 1<<31 {
			s.rank = int(n)
		}
		return
	case "omp.thread.id", "pthread.id", "thread.id":
		s.thread, _ = strconv.ParseInt(text, 10, 64)
		return
	}
	numeric := a.kind == nodeDouble || a.kind == nodeInt || a.kind == nodeUint
	switch {
	case a.properties&propertyHidden != 0:
	case a.properties&propertyNested != 0 || strings.HasPrefix(a.name, "cupti.") && !numeric:
		s.path = append(s.path, step{text, a.name})
	case strings.HasPrefix(a.name, "iteration#"):
		s.path = append(s.path, step{"iteration " + text, a.name})
	case numeric:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			s.numbers = append(s.numbers, value{a, n})
		}
	default:
		s.facts[a.name] = text
	}
}

// A converter turns snapshots into a profile, and into intervals where they have a time.
type converter struct {
	w       trace.Writer
	label   string
	snap    snapshot
	ranks   map[int]trace.LocationID
	threads map[[2]int64]trace.LocationID
	all     trace.LocationID
	world   string
	regions map[step]trace.RegionID
	paths   map[pathKey]int32
	nodes   []pathNode
	metrics map[string]*metric
	order   []*metric
	cells   map[cellKey]*cell
	timed   timed
}

type pathKey struct {
	parent int32
	region trace.RegionID
}

type pathNode struct {
	pathKey
	id trace.CallPathID
}

type cellKey struct {
	location trace.LocationID
	path     int32
	metric   int32
}

// A cell holds the file's values of an amount, NaN for those it lacks.
type cell struct{ inclusive, exclusive float64 }

func newConverter(w trace.Writer, label string) *converter {
	c := &converter{
		w: w, label: label, ranks: map[int]trace.LocationID{}, threads: map[[2]int64]trace.LocationID{},
		all: trace.NoLocation, regions: map[step]trace.RegionID{},
		paths: map[pathKey]int32{}, metrics: map[string]*metric{}, cells: map[cellKey]*cell{},
	}
	c.timed = timed{c, importer.NewRows(w)}
	return c
}

// begin returns an empty snapshot; the one before is done with.
func (c *converter) begin() *snapshot {
	c.snap = snapshot{path: c.snap.path[:0], numbers: c.snap.numbers[:0], facts: map[string]string{},
		rank: trace.NoRank}
	return &c.snap
}

// globals takes the stream's values for the whole run.
func (c *converter) globals(s *snapshot) {
	for key, text := range s.facts {
		if len(text) <= 4096 {
			c.w.Property(key, text)
		}
	}
	for _, v := range s.numbers {
		text := strconv.FormatFloat(v.n, 'g', -1, 64)
		c.w.Property(v.of.name, text)
		if v.of.name == "mpi.world.size" || v.of.name == "jobsize" && c.world == "" {
			c.world = text
		}
	}
}

// location finds where a snapshot belongs: a rank, a thread of it, or all ranks together.
func (c *converter) location(s *snapshot) trace.LocationID {
	at, ok := c.ranks[s.rank]
	if !ok {
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: "all", Name: "all ranks",
			Rank: trace.NoRank}
		if s.rank != trace.NoRank {
			l.Key = strconv.Itoa(s.rank)
			l.Name, l.Rank = "rank "+l.Key, s.rank
		}
		at = c.w.Location(l)
		c.ranks[s.rank] = at
		if s.rank == trace.NoRank {
			c.all = at
		}
	}
	if s.thread == 0 {
		return at
	}
	key := [2]int64{int64(s.rank), s.thread}
	return importer.Once(c.threads, key, func() trace.LocationID {
		number := strconv.FormatInt(s.thread, 10)
		return c.w.Location(trace.Location{Parent: at, Kind: trace.KindThread, Key: number, Name: "thread " + number,
			Rank: trace.NoRank, Order: s.thread})
	})
}

func (c *converter) region(s step) trace.RegionID {
	return importer.Once(c.regions, s,
		func() trace.RegionID { return c.w.Region(trace.Region{Name: s.name, Category: s.category}) })
}

// path finds the node of a call path.
func (c *converter) path(steps []step) int32 {
	at := int32(-1)
	for _, s := range steps {
		key := pathKey{at, c.region(s)}
		id, ok := c.paths[key]
		if !ok {
			id = int32(len(c.nodes))
			parent := trace.NoCallPath
			if at >= 0 {
				parent = c.nodes[at].id
			}
			c.nodes = append(c.nodes, pathNode{key, c.w.CallPath(trace.CallPath{Parent: parent, Region: key.region})})
			c.paths[key] = id
		}
		at = id
	}
	return at
}

// outside is the region of amounts measured outside all regions.
var outside = step{"(outside)", ""}

// add takes a finished snapshot.
func (c *converter) add(s *snapshot, place string) {
	if c.timed.take(s) {
		return
	}
	// a point in time, not an amount
	s.numbers = slices.DeleteFunc(s.numbers, func(v value) bool { return strings.HasPrefix(v.of.name, "time.offset") })
	if len(s.numbers) == 0 {
		c.w.Report(trace.MissingEvents, "snapshots without a number", 1, place)
		return
	}
	if len(s.path) == 0 {
		s.path = append(s.path, outside)
	}
	at, path := c.location(s), c.path(s.path)
	for _, v := range s.numbers {
		m, inclusive := c.metric(v.of)
		key := cellKey{at, path, m.index}
		x, ok := c.cells[key]
		if !ok {
			x = &cell{math.NaN(), math.NaN()}
			c.cells[key] = x
		}
		to := &x.exclusive
		if inclusive {
			to, m.inclusive = &x.inclusive, true
		}
		m.fraction = m.fraction || v.n != math.Trunc(v.n)
		*to = m.join(*to, v.n*m.scale)
	}
}

// finish completes the amounts by the tree and writes all rows.
func (c *converter) finish() error {
	if c.all != trace.NoLocation && c.world != "" && len(c.ranks) == 1 {
		c.w.Describe(c.all, trace.Location{Name: "all " + c.world + " ranks", Rank: trace.NoRank})
	}
	c.choose()
	c.settle()
	c.complete()
	keys := make([]cellKey, 0, len(c.cells))
	for k := range c.cells {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b cellKey) int {
		return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.path, b.path), cmp.Compare(a.metric, b.metric))
	})
	for _, k := range keys {
		x := c.cells[k]
		row := trace.ProfileRow{Location: k.location, Path: c.nodes[k.path].id, Metric: c.order[k.metric].id,
			Inclusive: x.inclusive, Exclusive: x.exclusive}
		if count := c.metrics["count"]; count != nil {
			if n := c.cells[cellKey{k.location, k.path, count.index}]; n != nil {
				row.Calls = n.exclusive
			}
		}
		c.w.Profile(row)
	}
	return c.timed.rows.Close()
}

// settle brings times of an unknown unit to ns.
func (c *converter) settle() {
	for k, x := range c.cells {
		if m := c.order[k.metric]; m.unsure {
			scale := 1e3
			if m.fraction {
				scale = 1e9
			}
			x.inclusive, x.exclusive = x.inclusive*scale, x.exclusive*scale
		}
	}
	for _, m := range c.order {
		if m.unsure {
			unit := "microseconds"
			if m.fraction {
				unit = "seconds"
			}
			c.w.Report(trace.Guessed, "metrics whose unit the file does not tell: "+unit+", by how they are written", 1,
				c.label+": "+m.Name)
		}
	}
}

// complete gives every cell both values. Children come after their parents in nodes, so one walk
// from the last to the first adds up whole subtrees.
func (c *converter) complete() {
	type sumKey struct {
		location trace.LocationID
		metric   int32
	}
	by := map[sumKey]map[int32]*cell{}
	for k, x := range c.cells {
		s := sumKey{k.location, k.metric}
		if by[s] == nil {
			by[s] = map[int32]*cell{}
		}
		by[s][k.path] = x
	}
	negative := int64(0)
	for s, cells := range by {
		m := c.order[s.metric]
		if m.Join != trace.JoinSum {
			for _, x := range cells { // not an amount: it has one value
				x.inclusive = either(x.inclusive, x.exclusive)
				x.exclusive = x.inclusive
			}
			continue
		}
		below := make(map[int32]float64, len(cells)) // the sums of the children
		for i := int32(len(c.nodes)) - 1; i >= 0; i-- {
			x := cells[i]
			if x == nil {
				if below[i] == 0 || m.inclusive {
					continue
				}
				x = &cell{math.NaN(), 0} // no snapshot of its own, but of its children
				c.cells[cellKey{s.location, i, s.metric}] = x
			}
			switch {
			case math.IsNaN(x.inclusive):
				x.inclusive = x.exclusive + below[i]
			case math.IsNaN(x.exclusive):
				if x.exclusive = x.inclusive - below[i]; x.exclusive < 0 {
					if x.exclusive < -1e-3*x.inclusive-1000 {
						negative++
					}
					x.exclusive = 0
				}
			}
			if p := c.nodes[i].parent; p >= 0 {
				below[p] += x.inclusive
			}
		}
	}
	importer.Tell(c.w, trace.Repaired,
		"paths with less inclusive than their children: no exclusive value", negative, c.label)
}

func either(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return a
}

// A metric is a trace.Metric with how to read it.
type metric struct {
	trace.Metric
	index     int32
	id        trace.MetricID
	scale     float64
	inclusive bool // the file gives inclusive values
	// unsure: the file does not tell the unit of a time. Caliper counted whole microseconds and
	// later seconds with a fraction, so a fraction decides.
	unsure, fraction bool
}

func (m *metric) join(a, b float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case m.Join == trace.JoinMin:
		return min(a, b)
	case m.Join == trace.JoinMax:
		return max(a, b)
	case m.Join == trace.JoinMean:
		return (a + b) / 2
	}
	return a + b
}

// metric finds the metric of an attribute, and whether its values are inclusive ones.
func (c *converter) metric(a *attribute) (m *metric, inclusive bool) {
	name, inclusive := strings.CutPrefix(strings.Replace(a.name, "#inclusive#", "#", 1), "inclusive#")
	inclusive = inclusive || strings.Contains(a.name, "#inclusive#") || strings.Contains(name, "time.inclusive.")
	name = strings.Replace(name, "time.inclusive.", "time.", 1)
	if m, ok := c.metrics[name]; ok {
		return m, inclusive
	}
	m = &metric{index: int32(len(c.order)), scale: 1}
	m.Name, m.Description, m.Unit = name, a.alias, a.unit
	switch {
	case a.unit == "sec" || a.unit == "s":
		m.scale, m.Unit = 1e9, "ns"
	case a.unit == "usec" || a.unit == "us":
		m.scale, m.Unit = 1e3, "ns"
	case a.unit == "msec" || a.unit == "ms":
		m.scale, m.Unit = 1e6, "ns"
	case a.unit == "nsec" || a.unit == "ns":
		m.Unit = "ns"
	case a.unit != "":
	case strings.Contains(name, "duration.ns") ||
		strings.Contains(name, "cupti.") && strings.HasSuffix(name, "duration"):
		m.Unit = "ns"
		if strings.HasPrefix(name, "scale#") {
			m.scale = 1e9
		}
	case strings.Contains(name, "time.duration"):
		m.Unit, m.unsure = "ns", true
	case strings.Contains(name, "bytes") || strings.Contains(name, "mem.highwatermark"):
		m.Unit = "bytes"
	}
	switch first, _, _ := strings.Cut(name, "#"); first {
	case "min":
		m.Join = trace.JoinMin
	case "max":
		m.Join = trace.JoinMax
	case "avg", "ratio", "percent_total", "inclusive_percent_total":
		m.Join = trace.JoinMean
	}
	m.Integer = name == "count"
	c.metrics[name] = m
	c.order = append(c.order, m)
	return m, inclusive
}

// choose defines the metrics, with the one that stands for time: an amount in ns, else the count.
func (c *converter) choose() {
	best := -1
	rank := func(m *metric) int {
		switch {
		case m.Unit == "ns" && m.Join == trace.JoinSum && strings.Contains(m.Name, "time.duration"):
			return 4
		case m.Unit == "ns" && m.Join == trace.JoinSum:
			return 3
		case m.Unit == "ns":
			return 2
		case m.Name == "count":
			return 1
		}
		return 0
	}
	for i, m := range c.order {
		if best < 0 || rank(m) > rank(c.order[best]) {
			best = i
		}
	}
	for i, m := range c.order {
		m.Default = i == best
		m.id = c.w.Metric(m.Metric)
	}
}
