package steppath

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// MostRows is how many intervals a graph may be made of, at some 40 bytes each.
const MostRows = 20_000_000

// A Graph is the threads and streams of a run.
type Graph struct {
	source   *runfacts.GPUPart
	rows     int
	units    []unit
	lanes    map[uint32]*lane
	active   []bool // by region: a thread that is in it does something
	call     []bool
	sync     []bool
	exchange []bool // of a thread with other units
	gradient []bool // waits for the threads of autograd
	operator []bool // worth a place in a call path
	kinds    []Kind // of GPU work
	isWork   []bool
	members  map[string][]member
	matched  int // collectives whose members were found on other units

	mu sync.Mutex
}

type unit struct {
	threads []*lane
	works   []*lane
	streams map[string]*lane // by number
}

// A lane is one lane of a thread or a stream, in preorder.
type lane struct {
	location  trace.LocationID
	number    int
	unit, gpu int32
	begin     []trace.Time
	end       []trace.Time
	region    []trace.RegionID
	row       []int32
	parent    []int32

	// Of threads:
	stretches []stretch
	busy      []int32 // of stretches, those that are active
	launches  []launched
	activity  trace.Time
	open      []int32
	at        trace.Time

	// Of streams:
	launch []launchRef
	waits  []wait

	keys map[int32]string // of the rows that are part of a collective
}

// A stretch is a time in which a row is innermost.
type stretch struct {
	begin, end trace.Time
	row        int32
}

// launched joins a row of a thread with the work it started.
type launched struct {
	from int32
	lane *lane
	to   int32
}

// A launchRef is the call that started a work.
type launchRef struct {
	lane *lane
	to   int32
}

// A wait is an order to wait for another stream.
type wait struct {
	time   trace.Time
	stream string
}

// gather reads the rows and links of a source.
func gather(s *runfacts.GPUPart) (*Graph, error) {
	g := &Graph{source: s, units: make([]unit, max(len(s.Units), 1)), lanes: map[uint32]*lane{},
		members: map[string][]member{}}
	n := len(s.Regions)
	g.active, g.call, g.sync, g.exchange, g.gradient, g.operator, g.kinds, g.isWork = make([]bool, n), make([]bool, n),
		make([]bool, n), make([]bool, n), make([]bool, n), make([]bool, n), make([]Kind, n), make([]bool, n)
	for i := range s.Regions {
		x := &s.Regions[i]
		term, doing := step.HostClass(x)
		g.active[i] = doing != step.Nothing && doing != step.Annotated
		g.call[i] = term == step.Runtime
		g.sync[i] = doing == step.Synchronizing
		g.operator[i] = g.active[i] && doing != step.Python
		g.exchange[i] = doing == step.Exchanging
		name := strings.ToLower(x.Name)
		g.gradient[i] = doing == step.Python &&
			(strings.Contains(name, "backward") || strings.Contains(name, "autograd"))
		if t, ok := step.WorkTerm(x); ok {
			g.kinds[i], g.isWork[i] = kindOf(t), true
		}
	}
	if err := s.Intervals(g.take); err != nil {
		return nil, err
	}
	ids := make([]uint32, 0, len(g.lanes))
	for id := range g.lanes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		l := g.lanes[id]
		g.rows += len(l.row)
		u := &g.units[l.unit]
		if l.gpu < 0 {
			u.threads = append(u.threads, l)
			continue
		}
		l.launch = make([]launchRef, len(l.row))
		u.works = append(u.works, l)
	}
	// None of these needs the others' results, and the first two are mostly one goroutine's work each.
	var launches, members error
	_ = parallel.For(context.Background(), 2+len(ids), func(i int) {
		switch i {
		case 0:
			launches = g.joinLaunches()
		case 1:
			if members = g.readWaits(); members == nil {
				members = g.matchMembers()
			}
		default:
			g.lanes[ids[i-2]].finish(g.active)
		}
	})
	return g, cmp.Or(launches, members)
}

