package topology

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Point is one location of the JSON twin; undefined numbers are null.
type Point struct {
	Location trace.LocationID `json:"location"`
	Rank     *int             `json:"rank"`  // of its process; null of none
	Index    int              `json:"index"` // its position in the tree, over the whole run
	Point    int              `json:"point"` // of layouts that give a location several
	X        *float64         `json:"x"`
	Y        *float64         `json:"y"`
	Z        *float64         `json:"z"`
	Color    *float64         `json:"color"`
	Visible  bool             `json:"visible"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	Layout   string   `json:"layout"`
	Points   []Point  `json:"points"`
	Mean     *float64 `json:"mean"`
	Unplaced int      `json:"unplaced"`
	Events   []Event  `json:"events"`
}

// An Event is what a name of the layout stands for, and over all locations of the run
// where the layout uses it.
type Event struct {
	Name  string   `json:"name"`
	Text  string   `json:"text"` // as the user would write it; "" for all busy time
	Label string   `json:"label"`
	By    string   `json:"by"` // "user", "layout", or "" where nobody chose it
	Unit  string   `json:"unit"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
	Mean  *float64 `json:"mean"`
}

func defined(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (r *result) Data() any {
	d := Data{Layout: r.layout, Points: make([]Point, 0, len(r.location)), Mean: defined(r.mean), Unplaced: r.unplaced}
	for _, b := range r.bound {
		d.Events = append(d.Events, Event{b.name, b.text, b.label, b.by, b.unit, defined(b.min), defined(b.max), defined(b.mean)})
	}
	tree := r.request.Store().Locations()
	for k := range r.points {
		p := &r.points[k]
		for i, id := range r.location {
			d.Points = append(d.Points, Point{id, view.RankOf(tree, id), int(r.who.index[r.number[i]]), k,
				defined(p.X[i]), defined(p.Y[i]), defined(p.Z[i]), defined(p.Color[i]), r.visible[k][i]})
		}
	}
	return d
}

// Table has a row for each point.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "path"}, {Name: "rank"}, {Name: "index"}, {Name: "x"}, {Name: "y"}, {Name: "z"}, {Name: "color", Unit: r.colour().unit}, {Name: "visible"}},
		Rows: [][]any{}, Locations: []trace.LocationID{}}
	cell := func(v float64) any {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	}
	tree := r.request.Store().Locations()
	for k := range r.points {
		p := &r.points[k]
		for i, id := range r.location {
			visible := "no"
			if r.visible[k][i] {
				visible = "yes"
			}
			t.Rows = append(t.Rows, []any{tree.Path(id), view.RankCell(tree, id), int64(r.who.index[r.number[i]]), cell(p.X[i]), cell(p.Y[i]), cell(p.Z[i]), cell(p.Color[i]), visible})
			t.Locations = append(t.Locations, id)
		}
	}
	return t
}
