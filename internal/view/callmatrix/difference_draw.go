package callmatrix

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Scene draws a square a pair: its colour is the difference, hatched where only one side
// makes the call.
func (d *difference) Scene(size scene.Size) *scene.Scene {
	at := d.place(size)
	s := d.frame(size, at, fmt.Sprintf("Call matrix of %s less that of %s: %s of %s.", d.sides[1].label,
		d.sides[0].label, d.what(), view.Count(len(d.pairs), "pair")))
	limit := 0.0
	d.eachSquare(at, func(key callgraph.Pair, _, _, _ float32) {
		if v, ok := d.delta(key); ok {
			limit = max(limit, math.Abs(v))
		}
	})
	drawGrid(s, at)
	squares, marks, only, cuts := &scene.Rect{}, &scene.Polygon{}, [2]bool{}, cutMarks{}
	d.eachSquare(at, func(key callgraph.Pair, x, y, side float32) {
		colour, flag := scene.None, scene.Outlined
		if d.cutOf[key] != nil && !d.cutAlone(key) && side >= leastMarked {
			cuts.some = true
			marks.AddCut(x, y+side/2, -1, min(4, side/4))
		}
		if v, ok := d.delta(key); ok {
			colour = d.colour(v, limit)
		} else if d.cutAlone(key) {
			cuts.all = true
			colour, flag = scene.UIEmpty, scene.Hatched
		} else {
			one := d.oneSided(key)
			colour, flag = onlyColour(one), scene.Hatched
			only[one] = only[one] || d.of[key][1-one] == nil // both may have none with a median
		}
		squares.Add(x, y, side, side, colour)
		squares.SetFlags(flag)
		squares.SetItem(s.Item(ofSquare, int(key.Caller), int(key.Callee)))
	})
	s.AddLayer("squares", 0, squares, marks)
	cut := d.markCut(s, at)
	d.explain(s, limit, only, cuts, cut)
	d.noteLeftOut(s, at)
	s.Notes = append(s.Notes, d.notes...)
	return s
}

// colour of a difference: blue for less, red for more, the same distance from the middle
// for the same difference. A logarithm shows three orders of magnitude either way.
func (d *difference) colour(v, limit float64) scene.Colour {
	u := 0.0
	if limit > 0 {
		if u = math.Abs(v) / limit; d.logarithmic() {
			u = math.Log1p(999*u) / math.Log(1000)
		}
	}
	return scene.Ramp("diverging", 0.5+math.Copysign(u, v)/2)
}

func (d *difference) logarithmic() bool { return d.request.Values.Text("value-scale") == "log" }

// oneSided is the side that alone makes a call.
func (d *difference) oneSided(key callgraph.Pair) int {
	if d.of[key][0] == nil {
		return 1
	}
	return 0
}

func onlyColour(side int) scene.Colour { return scene.Ramp("diverging", 0.15+0.7*float64(side)) }

// explain fills the legend: only says which sides make calls that the other does not.
func (d *difference) explain(s *scene.Scene, limit float64, only [2]bool, cuts cutMarks, cut bool) {
	label := "medians differ"
	if d.totals() {
		label = "totals differ"
	}
	if d.logarithmic() {
		label += ", log"
	}
	s.Legend = append(s.Legend, plot.RampKey(label, "diverging", "−"+d.format(limit), "+"+d.format(limit)))
	for k, side := range d.sides {
		if only[k] {
			s.Legend = append(s.Legend, plot.FlaggedKey("only in "+side.label, onlyColour(k), scene.Hatched))
		}
	}
	cuts.explain(s, "cut: all calls of a side began before the window")
	if cut {
		s.Legend = append(s.Legend, plot.Key("called by others too, that are not shown", scene.UIWarning))
	}
}

// Fact returns the values of both sides.
func (d *difference) Fact(it scene.Item) (view.Fact, bool) {
	key := callgraph.Pair{Caller: it.A, Callee: it.B}
	f := view.Fact{Title: d.label(key.Caller) + " → " + d.label(key.Callee), Regions: d.nodes[key.Callee].Regions}
	line := func(label string, v float64) { f.Say(label, d.format(v), exact(v)) }
	for k, s := range d.sides {
		s.sayCut(&f, d.cut(key, k), ", "+s.label)
		if d.of[key][k] == nil {
			if d.cut(key, k) == nil {
				f.Text += "Never called in " + s.label + "."
			}
			continue
		}
		if v, ok := d.value(key, k); ok && !d.totals() {
			line("median, "+s.label, v)
		}
		line("total, "+s.label, d.total(key, k))
		n := d.of[key][k].Count
		f.Say("calls, "+s.label, view.FormatCount(n), exact(n))
	}
	if v, both := d.delta(key); both {
		line("difference", v)
	}
	return f, true
}

