package share

import "github.com/parallax-hpc/parallax/internal/trace"

// A Piece is a segment of one of several lanes.
type Piece struct {
	trace.Segment
	Lane int
}

// Fold appends to dst what a location does at each instant when another lane
// joins those already folded. Where both have something open, wins says whose
// role counts (store.RoleOfInstant); of equal roles the lane folded first does.
// Both lists are in order of time without overlap and may leave gaps, which
// mean nothing open; so may the result. O(len(folded) + len(lane)).
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

// pieceAt gives the piece open at a time, if any, and when that changes.
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
