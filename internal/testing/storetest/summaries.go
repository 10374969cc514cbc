package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// minRows is how many rows make a block of the reference worth it. It is small,
// so that callers meet both blocks and stretches of rows.
const minRows = 2

// stretch returns [begin, end) of a lane with the rows that begin in it. If last is set it is the end of a window
// that reaches the end of the trace, and the rows that begin at the very end belong to it.
func (r *reader) stretch(id trace.LocationID, laneNumber int, begin, end trace.Time, last bool) *trace.Stretch {
	l := &r.lanes[id][laneNumber]
	in := window{begin: begin, end: end}
	if last {
		in.end = end + 1
	}
	lo, hi, open := r.rowsIn(id, laneNumber, &in)
	s := &trace.Stretch{Begin: begin, End: end, Rows: r.columns(id, laneNumber, lo, hi)}
	s.Rows.Open = mergeOpen(s.Rows.Open, open)
	for _, g := range l.segments {
		if overlap(g.Begin, g.End, begin, end) > 0 {
			g.Begin, g.End = max(g.Begin, begin), min(g.End, end)
			s.Segments = append(s.Segments, g)
		}
	}
	return s
}

// A piece is one part of the cover of a window. The last block may reach past the trace.
type piece struct {
	begin, end trace.Time
	block      bool
}

func (r *reader) Summaries(ctx context.Context, name string, w store.Window, level int, v store.Visitor) error {
	i := slices.IndexFunc(r.summaries, func(s trace.Summary) bool { return s.Name() == name })
	if i < 0 {
		return fmt.Errorf("summary %q: %w", name, store.ErrNotKept)
	}
	in := r.window(w)
	return each(ctx, in.locations, func(id trace.LocationID) error {
		for l := range r.lanes[id] {
			for _, p := range cover(r.lanes[id][l].rows, &in, level) {
				if err := ctx.Err(); err != nil {
					return err
				}
				end := min(p.end, in.last)
				s := r.stretch(id, l, p.begin, end, in.end > in.last &&
					(p.end > in.last || p.end == in.last && !p.block))
				var err error
				if p.block {
					err = v.Block(id, l, p.begin, end, kept(r.summaries[i], s, r.regions))
				} else {
					err = v.Rows(s)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// kept is the block of a stretch as a store yields it.
func kept(d trace.Summary, s *trace.Stretch, regions []trace.Region) trace.Block {
	b := d.Build(nil, s, regions)
	if c, ok := d.(trace.Condenser); ok {
		return c.Condense(nil, b)
	}
	return b
}

// cover cuts the time of a window into blocks and stretches. The bins that are worth a block are found from the
// rows; the rest is stretches.
func cover(rows []row, in *window, level int) []piece {
	if in.begin >= in.end || in.begin > in.last {
		return nil
	}
	count := map[piece]int{}
	for _, x := range rows {
		if p, ok := binOf(x.begin, in, level); ok {
			count[p]++
		}
	}
	var blocks []piece
	for p, n := range count {
		if n >= minRows {
			blocks = append(blocks, p)
		}
	}
	slices.SortFunc(blocks, func(a, b piece) int { return cmp.Compare(a.begin, b.begin) })
	var out []piece
	now := in.begin
	for _, p := range blocks {
		if now < p.begin {
			out = append(out, piece{now, p.begin, false})
		}
		out = append(out, p)
		now = p.end
	}
	if now < in.last || now == in.last && len(rows) > 0 && in.end > in.last {
		out = append(out, piece{now, in.last, false}) // may be empty and yet hold rows at the very end
	}
	return out
}

// binOf returns the bin of t: of the level asked for, or the largest one that is wholly in the window, or has
// nothing outside.
func binOf(t trace.Time, in *window, level int) (piece, bool) {
	if level >= 0 {
		p := piece{t >> level << level, (t>>level + 1) << level, true}
		return p, p.begin >= in.begin && p.begin < p.end && p.end <= in.last
	}
	for l := bits.Len64(uint64(in.last)); l >= 0; l-- {
		p, ok := binOf(t, in, l)
		if ok || p.begin >= in.begin && in.end > in.last && p.end > in.last {
			return p, true
		}
	}
	return piece{}, false
}

func (r *reader) Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time,
	level int) (*store.GroupBins, error) {
	begin = begin >> level << level
	g := &store.GroupBins{Begin: begin, Level: level, Rows: make([]int, len(locations))}
	if end > begin {
		g.Bins = int((end - begin + 1<<level - 1) >> level)
	}
	g.Time = make([]trace.Time, len(locations)*g.Bins*trace.RoleCount)
	for k, top := range locations {
		for _, id := range r.tree.Expand([]trace.LocationID{top}) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if r.tree.Shows(id) {
				g.Rows[k]++
				r.addRoles(g, k, id)
			}
		}
	}
	return g, ctx.Err()
}

// addRoles adds the time of one location.
func (r *reader) addRoles(g *store.GroupBins, k int, id trace.LocationID) {
	r.eachRole(id, func(begin, end trace.Time, role trace.Role) {
		first := max(0, (begin-g.Begin)>>g.Level)
		for b := int(first); b < g.Bins; b++ {
			from := g.Begin + trace.Time(b)<<g.Level
			if from >= end {
				break
			}
			g.Time[(k*g.Bins+b)*trace.RoleCount+int(role)] += overlap(begin, end, from, from+1<<g.Level)
		}
	})
}

func (r *reader) RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum, error) {
	out := make([]trace.Sum, max(len(edges)-1, 0)*trace.RoleCount)
	in := r.window(store.Window{Locations: locations, End: r.info.End})
	for _, id := range in.locations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.eachRole(id, func(begin, end trace.Time, role trace.Role) {
			for b := range len(edges) - 1 {
				out[b*trace.RoleCount+int(role)].Add(overlap(begin, end, edges[b], edges[b+1]))
			}
		})
	}
	return out, ctx.Err()
}

// eachRole yields the roles of a location: the times at which any lane changes cut it into pieces, and in each
// the role that wins counts.
func (r *reader) eachRole(id trace.LocationID, f func(begin, end trace.Time, role trace.Role)) {
	var cuts []trace.Time
	for _, l := range r.lanes[id] {
		for _, s := range l.segments {
			cuts = append(cuts, s.Begin, s.End)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	next := make([]int, len(r.lanes[id])) // per lane the segment in which the piece lies
	for i := 0; i+1 < len(cuts); i++ {
		role := trace.RoleNone
		for l := range r.lanes[id] {
			segments := r.lanes[id][l].segments
			for segments[next[l]].End <= cuts[i] {
				next[l]++
			}
			role = store.RoleOfInstant(role, segments[next[l]].Role)
		}
		if role != trace.RoleNone {
			f(cuts[i], cuts[i+1], role)
		}
	}
}