// A Value is a pair on one side; null median: no single calls are known.
type Value struct {
	Calls  float64  `json:"calls"`
	Total  float64  `json:"total"` // of sets of locations: the mean of a location
	Median *float64 `json:"median"`
	// Cut calls began before the window and are in no other number; CutTime is their time in it, by
	// --metric exclusive without their callees.
	Cut     float64 `json:"cut"`
	CutTime float64 `json:"cut_time"`
}

// A DifferenceCell is a square; caller "" is the virtual root. A side is null if it
// never makes the call, and then so is the difference.
type DifferenceCell struct {
	Caller     string   `json:"caller"`
	Callee     string   `json:"callee"`
	A          *Value   `json:"a"`
	B          *Value   `json:"b"`
	Difference *float64 `json:"difference"` // b − a of the compared value
}

// A DifferenceData is the "data" of the JSON output.
type DifferenceData struct {
	Metric  string           `json:"metric"`
	Unit    string           `json:"unit"`
	Of      string           `json:"of"` // median or total
	A       string           `json:"a"`
	B       string           `json:"b"`
	Closure string           `json:"closure"`
	Overlap int64            `json:"overlapping"`
	Cells   []DifferenceCell `json:"cells"`
}

// valueOf is a pair on one side; nil if it makes no call.
func (d *difference) valueOf(key callgraph.Pair, k int) *Value {
	x, cut := d.of[key][k], d.cut(key, k)
	if x == nil && cut == nil {
		return nil
	}
	v := &Value{}
	if cut != nil {
		v.Cut, v.CutTime = cut.Count, cut.Time
	}
	if x != nil {
		v.Calls, v.Total = x.Count, d.total(key, k)
		if !d.totals() {
			v.Median = view.Defined(x.Box[2])
		}
	}
	return v
}

// Start implements view.Starter in place of the result's: cells are pairs of both sides, and few.
func (d *difference) Start(int) (any, map[string]int) { return d.Data(), nil }

func (d *difference) Data() any {
	out := DifferenceData{Metric: d.metric, Unit: d.unit, Of: "median", A: d.sides[0].label, B: d.sides[1].label,
		Closure: d.request.Values.Text("closure"), Overlap: d.overlap, Cells: []DifferenceCell{}}
	if d.totals() {
		out.Of = "total"
	}
	for _, key := range d.sortedPairs() {
		c := DifferenceCell{Caller: d.name(key.Caller), Callee: d.name(key.Callee)}
		for k, to := range []**Value{&c.A, &c.B} {
			*to = d.valueOf(key, k)
		}
		if v, ok := d.delta(key); ok {
			c.Difference = &v
		}
		out.Cells = append(out.Cells, c)
	}
	return out
}

// Table has a row for each square.
func (d *difference) Table() *view.Table {
	u := d.unit
	t := &view.Table{Rows: [][]any{}, Locations: []trace.LocationID{}, Regions: []trace.RegionID{},
		Columns: []view.Column{{Name: "caller"}, {Name: "callee"},
			{Name: "calls a", Unit: "count"}, {Name: "total a", Unit: u}, {Name: "median a", Unit: u},
			{Name: "cut a", Unit: "count"}, {Name: "cut time a", Unit: "ns"},
			{Name: "calls b", Unit: "count"}, {Name: "total b", Unit: u}, {Name: "median b", Unit: u},
			{Name: "cut b", Unit: "count"}, {Name: "cut time b", Unit: "ns"},
			{Name: "difference", Unit: u}}}
	cells := d.Data().(DifferenceData).Cells
	for i, key := range d.sortedPairs() {
		c := &cells[i]
		row := []any{c.Caller, c.Callee}
		for _, v := range []*Value{c.A, c.B} {
			if v == nil {
				row = append(row, nil, nil, nil, nil, nil)
			} else {
				row = append(row, number(&v.Calls), number(&v.Total), number(v.Median), number(&v.Cut),
					number(&v.CutTime))
			}
		}
		t.Rows = append(t.Rows, append(row, number(c.Difference)))
		t.Locations = append(t.Locations, trace.NoLocation)
		region := trace.NoRegion
		if of := d.nodes[key.Callee].Regions; len(of) > 0 {
			region = of[0]
		}
		t.Regions = append(t.Regions, region)
	}
	return t
}
