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

// A stretches goes through the stretches of a time, in order; time beyond what is known is of no stretch.
type stretches struct {
	region int32
	ns     trace.Time

	track      *track
	begin, end trace.Time
	at         int
}

func (t *track) stretches(begin, end trace.Time) stretches {
	return stretches{track: t, begin: begin, end: end, at: t.at(begin)}
}

func (s *stretches) next() bool {
	t := s.track
	for s.at < len(t.begin) && t.begin[s.at] < s.end {
		i := s.at
		s.at++
		to := t.until
		if s.at < len(t.begin) {
			to = t.begin[s.at]
		}
		if s.ns = min(to, s.end) - max(t.begin[i], s.begin); s.ns > 0 {
			s.region = t.region[i]
			return true
		}
	}
	return false
}
