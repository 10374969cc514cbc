package latency

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Loss is the time that one call costs by a fault, or of repeated and serial calls all of one caller.
type Loss struct {
	Fault   *Fault // its kind, operations and callers; its sums are not complete
	Node    int32  // the call, or the caller
	Request int32
	Calls   int64
	Time    trace.Time
}

// A Call is one call of the requests that are looked at.
type Call struct {
	Node     int32
	Critical trace.Time // by itself on the critical path
	On       bool       // it or one of its callees is on the path
}

// Losses returns all losses of the requests, also those too small to report.
func Losses(f *request.Forest, chosen []int32, each func(*Loss)) {
	c := newLook(f, chosen)
	c.each = each
	c.all()
}

// Calls yields every call of the requests.
func Calls(f *request.Forest, chosen []int32, each func(*Call)) {
	c := newLook(f, chosen)
	for i := range int32(f.Len()) {
		if c.counts(i) {
			each(&Call{Node: i, Critical: c.critical[i], On: c.on[i]})
		}
	}
}

// Ordered are operations in the order in which a fault lists them.
func Ordered(ops []Op) []Op {
	out := slices.Clone(ops)
	slices.SortFunc(out,
		func(a, b Op) int { return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region)) })
	return out
}
