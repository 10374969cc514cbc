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

// Len is their number, with those that are 0.
func (t *Times) Len() int { return t.n }

// All returns those that are not 0, in order.
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

// A gathering is times that are not 0, in memory that is used again.
type gathering struct {
	at    []int32
	times []trace.Time
}

func (g *gathering) add(at int, x trace.Time) {
	if x != 0 {
		g.at, g.times = append(g.at, int32(at)), append(g.times, x)
	}
}

// done returns the n times in the form that takes fewer bytes.
func (g *gathering) done(n int) Times {
	t := Times{n: n}
	if 3*len(g.at) < 2*n { // a place and a time are half as long again as a time
		t.at, t.times = append([]int32{}, g.at...), append([]trace.Time{}, g.times...)
	} else {
		t.times = make([]trace.Time, n)
		for i, x := range g.times {
			t.times[g.at[i]] = x
		}
	}
	g.at, g.times = g.at[:0], g.times[:0]
	return t
}

func (t *tallying) done(n int, g *gathering) Times {
	for i, x := range t.all {
		g.add(i, x)
	}
	t.sort()
	for _, x := range t.list {
		g.add(int(x.at), x.time)
	}
	return g.done(n)
}

// pageBins is how many bins lie together: waits last a few.
const pageBins = 16

// A paging adds up times over bins; it allocates only pages that were added to.
type paging [Bins / pageBins]*[pageBins]trace.Time

func (p *paging) add(bin int, x trace.Time) {
	page := p[bin/pageBins]
	if page == nil {
		page = new([pageBins]trace.Time)
		p[bin/pageBins] = page
	}
	page[bin%pageBins] = trace.AddUp(page[bin%pageBins], x)
}

func (p *paging) done(g *gathering) Times {
	for i, page := range p {
		if page == nil {
			continue
		}
		for k, x := range page {
			g.add(i*pageBins+k, x)
		}
	}
	return g.done(Bins)
}
