package step

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A unit holds the gathered data of one process.
type unit struct {
	begin, end trace.Time // of what its host rows hold
	threads    []*thread  // by location and lane
	gpus       []int      // in the order of Devices
	marks      []Mark
	sets       [Terms][]span // of the host's terms
}

// A thread holds the states of one lane of the host: from at[i] to at[i+1] it was in state[i].
type thread struct {
	lane  uint32
	at    []trace.Time
	state []state
	stays []stay // the long ones, in preorder
}

// A stay is one interval of a thread, long enough to be the reason of a gap.
type stay struct {
	begin, end trace.Time
	region     trace.RegionID
}

// longStay is how long an interval must be for that.
const longStay = 20_000

// A state is the terms that are open on a thread, as bits, and the innermost activity.
type state struct {
	terms uint8
	doing Doing
}

// A launch joins a call with the work that it started.
type launch struct {
	fromLane, toLane uint32
	fromRow, toRow   int32
	called, returned trace.Time
}

type gatherer struct {
	*runfacts.GPUPart
	host     []hostClass // by region
	work     []Term
	sorts    []marking
	launches [][]launch // by the lane of the call, in the order of its rows
	numbers  map[numberKey]int64

	mu       sync.Mutex
	lanes    map[uint32]*lane
	families map[familyKey]*family
	odd      int64
}

type numberKey struct {
	lane uint32
	row  int32
}

type familyKey struct {
	sort marking
	stem string
}

// A lane is the gathered data of one lane; only one goroutine at a time has it.
type lane struct {
	id       uint32
	location trace.LocationID
	unit     int32
	gpu      int32
	thread   thread
	open     []opened
	works    []Work
	calls    []launch // that it makes
	next     int      // of them
	found    int      // the work that was asked for last
	end      trace.Time
	begin    trace.Time
	odd      int64
}

type opened struct {
	end   trace.Time
	state state
	terms uint8
}

// gather reads the run.
func gather(s *runfacts.GPUPart, fill bool) (*gatherer, error) {
	g := &gatherer{GPUPart: s, lanes: map[uint32]*lane{}, families: map[familyKey]*family{},
		numbers: map[numberKey]int64{}}
	g.host, g.work, g.sorts = make([]hostClass, len(s.Regions)), make([]Term, len(s.Regions)),
		make([]marking, len(s.Regions))
	for i := range s.Regions {
		g.host[i], g.work[i], g.sorts[i] = classOf(&s.Regions[i]), workTerm(&s.Regions[i]), sortOf(&s.Regions[i])
	}
	var launches, numbers error
	_ = parallel.For(context.Background(), 2, func(i int) {
		if i == 0 {
			launches = g.readLaunches()
		} else {
			numbers = g.readNumbers()
		}
	})
	if err := cmp.Or(launches, numbers); err != nil {
		return nil, err
	}
	if len(s.GPUs) == 0 && len(g.numbers) == 0 && !g.mayMark() {
		return g, nil // nothing to be found, so no rows are read
	}
	if err := s.Intervals(g.take); err != nil {
		return nil, err
	}
	for _, l := range g.lanes {
		l.finish()
		g.odd += l.odd
	}
	g.attachLaunches()
	if !fill {
		return g, nil
	}
	return g, g.attachFill()
}

