package moments

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/utilization"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A difference is the moments of one run less those of another, one row per location of the
// first that the second has too.
type difference struct {
	path      func(trace.LocationID) string
	names     [2]string
	state     string // that counts, in words
	rows      []pairRow
	lacking   [2]int // rows that the other run has not
	alignment []runAlignment
	notes     []string
}

// A pairRow is one location in both runs.
type pairRow struct {
	id    trace.LocationID
	label string
	of    [2]moment.Moments
}

const momentCount = 4

// value is a moment of a side; NaN if it is undefined.
func (r *pairRow) value(side, k int) float64 {
	m := &r.of[side]
	if k > 0 && m.Empty() {
		return math.NaN()
	}
	return [momentCount]float64{m.M0, m.M1, m.M2, m.M3}[k]
}

// delta is the second run less the first; NaN if one of them has no such moment.
func (r *pairRow) delta(k int) float64 { return r.value(1, k) - r.value(0, k) }

// wantsDifference reads --picture: two runs are subtracted unless rows are asked for.
func wantsDifference(q *view.Request) bool {
	return len(q.Runs) == 2 && q.Values.Text("picture") != "rows"
}

// subtract computes both sides and pairs their rows.
func subtract(ctx context.Context, q *view.Request, o options) (view.Result, error) {
	d := &difference{names: [2]string{q.Runs[0].Name, q.Runs[1].Name}}
	if q.Values.Text("axis") != "" {
		return nil,
			fmt.Errorf("--axis: moments of two runs are subtracted in time; --picture rows shows the first run alone")
	}
	var of [2][]moment.Moments
	var ids [2][]trace.LocationID
	sides := [2]*view.Request{q.First(), q.Second()}
	for k, one := range sides {
		if one.Selection.Begin >= one.Selection.End {
			return nil,
				&view.BesideError{Run: d.names[k],
					Err: view.Empty("choose a longer time", "the time selected is empty")}
		}
		f, err := utilization.Choose(ctx, one.Runs[0], one.Selection, "")
		if err == nil && len(f.IDs) == 0 {
			err = view.Empty("choose other locations",
				"none of the selected locations holds intervals or recorded moments")
		}
		if err != nil {
			return nil, &view.BesideError{Run: d.names[k], Err: err}
		}
		_, busy, err := statesOf(one, one.Store().Regions())
		if err != nil {
			return nil, &view.BesideError{Run: d.names[k], Err: err}
		}
		l, err := f.Layer(ctx, busy, 3)
		if err != nil {
			return nil, &view.BesideError{Run: d.names[k], Err: err}
		}
		d.state, ids[k], of[k] = describe(busy, one.Selection.Regions != nil), f.IDs, l.All()
		for _, n := range rowNotes(f) {
			d.notes = append(d.notes, d.names[k]+": "+n)
		}
		d.alignment = append(d.alignment, alignments(d.names[k], f.Tree, f.IDs, of[k],
			float64(one.Selection.End-one.Selection.Begin))...)
	}
	if err := d.pair(q, ids, of); err != nil {
		return nil, err
	}
	d.sort(o.order)
	if o.top > 0 && o.top < len(d.rows) {
		d.notes = append(d.notes, fmt.Sprintf("%d of %s rows", o.top, view.Thousands(int64(len(d.rows)))))
		d.rows = d.rows[:o.top]
	}
	d.notes = append(d.notes, d.state)
	return d, ctx.Err()
}

// pair puts together the rows of both runs.
func (d *difference) pair(q *view.Request, ids [2][]trace.LocationID, of [2][]moment.Moments) error {
	pairs := ranks.Pair(q.Runs[0].Store, q.Runs[1].Store)
	if note := view.PairingNote(pairs, d.names[0], d.names[1]); note != "" {
		d.notes = append(d.notes, note)
	}
	at := make(map[trace.LocationID]int, len(ids[1]))
	for i, id := range ids[1] {
		at[id] = i
	}
	tree := q.Store().Locations()
	d.path = tree.Path
	names := runfacts.ShortNames(tree, ids[0])
	taken := map[int]bool{}
	for i, id := range ids[0] {
		j, ok := at[pairs.To[id]]
		if pairs.To[id] == trace.NoLocation || !ok {
			d.lacking[0]++
			continue
		}
		taken[j] = true
		d.rows = append(d.rows, pairRow{id, names[i], [2]moment.Moments{of[0][i], of[1][j]}})
	}
	d.lacking[1] = len(ids[1]) - len(taken)
	if len(d.rows) == 0 {
		return fmt.Errorf("no location of %s is one of %s, by rank or by path; --picture rows shows the first alone",
			d.names[0], d.names[1])
	}
	for k, n := range d.lacking {
		if n > 0 {
			d.notes = append(d.notes,
				fmt.Sprintf("%s of %s is none of %s, and has no row", view.Count(n, "location"), d.names[k],
					d.names[1-k]))
		}
	}
	return nil
}

