package routetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// leaves are the holders at and below a location.
func (r *Run) leaves(id trace.LocationID, self bool) (out []trace.LocationID) {
	for _, h := range r.holders(&r.Window) {
		if h == id || !self && h >= id && h <= r.Tree.Last[id] {
			out = append(out, h)
		}
	}
	return out
}

// loss and gain of leaves drawn as one, in seconds: Σ v log2(v n / V), and n - 1.
func loss(values []float64) float64 {
	v, n := add(values), float64(len(values))
	s := 0.0
	for _, x := range values {
		if x > 0 {
			s += x * math.Log2(x*n/v)
		}
	}
	return s
}

var treemapRoute = Route{Options: []map[string]string{{"values": "regions", "hierarchy": "tree"},
	{"values": "regions", "p": "0", "hierarchy": "tree"}, {"values": "regions", "p": "0.5", "hierarchy": "tree"},
	{"values": "busy", "hierarchy": "tree"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		P          float64
		Gain, Loss float64
		Parts      []struct {
			Location   *trace.LocationID
			Path       string
			Leaves     int
			Values     map[string]float64
			Gain, Loss float64
		}
	}
	r.Data(&d)
	t := r.totals(&r.Window)
	count := 0
	for _, p := range d.Parts {
		var ids []trace.LocationID
		if p.Location == nil {
			ids = r.holders(&r.Window)
		} else if ids = r.leaves(*p.Location, false); p.Leaves == 1 && len(ids) > 1 {
			ids = []trace.LocationID{*p.Location}
		}
		count += len(ids)
		r.same("leaves of "+p.Path, float64(p.Leaves), float64(len(ids)))
		gain, lost := 0.0, 0.0
		busy := r.Options["values"] == "busy"
		for name, v := range p.Values {
			var values []float64
			for _, id := range ids {
				x := 0.0
				if busy && r.timed() {
					x = r.state(id, name)
				} else {
					for g := range r.Regions {
						mine := r.Regions[g].Name == name
						if busy { // a profile has no instants: times of regions add up
							mine = r.Regions[g].Role.Busy() == (name == "busy")
						}
						if mine && r.Window.shows(trace.RegionID(g)) {
							x += t[cell{id, trace.RegionID(g)}].Exclusive
						}
					}
				}
				values = append(values, x)
			}
			if busy && r.Window.Regions != nil {
				continue
			}
			r.same(name+" of "+p.Path, v, add(values))
			if !r.timed() {
				continue
			}
			for i := range values {
				values[i] /= 1e9
			}
			gain += float64(len(values) - 1)
			lost += loss(values)
		}
		if r.timed() && !busy {
			r.same("gain of "+p.Path, p.Gain, gain)
			if math.Abs(p.Loss-lost) > 1e-9*(1+math.Abs(lost)) {
				r.wrong("loss of %s is %v, recomputed %v", p.Path, p.Loss, lost)
			}
		}
	}
	r.same("leaves of all parts", float64(count), float64(len(r.holders(&r.Window))))
}}

// state is the time of a location that is busy, or neither busy nor empty.
func (r *Run) state(id trace.LocationID, name string) (v float64) {
	for role, t := range r.roleTime(id, r.Window.Begin, r.Window.End) {
		if busy := trace.Role(role).Busy(); name == "busy" && busy ||
			name != "busy" && !busy && trace.Role(role) != trace.RoleNone {
			v += float64(t)
		}
	}
	return v
}

var overviewRoute = Route{Options: []map[string]string{{"hierarchy": "tree"},
	{"p": "0.5", "bins": "10", "hierarchy": "tree"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Parts []struct {
			Location   *trace.LocationID
			Path       string
			Begin, End trace.Time
			Leaves     int
			Values     map[string]float64
		}
	}
	r.Data(&d)
	all, area := 0.0, 0.0
	for _, p := range d.Parts {
		sum := 0.0
		for _, v := range p.Values {
			sum += v
		}
		ids := r.holders(&r.Window)
		if p.Location != nil {
			ids = r.leaves(*p.Location, false)
		}
		all += sum
		if p.Location == nil && p.Leaves < len(ids) {
			area += float64(p.End-p.Begin) * float64(p.Leaves)
			if most := float64(p.End-p.Begin) * float64(p.Leaves); sum > most+float64(len(p.Values)) {
				r.wrong("%s from %d to %d holds %v of %v that fit", p.Path, p.Begin, p.End, sum, most)
			}
			continue // a group that the view made: who is in it, only the view says
		}
		want, exact := map[string]float64{}, 0.0
		for _, id := range ids {
			for role, t := range r.roleTime(id, p.Begin, p.End) {
				if trace.Role(role) != trace.RoleNone {
					want[trace.Role(role).String()] += float64(t)
					exact += float64(t)
				}
			}
		}
		area += float64(p.End-p.Begin) * float64(len(ids))
		if most := float64(p.End-p.Begin) * float64(len(ids)); sum > most+float64(len(p.Values)) {
			r.wrong("%s from %d to %d holds %v of %v that fit", p.Path, p.Begin, p.End, sum, most)
		}
		if p.Location != nil && len(ids) > 1 && slices.Contains(ids, *p.Location) {
			continue // the part may be that of the location alone
		}
		for role, v := range p.Values {
			if math.Abs(v-want[role]) > 1 {
				r.wrong("%s of %s from %d to %d is %v, recomputed %v", role, p.Path, p.Begin, p.End, v, want[role])
			}
		}
	}
	if all > r.capacity()+float64(len(d.Parts)*trace.RoleCount) {
		r.wrong("all parts hold %v of %v that fit", all, r.capacity())
	}
}}

