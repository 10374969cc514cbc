package timeline

import (
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sharedScan scans the bins of a strip in which several lanes meet.
type sharedScan struct {
	strip *strip
	bins  []int64
	lanes int
	cells *cells
	begun []begun // rows of all lanes, to be put in order
	room  []begun // for the next ones
}

// begun is a row that begins.
type begun struct {
	begin, duration trace.Time
	region          trace.RegionID
	row, lane       int
}

// collector folds the lanes of those that share a strip.
func (s *scanning) collector() *share.Collector {
	return &share.Collector{
		Begin: s.window.Begin, End: s.window.End, Regions: s.in.regions, Keep: s.in.rule.keep,
		Wins:  store.RoleOfInstant,
		Lanes: func(id trace.LocationID) int { return s.places[id].shared.lanes },
		Cut: func(id trace.LocationID, piece share.Piece, f func(share.Piece)) {
			s.places[id].shared.cut(&s.grid, piece, f)
		},
		Emit: func(id trace.LocationID, piece share.Piece) { s.places[id].shared.piece(piece) },
		Row: func(c *trace.Columns, i int) {
			p := s.places[c.Location].shared
			if p.holds(s.grid.bin(c.Begin[i])) {
				p.begun = append(p.begun, begun{c.Begin[i], c.Duration[i], c.Region[i], c.First + i, c.Lane})
			}
		},
	}
}

func (p *sharedScan) holds(bin int64) bool {
	_, found := slices.BinarySearch(p.bins, bin)
	return found
}

// cut passes on the parts of a piece in bins that are waited for.
func (p *sharedScan) cut(g *grid, piece share.Piece, f func(share.Piece)) {
	i := sort.Search(len(p.bins), func(i int) bool { return p.bins[i] >= g.bin(piece.Begin) })
	for ; i < len(p.bins) && g.binBegin(p.bins[i]) < piece.End; i++ {
		part := piece
		part.Begin, part.End = max(piece.Begin, g.binBegin(p.bins[i])), min(piece.End, g.binBegin(p.bins[i]+1))
		f(part)
	}
}

// piece adds a segment that was found. Pieces come folded, after all rows, and the rows
// are put between them.
func (p *sharedScan) piece(piece share.Piece) {
	for len(p.begun) > 0 && p.begun[0].begin < piece.End {
		at := p.begun[0].begin
		if at > piece.Begin {
			part := piece.Segment
			part.End = at
			p.cells.segment(&part, piece.Lane)
			piece.Begin = at
		}
		p.rowsUntil(at + 1)
	}
	p.cells.segment(&piece.Segment, piece.Lane)
}

// rowsUntil adds held rows that begin before t.
func (p *sharedScan) rowsUntil(t trace.Time) {
	for len(p.begun) > 0 && p.begun[0].begin < t {
		b := p.begun[0]
		p.cells.row(b.begin, b.duration, b.region, b.row, b.lane)
		p.begun = p.begun[1:]
	}
}

// order puts held rows in the order of time, of those that begin together the lane that came first first. Lanes come
// one after the other, each in order: rows already in order are only merged.
func (p *sharedScan) order() {
	rows, spare := p.begun, p.room
	if cap(spare) < len(rows) {
		spare = make([]begun, len(rows))
	}
	spare = spare[:len(rows)]
	ends := []int{}
	for i := 1; i <= len(rows); i++ {
		if i == len(rows) || rows[i].begin < rows[i-1].begin {
			ends = append(ends, i)
		}
	}
	for len(ends) > 1 {
		from, joined := 0, ends[:0]
		for k := 0; k < len(ends); k += 2 {
			to := ends[min(k+1, len(ends)-1)]
			mergeBegun(spare[from:to], rows[from:ends[k]], rows[ends[k]:to])
			joined, from = append(joined, to), to
		}
		ends, rows, spare = joined, spare, rows
	}
	p.begun, p.room = rows, spare
}

// mergeBegun merges two lists in order, of equal ones the first list's first.
func mergeBegun(into, a, b []begun) {
	for n := range into {
		if len(b) == 0 || len(a) > 0 && a[0].begin <= b[0].begin {
			into[n], a = a[0], a[1:]
		} else {
			into[n], b = b[0], b[1:]
		}
	}
}
