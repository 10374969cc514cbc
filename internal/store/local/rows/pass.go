package rows

import (
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Pass says how the lanes of a question about the whole time are read. Rows of short lanes are unpacked into memory
// of the goroutine, which is used again for the lanes after them: unpacked in place, those of a million lanes would
// take new memory for all of them, which is given back when the question is over. The nil Pass unpacks in place.
type Pass struct {
	// Short lanes have at most so many rows.
	Short int
	// Timeless: the begins of rows are not needed, and may be 0.
	Timeless bool
}

// Short lanes have no sums, no digests and no summary tree of their own, so that questions about the whole of them read
// their rows.
const Short = disk.Frame

// passRows is about how many rows a pass has at hand: few enough to stay near the core.
const passRows = 32 * disk.Frame

// Passing returns a pass for a question about all of the time of a run that has more rows than stay unpacked; nil for
// others.
func (r *Table) Passing(in Window, p Pass) *Pass {
	if r.Sure == nil || r.Fetched != nil || in.Begin > 0 || in.Until <= r.End {
		return nil
	}
	if rows := r.RowsBelow(trace.LocationID(r.Len())); rows*disk.RowBytes <= uint64(MostHeld)/4 {
		return nil
	}
	return &p
}

// A Passer reads the lanes of a pass for one goroutine.
type Passer struct {
	r           *Table
	pass        *Pass
	rows        Unpacked
	first, last int // lanes whose rows are at hand: first and those before last
}

// Passer returns one without rows.
func (r *Table) Passer(p *Pass) *Passer { return &Passer{r: r, pass: p} }

// Lane returns a lane, by its number among all, to a caller that goes on with the lanes before end. It is valid until
// the next call.
func (p *Passer) Lane(n, end int) Lane {
	if p.pass == nil {
		return p.r.LaneByRows(n)
	}
	if n >= p.first && n < p.last {
		return p.rows.Lane(n)
	}
	row, last := p.r.C.LaneRow, n
	for last < end && row[last+1]-row[last] <= uint64(p.pass.Short) && row[last+1]-row[n] <= passRows {
		last++
	}
	if row[last] == row[n] || p.r.Sure.Touched(row[n], row[last]) {
		return p.r.LaneByRows(n)
	}
	p.rows.Take(p.r, row[n], row[last], !p.pass.Timeless)
	p.first, p.last = n, last
	return p.rows.Lane(n)
}
