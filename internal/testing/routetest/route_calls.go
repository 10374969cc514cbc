package routetest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// units returns the compared units: locations, or ranks if these have several.
func (r *Run) units() (units []trace.LocationID, of map[trace.LocationID]trace.LocationID) {
	of = map[trace.LocationID]trace.LocationID{}
	ids := r.holders(&r.Window)
	for _, id := range ids {
		u := id
		for r.Options["group"] != "locations" && r.Tree.Rank[u] >= 0 && r.Tree.Parent[u] != trace.NoLocation &&
			r.Tree.Rank[r.Tree.Parent[u]] == r.Tree.Rank[u] {
			u = r.Tree.Parent[u]
		}
		of[id] = u
		if !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	if r.Options["group"] != "ranks" && (len(units) < 2 || len(units) == len(ids)) {
		for _, id := range ids {
			of[id] = id
		}
		units = ids
	}
	return units, of
}

// A pair is who calls whom; caller "" is none.
type pair struct {
	caller, callee string
	unit           trace.LocationID
}

// calls lists the calls that begin in the window by unit and pair, at full length.
func (r *Run) calls(byCaller, inclusive bool) map[pair][]float64 {
	_, of := r.units()
	out := map[pair][]float64{}
	r.lanes(&r.Window, func(l *Lane) {
		for i, x := range l.Rows {
			if !r.Window.begins(x) || !r.showsName(x.Region) {
				continue
			}
			k := pair{callee: r.Regions[x.Region].Name, unit: of[l.Location]}
			if byCaller && x.Parent >= 0 {
				k.caller = r.Regions[l.Rows[x.Parent].Region].Name
			}
			v := x.End - x.Begin
			if !inclusive {
				v = l.exclusive(i)
			}
			out[k] = append(out[k], float64(v))
		}
	})
	return out
}

// leftOut are the regions that statistics of calls leave out: those of calls without an
// end, unless no call in the window has one.
func (r *Run) leftOut() map[trace.RegionID]bool {
	out, ended := map[trace.RegionID]bool{}, false
	for id := range r.Regions {
		if _, without := trace.EndOf(&r.Regions[id]); without {
			out[trace.RegionID(id)] = true
		}
	}
	r.lanes(&r.Window, func(l *Lane) {
		for _, x := range l.Rows {
			ended = ended || r.Window.begins(x) && !out[x.Region]
		}
	})
	if !ended {
		return nil
	}
	return out
}

// ended leaves them out.
func (r *Run) ended(calls map[pair][]float64) map[pair][]float64 {
	for id := range r.leftOut() {
		for k := range calls {
			if k.callee == r.Regions[id].Name {
				delete(calls, k)
			}
		}
	}
	return calls
}

// showsName: regions of one name are one row, and chosen together.
func (r *Run) showsName(id trace.RegionID) bool {
	if r.Window.Regions == nil {
		return true
	}
	return slices.ContainsFunc(r.Window.Regions,
		func(g trace.RegionID) bool { return r.Regions[g].Name == r.Regions[id].Name })
}

// open counts the calls that are open when the window begins.
func (r *Run) open() (n float64) {
	r.lanes(&r.Window, func(l *Lane) {
		for _, x := range l.Rows {
			if x.Begin < r.Window.Begin && x.End > r.Window.Begin {
				n++
			}
		}
	})
	return n
}

// A box is a distribution of calls as a view states it.
type box struct {
	Count, Total            float64
	Min, Max, Mean, SD      *float64
	Q02, Q25, Q50, Q75, Q98 *float64
	Exact                   bool
	cutCalls
}

// cutCalls are those that began before the window, and their time in it.
type cutCalls struct {
	Cut     float64
	CutTime float64 `json:"cut_time"`
}

// cuts returns the calls that are open when the window begins, by region and unit, and by caller if byCaller is
// set.
func (r *Run) cuts(byCaller bool) map[pair]cutCalls {
	_, of := r.units()
	out, left := map[pair]cutCalls{}, r.leftOut()
	r.lanes(&r.Window, func(l *Lane) {
		for i, x := range l.Rows {
			if x.Begin >= r.Window.Begin || x.End <= r.Window.Begin || !r.showsName(x.Region) || left[x.Region] {
				continue
			}
			k := pair{callee: r.Regions[x.Region].Name, unit: of[l.Location]}
			if byCaller && x.Parent >= 0 {
				k.caller = r.Regions[l.Rows[x.Parent].Region].Name
			}
			c := out[k]
			time := r.Window.clip(x.Begin, x.End)
			for _, child := range l.Rows {
				if child.Parent == i && r.metric() == "exclusive" {
					time -= r.Window.clip(child.Begin, child.End)
				}
			}
			out[k] = cutCalls{c.Cut + 1, c.CutTime + float64(time)}
		}
	})
	return out
}

// boxes is their number: of calls that begin in the window, and of cut ones.
func boxes(calls map[pair][]float64, cuts map[pair]cutCalls) float64 {
	n := len(calls)
	for k := range cuts {
		if len(calls[k]) == 0 {
			n++
		}
	}
	return float64(n)
}

// holds compares a box with the calls themselves.
func (r *Run) holds(what string, b box, calls []float64, cut cutCalls) {
	r.Helper()
	if b.cutCalls != cut {
		r.wrong("%s: %+v, recomputed %+v", what, b.cutCalls, cut)
	}
	if len(calls) == 0 {
		if cut.Cut == 0 || b.Count != 0 || b.Q50 != nil {
			r.wrong("%s: there is no call", what)
		}
		return
	}
	mean, sd, low, high := spread(calls)
	r.same(what+" count", b.Count, float64(len(calls)))
	r.same(what+" total", b.Total, add(calls))
	for _, x := range []struct {
		name      string
		got       *float64
		want, tol float64
	}{
		{"min", b.Min, low, 1e-9}, {"max", b.Max, high, 1e-9}, {"mean", b.Mean, mean, 1e-9}, {"sd", b.SD, sd, 1e-6},
		{"q02", b.Q02, quantile(calls, 0.02), 0.01}, {"q25", b.Q25, quantile(calls, 0.25), 0.01},
		{"q50", b.Q50, quantile(calls, 0.5), 0.01}, {"q75", b.Q75, quantile(calls, 0.75), 0.01},
		{"q98", b.Q98, quantile(calls, 0.98), 0.01},
	} {
		if b.Exact && x.tol == 0.01 {
			x.tol = 1e-9
		}
		if x.got == nil {
			r.wrong("%s: %s is not stated", what, x.name)
		} else if math.Abs(*x.got-x.want) > x.tol*max(math.Abs(x.want), mean)+1e-9 {
			r.wrong("%s: %s is %v, recomputed %v of %d calls", what, x.name, *x.got, x.want, len(calls))
		}
	}
}

var callOptions = []map[string]string{nil, {"metric": "inclusive"}, {"group": "locations"}}

var boxprofileRoute = Route{Options: callOptions, Check: func(r *Run) {
	if !r.timed() {
		r.overLocations("rows")
		return
	}
	want, cuts := r.ended(r.calls(false, r.metric() == "inclusive")), r.cuts(false)
	if r.Result == nil {
		if len(want)+len(cuts) > 0 {
			r.wrong("says %v, and there are calls", r.Empty)
		}
		return
	}
	var d struct {
		Overlapping float64
		Rows        []struct {
			Region   string
			Location trace.LocationID
			box
		}
		Regions []struct {
			Region       string
			Calls, Total float64
		}
	}
	r.Data(&d)
	r.same("boxes", float64(len(d.Rows)), boxes(want, cuts))
	if r.Window.Regions == nil {
		r.same("calls open at the begin", d.Overlapping, r.open())
	}
	for _, x := range d.Rows {
		key := pair{callee: x.Region, unit: x.Location}
		r.holds(fmt.Sprintf("%s on %d", x.Region, x.Location), x.box, want[key], cuts[key])
	}
	for _, g := range d.Regions {
		n, total := 0.0, 0.0
		for k, calls := range want {
			if k.callee == g.Region {
				n, total = n+float64(len(calls)), total+add(calls)
			}
		}
		r.same("calls of "+g.Region, g.Calls, n)
		r.same("total of "+g.Region, g.Total, total)
	}
}}

// overLocations checks boxes whose points are locations: those of a profile.
func (r *Run) overLocations(list string) {
	want := map[string]float64{}
	flat := hasFlat(r.Raw)
	for _, p := range r.Profile {
		path := r.Paths[p.Path]
		if p.Metric != 0 || path.Flat != flat || !r.in(&r.Window, p.Location) {
			continue
		}
		name := r.Regions[path.Region].Name
		for up := path.Parent; up != trace.NoCallPath; up = r.Paths[up].Parent {
			if r.Regions[r.Paths[up].Region].Name == name {
				p.Inclusive = 0 // of a recursion only the outermost counts
			}
		}
		want[name] += sum{p.Calls, p.Inclusive, p.Exclusive}.of(r.metric())
	}
	var d map[string]any
	r.Data(&d)
	rows, _ := d[list].([]any)
	for _, x := range rows {
		row := x.(map[string]any)
		name := row["region"].(string)
		r.same("total of "+name, row["total"].(float64), want[name])
	}
}

var callmatrixRoute = Route{Options: callOptions, Check: func(r *Run) {
	if !r.timed() {
		r.pathPairs()
		return
	}
	want, cuts := r.ended(r.calls(true, r.metric() == "inclusive")), r.cuts(true)
	if r.Result == nil {
		if len(want)+len(cuts) > 0 {
			r.wrong("says %v, and there are calls", r.Empty)
		}
		return
	}
	var d struct {
		Overlapping float64
		Cells       []struct {
			Caller, Callee string
			Location       trace.LocationID
			box
		}
		Groups []struct{ Members []trace.LocationID }
	}
	r.Data(&d)
	r.same("cells", float64(len(d.Cells)), boxes(want, cuts))
	for _, x := range d.Cells {
		key := pair{x.Caller, x.Callee, x.Location}
		r.holds(fmt.Sprintf("%s → %s on %d", x.Caller, x.Callee, x.Location), x.box, want[key], cuts[key])
	}
	units, _ := r.units()
	var members [][]trace.LocationID
	for _, g := range d.Groups {
		members = append(members, g.Members)
	}
	r.partition(members, units)
}}

// pathPairs checks the matrix of a profile: totals of the regions below each caller.
func (r *Run) pathPairs() {
	if r.Result == nil {
		return
	}
	var d struct {
		Cells []struct {
			Caller, Callee string
			Total          float64
		}
	}
	r.Data(&d)
	got, want := map[pair]float64{}, map[pair]float64{}
	for _, c := range d.Cells {
		got[pair{caller: c.Caller, callee: c.Callee}] += c.Total
	}
	flat := slices.ContainsFunc(r.Paths, func(p trace.CallPath) bool { return p.Flat })
	for _, p := range r.Profile {
		path := r.Paths[p.Path]
		if flat || p.Metric != 0 || !r.in(&r.Window, p.Location) || !r.showsName(path.Region) {
			continue
		}
		k := pair{callee: r.Regions[path.Region].Name}
		if path.Parent != trace.NoCallPath {
			k.caller = r.Regions[r.Paths[path.Parent].Region].Name
		}
		want[k] += sum{p.Calls, p.Inclusive, p.Exclusive}.of(r.metric())
	}
	for k, v := range want {
		if r.metric() != "inclusive" { // of a recursion only the outermost counts
			r.same(k.caller+" → "+k.callee, got[k], v)
		}
	}
}

// partition checks that groups hold every unit just once.
func (r *Run) partition(groups [][]trace.LocationID, units []trace.LocationID) {
	r.Helper()
	var all []trace.LocationID
	for _, g := range groups {
		all = append(all, g...)
	}
	slices.Sort(all)
	if !slices.Equal(all, slices.Sorted(slices.Values(units))) {
		r.wrong("groups hold %v, compared are %v", all, units)
	}
}

var groupsRoute = Route{Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Groups []struct {
			Members []trace.LocationID
			Differs []struct {
				Region, Caller  string
				Inside, Outside float64
			}
		}
		Order   []trace.LocationID
		Partial []struct {
			Region, Caller string
			Count          int
			Members        []trace.LocationID
		}
	}
	r.Data(&d)
	units, _ := r.units()
	var members [][]trace.LocationID
	for _, g := range d.Groups {
		members = append(members, g.Members)
	}
	r.partition(members, units)
	r.partition([][]trace.LocationID{d.Order}, units)
	if !r.timed() {
		return
	}
	calls := r.calls(true, false)
	for _, g := range d.Groups {
		for _, x := range g.Differs {
			inside, outside := 0.0, 0.0
			for _, u := range units {
				v := add(calls[pair{x.Caller, x.Region, u}])
				if slices.Contains(g.Members, u) {
					inside += v / float64(len(g.Members))
				} else {
					outside += v / float64(len(units)-len(g.Members))
				}
			}
			r.same("mean inside of "+x.Caller+" → "+x.Region, x.Inside, inside)
			r.same("mean outside of "+x.Caller+" → "+x.Region, x.Outside, outside)
		}
	}
	for _, p := range d.Partial {
		n := 0
		for _, u := range units {
			if len(calls[pair{p.Caller, p.Region, u}]) > 0 {
				n++
				if !slices.Contains(p.Members, u) {
					r.wrong("%d calls %s and is not said to", u, p.Region)
				}
			}
		}
		r.same("locations that call "+p.Region, float64(p.Count), float64(n))
	}
}}