var kaleidoscopeRoute = Route{Options: []map[string]string{{"all": "true"}}, Check: func(r *Run) {
	if r.Result == nil || r.Window.Regions != nil {
		return
	}
	if !r.Reader.Info().Timed() {
		checkPaths(r)
		return
	}
	var d struct {
		Height int
		Calls  int
		Nodes  []struct {
			ID               int
			Parent           *int
			Region, Location string
			Begin            int64
			Level            int
			Weight           float64
			Start, Alloc     float64
		}
	}
	r.Data(&d)
	want := map[string]int{}
	r.lanes(&r.Window, func(l *Lane) {
		for _, x := range l.Rows {
			if r.Window.begins(x) {
				want[fmt.Sprint(r.Regions[x.Region].Name, "\x00", r.Tree.Path(l.Location), "\x00", x.Begin)]++
			}
		}
	})
	at := map[int]int{}
	for i, n := range d.Nodes {
		at[n.ID] = i
	}
	told := map[string]bool{} // by spawn links, also against the clock
	for _, l := range r.Links {
		if l.Kind == trace.LinkSpawn && !l.Untimed && l.FromRow[1] >= 0 && l.ToRow[1] >= 0 {
			from, to := r.Lanes[l.FromRow[0]].Rows[l.FromRow[1]], r.Lanes[l.ToRow[0]].Rows[l.ToRow[1]]
			told[fmt.Sprint(r.Tree.Path(l.To), int64(to.Begin), "<", r.Tree.Path(l.From), int64(from.Begin))] = true
		}
	}
	children := make([][]int, len(d.Nodes))
	height := 0
	for i, n := range d.Nodes {
		if n.Region != "" {
			want[fmt.Sprint(n.Region, "\x00", n.Location, "\x00", n.Begin)]--
		}
		height = max(height, n.Level+1)
		if n.Parent == nil {
			continue
		}
		p := d.Nodes[at[*n.Parent]]
		children[at[*n.Parent]] = append(children[at[*n.Parent]], i)
		if p.Level+1 != n.Level {
			r.wrong("node %d is on level %d below one on %d", n.ID, n.Level, p.Level)
		}
		if p.Region != "" && p.Begin > n.Begin && !told[fmt.Sprint(n.Location, n.Begin, "<", p.Location, p.Begin)] {
			r.wrong("node %d begins at %d, before its maker at %d", n.ID, n.Begin, p.Begin)
		}
	}
	for k, n := range want {
		if n != 0 {
			r.wrong("call %q: %d too few", k, n)
			break
		}
	}
	r.same("height", float64(d.Height), float64(height))
	for i, n := range d.Nodes {
		weight := float64(height - n.Level)
		for _, c := range children[i] {
			weight += d.Nodes[c].Weight
		}
		r.same(fmt.Sprintf("weight of node %d", n.ID), n.Weight, weight)
		start, whole := n.Start, weight-float64(height-n.Level)
		for _, c := range children[i] {
			r.closeSpread("start", d.Nodes[c].Start, start, 1)
			r.closeSpread("share of the sector", d.Nodes[c].Alloc, n.Alloc*d.Nodes[c].Weight/whole, 1)
			start += d.Nodes[c].Alloc
		}
	}
}}

// checkPaths holds the exclusive values of call paths against the rows of the profile.
func checkPaths(r *Run) {
	var d struct {
		Metric string
		Nodes  []struct {
			Exclusive    float64
			Start, Alloc float64
		}
	}
	r.Data(&d)
	alone := true
	for _, p := range r.Paths {
		alone = alone && p.Flat
	}
	want, got := 0.0, 0.0
	for _, p := range r.Profile {
		if p.Metric == 0 && (alone || !r.Paths[p.Path].Flat) && r.in(&r.Window, p.Location) {
			want += max(p.Exclusive, 0)
		}
	}
	for i, n := range d.Nodes {
		got += n.Exclusive
		if n.Start < -1e-9 || n.Start+n.Alloc > 360+1e-6 {
			r.wrong("node %d lies at %v, %v wide", i, n.Start, n.Alloc)
		}
	}
	if math.Abs(got-want) > 1e-9*want {
		r.wrong("paths have %v of %s, of %v", got, d.Metric, want)
	}
}
