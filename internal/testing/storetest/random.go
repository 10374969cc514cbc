package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// randomTrace writes a trace that depends only on seed and size, the number of
// records of a location. Times are drawn from a short range, so that equal times,
// empty intervals and crossings are common. Streams are written in parallel.
func randomTrace(w trace.Writer, seed uint64, size int) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	origin := trace.Time([]int64{0, 1_790_857_026_000_000_000, -5000}[rnd.IntN(3)])
	scale := trace.Time([]int64{1, 1, 997, 1 << 33}[rnd.IntN(4)])
	regions := randomRegions(w, rnd)
	locations := randomLocations(w, rnd, size)
	attributes := []trace.AttributeID{w.Attribute("bytes"), w.Attribute("what")}
	var wg sync.WaitGroup
	var all []*generator
	for i, id := range locations {
		if rnd.IntN(4) == 0 && i > 0 {
			continue // a location without records
		}
		g := &generator{w: w, rnd: rand.New(rand.NewPCG(seed, uint64(100+i))), origin: origin, scale: scale, size: size,
			regions: regions, attributes: attributes, at: id}
		all = append(all, g)
		wg.Go(func() { g.location(id) })
	}
	wg.Wait()
	g := &generator{w: w, rnd: rnd, origin: origin, scale: scale, size: size, regions: regions}
	far := &generator{w: w, rnd: rand.New(rand.NewPCG(seed, 9))}
	for _, x := range all {
		if x.byParent && len(x.begins) > 0 {
			far.named = append(far.named, x)
		}
	}
	far.farParents()
	g.links(locations)
	g.profile(locations)
	w.Property("seed", fmt.Sprint(seed))
}

func randomRegions(w trace.Writer, rnd *rand.Rand) []trace.RegionID {
	var out []trace.RegionID
	for i := range 3 + rnd.IntN(10) {
		out = append(out,
			w.Region(trace.Region{Name: fmt.Sprint("region ", i), Role: trace.Role(1 + rnd.IntN(trace.RoleCount-1))}))
	}
	return out
}

func randomLocations(w trace.Writer, rnd *rand.Rand, size int) []trace.LocationID {
	n := 2 + rnd.IntN(12)
	if size > 1000 {
		n = 3
	}
	var out []trace.LocationID
	for i := range n {
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprint("t", rnd.IntN(30)),
			Key: fmt.Sprint(i), Rank: trace.NoRank}
		if i > 0 && rnd.IntN(4) > 0 {
			l.Parent = out[rnd.IntN(len(out))]
		}
		if rnd.IntN(3) == 0 {
			l.Rank = rnd.IntN(5)
		}
		if rnd.IntN(3) == 0 {
			l.Order = int64(rnd.IntN(3) - 1)
		}
		if rnd.IntN(3) == 0 {
			l.Attributes = []trace.Attribute{{Key: "cores", Value: trace.Integer(int64(i))}}
		}
		if i > 0 && rnd.IntN(6) == 0 {
			l.Kind = trace.KindSamples
		}
		out = append(out, w.Location(l))
	}
	return out
}

type generator struct {
	w          trace.Writer
	rnd        *rand.Rand
	origin     trace.Time
	scale      trace.Time // nanoseconds a unit of the time that is drawn
	begins     []trace.Time
	longest    int // intervals last less than 2^longest units
	size       int
	regions    []trace.RegionID
	attributes []trace.AttributeID
	at         trace.LocationID
	byParent   bool
	named      []*generator // locations whose calls may be named by number
}

func (g *generator) region() trace.RegionID { return g.regions[g.rnd.IntN(len(g.regions))] }

