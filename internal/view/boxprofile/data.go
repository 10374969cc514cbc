package boxprofile

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

var boxLevels = quantile.Box

// quantileOf is quantile.OfSorted for metrics that are no whole numbers.
func quantileOf(sorted []float64, q float64) float64 {
	h := float64(len(sorted)-1) * q
	i := int(h)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// A Row is one box in the JSON twin. Over locations the location is null, count
// is how many have the region, and total is over all of them.
type Row struct {
	Region   string            `json:"region" unit:""`
	Run      string            `json:"run,omitempty"` // of two; the path is the same
	Location *trace.LocationID `json:"location" about:"location"`
	Path     string            `json:"path" unit:""`
	Count    float64           `json:"count" unit:"count" write:"whole"`
	Total    float64           `json:"total" unit:"metric" write:"whole"`
	Min      float64           `json:"min" unit:"metric" write:"whole"`
	Max      float64           `json:"max" unit:"metric" write:"whole"`
	Mean     float64           `json:"mean" unit:"metric" write:"whole"`
	SD       float64           `json:"sd" unit:"metric" write:"whole"`
	Q02      float64           `json:"q02" unit:"metric" write:"whole"`
	Q25      float64           `json:"q25" unit:"metric" write:"whole"`
	Q50      float64           `json:"q50" unit:"metric" write:"whole"`
	Q75      float64           `json:"q75" unit:"metric" write:"whole"`
	Q98      float64           `json:"q98" unit:"metric" write:"whole"`
	// Exact quantiles are of the calls themselves; others are within 1 %.
	Exact bool `json:"exact"`
	// Heaps are where values pile up, where there is more than one such place.
	Heaps []float64      `json:"heaps,omitempty"`
	ID    trace.RegionID `json:"-" about:"region"`
}

// A Group is locations drawn in one colour, or as one box.
type Group struct {
	ID      int                `json:"id"`
	Name    string             `json:"name"`
	Members []trace.LocationID `json:"members"`
	Boxes   []Row              `json:"boxes"` // where locations are not drawn one by one
}

// A RegionOrder says where a region comes and why.
type RegionOrder struct {
	Region    string  `json:"region"`
	Calls     float64 `json:"calls"`
	Total     float64 `json:"total"`
	Locations int     `json:"locations"` // that call it
	Differs   float64 `json:"differs"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	Metric    string        `json:"metric"`
	Unit      string        `json:"unit"`
	Over      string        `json:"over"`
	Locations int           `json:"locations"`
	Overlap   int64         `json:"overlapping"` // calls open when the window begins, in no box
	Rows      []Row         `json:"rows"`
	Regions   []RegionOrder `json:"regions"`
	Groups    []Group       `json:"groups"`
}

// regionID is the region of a node; NoRegion where the second run alone has it.
func (r *result) regionID(node int32) trace.RegionID {
	if ids := r.nodes[node].Regions; len(ids) > 0 {
		return ids[0]
	}
	return trace.NoRegion
}

func (r *result) rowOf(x *callgraph.Row) Row {
	out := Row{
		Region: r.nodes[x.Callee].Name, ID: r.regionID(x.Callee), Count: x.Count, Total: r.value(x), Min: x.Min,
		Max: x.Max, Mean: x.Mean, SD: x.Deviation,
		Q02: x.Box[0], Q25: x.Box[1], Q50: x.Box[2], Q75: x.Box[3], Q98: x.Box[4], Exact: x.Exact,
	}
	if math.IsNaN(out.SD) {
		out.SD = 0
	}
	if h := heapsOf(x); len(h) > 1 {
		out.Heaps = h
	}
	return out
}

// Data has a row for each region and location with calls, regions in their order.
func (r *result) Data() any {
	d := Data{Metric: r.metric, Unit: r.unit, Over: r.over, Locations: len(r.locations), Overlap: r.overlap,
		Rows: r.list(), Regions: []RegionOrder{}, Groups: []Group{}}
	for k := range r.regions {
		g := &r.regions[k]
		d.Regions = append(d.Regions, RegionOrder{r.nodes[g.node].Name, g.calls, g.total, len(g.rows), g.differs})
	}
	if r.groups != nil {
		for k, members := range r.groups.Members {
			g := Group{ID: r.number(k), Name: r.groupName(k), Members: []trace.LocationID{}, Boxes: []Row{}}
			for _, m := range members {
				g.Members = append(g.Members, r.locations[m])
			}
			for i := range r.groupRows {
				if x := &r.groupRows[i]; int(x.Owner) == k {
					g.Boxes = append(g.Boxes, r.rowOf(x))
				}
			}
			d.Groups = append(d.Groups, g)
		}
	}
	return d
}

// list has all boxes in the order of regions, then locations.
func (r *result) list() []Row {
	out := []Row{}
	for k := range r.regions {
		g := &r.regions[k]
		if r.overAll() {
			x := r.overRow(g)
			row := r.rowOf(&x)
			row.Total, row.ID = g.total, r.regionID(g.node)
			out = append(out, row)
			continue
		}
		for _, i := range g.rows {
			row := r.rowOf(&r.rows[i])
			if r.pair {
				row.Run, row.Path = r.names[r.rows[i].Owner], r.names[r.rows[i].Owner]
				out = append(out, row)
				continue
			}
			id := r.locations[r.rows[i].Owner]
			row.Location, row.Path = &id, r.tree.Path(id)
			out = append(out, row)
		}
	}
	return out
}

// Table is the same as rows.
func (r *result) Table() *view.Table {
	return view.TableOf(r.list(), map[string]string{"metric": r.unit}, nil)
}
