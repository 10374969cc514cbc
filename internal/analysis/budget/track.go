package budget

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is what is remembered of one actor: its time as stretches without gaps, each
// up to the begin of the next, the last up to until; and its waits, which are apart and in
// order.
type track struct {
	begin  []trace.Time
	region []int32
	until  trace.Time
	any    bool
	waits  []Wait
}

func (t *track) add(begin, end trace.Time, region int32) {
	begin = max(begin, t.until)
	if end <= begin {
		return
	}
	if begin > t.until {
		t.begin, t.region = append(t.begin, t.until), append(t.region, Nothing)
	}
	t.begin, t.region = append(t.begin, begin), append(t.region, region)
	t.until, t.any = end, true
}

// forget drops what ends before a moment. What is left moves to new memory only where
// that halves it.
func (t *track) forget(before trace.Time) {
	if i := t.at(before); i > 0 {
		t.begin, t.region = t.begin[i:], t.region[i:]
	}
	if cap(t.begin) > 2*len(t.begin)+64 {
		t.begin, t.region = append([]trace.Time(nil), t.begin...), append([]int32(nil), t.region...)
	}
	if i := sort.Search(len(t.waits), func(i int) bool { return t.waits[i].End > before }); i > 0 {
		t.waits = append([]Wait(nil), t.waits[i:]...)
	}
}

// at is the stretch that holds a moment, 0 where none does.
func (t *track) at(x trace.Time) int {
	return max(sort.Search(len(t.begin), func(i int) bool { return t.begin[i] > x })-1, 0)
}

// lastWait is the last wait that ended no later than a moment, -1 where there is none.
func (t *track) lastWait(x trace.Time) int {
	return sort.Search(len(t.waits), func(i int) bool { return t.waits[i].End > x }) - 1
}

// each calls f for the stretches of [begin, end), in order; time beyond what is known
// is of no stretch.
func (t *track) each(begin, end trace.Time, f func(region int32, ns trace.Time)) {
	for i := t.at(begin); i < len(t.begin) && t.begin[i] < end; i++ {
		to := t.until
		if i+1 < len(t.begin) {
			to = t.begin[i+1]
		}
		if ns := min(to, end) - max(t.begin[i], begin); ns > 0 {
			f(t.region[i], ns)
		}
	}
}
