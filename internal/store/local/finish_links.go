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

func (w *linkWriter) add(r *linkRecord) {
	w.kind.add(r.kind)
	w.fromLocation.add(r.fromLocation)
	w.toLocation.add(r.toLocation)
	w.size.add(r.size)
	w.tag.add(r.tag)
	w.communicator.add(r.communicator)
	w.count.add(max(r.count, 1))
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
				w.add(r)
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
	batch := make([]linkRecord, 0, linkBatch)
	places := make([][2]place, linkBatch)
	finders := f.newEndFinders()
	flush := func() error {
		if err := f.resolveBatch(ctx, finders, batch, places); err != nil {
			return err
		}
		for i := range batch {
			w.addTimed(&batch[i], places[i])
		}
		batch = batch[:0]
		return nil
	}
	err := f.links.sorted(nil, byStart, func(r *linkRecord) error {
		if !f.renumber(r) {
			return nil
		}
		batch = append(batch, *r)
		if len(batch) == linkBatch {
			return flush()
		}
		return nil
	})
	return cmp.Or(err, flush())
}

func (w *linkWriter) addTimed(r *linkRecord, at [2]place) {
	lo, hi := min(r.fromTime, r.toTime), max(r.fromTime, r.toTime)
	if w.kind.position()%linkBlock == 0 {
		w.blockBegin.add(lo)
		w.blockEnd.add(hi)
	} else {
		b, e := &w.blockBegin.buf[len(w.blockBegin.buf)-1], &w.blockEnd.buf[len(w.blockEnd.buf)-1]
		*b, *e = min(*b, lo), max(*e, hi)
	}
	w.add(r)
	w.fromTime.add(r.fromTime)
	w.fromLane.add(at[0].lane)
	w.fromRow.add(at[0].row)
	w.toTime.add(r.toTime)
	w.toLane.add(at[1].lane)
	w.toRow.add(at[1].row)
}
