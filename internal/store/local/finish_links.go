package local

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// linkBlock is how many links share an entry of table link_block.
const linkBlock = 1024

// linkBatch is how many links find their intervals at a time.
const linkBatch = 1 << 15

// A linkWriter appends links to their columns.
type linkWriter struct {
	kind                 cursor[trace.LinkKind]
	fromLocation         cursor[trace.LocationID]
	toLocation           cursor[trace.LocationID]
	fromTime, toTime     cursor[trace.Time]
	fromLane, fromRow    cursor[int32]
	toLane, toRow        cursor[int32]
	size, tag, count     cursor[int64]
	communicator         cursor[trace.CommunicatorID]
	blockBegin, blockEnd cursor[trace.Time]
	close                []func() error
}

func openCursor[T any](w *linkWriter, dir, name string, c *cursor[T]) error {
	f, err := createColumn[T](dir, name)
	if err != nil {
		return err
	}
	c.to = f
	w.close = append(w.close, c.finish, f.close)
	return nil
}

func (w *linkWriter) open(dir, table string, timed bool) error {
	err := cmp.Or(
		openCursor(w, dir, table+".kind.u8", &w.kind),
		openCursor(w, dir, table+".from_location.u32", &w.fromLocation),
		openCursor(w, dir, table+".to_location.u32", &w.toLocation),
		openCursor(w, dir, table+".size.i64", &w.size),
		openCursor(w, dir, table+".tag.i64", &w.tag),
		openCursor(w, dir, table+".communicator.u32", &w.communicator),
		openCursor(w, dir, table+".count.i64", &w.count),
	)
	if err != nil || !timed {
		return err
	}
	return cmp.Or(
		openCursor(w, dir, table+".from_time.i64", &w.fromTime),
		openCursor(w, dir, table+".from_lane.i32", &w.fromLane),
		openCursor(w, dir, table+".from_row.i32", &w.fromRow),
		openCursor(w, dir, table+".to_time.i64", &w.toTime),
		openCursor(w, dir, table+".to_lane.i32", &w.toLane),
		openCursor(w, dir, table+".to_row.i32", &w.toRow),
		openCursor(w, dir, "link_block.begin.i64", &w.blockBegin),
		openCursor(w, dir, "link_block.end.i64", &w.blockEnd),
	)
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
func (w *linkWriter) addAll(batch []linkRecord) {
	n := len(batch)
	kind, from, to, communicator := w.kind.room(n), w.fromLocation.room(n), w.toLocation.room(n), w.communicator.room(n)
	for i := range batch {
		r := &batch[i]
		kind[i], from[i], to[i], communicator[i] = r.kind, r.fromLocation, r.toLocation, r.communicator
	}
	size, tag, count := w.size.room(n), w.tag.room(n), w.count.room(n)
	for i := range batch {
		r := &batch[i]
		size[i], tag[i], count[i] = r.size, r.tag, max(r.count, 1)
	}
}

// A place is where an end of a link lies; -1 where no interval is known.
type place struct{ lane, row int32 }

// writeLinks sorts the links by the time at which they start and finds the
// intervals at their ends.
func (f *finisher) writeLinks(ctx context.Context) error {
	if err := f.writeUntimed(); err != nil {
		return err
	}
	begins := new(beginIndex)
	if f.links.Len() > 0 {
		var err error
		if begins, err = f.indexBegins(ctx); err != nil {
			return err
		}
		defer begins.close()
	}
	f.begins = begins
	var w linkWriter
	err := w.open(f.dir, "link", true)
	if err == nil {
		err = f.resolveLinks(ctx, &w)
	}
	return cmp.Or(err, w.finish())
}

func (f *finisher) writeUntimed() error {
	var w linkWriter
	err := w.open(f.dir, "untimed", false)
	if err == nil {
		err = f.untimed.each(func(r *linkRecord) error {
			if f.renumber(r) {
				w.addAll([]linkRecord{*r})
			}
			return nil
		})
	}
	return cmp.Or(err, w.finish())
}

// renumber gives a link the store's numbers; a link to nowhere is counted.
func (f *finisher) renumber(r *linkRecord) bool {
	r.fromLocation, r.toLocation = f.numberOf(r.fromLocation), f.numberOf(r.toLocation)
	if r.fromLocation == trace.NoLocation || r.toLocation == trace.NoLocation {
		f.Report(trace.Skipped, "links with an undefined location", 1, "")
		return false
	}
	if f.regionNumber != nil {
		r.fromRegion, r.toRegion = renumbered(f.regionNumber, r.fromRegion), renumbered(f.regionNumber, r.toRegion)
	}
	r.fromTime -= f.origin
	r.toTime -= f.origin
	return true
}

// byStart orders links by the time at which they start, then by their ends, so that
// readers may give them from several goroutines, then as they came.
var byStart = order[linkRecord]{
	key: func(r *linkRecord) int64 { return int64(r.fromTime) },
	ties: func(a, b *linkRecord) int {
		return cmp.Or(
			cmp.Compare(a.fromLocation, b.fromLocation), cmp.Compare(a.toLocation, b.toLocation), cmp.Compare(a.toTime, b.toTime),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.tag, b.tag), cmp.Compare(a.size, b.size),
		)
	},
}

func (f *finisher) resolveLinks(ctx context.Context, w *linkWriter) error {
	places := make([][2]place, linkBatch)
	finders := f.newEndFinders()
	return f.links.sortedBlocks(nil, byStart, linkBatch, func(batch []linkRecord) error {
		batch = f.renumberAll(batch)
		if err := f.resolveBatch(ctx, finders, batch, places); err != nil {
			return err
		}
		batch, at := f.unsaid(batch, places), 0
		for at < len(batch) {
			n := min(len(batch)-at, linkBlock-int(w.kind.position()%linkBlock))
			w.addTimed(batch[at:at+n], places[at:at+n])
			at += n
		}
		return nil
	})
}

// renumberAll does for many, and leaves those to nowhere out.
func (f *finisher) renumberAll(batch []linkRecord) []linkRecord {
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
func (w *linkWriter) addTimed(batch []linkRecord, at [][2]place) {
	lo, hi := min(batch[0].fromTime, batch[0].toTime), max(batch[0].fromTime, batch[0].toTime)
	for i := range batch {
		r := &batch[i]
		lo, hi = min(lo, r.fromTime, r.toTime), max(hi, r.fromTime, r.toTime)
	}
	if w.kind.position()%linkBlock == 0 {
		w.blockBegin.add(lo)
		w.blockEnd.add(hi)
	} else {
		b, e := &w.blockBegin.buf[len(w.blockBegin.buf)-1], &w.blockEnd.buf[len(w.blockEnd.buf)-1]
		*b, *e = min(*b, lo), max(*e, hi)
	}
	w.addAll(batch)
	fromTime, toTime := w.fromTime.room(len(batch)), w.toTime.room(len(batch))
	for i := range batch {
		fromTime[i], toTime[i] = batch[i].fromTime, batch[i].toTime
	}
	fromLane, fromRow, toLane, toRow := w.fromLane.room(len(at)), w.fromRow.room(len(at)), w.toLane.room(len(at)), w.toRow.room(len(at))
	for i := range at {
		p := &at[i]
		fromLane[i], fromRow[i], toLane[i], toRow[i] = p[0].lane, p[0].row, p[1].lane, p[1].row
	}
}
