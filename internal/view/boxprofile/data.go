package boxprofile

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one box in the JSON output. Over locations the location is null, count
// is how many have the region, and total is over all of them.
type Row struct {
	Region   string            `json:"region" unit:""`
	Run      string            `json:"run,omitempty"` // of two; the path is the same
	Location *trace.LocationID `json:"location" about:"location"`
	Path     string            `json:"path" unit:""`
	Count    float64           `json:"count" unit:"count" write:"whole"`
	Total    float64           `json:"total" unit:"metric" write:"whole"`
	// Numbers of calls are null if all began before the window.
	Min  *float64 `json:"min" unit:"metric" write:"whole"`
	Max  *float64 `json:"max" unit:"metric" write:"whole"`
	Mean *float64 `json:"mean" unit:"metric" write:"whole"`
	SD   *float64 `json:"sd" unit:"metric" write:"whole"`
	Q02  *float64 `json:"q02" unit:"metric" write:"whole"`
	Q25  *float64 `json:"q25" unit:"metric" write:"whole"`
	Q50  *float64 `json:"q50" unit:"metric" write:"whole"`
	Q75  *float64 `json:"q75" unit:"metric" write:"whole"`
	Q98  *float64 `json:"q98" unit:"metric" write:"whole"`
	// Cut calls began before the window and are in no other number of the row; CutTime is their time in it, by
	// --metric exclusive without their callees.
	Cut     float64 `json:"cut" unit:"count" write:"whole"`
	CutTime float64 `json:"cut_time" unit:"time" write:"whole"`
	// Exact quantiles are of the calls themselves; others are within 1 %.
	Exact bool `json:"exact"`
	// Modes are the modes of the distribution, where it has several.
	Modes []float64      `json:"modes,omitempty"`
	Heaps []float64      `json:"heaps,omitempty"` // as modes, their name in the release before
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
	Cut       float64 `json:"cut"` // calls that began before the window
}