// location writes the records of one location in one of several manners.
func (g *generator) location(id trace.LocationID) {
	counter := g.w.Counter(trace.Counter{Location: id, Name: "level"})
	o := trace.StreamOptions{ByName: g.rnd.IntN(4) == 0, ByParent: g.rnd.IntN(4) == 0}
	pairs, intervals := !o.ByParent && g.rnd.IntN(3) > 0, g.rnd.IntN(2) == 0
	g.begins, g.byParent = g.begins[:0], o.ByParent
	if intervals && pairs || !pairs && g.rnd.IntN(2) == 0 {
		o.Unordered = true
	}
	g.longest = 4 + g.rnd.IntN(6)
	span := trace.Time(g.size) * trace.Time(1+g.rnd.IntN(6))
	s := g.w.Stream(id, o)
	now := trace.Time(g.rnd.IntN(20))
	for range g.size {
		if o.Unordered {
			now = trace.Time(g.rnd.Int64N(int64(span)))
		} else {
			now += trace.Time(g.rnd.IntN(5))
		}
		g.record(s, counter, g.origin+now*g.scale, pairs, intervals || !pairs)
	}
	if o.ByParent {
		g.parents(id)
	} else if g.rnd.IntN(3) == 0 {
		trace.SetRounded(s, trace.Time(g.rnd.IntN(3))*g.scale)
	}
	if err := s.Close(); err != nil {
		panic(fmt.Sprintf("storetest: close stream: %v", err))
	}
}

// farParents sets callers of intervals at other locations, some in circles.
func (g *generator) farParents() {
	if len(g.named) < 2 {
		return
	}
	for range 40 {
		end := func() trace.End {
			x := g.named[g.rnd.IntN(len(g.named))]
			n := g.rnd.IntN(len(x.begins))
			return trace.End{Location: x.at, Time: x.begins[n], Region: trace.NoRegion, Number: uint32(n + 1)}
		}
		g.w.Link(trace.Link{Kind: trace.LinkSpawn, From: end(), To: end(), Size: -1,
			Communicator: trace.NoCommunicator})
	}
}

// parents sets callers of intervals, some in circles.
func (g *generator) parents(id trace.LocationID) {
	for range g.begins {
		end := func() trace.End {
			n := g.rnd.IntN(len(g.begins))
			return trace.End{Location: id, Time: g.begins[n], Region: trace.NoRegion, Number: uint32(n + 1)}
		}
		g.w.Link(trace.Link{Kind: trace.LinkSpawn, From: end(), To: end(), Size: -1,
			Communicator: trace.NoCommunicator})
	}
}

func (g *generator) record(s trace.Stream, counter trace.CounterID, t trace.Time, pairs, intervals bool) {
	switch k := g.rnd.IntN(10); {
	case k == 0:
		s.Instant(t, g.region())
		return
	case k == 1:
		s.Sample(counter, t, float64(g.rnd.IntN(100))/4)
		return
	case intervals && (!pairs || k < 4):
		length := g.rnd.IntN(1 << g.rnd.IntN(g.longest))
		s.Interval(t, t+trace.Time(length)*g.scale, g.region())
		g.begins = append(g.begins, t)
	case k < 7:
		s.Enter(t, g.region())
	case k == 7:
		s.Leave(t, trace.NoRegion)
		return
	default:
		s.Leave(t, g.region())
		return
	}
	if g.rnd.IntN(5) == 0 {
		n := int64(g.rnd.IntN(1000))
		if n%10 == 0 { // at the limits of the short encoding of a store
			n = []int64{-1, 1<<32 - 1, 1 << 32, 1<<31 + 7, -1 << 63, 1<<63 - 1}[n/10%6]
		}
		s.Attribute(g.attributes[0], trace.Integer(n))
	}
	if g.rnd.IntN(9) == 0 {
		s.Attribute(g.attributes[1],
			[]trace.Value{trace.Text("a b"), trace.Number(0.5), trace.Text("00f067aa0ba902b7")}[g.rnd.IntN(3)])
	}
}

