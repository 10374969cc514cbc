package calltree

import (
	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
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

func (r *result) Data() any {
	d := Data{Over: r.request.Values.Text("over"), Metric: r.metric.Name, Unit: r.metric.Unit,
		Direction: r.request.Values.Text("direction"), Locations: r.tree.Locations, Total: r.total, Whole: r.base.Whole,
		ShareOf: r.base.Name, Nodes: r.list()}
	if r.sides.against != nil {
		d.Against = r.sides.against.name
	}
	return d
}

// Rows implements view.Lister: a node takes little here, and much once it is written out.
func (r *result) Rows() int { return len(r.tree.Nodes) }

func (r *result) list() []Node {
	out := make([]Node, len(r.tree.Nodes))
	for i := range r.tree.Nodes {
		n := &r.tree.Nodes[i]
		x := Node{ID: i + r.zoom.first, Region: r.tree.Name(n), RegionID: n.Region, Known: r.known(n),
			Share: r.base.Share(n.Inclusive), Depth: int(n.Depth), Inclusive: n.Inclusive, Exclusive: n.Exclusive,
			Delta: r.sides.delta(n)}
		if r.counted {
			x.Calls = &n.Calls
		}
		if r.isCaller(i) {
			x.Side = "caller"
		} else if r.callers > 0 && i > 0 {
			x.Side = "callee"
		}
		if n.Parent >= 0 {
			up := n.Parent + int32(r.zoom.first)
			x.Parent = &up
		}
		if r.sides.against != nil {
			there := n.Other * r.sides.against.there
			x.Other = &there
		}
		if q, ok := r.tree.Quantiles(n); ok {
			x.Q02, x.Q25, x.Q50, x.Q75, x.Q98 = &q[0], &q[1], &q[2], &q[3], &q[4]
		}
		out[i] = x
	}
	return out
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
func (r *result) known(n *pathtree.Node) trace.RegionID {
	if int(n.Region) >= len(r.request.Store().Regions()) {
		return trace.NoRegion
	}
	return n.Region
}

// shareBase returns the base of all shares: of the whole tree, whatever part of it is shown.
func shareBase(q *view.Request, metric runfacts.MetricChoice, w store.Window, t *pathtree.Tree) view.Base {
	s := q.Store()
	if !s.Info().Timed() {
		return view.MetricBase(s.Metrics()[metric.ID].Name, metric.Unit, t.Total())
	}
	recorded := 0.0
	for i := range t.Nodes {
		recorded += t.Nodes[i].Exclusive
	}
	return view.TimeBase(s, w, runfacts.Chosen(s.Locations(), w.Locations, s.Locations().Holds), recorded)
}