// readNumbers keeps the numbers that steps have.
func (g *gatherer) readNumbers() error {
	for _, name := range []string{"step_num", "step_number"} {
		err := g.Attribute(name, func(c *store.AttributeColumns) {
			g.mu.Lock()
			defer g.mu.Unlock()
			for i, row := range c.Row {
				if n, ok := c.Value[i].Number(); ok && len(g.numbers) < mostMarks*max(len(g.Units), 1) {
					g.numbers[numberKey{g.Lane(c.Location, c.Lane), row}] = int64(n)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mayMark reports whether any region may mark steps.
func (g *gatherer) mayMark() bool {
	return slices.ContainsFunc(g.sorts, func(m marking) bool { return m != noStep })
}

// readLaunches keeps the links of launches, in the order of the calls.
func (g *gatherer) readLaunches() error {
	if len(g.GPUs) == 0 {
		return nil
	}
	lanes := uint32(0)
	if n := len(g.Lanes); n > 0 {
		lanes = g.Lanes[n-1]
	}
	g.launches = make([][]launch, lanes)
	err := g.Launches(func(from, to store.Row, at trace.Time) {
		l := launch{g.Lane(from.Location, from.Lane), g.Lane(to.Location, to.Lane), int32(from.Row), int32(to.Row), at,
			at}
		if l.fromLane >= lanes {
			return
		}
		g.launches[l.fromLane] = append(g.launches[l.fromLane], l) // they come one at a time
	})
	// Links come in order of time, so those of a lane are mostly in order already.
	for _, list := range g.launches {
		if !slices.IsSortedFunc(list, byCall) {
			slices.SortFunc(list, byCall)
		}
	}
	return err
}

func byCall(a, b launch) int {
	if a.fromRow != b.fromRow {
		return cmp.Compare(a.fromRow, b.fromRow)
	}
	return cmp.Or(cmp.Compare(a.toLane, b.toLane), cmp.Compare(a.toRow, b.toRow))
}

// lane returns the gathered data of a lane.
func (g *gatherer) lane(c *trace.Columns) *lane {
	id := g.Lane(c.Location, c.Lane)
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[id]
	if l == nil {
		l = &lane{id: id, location: c.Location, unit: g.Unit[c.Location], gpu: g.GPU[c.Location], begin: 1 << 62,
			end: -1 << 62}
		l.thread.lane = id
		if int(id) < len(g.launches) {
			l.calls = g.launches[id]
		}
		g.lanes[id] = l
	}
	return l
}

// take reads one batch.
func (g *gatherer) take(c *trace.Columns) error {
	if g.Unit[c.Location] < 0 && g.GPU[c.Location] < 0 {
		return nil
	}
	l := g.lane(c)
	if l.gpu >= 0 {
		if len(l.works) == 0 {
			l.works = slices.Grow(l.works, len(c.Open)+c.Len()+c.Follow)
			for _, o := range c.Open {
				g.addWork(l, o.Begin, o.End, o.Region, int32(o.Row))
			}
		}
		for i, r := range c.Region {
			g.addWork(l, c.Begin[i], c.End(i), r, int32(c.First+i))
		}
		return nil
	}
	if len(l.thread.at) == 0 && len(l.open) == 0 {
		n := len(c.Open) + c.Len() + c.Follow // a row begins a state, and some end in another
		l.thread.at, l.thread.state = slices.Grow(l.thread.at, n+n/2), slices.Grow(l.thread.state, n+n/2)
		for _, o := range c.Open {
			g.enter(l, o.Begin, o.End, o.Region, o.Row)
		}
	}
	for i, r := range c.Region {
		g.enter(l, c.Begin[i], c.End(i), r, c.First+i)
	}
	return nil
}

// addWork takes a row of a GPU, clipped to the window.
func (g *gatherer) addWork(l *lane, begin, end trace.Time, r trace.RegionID, row int32) {
	term := g.work[r]
	if term == noTerm {
		return
	}
	if end < begin {
		l.odd++
		end = begin
	}
	begin, end = max(begin, g.Window.Begin), min(end, g.Window.End)
	if begin > end {
		return
	}
	l.works = append(l.works,
		Work{Begin: begin, End: end, Called: -1, Returned: -1, Region: r, Term: term, Stream: l.id, Row: row,
			Occupancy: -1})
}

// enter takes a row of the host: rows come in preorder, so those that ended are closed first.
func (g *gatherer) enter(l *lane, begin, end trace.Time, r trace.RegionID, row int) {
	for l.next < len(l.calls) && l.calls[l.next].fromRow < int32(row) {
		l.next++
	}
	for ; l.next < len(l.calls) && l.calls[l.next].fromRow == int32(row); l.next++ {
		l.calls[l.next].called, l.calls[l.next].returned = begin, end
	}
	l.begin, l.end = min(l.begin, begin), max(l.end, end)
	g.candidate(l, begin, end, r, row)
	if end-begin >= longStay {
		l.thread.stays = append(l.thread.stays, stay{begin, end, r})
	}
	class := g.host[r]
	if g.sorts[r] == profiled || class.term == noTerm || end <= begin {
		return
	}
	l.close(begin)
	s, terms := l.top(), uint8(1)<<class.term
	if n := len(l.open); n > 0 {
		terms |= l.open[n-1].terms
	}
	if class.doing != Annotated || s.doing == Nothing { // a range inside code does not describe the work of the code
		if s.doing != Loading { // whatever loading does is loading
			s.doing = class.doing
		}
	}
	s.terms = terms
	l.open = append(l.open, opened{end, s, terms})
	l.thread.set(begin, s)
}

func (l *lane) top() state {
	if n := len(l.open); n > 0 {
		return l.open[n-1].state
	}
	return state{}
}

// close closes intervals that end by t.
func (l *lane) close(t trace.Time) {
	for n := len(l.open); n > 0 && l.open[n-1].end <= t; n-- {
		end := l.open[n-1].end
		l.open = l.open[:n-1]
		l.thread.set(end, l.top())
	}
}

func (l *lane) finish() { l.close(1<<63 - 1) }

// set says that from t on the thread is in a state.
func (t *thread) set(at trace.Time, s state) {
	n := len(t.at)
	switch {
	case n > 0 && t.at[n-1] == at:
		t.state[n-1] = s
		if n > 1 && t.state[n-2] == s {
			t.at, t.state = t.at[:n-1], t.state[:n-1]
		}
	case n > 0 && t.state[n-1] == s || n == 0 && s == (state{}):
	default:
		t.at, t.state = append(t.at, at), append(t.state, s)
	}
}

// candidate remembers an interval that may be a step, where it begins in the window.
func (g *gatherer) candidate(l *lane, begin, end trace.Time, r trace.RegionID, row int) {
	sort, number := g.sorts[r], int64(-1)
	if len(g.numbers) > 0 {
		if n, ok := g.numbers[numberKey{l.id, int32(row)}]; ok {
			sort, number = annotated, n
		}
	}
	if sort == noStep || begin < g.Window.Begin || end <= begin {
		return
	}
	name := g.Regions[r].Name
	key := familyKey{sort, name}
	switch sort {
	case numbered, profiled:
		key.stem = trace.Stem(name)
	case optimizer:
		key.stem = ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.families[key]
	if f == nil {
		f = &family{sort: sort, stem: key.stem, word: stepWord(key.stem), names: map[string]bool{},
			marks: make([][]mark, len(g.Units))}
		g.families[key] = f
	}
	if f.spoil {
		return
	}
	if len(f.names) < 2 {
		f.names[name] = true
	}
	if f.marks[l.unit] = append(f.marks[l.unit],
		mark{begin, min(end, g.Window.End), r, l.location, int(l.id), row, number}); len(f.marks[l.unit]) > mostMarks {
		f.spoil, f.marks = true, nil
	}
}

// attachLaunches gives work its launch.
func (g *gatherer) attachLaunches() {
	for _, list := range g.launches {
		for i := range list {
			x := &list[i]
			l := g.lanes[x.toLane]
			if l == nil {
				continue
			}
			// Among several calls the latest counts.
			if w := l.after(x.toRow); w != nil &&
				(!w.Launched() || x.called > w.Called || x.called == w.Called && x.fromLane >= w.Thread) {
				w.Called, w.Returned, w.Thread = x.called, x.returned, x.fromLane
			}
		}
	}
	g.launches = nil
}

// attachFill gives work its blocks and its occupancy.
func (g *gatherer) attachFill() error {
	set := func(name string, put func(*Work, float32)) error {
		return g.Attribute(name, func(c *store.AttributeColumns) {
			if g.GPU[c.Location] < 0 {
				return
			}
			l := g.lanes[g.Lane(c.Location, c.Lane)]
			if l == nil {
				return
			}
			for i, row := range c.Row {
				if w := l.find(row); w != nil {
					if v, ok := c.Value[i].Number(); ok && v >= 0 && v < 1e9 {
						put(w, float32(v))
					}
				}
			}
		})
	}
	if err := set("blocks per SM", func(w *Work, v float32) { w.Blocks = v }); err != nil {
		return err
	}
	return set("est. achieved occupancy %", func(w *Work, v float32) { w.Occupancy = v })
}

// after returns the work of a row; mostly it is the one after that which was asked for before.
func (l *lane) after(row int32) *Work {
	if l.found++; l.found < len(l.works) && l.works[l.found].Row == row {
		return &l.works[l.found]
	}
	l.found = l.search(row)
	if l.found < 0 {
		return nil
	}
	return &l.works[l.found]
}

// find returns the work of a row.
func (l *lane) find(row int32) *Work {
	if i := l.search(row); i >= 0 {
		return &l.works[i]
	}
	return nil
}

func (l *lane) search(row int32) int {
	i := sort.Search(len(l.works), func(i int) bool { return l.works[i].Row >= row })
	if i == len(l.works) || l.works[i].Row != row {
		return -1
	}
	return i
}

// sorted returns the lanes in order.
func (g *gatherer) sorted() []*lane {
	out := make([]*lane, 0, len(g.lanes))
	for _, id := range slices.Sorted(maps.Keys(g.lanes)) {
		out = append(out, g.lanes[id])
	}
	return out
}
