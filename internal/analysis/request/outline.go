package request

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Outline holds the calls that the overview of all requests needs, in columns: the roots, the calls of the slowest
// request, and the parts of each critical path. It is a hundredth of a Forest where requests have a hundred calls.
type Outline struct {
	// Calls, parents first; Parent is a place among them, -1 at roots.
	Location []trace.LocationID
	Lane     []int32
	Row      []int32
	Region   []trace.RegionID
	Begin    []trace.Time
	End      []trace.Time
	Parent   []int32
	Flags    []uint8

	// Requests, by begin. Root is a place among the calls, and so are those of request k:
	// Roots[FirstRoot[k]:FirstRoot[k+1]].
	ID                      []string
	Root                    []int32
	FirstRoot, Roots        []int32
	RequestBegin            []trace.Time
	RequestEnd, RequestLast []trace.Time
	Spans, Services, Errors []int32

	// Ops are the operations on critical paths; those of request k are Part[FirstPart[k]:FirstPart[k+1]], with their
	// time.
	Ops       []Path // without a parent
	FirstPart []int32
	Part      []int32
	PartTime  []trace.Time

	Counts Counts
}

// A Part is the time that an operation has on the critical path of a request.
type Part struct {
	Service trace.LocationID
	Region  trace.RegionID
	Time    trace.Time
}

// Parts adds up the critical path of request k by operation, in the order of services and regions. If its root is
// missing, time between calls belongs to no operation.
func (f *Forest) Parts(k int32) []Part {
	if f.outline != nil {
		return f.outline.parts(k)
	}
	return f.walkParts(f.Walker(), k, nil)
}

func (f *Forest) walkParts(w *criticalpath.Walker, k int32, into []Part) []Part {
	f.Walk(w, &f.Requests[k], func(s criticalpath.Section) {
		if s.Node < 0 {
			return
		}
		p := Part{Service: f.Service(s.Node), Region: f.Region[s.Node], Time: s.End - s.Begin}
		for i := range into { // few, and the last ones come again
			if into[i].Service == p.Service && into[i].Region == p.Region {
				into[i].Time += p.Time
				return
			}
		}
		into = append(into, p)
	})
	slices.SortFunc(into,
		func(a, b Part) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region)) })
	return into
}

func (o *Outline) parts(k int32) []Part {
	var out []Part
	for i := o.FirstPart[k]; i < o.FirstPart[k+1]; i++ {
		op := o.Ops[o.Part[i]]
		out = append(out, Part{op.Service, op.Region, o.PartTime[i]})
	}
	return out
}

// Slowest is the request that takes longest, of those the first; -1 if there is none.
func (f *Forest) Slowest(of []int32) int32 {
	most := int32(-1)
	for _, k := range of {
		if most < 0 || f.Requests[k].Duration() > f.Requests[most].Duration() {
			most = k
		}
	}
	return most
}

// Outlined reports whether the outline of a forest has at most so many calls, and is worth keeping.
func (f *Forest) Outlined(most int) bool {
	roots, longest := 0, int32(-1)
	for k := range f.Requests {
		roots += len(f.Requests[k].Roots)
		if longest < 0 || f.Requests[k].Duration() > f.Requests[longest].Duration() {
			longest = int32(k)
		}
	}
	return len(f.Requests) > 1 && roots+int(f.Requests[longest].Spans) <= most
}

// Outline returns the outline of a forest; nil if it would not be small.
func (f *Forest) Outline(most int) *Outline {
	if !f.Outlined(most) {
		return nil
	}
	all := make([]int32, len(f.Requests))
	for k := range all {
		all[k] = int32(k)
	}
	o := &Outline{Counts: f.Counts, FirstRoot: []int32{0}, FirstPart: []int32{0}}
	at := f.outlineCalls(o, f.Slowest(all))
	ops := map[Path]int32{}
	w := f.Walker()
	var parts []Part
	for k := range f.Requests {
		r := &f.Requests[k]
		root := int32(NoRoot)
		if r.Root != NoRoot {
			root = at[r.Root]
		}
		o.ID, o.Root = append(o.ID, r.ID), append(o.Root, root)
		for _, x := range r.Roots {
			o.Roots = append(o.Roots, at[x])
		}
		o.FirstRoot = append(o.FirstRoot, int32(len(o.Roots)))
		o.RequestBegin, o.RequestEnd = append(o.RequestBegin, r.Begin), append(o.RequestEnd, r.End)
		o.RequestLast = append(o.RequestLast, r.Last)
		o.Spans, o.Services, o.Errors = append(o.Spans, r.Spans), append(o.Services, r.Services),
			append(o.Errors, r.Errors)
		parts = f.walkParts(w, int32(k), parts[:0])
		for _, p := range parts {
			op := Path{Parent: -1, Service: p.Service, Region: p.Region}
			n, ok := ops[op]
			if !ok {
				n = int32(len(o.Ops))
				ops[op] = n
				o.Ops = append(o.Ops, op)
			}
			o.Part, o.PartTime = append(o.Part, n), append(o.PartTime, p.Time)
		}
		o.FirstPart = append(o.FirstPart, int32(len(o.Part)))
	}
	return o
}

