package routetest

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A spanNode is one span with the spans it called.
type spanNode struct {
	Row
	location trace.LocationID
	lane     int // of the location
	row      int
	service  trace.LocationID
	parent   *spanNode
	children []*spanNode
	trace    string
	orphan   bool
	failed   bool
	apart    bool
}

// spansOf hangs every row on its parent: the other end of a spawn link, else the row around it.
func spansOf(r *Raw) (roots []*spanNode) {
	if !slices.Contains(r.Reader.Attributes(), "trace") {
		return nil
	}
	nodes := make([][]*spanNode, len(r.Lanes))
	number := map[trace.LocationID]int{}
	var all []*spanNode
	for n := range r.Lanes {
		l := &r.Lanes[n]
		lane := number[l.Location]
		number[l.Location]++
		for i := range l.Rows {
			x := &spanNode{Row: l.Rows[i], location: l.Location, lane: lane, row: i, service: l.Location}
			for up := l.Location; up != trace.NoLocation; up = r.Tree.Parent[up] {
				if r.Tree.Kind[up] == "service" {
					x.service = up
					break
				}
			}
			x.apart = r.Regions[x.Region].Category == "consumer"
			facts, _ := r.Reader.IntervalAttributes(store.Row{Location: l.Location, Lane: lane, Row: i})
			for _, a := range facts {
				switch a.Key {
				case "trace":
					x.trace = a.Value.String()
				case "parent span":
					x.orphan = true
				case "error":
					x.failed = true
				}
			}
			if x.Parent >= 0 {
				x.parent = nodes[n][x.Parent]
			}
			nodes[n] = append(nodes[n], x)
			all = append(all, x)
		}
	}
	for _, l := range r.Links {
		if l.Kind == trace.LinkSpawn && l.FromRow[0] >= 0 && l.ToRow[0] >= 0 {
			if from, to := nodes[l.FromRow[0]][l.FromRow[1]], nodes[l.ToRow[0]][l.ToRow[1]]; from != to {
				to.parent = from
			}
		}
	}
	for _, x := range all {
		if x.parent == nil {
			roots = append(roots, x)
		} else {
			x.parent.children = append(x.parent.children, x)
		}
	}
	return roots
}

// A spanRequest is the trees of one trace.
type spanRequest struct {
	id         string
	root       *spanNode // nil: not in the source
	roots      []*spanNode
	begin, end trace.Time
}

func (x *spanNode) each(f func(*spanNode)) {
	f(x)
	for _, c := range x.children {
		c.each(f)
	}
}

// spanRequestsOf are those that begin in the window and touch its locations.
func spanRequestsOf(r *Run) (out []*spanRequest) {
	roots := spansOf(r.Raw)
	sort.SliceStable(roots, func(a, b int) bool { return roots[a].Begin < roots[b].Begin })
	byID := map[string]*spanRequest{}
	for _, x := range roots {
		q := byID[x.trace]
		if q == nil {
			q = &spanRequest{id: x.trace}
			byID[x.trace] = q
			out = append(out, q)
		}
		q.roots = append(q.roots, x)
		if q.root == nil && !x.orphan {
			q.root = x
		}
	}
	return slices.DeleteFunc(out, func(q *spanRequest) bool {
		touches := false
		q.begin, q.end = q.roots[0].Begin, q.roots[0].End
		for _, x := range q.roots {
			x.each(func(c *spanNode) {
				touches = touches || r.in(&r.Window, c.location)
				q.begin, q.end = min(q.begin, c.Begin), max(q.end, c.End)
			})
		}
		if q.root != nil {
			q.begin, q.end = q.root.Begin, q.root.End
		}
		return !touches || q.begin < r.Window.Begin || q.begin >= r.Window.last
	})
}

