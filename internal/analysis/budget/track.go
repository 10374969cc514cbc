package budget

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track holds the remembered history of one actor: its time as stretches without gaps, each up to the
// begin of the next, the last up to until; and its waits, which are apart and in order.
type track struct {
	stretches []stretch
	until     trace.Time
	any       bool
	waits     []Wait
	marks     []mark // of waits
	pending   []Wait // that are not settled, in any order
	dropped   int32  // stretches that were forgotten
	forgotten int32  // waits that were
}

// A mark is where a wait ends: at or after which stretch of its actor, and at or after which wait of the late one. They
// are numbered as if nothing was forgotten. More may be known later, but never less, so one goes on from there.
type mark struct{ stretch, wait int32 }

// A stretch is time with one region innermost.
type stretch struct {
	begin  trace.Time
	region int32
}

func (t *track) add(begin, end trace.Time, region int32) {
	begin = max(begin, t.until)
	if end <= begin {
		return
	}
	if begin > t.until {
		t.stretches = push(t.stretches, stretch{t.until, Nothing})
	}
	t.stretches = push(t.stretches, stretch{begin, region})
	t.until, t.any = end, true
}

// push appends to one of very many lists that grow long: doubling them moves their elements less often than append
// does.
func push[T any](list []T, x T) []T {
	if len(list) == cap(list) {
		list = append(make([]T, 0, max(2*len(list), 16)), list...)
	}
	return append(list, x)
}

// drop takes the first so many from a list. The rest moves to new memory only if that halves it.
func drop[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	if left := list[n:]; 4*len(left)+64 < cap(list) {
		return slices.Clone(left)
	}
	return slices.Delete(list, 0, n)
}

// settle takes the waits that end by a moment, up to the first that does not.
func (t *track) settle(until trace.Time) {
	slices.SortFunc(t.pending, func(x, y Wait) int {
		switch {
		case x.Begin != y.Begin:
			return cmp.Compare(x.Begin, y.Begin)
		case x.End != y.End:
			return cmp.Compare(y.End, x.End)
		}
		return int(x.Kind) - int(y.Kind)
	})
	n := 0
	for ; n < len(t.pending) && t.pending[n].End <= until; n++ {
		w := t.pending[n]
		if last := len(t.waits); last > 0 {
			w.Begin = max(w.Begin, t.waits[last-1].End) // of two that overlap the earlier stands
		}
		if w.Begin < w.End {
			t.waits = append(t.waits, w)
		}
	}
	t.pending = append(t.pending[:0], t.pending[n:]...)
}

// forget drops stretches and waits that end before a time.
func (t *track) forget(before trace.Time) {
	n, w := t.at(before), t.lastWait(before)+1
	t.stretches, t.dropped = drop(t.stretches, n), t.dropped+int32(n)
	t.waits, t.marks, t.forgotten = drop(t.waits, w), drop(t.marks, w), t.forgotten+int32(w)
}

// atFrom is at of a moment from that of a mark on.
func (t *track) atFrom(m int32, x trace.Time) int {
	i := max(int(m-t.dropped), 0)
	for i+1 < len(t.stretches) && t.stretches[i+1].begin <= x {
		i++
	}
	return i
}

// lastWaitFrom is lastWait of a moment from that of a mark on.
func (t *track) lastWaitFrom(m int32, x trace.Time) int {
	i := max(int(m-t.forgotten), -1)
	for i+1 < len(t.waits) && t.waits[i+1].End <= x {
		i++
	}
	return i
}

// at is the stretch that holds a moment, 0 where none does.
func (t *track) at(x trace.Time) int {
	low, high := 0, len(t.stretches)
	for low < high {
		if mid := int(uint(low+high) / 2); t.stretches[mid].begin > x {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return max(low-1, 0)
}

// lastWait is the last wait that ended no later than a moment, -1 if there is none.
func (t *track) lastWait(x trace.Time) int {
	low, high := 0, len(t.waits)
	for low < high {
		if mid := int(uint(low+high) / 2); t.waits[mid].End > x {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low - 1
}

// within returns the stretches from the one on that a piece begins in, and from when to when they are the piece's. Each
// of them lasts until the next; time outside the known history belongs to no stretch.
func (t *track) within(p *piece) (list []stretch, from, last trace.Time) {
	if list = t.stretches[p.at:]; len(list) > 0 {
		from = max(list[0].begin, p.begin)
	}
	return list, from, min(t.until, p.end)
}
