package landscape

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Point is one region on one location in the JSON output, or on several where there
// are too many: then value is their mean.
type Point struct {
	Region   string           `json:"region" unit:""`
	Location trace.LocationID `json:"location" about:"location"` // the first
	Path     string           `json:"path" unit:""`
	Count    int              `json:"count" table:"locations" unit:"count"`
	Value    float64          `json:"value" unit:"metric"`
	Min      float64          `json:"min" unit:"metric"`
	Max      float64          `json:"max" unit:"metric"`
	ID       trace.RegionID   `json:"-" about:"region"`
}

// A Region is one row of the landscape; mean and sd are of a location.
type Region struct {
	ID    trace.RegionID `json:"id"`
	Name  string         `json:"name"`
	Value float64        `json:"value"`
	Mean  float64        `json:"mean"`
	SD    float64        `json:"sd"`
}

// Data is the "data" of the JSON output. Points without a value are left out: they are 0.
type Data struct {
	Metric    string   `json:"metric"`
	Unit      string   `json:"unit"`
	Locations int      `json:"locations"`
	Regions   []Region `json:"regions"`
	Points    []Point  `json:"points"`
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	d := Data{Metric: r.metric.Name, Unit: r.metric.Unit, Locations: len(r.locations),
		Regions: make([]Region, len(r.rows)), Points: r.points()}
	for i := range r.rows {
		x := &r.rows[i]
		d.Regions[i] = Region{x.region, r.regions[x.region].Name, x.value, x.mean, x.spread}
	}
	return d
}

// points are those that have a value, region by region.
func (r *result) points() []Point {
	out := []Point{}
	tree := r.request.Store().Locations()
	paths := make([]string, r.columns)
	for i := range r.rows {
		x := &r.rows[i]
		for c, n := range x.have {
			if n == 0 {
				continue
			}
			first, last := r.members(c)
			id := r.locations[first]
			if paths[c] == "" {
				paths[c] = tree.Path(id)
			}
			out = append(out,
				Point{r.regions[x.region].Name, id, paths[c], last - first, r.mean(x, c), x.low[c], x.high[c],
					x.region})
		}
	}
	return out
}

// mean of a column's locations; exact where it is one.
func (r *result) mean(x *row, c int) float64 {
	first, last := r.members(c)
	return x.sum[c] / float64(last-first)
}

// Table has the points of the JSON output.
func (r *result) Table() *view.Table {
	return view.TableOf(r.points(), map[string]string{"metric": r.metric.ColumnUnit()}, nil)
}
