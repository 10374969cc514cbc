package profile

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one region in the JSON twin. Mean, sd, min and max are of the metric,
// over the locations. CallMean is the mean exclusive value of the calls that begin in
// the window, at full length; null without calls.
type Row struct {
	ID        trace.RegionID `json:"id"`
	Region    string         `json:"region"`
	Category  string         `json:"category"`
	Role      string         `json:"role"`
	Calls     float64        `json:"calls"`
	Inclusive float64        `json:"inclusive"`
	Exclusive float64        `json:"exclusive"`
	Share     float64        `json:"share"`
	Mean      float64        `json:"mean"`
	SD        float64        `json:"sd"`
	Min       float64        `json:"min"`
	Max       float64        `json:"max"`
	CallMean  *float64       `json:"call_mean"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Locations int     `json:"locations"` // that hold values
	Total     float64 `json:"total"`     // what shares are of
	Rows      []Row   `json:"rows"`
}

func (r *result) Data() any {
	d := Data{Metric: r.metric.Name, Unit: r.metric.Unit, Locations: len(r.locations), Total: r.whole, Rows: make([]Row, len(r.rows))}
	for i, x := range r.rows {
		g := &r.regions[x.region]
		d.Rows[i] = Row{x.region, g.Name, g.Category, g.Role.String(), x.calls, x.inclusive, x.exclusive, x.share, x.mean, x.sd, x.min, x.max, x.call}
	}
	return d
}

// Table has the columns of the JSON twin.
func (r *result) Table() *view.Table {
	unit := r.metric.ColumnUnit()
	time := unit
	if r.metric.Number == view.NumberCalls {
		time = "ns"
	}
	t := &view.Table{
		Columns: []view.Column{{Name: "region"}, {Name: "category"}, {Name: "role"}, {Name: "calls", Unit: "count"}, {Name: "inclusive", Unit: time}, {Name: "exclusive", Unit: time},
			{Name: "share", Unit: "share"}, {Name: "mean", Unit: unit}, {Name: "sd", Unit: unit}, {Name: "min", Unit: unit}, {Name: "max", Unit: unit}, {Name: "call_mean", Unit: time}},
		Rows: make([][]any, len(r.rows)), Regions: make([]trace.RegionID, len(r.rows)),
	}
	for i, x := range r.rows {
		g := &r.regions[x.region]
		t.Rows[i] = []any{g.Name, g.Category, g.Role.String(), x.calls, x.inclusive, x.exclusive, x.share, x.mean, x.sd, x.min, x.max, nil}
		if x.call != nil {
			t.Rows[i][len(t.Columns)-1] = *x.call
		}
		t.Regions[i] = x.region
	}
	return t
}