// A callNode is one call path with its expected numbers.
type callNode struct {
	calls, inclusive, exclusive float64
	by                          map[trace.LocationID]float64 // inclusive by location
}

// callPaths merges the call trees of the window: times clipped, calls where they
// begin. The path of a row is that of its parents on its lane.
func (r *Run) callPaths() map[string]*callNode {
	out := map[string]*callNode{}
	at := func(key string) *callNode {
		if out[key] == nil {
			out[key] = &callNode{by: map[trace.LocationID]float64{}}
		}
		return out[key]
	}
	if !r.timed() {
		alone := !slices.ContainsFunc(r.Paths, func(p trace.CallPath) bool { return !p.Flat })
		for _, p := range r.Profile {
			if p.Metric != 0 || r.Paths[p.Path].Flat && !alone || !r.in(&r.Window, p.Location) {
				continue
			}
			if alone { // regions without callers have their exclusive time
				p.Inclusive = p.Exclusive
			}
			key := ""
			for up := p.Path; up != trace.NoCallPath; up = r.Paths[up].Parent {
				key = fmt.Sprintf("/%d", r.Paths[up].Region) + key
			}
			n := at(key)
			n.calls, n.inclusive, n.exclusive = n.calls+p.Calls, n.inclusive+p.Inclusive, n.exclusive+p.Exclusive
			n.by[p.Location] += p.Inclusive
		}
		return out
	}
	r.lanes(&r.Window, func(l *Lane) {
		keys := make([]string, len(l.Rows))
		for i, x := range l.Rows {
			if x.Parent >= 0 {
				keys[i] = keys[x.Parent]
			}
			keys[i] += fmt.Sprintf("/%d", x.Region)
			clipped := r.Window.clip(x.Begin, x.End)
			if !r.Window.begins(x) && clipped == 0 {
				continue
			}
			n := at(keys[i])
			n.inclusive += float64(clipped)
			n.exclusive += float64(clipped)
			n.by[l.Location] += float64(clipped)
			if r.Window.begins(x) {
				n.calls++
			}
			if x.Parent >= 0 {
				if up := out[keys[x.Parent]]; up != nil {
					up.exclusive -= float64(clipped)
				}
			}
		}
	})
	return out
}

