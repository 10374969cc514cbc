// Package callgraph turns functions and the edges between them into a profile, for the formats of profilers that know
// who called whom, but not along which path.
//
// Exact are the exclusive cost and the calls of functions, and their inclusive cost but within circles: those are
// flat rows. Call paths are shared out: if a function has several callers, the cost of its callees is divided in
// proportion to theirs.
package callgraph

import "cmp"

// A Function is one of the graph. Self is its cost by metric, without its callees.
type Function struct {
	Name, File, Object string
	Line               int
	Self               []float64
	Called             float64

	apart   int     // the line that tells it from others of its name and file; 0: none
	calls   []*edge // to others and itself, in order of arrival
	callees map[*Function]*edge
	callers int // other functions
	lines   []*line
	byPlace map[Place]*line

	// Of finish:
	inclusive []float64
	given     []float64 // by callers outside of its circle
	circle    int       // number of its circle; alone in most
	index     int
	low       int
	onStack   bool
}

// An edge is all calls of one function by another.
type edge struct {
	to    *Function
	count float64
	cost  []float64
}

// A Graph is the functions of one thread.
type Graph struct {
	functions []*Function
	byKey     map[functionKey]*Function
	circles   [][]*Function
}

type functionKey struct {
	name, file, object string
	line               int
}

// New makes an empty graph.
func New() *Graph { return &Graph{byKey: map[functionKey]*Function{}} }

// Function finds or makes a function.
func (g *Graph) Function(name, file, object string) *Function {
	return g.FunctionAt(name, file, object, 0)
}

// FunctionAt is Function where a file may have several of one name, which their lines tell apart.
func (g *Graph) FunctionAt(name, file, object string, line int) *Function {
	key := functionKey{name, file, object, line}
	f, ok := g.byKey[key]
	if !ok {
		f = &Function{Name: name, File: file, Object: object, Line: line, apart: line, callees: map[*Function]*edge{}}
		g.byKey[key] = f
		g.functions = append(g.functions, f)
	}
	return f
}

// Call adds calls of one function by another, with their total cost.
func (g *Graph) Call(from, to *Function, count float64, cost []float64) {
	e, ok := from.callees[to]
	if !ok {
		e = &edge{to: to}
		from.callees[to] = e
		from.calls = append(from.calls, e)
		if from != to {
			to.callers++
		}
	}
	e.count += count
	e.cost = add(e.cost, cost)
	to.Called += count
}

// Add adds cost to the function itself.
func (f *Function) Add(cost []float64) { f.Self = add(f.Self, cost) }

// add is the sum of two lists, in the first; the shorter counts as followed by zeros.
func add(to, list []float64) []float64 {
	for len(to) < len(list) {
		to = append(to, 0)
	}
	for i, v := range list {
		to[i] += v
	}
	return to
}

// Merge adds the functions of another graph.
func (g *Graph) Merge(o *Graph) {
	for _, f := range o.functions {
		to := g.FunctionAt(f.Name, f.File, f.Object, f.apart)
		to.Add(f.Self)
		to.Line = cmp.Or(to.Line, f.Line)
		find := func(f *Function) *Function { return g.FunctionAt(f.Name, f.File, f.Object, f.apart) }
		for _, e := range f.calls {
			g.Call(to, find(e.to), e.count, e.cost)
		}
		to.mergeLines(f, find)
	}
}

// finish finds circles and adds up inclusive costs. Calls of a function by itself are in its own cost already; within a
// circle of several the same cost is told by more than one edge, so there it is at most that of the circle. O(edges).
func (g *Graph) finish() {
	g.findCircles()
	for _, circle := range g.circles {
		var whole []float64 // cost of the circle and of its callees
		for _, f := range circle {
			f.inclusive = add(f.inclusive, f.Self)
			whole = add(whole, f.Self)
			for _, e := range f.calls {
				if e.to != f {
					f.inclusive = add(f.inclusive, e.cost)
				}
				if e.to.circle != f.circle {
					whole = add(whole, e.cost)
					e.to.given = add(e.to.given, e.cost)
				}
			}
		}
		if len(circle) > 1 {
			for _, f := range circle {
				whole = add(whole, make([]float64, len(f.inclusive)))
				for i := range f.inclusive {
					f.inclusive[i] = min(f.inclusive[i], whole[i])
				}
			}
		}
	}
}

// findCircles puts functions that can reach each other into one circle (Tarjan's algorithm, without recursion).
func (g *Graph) findCircles() {
	type step struct {
		f    *Function
		next int
	}
	var stack []*Function
	counter := 0
	visit := func(f *Function) {
		counter++
		f.index, f.low, f.onStack = counter, counter, true
		stack = append(stack, f)
	}
	for _, root := range g.functions {
		if root.index > 0 {
			continue
		}
		visit(root)
		work := []step{{f: root}}
		for len(work) > 0 {
			top := &work[len(work)-1]
			if top.next < len(top.f.calls) {
				to := top.f.calls[top.next].to
				top.next++
				if to.index == 0 {
					visit(to)
					work = append(work, step{f: to})
				} else if to.onStack {
					top.f.low = min(top.f.low, to.index)
				}
				continue
			}
			f := top.f
			if work = work[:len(work)-1]; len(work) > 0 {
				up := work[len(work)-1].f
				up.low = min(up.low, f.low)
			}
			if f.low != f.index {
				continue
			}
			var circle []*Function
			for {
				member := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				member.onStack = false
				member.circle = len(g.circles)
				circle = append(circle, member)
				if member == f {
					break
				}
			}
			g.circles = append(g.circles, circle)
		}
	}
}
