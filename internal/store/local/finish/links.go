package finish

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// linkBatch is how many links find their intervals at a time.
const linkBatch = 1 << 15

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
	if f.linksPacked {
		return nil
	}
	begins := new(beginIndex)
	if f.LinkRows.Len() > 0 || len(f.LinkedIn) > 0 {
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
	t := &tableWriter{dir: f.Dir, table: "untimed"}
	kind := appendTo[trace.LinkKind](t, "kind.u8")
	from, to := appendTo[trace.LocationID](t, "from_location.u32"), appendTo[trace.LocationID](t, "to_location.u32")
	size, tag := appendTo[int64](t, "size.i64"), appendTo[int64](t, "tag.i64")
	communicator, count := appendTo[trace.CommunicatorID](t, "communicator.u32"), appendTo[int64](t, "count.i64")
	return t.finish(f.UntimedRows.Each(func(r *write.LinkRecord) error {
		if f.renumber(r) {
			kind.Add(r.Kind)
			from.Add(r.FromLocation)
			to.Add(r.ToLocation)
			size.Add(r.Size)
			tag.Add(r.Tag)
			communicator.Add(r.Communicator)
			count.Add(max(r.Count, 1))
		}
		return nil
	}))
}

// renumber gives a link the store's numbers; a link to nowhere is counted.
func (f *linker) renumber(r *write.LinkRecord) bool {
	r.FromLocation, r.ToLocation = f.order.numberOf(r.FromLocation), f.order.numberOf(r.ToLocation)
	if r.FromLocation == trace.NoLocation || r.ToLocation == trace.NoLocation {
		f.Report(trace.MissingLinks, "links with an undefined location", 1, "")
		return false
	}
	if f.regionNumber != nil {
		r.FromRegion, r.ToRegion = renumbered(f.regionNumber, r.FromRegion), renumbered(f.regionNumber, r.ToRegion)
	}
	r.FromTime -= f.origin
	r.ToTime -= f.origin
	return true
}

// resolveLinks yields links in order, with the intervals at their ends.
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
	take := func(batch []write.LinkRecord) error { return ties.add(f.renumberAll(batch)) }
	if len(f.LinkedIn) > 0 && !f.linksLoaded {
		return cmp.Or(mergeLinks(ctx, f.LinkedIn, take), ties.finish())
	}
	f.LinkRows.Once()
	err := f.LinkRows.SortedAs(f.moveLink(), f.clocks == nil, linkBatch, take)
	return cmp.Or(err, ties.finish())
}

// moveLink puts the ends of a link on the common clock; nil if they are.
func (f *linker) moveLink() func(*write.LinkRecord) {
	if f.clocks == nil {
		return nil
	}
	return func(r *write.LinkRecord) {
		r.FromTime, r.ToTime = f.lineOf(r.FromLocation).At(r.FromTime), f.lineOf(r.ToLocation).At(r.ToTime)
	}
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
