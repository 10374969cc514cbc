package request

import (
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// GatherSome reads some requests out of a part of a run, as large as a forest of all requests knows them to be. It is
// nil where the part does not hold all of their calls. The forest has no other request, and the counts are of the part.
func GatherSome(part *runfacts.SpanSource, known *Forest, want []int32) (*Forest, error) {
	f, err := Gather(part)
	if err != nil {
		return nil, err
	}
	type place struct {
		location  trace.LocationID
		lane, row int32
	}
	first := func(f *Forest, k int32) place {
		x := f.At(f.Requests[k].Roots[0])
		return place{x.Location, x.Lane, x.Row}
	}
	at := make(map[place]int32, len(f.Requests))
	for k := range f.Requests {
		at[first(f, int32(k))] = int32(k)
	}
	number := make([]int32, len(f.Requests))
	for k := range number {
		number[k] = -1
	}
	list := make([]Request, 0, len(want))
	for _, k := range want {
		n, found := at[first(known, k)]
		if !found || !f.Requests[n].like(&known.Requests[k]) {
			return nil, nil
		}
		number[n] = int32(len(list))
		list = append(list, f.Requests[n])
	}
	f.Requests = list
	for i, k := range f.Of {
		if k >= 0 {
			f.Of[i] = number[k]
		}
	}
	return f, nil
}

// like reports whether two are one request with all its calls: a part of them is fewer, and those whose caller is
// missing are further roots.
func (r *Request) like(o *Request) bool {
	return r.ID == o.ID && r.Spans == o.Spans && len(r.Roots) == len(o.Roots)
}
