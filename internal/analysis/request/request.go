// Package request makes requests of spans: trees of calls across services, wherever the
// calls run, with the time that each call has for itself.
//
//	gather.go    spans and their parents become trees
//	request.go   trees become requests: those of one trace id are one
//	self.go      time of calls for themselves
//	outline.go   the part that an overview needs, to be kept
//	path.go      call paths, and the critical path by them, over many requests
//
// Ids of spans link callers and callees. Cycles of parents are cut, and calls whose parent is not in the
// source become roots; both are counted.
package request

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Forest is all requests of a run. Nodes are calls: parents come before children, else by
// begin; where there are several roots node 0 is no call and is above them.
type Forest struct {
	calls   *invocation.Calls
	Begin   []trace.Time
	End     []trace.Time
	Region  []trace.RegionID
	Parent  []int32 // -1 at roots
	Regions []trace.Region
	// Children of node i are Children[First[i]:First[i+1]], by begin.
	First    []int32
	Children []int32
	Self     []trace.Time // duration less the union of the children, wherever they run
	Of       []int32      // request of each node; -1 of what is no call
	flags    []flag
	service  []trace.LocationID // by location
	index    rowIndex
	outline  *Outline // where this has but a part of the calls

	Requests []Request // by begin
	Counts
}

// Counts count invalid spans.
type Counts struct {
	Cut     int // calls that were their own ancestors
	Late    int // calls that begin before their parent
	Orphans int // roots that name a parent which is not in the source
	Several int // requests with more than one root
	Missing int // requests of which no root is in the source
}

type flag uint8

const (
	failed flag = 1 << iota
	apart
)

// A Request is the calls of one trace id.
type Request struct {
	ID string
	// Root is the first call without a parent; NoRoot where every one names a parent that
	// is not in the source. Begin and End are those of the root, else of all calls.
	Root       int32
	Roots      []int32 // by begin
	Begin, End trace.Time
	Last       trace.Time // the end of the call that ends last
	Spans      int32
	Services   int32
	Errors     int32
}

// NoRoot is the root of a request whose root is not in the source.
const NoRoot = -1

// Duration of a request.
func (r *Request) Duration() trace.Time { return r.End - r.Begin }

// After is how long calls go on when the root has ended, where that is more than half of the root's time: then the
// root does not wait for them, and its duration says little of the request.
func (r *Request) After() trace.Time {
	if t := r.Last - r.End; t > r.Duration()/2 {
		return t
	}
	return 0
}

// Len is the number of nodes.
func (f *Forest) Len() int { return len(f.Begin) }

// At returns the place of a call.
func (f *Forest) At(node int32) invocation.Call { return f.calls.At(node) }

// Location returns the location of a call; none for the node above several roots.
func (f *Forest) Location(node int32) trace.LocationID { return f.calls.Location(node) }

// Node finds the call of a row; -1 for none.
func (f *Forest) Node(location trace.LocationID, lane, row int) int32 {
	return f.index.node(location, lane, row)
}

// Service is that of a call.
func (f *Forest) Service(node int32) trace.LocationID {
	if id := f.calls.Location(node); id != trace.NoLocation {
		return f.service[id]
	}
	return trace.NoLocation
}

// Failed reports whether a call says that it failed.
func (f *Forest) Failed(node int32) bool { return f.flags[node]&failed != 0 }

// Apart reports whether a call's parent does not wait for it.
func (f *Forest) Apart(node int32) bool { return f.flags[node]&apart != 0 }

// Kids are the calls that a call made.
func (f *Forest) Kids(node int32) []int32 { return f.Children[f.First[node]:f.First[node+1]] }

// SizeBytes estimates the memory of a forest.
func (f *Forest) SizeBytes() int64 {
	return 57*int64(len(f.Begin)) + 120*int64(len(f.Requests))
}

// Each yields the calls of a request in preorder, with their depth below their root.
func (f *Forest) Each(r *Request, do func(node int32, depth int)) {
	type open struct {
		node  int32
		depth int
	}
	var stack []open
	for i := len(r.Roots) - 1; i >= 0; i-- {
		stack = append(stack, open{r.Roots[i], 0})
	}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		do(x.node, x.depth)
		kids := f.Kids(x.node)
		for i := len(kids) - 1; i >= 0; i-- {
			stack = append(stack, open{kids[i], x.depth + 1})
		}
	}
}

// A root is one call without a parent.
type root struct {
	node   int32
	trace  string
	orphan bool
}

// request groups trees by their trace.
func (f *Forest) request(roots []root) {
	slices.SortStableFunc(roots, func(a, b root) int { return cmp.Compare(f.Begin[a.node], f.Begin[b.node]) })
	at := map[string]int{}
	for _, x := range roots {
		if x.orphan {
			f.Orphans++
		}
		k, known := at[x.trace]
		if !known || x.trace == "" {
			k = len(f.Requests)
			at[x.trace] = k
			f.Requests = append(f.Requests, Request{ID: x.trace, Root: NoRoot})
		}
		r := &f.Requests[k]
		r.Roots = append(r.Roots, x.node)
		if r.Root == NoRoot && !x.orphan {
			r.Root = x.node
		}
	}
	f.count()
	for k := range f.Requests {
		r := &f.Requests[k]
		r.Last = r.End
		if r.Root != NoRoot {
			r.Begin, r.End = f.Begin[r.Root], f.End[r.Root]
		}
		if len(r.Roots) > 1 {
			f.Several++
		}
		if r.Root == NoRoot {
			f.Missing++
		}
	}
}

// count gives every call to its request, and adds up the calls of each. Parents come before their children, so
// once through all of them will do.
func (f *Forest) count() {
	for k := range f.Requests {
		r := &f.Requests[k]
		for _, root := range r.Roots {
			f.Of[root] = int32(k)
		}
		r.Begin, r.End = f.Begin[r.Roots[0]], f.End[r.Roots[0]]
	}
	sets := f.newServiceSets()
	for i, k := range f.Of {
		if k < 0 {
			up := f.Parent[i]
			if up < 0 || f.Of[up] < 0 {
				continue // what is above all roots
			}
			k = f.Of[up]
			f.Of[i] = k
		}
		r := &f.Requests[k]
		r.Spans++
		if f.flags[i]&failed != 0 {
			r.Errors++
		}
		r.Begin, r.End = min(r.Begin, f.Begin[i]), max(r.End, f.End[i])
		if sets.add(k, f.Service(int32(i))) {
			r.Services++
		}
	}
}

// serviceSets are the services that were met in each request: a bit each.
type serviceSets struct {
	number []int32 // of a service, by location
	words  int     // of a request
	bits   []uint64
}

func (f *Forest) newServiceSets() *serviceSets {
	s := &serviceSets{number: make([]int32, len(f.service))}
	numbers := map[trace.LocationID]int32{}
	for id, at := range f.service {
		n, ok := numbers[at]
		if !ok {
			n = int32(len(numbers))
			numbers[at] = n
		}
		s.number[id] = n
	}
	s.words = (len(numbers) + 63) / 64
	s.bits = make([]uint64, s.words*len(f.Requests))
	return s
}

// add reports whether a service is new to a request.
func (s *serviceSets) add(request int32, service trace.LocationID) bool {
	n := s.number[service]
	word, bit := &s.bits[int(request)*s.words+int(n>>6)], uint64(1)<<(n&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}
