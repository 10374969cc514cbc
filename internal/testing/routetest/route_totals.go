package routetest

import (
	"maps"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// spread returns mean, standard deviation, least and greatest of values.
func spread(v []float64) (mean, sd, low, high float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(sd), slices.Min(v), slices.Max(v)
}

// closeSpread allows a standard deviation the rounding of one pass over squares.
func (r *Run) closeSpread(what string, got, want, scale float64) {
	r.Helper()
	if math.Abs(got-want) > 1e-6*scale+1e-6*want {
		r.wrong("%s is %v, recomputed %v", what, got, want)
	}
}

// ofRegion returns a region's values on the holders, 0 if it does not occur.
func ofRegion(t map[cell]sum, ids []trace.LocationID, g trace.RegionID, metric string) (out []float64) {
	for _, id := range ids {
		out = append(out, t[cell{id, g}].of(metric))
	}
	return out
}

// occurring are the selected regions with anything in the window.
func (r *Run) occurring(t map[cell]sum) map[trace.RegionID]bool {
	out := map[trace.RegionID]bool{}
	for k := range t {
		if r.Window.shows(k.Region) {
			out[k.Region] = true
		}
	}
	return out
}

func add(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

func (r *Run) metric() string {
	if m := r.Options["metric"]; m != "" {
		return m
	}
	return "exclusive"
}

var metrics = []map[string]string{nil, {"metric": "inclusive"}, {"metric": "calls"}}

var profileRoute = Route{Options: metrics, Check: func(r *Run) {
	t, ids := r.totals(&r.Window), r.holders(&r.Window)
	if left := r.leftOut(); len(left) > 0 {
		t = maps.Clone(t) // others ask for all of it
		maps.DeleteFunc(t, func(k cell, _ sum) bool { return left[k.Region] })
	}
	want := r.occurring(t)
	if r.Result == nil {
		if len(want) > 0 {
			r.wrong("says %v, and %d regions occur", r.Empty, len(want))
		}
		return
	}
	var d struct {
		Locations int
		Total     float64
		Whole     float64
		Share_of  string
		Rows      []struct {
			ID                                                     trace.RegionID
			Calls, Inclusive, Exclusive, Share, Mean, SD, Min, Max float64
			Call_mean                                              *float64
			Share_of_recorded                                      float64
		}
	}
	r.Data(&d)
	whole := 0.0
	for k := range t {
		s := t[k]
		if r.metric() == "calls" {
			whole += s.Calls
		} else {
			whole += s.Exclusive
		}
	}
	r.same("the total", d.Total, whole)
	base, name := r.shareBase()
	if r.metric() == "calls" {
		base, name = whole, "all calls"
	}
	r.same("what shares are of", d.Whole, base)
	if d.Share_of != name {
		r.wrong("shares are of %s, not of %s", d.Share_of, name)
	}
	r.same("locations", float64(d.Locations), float64(len(ids)))
	r.same("rows", float64(len(d.Rows)), float64(len(want)))
	for _, x := range d.Rows {
		name := r.Regions[x.ID].Name
		if calls := r.callsOf(x.ID); x.Call_mean != nil && len(calls) > 0 {
			r.same("mean of a call of "+name, *x.Call_mean, add(calls)/float64(len(calls)))
		} else if x.Call_mean != nil != (x.Calls > 0) {
			r.wrong("%v calls of %s, and a mean of a call %v", x.Calls, name, x.Call_mean)
		}
		values := ofRegion(t, ids, x.ID, r.metric())
		r.same("calls of "+name, x.Calls, add(ofRegion(t, ids, x.ID, "calls")))
		r.same("inclusive time of "+name, x.Inclusive, add(ofRegion(t, ids, x.ID, "inclusive")))
		r.same("exclusive time of "+name, x.Exclusive, add(ofRegion(t, ids, x.ID, "exclusive")))
		mean, sd, low, high := spread(values)
		r.same("mean of "+name, x.Mean, mean)
		r.closeSpread("sd of "+name, x.SD, sd, mean)
		r.same("min of "+name, x.Min, low)
		r.same("max of "+name, x.Max, high)
		if whole > 0 {
			r.same("share of "+name, x.Share, add(values)/base)
			r.same("share of what is recorded of "+name, x.Share_of_recorded, add(values)/whole)
		}
		if x.Share > 1+1e-9 && r.metric() != "inclusive" {
			r.wrong("share of %s is %v", name, x.Share)
		}
	}
}}

// sourceRoute adds up regions by file and line.
var sourceRoute = Route{Options: append(metrics[:len(metrics):len(metrics)], map[string]string{"file": "app.c"}),
	Check: func(r *Run) {
		type place struct {
			file string
			line int
		}
		want, files := map[place]sum{}, map[string]float64{}
		for k, v := range r.totals(&r.Window) {
			g := &r.Regions[k.Region]
			if g.File == "" || !r.Window.shows(k.Region) {
				continue
			}
			at := place{g.File, g.Line}
			s := want[at]
			s.Calls, s.Inclusive, s.Exclusive = s.Calls+v.Calls, s.Inclusive+v.Inclusive, s.Exclusive+v.Exclusive
			want[at] = s
			files[g.File] += v.Exclusive
		}
		if r.Result == nil {
			if len(files) > 0 && r.Options["file"] == "" {
				r.wrong("says %v, and %d files have values", r.Empty, len(files))
			}
			return
		}
		var d struct {
			File  string
			Lines []struct {
				Line                 int
				Exclusive, Inclusive float64
				Calls                *float64
				Ranks                []float64
			}
			Files []struct {
				File      string
				Exclusive float64
			}
		}
		r.Data(&d)
		r.same("files", float64(len(d.Files)), float64(len(files)))
		for _, f := range d.Files {
			r.same("exclusive of "+f.File, f.Exclusive, files[f.File])
		}
		lines := 0
		for at := range want {
			if at.file == d.File {
				lines++
			}
		}
		r.same("lines", float64(len(d.Lines)), float64(lines))
		for _, l := range d.Lines {
			s := want[place{d.File, l.Line}]
			r.same("exclusive of a line", l.Exclusive, s.Exclusive)
			r.same("inclusive of a line", l.Inclusive, s.Inclusive)
			if l.Calls != nil {
				r.same("calls of a line", *l.Calls, s.Calls)
			}
			r.same("columns of a line", add(l.Ranks), s.of(r.metric()))
		}
	}}

// shareBase returns the base of shares of time: the length of the window for each location; the recorded time for
// profiles, for calls of services, and if locations do several things at once.
func (r *Run) shareBase() (float64, string) {
	recorded := 0.0
	for _, s := range r.totals(&r.Window) {
		recorded += s.Exclusive
	}
	capacity := float64(len(r.holders(&r.Window))) * float64(r.Window.End-r.Window.Begin)
	if !r.timed() || recorded > capacity || slices.Contains(r.Tree.Kind, "service") {
		return recorded, "recorded time"
	}
	return capacity, "all time"
}

// callsOf lists the exclusive times of the calls of a region that begin in the window.
func (r *Run) callsOf(id trace.RegionID) (out []float64) {
	r.lanes(&r.Window, func(l *Lane) {
		for i, x := range l.Rows {
			if x.Region == id && r.Window.begins(x) {
				out = append(out, float64(l.exclusive(i)))
			}
		}
	})
	return out
}

var landscapeRoute = Route{Options: metrics, Check: func(r *Run) {
	t, ids := r.totals(&r.Window), r.holders(&r.Window)
	if r.Result == nil {
		for g := range r.occurring(t) {
			if add(ofRegion(t, ids, g, r.metric())) > 0 {
				r.wrong("says %v, and %s has a value", r.Empty, r.Regions[g].Name)
			}
		}
		return
	}
	var d struct {
		Locations int
		Regions   []struct {
			ID              trace.RegionID
			Value, Mean, SD float64
		}
		Points []struct {
			Region          string
			Location        trace.LocationID
			Count           int
			Value, Min, Max float64
		}
	}
	r.Data(&d)
	r.same("locations", float64(d.Locations), float64(len(ids)))
	byName := map[string][]trace.RegionID{}
	for _, g := range d.Regions {
		values := ofRegion(t, ids, g.ID, r.metric())
		mean, sd, _, _ := spread(values)
		name := r.Regions[g.ID].Name
		r.same("value of "+name, g.Value, add(values))
		r.same("mean of "+name, g.Mean, mean)
		r.closeSpread("sd of "+name, g.SD, sd, mean)
		byName[name] = append(byName[name], g.ID)
	}
	for _, p := range d.Points {
		if p.Count != 1 {
			r.wrong("a point of %d locations where all fit", p.Count)
		}
		if p.Min != p.Value || p.Max != p.Value {
			r.wrong("%s on %d: %v, least %v, greatest %v of one location", p.Region, p.Location, p.Value, p.Min, p.Max)
		}
		if !slices.ContainsFunc(byName[p.Region],
			func(g trace.RegionID) bool { return near(t[cell{p.Location, g}].of(r.metric()), p.Value) }) {
			r.wrong("%s on %d is %v", p.Region, p.Location, p.Value)
		}
	}
}}

// onGPU reports whether a location is a GPU or one of its streams.
func (r *Run) onGPU(id trace.LocationID) bool {
	return r.Tree.Kind[id] == trace.KindDevice || r.Tree.Kind[id] == trace.KindStream
}

// varianceByKind is the squared distance of values from the mean of their kind, GPUs or hosts, per location.
func (r *Run) varianceByKind(ids []trace.LocationID, values []float64) (v float64) {
	for _, gpu := range []bool{false, true} {
		var own []float64
		for i, id := range ids {
			if r.onGPU(id) == gpu {
				own = append(own, values[i])
			}
		}
		if len(own) > 0 {
			_, sd, _, _ := spread(own)
			v += sd * sd * float64(len(own)) / float64(len(ids))
		}
	}
	return v
}

// leaveKinds leaves out GPUs or hosts if only the others have a value.
func (r *Run) leaveKinds(ids []trace.LocationID, values []float64) (left []trace.LocationID, of []float64) {
	some := map[bool]bool{}
	for i, v := range values {
		some[r.onGPU(ids[i])] = some[r.onGPU(ids[i])] || v != 0
	}
	for i, id := range ids {
		if some[r.onGPU(id)] || !some[!r.onGPU(id)] {
			left, of = append(left, id), append(of, values[i])
		}
	}
	return left, of
}

var histogramRoute = Route{Options: metrics, Check: func(r *Run) {
	t, ids := r.totals(&r.Window), r.holders(&r.Window)
	if r.Result == nil {
		if len(ids) > 0 && len(r.occurring(t)) > 0 {
			r.wrong("says %v", r.Empty)
		}
		return
	}
	var d struct {
		Locations                            int
		Min, Q25, Median, Q75, Max, Mean, SD float64
		Bins                                 []struct{ Low, High, Count float64 }
		Points                               []struct {
			Location trace.LocationID
			Value    *float64
			Bin      *int
		}
	}
	r.Data(&d)
	// Values of the selected regions together, or of the one that differs most among GPUs and among hosts. Idle time and
	// annotations are chosen only if there is nothing else.
	want := make([]float64, len(ids))
	most, second := -1.0, true
	for g := range r.Regions {
		id := trace.RegionID(g)
		values := ofRegion(t, ids, id, r.metric())
		switch {
		case r.Window.Regions == nil:
			last := r.Regions[g].Role == trace.RoleIdle || r.Regions[g].Role == trace.RoleAnnotation
			v := r.varianceByKind(ids, values)
			if r.occurring(t)[id] && (second && !last || second == last && v > most*(1+1e-9)) {
				most, want, second = v, values, last
			}
		case r.Window.shows(id):
			for i, v := range values {
				want[i] += v
			}
		}
	}
	if r.Window.Locations == nil {
		ids, want = r.leaveKinds(ids, want)
	}
	got := make([]float64, len(ids))
	counts := make([]float64, len(d.Bins))
	for _, p := range d.Points {
		if i := slices.Index(ids, p.Location); i >= 0 && p.Value != nil {
			got[i] = *p.Value
		}
		if p.Bin == nil {
			r.wrong("location %d is in no bin", p.Location)
			continue
		}
		b := d.Bins[*p.Bin]
		counts[*p.Bin]++
		if *p.Value < b.Low || *p.Value > b.High {
			r.wrong("%v is in the bin %v..%v", *p.Value, b.Low, b.High)
		}
	}
	for i := range ids {
		if !near(got[i], want[i]) {
			r.wrong("location %d has %v, recomputed %v", ids[i], got[i], want[i])
			return
		}
	}
	for b := range counts {
		r.same("locations in a bin", d.Bins[b].Count, counts[b])
	}
	mean, sd, low, high := spread(want)
	r.same("locations", float64(d.Locations), float64(len(ids)))
	for _, x := range []struct {
		name      string
		got, want float64
	}{{"mean", d.Mean, mean}, {"sd", d.SD, sd}, {"min", d.Min, low}, {"max", d.Max, high},
		{"q25", d.Q25, quantile(want, 0.25)}, {"median", d.Median, quantile(want, 0.5)},
		{"q75", d.Q75, quantile(want, 0.75)}} {
		r.same(x.name, x.got, x.want)
	}
}}

// named adds up the regions of a name.
func (r *Run) named(t map[cell]sum, id trace.LocationID, name, metric string) (v float64) {
	for g := range r.Regions {
		if r.Regions[g].Name == name {
			v += t[cell{id, trace.RegionID(g)}].of(metric)
		}
	}
	return v
}

var scatterRoute = Route{Options: []map[string]string{{"event0": "solve:exclusive", "event1": "main:inclusive",
	"event2": "MPI_Send:calls", "event3": "read"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Points []struct {
			Location       trace.LocationID
			X, Y, Z, Color *float64
		}
		Axes []struct {
			Name     string
			Min, Max float64
		}
	}
	r.Data(&d)
	t, ids := r.totals(&r.Window), r.holders(&r.Window)
	r.same("points", float64(len(d.Points)), float64(len(ids)))
	for _, p := range d.Points {
		for _, x := range []struct {
			axis, name, metric string
			got                *float64
		}{{"x", "solve", "exclusive", p.X}, {"y", "main", "inclusive", p.Y}, {"z", "MPI_Send", "calls", p.Z},
			{"color", "read", "exclusive", p.Color}} {
			if x.got == nil {
				r.wrong("location %d has no %s", p.Location, x.axis)
				continue
			}
			r.same(x.axis, *x.got, r.named(t, p.Location, x.name, x.metric))
		}
	}
}}

// A layout that places by values as they are, so that they can be read off.
const valueLayout = "text:values\nBEGIN_VIZ=values\nx=event0.val\ny=event1.val\nz=event2.val\ncolor=event3.val\nEND_VIZ"

var topologyRoute = Route{Options: []map[string]string{{"layout": valueLayout, "event0": "solve:exclusive",
	"event1": "main:inclusive", "event2": "MPI_Send:calls", "event3": "read"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Points []struct {
			Location       trace.LocationID
			X, Y, Z, Color *float64
		}
		Mean *float64
	}
	r.Data(&d)
	t := r.totals(&r.Window)
	seen := map[trace.LocationID]bool{}
	for _, p := range d.Points {
		seen[p.Location] = true
		for _, x := range []struct {
			axis, name, metric string
			got                *float64
		}{{"x", "solve", "exclusive", p.X}, {"y", "main", "inclusive", p.Y}, {"z", "MPI_Send", "calls", p.Z},
			{"color", "read", "exclusive", p.Color}} {
			if x.got != nil {
				r.same(x.axis, *x.got, r.below(t, p.Location, x.name, x.metric))
			}
		}
	}
	for _, id := range r.holders(&r.Window) {
		found := false
		for up := id; up != trace.NoLocation; up = r.Tree.Parent[up] {
			found = found || seen[up]
		}
		if !found {
			r.wrong("location %d is at no point", id)
		}
	}
}}

// below adds up a name on a location and all below it that are no points themselves.
func (r *Run) below(t map[cell]sum, id trace.LocationID, name, metric string) float64 {
	return r.named(t, id, name, metric)
}