// sort puts the largest differences of a moment first, either way; the smallest after "-".
func (d *difference) sort(order string) {
	name, least := strings.CutPrefix(order, "-")
	k := slices.Index([]string{"m0", "m1", "m2", "m3"}, name)
	if order == "outliers" {
		k = 0
	}
	if k < 0 {
		return
	}
	slices.SortStableFunc(d.rows, func(a, b pairRow) int {
		c := view.Larger(zero(a.delta(k)), zero(b.delta(k)))
		if least {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a.id, b.id))
	})
}

// zero replaces undefined values.
func zero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

func (d *difference) Notes() []string { return append([]string{}, d.notes...) }

// words say how much busy time differs in all, and where most.
func (d *difference) words() string {
	sum, before := 0.0, 0.0
	most := &d.rows[0]
	for i := range d.rows {
		r := &d.rows[i]
		sum, before = sum+r.delta(0), before+r.of[0].M0
		if math.Abs(r.delta(0)) > math.Abs(most.delta(0)) {
			most = r
		}
	}
	mean := sum / float64(len(d.rows))
	text := fmt.Sprintf("%s less %s: busy time %s per location on average", d.names[1], d.names[0], signed(mean))
	if before > 0 {
		text += view.FormatSigned(" (%+.1f %%)", 100*sum/before)
	}
	return text + fmt.Sprintf(", most on %s with %s.", most.label, signed(most.delta(0)))
}

func signed(v float64) string { return view.Signed(v, view.FormatDuration) }

// A differenceRow is a location in the JSON output: its moments in both runs, and the second
// less the first.
type differenceRow struct {
	Location trace.LocationID `json:"location" about:"location"`
	Path     string           `json:"path" unit:""`
	M0A      float64          `json:"m0_a" unit:"ns"`
	M0B      float64          `json:"m0_b" unit:"ns"`
	M0       float64          `json:"m0" unit:"ns"`
	M1A      *float64         `json:"m1_a" unit:"ns"`
	M1B      *float64         `json:"m1_b" unit:"ns"`
	M1       *float64         `json:"m1" unit:"ns"`
	M2A      *float64         `json:"m2_a" unit:"ns"`
	M2B      *float64         `json:"m2_b" unit:"ns"`
	M2       *float64         `json:"m2" unit:"ns"`
	M3A      *float64         `json:"m3_a" unit:"ns"`
	M3B      *float64         `json:"m3_b" unit:"ns"`
	M3       *float64         `json:"m3" unit:"ns"`
}

// differenceData is the JSON output of two runs.
type differenceData struct {
	A         string          `json:"a"`
	B         string          `json:"b"`
	Rows      []differenceRow `json:"rows"`
	Alignment []runAlignment  `json:"alignment"`
	Text      string          `json:"text"`
}

func (d *difference) Data() any {
	return differenceData{A: d.names[0], B: d.names[1], Rows: d.list(), Alignment: d.alignment, Text: d.words()}
}

func (d *difference) list() []differenceRow {
	out := make([]differenceRow, len(d.rows))
	for i := range d.rows {
		r := &d.rows[i]
		x := differenceRow{Location: r.id, Path: d.path(r.id), M0A: r.value(0, 0), M0B: r.value(1, 0), M0: r.delta(0)}
		for k, to := range [][3]**float64{{&x.M1A, &x.M1B, &x.M1}, {&x.M2A, &x.M2B, &x.M2}, {&x.M3A, &x.M3B, &x.M3}} {
			*to[0], *to[1], *to[2] = view.Defined(r.value(0, k+1)), view.Defined(r.value(1, k+1)),
				view.Defined(r.delta(k+1))
		}
		out[i] = x
	}
	return out
}

