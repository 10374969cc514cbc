package callmatrix

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Cell is one slice of one square in the JSON output; caller "" is the virtual root.
// Over locations the location is null and count is how many locations make the call.
// Quantiles are null for calls that only the static closure claims.
type Cell struct {
	Caller   string            `json:"caller" unit:""`
	Callee   string            `json:"callee" unit:""`
	Region   trace.RegionID    `json:"-" about:"region"` // of the callee
	Location *trace.LocationID `json:"location" about:"location"`
	Path     string            `json:"path" unit:""`
	Count    float64           `json:"count" unit:"count" write:"whole"`
	Total    float64           `json:"total" unit:"metric" write:"whole"`
	Mean     *float64          `json:"mean" unit:"metric" write:"whole"`
	SD       *float64          `json:"sd" unit:"metric" write:"whole"`
	Min      *float64          `json:"min" unit:"metric" write:"whole"`
	Max      *float64          `json:"max" unit:"metric" write:"whole"`
	Q02      *float64          `json:"q02" unit:"metric" write:"whole"`
	Q25      *float64          `json:"q25" unit:"metric" write:"whole"`
	Q50      *float64          `json:"q50" unit:"metric" write:"whole"`
	Q75      *float64          `json:"q75" unit:"metric" write:"whole"`
	Q98      *float64          `json:"q98" unit:"metric" write:"whole"`
	Exact    bool              `json:"exact"`
	// Cut calls began before the window and are in no other number of the cell; CutTime is their time in it, by
	// --metric exclusive without their callees.
	Cut     float64 `json:"cut" unit:"count" write:"whole"`
	CutTime float64 `json:"cut_time" unit:"time" write:"whole"`
}

// A Group is locations that behave alike.
type Group struct {
	ID             int                `json:"id"`
	Members        []trace.LocationID `json:"members"`
	Representative trace.LocationID   `json:"representative"`
}

