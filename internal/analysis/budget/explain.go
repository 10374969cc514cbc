package budget

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowKey is an actor and a region.
type rowKey uint64

func keyOf(actor, region int32) rowKey { return rowKey(uint32(actor))<<32 | rowKey(uint32(region)) }

func (k rowKey) actor() int32  { return int32(k >> 32) }
func (k rowKey) region() int32 { return int32(k) }

// A worker explains waits, with memory of its own that it uses again.
type worker struct {
	b          *Budget
	rows       map[rowKey]*account
	fresh      map[cell]trace.Time // of rows that have no detail yet
	waited     []trace.Time
	inCalls    []trace.Time
	waits, cut int64

	pieces   [2][]piece
	own      []trace.Time // durations of the visits of the waiting side
	next     []int32      // of own: the next visit of the same region
	byRegion []tally
	touched  []int32
	parts    []part

	weights, amounts []trace.Time
	order            []int
	rest             []uint64
}

// A piece of a history lies on one actor; hops counts the steps to others after it.
type piece struct {
	actor      int32
	begin, end trace.Time
	hops       int
}

// A tally is the time in one region on both histories.
type tally struct {
	late, own trace.Time
	// Of its visits in worker.own, plus one: the last, and the next to be held against one of the late side.
	last, at int32
	// The part that the late side's piece of this number, plus one, has in it.
	piece, part int32
}

// A part is what one actor had more in one region.
type part struct {
	region, actor int32
	direct        bool
	more          trace.Time
}

// order is by region, actor, and indirect ones first.
func (p *part) order(q *part) int {
	switch {
	case p.region != q.region:
		return int(p.region) - int(q.region)
	case p.actor != q.actor:
		return int(p.actor) - int(q.actor)
	}
	return boolCompare(p.direct, q.direct)
}

func newWorker(b *Budget, regions int) *worker {
	return &worker{b: b, rows: map[rowKey]*account{}, fresh: map[cell]trace.Time{}, byRegion: make([]tally, max(regions, 1)), inCalls: make([]trace.Time, max(regions, 1)), waited: make([]trace.Time, len(b.tracks)*NumKinds)}
}

// walk finds the histories of a wait's two sides back to where they part. False for a
// circle, which only contradictory records have.
func (k *worker) walk(w *Wait) (since trace.Time, ok bool) {
	b := k.b
	k.pieces[0], k.pieces[1] = k.pieces[0][:0], k.pieces[1][:0]
	type cursor struct {
		actor int32
		t     trace.Time
		hops  int
		last  int // wait of the actor that ended last, -1
		start trace.Time
	}
	at := [2]cursor{{actor: w.Late, t: w.End}, {actor: w.Actor, t: w.Begin}}
	look := func(c *cursor) {
		c.last, c.start = b.tracks[c.actor].lastWait(c.t), b.floor
		if c.last >= 0 {
			if e := b.tracks[c.actor].waits[c.last].End; e > b.floor {
				c.start = e
			} else {
				c.last = -1
			}
		}
	}
	look(&at[0])
	look(&at[1])
	finish := func(since trace.Time) {
		for i := range at {
			k.pieces[i] = append(k.pieces[i], piece{at[i].actor, since, at[i].t, at[i].hops})
		}
	}
	for steps := 0; ; steps++ {
		x, y := &at[0], &at[1]
		if x.actor == y.actor && x.last == y.last {
			since = min(x.t, y.t)
			finish(since)
			return since, true
		}
		if x.last < 0 && y.last < 0 {
			finish(b.floor)
			return b.floor, true
		}
		if c := max(x.start, y.start); steps > mostPieces && c <= min(x.t, y.t) {
			k.cut++
			finish(c)
			return c, true
		}
		i := 1
		if y.last < 0 || x.last >= 0 && x.start > y.start {
			i = 0
		}
		c := &at[i]
		v := &b.tracks[c.actor].waits[c.last]
		k.pieces[i] = append(k.pieces[i], piece{c.actor, v.End, c.t, c.hops})
		if circles(k.pieces[i]) {
			return 0, false
		}
		c.actor, c.t, c.hops = v.Late, v.End, c.hops+1
		look(c)
	}
}

// circles reports whether the last piece was there before: time stands still between the
// two, since a history never goes forward.
func circles(list []piece) bool {
	last := &list[len(list)-1]
	for i := len(list) - 2; i >= 0 && list[i].begin == last.begin; i-- {
		if list[i].actor == last.actor {
			return true
		}
	}
	return false
}