// outlineCalls takes roots and the calls of one request, and gives the place of each.
func (f *Forest) outlineCalls(o *Outline, slowest int32) map[int32]int32 {
	at := map[int32]int32{}
	for i, k := range f.Of {
		node := int32(i)
		if k < 0 || k != slowest && f.Parent[i] >= 0 {
			continue
		}
		up := int32(-1)
		if f.Parent[i] >= 0 {
			up = at[f.Parent[i]]
		}
		at[node] = int32(len(o.Begin))
		x := f.At(node)
		o.Location, o.Lane, o.Row, o.Region = append(o.Location, x.Location), append(o.Lane, x.Lane),
			append(o.Row, x.Row), append(o.Region, x.Region)
		o.Begin, o.End, o.Parent, o.Flags = append(o.Begin, x.Begin), append(o.End, x.End), append(o.Parent, up),
			append(o.Flags, uint8(f.flags[i]))
	}
	return at
}

// Forest returns the requests of an outline, with the calls that it has: the roots of all, and all of the slowest. It
// has neither the callees of other requests nor self time. It is nil if the outline names locations or regions unknown
// to the run, since another program wrote it.
func (o *Outline) Forest(s *runfacts.SpanSource) *Forest {
	if !o.sound(len(s.Regions()), len(s.Lanes())-1) {
		return nil
	}
	list := make([]invocation.Call, len(o.Begin))
	for i := range list {
		list[i] = invocation.Call{Location: o.Location[i], Lane: o.Lane[i], Row: o.Row[i], Region: o.Region[i],
			Begin: o.Begin[i], End: o.End[i]}
	}
	f := newForest(invocation.Listed(list, o.Parent), s, false)
	f.outline = o
	f.Counts = o.Counts
	for i := range o.Flags {
		f.flags[i] = flag(o.Flags[i])
	}
	f.Requests = make([]Request, len(o.ID))
	for k := range f.Requests {
		f.Requests[k] = Request{ID: o.ID[k], Root: o.Root[k],
			Roots: o.Roots[o.FirstRoot[k]:o.FirstRoot[k+1]:o.FirstRoot[k+1]], Begin: o.RequestBegin[k],
			End: o.RequestEnd[k], Last: o.RequestLast[k],
			Spans: o.Spans[k], Services: o.Services[k], Errors: o.Errors[k]}
	}
	f.sortLate()
	return f
}

// sound reports whether all numbers mean something.
func (o *Outline) sound(regions, locations int) bool {
	calls, requests := len(o.Begin), len(o.ID)
	for _, n := range []int{len(o.Location), len(o.Lane), len(o.Row), len(o.Region), len(o.End), len(o.Parent),
		len(o.Flags)} {
		if n != calls {
			return false
		}
	}
	for _, n := range []int{len(o.Root), len(o.FirstRoot) - 1, len(o.RequestBegin), len(o.RequestEnd),
		len(o.RequestLast), len(o.Spans), len(o.Services), len(o.Errors), len(o.FirstPart) - 1} {
		if n != requests {
			return false
		}
	}
	for i := range calls {
		if int(o.Location[i]) >= locations || int(o.Region[i]) >= regions || o.Parent[i] < -1 ||
			o.Parent[i] >= int32(i) {
			return false
		}
	}
	for _, op := range o.Ops {
		if int(op.Service) >= locations || int(op.Region) >= regions {
			return false
		}
	}
	if requests == 0 || len(o.Part) != len(o.PartTime) || !within(o.Part, len(o.Ops)) || !within(o.Roots, calls) ||
		!starts(o.FirstRoot, len(o.Roots)) || !starts(o.FirstPart, len(o.Part)) {
		return false
	}
	for k := range requests {
		if o.Root[k] < NoRoot || int(o.Root[k]) >= calls || o.FirstRoot[k] == o.FirstRoot[k+1] {
			return false
		}
	}
	return true
}

// within reports whether all are places of a list.
func within(list []int32, n int) bool {
	return !slices.ContainsFunc(list, func(x int32) bool { return x < 0 || int(x) >= n })
}

// starts reports whether all are where stretches of a list begin, and the last one its end.
func starts(list []int32, n int) bool {
	return list[0] == 0 && slices.IsSorted(list) && int(list[len(list)-1]) == n
}
