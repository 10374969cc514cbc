package gotrace

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A nested keeps the intervals of a stream and insists on order and nesting of what
// is entered and left.
type nested struct {
	trace.Stream
	t    *testing.T
	last trace.Time
	open []inner
	all  []inner
}

func (n *nested) Enter(t trace.Time, region trace.RegionID) {
	n.forward(t)
	n.open = append(n.open, inner{begin: t, region: region})
}

func (n *nested) Leave(t trace.Time, region trace.RegionID) {
	n.forward(t)
	top := n.open[len(n.open)-1]
	if top.region != region {
		n.t.Fatalf("leaves %d inside %d", region, top.region)
	}
	n.open = n.open[:len(n.open)-1]
	n.all = append(n.all, inner{begin: top.begin, end: t, region: region})
}

func (n *nested) Interval(begin, end trace.Time, region trace.RegionID) {
	n.all = append(n.all, inner{begin: begin, end: end, region: region})
}

func (n *nested) forward(t trace.Time) {
	if t < n.last {
		n.t.Fatalf("time goes back from %d to %d", n.last, t)
	}
	n.last = t
}

func TestProcessorEventsAreWrittenOnceAndInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	byAll := func(a, b inner) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.region, b.region))
	}
	for range 2000 {
		out := &nested{t: t, last: math.MinInt64}
		p := &processor{written: math.MinInt64, row: row{stream: out}}
		var want []inner
		for range 1 + random.IntN(3) { // lists, of which a later one may begin before
			var list []inner
			for range 1 + random.IntN(6) {
				begin := trace.Time(random.IntN(30))
				list = append(list, inner{begin: begin, end: begin + trace.Time(random.IntN(12)), region: trace.RegionID(len(want) + len(list))})
			}
			want = append(want, list...)
			p.write(list)
		}
		slices.SortFunc(out.all, byAll)
		slices.SortFunc(want, byAll)
		if len(out.open) > 0 || !slices.EqualFunc(out.all, want, func(a, b inner) bool { return byAll(a, b) == 0 }) {
			t.Fatalf("written: %v\nwant: %v\nopen: %v", out.all, want, out.open)
		}
	}
}