func (g *Graph) take(c *trace.Columns) error {
	unit, gpu := g.source.Unit[c.Location], g.source.GPU[c.Location]
	if gpu >= 0 {
		unit = g.source.Owner[gpu]
	}
	if unit < 0 {
		return nil
	}
	id := g.source.Lane(c.Location, c.Lane)
	g.mu.Lock()
	l := g.lanes[id]
	if l == nil {
		l = &lane{location: c.Location, number: c.Lane, unit: unit, gpu: gpu, at: -1 << 62}
		g.lanes[id] = l
	}
	g.mu.Unlock()
	if len(l.row) == 0 {
		l.makeRoom(len(c.Open) + c.Len() + c.Follow)
		for _, o := range c.Open {
			g.add(l, o.Begin, o.End, o.Region, int32(o.Row))
		}
	}
	for i, r := range c.Region {
		g.add(l, c.Begin[i], c.End(i), r, int32(c.First+i))
	}
	return nil
}

// makeRoom makes room for so many rows.
func (l *lane) makeRoom(n int) {
	l.begin, l.end, l.region, l.row = make([]trace.Time, 0, n), make([]trace.Time, 0, n), make([]trace.RegionID, 0, n),
		make([]int32, 0, n)
	if l.gpu < 0 {
		l.parent, l.stretches = make([]int32, 0, n), make([]stretch, 0, 2*n) // one ends at its begin, one at its end
	}
}

// add takes the next row of a lane.
func (g *Graph) add(l *lane, begin, end trace.Time, r trace.RegionID, row int32) {
	if end < begin {
		end = begin
	}
	if l.gpu >= 0 {
		if g.isWork[r] {
			l.begin, l.end, l.region, l.row = append(l.begin, begin), append(l.end, end), append(l.region, r),
				append(l.row, row)
		}
		return
	}
	l.close(begin)
	l.cut(begin)
	at, up := int32(len(l.row)), int32(-1)
	if n := len(l.open); n > 0 {
		up = l.open[n-1]
		end = min(end, l.end[up]) // a child a rounding too long
	}
	l.begin, l.end, l.region, l.row, l.parent = append(l.begin, begin), append(l.end, max(end, begin)),
		append(l.region, r), append(l.row, row), append(l.parent, up)
	l.open = append(l.open, at)
}

// cut ends the stretch of the innermost interval.
func (l *lane) cut(t trace.Time) {
	if n := len(l.open); n > 0 && t > l.at {
		l.stretches = append(l.stretches, stretch{max(l.at, l.begin[l.open[n-1]]), t, l.open[n-1]})
	}
	l.at = max(l.at, t)
}

func (l *lane) close(t trace.Time) {
	for n := len(l.open); n > 0 && l.end[l.open[n-1]] <= t; n-- {
		l.cut(l.end[l.open[n-1]])
		l.open = l.open[:n-1]
	}
}

func (l *lane) finish(active []bool) {
	l.close(1<<63 - 1)
	n := 0
	for i := range l.stretches {
		if active[l.region[l.stretches[i].row]] {
			n++
		}
	}
	l.busy = make([]int32, 0, n)
	for i := range l.stretches {
		if x := &l.stretches[i]; active[l.region[x.row]] {
			l.busy = append(l.busy, int32(i))
			l.activity += x.end - x.begin
		}
	}
}

// index finds a row of the store. Mostly all rows of a thread are here.
func (l *lane) index(row int32) int32 {
	if len(l.row) == 0 {
		return -1
	}
	if i := int(row) - int(l.row[0]); uint(i) < uint(len(l.row)) && l.row[i] == row {
		return int32(i)
	}
	i, ok := slices.BinarySearch(l.row, row)
	if !ok {
		return -1
	}
	return int32(i)
}

// stretchBefore is the last stretch that begins before t; -1 for none.
func (l *lane) stretchBefore(t trace.Time) int {
	return sort.Search(len(l.stretches), func(i int) bool { return l.stretches[i].begin >= t }) - 1
}

// workBefore is the last work of a stream that ends at t or before; -1 for none. Work of one lane follows one another.
func (l *lane) workBefore(t trace.Time) int32 {
	return int32(sort.Search(len(l.end), func(i int) bool { return l.end[i] > t })) - 1
}

