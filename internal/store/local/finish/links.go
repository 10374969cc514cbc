package finish

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// linkBatch is how many links find their intervals at a time.
const linkBatch = 1 << 15

// An untimedWriter appends links without times to their columns.
type untimedWriter struct {
	kind             disk.Cursor[trace.LinkKind]
	from, to         disk.Cursor[trace.LocationID]
	size, tag, count disk.Cursor[int64]
	communicator     disk.Cursor[trace.CommunicatorID]
	close            []func() error
}

func openCursor[T any](w *untimedWriter, dir, name string, c *disk.Cursor[T]) {
	c.To = disk.NewColumn[T](dir, "untimed."+name)
	w.close = append(w.close, c.Finish, c.To.Close)
}

func (w *untimedWriter) open(dir string) {
	openCursor(w, dir, "kind.u8", &w.kind)
	openCursor(w, dir, "from_location.u32", &w.from)
	openCursor(w, dir, "to_location.u32", &w.to)
	openCursor(w, dir, "size.i64", &w.size)
	openCursor(w, dir, "tag.i64", &w.tag)
	openCursor(w, dir, "communicator.u32", &w.communicator)
	openCursor(w, dir, "count.i64", &w.count)
}

// finish writes what is left and closes the files.
func (w *untimedWriter) finish() error {
	var err error
	for _, f := range w.close {
		err = cmp.Or(err, f())
	}
	return err
}

func (w *untimedWriter) add(r *write.LinkRecord) {
	w.kind.Add(r.Kind)
	w.from.Add(r.FromLocation)
	w.to.Add(r.ToLocation)
	w.size.Add(r.Size)
	w.tag.Add(r.Tag)
	w.communicator.Add(r.Communicator)
	w.count.Add(max(r.Count, 1))
}

// A linkPlace is where an end of a link lies; -1 where no interval is known.
type linkPlace struct{ lane, row int32 }

// A linker finds the intervals at the ends of links, and writes the links.
type linker struct {
	*finisher
	begins *beginIndex
}

// writeLinks sorts the links by the time at which they start and finds the
// intervals at their ends.
func (f *linker) writeLinks(ctx context.Context) error {
	if err := f.writeUntimed(); err != nil {
		return err
	}
	begins := new(beginIndex)
	if f.LinkRows.Len() > 0 {
		var err error
		if begins, err = f.indexBegins(ctx); err != nil {
			return err
		}
		defer begins.close()
	}
	f.begins = begins
	return f.packLinks(ctx, f.resolveLinks)
}

func (f *linker) writeUntimed() error {
	var w untimedWriter
	w.open(f.Dir)
	err := f.UntimedRows.Each(func(r *write.LinkRecord) error {
		if f.renumber(r) {
			w.add(r)
		}
		return nil
	})
	return cmp.Or(err, w.finish())
}

// renumber gives a link the store's numbers; a link to nowhere is counted.
func (f *linker) renumber(r *write.LinkRecord) bool {
	r.FromLocation, r.ToLocation = f.numberOf(r.FromLocation), f.numberOf(r.ToLocation)
	if r.FromLocation == trace.NoLocation || r.ToLocation == trace.NoLocation {
		f.Report(trace.Skipped, "links with an undefined location", 1, "")
		return false
	}
	if f.regionNumber != nil {
		r.FromRegion, r.ToRegion = renumbered(f.regionNumber, r.FromRegion), renumbered(f.regionNumber, r.ToRegion)
	}
	r.FromTime -= f.origin
	r.ToTime -= f.origin
	return true
}

// resolveLinks gives links in order, with the intervals at their ends.
func (f *linker) resolveLinks(ctx context.Context, give func([]write.LinkRecord, [][2]linkPlace) error) error {
	places := make([][2]linkPlace, linkBatch)
	finders := f.newEndFinders()
	ties := tieBreaker{take: func(batch []write.LinkRecord) error {
		if err := f.resolveBatch(ctx, finders, batch, places); err != nil {
			return err
		}
		batch = f.unsaid(batch, places)
		return give(batch, places[:len(batch)])
	}}
	f.LinkRows.Once()
	err := f.LinkRows.SortedBlocks(nil, write.ByStart, linkBatch, func(batch []write.LinkRecord) error {
		return ties.add(f.renumberAll(batch))
	})
	return cmp.Or(err, ties.finish())
}

// renumberAll does for many, and leaves those to nowhere out.
func (f *linker) renumberAll(batch []write.LinkRecord) []write.LinkRecord {
	n := 0
	for i := range batch {
		if !f.renumber(&batch[i]) {
			continue
		}
		if n < i {
			batch[n] = batch[i]
		}
		n++
	}
	return batch[:n]
}
