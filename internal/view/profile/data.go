package profile

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one region in the JSON output. Mean, sd, min and max are of the metric,
// over the locations. CallMean is the mean exclusive value of the calls that begin in
// the window, at full length; null without calls. Calls are null if the source does not count them. Share is
// of Data.Whole.
type Row struct {
	ID        trace.RegionID `json:"id" about:"region"`
	Region    string         `json:"region" unit:""`
	Category  string         `json:"category" unit:""`
	Role      string         `json:"role" unit:""`
	Calls     *float64       `json:"calls" unit:"count"`
	Inclusive float64        `json:"inclusive" unit:"time"`
	Exclusive float64        `json:"exclusive" unit:"time"`
	Share     float64        `json:"share" unit:"share"`
	Mean      float64        `json:"mean" unit:"metric"`
	SD        float64        `json:"sd" unit:"metric"`
	Min       float64        `json:"min" unit:"metric"`
	Max       float64        `json:"max" unit:"metric"`
	CallMean  *float64       `json:"call_mean" unit:"time"`
	// ShareOfRecorded is the part of Data.Total.
	ShareOfRecorded float64 `json:"share_of_recorded"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Locations int     `json:"locations"` // that hold values
	Total     float64 `json:"total"`     // of all regions: exclusive, or calls
	Whole     float64 `json:"whole"`     // base of shares
	ShareOf   string  `json:"share_of"`  // the same in words
	Rows      []Row   `json:"rows"`
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	return Data{Metric: r.metric.Name, Unit: r.metric.Unit, Locations: len(r.locations), Total: r.total,
		Whole: r.base.Whole, ShareOf: r.base.Name, Rows: r.list()}
}

func (r *result) list() []Row {
	out := make([]Row, len(r.rows))
	for i, x := range r.rows {
		g := &r.regions[x.region]
		var calls *float64
		if r.counted {
			calls = &x.calls
		}
		out[i] = Row{x.region, g.Name, g.Category, g.Role.String(), calls, x.inclusive, x.exclusive, x.share, x.mean,
			x.sd, x.min, x.max, x.call, x.ofRecorded}
	}
	return out
}

// Table has the columns of the JSON output.
func (r *result) Table() *view.Table {
	units := map[string]string{"metric": r.metric.ColumnUnit(), "time": r.metric.ColumnUnit()}
	if r.metric.Number == runfacts.NumberCalls {
		units["time"] = "ns"
	}
	return view.TableOf(r.list(), units, nil).Entitle("share", r.base.Head())
}
