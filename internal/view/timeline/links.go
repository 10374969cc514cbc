package timeline

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// burstWidth is how wide the cells are in which links become one symbol
	// where more than burstFew start in a row.
	burstWidth = 40
	burstFew   = 3
	// arrowArea is how many pixels of the picture an arrow needs: where there
	// are more, fewer start in a cell before they become a symbol.
	arrowArea = 4000
	// mostArrows is the largest number with --links all.
	mostArrows = 10000
	// mostLinks is the number of links that are read at most, one by one.
	mostLinks = 20_000_000
)

// A link is an arrow between rows.
type link struct {
	fromTime, toTime trace.Time
	from, to         trace.LocationID
	fromRow, toRow   int32 // of the picture
	kind             trace.LinkKind
	size, tag        int64
	count            int64
}

// A burst stands for many links that start near each other.
type burst struct {
	rows       [2]int32 // first and last on which they start
	begin, end trace.Time
	count      int64
	offset     float64 // from begin, of all starts of a cell added up
	few        []link  // the first ones
	peak       peak
}

// A peak is where a burst is drawn: in the cell that holds most of its links,
// for the middle of cells that were joined may be a place where nothing starts.
type peak struct {
	count int64
	time  trace.Time // the mean start of the cell's links
	row   int32
}

// add takes in another burst; the first few are forgotten.
func (b *burst) add(c *burst) {
	b.begin, b.end = min(b.begin, c.begin), max(b.end, c.end)
	b.rows = [2]int32{min(b.rows[0], c.rows[0]), max(b.rows[1], c.rows[1])}
	b.count, b.few = b.count+c.count, nil
	if c.peak.count > b.peak.count {
		b.peak = c.peak
	}
}

// A linkSet holds the drawn links.
type linkSet struct {
	arrows []link
	bursts []burst
	all    bool // single arrows as long as there are not too many
	limit  int  // of arrows
	level  int  // bins of bursts
	cells  map[burstKey]*burst
	inside int64 // both ends on one row
	called int64 // of those, from a call to one that it calls or starts
	hidden int64 // to or from a row that is not shown
	many   int64 // too many to look at
}

type burstKey struct {
	row int32
	bin int64
}

// readLinks reads the links between rows.
func readLinks(ctx context.Context, in *input, p *plan, rowOf []int32) (*linkSet, error) {
	set := &linkSet{limit: in.size.Width * in.size.Height / arrowArea,
		level: levelFor(in.length(), max(1, in.frame(in.size, p.labelWidth).w/burstWidth))}
	if in.opt.links == "none" || in.reader.Info().Links == 0 {
		return set, nil
	}
	if in.opt.links == "all" {
		set.limit, set.all = mostArrows, true
	}
	w := in.window(in.selection.Locations)
	n, err := in.reader.LinkCount(w)
	if err != nil {
		return nil, err
	}
	summed := n > in.reading.links && !set.all && store.KeepsLinkSums(in.reader)
	switch {
	case n == 0:
		return set, nil
	case summed:
		err = (&linkCounter{in.reader, set, rowOf}).count(ctx, w)
	case n > mostLinks:
		set.many = n
		return set, nil
	default:
		err = set.read(ctx, in.reader, w, rowOf)
	}
	set.finish()
	return set, err
}

// read looks at every link of a window.
func (s *linkSet) read(ctx context.Context, reader store.Reader, w store.Window, rowOf []int32) error {
	var mu sync.Mutex
	return reader.Links(ctx, w, func(c *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Kind {
			if c.Untimed[i] {
				continue
			}
			s.add(link{
				fromTime: c.FromTime[i], toTime: c.ToTime[i], from: c.FromLocation[i], to: c.ToLocation[i],
				fromRow: rowOf[c.FromLocation[i]], toRow: rowOf[c.ToLocation[i]],
				kind: c.Kind[i], size: c.Size[i], tag: c.Tag[i], count: c.Count[i],
			})
		}
		return nil
	})
}

// rowOf gives, for each location, the row that shows it; -1 for none.
func (p *plan) rowOf() []int32 {
	tree := p.forest.tree
	out := make([]int32, tree.Len())
	for i := range out {
		out[i] = -1
	}
	for i := range p.rows {
		w := &p.rows[i]
		switch {
		case w.kind == leaf && w.own:
			out[w.location] = int32(i)
		case w.kind == leaf || w.kind == header:
			fill(out, w.node.top, tree.Last[w.node.top], int32(i))
		default:
			for _, id := range w.pieces {
				fill(out, id, tree.Last[id], int32(i))
			}
		}
	}
	return out
}

