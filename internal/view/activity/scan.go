package activity

import (
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A scan adds up time per bin and series from the rows of a window.
type scan struct {
	*counting
	begin, end trace.Time
	first      int // the bin of begin
	keep       []bool
	mu         sync.Mutex
	lanes      map[trace.LocationID]*lane
	// Batches come on many cores: each takes a table, adds and gives it back.
	free [][]trace.Time
	all  [][]trace.Time
}

// A lane is how far a location with one lane is counted.
type lane struct {
	walker share.Walker
	bin    int
}

// scan adds the time of [begin, end) from the rows. O(rows).
func (c *counting) scan(begin, end trace.Time) error {
	r := c.result
	if r.time == nil {
		r.time = make([]trace.Time, r.bins()*len(r.series))
	}
	if len(r.series) == 0 {
		return nil
	}
	s := &scan{counting: c, begin: begin, end: end, keep: c.keep(), lanes: map[trace.LocationID]*lane{}}
	s.first = max(0, sort.Search(len(r.edges), func(i int) bool { return r.edges[i] > begin })-1)
	if err := s.run(); err != nil {
		return err
	}
	for _, table := range s.all {
		for i, t := range table {
			r.time[i] += t
		}
	}
	return nil
}

func (s *scan) run() error {
	lanes := s.reader.Lanes()
	laneCount := func(id trace.LocationID) int { return int(lanes[id+1] - lanes[id]) }
	// Several lanes are folded, which holds their pieces until the end.
	var folded []trace.Time
	at := map[trace.LocationID]*int{}
	collect := share.Collector{
		Begin: s.begin, End: s.end, Regions: s.regions, Keep: s.keep, Wins: store.RoleOfInstant, Lanes: laneCount,
		Emit: func(id trace.LocationID, p share.Piece) { // called from Close alone
			if at[id] == nil {
				first := s.first
				at[id] = &first
			}
			s.add(folded, at[id], &p.Segment)
		},
	}
	w := s.request.Window()
	w.Begin, w.End = s.begin, s.end
	err := s.reader.Intervals(s.ctx, w, func(cols *trace.Columns) error {
		if laneCount(cols.Location) > 1 {
			collect.Add(cols)
			return nil
		}
		l, table := s.take(cols.Location)
		l.walker.Open(cols)
		for i, begin := range cols.Begin {
			for l.walker.Next(begin) {
				s.add(table, &l.bin, &l.walker.Segment)
			}
			l.walker.Push(cols.End(i), cols.Region[i], cols.First+i)
		}
		s.give(table)
		return nil
	})
	if err != nil {
		return err
	}
	_, folded = s.take(trace.NoLocation)
	collect.Close()
	for _, l := range s.lanes {
		for l.walker.Next(s.end) {
			s.add(folded, &l.bin, &l.walker.Segment)
		}
	}
	return nil
}

// take returns the state of a location and a table that no other batch uses.
func (s *scan) take(id trace.LocationID) (*lane, []trace.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n == 0 {
		s.all = append(s.all, make([]trace.Time, len(s.result.time)))
		s.free = append(s.free, s.all[len(s.all)-1])
	}
	n := len(s.free) - 1
	table := s.free[n]
	s.free = s.free[:n]
	if id == trace.NoLocation {
		return nil, table
	}
	l := s.lanes[id]
	if l == nil {
		l = &lane{bin: s.first}
		l.walker.Start(s.begin, s.regions)
		s.lanes[id] = l
	}
	return l, table
}

func (s *scan) give(table []trace.Time) {
	s.mu.Lock()
	s.free = append(s.free, table)
	s.mu.Unlock()
}

// add adds a segment to the bins that it meets; bin is where the last one began.
func (s *scan) add(table []trace.Time, bin *int, g *trace.Segment) {
	if g.Region == trace.NoRegion || s.keep != nil && !s.keep[g.Region] {
		return
	}
	class := int(g.Role)
	if s.byRegion {
		class = int(g.Region)
	}
	series := s.class[class]
	if series < 0 {
		return
	}
	edges, n := s.result.edges, len(s.result.series)
	b := *bin
	for b < len(edges)-2 && edges[b+1] <= g.Begin {
		b++
	}
	*bin = b
	for ; b < len(edges)-1 && edges[b] < g.End; b++ {
		if d := min(g.End, edges[b+1]) - max(g.Begin, edges[b]); d > 0 {
			table[b*n+series] += d
		}
	}
}