// walkBack finds the critical path of a span that is clipped to [lo, hi) and moved back: the own time of each span.
// Nothing of it is before the floor.
func (x *spanNode) walkBack(lo, hi, moved, floor trace.Time, got func(*spanNode, trace.Time)) {
	type kid struct {
		x      *spanNode
		lo, hi trace.Time
	}
	var kids []kid
	for _, c := range x.children {
		k := kid{c, max(c.Begin, lo), min(c.End, hi)}
		if !c.apart && k.lo < k.hi {
			kids = append(kids, k)
		}
	}
	own := func(from, to trace.Time) {
		if from, to = max(from-moved, floor), to-moved; from < to {
			got(x, to-from)
		}
	}
	cursor := hi
	var later *kid
	used := map[*spanNode]bool{}
	for cursor > lo {
		var best *kid
		for i := range kids {
			k := &kids[i]
			if used[k.x] || best != nil && (best.hi > k.hi || best.hi == k.hi && best.lo <= k.lo) {
				continue
			}
			if later != nil && k.hi > later.lo {
				events := 0
				for _, o := range kids {
					for _, t := range []trace.Time{o.lo, o.hi} {
						if t >= later.lo && t <= k.hi {
							events++
						}
					}
				}
				if k.hi >= later.hi || k.lo >= later.lo || 100*(k.hi-later.lo) > hi-lo || events != 2 {
					continue
				}
			}
			best = k
		}
		if best == nil {
			break
		}
		used[best.x] = true
		for i := range kids { // children that end later were passed over for good
			if kids[i].hi > best.hi {
				used[kids[i].x] = true
			}
		}
		back := max(best.hi-cursor, 0)
		own(best.hi-back, cursor)
		best.x.walkBack(best.lo, best.hi, moved+back, max(floor, lo-moved), got)
		cursor = max(best.lo-back, lo)
		later = best
	}
	own(lo, cursor)
}

// criticalpathRoute walks back from the end of each request.
var criticalpathRoute = Route{Options: []map[string]string{{}, {"by": "operation"}, {"by": "service"}},
	Check: func(r *Run) {
		if r.Result != nil && !runfacts.HasSpans(r.Reader) {
			checkStepPaths(r)
			return
		}
		want := map[string]float64{}
		in := map[string]map[string]bool{}
		length := 0.0
		list := spanRequestsOf(r)
		for _, q := range list {
			length += float64(q.end - q.begin)
			if q.root == nil {
				continue
			}
			q.root.walkBack(q.root.Begin, q.root.End, 0, q.root.Begin, func(x *spanNode, t trace.Time) {
				if !r.Window.shows(x.Region) {
					return
				}
				name := r.Tree.Name[x.service]
				switch r.Options["by"] {
				case "operation":
					name += ": " + r.Regions[x.Region].Name
				case "":
					var chain []string
					for up := x; up != nil; up = up.parent {
						chain = append(chain, r.Tree.Name[up.service]+": "+r.Regions[up.Region].Name)
					}
					slices.Reverse(chain)
					name = strings.Join(chain, " > ")
				}
				want[name] += float64(t)
				if in[name] == nil {
					in[name] = map[string]bool{}
				}
				in[name][q.id] = true
			})
		}
		if r.Result == nil {
			if len(list) > 0 {
				r.wrong("nothing is shown of %d requests", len(list))
			}
			return
		}
		var d struct {
			Length, Requests float64
			By               []struct {
				Region, Service, CallPath string
				Time, Mean, Requests      float64
			}
		}
		r.Data(&d)
		r.same("length", d.Length, length)
		r.same("requests", d.Requests, float64(len(list)))
		for _, x := range d.By {
			name := x.Service
			switch r.Options["by"] {
			case "operation":
				name += ": " + x.Region
			case "":
				name = x.CallPath
			}
			r.same("time of "+name, x.Time, want[name])
			r.same("requests with "+name, x.Requests, float64(len(in[name])))
			r.same("mean of "+name, x.Mean, want[name]/max(float64(len(in[name])), 1))
			delete(want, name)
		}
		for name, t := range want {
			r.wrong("%s is not there, recomputed %v", name, fmt.Sprint(t))
		}
	}}

