package scatter

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Point is one location in the JSON twin, with its numbers as measured; null where
// nothing is bound or it has none.
type Point struct {
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Rank     *int             `json:"rank"`
	X        *float64         `json:"x"`
	Y        *float64         `json:"y"`
	Z        *float64         `json:"z"`
	Color    *float64         `json:"color"`
	Placed   bool             `json:"placed"`
}

// An Axis is what a direction, or the colour, stands for.
type Axis struct {
	Name    string  `json:"name"` // x, y, z, color
	Measure string  `json:"measure"`
	Unit    string  `json:"unit"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
}

// Data is the "data" of the JSON twin. Correlations are of x and y, x and z, y and z.
type Data struct {
	Axes         []Axis      `json:"axes"`
	Correlations [3]*float64 `json:"correlations"`
	Points       []Point     `json:"points"`
	Unplaced     int         `json:"unplaced"`
}

var axisNames = [4]string{"x", "y", "z", "color"}

func (r *result) Data() any {
	d := Data{Axes: []Axis{}, Points: make([]Point, len(r.locations)), Unplaced: r.unplaced,
		Correlations: [3]*float64{defined(r.correlation(0, 1)), defined(r.correlation(0, 2)), defined(r.correlation(1, 2))}}
	for k, m := range r.measure {
		if m != nil {
			d.Axes = append(d.Axes, Axis{axisNames[k], m.Label, m.Unit, r.low[k], r.high[k]})
		}
	}
	tree := r.request.Store().Locations()
	for i, id := range r.locations {
		d.Points[i] = Point{id, tree.Path(id), view.RankOf(tree, id), r.number(0, i), r.number(1, i), r.number(2, i), r.number(colour, i), r.placed[i]}
	}
	return d
}

func defined(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// number gives what is measured of location i; nil where there is none.
func (r *result) number(k, i int) *float64 {
	if r.measure[k] == nil {
		return nil
	}
	return defined(r.measure[k].Values[i])
}

// Table has a row for each location, and a column for each number that is bound.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "path"}, {Name: "rank"}}, Rows: make([][]any, len(r.locations)), Locations: append([]trace.LocationID{}, r.locations...)}
	for k, m := range r.measure {
		if m != nil {
			t.Columns = append(t.Columns, view.Column{Name: axisNames[k] + ": " + m.Label, Unit: m.ColumnUnit()})
		}
	}
	tree := r.request.Store().Locations()
	for i, id := range r.locations {
		t.Rows[i] = []any{tree.Path(id), view.RankCell(tree, id)}
		for k, m := range r.measure {
			if m == nil {
				continue
			}
			if v := r.number(k, i); v != nil {
				t.Rows[i] = append(t.Rows[i], *v)
			} else {
				t.Rows[i] = append(t.Rows[i], nil)
			}
		}
	}
	return t
}
