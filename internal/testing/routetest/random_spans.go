package routetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// requests are spans of services, one request after the other: calls in the service itself
// nest, calls of others are linked, some fail, some overlap their sibling by a little.
func requests(w trace.Writer, rnd *rand.Rand) {
	regions(w) // some views are asked for them by name
	var ids []trace.LocationID
	for _, name := range []string{"front", "cart", "database"} {
		service := location(w, trace.NoLocation, "service", name, trace.NoRank)
		if name == "database" {
			ids = append(ids, location(w, service, trace.KindProcess, "db-1", trace.NoRank),
				location(w, service, trace.KindProcess, "db-2", trace.NoRank))
			continue
		}
		ids = append(ids, service)
	}
	var names []trace.RegionID
	for _, g := range []trace.Region{{Name: "GET /", Category: "server", Role: trace.RoleCompute},
		{Name: "list", Category: "client", Role: trace.RoleCommunication},
		{Name: "select", Category: "server", Role: trace.RoleCompute},
		{Name: "update", Category: "server", Role: trace.RoleCompute},
		{Name: "take", Category: "consumer", Role: trace.RoleCompute}} {
		names = append(names, w.Region(g))
	}
	k := &spans{w: w, rnd: rnd, ids: ids, names: names, trace: w.Attribute("trace"), span: w.Attribute("span"),
		parent: w.Attribute("parent span"), failed: w.Attribute("error")}
	for _, id := range ids {
		k.streams = append(k.streams, w.Stream(id, trace.StreamOptions{Unordered: true}))
	}
	at := trace.Time(0)
	for range 14 {
		at += trace.Time(rnd.IntN(3000))
		length := trace.Time(rnd.IntN(40_000))
		k.request++
		k.call(0, 0, at, at+length, 0, -1)
		at += length + 1
	}
	for _, s := range k.streams {
		s.Close()
	}
}

type spans struct {
	w                           trace.Writer
	rnd                         *rand.Rand
	ids                         []trace.LocationID
	names                       []trace.RegionID
	streams                     []trace.Stream
	trace, span, parent, failed trace.AttributeID
	request, calls              int
}

// call writes a span and its children, which are mostly within it.
func (k *spans) call(on, name int, begin, end trace.Time, depth int, from int) {
	s := k.streams[on]
	s.Interval(begin, end, k.names[name])
	k.calls++
	s.Attribute(k.trace, trace.Text(fmt.Sprint("request ", k.request)))
	s.Attribute(k.span, trace.Text(fmt.Sprint(k.calls)))
	if from >= 0 {
		s.Attribute(k.parent, trace.Text(fmt.Sprint(from)))
	}
	if k.rnd.IntN(8) == 0 {
		s.Attribute(k.failed, trace.Integer(1))
	}
	me := k.calls
	if depth == 3 || end-begin < 200 {
		return
	}
	at := begin + trace.Time(k.rnd.Int64N(int64(end-begin)/4+1))
	for range k.rnd.IntN(4) {
		to := at + trace.Time(k.rnd.Int64N(int64(end-begin)/2+1))
		if to > end {
			to = end
		}
		if to <= at {
			break
		}
		other := (on + 1 + k.rnd.IntN(len(k.ids)-1)) % len(k.ids)
		callee := 1 + k.rnd.IntN(len(k.names)-1)
		k.w.Link(trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: k.ids[on], Time: begin, Region: k.names[name]},
			To:   trace.End{Location: k.ids[other], Time: at, Region: k.names[callee]}})
		k.call(other, callee, at, to, depth+1, me)
		at = to - (end-begin)/150 + trace.Time(k.rnd.Int64N(int64(end-begin)/20+1))
	}
}
