package calltree

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Node is one call path in the JSON output. Side is empty except in a sandwich, where nodes above its root are a
// "caller". Ids are those of the whole tree, also of a part of it. Quantiles are of the inclusive values of
// locations, those without the path counting as 0, or of single calls (exclusive bottom-up), within 1 % where calls
// are many; null if they are not kept. Other is the inclusive value of the other side of a comparison, and delta is
// other less this one, per location if locations are compared; null without. Calls are null if the source does not
// count them.
type Node struct {
	ID        int            `json:"id" unit:""`
	Parent    *int32         `json:"parent" unit:""`
	Depth     int            `json:"depth" unit:"count"`
	Side      string         `json:"side"`
	Region    string         `json:"region" unit:""`
	RegionID  trace.RegionID `json:"region_id"`
	Known     trace.RegionID `json:"-" about:"region"`
	Calls     *float64       `json:"calls" unit:"count"`
	Inclusive float64        `json:"inclusive" unit:"metric"`
	Exclusive float64        `json:"exclusive" unit:"metric"`
	Share     float64        `json:"-" table:"share" unit:"share"`
	Q02       *float64       `json:"q02" unit:"metric"`
	Q25       *float64       `json:"q25" unit:"metric"`
	Q50       *float64       `json:"q50" unit:"metric"`
	Q75       *float64       `json:"q75" unit:"metric"`
	Q98       *float64       `json:"q98" unit:"metric"`
	Other     *float64       `json:"other"`
	Delta     *float64       `json:"delta" unit:"metric"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Metric    string  `json:"metric"`
	Over      string  `json:"over"`
	Against   string  `json:"against"` // name of the other side of a comparison
	Unit      string  `json:"unit"`
	Direction string  `json:"direction"`
	Locations int     `json:"locations"`
	Total     float64 `json:"total"`
	Whole     float64 `json:"whole"`    // base of shares
	ShareOf   string  `json:"share_of"` // the same in words
	Nodes     []Node  `json:"nodes"`
}

var quantiles = [5]float64{0.02, 0.25, 0.5, 0.75, 0.98}

func (r *result) Data() any {
	d := Data{Over: r.request.Values.Text("over"), Metric: r.metric.Name, Unit: r.metric.Unit,
		Direction: r.request.Values.Text("direction"), Locations: r.tree.locations, Total: r.total, Whole: r.base.Whole,
		ShareOf: r.base.Name, Nodes: r.list()}
	if r.against != nil {
		d.Against = r.against.name
	}
	return d
}

// Rows implements view.Lister: a node takes little here, and much once it is written out.
func (r *result) Rows() int { return len(r.tree.nodes) }

func (r *result) list() []Node {
	out := make([]Node, len(r.tree.nodes))
	for i := range r.tree.nodes {
		n := &r.tree.nodes[i]
		x := Node{ID: i + r.zoom.first, Region: r.regions[n.region].Name, RegionID: n.region, Known: r.known(n),
			Share: r.base.Share(n.inclusive), Depth: int(n.depth), Inclusive: n.inclusive, Exclusive: n.exclusive,
			Delta: r.delta(n)}
		if r.counted {
			x.Calls = &n.calls
		}
		if r.isCaller(i) {
			x.Side = "caller"
		} else if r.callers > 0 && i > 0 {
			x.Side = "callee"
		}
		if n.parent >= 0 {
			up := n.parent + int32(r.zoom.first)
			x.Parent = &up
		}
		if r.against != nil {
			there := n.other * r.against.there
			x.Other = &there
		}
		if q, ok := r.spread(n); ok {
			x.Q02, x.Q25, x.Q50, x.Q75, x.Q98 = &q[0], &q[1], &q[2], &q[3], &q[4]
		}
		out[i] = x
	}
	return out
}

// spread returns the quantiles over calls or over locations, between two values in
// proportion.
func (r *result) spread(n *node) (q [5]float64, ok bool) {
	if r.measure() != callgraph.Totals {
		if n.each == nil {
			return q, false
		}
		return n.each.Box(), true
	}
	if n.values == nil || r.tree.locations == 0 {
		return q, false
	}
	sorted := slices.Clone(n.values)
	slices.Sort(sorted)
	zeros := max(r.tree.locations-len(sorted), 0)
	if r.tree.how != trace.JoinSum {
		zeros = 0 // who was not there has no maximum, rather than one of 0
	}
	negative, _ := slices.BinarySearch(sorted, 0)
	value := func(i int) float64 { // of the list with its zeros in place
		switch {
		case i < negative:
			return sorted[i]
		case i < negative+zeros:
			return 0
		}
		return sorted[min(i-zeros, len(sorted)-1)]
	}
	last := zeros + len(sorted) - 1
	for k, p := range quantiles {
		at := p * float64(last)
		i := int(math.Floor(at))
		q[k] = value(i) + (at-float64(i))*(value(min(i+1, last))-value(i))
	}
	return q, true
}

// Table has a row for each node, in preorder.
func (r *result) Table() *view.Table {
	unit := r.metric.ColumnUnit()
	if r.metric.Number == runfacts.NumberCalls {
		unit = "ns"
	}
	return view.TableOf(r.list(), map[string]string{"metric": unit}, nil).Entitle("share", r.base.Head())
}

// known is the region of a node as the run has it; NoRegion where only the other
// run does.
func (r *result) known(n *node) trace.RegionID {
	if int(n.region) >= len(r.request.Store().Regions()) {
		return trace.NoRegion
	}
	return n.region
}

// shareBase returns the base of all shares: of the whole tree, whatever part of it is shown.
func (r *result) shareBase(w store.Window, t *tree) view.Base {
	s := r.request.Store()
	if !s.Info().Timed() {
		return view.MetricBase(s.Metrics()[r.metric.ID].Name, r.metric.Unit, t.total())
	}
	recorded := 0.0
	for i := range t.nodes {
		recorded += t.nodes[i].exclusive
	}
	return view.TimeBase(s, w, runfacts.Chosen(s.Locations(), w.Locations, s.Locations().Holds), recorded)
}

// total returns the value of all roots together.
func (t *tree) total() float64 {
	if t.whole > 0 {
		return t.whole
	}
	var total runfacts.Joined
	for i := range t.nodes {
		if t.nodes[i].parent < 0 {
			total.Add(t.how, t.nodes[i].inclusive)
		}
	}
	return total.Value(t.how)
}
