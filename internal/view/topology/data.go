package topology

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Point is one location of the JSON output; undefined numbers are null.
type Point struct {
	Location trace.LocationID `json:"location" about:"location"`
	Path     string           `json:"-" table:"path" unit:""`
	Rank     *int             `json:"rank" unit:""`  // of its process; null of none
	Index    int              `json:"index" unit:""` // its position in the tree, over the whole run
	Point    int              `json:"point"`         // of layouts that give a location several
	X        *view.Exact      `json:"x" unit:""`
	Y        *view.Exact      `json:"y" unit:""`
	Z        *view.Exact      `json:"z" unit:""`
	Color    *float64         `json:"color" unit:"colour"`
	Visible  bool             `json:"visible" unit:"" write:"yes,no"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Layout   string   `json:"layout"`
	Points   []Point  `json:"points"`
	Mean     *float64 `json:"mean"`
	Unplaced int      `json:"unplaced"`
	Events   []Event  `json:"events"`
	// Proposals are the layouts that the run suggests; the first is drawn unless another is
	// asked for.
	Proposals []Proposal `json:"proposals"`
	// Difference names the colours of two runs, if they show how much more the second has.
	Difference string `json:"difference,omitempty"`
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

// An Event is the meaning of a name of the layout, and its range over all locations of
// the run if the layout uses it.
type Event struct {
	Name  string   `json:"name"`
	Text  string   `json:"text"` // as the user would write it; "" for all busy time
	Label string   `json:"label"`
	By    string   `json:"by"` // "user", "layout", or "" if it was not chosen
	Unit  string   `json:"unit"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
	Mean  *float64 `json:"mean"`
}

func (r *result) Data() any {
	d := Data{Layout: r.layout, Points: r.list(), Mean: view.Defined(r.mean), Unplaced: r.unplaced,
		Proposals: r.proposed.list(r.coordinateName()), Difference: r.less}
	for _, b := range r.bound {
		d.Events = append(d.Events,
			Event{b.name, b.text, b.label, b.by, b.unit, view.Defined(b.min), view.Defined(b.max),
				view.Defined(b.mean)})
	}
	return d
}

func (r *result) list() []Point {
	out := make([]Point, 0, len(r.location)*len(r.points))
	tree := r.request.Store().Locations()
	for k := range r.points {
		p := &r.points[k]
		for i, id := range r.location {
			out = append(out, Point{id, tree.Path(id), runfacts.RankOf(tree, id), int(r.who.index[r.number[i]]), k,
				view.DefinedExact(p.X[i]), view.DefinedExact(p.Y[i]), view.DefinedExact(p.Z[i]),
				view.Defined(p.Color[i]), r.visible[k][i]})
		}
	}
	return out
}

// Table has a row for each point.
func (r *result) Table() *view.Table {
	return view.TableOf(r.list(), map[string]string{"colour": r.colour().unit}, nil)
}
