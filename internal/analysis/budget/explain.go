package budget

import (
	"cmp"
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
	entries    [shards][]entry // to be booked
	waited     []trace.Time
	inCalls    []trace.Time
	waits, cut int64

	pieces   [2][]piece
	own      []visit // of the waiting side
	byRegion []tally
	touched  []int32
	parts    []part

	weights, amounts []trace.Time
	order            []int
	rest             []uint64
}

// A piece of a history is on one actor; hops counts the steps to others after it.
type piece struct {
	actor      int32
	hops       int32
	at         int // the stretch that it begins in
	begin, end trace.Time
}

// A visit is one stretch on a history.
type visit struct {
	ns   trace.Time
	next int32 // visit of the same region, plus one
}

// A tally is the time in one region on both histories.
type tally struct {
	late, own trace.Time
	// Indices of its visits in worker.own, plus one: the last, and the next to be compared with one of the
	// late side.
	last, at int32
	// The part that the late side's piece of this number, plus one, has in it.
	piece, part int32
}

// A part is the excess time of one actor in one region.
type part struct {
	key  partKey
	more trace.Time
}

// A partKey orders parts by region, actor, and indirect ones first.
type partKey uint64

func partOf(region, actor int32, direct bool) partKey {
	k := partKey(region)<<33 | partKey(uint32(actor))<<1
	if direct {
		k |= 1
	}
	return k
}

func (k partKey) region() int32        { return int32(k >> 33) }
func (k partKey) row(b *Budget) rowKey { return keyOf(int32(k>>1), b.RegionOf(k.region())) }
func (k partKey) direct() bool         { return k&1 != 0 }

func newWorker(b *Budget, regions int) *worker {
	return &worker{b: b, byRegion: make([]tally, max(regions, 1)), inCalls: make([]trace.Time, max(regions, 1)),
		waited: make([]trace.Time, len(b.tracks)*NumKinds)}
}

// A cursor is how far a history was followed back: on an actor to a moment, and from there to the end of its last wait.
type cursor struct {
	actor int32
	hops  int32
	last  int // wait of the actor that ended last, -1
	t     trace.Time
	start trace.Time
}

// look takes the last wait of an actor before the cursor's moment.
func (c *cursor) look(b *Budget, last int) {
	c.last, c.start = last, b.floor
	if last < 0 {
		return
	}
	if e := b.tracks[c.actor].waits[last].End; e > b.floor {
		c.start = e
	} else {
		c.last = -1
	}
}

