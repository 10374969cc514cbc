package timeline

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// scanQueries bounds how many windows pending bins are gathered into.
	scanQueries = 4
	// heldRows bounds the rows of lanes that share a row and are held at once.
	heldRows = 1 << 20
)

// A pending is what must be scanned of one strip.
type pending struct {
	strips *strips
	strip  int // in strips.list
	bins   []int64
	cells  *cells
	begun  []begun // rows of several lanes, to be put in order
}

// begun is a row that begins.
type begun struct {
	begin, duration trace.Time
	region          trace.RegionID
	row, lane       int
}

// scanPending decides the bins that digests could not, from their rows.
func (r *result) scanPending(ctx context.Context, builds map[trace.LocationID]*build) error {
	jobs := map[trace.LocationID][]*pending{}
	all := map[int64]bool{}
	for id, b := range builds {
		for k := range b.strips.list {
			p := &pending{strips: b.strips, strip: k, cells: newCells(r.grid, &r.rule)}
			for _, s := range b.strips.list[k].spans {
				if s.pending {
					p.bins = append(p.bins, r.grid.bin(s.begin))
					all[r.grid.bin(s.begin)] = true
				}
			}
			if p.bins != nil {
				jobs[id] = append(jobs[id], p)
			}
		}
	}
	for _, bins := range clusters(all, scanQueries) {
		if err := r.scanBins(ctx, jobs, bins[0], bins[1]); err != nil {
			return err
		}
	}
	for _, list := range jobs {
		for _, p := range list {
			s := &p.strips.list[p.strip]
			s.spans = slices.DeleteFunc(s.spans, func(x span) bool { return x.pending })
			s.spans = rejoin(append(s.spans, p.cells.finish()...))
		}
	}
	return nil
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

// scanBins reads the rows of [first, last] for all who wait for a bin in it.
func (r *result) scanBins(ctx context.Context, jobs map[trace.LocationID][]*pending, first, last int64) error {
	w := store.Window{}
	w.Begin, w.End = r.grid.clip(r.grid.binBegin(first), r.grid.binBegin(last+1))
	var shared store.Window // those whose rows are held
	for id, list := range jobs {
		if !slices.ContainsFunc(list, func(p *pending) bool { return p.waits(first, last) }) {
			continue
		}
		w.Locations = append(w.Locations, id)
		if s := list[0].strips; !s.split && s.lanes > 1 {
			shared.Locations = append(shared.Locations, id)
		}
	}
	if w.Locations == nil {
		return nil
	}
	slices.Sort(w.Locations)
	slices.Sort(shared.Locations)
	shared.Begin, shared.End = w.Begin, w.End
	if first < last && shared.Locations != nil && r.reader.Count(shared) > heldRows {
		mid := (first + last) / 2
		if err := r.scanBins(ctx, jobs, first, mid); err != nil {
			return err
		}
		return r.scanBins(ctx, jobs, mid+1, last)
	}
	return r.scan(ctx, w, jobs)
}

func (p *pending) waits(first, last int64) bool {
	i, _ := slices.BinarySearch(p.bins, first)
	return i < len(p.bins) && p.bins[i] <= last
}

// scan feeds the rows of a window to those who wait for them.
func (r *result) scan(ctx context.Context, w store.Window, jobs map[trace.LocationID][]*pending) error {
	at := func(id trace.LocationID, lane int) *pending {
		for _, p := range jobs[id] {
			if l := p.strips.list[p.strip].lane; l == -1 || l == lane {
				return p
			}
		}
		return nil
	}
	collect := share.Collector{
		Begin: w.Begin, End: w.End, Regions: r.regions, Keep: r.rule.keep, Wins: store.RoleOfInstant,
		Lanes: func(id trace.LocationID) int {
			if jobs[id][0].strips.split {
				return 1
			}
			return jobs[id][0].strips.lanes
		},
		Cut: func(id trace.LocationID, piece share.Piece, f func(share.Piece)) {
			if p := at(id, piece.Lane); p != nil {
				p.cut(&r.grid, piece, f)
			}
		},
		Emit: func(id trace.LocationID, piece share.Piece) { at(id, piece.Lane).piece(piece) },
		Row: func(c *trace.Columns, i int) {
			p := at(c.Location, c.Lane)
			if p == nil || !p.holds(r.grid.bin(c.Begin[i])) {
				return
			}
			b := begun{c.Begin[i], c.Duration[i], c.Region[i], c.First + i, c.Lane}
			if p.shared() {
				p.begun = append(p.begun, b)
				return
			}
			p.cells.row(b.begin, b.duration, b.region, b.row, b.lane)
		},
	}
	err := r.reader.Intervals(ctx, w, func(c *trace.Columns) error {
		if p := at(c.Location, c.Lane); p != nil {
			p.cells.opened(c.Open, c.Lane)
		}
		collect.Add(c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range w.Locations {
		if p := jobs[id][0]; p.shared() {
			slices.SortStableFunc(p.begun, func(a, b begun) int { return cmp.Compare(a.begin, b.begin) })
		}
	}
	collect.Close()
	for _, id := range w.Locations {
		jobs[id][0].rowsUntil(1<<62 - 1)
	}
	return nil
}

// shared reports whether several lanes are folded into the strip.
func (p *pending) shared() bool { return !p.strips.split && p.strips.lanes > 1 }

func (p *pending) holds(bin int64) bool {
	_, found := slices.BinarySearch(p.bins, bin)
	return found
}

// cut hands on the parts of a piece in bins that are waited for.
func (p *pending) cut(g *grid, piece share.Piece, f func(share.Piece)) {
	i := sort.Search(len(p.bins), func(i int) bool { return p.bins[i] >= g.bin(piece.Begin) })
	for ; i < len(p.bins) && g.binBegin(p.bins[i]) < piece.End; i++ {
		part := piece
		part.Begin, part.End = max(piece.Begin, g.binBegin(p.bins[i])), min(piece.End, g.binBegin(p.bins[i]+1))
		f(part)
	}
}

// piece adds what was found. Where lanes share a strip the pieces come folded,
// after all rows, and the rows are put between them.
func (p *pending) piece(piece share.Piece) {
	for p.shared() && len(p.begun) > 0 && p.begun[0].begin < piece.End {
		at := p.begun[0].begin
		if at > piece.Begin {
			part := piece.Segment
			part.End = at
			p.cells.segment(part, piece.Lane)
			piece.Begin = at
		}
		p.rowsUntil(at + 1)
	}
	p.cells.segment(piece.Segment, piece.Lane)
}

// rowsUntil adds held rows that begin before t.
func (p *pending) rowsUntil(t trace.Time) {
	for len(p.begun) > 0 && p.begun[0].begin < t {
		b := p.begun[0]
		p.cells.row(b.begin, b.duration, b.region, b.row, b.lane)
		p.begun = p.begun[1:]
	}
}
