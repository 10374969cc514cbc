package share

import "github.com/parallax-hpc/parallax/internal/trace"

// A Piece is a segment of one of several lanes.
type Piece struct {
	trace.Segment
	Lane int
}

// Fold appends to dst the pieces of a location when another lane joins those already folded. If both have
// something open, wins says whose role counts (store.RoleOfInstant); of equal roles the lane folded first
// does. Both lists are in order of time without overlap and may leave gaps, which mean nothing open; so may
// the result. O(len(folded) + len(lane)).
func Fold(dst, folded, lane []Piece, wins func(a, b trace.Role) trace.Role) []Piece {
	if len(folded) == 0 && len(lane) == 0 {
		return dst
	}
	i, j := 0, 0
	at := trace.Time(-1 << 62)
	for i < len(folded) || j < len(lane) {
		p, next := pieceAt(folded, i, at)
		q, edge := pieceAt(lane, j, at)
		next = min(next, edge)
		if p == nil || q != nil && q.Role != p.Role && wins(p.Role, q.Role) == q.Role {
			p = q
		}
		dst = appendPiece(dst, p, at, next)
		at = next
		if i < len(folded) && folded[i].End <= at {
			i++
		}
		if j < len(lane) && lane[j].End <= at {
			j++
		}
	}
	return dst
}

// pieceAt returns the piece open at a time, if any, and when that changes.
func pieceAt(list []Piece, i int, at trace.Time) (*Piece, trace.Time) {
	switch {
	case i == len(list):
		return nil, 1<<62 - 1
	case list[i].Begin > at:
		return nil, list[i].Begin
	case list[i].Region == trace.NoRegion:
		return nil, list[i].End
	}
	return &list[i], list[i].End
}

// appendPiece appends [begin, end) of p, joined to the last one where it goes on.
func appendPiece(dst []Piece, p *Piece, begin, end trace.Time) []Piece {
	if p == nil {
		return dst
	}
	if n := len(dst); n > 0 {
		last := &dst[n-1]
		if last.End == begin && last.Row == p.Row && last.Lane == p.Lane {
			last.End = end
			return dst
		}
	}
	dst = append(dst, *p)
	last := &dst[len(dst)-1]
	last.Begin, last.End = begin, end
	return dst
}

// A folder folds lanes one after the other. Neighbours of about as many lanes are folded
// first, like runs of a merge sort: each piece is copied as often as the number of lanes has
// digits, where folding every lane into all before would copy everything for each.
type folder struct {
	lists [][]Piece
	lanes []int // in each list, fewer and fewer
}

// add takes the next lane; the pieces stay the caller's.
func (f *folder) add(lane []Piece, wins func(a, b trace.Role) trace.Role) {
	f.lists, f.lanes = append(f.lists, append([]Piece(nil), lane...)), append(f.lanes, 1)
	for n := len(f.lanes); n > 1 && f.lanes[n-2] <= f.lanes[n-1]; n = len(f.lanes) {
		f.join(wins)
	}
}

// join folds the last two lists, those folded first first.
func (f *folder) join(wins func(a, b trace.Role) trace.Role) {
	n := len(f.lists)
	a, b := f.lists[n-2], f.lists[n-1]
	f.lists[n-2] = Fold(make([]Piece, 0, len(a)+len(b)), a, b, wins)
	f.lanes[n-2] += f.lanes[n-1]
	f.lists, f.lanes = f.lists[:n-1], f.lanes[:n-1]
}

// all returns the folded pieces of all lanes.
func (f *folder) all(wins func(a, b trace.Role) trace.Role) []Piece {
	for len(f.lists) > 1 {
		f.join(wins)
	}
	if len(f.lists) == 0 {
		return nil
	}
	return f.lists[0]
}