// waitsBefore are the streams that the work i has to wait for.
func (l *lane) waitsBefore(i int32) []string {
	if len(l.waits) == 0 {
		return nil
	}
	from := trace.Time(-1 << 62)
	if i > 0 {
		from = l.begin[i-1]
	}
	var out []string
	for k := sort.Search(len(l.waits), func(k int) bool { return l.waits[k].time > from }); k < len(l.waits) &&
		l.waits[k].time <= l.begin[i]; k++ {
		out = append(out, l.waits[k].stream)
	}
	return out
}

// lastActive is when a thread was last at something that ended at t or before.
func (g *Graph) lastActive(l *lane, t trace.Time) (trace.Time, bool) {
	i := sort.Search(len(l.busy), func(i int) bool { return l.stretches[l.busy[i]].end > t }) - 1
	if i < 0 {
		return 0, false
	}
	return l.stretches[l.busy[i]].end, true
}

// busiest is the thread that the end of a step is on: of those that are at something just before it the one that works
// most, else the one that was at something last.
func (g *Graph) busiest(unit int, end trace.Time) *lane {
	var best, last *lane
	at := trace.Time(-1 << 62)
	for _, l := range g.units[unit].threads {
		if i := l.stretchBefore(end); i >= 0 && l.stretches[i].end >= end &&
			(best == nil || l.activity > best.activity) {
			best = l
		}
		if t, ok := g.lastActive(l, end); ok && t > at {
			last, at = l, t
		}
	}
	if best == nil {
		return last
	}
	return best
}

// lastWork is the work of a unit's GPUs that ended last, after a time and not after t.
func (g *Graph) lastWork(unit int, t, after trace.Time) (*lane, int32) {
	var best *lane
	var which int32
	for _, l := range g.units[unit].works {
		if k := l.workBefore(t); k >= 0 && l.end[k] > after && (best == nil || l.end[k] > best.end[which]) {
			best, which = l, k
		}
	}
	return best, which
}

// joinLaunches joins calls and work, both ways.
func (g *Graph) joinLaunches() error {
	s := g.source
	byID := make([]*lane, 0, len(g.lanes)) // which is asked for every link
	for id, l := range g.lanes {
		if n := int(id) + 1; n > len(byID) {
			byID = append(byID, make([]*lane, n-len(byID))...)
		}
		byID[id] = l
	}
	laneOf := func(p store.Row) *lane {
		if id := s.Lane(p.Location, p.Lane); int(id) < len(byID) {
			return byID[id]
		}
		return nil
	}
	// Links come one at a time: each is only given to its units, which find the rows side by side.
	type link struct {
		from, to       *lane
		fromRow, toRow int32
	}
	of := make([][]link, len(g.units))
	err := s.Launches(func(from, to store.Row, _ trace.Time) {
		a, b := laneOf(from), laneOf(to)
		if a == nil || b == nil {
			return
		}
		x := link{a, b, int32(from.Row), int32(to.Row)}
		if of[a.unit] = append(of[a.unit], x); a.unit != b.unit {
			of[b.unit] = append(of[b.unit], x)
		}
	})
	if err != nil {
		return err
	}
	return parallel.For(context.Background(), len(of), func(u int) {
		for _, x := range of[u] {
			i, k := x.from.index(x.fromRow), x.to.index(x.toRow)
			if i < 0 || k < 0 {
				continue
			}
			if int(x.to.unit) == u {
				x.to.launch[k] = launchRef{x.from, i}
			}
			if int(x.from.unit) == u {
				x.from.launches = append(x.from.launches, launched{i, x.to, k})
			}
		}
		of[u] = nil
		for _, l := range g.units[u].threads {
			slices.SortFunc(l.launches, func(a, b launched) int {
				return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.lane.location, b.lane.location),
					cmp.Compare(a.to, b.to))
			})
		}
	})
}

// extent is from the first row of all to the end of the last, and the unit that ends last.
func (g *Graph) extent() (begin, end trace.Time, unit int) {
	begin, end = 1<<62, -1<<62
	for u := range g.units {
		for _, list := range [][]*lane{g.units[u].threads, g.units[u].works} {
			for _, l := range list {
				for i := range l.row {
					begin = min(begin, l.begin[i])
					if l.end[i] > end {
						end, unit = l.end[i], u
					}
				}
			}
		}
	}
	return begin, end, unit
}
