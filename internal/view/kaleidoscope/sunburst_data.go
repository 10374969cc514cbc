package kaleidoscope

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A PathNode is one call path of the JSON output.
type PathNode struct {
	ID     int32  `json:"id"`
	Parent *int32 `json:"parent"`
	Region string `json:"region"`
	Level  int32  `json:"level"`
	// Calls is null where the source does not count them.
	Calls     *float64 `json:"calls"`
	Inclusive float64  `json:"inclusive"`
	Exclusive float64  `json:"exclusive"`
	// Other is the inclusive value in the second run.
	Other *float64 `json:"other,omitempty"`
	Start float64  `json:"start"`
	Alloc float64  `json:"alloc"`
	// Through are the callers that hand on all they have, outermost first, and are drawn with it.
	Through []string `json:"through,omitempty"`
}

// A PathSector stands for call paths that are each less than a pixel wide.
type PathSector struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Paths int     `json:"paths"`
	Value float64 `json:"value"`
	Mix   []Share `json:"mix"`
}

// PathData is the "data" of the JSON output where call paths are drawn.
type PathData struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Total  float64 `json:"total"`
	// Other is the total of the second run.
	Other  *float64 `json:"other,omitempty"`
	Height int      `json:"height"`
	Ring   float64  `json:"ring"`
	// Paths is the number of paths with a value: those of nodes, the callers that these name, and those of merged.
	Paths  int          `json:"paths"`
	Nodes  []PathNode   `json:"nodes"`
	Merged []PathSector `json:"merged"`
}

func (r *sunburst) Data() any {
	d := PathData{Metric: r.whole.metric.Name, Unit: r.whole.metric.Unit, Total: r.whole.paths[0].inclusive,
		Height: r.outline.Height, Ring: r.ringAt(r.request.Size), Paths: len(r.whole.paths) - 1, Nodes: []PathNode{},
		Merged: []PathSector{}}
	if r.two() {
		d.Other = &r.whole.paths[0].other
	}
	if r.request.Values.Switch("all") {
		for i := range r.shown.paths {
			start, alloc := r.outline.Sector(int32(i))
			d.Nodes = append(d.Nodes, r.node(int32(i), start, alloc))
		}
		return d
	}
	r.look(r.request.Size)
	for k := range r.items {
		if it := &r.items[k]; it.Merged {
			d.Merged = append(d.Merged, r.sector(it))
		} else {
			d.Nodes = append(d.Nodes, r.node(it.First, it.Start, it.Alloc))
		}
	}
	return d
}

func (r *sunburst) node(i int32, start, alloc float64) PathNode {
	id := r.origin[i]
	p := &r.whole.paths[id]
	n := PathNode{ID: id, Region: r.nameOf(id), Level: r.outline.Level(i), Inclusive: p.inclusive,
		Exclusive: p.exclusive, Start: start, Alloc: alloc}
	if r.whole.counted {
		n.Calls = &p.calls
	}
	if r.two() {
		n.Other = &p.other
	}
	above := max(r.root, 0) - 1 // what is drawn above
	if up := r.shown.paths[i].parent; up >= 0 {
		above = r.origin[up]
		n.Parent = &above
	}
	for up := p.parent; up > above && up > 0; up = r.whole.paths[up].parent {
		n.Through = append(n.Through, r.nameOf(up))
	}
	slices.Reverse(n.Through)
	return n
}

// sector adds up the members of a merged sector.
func (r *sunburst) sector(it *invocation.Item) PathSector {
	sin, cos := math.Sincos((it.Start + it.Alloc/2) * math.Pi / 180)
	radius := (float64(it.Level) + 0.5) * r.ringAt(r.request.Size) /
		(float64(max(min(r.request.Size.Width, r.request.Size.Height), 1)) / 2)
	s := PathSector{X: radius * cos, Y: radius * sin, Paths: int(it.End - it.First), Mix: []Share{}}
	of := map[int32]float64{}
	for i := it.First; i < it.End; i++ {
		s.Value += r.own[i]
		of[r.shown.paths[i].region] += r.own[i]
	}
	ids := make([]int32, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	for _, id := range ids {
		if id >= 0 && s.Value > 0 {
			s.Mix = append(s.Mix, Share{r.whole.regions[id].Name, of[id] / s.Value})
		}
	}
	return s
}

// Table has a row for each path of the JSON output.
func (r *sunburst) Table() *view.Table {
	unit := r.whole.metric.ColumnUnit()
	t := &view.Table{Columns: []view.Column{{Name: "id"}, {Name: "parent"}, {Name: "region"},
		{Name: "level", Unit: "count"},
		{Name: "calls", Unit: "count"}, {Name: "inclusive", Unit: unit}, {Name: "exclusive", Unit: unit},
		{Name: "start"}, {Name: "alloc"}}, Rows: [][]any{}, Regions: []trace.RegionID{}}
	if r.two() {
		t.Columns = append(t.Columns, view.Column{Name: "other", Unit: unit})
	}
	d := r.Data().(PathData)
	own := int32(len(r.request.Store().Regions()))
	for i := range d.Nodes {
		n := &d.Nodes[i]
		var parent, calls any
		if n.Parent != nil {
			parent = int64(*n.Parent)
		}
		if n.Calls != nil {
			calls = *n.Calls
		}
		row := []any{int64(n.ID), parent, n.Region, int64(n.Level), calls, n.Inclusive, n.Exclusive, n.Start, n.Alloc}
		if n.Other != nil {
			row = append(row, *n.Other)
		}
		t.Rows = append(t.Rows, row)
		region := trace.NoRegion
		if id := r.whole.paths[n.ID].region; id >= 0 && id < own {
			region = trace.RegionID(id)
		}
		t.Regions = append(t.Regions, region)
	}
	return t
}
