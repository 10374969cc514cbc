package callgrind

// A function is one of the graph.
type function struct {
	name, file, object string
	line               int
	self               []float64
	calls              []*edge // to others and itself, in order of arrival
	callees            map[*function]*edge
	called             float64
	callers            int // other functions

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
	to    *function
	count float64
	cost  []float64
}

// A graph is the functions of one thread.
type graph struct {
	functions []*function
	byKey     map[functionKey]*function
	scratch   []float64
	circles   [][]*function
}

type functionKey struct{ name, file, object string }

func newGraph() *graph { return &graph{byKey: map[functionKey]*function{}} }

func (g *graph) function(name, file, object string) *function {
	key := functionKey{name, file, object}
	f, ok := g.byKey[key]
	if !ok {
		f = &function{name: name, file: file, object: object, callees: map[*function]*edge{}}
		g.byKey[key] = f
		g.functions = append(g.functions, f)
	}
	return f
}

func (g *graph) call(from, to *function, count float64, cost []float64) {
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
	to.called += count
}

// finish finds circles and adds up inclusive costs. Calls of a function by itself are in its own cost already; within a
// circle of several the same cost is told by more than one edge, so there it is at most that of the circle. O(edges).
func (g *graph) finish() {
	g.findCircles()
	for _, circle := range g.circles {
		var whole []float64 // what is spent in the circle, and called from it
		for _, f := range circle {
			f.inclusive = add(f.inclusive, f.self)
			whole = add(whole, f.self)
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
				for i := range f.inclusive {
					f.inclusive[i] = min(f.inclusive[i], whole[i])
				}
			}
		}
	}
}

// findCircles puts functions that can reach each other into one circle (Tarjan's algorithm, without recursion).
func (g *graph) findCircles() {
	type step struct {
		f    *function
		next int
	}
	var stack []*function
	counter := 0
	visit := func(f *function) {
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
			var circle []*function
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
