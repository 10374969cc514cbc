package budget

import (
	"cmp"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Which rows tell whom they hit and when must not depend on how work was shared out, and
// the rows that cost most must be among them. So it is decided where everybody has
// settled, by what each row caused until then: a sum, which is the same in any order.
// Until then a new row's detail is kept in single cells. A row that had to give up its
// detail never gets it back, since what it told before is lost.

// A detail is whom a row hit, in blocks of actors, and when.
type detail struct {
	mu              sync.Mutex
	victims, series []trace.Time
}

// A cell is one number of a row's detail: a block of victims, or a bin of time after
// those.
type cell struct {
	row  rowKey
	slot int32
}

// mostDetail bounds the victims and bins of all rows together.
const mostDetail = 12 << 20

func (b *Budget) victimBlocks() int { return (len(b.tracks) + b.fold - 1) / b.fold }

// tell adds a part of a wait to the detail of a row, if it may have one.
func (k *worker) tell(key rowKey, w *Wait, t trace.Time) {
	b := k.b
	d := b.details[key]
	if d == nil && b.refused[key] {
		return
	}
	put := func(slot int, t trace.Time) {
		if d == nil {
			c := cell{key, int32(slot)}
			k.fresh[c] = trace.AddUp(k.fresh[c], t)
			return
		}
		d.add(slot, t)
	}
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
	}
	put(int(w.Actor)/b.fold, t)
	if w.Kind != End {
		b.spread(w, t, func(bin int, t trace.Time) { put(b.victimBlocks()+bin, t) })
	}
}

func (d *detail) add(slot int, t trace.Time) {
	if n := slot - len(d.victims); n >= 0 {
		d.series[n] = trace.AddUp(d.series[n], t)
		return
	}
	d.victims[slot] = trace.AddUp(d.victims[slot], t)
}

// spread hands out a part of a wait over bins, evenly over the time that it lasts.
func (b *Budget) spread(w *Wait, t trace.Time, put func(bin int, t trace.Time)) {
	width := float64(b.end-b.begin) / Bins
	if width <= 0 {
		return
	}
	bin := func(x trace.Time) int { return min(max(int(float64(x-b.begin)/width), 0), Bins-1) }
	first, last := bin(w.Begin), bin(w.End-1)
	given := trace.Time(0)
	for i := first; i < last; i++ {
		upto := min(trace.Time(float64(t)*(float64(i+1)*width-float64(w.Begin-b.begin))/float64(w.End-w.Begin)), t)
		put(i, upto-given)
		given = upto
	}
	put(last, t-given)
}

// admit gives new rows their detail, as far as there is room; where there is not, those
// that caused most keep it. O(new cells + rows log rows) where room is short.
func (b *Budget) admit() {
	fresh := map[rowKey]bool{}
	for _, k := range b.workers {
		for c := range k.fresh {
			fresh[c.row] = true
		}
	}
	if len(fresh) == 0 {
		return
	}
	each := b.victimBlocks() + Bins
	if most := max(b.mostDetail/each, 1); len(b.details)+len(fresh) > most {
		b.refuse(fresh, most)
	}
	for key := range fresh {
		b.details[key] = &detail{victims: make([]trace.Time, b.victimBlocks()), series: make([]trace.Time, Bins)}
	}
	for _, k := range b.workers {
		for c, t := range k.fresh {
			if d := b.details[c.row]; d != nil {
				d.add(int(c.slot), t)
			}
		}
		clear(k.fresh)
	}
}

// refuse takes rows out, old and fresh ones, until no more than most have detail.
func (b *Budget) refuse(fresh map[rowKey]bool, most int) {
	type ranked struct {
		key    rowKey
		caused trace.Time
	}
	var all []ranked
	rank := func(key rowKey) {
		r := ranked{key: key}
		for _, k := range b.workers {
			if row := k.rows[key]; row != nil {
				r.caused = trace.AddUp(r.caused, row.Caused())
			}
		}
		all = append(all, r)
	}
	for key := range b.details {
		rank(key)
	}
	for key := range fresh {
		rank(key)
	}
	slices.SortFunc(all, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(y.caused, x.caused), cmp.Compare(x.key.actor, y.key.actor), cmp.Compare(x.key.region, y.key.region))
	})
	for _, r := range all[most:] {
		delete(b.details, r.key)
		delete(fresh, r.key)
		b.refused[r.key] = true
	}
}
