package alignment

import (
	"github.com/parallax-hpc/parallax/internal/analysis/stackalign"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Location says how a row fits the first one.
type Location struct {
	Run       string           `json:"run"`
	Location  trace.LocationID `json:"location"`
	Path      string           `json:"path"`
	Calls     int              `json:"calls"`
	Matched   int              `json:"matched"`
	OnlyHere  int              `json:"only_here"`
	OnlyFirst int              `json:"only_first"`
	Structure float64          `json:"structure"` // share of calls in common
	Time      float64          `json:"time"`      // share of time in common
}

// A Slot is one call of all rows that make it. Durations are null if one does not.
type Slot struct {
	Region    string         `json:"region" unit:""`
	Depth     int            `json:"depth" unit:"count"`
	Made      int            `json:"made" table:"made by" unit:"count"`
	Shortest  trace.Time     `json:"shortest" unit:"ns"`
	Longest   trace.Time     `json:"longest" unit:"ns"`
	Durations []*trace.Time  `json:"durations" spread:"rows"`
	ID        trace.RegionID `json:"-" about:"region"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Locations []Location `json:"locations"`
	Slots     []Slot     `json:"slots"`
	Width     trace.Time `json:"width"` // of the axis: every slot as long as its longest call
	Exact     bool       `json:"exact"`
}

// Data has every slot, outer before inner.
func (r *result) Data() any {
	d := Data{Locations: []Location{}, Slots: r.slots(), Width: r.width, Exact: r.aligned.Inexact == 0}
	for i := range r.rows {
		d.Locations = append(d.Locations, r.fit(i))
	}
	return d
}

func (r *result) slots() []Slot {
	out := []Slot{}
	r.each(r.aligned.Slots, 0, func(x *stackalign.Slot, depth int) { out = append(out, r.slot(x, depth)) })
	return out
}

func (r *result) fit(i int) Location {
	x, p := r.rows[i], &r.aligned.Pairs[i]
	run := r.request.Runs[x.run]
	return Location{run.Name, x.location, run.Store.Locations().Path(x.location), r.list[i].Len(), p.Matched,
		p.OnlyHere, p.There, p.Structure(), p.Time}
}

func (r *result) each(slots []*stackalign.Slot, depth int, f func(*stackalign.Slot, int)) {
	for _, x := range slots {
		f(x, depth)
		r.each(x.Inner, depth+1, f)
	}
}

func (r *result) duration(s int, c int32) trace.Time {
	return r.list[s].End[c] - r.list[s].Begin[c]
}

func (r *result) slot(x *stackalign.Slot, depth int) Slot {
	out := Slot{Region: r.nodes[x.Node].name, ID: r.nodes[x.Node].region, Depth: depth,
		Durations: make([]*trace.Time, len(x.Calls))}
	for s, c := range x.Calls {
		if c < 0 {
			continue
		}
		d := r.duration(s, c)
		if out.Durations[s] = &d; out.Made == 0 || d < out.Shortest {
			out.Shortest = d
		}
		out.Longest = max(out.Longest, d)
		out.Made++
	}
	return out
}

// Table has one line per slot, and one column per row of the picture.
func (r *result) Table() *view.Table {
	rows := make([]view.Column, len(r.rows))
	for i, x := range r.rows {
		rows[i] = view.Column{Name: x.name, Unit: "ns"}
	}
	return view.TableOf(r.slots(), nil, map[string][]view.Column{"rows": rows})
}
