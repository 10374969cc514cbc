package histogram

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Bin is a range of values [low, high) in the JSON output; the last holds its end too.
type Bin struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Count int     `json:"count"`
}

// A Point is one location; without a value it is null.
type Point struct {
	Location trace.LocationID `json:"location" about:"location"`
	Path     string           `json:"path" unit:""`
	Rank     *int             `json:"rank" unit:""`
	Value    *float64         `json:"value" unit:"measure"`
	Bin      *int             `json:"bin" unit:""`
}

// Data is the "data" of the JSON output.
type Data struct {
	Measure   string  `json:"measure"`
	Unit      string  `json:"unit"`
	Locations int     `json:"locations"` // with a value
	Min       float64 `json:"min"`
	Q25       float64 `json:"q25"`
	Median    float64 `json:"median"`
	Q75       float64 `json:"q75"`
	Max       float64 `json:"max"`
	Mean      float64 `json:"mean"`
	SD        float64 `json:"sd"`
	Bins      []Bin   `json:"bins"`
	Points    []Point `json:"points"`
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	d := Data{Measure: r.measure.Label, Unit: r.measure.Unit, Locations: r.have, Min: r.min, Q25: r.quartile[0],
		Median: r.quartile[1], Q75: r.quartile[2], Max: r.max, Mean: r.mean, SD: r.sd,
		Bins: make([]Bin, len(r.bins)), Points: r.points()}
	for i, b := range r.bins {
		d.Bins[i] = Bin{b.low, b.high, b.count}
	}
	return d
}

// points has each location, in order.
func (r *result) points() []Point {
	out := make([]Point, len(r.order))
	tree := r.request.Store().Locations()
	for k, i := range r.order {
		id := r.locations[i]
		out[k] = Point{Location: id, Path: tree.Path(id), Rank: runfacts.RankOf(tree, id),
			Value: view.Defined(r.values[i])}
		if b := int(r.binOf[i]); b >= 0 {
			out[k].Bin = &b
		}
	}
	return out
}

// Table has a row for each location.
func (r *result) Table() *view.Table {
	return view.TableOf(r.points(), map[string]string{"measure": r.measure.ColumnUnit()}, nil)
}
