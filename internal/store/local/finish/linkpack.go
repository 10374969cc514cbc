package finish

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Links are packed and added up as they come, a stretch of them at a time: plain columns would take six times the room,
// and be written and read again.

// A linkRow is a row of table link.
type linkRow struct {
	FromTime, ToTime         trace.Time
	Size, Tag, Count         int64
	FromLocation, ToLocation trace.LocationID
	FromLane, FromRow        int32
	ToLane, ToRow            int32
	Communicator             trace.CommunicatorID
	Kind                     trace.LinkKind
}

// linkFields are in the order of the schema.
var linkFields = disk.FieldsOf("Kind", "FromLocation", "FromTime", "FromLane", "FromRow", "ToLocation", "ToTime",
	"ToLane", "ToRow", "Size", "Tag", "Communicator", "Count")

// A linkStretch is disk.LinkNode links that follow each other, the last one fewer, and their packed form.
type linkStretch struct {
	rows       []linkRow
	frames     disk.Frames
	begin, end []trace.Time // of its blocks
	sums       []store.LinkSum
}

// packLinks writes the rows, blocks and sums of the links of from.
func (f *linker) packLinks(ctx context.Context, from linkSource) error {
	sums := newLinkSummer(f.Dir)
	err := f.packLinkRows(ctx, from, func(node []store.LinkSum) { sums.add(0, node, disk.LinkNode, false) })
	return cmp.Or(err, sums.finish())
}

// A linkSource yields links in order, with the intervals at their ends.
type linkSource func(context.Context, func([]write.LinkRecord, [][2]linkPlace) error) error

// packLinkRows writes rows and blocks, and yields the sums of stretches. Stretches are made on all cores and written in
// order.
func (f *linker) packLinkRows(ctx context.Context, from linkSource, node func([]store.LinkSum)) error {
	table := disk.NewTablePacker[linkRow](f.Dir, "link", linkFields...)
	table.Passes(f.described.passing)
	blocks := &tableWriter{dir: f.Dir, table: "link_block"}
	begin, end := appendTo[trace.Time](blocks, "begin.i64"), appendTo[trace.Time](blocks, "end.i64")
	full, free := make(chan []linkRow, 1), make(chan []linkRow, 2*f.workers+2)
	g, within := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(full)
		c := linkCutter{ctx: within, full: full, free: free}
		return cmp.Or(from(within, c.add), c.finish())
	})
	g.Go(func() (err error) {
		parallel.Piped(f.workers, func() *nodeSummer { return new(nodeSummer) }, func(s *linkStretch) (ok bool) {
			s.rows, ok = <-full
			return ok
		}, func(n *nodeSummer, s *linkStretch) {
			table.Pack(&s.frames, s.rows)
			s.summarize(n)
		}, func(s *linkStretch) bool {
			if err = table.Append(&s.frames); err != nil {
				return false
			}
			begin.AddAll(s.begin)
			end.AddAll(s.end)
			if len(s.rows) == disk.LinkNode { // those of the last links are added up when they are asked for
				node(s.sums)
			}
			select {
			case free <- s.rows[:0]:
			default:
			}
			return true
		})
		return err
	})
	err := table.Finish(ctx, g.Wait())
	return cmp.Or(err, blocks.finish(nil), describePacked(f.finisher, table, err))
}

// summarize finds when blocks begin and end, and adds the links up.
func (s *linkStretch) summarize(n *nodeSummer) {
	s.begin, s.end = s.begin[:0], s.end[:0]
	for i := range s.rows {
		r := &s.rows[i]
		lo, hi := min(r.FromTime, r.ToTime), max(r.FromTime, r.ToTime)
		if i%disk.LinkBlock == 0 {
			s.begin, s.end = append(s.begin, lo), append(s.end, hi)
		} else {
			k := len(s.begin) - 1
			s.begin[k], s.end[k] = min(s.begin[k], lo), max(s.end[k], hi)
		}
	}
	s.sums = nil
	if len(s.rows) < disk.LinkNode {
		return
	}
	s.sums = n.sum(s.rows)
}

// sum returns the contribution of the link to the sums.
func (r *linkRow) sum() store.LinkSum {
	x := store.LinkSum{Kind: r.Kind, From: r.FromLocation, To: r.ToLocation, Count: r.Count,
		Time: r.ToTime - r.FromTime}
	if r.Size >= 0 {
		x.Sized, x.Bytes = 1, r.Size
	}
	return x
}

// A linkCutter cuts links into stretches.
type linkCutter struct {
	ctx        context.Context
	rows       []linkRow
	full, free chan []linkRow
}

func (c *linkCutter) add(batch []write.LinkRecord, at [][2]linkPlace) error {
	for len(batch) > 0 {
		if c.rows == nil {
			select {
			case c.rows = <-c.free:
			default:
				c.rows = make([]linkRow, 0, disk.LinkNode)
			}
		}
		from := len(c.rows)
		n := min(len(batch), disk.LinkNode-from)
		c.rows = c.rows[:from+n]
		for i := range n {
			// Field by field: one that is made elsewhere and copied takes longer.
			to, r, p := &c.rows[from+i], &batch[i], &at[i]
			to.FromTime, to.ToTime, to.Size, to.Tag, to.Count = r.FromTime, r.ToTime, r.Size, r.Tag, max(r.Count, 1)
			to.FromLocation, to.ToLocation, to.Communicator, to.Kind = r.FromLocation, r.ToLocation, r.Communicator,
				r.Kind
			to.FromLane, to.FromRow, to.ToLane, to.ToRow = p[0].lane, p[0].row, p[1].lane, p[1].row
		}
		batch, at = batch[n:], at[n:]
		if len(c.rows) == disk.LinkNode {
			if err := c.finish(); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish yields the stretch at hand.
func (c *linkCutter) finish() error {
	if len(c.rows) == 0 {
		return nil
	}
	select {
	case c.full <- c.rows:
		c.rows = nil
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}