func (d *difference) Table() *view.Table { return view.TableOf(d.list(), nil, nil) }

// ofPair is the item kind of a row.
const ofPair = 1

// Fact describes a row.
func (d *difference) Fact(it scene.Item) (view.Fact, bool) {
	r := &d.rows[it.A]
	f := view.Fact{Title: r.label, Locations: []trace.LocationID{r.id}}
	for k, name := range momentNames {
		a, b := r.value(0, k), r.value(1, k)
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		f.Say(name, fmt.Sprintf("%s (%s to %s)", signed(b-a), view.FormatDuration(a), view.FormatDuration(b)),
			view.Cell(b-a))
	}
	return f, true
}

var momentNames = [momentCount]string{"busy time (m0)", "its mean time (m1)", "its spread (m2)", "its skew (m3)"}

// Scene draws a column a moment: bars to the right are more in the second run, later or wider.
func (d *difference) Scene(size scene.Size) *scene.Scene {
	text := d.words()
	s := scene.New(size, "", text)
	s.Notes = d.Notes()
	top := scene.Sentence(s, text) + scene.TextSize + 8
	w, h := float32(size.Width), float32(size.Height)
	shown, step := d.drawn(max(h-top-scene.AxisHeight-4, 1))
	high := min(max(h-top-scene.AxisHeight-4, 1)/float32(len(shown)), mostRow)
	rows := plot.NewRows(len(shown), top, high, func(i int, row *scene.Row) {
		x := &d.rows[shown[i]]
		row.Location, row.Label, row.Count = uint32(x.id), x.label, step
	})
	if step > 1 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("a line stands for %d locations and shows the one whose busy time differs most", step))
	}
	left := min(rows.LabelWidth(min(w/4, 200)), w/3)
	const gap = 18
	wide := max((w-left-gap*momentCount)/momentCount, 1)
	aims := &scene.Rect{}
	for i, r := range rows.List {
		aims.AddAim(0, r.From, w, r.To-r.From, s.Item(ofPair, shown[i]))
	}
	s.AddLayer("items", -1, aims)
	for k := range momentCount {
		reach := d.reach(k)
		f := rows.Frame(fmt.Sprintf("m%d", k), left+float32(k)*(wide+gap), wide,
			scene.Scale{Kind: "linear", Begin: -reach, End: reach})
		f.YScale.Rows = slices.Clone(rows.List)
		frame := s.AddFrame(f)
		s.XAxis(frame, scene.Axis{Unit: "ns"})
		value := func(i int) float64 { return d.rows[shown[i]].delta(k) }
		thick := 1 - 2*min(0.15, 3/high)
		s.AddLayer(f.Name, frame,
			rows.Bars(&f, thick, value, func(i int) scene.Colour { return plot.Change(value(i)) }),
			plot.Rule(&f, 0, scene.UIAxis))
		s.AddLayer("heads", -1, plot.Head(&f, momentNames[k], scene.UIText))
	}
	s.RowLabels(0, 0)
	s.Legend = append(s.Legend, plot.Key("more, later or wider in "+d.names[1], plot.More),
		plot.Key("less, earlier or narrower", plot.Less))
	return s
}

// reach is the largest difference of a moment, with some room.
func (d *difference) reach(k int) float64 {
	most := 0.0
	for i := range d.rows {
		if v := math.Abs(d.rows[i].delta(k)); v > most {
			most = v
		}
	}
	if most == 0 {
		return 1
	}
	return most * 1.05
}

// drawn are the rows that have a line: all, or of each few the one that differs most.
func (d *difference) drawn(room float32) (shown []int, step int) {
	step = (len(d.rows) + max(int(room), 1) - 1) / max(int(room), 1)
	for from := 0; from < len(d.rows); from += step {
		best := from
		for i := from; i < min(from+step, len(d.rows)); i++ {
			if math.Abs(d.rows[i].delta(0)) > math.Abs(d.rows[best].delta(0)) {
				best = i
			}
		}
		shown = append(shown, best)
	}
	return shown, step
}

var _ view.Facts = (*difference)(nil)
