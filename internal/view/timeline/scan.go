package timeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// scanQueries bounds how many windows pending bins are gathered into.
	scanQueries = 4
	// heldRows bounds the rows of lanes that share a row and are held at once.
	heldRows = 1 << 20
)

// A scanning is the work on bins that digests could not decide.
type scanning struct {
	in     *input
	grid   grid
	window store.Window // the one at hand
	places map[trace.LocationID]*scanned
}

// scanned lists the parts of one location that must be scanned: strips of single lanes,
// or one strip that all lanes share.
type scanned struct {
	lanes  []*laneScan // by lane; nil: nothing to do
	shared *sharedScan
}

// waits reports whether a strip waits for a bin from first to last.
func (s *scanned) waits(first, last int64) bool {
	if s.shared != nil {
		return waits(s.shared.bins, first, last)
	}
	return slices.ContainsFunc(s.lanes, func(l *laneScan) bool { return l != nil && waits(l.bins, first, last) })
}

func waits(bins []int64, first, last int64) bool {
	i, _ := slices.BinarySearch(bins, first)
	return i < len(bins) && bins[i] <= last
}

// scanPending decides the bins that digests could not, from their rows.
func scanPending(ctx context.Context, in *input, g grid, builds map[trace.LocationID]*build) error {
	s := &scanning{in: in, grid: g, places: map[trace.LocationID]*scanned{}}
	all := map[int64]bool{}
	for id, b := range builds {
		p := &scanned{lanes: make([]*laneScan, b.strips.lanes)}
		for k := range b.strips.list {
			strip := &b.strips.list[k]
			var bins []int64
			for i := range strip.spans {
				if strip.spans[i].pending {
					bin := g.bin(strip.spans[i].begin)
					bins = append(bins, bin)
					all[bin] = true
				}
			}
			switch {
			case bins == nil:
			case strip.lane < 0 && b.strips.lanes > 1:
				p.shared = &sharedScan{strip: strip, bins: bins, lanes: b.strips.lanes,
					cells: newCells(g, &in.rule)}
			default:
				p.lanes[max(0, strip.lane)] = newLaneScan(in, g, strip, bins)
			}
		}
		if p.waits(-1<<62, 1<<62) {
			s.places[id] = p
		}
	}
	for _, bins := range clusters(all, scanQueries) {
		if err := s.scanBins(ctx, bins[0], bins[1]); err != nil {
			return err
		}
	}
	for _, p := range s.places {
		if p.shared != nil {
			p.shared.strip.replace(p.shared.cells.finish())
		}
		for _, l := range p.lanes {
			if l != nil {
				l.strip.replace(l.cells.finish())
			}
		}
	}
	return nil
}

// replace puts the spans that were found in the place of pending ones.
func (s *strip) replace(found []span) {
	s.spans = slices.DeleteFunc(s.spans, func(x span) bool { return x.pending })
	s.spans = rejoin(append(s.spans, found...))
}

// clusters gathers bins into at most n ranges, cut at the widest gaps.
func clusters(all map[int64]bool, n int) [][2]int64 {
	if len(all) == 0 {
		return nil
	}
	bins := make([]int64, 0, len(all))
	for b := range all {
		bins = append(bins, b)
	}
	slices.Sort(bins)
	var gaps []int // index of the bin after the gap
	for i := 1; i < len(bins); i++ {
		if bins[i] > bins[i-1]+1 {
			gaps = append(gaps, i)
		}
	}
	slices.SortFunc(gaps, func(a, b int) int {
		return cmp.Or(cmp.Compare(bins[b]-bins[b-1], bins[a]-bins[a-1]), cmp.Compare(a, b))
	})
	gaps = gaps[:min(len(gaps), n-1)]
	slices.Sort(gaps)
	var out [][2]int64
	from := 0
	for _, g := range append(gaps, len(bins)) {
		out = append(out, [2]int64{bins[from], bins[g-1]})
		from = g
	}
	return out
}

// scanBins reads the rows of [first, last] for all who wait for a bin in it, in
// halves where too many would have to be held.
func (s *scanning) scanBins(ctx context.Context, first, last int64) error {
	g := &s.grid
	w := store.Window{Begin: max(g.begin, g.binBegin(first)), End: min(g.end, g.binBegin(last+1))}
	shared := store.Window{Begin: w.Begin, End: w.End}
	for id, p := range s.places {
		if !p.waits(first, last) {
			continue
		}
		w.Locations = append(w.Locations, id)
		if p.shared != nil {
			shared.Locations = append(shared.Locations, id)
		}
	}
	if w.Locations == nil {
		return nil
	}
	slices.Sort(w.Locations)
	slices.Sort(shared.Locations)
	if first < last && shared.Locations != nil {
		n, err := s.in.reader.Count(shared)
		if err != nil {
			return err
		}
		if n > heldRows {
			mid := (first + last) / 2
			if err := s.scanBins(ctx, first, mid); err != nil {
				return err
			}
			return s.scanBins(ctx, mid+1, last)
		}
	}
	s.window = w
	return s.scan(ctx)
}

// scan feeds the rows of the window to those who wait for them.
func (s *scanning) scan(ctx context.Context) error {
	collect := s.collector()
	for _, id := range s.window.Locations {
		for _, l := range s.places[id].lanes {
			if l != nil {
				l.start(s.window)
			}
		}
	}
	err := s.in.reader.Intervals(ctx, s.window, func(c *trace.Columns) error {
		p := s.places[c.Location]
		switch {
		case p == nil: // below a location that waits
		case p.shared != nil:
			p.shared.cells.opened(c.Open, c.Lane)
			collect.Add(c)
		case p.lanes[c.Lane] != nil:
			p.lanes[c.Lane].rows(c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range s.window.Locations {
		p := s.places[id]
		if p.shared != nil {
			p.shared.order()
		}
		for _, l := range p.lanes {
			if l != nil {
				l.finish()
			}
		}
	}
	collect.Close()
	for _, id := range s.window.Locations {
		if p := s.places[id].shared; p != nil {
			p.rowsUntil(1<<62 - 1)
			p.begun = p.room[:0] // the next rows
			p.room = nil
		}
	}
	return nil
}