func fill(out []int32, from, to trace.LocationID, row int32) {
	for id := from; id <= to; id++ {
		out[id] = row
	}
}

// leftOut counts links that are not drawn between two rows.
func (s *linkSet) leftOut(kind trace.LinkKind, from, to int32, n int64) bool {
	switch {
	case from < 0 || to < 0:
		s.hidden += n
		return true
	case from == to:
		s.inside += n
		if kind == trace.LinkSpawn {
			s.called += n
		}
		return true
	}
	return false
}

func (s *linkSet) add(l link) {
	if s.leftOut(l.kind, l.fromRow, l.toRow, l.count) {
		return
	}
	if s.cells == nil {
		if s.all && len(s.arrows) < s.limit {
			s.arrows = append(s.arrows, l)
			return
		}
		s.cells = map[burstKey]*burst{}
		for _, a := range s.arrows {
			s.gather(a)
		}
		s.arrows = nil
	}
	s.gather(l)
}

// gather adds a link to its cell, which remembers the first few.
func (s *linkSet) gather(l link) {
	b := s.cell(l.fromRow, l.fromTime)
	b.count += l.count
	b.offset += float64(l.fromTime-b.begin) * float64(l.count)
	at, _ := slices.BinarySearchFunc(b.few, l, compareLinks)
	if at < burstFew {
		b.few = slices.Insert(b.few, at, l)
		b.few = b.few[:min(len(b.few), burstFew)]
	}
}

// cell returns the burst of a row in which a time lies.
func (s *linkSet) cell(row int32, t trace.Time) *burst {
	k := burstKey{row, int64(t >> s.level)}
	b := s.cells[k]
	if b == nil {
		b = &burst{rows: [2]int32{row, row}, begin: trace.Time(k.bin) << s.level, end: trace.Time(k.bin+1) << s.level}
		s.cells[k] = b
	}
	return b
}

// compareLinks is a total order, so that the first few do not depend on the order in which the store yields links.
func compareLinks(a, b link) int {
	return cmp.Or(cmp.Compare(a.fromTime, b.fromTime), cmp.Compare(a.toTime, b.toTime), cmp.Compare(a.from, b.from),
		cmp.Compare(a.to, b.to),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.tag, b.tag), cmp.Compare(a.size, b.size))
}

// finish draws cells of few links as arrows, fewer if there would be too many arrows,
// and the others as bursts, joined until there are few enough to see the rows under
// them.
func (s *linkSet) finish() {
	few := int64(burstFew)
	for ; few > 0; few-- {
		n := int64(0)
		for _, b := range s.cells {
			if b.count <= few {
				n += b.count
			}
		}
		if n <= int64(s.limit) {
			break
		}
	}
	for k, b := range s.cells {
		if b.count <= few && int64(len(b.few)) == b.count {
			s.arrows = append(s.arrows, b.few...)
			delete(s.cells, k)
		}
	}
	if len(s.arrows) > 0 && len(s.cells) > s.symbols() && !s.all {
		// A few arrows among many symbols would mislead.
		for i := range s.arrows {
			s.gather(s.arrows[i])
		}
		s.arrows = nil
	}
	for k, b := range s.cells {
		b.peak = peak{b.count, b.begin + trace.Time(b.offset/float64(b.count)), k.row}
	}
	for wide := true; len(s.cells) > s.symbols()+1; wide = !wide {
		s.coarsen(wide)
	}
	for _, b := range s.cells {
		s.bursts = append(s.bursts, *b)
	}
	s.cells = nil
	slices.SortFunc(s.arrows, compareLinks)
	slices.SortFunc(s.bursts,
		func(a, b burst) int { return cmp.Or(cmp.Compare(a.rows[0], b.rows[0]), cmp.Compare(a.begin, b.begin)) })
}

// symbols bounds the number of bursts: more would hide the rows under them.
func (s *linkSet) symbols() int { return s.limit / 3 }

// coarsen joins cells in pairs, by time or by row.
func (s *linkSet) coarsen(wide bool) {
	keys := slices.SortedFunc(maps.Keys(s.cells), func(a, b burstKey) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.bin, b.bin))
	})
	old := s.cells
	s.cells = map[burstKey]*burst{}
	for _, k := range keys { // in order: the first of equal peaks stays
		next := burstKey{k.row / 2, k.bin}
		if wide {
			next = burstKey{k.row, k.bin >> 1}
		}
		if b := s.cells[next]; b != nil {
			b.add(old[k])
		} else {
			s.cells[next] = old[k]
		}
	}
}
