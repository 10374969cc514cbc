package read

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// overlaps reports whether a block of links can hold some of the window.
func (r links) overlaps(block int, in rows.Window) bool {
	return r.C.BlockBegin[block] < in.Until && r.C.BlockEnd[block] >= in.Begin && in.Begin < in.Until
}

// LinkCount implements store.Reader. O(links / 1024).
func (r links) LinkCount(w store.Window) (n int64, err error) {
	if err := r.Enter(); err != nil {
		return 0, err
	}
	defer r.Leave()
	in := r.Window(w)
	n = int64(len(r.C.Untimed.Kind))
	err = r.Guarded(context.Background(), func() error {
		r.Checks.Of("link_block").Touch(0, uint64(len(r.C.BlockBegin)))
		for b := range r.C.BlockBegin {
			if r.overlaps(b, in) {
				n += int64(min((b+1)*disk.LinkBlock, len(r.C.Link.Kind)) - b*disk.LinkBlock)
			}
		}
		return nil
	})
	return n, err
}

// Links implements store.Reader: the links that are under way in the window,
// with an end on one of its locations; those without times always.
func (r links) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	if err := r.Enter(); err != nil {
		return err
	}
	defer r.Leave()
	f = disk.Shield(f)
	in := r.Window(w)
	set := r.Ranges(w.Locations)
	return r.Guarded(ctx, func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Checks.Of("untimed").Touch(0, uint64(len(r.C.Untimed.Kind)))
		r.Checks.Of("link_block").Touch(0, uint64(len(r.C.BlockBegin)))
		if err := r.untimedLinks(set, f); err != nil {
			return err
		}
		return r.timedLinks(ctx, in, set, f)
	})
}

// A linkPart is blocks of links that overlap a window, by their places among those, and the unpacked part of each.
type linkPart struct {
	from, to int
	links    []store.LinkColumns
}

// linkParts is the number of blocks that are unpacked as one: fewer are done sooner than another goroutine could begin.
const linkParts = 8

