package instruments

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tree gathers call paths that come line by line, each with its depth.
type tree struct {
	w       trace.Writer
	label   string
	metrics []trace.Metric
	open    []level
	paths   map[trace.CallPath]trace.CallPathID
	cells   map[cell]*values
	order   []cell
	bad     int64
	first   string
	jumps   int64
}

// A level is the call path that is open at a depth.
type level struct {
	depth int
	path  trace.CallPathID
	cell  *values
}

type cell struct {
	at   trace.LocationID
	path trace.CallPathID
}

// values of a call path, by metric; below is the sum of its callees.
type values struct {
	inclusive, self, below []float64
	told                   bool // self is the file's value
}

func (t *tree) wrong(n int) {
	if t.bad++; t.bad == 1 {
		t.first = fmt.Sprintf("%s: line %d", t.label, n+1)
	}
}

// add takes a line: a region at a depth below the lines before, with its values; self may be nil.
func (t *tree) add(at trace.LocationID, depth int, region trace.RegionID, inclusive, self []float64) {
	for len(t.open) > 0 && t.open[len(t.open)-1].depth >= depth {
		t.open = t.open[:len(t.open)-1]
	}
	parent := trace.NoCallPath
	if n := len(t.open); n > 0 {
		parent = t.open[n-1].path
		if t.open[n-1].depth != depth-1 {
			t.jumps++
		}
		sum(&t.open[n-1].cell.below, inclusive)
	} else if depth > 0 {
		t.jumps++
	}
	key := trace.CallPath{Parent: parent, Region: region}
	id := importer.Once(t.paths, key, func() trace.CallPathID { return t.w.CallPath(key) })
	c := t.cells[cell{at, id}]
	if c == nil {
		c = &values{}
		t.cells[cell{at, id}] = c
		t.order = append(t.order, cell{at, id})
	}
	sum(&c.inclusive, inclusive)
	if self != nil {
		c.told = true
		sum(&c.self, self)
	}
	t.open = append(t.open, level{depth, id, c})
}

func sum(to *[]float64, list []float64) {
	for len(*to) < len(list) {
		*to = append(*to, 0)
	}
	for i, v := range list {
		(*to)[i] += v
	}
}

// write passes on the rows.
func (t *tree) write() {
	ids := make([]trace.MetricID, len(t.metrics))
	for i, m := range t.metrics {
		ids[i] = t.w.Metric(m)
	}
	for _, key := range t.order {
		c := t.cells[key]
		for i := range min(len(ids), len(c.inclusive)) {
			row := trace.ProfileRow{Location: key.at, Path: key.path, Metric: ids[i], Inclusive: c.inclusive[i],
				Exclusive: c.inclusive[i]}
			switch {
			case c.told && i < len(c.self):
				row.Exclusive = c.self[i]
			case i < len(c.below):
				row.Exclusive = max(c.inclusive[i]-c.below[i], 0)
			}
			t.w.Profile(row)
		}
	}
	importer.Tell(t.w, trace.MissingSamples, "lines that are no call paths", t.bad, t.first)
	importer.Tell(t.w, trace.Guessed,
		"call paths whose caller is not in the line above: put below the nearest", t.jumps, t.label)
}
