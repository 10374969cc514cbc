package request

import (
	"cmp"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The attributes that link a span to its trace and to other spans; importers of spans write them.
const (
	attributeTrace   = "trace"
	attributeParent  = "parent span"
	attributeFollows = "follows"
)

// Gather reads all requests of a run. O(spans).
func Gather(s *runfacts.SpanSource) (*Forest, error) {
	lanes, first, err := readLanes(s)
	if err != nil {
		return nil, err
	}
	number := make([]int32, first[len(first)-1]) // of a lane among those that hold calls
	for i := range number {
		number[i] = -1
	}
	for k, l := range lanes {
		number[first[l.Location]+uint32(l.Lane)] = int32(k)
	}
	calls := invocation.Collect(lanes)
	spot := func(location trace.LocationID, lane, row int32) int32 {
		if row < 0 || lane < 0 || int(location)+1 >= len(first) {
			return -1
		}
		k := number[first[location]+uint32(lane)]
		if k < 0 {
			return -1
		}
		return calls.Node(invocation.Spot{Lane: k, Row: row})
	}
	var mu sync.Mutex
	err = s.Parents(func(from []trace.LocationID, fromLane, fromRow []int32, to []trace.LocationID, toLane,
		toRow []int32) {
		mu.Lock()
		defer mu.Unlock()
		for i := range from {
			if child, parent := spot(to[i], toLane[i], toRow[i]), spot(from[i], fromLane[i], fromRow[i]); child >= 0 &&
				parent >= 0 {
				calls.Spawn(child, parent)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	f := newForest(calls.Finish(), s, true)
	// Neither needs the other's result.
	var marked error
	var beside sync.WaitGroup
	var caught parallel.Caught
	beside.Go(func() { marked = caught.Do(func() error { return f.mark(s) }) })
	f.selfTimes()
	roots, err := f.roots(s)
	beside.Wait()
	caught.Pass()
	if err := cmp.Or(err, marked); err != nil {
		return nil, err
	}
	f.request(roots)
	return f, nil
}

// readLanes reads all lanes, in order.
func readLanes(s *runfacts.SpanSource) (out []*invocation.Lane, first []uint32, err error) {
	first = s.Lanes()
	lanes := make([]*invocation.Lane, first[len(first)-1])
	var mu sync.Mutex
	err = s.Scan(func(c *trace.Columns) error {
		k := first[c.Location] + uint32(c.Lane)
		mu.Lock()
		l := lanes[k]
		if l == nil {
			l = &invocation.Lane{Location: c.Location, Lane: int32(c.Lane)}
			lanes[k] = l
		}
		mu.Unlock()
		l.Grow(len(c.Begin))
		for i := range c.Begin {
			l.Add(c.First+i, c.Begin[i], c.End(i), c.Region[i], c.Parent[i], true)
		}
		return nil
	})
	for _, l := range lanes {
		if l != nil && l.Len() > 0 {
			out = append(out, l)
		}
	}
	return out, first, err
}

// newForest hangs calls together; rows says whether each row of the run is one, and can be found.
func newForest(calls *invocation.Calls, s *runfacts.SpanSource, rows bool) *Forest {
	n := calls.Len()
	f := &Forest{calls: calls, Begin: calls.Begin, End: calls.End, Region: calls.Region, Parent: calls.Tree.Parent,
		Regions: s.Regions(),
		First:   make([]int32, n+1), Children: make([]int32, 0, n), Of: make([]int32, n), flags: make([]flag, n)}
	f.Cut, f.Late = calls.Cut, calls.Late
	for i := range f.Of {
		f.Of[i] = -1
	}
	if calls.Virtual {
		for i, p := range f.Parent {
			if p == 0 {
				f.Parent[i] = -1
			}
		}
	}
	f.link()
	first := s.Lanes()
	f.service = make([]trace.LocationID, len(first)-1)
	for id := range f.service {
		f.service[id] = s.Service(trace.LocationID(id))
	}
	if rows {
		f.index.build(calls, first)
	}
	return f
}

// link lists the children of each node, by begin.
func (f *Forest) link() {
	n := f.Len()
	for _, p := range f.Parent {
		if p >= 0 {
			f.First[p+1]++
		}
	}
	for i := range n {
		f.First[i+1] += f.First[i]
	}
	f.Children = make([]int32, f.First[n])
	next := make([]int32, n)
	copy(next, f.First)
	for i, p := range f.Parent {
		if p >= 0 {
			f.Children[next[p]] = int32(i)
			next[p]++
		}
	}
	f.sortLate()
}

// mark finds calls that failed and that no caller waits for.
func (f *Forest) mark(s *runfacts.SpanSource) error {
	set := func(what flag, is func(trace.Value) bool) func(trace.LocationID, int, []int32, []trace.Value) {
		var mu sync.Mutex
		return func(location trace.LocationID, lane int, rows []int32, values []trace.Value) {
			mu.Lock()
			defer mu.Unlock()
			for i, row := range rows {
				if node := f.index.node(location, lane, int(row)); node >= 0 && is(values[i]) {
					f.flags[node] |= what
				}
			}
		}
	}
	for _, a := range []struct {
		name string
		is   func(trace.Value) bool
	}{
		{"error", saysError}, {"error in log", saysError}, {"status", isError}, {"otel.status_code", isError},
		{"http.status_code", isServerError}, {"http.response.status_code", isServerError},
		{"rpc.grpc.status_code", isNotZero}, {"grpc.status_code", isNotZero},
	} {
		if err := s.Attribute(a.name, set(failed, a.is)); err != nil {
			return err
		}
	}
	if err := s.Attribute(attributeFollows, set(apart, func(trace.Value) bool { return true })); err != nil {
		return err
	}
	// A consumer takes a message from a queue in its own time.
	consumes := make([]bool, len(f.Regions))
	for i := range f.Regions {
		consumes[i] = f.Regions[i].Category == "consumer"
	}
	for i, id := range f.Region {
		if id != trace.NoRegion && consumes[id] {
			f.flags[i] |= apart
		}
	}
	return nil
}

// saysError: some write the error itself, some whether there is one.
func saysError(v trace.Value) bool {
	t := strings.ToLower(v.String())
	return t != "" && t != "false" && t != "0"
}

func isError(v trace.Value) bool { return strings.EqualFold(v.String(), "error") }

func isServerError(v trace.Value) bool { n, ok := v.Number(); return ok && n >= 500 }

func isNotZero(v trace.Value) bool { n, ok := v.Number(); return ok && n != 0 }

// roots reads the attributes of calls without a parent.
func (f *Forest) roots(s *runfacts.SpanSource) (out []root, err error) {
	at := make(map[int32]int32)
	for i, p := range f.Parent {
		if p < 0 && f.calls.Location(int32(i)) != trace.NoLocation {
			at[int32(i)] = int32(len(out))
			out = append(out, root{node: int32(i)})
		}
	}
	if asked, err := f.askEach(s, out); asked || err != nil {
		return out, err
	}
	for _, name := range []string{attributeTrace, attributeParent} {
		err = f.ofRoots(s, name, func(node int32, v trace.Value) {
			if k, ok := at[node]; ok && name == attributeTrace {
				out[k].trace = v.String()
			} else if ok {
				out[k].orphan = true
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fewRoots is the part of the calls up to which roots are asked one by one: their attributes are a small part of all
// then.
const fewRoots = 0.05

// askEach reads the attributes of each root one by one, if that is quicker than a scan of all calls.
func (f *Forest) askEach(s *runfacts.SpanSource, roots []root) (asked bool, err error) {
	if float64(len(roots)) > fewRoots*float64(f.Len()) {
		return false, nil
	}
	for i := range roots {
		at := f.calls.At(roots[i].node)
		facts, here, err := s.Facts(at.Location, int(at.Lane), int(at.Row))
		if !here || err != nil {
			return false, err
		}
		for _, a := range facts {
			switch a.Key {
			case attributeTrace:
				roots[i].trace = a.Value.String()
			case attributeParent:
				roots[i].orphan = true
			}
		}
	}
	return true, nil
}

// ofRoots yields an attribute of the calls without a parent.
func (f *Forest) ofRoots(s *runfacts.SpanSource, name string, do func(node int32, v trace.Value)) error {
	var mu sync.Mutex
	return s.Attribute(name, func(location trace.LocationID, lane int, rows []int32, values []trace.Value) {
		mu.Lock()
		defer mu.Unlock()
		for i, row := range rows {
			if node := f.index.node(location, lane, int(row)); node >= 0 && f.Parent[node] < 0 {
				do(node, values[i])
			}
		}
	})
}

// A rowIndex finds the node of a row.
type rowIndex struct {
	first []uint32 // lanes of locations
	from  []int    // by lane: its place in nodes
	nodes []int32
}

func (x *rowIndex) build(calls *invocation.Calls, first []uint32) {
	x.first = first
	x.from,
		x.nodes = calls.Rows(int(first[len(first)-1]),
		func(id trace.LocationID, lane int32) int { return int(first[id]) + int(lane) })
}

func (x *rowIndex) node(location trace.LocationID, lane, row int) int32 {
	if int(location)+1 >= len(x.first) || lane < 0 || row < 0 {
		return -1
	}
	k := x.first[location] + uint32(lane)
	if k >= x.first[location+1] || x.from[k]+row >= x.from[k+1] {
		return -1
	}
	return x.nodes[x.from[k]+row]
}
