package moments

import (
	"cmp"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// allRows holds the results that need every row: outliers and the order of the table. A
// picture of a million locations does without it.
type allRows struct {
	moments  []moment.Moments
	outliers []moment.Outlier
	order    []int32 // as in the picture
	marked   int
}

// everything computes the results that need all rows, once. O(rows).
func (k *sketches) everything() *allRows {
	if k.all != nil {
		return k.all
	}
	a := &allRows{moments: k.busy.All()}
	a.outliers = moment.FewOutliers(a.moments, k.Peers(), k.axis.length())
	k.all = a
	return a
}

// tableOrder has the rows in the order of the picture.
func (k *sketches) tableOrder() *allRows {
	a := k.everything()
	if a.order != nil {
		return a
	}
	a.order = k.ordered()
	for i := range a.outliers {
		if a.outliers[i].StandsOut() {
			a.marked++
		}
	}
	return a
}

// data is the JSON output.
type data struct {
	Rows      []dataRow      `json:"rows"`
	Groups    []dataGroup    `json:"groups"`
	Layers    []dataLayer    `json:"layers"`
	Alignment []runAlignment `json:"alignment"`
	Outliers  int            `json:"outliers"`
	Axis      dataAxis       `json:"axis"`
}

type dataAxis struct {
	Counter string  `json:"counter"` // "" for time
	Unit    string  `json:"unit"`
	Length  float64 `json:"length"`
}

type dataRow struct {
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	dataMoments
	Outlier bool    `json:"outlier"`
	Score   float64 `json:"score"`
	Why     string  `json:"why"`
	// Peers is the others' value of the moment that stands out.
	Peers *float64 `json:"peers,omitempty"`
	// Coefficients of another basis, where one is asked for.
	Coefficients []float64 `json:"coefficients,omitempty"`
}

// dataMoments are numbers, null if undefined; orders above three where asked for.
type dataMoments struct {
	M0 float64  `json:"m0"`
	M1 *float64 `json:"m1"`
	M2 *float64 `json:"m2"`
	M3 *float64 `json:"m3"`
	M4 *float64 `json:"m4,omitempty"`
	M5 *float64 `json:"m5,omitempty"`
	M6 *float64 `json:"m6,omitempty"`
	M7 *float64 `json:"m7,omitempty"`
	M8 *float64 `json:"m8,omitempty"`
}

type dataGroup struct {
	Location  *trace.LocationID  `json:"location"` // null for a run of neighbours
	Label     string             `json:"label"`
	Locations int                `json:"locations"`
	Members   []trace.LocationID `json:"members"`
	dataMoments
	Spread  dataSpread `json:"m1_spread"`
	Outlier bool       `json:"outlier"`
}

type dataSpread struct {
	Min    *float64 `json:"min"`
	Q10    *float64 `json:"q10"`
	Median *float64 `json:"median"`
	Q90    *float64 `json:"q90"`
	Max    *float64 `json:"max"`
}

type dataLayer struct {
	Name string        `json:"name"`
	Rows []dataMoments `json:"rows"` // parallel to rows
}

// momentsOf points into m, so that a million rows are a million structs and no more.
func momentsOf(m *moment.Moments) dataMoments {
	d := dataMoments{M0: m.M0}
	if !m.Empty() {
		d.M1, d.M2, d.M3 = &m.M1, &m.M2, &m.M3
	}
	return d
}

func number(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

// addHigher fills in the moments above order three.
func (k *sketches) addHigher(d *dataMoments, i int) {
	if k.busy.Higher == nil || k.busy.Higher[i].Empty() {
		return
	}
	for n := 4; n <= k.opt.orders; n++ {
		*[...]**float64{&d.M4, &d.M5, &d.M6, &d.M7, &d.M8}[n-4] = number(k.busy.Higher[i].M(n))
	}
}

// Data returns every row of the selection, whatever is drawn.
func (r *result) Data() any {
	a := r.tableOrder()
	paths := r.paths()
	d := &data{
		Rows: make([]dataRow, len(a.order)), Groups: []dataGroup{}, Layers: []dataLayer{}, Alignment: r.alignment,
		Outliers: a.marked,
		Axis:     dataAxis{r.axis.counter, r.axis.unit, r.axis.length()},
	}
	each(len(a.order), func(k int) {
		i := a.order[k]
		o := &a.outliers[i]
		w := dataRow{Location: r.IDs[i], Path: paths[i], dataMoments: momentsOf(&a.moments[i]), Outlier: o.StandsOut(),
			Score: o.Score}
		r.addHigher(&w.dataMoments, int(i))
		if w.Outlier {
			w.Why, w.Peers = r.axis.why(o), &o.Median
		}
		if r.projection != nil {
			w.Coefficients = r.projection.of[i]
		}
		d.Rows[k] = w
	})
	for k := range r.rows {
		if w := &r.rows[k]; w.group() {
			d.Groups = append(d.Groups, r.dataGroup(w))
		}
	}
	if len(r.states) > 1 || r.states[0] != r.busy {
		for _, l := range r.states {
			all := l.All()
			rows := make([]dataMoments, len(a.order))
			for k, i := range a.order {
				rows[k] = momentsOf(&all[i])
			}
			d.Layers = append(d.Layers, dataLayer{l.State.Name, rows})
		}
	}
	return d
}

func (r *result) dataGroup(w *row) dataGroup {
	g := dataGroup{Label: w.label, Locations: len(w.members), Members: []trace.LocationID{},
		dataMoments: momentsOf(&w.moments[0]), Outlier: w.outlier.StandsOut()}
	g.Spread = dataSpread{number(w.spread.Min), number(w.spread.Q10), number(w.spread.Median), number(w.spread.Q90),
		number(w.spread.Max)}
	if w.node != trace.NoLocation {
		id := w.node
		g.Location = &id
		return g // its members are those below it
	}
	for _, i := range w.members {
		g.Members = append(g.Members, r.IDs[i])
	}
	return g
}

// paths of all rows. Rows are in preorder, so most share their parent's path with
// the row before.
func (k *sketches) paths() []string {
	out := make([]string, len(k.IDs))
	parent, prefix := trace.NoLocation, ""
	for i, id := range k.IDs {
		p := k.Tree.Parent[id]
		if p == trace.NoLocation {
			out[i] = k.Tree.Name[id]
			continue
		}
		if p != parent {
			parent, prefix = p, k.Tree.Path(p)+"/"
		}
		out[i] = prefix + k.Tree.Name[id]
	}
	return out
}

// Table has one line per location, those that stand out first.
func (r *result) Table() *view.Table {
	a := r.tableOrder()
	unit := "ns"
	if r.axis.counter != "" {
		unit = cmp.Or(r.axis.unit, "count")
	}
	t := &view.Table{Columns: []view.Column{{Name: "location"}, {Name: "path"}, {Name: "m0", Unit: unit},
		{Name: "m1", Unit: unit}, {Name: "m2", Unit: unit}, {Name: "m3", Unit: unit}}}
	for k := 4; k <= r.opt.orders; k++ {
		t.Columns = append(t.Columns, view.Column{Name: "m" + string(rune('0'+k)), Unit: unit})
	}
	if r.projection != nil {
		for j := range r.projection.rows[0] {
			t.Columns = append(t.Columns, view.Column{Name: fmt.Sprintf("c%d", j)})
		}
	}
	t.Columns = append(t.Columns, view.Column{Name: "outlier"}, view.Column{Name: "score"}, view.Column{Name: "why"})
	n := len(t.Columns)
	t.Rows, t.Locations = make([][]any, len(a.order)), make([]trace.LocationID, len(a.order))
	cells := make([]any, n*len(a.order))
	paths := r.paths()
	each(len(a.order), func(k int) {
		i := int(a.order[k])
		row := cells[k*n : k*n : (k+1)*n]
		m := &a.moments[i]
		row = append(row, int64(r.IDs[i]), paths[i], m.M0)
		if m.Empty() {
			row = append(row, nil, nil, nil)
		} else {
			row = append(row, m.M1, m.M2, m.M3)
		}
		for o := 4; o <= r.opt.orders; o++ {
			if r.busy.Higher == nil || r.busy.Higher[i].Empty() {
				row = append(row, nil)
			} else {
				row = append(row, r.busy.Higher[i].M(o))
			}
		}
		if r.projection != nil {
			for _, c := range r.projection.of[i] {
				row = append(row, c)
			}
		}
		o := &a.outliers[i]
		if o.StandsOut() {
			row = append(row, "yes", o.Score, r.axis.why(o))
		} else {
			row = append(row, "", o.Score, "")
		}
		t.Rows[k], t.Locations[k] = row, r.IDs[i]
	})
	return t
}

// Rows implements view.Lister.
func (r *result) Rows() int { return len(r.IDs) }
