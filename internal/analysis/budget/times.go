package budget

import (
	"cmp"
	"iter"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Times are numbers of which most may be 0: a row hits few of very many actors.
type Times struct {
	n     int
	at    []int32 // in order, of times that are not 0; nil: all are there
	times []trace.Time
}

// Len is how many there are, with those that are 0.
func (t *Times) Len() int { return t.n }

// All gives those that are not 0, in order.
func (t *Times) All() iter.Seq2[int, trace.Time] {
	return func(yield func(int, trace.Time) bool) {
		for i, x := range t.times {
			at := i
			if t.at != nil {
				at = int(t.at[i])
			}
			if x != 0 && !yield(at, x) {
				return
			}
		}
	}
}

// shorter takes fewer bytes where most are 0.
func (t *Times) shorter() Times {
	some := 0
	for range t.All() {
		some++
	}
	if 3*some >= 2*t.n { // a place and a time are half as long again as a time
		return t.written()
	}
	out := Times{n: t.n, at: make([]int32, 0, some), times: make([]trace.Time, 0, some)}
	for i, x := range t.All() {
		out.at, out.times = append(out.at, int32(i)), append(out.times, x)
	}
	return out
}

// written is the same with all that are 0.
func (t *Times) written() Times {
	if t.at == nil {
		return *t
	}
	out := Times{n: t.n, times: make([]trace.Time, t.n)}
	for i, x := range t.All() {
		out.times[i] = x
	}
	return out
}

// A tallied is one of times on their way.
type tallied struct {
	at   int32
	time trace.Time
}

// A tallying adds up times: as a list of those that came while they are few, else as all of them.
type tallying struct {
	list []tallied
	all  []trace.Time
}

// fewTimes is up to how many it is cheapest to have all of them.
const fewTimes = 128

// add adds to one of n times.
func (t *tallying) add(at int32, n int, x trace.Time) {
	if t.all == nil && n <= fewTimes {
		t.all = make([]trace.Time, n)
	}
	if t.all != nil {
		t.all[at] = trace.AddUp(t.all[at], x)
		return
	}
	for i := len(t.list) - 1; i >= max(len(t.list)-2, 0); i-- { // one actor's waits come together
		if t.list[i].at == at {
			t.list[i].time = trace.AddUp(t.list[i].time, x)
			return
		}
	}
	if len(t.list) == cap(t.list) {
		t.sort()
		switch {
		case 4*len(t.list) > n:
			t.all = make([]trace.Time, n)
			for _, y := range t.list {
				t.all[y.at] = y.time
			}
			t.list = nil
			t.add(at, n, x)
			return
		case 2*len(t.list) >= cap(t.list):
			t.list = slices.Grow(t.list, max(len(t.list), 8))
		}
	}
	t.list = append(t.list, tallied{at, x})
}

// sort puts them in order, one of each.
func (t *tallying) sort() {
	slices.SortFunc(t.list, func(x, y tallied) int { return cmp.Compare(x.at, y.at) })
	n := 0
	for _, x := range t.list {
		if n > 0 && t.list[n-1].at == x.at {
			t.list[n-1].time = trace.AddUp(t.list[n-1].time, x.time)
			continue
		}
		t.list[n] = x
		n++
	}
	t.list = t.list[:n]
}

// done gives the times.
func (t *tallying) done(n int) Times {
	if t.all != nil {
		out := Times{n: n, times: t.all}
		return out.shorter()
	}
	t.sort()
	out := Times{n: n, at: make([]int32, 0, len(t.list)), times: make([]trace.Time, 0, len(t.list))}
	for _, x := range t.list {
		out.at, out.times = append(out.at, x.at), append(out.times, x.time)
	}
	return out.shorter()
}