// requestsRoute adds up each request, finds the spans its path waits for, and the self time of every operation
// nanosecond by nanosecond of its children.
var requestsRoute = Route{Options: []map[string]string{{}, {"request": "slow:30%"}, {"request": "request 3"}},
	Check: func(r *Run) {
		if r.Result == nil {
			return
		}
		var d struct {
			Rows []struct {
				ID                                       string
				Begin, Duration, Spans, Services, Errors float64
				Critical                                 []struct {
					Service, Region string
					Time            float64
				}
			}
			Self []struct {
				Service, Region               string
				Calls, Duration, Self, Errors float64
			}
			Differs []struct{ Inside, Outside, Effect, P, Q float64 }
		}
		r.Data(&d)
		byID := map[string]*spanRequest{}
		list := spanRequestsOf(r)
		for _, q := range list {
			byID[q.id] = q
		}
		if r.Options["request"] == "request 3" {
			return // it is shown whatever the window
		}
		r.same("requests", float64(len(d.Rows)), float64(len(list)))
		type sums struct{ calls, duration, self, errors float64 }
		self := map[string]*sums{}
		for _, x := range d.Rows {
			q := byID[x.ID]
			if q == nil {
				r.wrong("request %s is not in the window", x.ID)
				continue
			}
			spans, failed, services := 0, 0, map[trace.LocationID]bool{}
			for _, root := range q.roots {
				root.each(func(c *spanNode) {
					spans++
					services[c.service] = true
					if c.failed {
						failed++
					}
					if !r.Window.shows(c.Region) {
						return
					}
					name := r.Tree.Name[c.service] + ": " + r.Regions[c.Region].Name
					if self[name] == nil {
						self[name] = &sums{}
					}
					s := self[name]
					s.calls++
					s.duration += float64(c.End - c.Begin)
					s.self += float64(c.selfTime())
					if c.failed {
						s.errors++
					}
				})
			}
			r.same("begin of "+x.ID, x.Begin, float64(q.begin))
			r.same("duration of "+x.ID, x.Duration, float64(q.end-q.begin))
			r.same("spans of "+x.ID, x.Spans, float64(spans))
			r.same("services of "+x.ID, x.Services, float64(len(services)))
			r.same("errors of "+x.ID, x.Errors, float64(failed))
			want := map[string]float64{}
			if q.root != nil {
				q.root.walkBack(q.root.Begin, q.root.End, 0, q.root.Begin, func(c *spanNode, t trace.Time) {
					want[r.Tree.Name[c.service]+": "+r.Regions[c.Region].Name] += float64(t)
				})
			}
			for _, p := range x.Critical {
				r.same("path of "+x.ID+": "+p.Region, p.Time, want[p.Service+": "+p.Region])
			}
		}
		r.same("operations", float64(len(d.Self)), float64(len(self)))
		for _, x := range d.Self {
			name := x.Service + ": " + x.Region
			s := self[name]
			if s == nil {
				r.wrong("nobody calls %s", name)
				continue
			}
			r.same("calls of "+name, x.Calls, s.calls)
			r.same("duration of "+name, x.Duration, s.duration)
			r.same("self time of "+name, x.Self, s.self)
			r.same("errors of "+name, x.Errors, s.errors)
		}
		for _, x := range d.Differs {
			if x.Effect < -1 || x.Effect > 1 || x.P < 0 || x.P > 1 || x.Q < x.P || x.Q > 1 {
				r.wrong("a difference %+v", x)
			}
		}
	}}

// selfTime cuts the span at every begin and end of its children, and takes the pieces that none covers.
func (x *spanNode) selfTime() (sum trace.Time) {
	cuts := []trace.Time{x.Begin, x.End}
	for _, c := range x.children {
		cuts = append(cuts, min(max(c.Begin, x.Begin), x.End), min(max(c.End, x.Begin), x.End))
	}
	slices.Sort(cuts)
	for i := 1; i < len(cuts); i++ {
		free := true
		for _, c := range x.children {
			free = free && !(c.Begin <= cuts[i-1] && cuts[i-1] < c.End && cuts[i] <= c.End)
		}
		if free {
			sum += cuts[i] - cuts[i-1]
		}
	}
	return sum
}
