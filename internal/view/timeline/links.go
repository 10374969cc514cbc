package timeline

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// arrowArea is how many pixels of the picture an arrow needs with --links auto.
	arrowArea = 1500
	// mostArrows is how many there are at most with --links all.
	mostArrows = 10000
	// burstWidth is how wide the cells are in which links become one symbol,
	// and burstFew how many are drawn as arrows all the same.
	burstWidth = 40
	burstFew   = 2
	// mostLinks is how many links are read at most.
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
	row        int32
	begin, end trace.Time
	count      int64
	few        []link // the first ones
}

// A linkSet is what is drawn of the links.
type linkSet struct {
	arrows []link
	bursts []burst
	limit  int
	level  int // bins of bursts
	cells  map[burstKey]*burst
	inside int64 // from a row to itself
	hidden int64 // to or from a row that is not shown
}

type burstKey struct {
	row int32
	bin int64
}

func (r *result) fetchLinks(ctx context.Context, f *forest) error {
	if r.opt.links == "none" || r.reader.Info().Links == 0 {
		return nil
	}
	w := store.Window{Begin: r.selection.Begin, End: r.selection.End, Locations: r.selection.Locations}
	n := r.reader.LinkCount(w)
	if n == 0 {
		return nil
	}
	if n > mostLinks {
		r.note("%s links are too many to look at; choose a shorter time or fewer locations to see them", view.Thousands(n))
		return nil
	}
	set := &r.links
	set.limit = r.size.Width * r.size.Height / arrowArea
	if r.opt.links == "all" {
		set.limit = mostArrows
	}
	set.level = levelFor(r.selection.End-r.selection.Begin, max(1, r.frame(r.size).w/burstWidth))
	rowOf := r.rowOf(f)
	var mu sync.Mutex
	err := r.reader.Links(ctx, w, func(c *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Kind {
			if c.Untimed[i] {
				continue
			}
			set.add(link{
				fromTime: c.FromTime[i], toTime: c.ToTime[i], from: c.FromLocation[i], to: c.ToLocation[i],
				fromRow: rowOf[c.FromLocation[i]], toRow: rowOf[c.ToLocation[i]],
				kind: c.Kind[i], size: c.Size[i], tag: c.Tag[i], count: c.Count[i],
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	set.finish()
	r.noteLinks()
	return nil
}

func (r *result) noteLinks() {
	set := &r.links
	if set.inside > 0 {
		r.note("%s links lead from a row to itself and are not drawn", view.Thousands(set.inside))
	}
	if set.hidden > 0 {
		r.note("%s links lead to or from rows that are not shown", view.Thousands(set.hidden))
	}
	if len(set.bursts) > 0 {
		n := int64(0)
		for _, b := range set.bursts {
			n += b.count
		}
		r.note("%s links are too dense to draw: %s symbols say how many start near them", view.Thousands(n), view.Thousands(int64(len(set.bursts))))
	}
}

// rowOf gives, for each location, the row that shows it; -1 for none.
func (r *result) rowOf(f *forest) []int32 {
	out := make([]int32, f.tree.Len())
	for i := range out {
		out[i] = -1
	}
	for i := range r.rows {
		w := &r.rows[i]
		switch {
		case w.kind == leaf && w.own:
			out[w.location] = int32(i)
		case w.kind == leaf:
			fill(out, w.node.top, f.tree.Last[w.node.top], int32(i))
		default:
			for _, id := range w.pieces {
				fill(out, id, f.tree.Last[id], int32(i))
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

func (s *linkSet) add(l link) {
	switch {
	case l.fromRow < 0 || l.toRow < 0:
		s.hidden += l.count
		return
	case l.fromRow == l.toRow:
		s.inside += l.count
		return
	}
	if s.cells == nil {
		if len(s.arrows) < s.limit {
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
	k := burstKey{l.fromRow, int64(l.fromTime >> s.level)}
	b := s.cells[k]
	if b == nil {
		b = &burst{row: k.row, begin: trace.Time(k.bin) << s.level, end: trace.Time(k.bin+1) << s.level}
		s.cells[k] = b
	}
	b.count += l.count
	at, _ := slices.BinarySearchFunc(b.few, l, compareLinks)
	if at < burstFew {
		b.few = slices.Insert(b.few, at, l)
		b.few = b.few[:min(len(b.few), burstFew)]
	}
}

// compareLinks is a total order, so that the first few do not depend on how
// the store hands links out.
func compareLinks(a, b link) int {
	return cmp.Or(cmp.Compare(a.fromTime, b.fromTime), cmp.Compare(a.toTime, b.toTime), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
		cmp.Compare(a.kind, b.kind), cmp.Compare(a.tag, b.tag), cmp.Compare(a.size, b.size))
}

func (s *linkSet) finish() {
	for _, b := range s.cells {
		if b.count <= burstFew && int64(len(b.few)) == b.count {
			s.arrows = append(s.arrows, b.few...)
			continue
		}
		s.bursts = append(s.bursts, *b)
	}
	s.cells = nil
	slices.SortFunc(s.arrows, compareLinks)
	slices.SortFunc(s.bursts, func(a, b burst) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.begin, b.begin)) })
}