// walk finds the histories of both sides of an actor's wait back to where they part. False for a
// circle, which only contradictory records have.
func (k *worker) walk(actor int32, number int) (since trace.Time, ok bool) {
	b := k.b
	w, m := &b.tracks[actor].waits[number], b.tracks[actor].marks[number]
	k.pieces[0], k.pieces[1] = k.pieces[0][:0], k.pieces[1][:0]
	at := [2]cursor{{actor: w.Late, t: w.End}, {actor: actor, t: w.Begin}}
	at[0].look(b, b.tracks[w.Late].lastWaitFrom(m.wait, w.End))
	at[1].look(b, number-1)
	finish := func(since trace.Time) {
		for i := range at {
			k.pieces[i] = append(k.pieces[i],
				piece{at[i].actor, at[i].hops, b.tracks[at[i].actor].at(since), since, at[i].t})
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
		t := &b.tracks[c.actor]
		v, m := &t.waits[c.last], t.marks[c.last]
		k.pieces[i] = append(k.pieces[i], piece{c.actor, c.hops, t.atFrom(m.stretch, v.End), v.End, c.t})
		if circles(k.pieces[i]) {
			return 0, false
		}
		c.actor, c.t, c.hops = v.Late, v.End, c.hops+1
		c.look(b, b.tracks[v.Late].lastWaitFrom(m.wait, v.End))
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
func (k *worker) explain(actor int32, number int) {
	w := &k.b.tracks[actor].waits[number]
	k.waits++
	length := w.End - w.Begin
	k.waited[int(w.Actor)*NumKinds+int(w.Kind)] += length
	k.inCalls[w.Region] = trace.AddUp(k.inCalls[w.Region], length)
	since, ok := k.walk(actor, number)
	k.parts = k.parts[:0]
	if ok {
		k.visits()
		k.excess()
	}
	if k.b.Keep != nil {
		k.b.Keep(*w, since)
	}
	bins := k.b.binsOf(w)
	if len(k.parts) == 0 {
		k.book(entry{row: keyOf(NoActor, Nothing), wait: w, bins: bins, direct: true, time: length})
		return
	}
	k.room(len(k.parts))
	for i := range k.parts {
		k.weights[i] = k.parts[i].more
	}
	n := len(k.parts)
	share(length, k.weights[:n], k.amounts[:n], k.order[:n], k.rest[:n])
	for i := range k.parts {
		if t := k.amounts[i]; t > 0 {
			k.book(entry{row: k.parts[i].key.row(k.b), wait: w, bins: bins, direct: k.parts[i].key.direct(), time: t})
		}
	}
}

// visits adds up the time by region on both histories, earliest first, and the excess of each segment of the late
// one, comparing the n-th visits of a region.
func (k *worker) visits() {
	for _, r := range k.touched {
		k.byRegion[r] = tally{}
	}
	k.touched, k.own = k.touched[:0], k.own[:0]
	for i := len(k.pieces[1]) - 1; i >= 0; i-- {
		k.visitOwn(&k.pieces[1][i])
	}
	for i := len(k.pieces[0]) - 1; i >= 0; i-- {
		k.visitLate(&k.pieces[0][i], int32(i)+1)
	}
}

// visitOwn takes a piece of the history of who waits.
func (k *worker) visitOwn(p *piece) {
	list, from, last := k.b.tracks[p.actor].within(p)
	own, byRegion := k.own, k.byRegion
	for i := 0; i < len(list) && from < last; i++ {
		to := last
		if i+1 < len(list) {
			to = min(to, list[i+1].begin)
		}
		t := &byRegion[list[i].region]
		if t.own == 0 {
			k.touched = append(k.touched, list[i].region)
		}
		t.own += to - from
		own = append(own, visit{ns: to - from})
		n := int32(len(own))
		if t.last > 0 {
			own[t.last-1].next = n
		} else {
			t.at = n
		}
		t.last, from = n, to
	}
	k.own = own
}

// visitLate takes a piece of the late one's history, which has a number.
func (k *worker) visitLate(p *piece, number int32) {
	list, from, last := k.b.tracks[p.actor].within(p)
	own, byRegion, parts := k.own, k.byRegion, k.parts
	for i := 0; i < len(list) && from < last; i++ {
		to := last
		if i+1 < len(list) {
			to = min(to, list[i+1].begin)
		}
		t := &byRegion[list[i].region]
		if t.late == 0 && t.own == 0 {
			k.touched = append(k.touched, list[i].region)
		}
		more := to - from
		t.late, from = t.late+more, to
		if t.at > 0 {
			v := &own[t.at-1]
			more -= v.ns
			t.at = v.next
		}
		if more <= 0 {
			continue
		}
		if t.piece != number {
			t.piece, t.part = number, int32(len(parts))
			parts = append(parts, part{key: partOf(list[i].region, p.actor, p.hops == 0)})
		}
		parts[t.part].more += more
	}
	k.parts = parts
}

// excess finds the excess time of actors on the late side, in order of region and actor.
func (k *worker) excess() {
	n := 0
	for _, p := range k.parts {
		if t := &k.byRegion[p.key.region()]; t.late > t.own {
			k.parts[n] = p
			n++
		}
	}
	k.parts = k.parts[:n]
	sortParts(k.parts)
	n = 0
	for _, p := range k.parts { // one of each
		if n > 0 && k.parts[n-1].key == p.key {
			k.parts[n-1].more += p.more
			continue
		}
		k.parts[n] = p
		n++
	}
	k.parts = k.parts[:n]
	for i := 0; i < len(k.parts); {
		j, region := i, k.parts[i].key.region()
		for j < len(k.parts) && k.parts[j].key.region() == region {
			j++
		}
		t := &k.byRegion[region]
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

// fewParts is up to how many it is fastest to put each into its place.
const fewParts = 24

// sortParts sorts by key. Parts of the same key are added up later, so their order does not matter.
func sortParts(list []part) {
	if len(list) > fewParts {
		slices.SortFunc(list, func(a, b part) int { return cmp.Compare(a.key, b.key) })
		return
	}
	for i := 1; i < len(list); i++ {
		p, j := list[i], i
		for ; j > 0 && list[j-1].key > p.key; j-- {
			list[j] = list[j-1]
		}
		list[j] = p
	}
}

func (k *worker) room(n int) {
	for len(k.weights) < n {
		k.weights, k.amounts, k.order, k.rest = append(k.weights, 0), append(k.amounts, 0), append(k.order, 0),
			append(k.rest, 0)
	}
}
