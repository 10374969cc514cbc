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

// An account is a row as one worker knows it.
type account struct {
	Row
	detail  *detail // shared by all workers
	refused bool
}

// tell adds a part of a wait.
func (d *detail) tell(w *Wait, t trace.Time, b *Budget) {
	d.mu.Lock()
	v := &d.victims[int(w.Actor)/b.fold]
	*v = trace.AddUp(*v, t)
	if w.Kind != End {
		for s := b.spread(w, t); s.next(); {
			d.series[s.bin] = trace.AddUp(d.series[s.bin], s.part)
		}
	}
	d.mu.Unlock()
}

// tell adds a part of a wait to the cells of a row that has no detail yet.
func (k *worker) tell(key rowKey, w *Wait, t trace.Time) {
	put := cell{key, w.Actor / int32(k.b.fold)}
	k.fresh[put] = trace.AddUp(k.fresh[put], t)
	if w.Kind == End {
		return
	}
	blocks := k.b.victimBlocks()
	for s := k.b.spread(w, t); s.next(); {
		put.slot = int32(blocks + s.bin)
		k.fresh[put] = trace.AddUp(k.fresh[put], s.part)
	}
}

// A spreading hands out a part of a wait over bins, evenly over the time that it lasts.
type spreading struct {
	bin  int
	part trace.Time

	last               int
	all, given         trace.Time
	width, from, whole float64
}

func (b *Budget) spread(w *Wait, t trace.Time) spreading {
	s := spreading{all: t, width: float64(b.end-b.begin) / Bins, from: float64(w.Begin - b.begin), whole: float64(w.End - w.Begin)}
	if s.width <= 0 {
		return spreading{bin: 0, last: -1}
	}
	bin := func(x trace.Time) int { return min(max(int(float64(x-b.begin)/s.width), 0), Bins-1) }
	s.bin, s.last = bin(w.Begin)-1, bin(w.End-1)
	return s
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

func (d *detail) add(slot int, t trace.Time) {
	if n := slot - len(d.victims); n >= 0 {
		d.series[n] = trace.AddUp(d.series[n], t)
		return
	}
	d.victims[slot] = trace.AddUp(d.victims[slot], t)
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
		d := &detail{victims: make([]trace.Time, b.victimBlocks()), series: make([]trace.Time, Bins)}
		b.details[key] = d
		b.each(key, func(a *account) { a.detail = d })
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
		b.each(key, func(a *account) { r.caused = trace.AddUp(r.caused, a.Caused()) })
		all = append(all, r)
	}
	for key := range b.details {
		rank(key)
	}
	for key := range fresh {
		rank(key)
	}
	slices.SortFunc(all, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(y.caused, x.caused), cmp.Compare(x.key.actor(), y.key.actor()), cmp.Compare(x.key.region(), y.key.region()))
	})
	for _, r := range all[most:] {
		delete(b.details, r.key)
		delete(fresh, r.key)
		b.refused[r.key] = true
		b.each(r.key, func(a *account) { a.detail, a.refused = nil, true })
	}
}

// each finds a row at all workers that know it.
func (b *Budget) each(key rowKey, f func(*account)) {
	for _, k := range b.workers {
		if a := k.rows[key]; a != nil {
			f(a)
		}
	}
}
