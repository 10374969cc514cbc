package routetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Shape is one kind of run that a reader can return.
type Shape struct {
	Name  string
	Write func(w trace.Writer, rnd *rand.Rand)
	// Large runs are looked at through fewer windows.
	Large bool
}

// Shapes of runs. Each is small, and has many difficulties of one sort of trace.
var Shapes = []Shape{
	{Name: "nested", Write: nested},
	{Name: "ties and empty calls", Write: ties},
	{Name: "shared lanes", Write: sharedLanes},
	{Name: "unclosed", Write: unclosed},
	{Name: "ranks over hosts cyclically", Write: cyclic},
	{Name: "flat ranks", Write: flatRanks, Large: true},
	{Name: "deep", Write: deep},
	{Name: "ten hours", Write: hours},
	{Name: "threads and streams", Write: streams},
	{Name: "steps on GPUs", Write: gpuJob},
	{Name: "requests", Write: requests},
	{Name: "profile of ten hours", Write: profilePaths},
	{Name: "flat profile", Write: profileFlat},
}

// regions defines one of each role, two of one name, and two annotations.
func regions(w trace.Writer) []trace.RegionID {
	var out []trace.RegionID
	for _, g := range []trace.Region{
		{Name: "main", Role: trace.RoleCompute}, {Name: "solve", Category: "lib", Role: trace.RoleCompute, File: "lib/solve.c", Line: 12},
		{Name: "solve", Category: "app", Role: trace.RoleCompute, File: "app.c", Line: 40},
		{Name: "MPI_Send", Category: "mpi", Role: trace.RoleCommunication},
		{Name: "MPI_Barrier", Category: "mpi", Role: trace.RoleSynchronization}, {Name: "sleep", Role: trace.RoleIdle},
		{Name: "read", Role: trace.RoleIO}, {Name: "copy", Role: trace.RoleCopy, File: "app.c", Line: 7},
		{Name: "collect", Role: trace.RoleOverhead, File: "app.c"}, {Name: "step", Role: trace.RoleAnnotation},
		{Name: "range", Category: "user", Role: trace.RoleAnnotation},
	} {
		out = append(out, w.Region(g))
	}
	return out
}

// A walk is a stack machine on one location.
type walk struct {
	w       trace.Writer
	rnd     *rand.Rand
	regions []trace.RegionID
	scale   trace.Time // ns a step of the clock
	step    int        // the clock moves by less than this many steps
	depth   int        // at most
	open    bool       // intervals that are open at the end stay open
}

func (k *walk) region() trace.RegionID { return k.regions[k.rnd.IntN(len(k.regions))] }

func (k *walk) run(id trace.LocationID, records int) {
	s := k.w.Stream(id, trace.StreamOptions{})
	now, depth := trace.Time(k.rnd.IntN(k.step))*k.scale, 0
	for range records {
		now += trace.Time(k.rnd.IntN(k.step)) * k.scale
		if depth > 0 && (depth >= k.depth || k.rnd.IntN(2) == 0) {
			s.Leave(now, trace.NoRegion)
			depth--
			continue
		}
		s.Enter(now, k.region())
		depth++
	}
	for ; depth > 0 && !k.open; depth-- {
		now += trace.Time(k.rnd.IntN(k.step)) * k.scale
		s.Leave(now, trace.NoRegion)
	}
	s.Close()
}

// overlapping adds whole intervals in any order, so that lanes must be found.
func (k *walk) overlapping(id trace.LocationID, n int) {
	s := k.w.Stream(id, trace.StreamOptions{Unordered: true})
	for range n {
		begin := trace.Time(k.rnd.IntN(40)) * k.scale
		s.Interval(begin, begin+trace.Time(k.rnd.IntN(20))*k.scale, k.region())
	}
	s.Close()
}

func location(w trace.Writer, parent trace.LocationID, kind trace.Kind, name string, rank int) trace.LocationID {
	return w.Location(trace.Location{Parent: parent, Kind: kind, Name: name, Rank: rank})
}

// messages and launches between locations, some without a size.
func links(w trace.Writer, rnd *rand.Rand, ids []trace.LocationID, n int, end trace.Time) {
	for range n {
		at := trace.Time(rnd.Int64N(int64(end)))
		l := trace.Link{Kind: trace.LinkMessage, Size: int64(rnd.IntN(4096)) - 1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: ids[rnd.IntN(len(ids))], Time: at, Region: trace.NoRegion},
			To: trace.End{Location: ids[rnd.IntN(len(ids))], Time: at + trace.Time(rnd.Int64N(int64(end)/10+1)),
				Region: trace.NoRegion}}
		if rnd.IntN(3) == 0 {
			l.Kind = trace.LinkSpawn
		}
		w.Link(l)
	}
}

func nested(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 1000, step: 20, depth: 6}
	var ids []trace.LocationID
	for h := range 2 {
		host := location(w, trace.NoLocation, trace.KindMachine, fmt.Sprint("host", h), trace.NoRank)
		location(w, host, trace.KindProcess, "empty", trace.NoRank)
		for p := range 3 {
			id := location(w, host, trace.KindProcess, fmt.Sprint("rank ", h*3+p), h*3+p)
			k.run(id, 60)
			ids = append(ids, id)
		}
	}
	links(w, rnd, ids, 40, 200_000)
	counted(w, rnd, ids[0])
}

