package budget

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is what is remembered of one actor: its time as stretches without gaps, each
// up to the begin of the next, the last up to until; and its waits, which are apart and in
// order.
type track struct {
	stretches []stretch
	until     trace.Time
	any       bool
	waits     []Wait
}

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

// push appends to one of very many lists that grow long: to double them moves what is there less often than append does.
func push[T any](list []T, x T) []T {
	if len(list) == cap(list) {
		list = append(make([]T, 0, max(2*len(list), 16)), list...)
	}
	return append(list, x)
}

// drop takes the first so many from a list. What is left moves to new memory only where
// that halves it.
func drop[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	if left := list[n:]; 4*len(left)+64 < cap(list) {
		return slices.Clone(left)
	}
	return slices.Delete(list, 0, n)
}

// forget drops what ends before a moment.
func (t *track) forget(before trace.Time) {
	t.stretches = drop(t.stretches, t.at(before))
	t.waits = drop(t.waits, t.lastWait(before)+1)
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

// lastWait is the last wait that ended no later than a moment, -1 where there is none.
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

// within gives the stretches from the one on that a piece begins in, and from when to when they are the piece's. Each of
// them lasts until the next; time beyond what is known is of none.
func (t *track) within(p *piece) (list []stretch, from, last trace.Time) {
	if list = t.stretches[t.at(p.begin):]; len(list) > 0 {
		from = max(list[0].begin, p.begin)
	}
	return list, from, min(t.until, p.end)
}
