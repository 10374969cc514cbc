package scatter

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Point is one location in the JSON output, with its numbers as measured; null if nothing is bound or it has none.
type Point struct {
	Location trace.LocationID `json:"location" about:"location"`
	Path     string           `json:"path" unit:""`
	Rank     *int             `json:"rank" unit:""`
	Bound    []*float64       `json:"-" spread:"bound"` // of x, y, z and colour those that are bound
	X        *float64         `json:"x"`
	Y        *float64         `json:"y"`
	Z        *float64         `json:"z"`
	Color    *float64         `json:"color"`
	Placed   bool             `json:"placed"`
}

// An Axis describes the value of a direction, or of the colour.
type Axis struct {
	Name    string  `json:"name"` // x, y, z, color
	Measure string  `json:"measure"`
	Unit    string  `json:"unit"`
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
}

// Data is the "data" of the JSON output. Correlations are of x and y, x and z, y and z.
type Data struct {
	Axes         []Axis      `json:"axes"`
	Correlations [3]*float64 `json:"correlations"`
	Points       []Point     `json:"points"`
	Unplaced     int         `json:"unplaced"`
}

var axisNames = [4]string{"x", "y", "z", "color"}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	d := Data{Axes: []Axis{}, Points: r.points(), Unplaced: r.unplaced,
		Correlations: [3]*float64{view.Defined(r.correlation(0, 1)), view.Defined(r.correlation(0, 2)),
			view.Defined(r.correlation(1, 2))}}
	for k, m := range r.measure {
		if m != nil {
			d.Axes = append(d.Axes, Axis{axisNames[k], m.Label, m.Unit, r.low[k], r.high[k]})
		}
	}
	return d
}

func (r *result) points() []Point {
	out := make([]Point, len(r.locations))
	tree := r.request.Store().Locations()
	for i, id := range r.locations {
		out[i] = Point{id, tree.Path(id), runfacts.RankOf(tree, id), nil, r.number(0, i), r.number(1, i),
			r.number(2, i),
			r.number(colour, i), r.placed[i]}
		for k, m := range r.measure {
			if m != nil {
				out[i].Bound = append(out[i].Bound, r.number(k, i))
			}
		}
	}
	return out
}

// number returns the measured value of location i; nil if there is none.
func (r *result) number(k, i int) *float64 {
	if r.measure[k] == nil {
		return nil
	}
	return view.Defined(r.measure[k].Values[i])
}

// Table has a row for each location, and a column for each number that is bound.
func (r *result) Table() *view.Table {
	var bound []view.Column
	for k, m := range r.measure {
		if m != nil {
			bound = append(bound, view.Column{Name: axisNames[k] + ": " + m.Label, Unit: m.ColumnUnit()})
		}
	}
	return view.TableOf(r.points(), nil, map[string][]view.Column{"bound": bound})
}