var calltreeRoute = Route{Check: func(r *Run) {
	want := r.callPaths()
	if r.Window.Regions != nil {
		return // a pruned tree; the totals of its regions are in Agree
	}
	if r.Result == nil {
		if len(want) > 0 {
			r.wrong("says %v", r.Empty)
		}
		return
	}
	var d struct {
		Locations int
		Total     float64
		Nodes     []struct {
			Parent                      *int
			Region_id                   trace.RegionID
			Calls, Inclusive, Exclusive float64
			Q02, Q25, Q50, Q75, Q98     *float64
		}
	}
	r.Data(&d)
	cut := slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "marked …") })
	keys := make([]string, len(d.Nodes))
	found := 0
	for i, n := range d.Nodes {
		if n.Parent != nil {
			keys[i] = keys[*n.Parent]
		}
		keys[i] += fmt.Sprintf("/%d", n.Region_id)
		w := want[keys[i]]
		if w == nil {
			if !cut {
				r.wrong("the path %s is not in the window", keys[i])
			}
			continue
		}
		found++
		r.same("calls of "+keys[i], n.Calls, w.calls)
		r.same("inclusive of "+keys[i], n.Inclusive, w.inclusive)
		r.same("exclusive of "+keys[i], n.Exclusive, w.exclusive)
		if n.Q50 == nil {
			continue
		}
		values := make([]float64, 0, d.Locations)
		for _, v := range w.by {
			values = append(values, v)
		}
		for len(values) < d.Locations {
			values = append(values, 0)
		}
		for q, got := range map[float64]*float64{0.02: n.Q02, 0.25: n.Q25, 0.5: n.Q50, 0.75: n.Q75, 0.98: n.Q98} {
			r.same(fmt.Sprintf("quantile %v of %s", q, keys[i]), *got, quantile(values, q))
		}
	}
	r.same("paths", float64(found), float64(len(want)))
}}