// Data is the "data" of the JSON output.
type Data struct {
	Metric    string        `json:"metric"`
	Unit      string        `json:"unit"`
	Over      string        `json:"over"`
	Locations int           `json:"locations"`
	Overlap   int64         `json:"overlapping"` // calls open when the window begins, whichever regions are chosen
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

// rowOf is a box; x is nil if all its calls began before the window, and cut if none did.
func (r *result) rowOf(node int32, x *callgraph.Row, cut *callgraph.Cut) Row {
	out := Row{Region: r.nodes[node].Name, ID: r.regionID(node)}
	if cut != nil {
		out.Cut, out.CutTime = cut.Count, cut.Time
	}
	if x == nil {
		return out
	}
	sd := x.Deviation
	if math.IsNaN(sd) {
		sd = 0
	}
	out.Count, out.Total, out.Exact = x.Count, r.value(x), x.Exact
	out.Min, out.Max, out.Mean, out.SD = &x.Min, &x.Max, &x.Mean, &sd
	out.Q02, out.Q25, out.Q50, out.Q75, out.Q98 = &x.Box[0], &x.Box[1], &x.Box[2], &x.Box[3], &x.Box[4]
	if h := modesOf(x); len(h) > 1 {
		out.Modes, out.Heaps = h, h
	}
	return out
}

// Data has a row for each region and location with calls, regions in their order.
func (r *result) Data() any { return r.data(math.MaxInt) }

// Start implements view.Starter.
func (r *result) Start(most int) (any, map[string]int) {
	if r.late == nil || len(r.cuts) > 0 {
		return r.Data(), nil
	}
	n := 0
	for k := range r.regions {
		n += len(r.regions[k].Owners)
	}
	return r.data(most), map[string]int{"rows": n}
}

// Rows implements view.Lister.
func (r *result) Rows() int { return len(r.rows) + r.late.Len() + len(r.cuts) }

// Failed implements view.Late.
func (r *result) Failed() error { return r.late.Failed() }

// data has at least the first rows, so many as are wanted.
func (r *result) data(most int) Data {
	d := Data{Metric: r.metric, Unit: r.unit, Over: r.over, Locations: len(r.locations), Overlap: r.overlap,
		Rows: r.list(most), Regions: []RegionOrder{}, Groups: []Group{}}
	for k := range r.regions {
		g := &r.regions[k]
		d.Regions = append(d.Regions,
			RegionOrder{r.nodes[g.Callee].Name, g.Calls, g.Total, len(g.Owners), g.Moved, g.Cut})
	}
	if r.groups != nil {
		for k, members := range r.groups.Members {
			g := Group{ID: r.number(k), Name: r.groupName(k), Members: []trace.LocationID{}, Boxes: []Row{}}
			for _, m := range members {
				g.Members = append(g.Members, r.locations[m])
			}
			g.Boxes = r.groupBoxes(g.Boxes, int32(k))
			d.Groups = append(d.Groups, g)
		}
	}
	return d
}

// groupBoxes appends the boxes of a group, those of cut calls alone last.
func (r *result) groupBoxes(out []Row, group int32) []Row {
	met := map[int32]bool{}
	for i := range r.groupRows {
		if x := &r.groupRows[i]; x.Owner == group {
			met[x.Callee] = true
			out = append(out, r.rowOf(x.Callee, x, r.groupCutAt[cutKey{x.Callee, group}]))
		}
	}
	for i := range r.groupCuts {
		if x := &r.groupCuts[i]; x.Owner == group && !met[x.Callee] {
			out = append(out, r.rowOf(x.Callee, nil, x))
		}
	}
	return out
}

// list has boxes in the order of regions, then locations: the first, or all.
func (r *result) list(most int) []Row {
	out := []Row{}
	rowsOf := func(g *region) []int32 { return g.Rows }
	rows := r.rows
	if r.late != nil {
		rows, rowsOf = r.read(most)
	}
	if !r.overAll() {
		out = make([]Row, 0, len(rows))
	}
	for k := range r.regions {
		g := &r.regions[k]
		if r.overAll() {
			row := r.rowOf(g.Callee, r.overRow(g), r.overCuts(g.Callee))
			row.Total = g.Total
			out = append(out, row)
			continue
		}
		at := make([]*callgraph.Row, len(r.locations))
		for _, i := range rowsOf(g) {
			at[rows[i].Owner] = &rows[i]
		}
		for owner, x := range at {
			cut := r.cutAt[cutKey{g.Callee, int32(owner)}]
			if x == nil && cut == nil {
				continue
			}
			row := r.rowOf(g.Callee, x, cut)
			if r.pair {
				row.Run, row.Path = r.names[owner], r.names[owner]
			} else {
				id := r.locations[owner]
				row.Location, row.Path = &id, r.tree.Path(id)
			}
			out = append(out, row)
		}
	}
	return out
}

// read reads the rows that stayed in the store: those of the locations that the first boxes are of, or all.
func (r *result) read(most int) (rows []callgraph.Row, of func(*region) []int32) {
	var owners []int32
	if most < math.MaxInt {
		wanted := make([]bool, len(r.locations))
		for k := range r.regions {
			some := r.regions[k].Owners
			some = some[:min(len(some), most)]
			most -= len(some)
			for _, owner := range some {
				wanted[owner] = true
			}
		}
		for owner, in := range wanted {
			if in {
				owners = append(owners, int32(owner))
			}
		}
	}
	rows = r.late.Read(owners)
	by := map[int32][]int32{}
	for i := range rows {
		by[rows[i].Callee] = append(by[rows[i].Callee], int32(i))
	}
	return rows, func(g *region) []int32 { return by[g.Callee] }
}

// Table is the same as rows.
func (r *result) Table() *view.Table {
	return view.TableOf(r.list(math.MaxInt), map[string]string{"metric": r.unit, "time": r.cutUnit()}, nil)
}
