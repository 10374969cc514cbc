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

// A linkWriter appends links to their columns.
type linkWriter struct {
	kind                 disk.Cursor[trace.LinkKind]
	fromLocation         disk.Cursor[trace.LocationID]
	toLocation           disk.Cursor[trace.LocationID]
	fromTime, toTime     disk.Cursor[trace.Time]
	fromLane, fromRow    disk.Cursor[int32]
	toLane, toRow        disk.Cursor[int32]
	size, tag, count     disk.Cursor[int64]
	communicator         disk.Cursor[trace.CommunicatorID]
	blockBegin, blockEnd disk.Cursor[trace.Time]
	close                []func() error
}

func openCursor[T any](w *linkWriter, dir, name string, c *disk.Cursor[T]) {
	c.To = disk.NewColumn[T](dir, name)
	w.close = append(w.close, c.Finish, c.To.Close)
}

func (w *linkWriter) open(dir, table string, timed bool) {
	openCursor(w, dir, table+".kind.u8", &w.kind)
	openCursor(w, dir, table+".from_location.u32", &w.fromLocation)
	openCursor(w, dir, table+".to_location.u32", &w.toLocation)
	openCursor(w, dir, table+".size.i64", &w.size)
	openCursor(w, dir, table+".tag.i64", &w.tag)
	openCursor(w, dir, table+".communicator.u32", &w.communicator)
	openCursor(w, dir, table+".count.i64", &w.count)
	if !timed {
		return
	}
	openCursor(w, dir, table+".from_time.i64", &w.fromTime)
	openCursor(w, dir, table+".from_lane.i32", &w.fromLane)
	openCursor(w, dir, table+".from_row.i32", &w.fromRow)
	openCursor(w, dir, table+".to_time.i64", &w.toTime)
	openCursor(w, dir, table+".to_lane.i32", &w.toLane)
	openCursor(w, dir, table+".to_row.i32", &w.toRow)
	openCursor(w, dir, "link_block.begin.i64", &w.blockBegin)
	openCursor(w, dir, "link_block.end.i64", &w.blockEnd)
}

// finish writes what is left and closes the files.
func (w *linkWriter) finish() error {
	var err error
	for _, f := range w.close {
		err = cmp.Or(err, f())
	}
	return err
}

// addAll appends what all links have, of at most linkBlock.
func (w *linkWriter) addAll(batch []write.LinkRecord) {
	n := len(batch)
	kind, from, to, communicator := w.kind.Room(n), w.fromLocation.Room(n), w.toLocation.Room(n), w.communicator.Room(n)
	for i := range batch {
		r := &batch[i]
		kind[i], from[i], to[i], communicator[i] = r.Kind, r.FromLocation, r.ToLocation, r.Communicator
	}
	size, tag, count := w.size.Room(n), w.tag.Room(n), w.count.Room(n)
	for i := range batch {
		r := &batch[i]
		size[i], tag[i], count[i] = r.Size, r.Tag, max(r.Count, 1)
	}
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
	var w linkWriter
	w.open(f.Dir, "link", true)
	return cmp.Or(f.resolveLinks(ctx, &w), w.finish())
}

func (f *linker) writeUntimed() error {
	var w linkWriter
	w.open(f.Dir, "untimed", false)
	err := f.UntimedRows.Each(func(r *write.LinkRecord) error {
		if f.renumber(r) {
			w.addAll([]write.LinkRecord{*r})
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

func (f *linker) resolveLinks(ctx context.Context, w *linkWriter) error {
	places := make([][2]linkPlace, linkBatch)
	finders := f.newEndFinders()
	ties := tieBreaker{take: func(batch []write.LinkRecord) error {
		if err := f.resolveBatch(ctx, finders, batch, places); err != nil {
			return err
		}
		batch, at := f.unsaid(batch, places), 0
		for at < len(batch) {
			n := min(len(batch)-at, disk.LinkBlock-int(w.kind.Position()%disk.LinkBlock))
			w.addTimed(batch[at:at+n], places[at:at+n])
			at += n
		}
		return nil
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

// addTimed appends links of one block of the table, column by column.
func (w *linkWriter) addTimed(batch []write.LinkRecord, at [][2]linkPlace) {
	lo, hi := min(batch[0].FromTime, batch[0].ToTime), max(batch[0].FromTime, batch[0].ToTime)
	for i := range batch {
		r := &batch[i]
		lo, hi = min(lo, r.FromTime, r.ToTime), max(hi, r.FromTime, r.ToTime)
	}
	if w.kind.Position()%disk.LinkBlock == 0 {
		w.blockBegin.Add(lo)
		w.blockEnd.Add(hi)
	} else {
		b, e := &w.blockBegin.Buf[len(w.blockBegin.Buf)-1], &w.blockEnd.Buf[len(w.blockEnd.Buf)-1]
		*b, *e = min(*b, lo), max(*e, hi)
	}
	w.addAll(batch)
	fromTime, toTime := w.fromTime.Room(len(batch)), w.toTime.Room(len(batch))
	for i := range batch {
		fromTime[i], toTime[i] = batch[i].FromTime, batch[i].ToTime
	}
	fromLane, fromRow, toLane, toRow := w.fromLane.Room(len(at)), w.fromRow.Room(len(at)), w.toLane.Room(len(at)), w.toRow.Room(len(at))
	for i := range at {
		p := &at[i]
		fromLane[i], fromRow[i], toLane[i], toRow[i] = p[0].lane, p[0].row, p[1].lane, p[1].row
	}
}
