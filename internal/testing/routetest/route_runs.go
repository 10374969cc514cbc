package routetest

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// twice asks a view of several runs about this run and itself.
func twice(r *Run, options map[string][]string, to any) bool {
	r.Helper()
	values, err := view.NewValues(r.View, options)
	must(r, err)
	q := &view.Request{Runs: []view.Run{{Name: "a", Source: "a", Store: r.Reader},
		{Name: "b", Source: "b", Store: r.Reader}}, Values: values, Selection: trace.Selection{End: r.End}}
	result, err := r.View.Compute(context.Background(), q)
	if err != nil {
		r.wrong("two runs: %v", err)
		return false
	}
	b, err := json.Marshal(result.Data())
	must(r, err)
	must(r, json.Unmarshal(b, to))
	return true
}

// isWhole reports whether the window is the whole run: views of several runs show no less.
func isWhole(r *Run) bool {
	return r.Window.Begin == 0 && r.Window.End == r.End && r.Window.Locations == nil && r.Window.Regions == nil
}

// recorded is the exclusive time of each name, of all locations, and how many locations have some.
func recorded(r *Run) (map[string]float64, float64) {
	out, locations := map[string]float64{}, map[trace.LocationID]bool{}
	if r.timed() {
		for k, s := range r.totals(&r.Window) {
			out[r.Regions[k.Region].Name] += s.Exclusive
			locations[k.Location] = true
		}
		return out, float64(len(locations))
	}
	flat := true
	for _, p := range r.Paths {
		flat = flat && p.Flat
	}
	for _, x := range r.Profile {
		if x.Metric == 0 && r.Paths[x.Path].Flat == flat {
			out[r.Regions[r.Paths[x.Path].Region].Name] += x.Exclusive
			locations[x.Location] = true
		}
	}
	return out, float64(len(locations))
}

// compareRoute: a run does not differ from itself, times of call paths are the exclusive times of their regions per
// location, and they and the rest add up to the length.
var compareRoute = Route{Check: func(r *Run) {
	if !isWhole(r) {
		return
	}
	var d struct {
		Per  string
		Rows []struct {
			Kind, Region            string
			A, B, Shift, Difference float64
			Verdict                 string
			Values_a, Values_b      []float64
		}
		Length struct{ A, B float64 }
		Rest   *struct{ A, B float64 }
	}
	if !twice(r, nil, &d) {
		return
	}
	want, locations := recorded(r)
	got, sum := map[string]float64{}, 0.0
	for _, x := range d.Rows {
		if x.A != x.B || x.Shift != 0 || x.Difference != 0 {
			r.wrong("%s differs from itself: %v, %v", x.Region, x.A, x.B)
		}
		if x.Kind == "path" {
			got[x.Region] += x.A
			sum += x.A
		}
	}
	if d.Per != "location" || beside(r) {
		return // of steps, see the view steps
	}
	for name, w := range want {
		if g, ok := got[name]; w > 0 && ok {
			r.same("the time of "+name, g, w/locations)
		} else if w > 0 && len(want) < 100 {
			r.wrong("no row of %s, which takes %v", name, w)
		}
	}
	if r.timed() {
		r.same("the length", d.Length.A, float64(r.End))
		r.same("the length from its parts", sum+d.Rest.A, float64(r.End))
	}
}}

// beside reports whether calls ran side by side below one caller, whose times then need not add up.
func beside(r *Run) bool {
	lanes := map[trace.LocationID]int{}
	for i := range r.Lanes {
		lanes[r.Lanes[i].Location]++
	}
	for _, n := range lanes {
		if n > 1 {
			return true
		}
	}
	return false
}

// scalingRoute: of a run and itself the speedup is 1, parallel efficiency is the busy time of those that
// have a rank over their number times the length, and load balance its mean over its maximum.
var scalingRoute = Route{Check: func(r *Run) {
	if !isWhole(r) {
		return
	}
	var d struct {
		Factors []struct {
			Name   string
			Values []*float64
		}
		Models []struct {
			Region string
			Values []float64
		}
	}
	if !twice(r, nil, &d) {
		return
	}
	got := map[string]*float64{}
	for _, f := range d.Factors {
		got[f.Name] = f.Values[1]
	}
	if v := got["Speedup"]; v != nil {
		r.same("the speedup", *v, 1)
	}
	want, locations := recorded(r)
	seen := map[string]float64{}
	for _, m := range d.Models {
		if m.Values[0] != m.Values[1] {
			r.wrong("%s takes %v and %v in one run", m.Region, m.Values[0], m.Values[1])
		}
		seen[m.Region] += m.Values[0]
	}
	for name, v := range seen {
		if stem, folded := strings.CutSuffix(name, "…"); folded { // names that differ in a number are one
			for other, t := range want {
				if number := strings.TrimPrefix(other, stem); number != other &&
					strings.Trim(number, "0123456789") == "" {
					want[name] += t
				}
			}
		}
		if v > want[name]/locations*(1+1e-9)+1e-9 {
			r.wrong("%s has %v, which is more than the %v recorded", name, v, want[name]/locations)
		}
	}
	if !r.timed() || got["Parallel efficiency"] == nil {
		return
	}
	ranks := false
	for id := range r.Tree.Len() {
		ranks = ranks || r.Tree.Rank[id] != trace.NoRank
	}
	sum, most, n := 0.0, 0.0, 0.0
	for _, id := range r.holders(&r.Window) {
		if ranks && r.Tree.Rank[id] == trace.NoRank {
			continue
		}
		busy := 0.0
		for _, x := range r.busy(id, 0, r.End) {
			busy += float64(x[1] - x[0])
		}
		sum, most, n = sum+busy, max(most, busy), n+1
	}
	r.same("parallel efficiency", *got["Parallel efficiency"], sum/n/float64(r.End))
	if v := got["Load balance"]; v != nil {
		r.same("load balance", *v, sum/n/most)
	}
}}

// historyRoute: a run and itself have the same values, which are those recorded, and no change.
var historyRoute = Route{Check: func(r *Run) {
	if !isWhole(r) {
		return
	}
	var d struct {
		Series []struct {
			Region, Metric string
			Values         []float64
			Changes        []int
		}
	}
	if !twice(r, nil, &d) {
		return
	}
	want, locations := recorded(r)
	got := map[string]float64{}
	for _, s := range d.Series {
		if len(s.Values) != 2 || s.Values[0] != s.Values[1] || len(s.Changes) != 0 {
			r.wrong("%s is %v, with changes at %v", s.Region, s.Values, s.Changes)
		}
		if s.Metric == "exclusive" {
			got[s.Region] += s.Values[0]
		} else if r.timed() && s.Region == "length of the run" {
			r.same("the length", s.Values[0], float64(r.End))
		}
	}
	for name, v := range got {
		if d.Series[0].Region == "length of the run" && v > want[name]/locations*(1+1e-9)+1e-9 {
			r.wrong("%s has %v, which is more than the %v recorded", name, v, want[name]/locations)
		}
	}
}}