// explain shares one wait among its causes.
func (k *worker) explain(w *Wait) {
	k.waits++
	length := w.End - w.Begin
	k.waited[int(w.Actor)*NumKinds+int(w.Kind)] += length
	k.inCalls[w.Region] = trace.AddUp(k.inCalls[w.Region], length)
	since, ok := k.walk(w)
	k.parts = k.parts[:0]
	if ok {
		k.visits()
		k.excess()
	}
	if k.b.Keep != nil {
		k.b.Keep(*w, since)
	}
	if len(k.parts) == 0 {
		k.book(w, NoActor, Nothing, true, length)
		return
	}
	k.room(len(k.parts))
	for i := range k.parts {
		k.weights[i] = k.parts[i].more
	}
	n := len(k.parts)
	share(length, k.weights[:n], k.amounts[:n], k.order[:n], k.rest[:n])
	for i := range k.parts {
		if p := &k.parts[i]; k.amounts[i] > 0 {
			k.book(w, p.actor, p.region, p.direct, k.amounts[i])
		}
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// visits adds up the time by region on both histories, earliest first, and what each piece of the late one has more
// where the n-th visit of a region is held against the n-th.
func (k *worker) visits() {
	for _, r := range k.touched {
		k.byRegion[r] = tally{}
	}
	k.touched, k.own, k.next = k.touched[:0], k.own[:0], k.next[:0]
	for i := len(k.pieces[1]) - 1; i >= 0; i-- {
		p := &k.pieces[1][i]
		for s := k.b.tracks[p.actor].stretches(p.begin, p.end); s.next(); {
			t := k.touch(s.region)
			t.own += s.ns
			k.own, k.next = append(k.own, s.ns), append(k.next, 0)
			n := int32(len(k.own))
			if t.last > 0 {
				k.next[t.last-1] = n
			} else {
				t.at = n
			}
			t.last = n
		}
	}
	for i := len(k.pieces[0]) - 1; i >= 0; i-- {
		p := &k.pieces[0][i]
		for s := k.b.tracks[p.actor].stretches(p.begin, p.end); s.next(); {
			t := k.touch(s.region)
			t.late += s.ns
			more := s.ns
			if t.at > 0 {
				more -= k.own[t.at-1]
				t.at = k.next[t.at-1]
			}
			if more <= 0 {
				continue
			}
			if t.piece != int32(i)+1 {
				t.piece, t.part = int32(i)+1, int32(len(k.parts))
				k.parts = append(k.parts, part{region: s.region, actor: p.actor, direct: p.hops == 0})
			}
			k.parts[t.part].more += more
		}
	}
}

func (k *worker) touch(region int32) *tally {
	t := &k.byRegion[region]
	if t.late == 0 && t.own == 0 {
		k.touched = append(k.touched, region)
	}
	return t
}

// excess finds who had more of what on the late side, in order of region and actor.
func (k *worker) excess() {
	k.parts = slices.DeleteFunc(k.parts, func(p part) bool { t := &k.byRegion[p.region]; return t.late <= t.own })
	slices.SortFunc(k.parts, func(a, b part) int { return a.order(&b) })
	n := 0
	for _, p := range k.parts { // one of each
		if q := &k.parts[max(n-1, 0)]; n > 0 && q.order(&p) == 0 {
			q.more += p.more
			continue
		}
		k.parts[n] = p
		n++
	}
	k.parts = k.parts[:n]
	for i := 0; i < len(k.parts); {
		j := i
		for j < len(k.parts) && k.parts[j].region == k.parts[i].region {
			j++
		}
		t := &k.byRegion[k.parts[i].region]
		n := j - i
		k.room(n)
		for m := range n {
			k.weights[m] = k.parts[i+m].more
		}
		share(t.late-t.own, k.weights[:n], k.amounts[:n], k.order[:n], k.rest[:n])
		for m := range n {
			k.parts[i+m].more = k.amounts[m]
		}
		i = j
	}
}

func (k *worker) room(n int) {
	for len(k.weights) < n {
		k.weights, k.amounts, k.order, k.rest = append(k.weights, 0), append(k.amounts, 0), append(k.order, 0), append(k.rest, 0)
	}
}

// book adds a part of a wait to a row.
func (k *worker) book(w *Wait, actor, region int32, direct bool, t trace.Time) {
	key := keyOf(actor, region)
	r := k.rows[key]
	if r == nil {
		r = &account{Row: Row{Actor: actor, Region: region}, detail: k.b.details[key], refused: k.b.refused[key]}
		k.rows[key] = r
	}
	if direct {
		r.Direct[w.Kind] = trace.AddUp(r.Direct[w.Kind], t)
	} else {
		r.Indirect[w.Kind] = trace.AddUp(r.Indirect[w.Kind], t)
	}
	switch {
	case r.detail != nil:
		r.detail.tell(w, t, k.b)
	case !r.refused:
		k.tell(key, w, t)
	}
}
