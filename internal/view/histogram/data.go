package histogram

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Bin is a range of values [low, high) in the JSON twin; the last holds its end too.
type Bin struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Count int     `json:"count"`
}

// A Point is one location; without a value it is null.
type Point struct {
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Rank     *int             `json:"rank"`
	Value    *float64         `json:"value"`
	Bin      *int             `json:"bin"`
}

// Data is the "data" of the JSON twin.
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

func (r *result) Data() any {
	d := Data{Measure: r.measure.Label, Unit: r.measure.Unit, Locations: r.have, Min: r.min, Q25: r.quartile[0], Median: r.quartile[1], Q75: r.quartile[2], Max: r.max, Mean: r.mean, SD: r.sd,
		Bins: make([]Bin, len(r.bins)), Points: make([]Point, 0, len(r.order))}
	for i, b := range r.bins {
		d.Bins[i] = Bin{b.low, b.high, b.count}
	}
	tree := r.request.Store().Locations()
	for _, i := range r.order {
		id := r.locations[i]
		p := Point{Location: id, Path: tree.Path(id), Rank: view.RankOf(tree, id)}
		if v := r.values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			p.Value = &v
		}
		if b := int(r.binOf[i]); b >= 0 {
			p.Bin = &b
		}
		d.Points = append(d.Points, p)
	}
	return d
}

// Table has a row for each location.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "path"}, {Name: "rank"}, {Name: "value", Unit: r.measure.ColumnUnit()}, {Name: "bin"}},
		Rows: make([][]any, 0, len(r.order)), Locations: make([]trace.LocationID, 0, len(r.order))}
	tree := r.request.Store().Locations()
	for _, i := range r.order {
		id := r.locations[i]
		row := []any{tree.Path(id), view.RankCell(tree, id), nil, nil}
		if v := r.values[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
			row[2] = v
		}
		if b := r.binOf[i]; b >= 0 {
			row[3] = int64(b)
		}
		t.Rows = append(t.Rows, row)
		t.Locations = append(t.Locations, id)
	}
	return t
}
