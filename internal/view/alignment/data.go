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

// A Slot is one call of all rows that make it. Durations are null where one does not.
type Slot struct {
	Region    string        `json:"region"`
	Depth     int           `json:"depth"`
	Made      int           `json:"made"`
	Shortest  trace.Time    `json:"shortest"`
	Longest   trace.Time    `json:"longest"`
	Durations []*trace.Time `json:"durations"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	Locations []Location `json:"locations"`
	Slots     []Slot     `json:"slots"`
	Width     trace.Time `json:"width"` // of the axis: every slot as long as its longest call
	Exact     bool       `json:"exact"`
}

// Data has every slot, outer before inner.
func (r *result) Data() any {
	d := Data{Locations: []Location{}, Slots: []Slot{}, Width: r.width, Exact: r.aligned.Inexact == 0}
	for i := range r.rows {
		d.Locations = append(d.Locations, r.fit(i))
	}
	r.each(r.aligned.Slots, 0, func(x *stackalign.Slot, depth int) { d.Slots = append(d.Slots, r.slot(x, depth)) })
	return d
}

func (r *result) fit(i int) Location {
	x, p := r.rows[i], &r.aligned.Pairs[i]
	run := r.request.Runs[x.run]
	return Location{run.Name, x.location, run.Store.Locations().Path(x.location), r.list[i].Len(), p.Matched, p.OnlyHere, p.There, p.Structure(), p.Time}
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
	out := Slot{Region: r.nodes[x.Node].name, Depth: depth, Durations: make([]*trace.Time, len(x.Calls))}
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

// Table has a line a slot.
func (r *result) Table() *view.Table {
	t := &view.Table{Rows: [][]any{}, Regions: []trace.RegionID{}, Columns: []view.Column{{Name: "region"}, {Name: "depth", Unit: "count"}, {Name: "made by", Unit: "count"}, {Name: "shortest", Unit: "ns"}, {Name: "longest", Unit: "ns"}}}
	for _, x := range r.rows {
		t.Columns = append(t.Columns, view.Column{Name: x.name, Unit: "ns"})
	}
	r.each(r.aligned.Slots, 0, func(x *stackalign.Slot, depth int) {
		s := r.slot(x, depth)
		line := []any{s.Region, int64(s.Depth), int64(s.Made), int64(s.Shortest), int64(s.Longest)}
		for _, d := range s.Durations {
			if d == nil {
				line = append(line, nil)
			} else {
				line = append(line, int64(*d))
			}
		}
		t.Rows = append(t.Rows, line)
		t.Regions = append(t.Regions, r.nodes[x.Node].region)
	})
	return t
}
