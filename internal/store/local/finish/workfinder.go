package finish

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A workFinder finds where intervals of work begin and end, from the Enter and Leave of a location in order of time. An
// interval begins with the first gap after an annotation began or ended, and lasts until the next one does.
type workFinder struct {
	long  trace.Time       // gaps from this length on are no work; 0: all are
	stack []trace.RegionID // of open calls and annotations
	outer int              // how many of them are annotations with no call around
	last  trace.Time       // of the record before
	begun bool             // there is one
	open  bool             // an interval of work
}

// A workStep is a change of intervals of work before a record.
type workStep uint8

const (
	endsBefore   workStep = 1 << iota // one ended when the gap began
	beginsBefore                      // one began then
	endsNow                           // one ends with the record
)

// begun is how many intervals begin.
func (s workStep) begun() int { return int(s / beginsBefore & 1) }

// see takes a record. It returns the begin of the gap up to it too, if there is one.
func (g *workFinder) see(t trace.Time, c *call, annotation bool) (step workStep, begin trace.Time, found bool) {
	begin, found = g.last, g.begun && len(g.stack) == g.outer && t > g.last
	if !g.begun || t > g.last {
		g.last = t
	}
	g.begun = true
	switch off := g.long > 0 && t-begin >= g.long; {
	case found && off && g.open:
		step, g.open = endsBefore, false
	case found && !off && !g.open:
		step, g.open = beginsBefore, true
	}
	outer := g.outer
	if c.leave {
		g.pop(c.region)
	} else {
		if annotation && len(g.stack) == outer {
			g.outer++
		}
		g.stack = append(g.stack, c.region)
	}
	if g.outer != outer && g.open {
		step, g.open = step|endsNow, false
	}
	return step, begin, found
}

// mostForced is how many open calls a Leave closes at most.
const mostForced = 64

// pop closes calls as a trace.StackBuilder does.
func (g *workFinder) pop(region trace.RegionID) {
	n := len(g.stack)
	for i := n - 1; i >= max(n-mostForced, 0); i-- {
		if g.stack[i] == region || region == trace.NoRegion {
			g.stack, g.outer = g.stack[:i], min(g.outer, i)
			return
		}
	}
}

// An edge is the begin or the end of an interval. The other one is known where that is whole.
type edge struct {
	at, other trace.Time
	calls     int8 // by how many it changes those that are open; 0: of an annotation
	whole     bool
}

// appendEdges adds those of a record.
func (f *finisher) appendEdges(edges []edge, c *call) []edge {
	e := edge{at: c.begin, calls: 1, whole: c.whole}
	if f.annotates(c.region) {
		e.calls = 0
	}
	if c.leave {
		e.calls = -e.calls
	}
	if c.whole {
		e.other = max(c.end, c.begin)
		edges = append(edges, edge{e.other, e.at, -e.calls, true})
	}
	return append(edges, e)
}

// A workPart is a gap. It joins the one before where the calls between them nest, and no annotation begins or ends
// outside of them.
type workPart struct {
	gap
	joins bool
}

// partsBetween finds the gaps from edges in any order. One of no length follows the calls before an annotation, and the
// last ones.
func partsBetween(edges []edge) (out []workPart) {
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.calls, a.calls), cmp.Compare(b.other, a.other))
	})
	var calls callCluster
	open, last := 0, trace.Time(0)
	for i, e := range edges {
		if i == 0 || open == 0 && (e.at > last || e.calls == 0) {
			if i > 0 {
				out = append(out, workPart{gap{last, e.at}, calls.nest(last)})
			}
			calls = callCluster{begin: e.at, ends: calls.ends[:0]}
		}
		calls.add(e, open)
		open, last = max(open+int(e.calls), 0), e.at
	}
	return append(out, workPart{gap{last, last}, calls.nest(last)})
}

// A callCluster is calls without a gap between them.
type callCluster struct {
	begin, far trace.Time   // far: when the last of its intervals ends
	ends       []trace.Time // of open calls
	crosses    bool
}

// add takes an edge, when so many calls are open.
func (x *callCluster) add(e edge, open int) {
	switch annotation := e.calls == 0; {
	case !e.whole || annotation && (open == 0 || min(e.at, e.other) < x.begin):
		x.crosses = true
	case annotation:
		x.far = max(x.far, e.other)
	case e.calls > 0:
		for len(x.ends) > 0 && x.ends[len(x.ends)-1] <= e.at {
			x.ends = x.ends[:len(x.ends)-1]
		}
		x.crosses = x.crosses || len(x.ends) > 0 && x.ends[len(x.ends)-1] < e.other
		x.ends = append(x.ends, e.other)
	}
}

// nest reports whether the calls nest, when the last has ended.
func (x *callCluster) nest(last trace.Time) bool { return !x.crosses && x.far <= last }

// joinGaps makes intervals of parts; those that are as long as long are no work, unless that is 0.
func joinGaps(parts []workPart, long trace.Time) (out []gap) {
	follows := false
	for _, p := range parts {
		n := p.end - p.begin
		switch {
		case long > 0 && n >= long:
			follows = false
		case p.joins && follows:
			out[len(out)-1].end = p.end
		case n > 0:
			out, follows = append(out, p.gap), true
		default:
			follows = false
		}
	}
	return out
}