// counted adds a counter and instants, which no time counts.
func counted(w trace.Writer, rnd *rand.Rand, id trace.LocationID) {
	c := w.Counter(trace.Counter{Location: id, Name: "power", Unit: "W"})
	at := w.Region(trace.Region{Name: "mark", Role: trace.RoleAnnotation})
	s := w.Stream(id, trace.StreamOptions{Unordered: true})
	for range 20 {
		s.Sample(c, trace.Time(rnd.IntN(100_000)), rnd.Float64())
		s.Instant(trace.Time(rnd.IntN(100_000)), at)
	}
	s.Close()
}

func ties(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 1, step: 2, depth: 5}
	host := location(w, trace.NoLocation, trace.KindMachine, "host", trace.NoRank)
	for p := range 4 {
		k.run(location(w, host, trace.KindProcess, fmt.Sprint("rank ", p), p), 60)
	}
	k.run(host, 10) // an inner node with intervals of its own
}

func sharedLanes(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 500}
	var ids []trace.LocationID
	for p := range 4 {
		ids = append(ids, location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("service ", p), trace.NoRank))
		k.overlapping(ids[p], 5+p*12)
	}
	links(w, rnd, ids, 30, 20_000)
}

func unclosed(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 700, step: 15, depth: 7, open: true}
	for p := range 5 {
		k.run(location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("rank ", p), p), 30+p)
	}
}

func cyclic(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 100, step: 30, depth: 4}
	var ids []trace.LocationID
	for rank := range 16 {
		host := location(w, trace.NoLocation, trace.KindMachine, fmt.Sprint("host", rank%4), trace.NoRank)
		id := location(w, host, trace.KindProcess, fmt.Sprint("rank ", rank), rank)
		k.run(id, 16)
		ids = append(ids, id)
	}
	links(w, rnd, ids, 60, 20_000)
}

func flatRanks(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 1000, step: 10, depth: 3}
	for rank := range 600 {
		k.run(location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("rank ", rank), rank), 10)
	}
}

func deep(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w)[:4], scale: 10, step: 4}
	for p := range 2 {
		s := w.Stream(location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("rank ", p), p),
			trace.StreamOptions{})
		now := trace.Time(0)
		for _, enter := range []bool{true, false} {
			for range 120 {
				now += trace.Time(rnd.IntN(k.step)) * k.scale
				if enter {
					s.Enter(now, k.region())
				} else {
					s.Leave(now, trace.NoRegion)
				}
			}
		}
		s.Close()
	}
}

func hours(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 12_345_678_901, step: 50, depth: 4}
	host := location(w, trace.NoLocation, trace.KindMachine, "host", trace.NoRank)
	for p := range 4 {
		k.run(location(w, host, trace.KindProcess, fmt.Sprint("rank ", p), p), 120)
	}
}

func streams(w trace.Writer, rnd *rand.Rand) {
	k := &walk{w: w, rnd: rnd, regions: regions(w), scale: 900, step: 12, depth: 4}
	var ids []trace.LocationID
	for rank := range 3 {
		process := location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("rank ", rank), rank)
		for n := range 2 {
			id := location(w, process, trace.KindThread, fmt.Sprint("thread ", n), trace.NoRank)
			k.run(id, 30)
			ids = append(ids, id)
		}
		id := location(w, process, trace.KindStream, "stream 7", trace.NoRank)
		k.overlapping(id, 12)
		ids = append(ids, id)
	}
	links(w, rnd, ids, 50, 60_000)
}

// profilePaths are call paths over ten hours on a number of ranks, with metrics
// that add up and one that does not.
func profilePaths(w trace.Writer, rnd *rand.Rand) {
	g := regions(w)
	metrics := []trace.MetricID{w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}),
		w.Metric(trace.Metric{Name: "bytes", Unit: "bytes"}), w.Metric(trace.Metric{Name: "peak", Join: trace.JoinMax})}
	var paths []trace.CallPathID
	for i := range 14 {
		p := trace.CallPath{Parent: trace.NoCallPath, Region: g[rnd.IntN(len(g)-2)]}
		if i > 0 && rnd.IntN(4) > 0 {
			p.Parent = paths[rnd.IntN(len(paths))]
		}
		if id := w.CallPath(p); !slices.Contains(paths, id) {
			paths = append(paths, id)
		}
	}
	writeProfile(w, rnd, paths, metrics)
}

func profileFlat(w trace.Writer, rnd *rand.Rand) {
	var paths []trace.CallPathID
	for _, g := range regions(w) {
		paths = append(paths, w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: g, Flat: true}))
	}
	writeProfile(w, rnd, paths, []trace.MetricID{w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true})})
}

func writeProfile(w trace.Writer, rnd *rand.Rand, paths []trace.CallPathID, metrics []trace.MetricID) {
	for rank := range 12 {
		host := location(w, trace.NoLocation, trace.KindMachine, fmt.Sprint("host", rank%3), trace.NoRank)
		id := location(w, host, trace.KindProcess, fmt.Sprint("rank ", rank), rank)
		for i, p := range paths {
			if rnd.IntN(5) == 0 {
				continue
			}
			own := rnd.Float64() * 36e12 / float64(len(paths))
			for _, m := range metrics {
				w.Profile(trace.ProfileRow{Location: id, Path: p, Metric: m, Calls: float64(1 + rnd.IntN(1000)),
					Exclusive: own, Inclusive: own * float64(len(paths)-i)})
			}
		}
	}
}