// timedLinks yields blocks of links in order, while those that follow are unpacked on other cores.
func (r links) timedLinks(ctx context.Context, in rows.Window, set rows.Ranges,
	f func(*store.LinkColumns) error) error {
	blocks := r.blocks(in)
	all := len(set) == 1 && set[0] == [2]trace.LocationID{0, trace.LocationID(r.Len())}
	has := r.members(set)
	n := uint64(len(r.C.Link.Kind))
	unpack := func(p *linkPart) {
		for k := p.from; k < p.to; k++ {
			b, out := blocks[k].at, &p.links[k-p.from]
			r.Checks.Of("link").UnpackLinks(out, uint64(b*disk.LinkBlock), min(uint64(b+1)*disk.LinkBlock, n),
				min(uint64(blocks[k].until)*disk.LinkBlock, n))
			r.soundLinks("link", out)
			if !all || r.C.BlockBegin[b] < in.Begin || r.C.BlockEnd[b] >= in.Until {
				keepLinks(out, in, has)
			}
		}
	}
	give := func(p *linkPart) error {
		for k := range p.to - p.from {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if len(p.links[k].Kind) == 0 {
				continue
			}
			if err := f(&p.links[k]); err != nil {
				return err
			}
		}
		return nil
	}
	if len(blocks) <= linkParts || r.Workers == 1 || r.Fetched != nil { // remote blocks are fetched far ahead
		one := linkPart{links: make([]store.LinkColumns, 1)}
		for k := range blocks {
			one.from, one.to = k, k+1
			unpack(&one)
			if err := give(&one); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	free := make(chan *linkPart, 2*r.Workers) // as many as are under way at once
	return parallel.Ordered(ctx, (len(blocks)+linkParts-1)/linkParts, r.Workers, func() struct{} { return struct{}{} },
		func(_ context.Context, _ struct{}, i int) (*linkPart, error) {
			var p *linkPart
			select {
			case p = <-free:
			default:
				p = &linkPart{links: make([]store.LinkColumns, linkParts)}
			}
			p.from, p.to = i*linkParts, min((i+1)*linkParts, len(blocks))
			return p, disk.Guard(func() error {
				unpack(p)
				return nil
			})
		}, func(p *linkPart) error {
			err := disk.Guard(func() error { return give(p) })
			free <- p
			return err
		})
}

// A linkRange is a block of links, and the first behind it that is not asked for.
type linkRange struct{ at, until int }

// blocks returns the blocks that overlap a window.
func (r links) blocks(in rows.Window) (list []linkRange) {
	for b := range r.C.BlockBegin {
		if r.overlaps(b, in) {
			list = append(list, linkRange{b, b + 1})
		}
	}
	for i := len(list) - 2; i >= 0; i-- {
		if list[i+1].at == list[i].at+1 {
			list[i].until = list[i+1].until
		}
	}
	return list
}

// members returns a set of locations as it is asked for most quickly: of many ranges one by one, unless there are more
// locations than links to ask for.
func (r links) members(set rows.Ranges) func(trace.LocationID) bool {
	const few = 4
	if len(set) <= few || r.Len() > len(r.C.Link.Kind) {
		return set.Has
	}
	each := make([]bool, r.Len())
	for _, x := range set {
		for id := x[0]; id < x[1]; id++ {
			each[id] = true
		}
	}
	return func(id trace.LocationID) bool { return int(id) < len(each) && each[id] }
}

// keepLinks leaves the links that meet the window.
func keepLinks(l *store.LinkColumns, in rows.Window, has func(trace.LocationID) bool) {
	n := 0
	for i := range l.Kind {
		from, to := l.FromTime[i], l.ToTime[i]
		if min(from, to) >= in.Until || max(from, to) < in.Begin || !has(l.FromLocation[i]) && !has(l.ToLocation[i]) {
			continue
		}
		if n < i {
			disk.MoveLink(l, n, i)
		}
		n++
	}
	disk.CutLinks(l, n)
}

func truncateLinks(out *store.LinkColumns) {
	*out = store.LinkColumns{
		Kind: out.Kind[:0], FromLocation: out.FromLocation[:0], FromTime: out.FromTime[:0], FromLane: out.FromLane[:0],
		FromRow:    out.FromRow[:0],
		ToLocation: out.ToLocation[:0], ToTime: out.ToTime[:0], ToLane: out.ToLane[:0], ToRow: out.ToRow[:0],
		Size: out.Size[:0], Tag: out.Tag[:0], Communicator: out.Communicator[:0], Count: out.Count[:0],
		Untimed: out.Untimed[:0],
	}
}

func (r links) untimedLinks(set rows.Ranges, f func(*store.LinkColumns) error) error {
	var out store.LinkColumns
	l := &r.C.Untimed
	for i := range l.Kind {
		if !set.Has(l.FromLocation[i]) && !set.Has(l.ToLocation[i]) {
			continue
		}
		out.Kind = append(out.Kind, l.Kind[i])
		out.FromLocation, out.ToLocation = append(out.FromLocation, l.FromLocation[i]),
			append(out.ToLocation, l.ToLocation[i])
		out.FromTime, out.ToTime = append(out.FromTime, 0), append(out.ToTime, 0)
		out.FromLane, out.FromRow = append(out.FromLane, -1), append(out.FromRow, -1)
		out.ToLane, out.ToRow = append(out.ToLane, -1), append(out.ToRow, -1)
		l.AppendTail(&out, i)
		out.Untimed = append(out.Untimed, true)
		if len(out.Kind) >= rows.BatchRows/4 {
			r.soundLinks("untimed", &out)
			if err := f(&out); err != nil {
				return err
			}
			truncateLinks(&out)
		}
	}
	if len(out.Kind) > 0 {
		r.soundLinks("untimed", &out)
		return f(&out)
	}
	return nil
}
