package local

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// overlaps reports whether a block of links can hold some of the window.
func (r *Reader) overlaps(block int, in window) bool {
	return r.c.blockBegin[block] < in.until && r.c.blockEnd[block] >= in.begin && in.begin < in.until
}

// LinkCount implements store.Reader. O(links / 1024).
func (r *Reader) LinkCount(w store.Window) int64 {
	if r.enter() != nil {
		return 0
	}
	defer r.leave()
	in := r.window(w)
	n := int64(len(r.c.untimed.kind))
	for b := range r.c.blockBegin {
		if r.overlaps(b, in) {
			n += int64(min((b+1)*linkBlock, len(r.c.link.kind)) - b*linkBlock)
		}
	}
	return n
}

// Links implements store.Reader: the links that are under way in the window,
// with an end on one of its locations; those without times always.
func (r *Reader) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	f = shield(f)
	in := r.window(w)
	set := r.ranges(w.Locations)
	return guard(func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.untimedLinks(set, f); err != nil {
			return err
		}
		var out store.LinkColumns
		for b := range r.c.blockBegin {
			if !r.overlaps(b, in) {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for i := b * linkBlock; i < min((b+1)*linkBlock, len(r.c.link.kind)); i++ {
				if r.wanted(i, in, set) {
					r.c.link.appendTo(&out, i)
				}
			}
			if len(out.Kind) >= batchRows/4 {
				if err := f(&out); err != nil {
					return err
				}
				truncateLinks(&out)
			}
		}
		if len(out.Kind) > 0 {
			return f(&out)
		}
		return ctx.Err()
	})
}

func (r *Reader) wanted(i int, in window, set ranges) bool {
	l := &r.c.link
	from, to := l.fromTime[i], l.toTime[i]
	return min(from, to) < in.until && max(from, to) >= in.begin && (set.has(l.fromLocation[i]) || set.has(l.toLocation[i]))
}

// has reports whether a location is in the set. O(log ranges).
func (s ranges) has(id trace.LocationID) bool {
	lo, hi := 0, len(s)
	for lo < hi {
		mid := (lo + hi) / 2
		if s[mid][1] <= id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s) && s[lo][0] <= id
}

func (l *linkColumns) appendTo(out *store.LinkColumns, i int) {
	out.Kind = append(out.Kind, l.kind[i])
	out.FromLocation, out.ToLocation = append(out.FromLocation, l.fromLocation[i]), append(out.ToLocation, l.toLocation[i])
	out.FromTime, out.ToTime = append(out.FromTime, l.fromTime[i]), append(out.ToTime, l.toTime[i])
	out.FromLane, out.FromRow = append(out.FromLane, l.fromLane[i]), append(out.FromRow, l.fromRow[i])
	out.ToLane, out.ToRow = append(out.ToLane, l.toLane[i]), append(out.ToRow, l.toRow[i])
	l.appendTail(out, i)
	out.Untimed = append(out.Untimed, false)
}

func (l *linkColumns) appendTail(out *store.LinkColumns, i int) {
	out.Size, out.Tag = append(out.Size, l.size[i]), append(out.Tag, l.tag[i])
	out.Communicator, out.Count = append(out.Communicator, l.communicator[i]), append(out.Count, l.count[i])
}

func truncateLinks(out *store.LinkColumns) {
	*out = store.LinkColumns{
		Kind: out.Kind[:0], FromLocation: out.FromLocation[:0], FromTime: out.FromTime[:0], FromLane: out.FromLane[:0], FromRow: out.FromRow[:0],
		ToLocation: out.ToLocation[:0], ToTime: out.ToTime[:0], ToLane: out.ToLane[:0], ToRow: out.ToRow[:0],
		Size: out.Size[:0], Tag: out.Tag[:0], Communicator: out.Communicator[:0], Count: out.Count[:0], Untimed: out.Untimed[:0],
	}
}

func (r *Reader) untimedLinks(set ranges, f func(*store.LinkColumns) error) error {
	var out store.LinkColumns
	l := &r.c.untimed
	for i := range l.kind {
		if !set.has(l.fromLocation[i]) && !set.has(l.toLocation[i]) {
			continue
		}
		out.Kind = append(out.Kind, l.kind[i])
		out.FromLocation, out.ToLocation = append(out.FromLocation, l.fromLocation[i]), append(out.ToLocation, l.toLocation[i])
		out.FromTime, out.ToTime = append(out.FromTime, 0), append(out.ToTime, 0)
		out.FromLane, out.FromRow = append(out.FromLane, -1), append(out.FromRow, -1)
		out.ToLane, out.ToRow = append(out.ToLane, -1), append(out.ToRow, -1)
		l.appendTail(&out, i)
		out.Untimed = append(out.Untimed, true)
		if len(out.Kind) >= batchRows/4 {
			if err := f(&out); err != nil {
				return err
			}
			truncateLinks(&out)
		}
	}
	if len(out.Kind) > 0 {
		return f(&out)
	}
	return nil
}