// A Similarity compares locations each with each, rows in the order of Locations.
type Similarity struct {
	By        string             `json:"by"`
	Locations []trace.LocationID `json:"locations"`
	Values    [][]float32        `json:"values"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Metric     string     `json:"metric"`
	Unit       string     `json:"unit"`
	Over       string     `json:"over"`
	Closure    string     `json:"closure"`
	Overlap    int64      `json:"overlapping"` // calls open when the window begins, whichever regions are chosen
	Callees    int        `json:"callees"`     // how many regions are called, and in how many pairs
	Pairs      int        `json:"pairs"`
	Cells      []Cell     `json:"cells"`
	Groups     []Group    `json:"groups"`
	Others     int        `json:"other_groups"` // that share the last slice of squares
	Similarity Similarity `json:"similarity"`
}

// mostCompared bounds the similarity in the twin; the view groups gives more.
const mostCompared = 128

// Data implements view.Result.
func (r *result) Data() any { return r.data(r.list(math.MaxInt)) }

// Start implements view.Starter.
func (r *result) Start(most int) (any, map[string]int) {
	if r.late == nil || len(r.cuts) > 0 {
		return r.Data(), nil
	}
	return r.data(r.list(most)), map[string]int{"cells": r.late.Len() + len(r.static)}
}

// Rows implements view.Lister.
func (r *result) Rows() int { return len(r.rows) + r.late.Len() + len(r.cuts) + len(r.static) }

// Failed implements view.Late.
func (r *result) Failed() error { return r.late.Failed() }

func (r *result) data(cells []Cell) Data {
	d := Data{Metric: r.metric, Unit: r.unit, Over: r.over, Closure: r.request.Values.Text("closure"),
		Overlap: r.overlap, Callees: len(r.callees), Pairs: len(r.pairs), Cells: cells, Groups: []Group{},
		Others: r.otherGroups,
		Similarity: Similarity{By: r.request.Values.Text("similarity"), Locations: []trace.LocationID{},
			Values: [][]float32{}}}
	for k, members := range r.groups.Members {
		g := Group{ID: k, Members: []trace.LocationID{}, Representative: r.locations[r.groups.Medoid[k]]}
		for _, m := range members {
			g.Members = append(g.Members, r.locations[m])
		}
		d.Groups = append(d.Groups, g)
	}
	if n := len(r.groups.Sampled); n <= mostCompared {
		for i, m := range r.groups.Sampled {
			d.Similarity.Locations = append(d.Similarity.Locations, r.locations[m])
			d.Similarity.Values = append(d.Similarity.Values, r.groups.Similarity[i*n:(i+1)*n])
		}
	}
	return d
}

func (r *result) cell(key callgraph.Pair) Cell {
	return Cell{Caller: r.name(key.Caller), Callee: r.name(key.Callee), Region: r.nodes[key.Callee].Regions[0]}
}

// cellOf is a cell of a location.
func (r *result) cellOf(key callgraph.Pair, owner int32) Cell {
	c := r.cell(key)
	id := r.locations[owner]
	c.Location, c.Path = &id, r.tree.Path(id)
	return c
}

func (c *Cell) setCut(x *callgraph.Cut) {
	if x != nil {
		c.Cut, c.CutTime = x.Count, x.Time
	}
}

// A cellKey names a cell.
type cellKey struct {
	owner int32
	callgraph.Pair
}

// setRow takes the numbers of calls.
func (c *Cell) setRow(x *callgraph.Row, total float64, box [5]float64) {
	c.Count, c.Total, c.Exact = x.Count, total, x.Exact
	c.Mean, c.SD, c.Min, c.Max = view.Defined(x.Mean), view.Defined(x.Deviation), view.Defined(x.Min),
		view.Defined(x.Max)
	c.Q02, c.Q25, c.Q50, c.Q75, c.Q98 = view.Defined(box[0]), view.Defined(box[1]), view.Defined(box[2]),
		view.Defined(box[3]),
		view.Defined(box[4])
}

// list has pairs and locations, whatever is drawn: at least the first, so many as are wanted.
func (r *result) list(most int) []Cell {
	rows := r.rows
	if r.late != nil {
		rows = r.late.First(most)
	}
	out := []Cell{}
	if r.over == "locations" {
		out = r.overPairs()
	} else {
		cuts := map[cellKey]*callgraph.Cut{}
		for i := range r.cuts {
			cuts[cellKey{r.cuts[i].Owner, r.cuts[i].Pair}] = &r.cuts[i]
		}
		out = make([]Cell, 0, len(rows))
		for i := range rows {
			x := &rows[i]
			c := r.cellOf(x.Pair, x.Owner)
			key := cellKey{x.Owner, x.Pair}
			c.setCut(cuts[key])
			delete(cuts, key)
			c.setRow(x, r.value(x), r.box(x))
			out = append(out, c)
		}
		for i := range r.cuts {
			if x := &r.cuts[i]; cuts[cellKey{x.Owner, x.Pair}] != nil {
				c := r.cellOf(x.Pair, x.Owner)
				c.setCut(x)
				out = append(out, c)
			}
		}
	}
	for _, key := range r.static {
		out = append(out, r.cell(key))
	}
	return out
}

// overPairs has the boxes over locations.
func (r *result) overPairs() []Cell {
	out := []Cell{}
	values := map[callgraph.Pair]bool{}
	for _, key := range r.static {
		values[key] = true
	}
	for _, key := range r.sortedPairs() {
		if values[key] {
			continue
		}
		c := r.cell(key)
		c.Cut, c.CutTime = r.pairs[key].Cut, r.pairs[key].CutTime
		if x := r.overLocations(key); x != nil {
			c.setRow(x, r.pairs[key].Total, x.Box)
		}
		out = append(out, c)
	}
	return out
}

// Table is the same as cells.
func (r *result) Table() *view.Table {
	return view.TableOf(r.list(math.MaxInt), map[string]string{"metric": r.unit, "time": r.cutUnit()}, nil)
}

// number writes integers as such, and undefined values as nothing.
func number(v *float64) any {
	switch {
	case v == nil:
		return nil
	case *v == math.Trunc(*v) && math.Abs(*v) < 1<<53:
		return int64(*v)
	}
	return *v
}
