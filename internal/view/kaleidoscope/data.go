package kaleidoscope

import (
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Node is one call of the JSON twin; x and y are pixels from the root.
type Node struct {
	ID       int32   `json:"id"`
	Parent   *int32  `json:"parent"`
	Region   string  `json:"region"`
	Location string  `json:"location"`
	Begin    int64   `json:"begin"`
	Level    int32   `json:"level"`
	Ring     int32   `json:"ring"`
	Weight   float64 `json:"weight"`
	Start    float64 `json:"start"`
	Alloc    float64 `json:"alloc"`
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	Height    int    `json:"height"`
	HMax      int    `json:"hmax"`
	C0        int    `json:"c0"`        // 0: no level is condensed
	Threshold int    `json:"threshold"` // the level up to which every c0-th is drawn
	Ring      int    `json:"ring"`
	Calls     int    `json:"calls"`
	Nodes     []Node `json:"nodes"`
}

func (r *result) Data() any {
	d := Data{Height: r.height, HMax: r.hmax, C0: r.condensing.C0, Threshold: r.condensing.T, Ring: r.ring, Calls: r.forest.calls.Len(), Nodes: []Node{}}
	r.each(func(i int) { d.Nodes = append(d.Nodes, r.nodeData(i)) })
	return d
}

// each calls f for the nodes that are drawn, or with --all for all of them.
func (r *result) each(f func(i int)) {
	all := r.request.Values.Switch("all")
	for i, drawn := range r.drawn {
		if (all || drawn) && r.forest.calls.Begin[r.node(i)] <= r.until {
			f(i)
		}
	}
}

func (r *result) nodeData(i int) Node {
	c := r.call(i)
	x, y := r.layout.At(i, float64(r.ring))
	n := Node{ID: r.node(i), Begin: int64(c.Begin), Level: r.forest.level[r.node(i)], Ring: r.layout.Level[i], Weight: r.layout.Weight[i],
		Start: r.layout.Start[i], Alloc: r.layout.Alloc[i], X: x, Y: y}
	if p := r.layout.Tree.Parent[i]; p >= 0 {
		up := r.node(int(p))
		n.Parent = &up
	}
	if c.Region != trace.NoRegion {
		n.Region = r.request.Store().Regions()[c.Region].Name
		n.Location = r.request.Store().Locations().Path(c.Location)
	}
	return n
}

// call of a node as drawn.
func (r *result) call(i int) invocation.Call { return r.forest.calls.At(r.node(i)) }

// Table has a row for each node of the JSON twin.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "id"}, {Name: "parent"}, {Name: "region"}, {Name: "location"}, {Name: "begin", Unit: "ns"}, {Name: "level", Unit: "count"},
		{Name: "ring", Unit: "count"}, {Name: "weight"}, {Name: "start"}, {Name: "alloc"}}, Rows: [][]any{}, Locations: []trace.LocationID{}, Regions: []trace.RegionID{}}
	r.each(func(i int) {
		n := r.nodeData(i)
		parent := any(nil)
		if n.Parent != nil {
			parent = int64(*n.Parent)
		}
		t.Rows = append(t.Rows, []any{int64(n.ID), parent, n.Region, n.Location, n.Begin, int64(n.Level), int64(n.Ring), n.Weight, n.Start, n.Alloc})
		t.Locations = append(t.Locations, r.call(i).Location)
		t.Regions = append(t.Regions, r.call(i).Region)
	})
	return t
}

// reach is how far from a node it is still picked, in pixels.
const reach = 24

// Pick gives the node nearest to a place.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	best, near := -1, float64(reach*reach)
	for k, p := range r.places {
		if d := (p.x-x)*(p.x-x) + (p.y-y)*(p.y-y); d < near {
			best, near = k, d
		}
	}
	if best < 0 || math.IsNaN(near) {
		return view.Fact{}, false
	}
	return r.fact(int(r.places[best].node)), true
}

func (r *result) fact(i int) view.Fact {
	c, s := r.call(i), r.request.Store()
	if c.Region == trace.NoRegion {
		calls := int64(r.forest.calls.Len() - 1)
		return view.Fact{Title: "all", Text: "The root stands above calls that nobody made.", Count: calls,
			Lines: []view.FactLine{{Label: "calls", Value: view.Thousands(calls)}}}
	}
	g := &s.Regions()[c.Region]
	begin, end := c.Begin, c.End
	f := view.Fact{Title: g.Name, Locations: []trace.LocationID{c.Location}, Regions: []trace.RegionID{c.Region}, Begin: &begin, End: &end,
		Row: &store.Row{Location: c.Location, Lane: int(c.Lane), Row: int(c.Row)}, Open: map[string]string{"root": strconv.Itoa(int(r.node(i)))}}
	line := func(label, value, exact string) {
		f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: exact})
	}
	line("location", s.Locations().Path(c.Location), "")
	line("begin", view.FormatTime(c.Begin), strconv.FormatInt(int64(c.Begin), 10))
	line("duration", view.FormatTime(c.End-c.Begin), strconv.FormatInt(int64(c.End-c.Begin), 10))
	line("path", r.path(r.node(i)), "")
	line("weight", strconv.FormatFloat(r.layout.Weight[i], 'f', 0, 64), "")
	line("sector", strconv.FormatFloat(r.layout.Start[i], 'f', 2, 64)+"° and "+strconv.FormatFloat(r.layout.Alloc[i], 'f', 2, 64)+"° wide", "")
	line("node", strconv.Itoa(int(r.node(i))), "")
	if g.File != "" {
		line("source", g.File+":"+strconv.Itoa(g.Line), "")
	}
	return f
}

// path is the names of the callers, outermost first; the middle of a long one is left out.
func (r *result) path(i int32) string {
	var names []string
	for ; i >= 0; i = r.forest.calls.Tree.Parent[i] {
		if region := r.forest.calls.Region[i]; region != trace.NoRegion {
			names = append(names, r.request.Store().Regions()[region].Name)
		}
	}
	s := ""
	for k := len(names) - 1; k >= 0; k-- {
		if len(names) > 12 && k == len(names)-6 {
			s += " → …"
			k = 6
		}
		if s != "" {
			s += " → "
		}
		s += names[k]
	}
	return s
}
