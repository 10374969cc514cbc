package budget

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Which rows tell whom they hit and when must not depend on how work was shared out, and the rows that cost
// most must be among them. So it is decided once all workers have settled, by the waiting that each row
// caused until then: a sum, which is the same in any order. While there is room every new row gets its
// detail at once; those that come after keep theirs in single cells until then. A row that had to give up
// its detail never gets it back, since its earlier detail is lost.

// A detail is whom a row hit, in blocks of actors, and when.
type detail struct {
	waiters tallying
	series  paging
}

// A cell is one number of a row's detail: a block of waiters, or a bin of time after
// those.
type cell struct {
	row  rowKey
	slot int32
}

// mostDetail bounds the waiters and bins of all rows together.
const mostDetail = 12 << 20

func (b *Budget) waiterBlocks() int { return (len(b.tracks) + b.fold - 1) / b.fold }

// mostDetailed is how many rows have room for their detail.
func (b *Budget) mostDetailed() int64 {
	return int64(max(b.mostDetail/(b.waiterBlocks()+Bins), 1))
}

// tell adds a part of a wait.
func (d *detail) tell(e *entry, b *Budget) {
	d.waiters.add(e.wait.Actor/int32(b.fold), b.waiterBlocks(), e.time)
	for s := b.spread(e); s.next(); {
		d.series.add(s.bin, s.part)
	}
}

// tell adds a part of a wait to the cells of a row that has no detail yet.
func (s *shard) tell(e *entry, b *Budget) {
	put := cell{e.row, e.wait.Actor / int32(b.fold)}
	s.cells[put] = trace.AddUp(s.cells[put], e.time)
	blocks := b.waiterBlocks()
	for x := b.spread(e); x.next(); {
		put.slot = int32(blocks + x.bin)
		s.cells[put] = trace.AddUp(s.cells[put], x.part)
	}
}

// A spreading distributes a part of a wait over bins, evenly over the time that it lasts.
type spreading struct {
	bin  int
	part trace.Time

	last               int
	all, given         trace.Time
	width, from, whole float64
}

// bins are the first and the last bin of time.
type bins struct{ first, last int16 }

// binsOf are the bins that a wait is in: none of one at the end of the run.
func (b *Budget) binsOf(w *Wait) bins {
	width := b.binWidth()
	if width <= 0 || w.Kind == End {
		return bins{0, -1}
	}
	bin := func(x trace.Time) int16 { return int16(min(max(int(float64(x-b.begin)/width), 0), Bins-1)) }
	return bins{bin(w.Begin), bin(w.End - 1)}
}

func (b *Budget) binWidth() float64 { return float64(b.end-b.begin) / Bins }

func (b *Budget) spread(e *entry) spreading {
	return spreading{bin: int(e.bins.first) - 1, last: int(e.bins.last), all: e.time, width: b.binWidth(),
		from: float64(e.wait.Begin - b.begin), whole: float64(e.wait.End - e.wait.Begin)}
}

func (s *spreading) next() bool {
	s.bin++
	if s.bin > s.last {
		return false
	}
	upto := s.all
	if s.bin < s.last {
		upto = min(trace.Time(float64(s.all)*(float64(s.bin+1)*s.width-s.from)/s.whole), s.all)
	}
	s.part, s.given = upto-s.given, upto
	return true
}

// add adds a cell.
func (d *detail) add(slot, blocks int, t trace.Time) {
	if slot < blocks {
		d.waiters.add(int32(slot), blocks, t)
		return
	}
	d.series.add(slot-blocks, t)
}

// admit decides which rows have detail where there is not room for all: those that caused
// most. O(new cells + rows log rows) then.
func (b *Budget) admit() {
	short := false
	for i := range b.shards {
		short = short || len(b.shards[i].cells) > 0
	}
	if !short {
		return
	}
	b.refuse()
	_ = parallel.For(context.Background(), len(b.shards), func(i int) {
		s := &b.shards[i]
		for c, t := range s.cells {
			r := s.rows[c.row]
			if r.refused {
				continue
			}
			if r.detail == nil {
				r.detail = &detail{}
				b.detailed.Add(1)
			}
			r.detail.add(int(c.slot), b.waiterBlocks(), t)
		}
		clear(s.cells)
	})
}

// refuse takes rows out, old and new ones, until no more than there is room for are left.
func (b *Budget) refuse() {
	all := b.ranked(func(r *account) bool { return !r.refused })
	for _, x := range all[min(b.mostDetailed(), int64(len(all))):] {
		if x.row.detail != nil {
			b.detailed.Add(-1)
		}
		x.row.detail, x.row.refused = nil, true
	}
}

// A ranked is a row with the total waiting time that it caused.
type ranked struct {
	row    *account
	caused trace.Time
}

// ranked returns the rows that are wanted, those that caused most first.
func (b *Budget) ranked(wanted func(*account) bool) (all []ranked) {
	var of [shards][]ranked
	_ = parallel.For(context.Background(), len(b.shards), func(i int) {
		for _, r := range b.shards[i].rows {
			if wanted(r) {
				of[i] = append(of[i], ranked{r, r.Caused()})
			}
		}
	})
	all = slices.Concat(of[:]...)
	parallel.Sort(all, func(x, y ranked) int {
		if x.caused != y.caused {
			return cmp.Compare(y.caused, x.caused)
		}
		return cmp.Or(cmp.Compare(x.row.Actor, y.row.Actor), cmp.Compare(x.row.Region, y.row.Region))
	})
	return all
}
