package contrast

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/quantile"
	"github.com/parallax-hpc/parallax/internal/analysis/sides"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one quantity. A and B are medians over the units of each set, in Unit;
// Shift is the median of all differences, Effect the shift as a share of the whole.
type Row struct {
	Kind   string         `json:"kind" unit:""`
	Name   string         `json:"name" unit:""`
	Caller string         `json:"caller" unit:""`
	Unit   string         `json:"unit" unit:""`
	A      float64        `json:"a" unit:""`
	B      float64        `json:"b" unit:""`
	Effect float64        `json:"effect" unit:"share"`
	Text   string         `json:"text" unit:""`
	Shift  float64        `json:"shift" unit:""`
	Delta  float64        `json:"delta" unit:""`
	P      float64        `json:"p" unit:""`
	Q      *float64       `json:"q" unit:""` // null if it was not tested
	Method string         `json:"method" unit:""`
	Clear  bool           `json:"clear" unit:"" write:"yes,no"`
	CallsA *float64       `json:"calls_a" unit:"count"` // mean a unit; null if the source does not count them
	CallsB *float64       `json:"calls_b" unit:"count"`
	MeanA  float64        `json:"mean_a"`
	MeanB  float64        `json:"mean_b"`
	MinA   float64        `json:"min_a"`
	MaxA   float64        `json:"max_a"`
	MinB   float64        `json:"min_b"`
	MaxB   float64        `json:"max_b"`
	BoxA   [5]float64     `json:"box_a"` // 2, 25, 50, 75, 98 %
	BoxB   [5]float64     `json:"box_b"`
	Region trace.RegionID `json:"-" about:"region"`
}

// A Set is one side.
type Set struct {
	Label     string             `json:"label"`
	Locations []trace.LocationID `json:"locations"` // ranks or locations, each one value
	Times     [][2]trace.Time    `json:"times"`
}

// Data is the "data" of the JSON output.
type Data struct {
	A        Set    `json:"a"`
	B        Set    `json:"b"`
	Headline string `json:"headline"`
	Clear    int    `json:"clear"`
	Paired   bool   `json:"paired"`
	Rows     []Row  `json:"rows"`
}

func setOf(s *sides.Side) Set {
	x := Set{Label: s.Label, Locations: append([]trace.LocationID{}, s.Units...), Times: [][2]trace.Time{}}
	for _, t := range s.Spans {
		x.Times = append(x.Times, [2]trace.Time{t.Begin, t.End})
	}
	return x
}

func (r *result) Data() any {
	return Data{A: setOf(&r.Sides[0]), B: setOf(&r.Sides[1]), Headline: r.headline(), Clear: r.Clear(),
		Paired: r.Paired,
		Rows:   r.list()}
}

func (r *result) list() []Row {
	out := make([]Row, len(r.Rows))
	for i, q := range r.Rows {
		out[i] = r.row(q)
	}
	return out
}

func (r *result) row(q *sides.Quantity) Row {
	v := &q.Verdict
	x := Row{
		Kind: q.Kind, Name: q.Name, Caller: q.Caller, Unit: q.Unit, Text: r.words(q, 2),
		A: orderstat.Median(q.Values[0]), B: orderstat.Median(q.Values[1]), MeanA: mean(q.Values[0]),
		MeanB: mean(q.Values[1]),
		MinA:  slices.Min(q.Values[0]), MaxA: slices.Max(q.Values[0]), MinB: slices.Min(q.Values[1]),
		MaxB:  slices.Max(q.Values[1]),
		Shift: v.Shift, Delta: v.Delta, Effect: v.Effect, P: v.P, Method: v.Method.String(), Clear: v.Clear,
		CallsA: meanCalls(&r.Sides[0], q, 0), CallsB: meanCalls(&r.Sides[1], q, 1),
		BoxA: box(q.Values[0]), BoxB: box(q.Values[1]), Q: view.Defined(v.Q), Region: trace.NoRegion,
	}
	if len(q.Regions) > 0 {
		x.Region = q.Regions[0]
	}
	return x
}

func meanCalls(s *sides.Side, q *sides.Quantity, side int) *float64 {
	if !s.Counted {
		return nil
	}
	mean := q.Calls[side] / float64(len(q.Values[side]))
	return &mean
}

// box returns the quantiles 2, 25, 50, 75 and 98 %, type 7.
func box(values []float64) (out [5]float64) {
	sorted := slices.Sorted(slices.Values(values))
	for i, p := range quantile.Box {
		out[i] = quantile.OfSorted(sorted, p)
	}
	return out
}

// Table has a line a quantity.
func (r *result) Table() *view.Table { return view.TableOf(r.list(), nil, nil) }

// SizeBytes returns the size of the values, for caches of results.
func (r *result) SizeBytes() int64 {
	n := int64(0)
	for _, q := range r.Rows {
		n += 256 + 8*int64(len(q.Values[0])+len(q.Values[1]))
	}
	return n
}