// links go forwards and backwards in time, with and without it.
func (g *generator) links(locations []trace.LocationID) {
	world := g.w.Communicator(trace.Communicator{Name: "world", Parent: trace.NoCommunicator, Members: locations})
	end := func() trace.End {
		e := trace.End{Location: locations[g.rnd.IntN(len(locations))],
			Time: g.origin + trace.Time(g.rnd.IntN(3*g.size))*g.scale, Region: trace.NoRegion}
		if g.rnd.IntN(3) == 0 {
			e.Region = g.region()
		}
		return e
	}
	for i := range g.size {
		l := trace.Link{Kind: trace.LinkMessage + trace.LinkKind(g.rnd.IntN(5)), From: end(), To: end(), Size: int64(i),
			Tag: int64(g.rnd.IntN(3)), Communicator: trace.NoCommunicator}
		if g.rnd.IntN(2) == 0 {
			l.Communicator = world
		}
		if g.rnd.IntN(8) == 0 {
			l.Untimed, l.Count = true, int64(1+g.rnd.IntN(5))
		}
		g.w.Link(l)
	}
}

func (g *generator) profile(locations []trace.LocationID) {
	metrics := []trace.MetricID{g.w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}),
		g.w.Metric(trace.Metric{Name: "size", Unit: "bytes", Integer: true})}
	paths := []trace.CallPathID{trace.NoCallPath}
	for range 6 {
		p := trace.CallPath{Parent: paths[g.rnd.IntN(len(paths))], Region: g.region()}
		if id := g.w.CallPath(p); !slices.Contains(paths, id) {
			paths = append(paths, id)
		}
	}
	for _, id := range locations {
		for _, p := range paths[1:] {
			for _, m := range metrics {
				if g.rnd.IntN(3) == 0 {
					g.w.Profile(trace.ProfileRow{Location: id, Path: p, Metric: m, Calls: float64(g.rnd.IntN(9)),
						Subcalls: 1, Inclusive: g.rnd.Float64(), Exclusive: 0.25})
				}
			}
		}
		for _, p := range paths[1:] {
			file := []trace.FileID{trace.NoFile, trace.SourceFile(g.w, "a.h"), trace.SourceFile(g.w, "b.h")}[g.rnd.IntN(3)]
			trace.AddLines(g.w, []trace.LineRow{
				{Location: id, Path: p, Callee: trace.NoCallPath, File: file, Line: uint32(g.rnd.IntN(50)),
					Metric: metrics[0], Inclusive: g.rnd.Float64(), Exclusive: 0.5},
				{Location: id, Path: p, Callee: p, File: file, Line: 7, Metric: metrics[0], Calls: 3, Inclusive: 2}})
		}
		if g.rnd.IntN(3) == 0 {
			g.w.Atomic(trace.AtomicRow{Location: id, Path: trace.NoCallPath, Metric: metrics[1], Count: 3, Min: 1,
				Max: 9, Mean: 4, SumSquares: 99})
			g.w.Moments(trace.MomentRow{Location: id, Role: trace.RoleCompute, Begin: g.origin + 2*g.scale,
				End: g.origin + 40*g.scale, Weight: 5, Mean: 7, Central: [trace.MaxMoment + 1]float64{2: 1.5, 8: 3}})
		}
	}
}

// windowsOf are windows worth asking about: whole, past the end, empty, between
// records, of one location, of inner nodes.
func windowsOf(r *reader, seed uint64) []store.Window {
	rnd := rand.New(rand.NewPCG(seed, 99))
	end := r.info.End
	out := []store.Window{
		{Begin: 0, End: end}, {Begin: 0, End: end + 100}, {Begin: -50, End: end / 2}, {Begin: end, End: end + 1},
		{Begin: end / 2, End: end / 2},
		{Begin: end + 5, End: end + 9}, {Begin: 0, End: end, Locations: []trace.LocationID{}},
		{Begin: end / 3, End: 2 * end / 3},
	}
	for range 16 {
		w := store.Window{Begin: trace.Time(rnd.Int64N(int64(end) + 1))}
		w.End = w.Begin + trace.Time(rnd.Int64N(int64(end-w.Begin)+2))
		if rnd.IntN(2) == 0 {
			w.Locations = []trace.LocationID{}
			for id := range r.tree.Len() {
				if rnd.IntN(3) == 0 {
					w.Locations = append(w.Locations, trace.LocationID(id))
				}
			}
		}
		out = append(out, w)
	}
	return out
}
