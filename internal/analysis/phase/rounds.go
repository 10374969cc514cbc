package phase

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// fewestRounds is how often calls must repeat to be iterations.
	fewestRounds = 3
	// manyRounds are enough to see how iterations vary: of nested loops that repeat so often the outermost counts.
	manyRounds = 10
	// mostAlike of the rounds must be the same calls in the same order.
	mostAlike = 0.75
	// mostRead is how many calls of one unit are read to find a pattern.
	mostRead = 1 << 20
)

// A call is one outermost call of communication.
type call struct {
	begin, end trace.Time
	region     trace.RegionID
}

// rounds finds the iterations of a run where no region marks them, as in recordings of MPI calls alone: a call of
// communication that most units make equally often, and between which the first unit makes the same calls each time.
// Nil if there are none. It reads the rows of one unit.
func (s *Source) rounds() (*Marker, error) {
	if s.Units < 2 || runfacts.HasGPU(s.Store.Locations()) {
		return nil, nil
	}
	often := s.equallyOften()
	if len(often) == 0 {
		return nil, nil
	}
	mark := make([]bool, len(s.Regions))
	for r := range often {
		mark[r] = true
	}
	calls, err := s.callsOf(s.firstUnit(mark))
	if err != nil || len(calls) < fewestRounds {
		return nil, err
	}
	var best *Marker
	for _, r := range byRest(calls, often) {
		n, length := often[r], repeats(calls, r)
		switch {
		case length == 0 || best != nil && best.Rounds == n:
		case best == nil, best.Rounds < manyRounds && n > best.Rounds, n >= manyRounds && n < best.Rounds:
			best = &Marker{Regions: []trace.RegionID{r}, By: "iteration", Rounds: n, calls: length}
		}
	}
	return best, nil
}

// equallyOften are the regions of communication that most units call equally often, with that number.
func (s *Source) equallyOften() map[trace.RegionID]int {
	calls := map[trace.RegionID]map[int32]int64{}
	for i := range s.Uses {
		u := &s.Uses[i]
		if s.Regions[u.Region].Role != trace.RoleCommunication || u.Calls == 0 {
			continue
		}
		if calls[u.Region] == nil {
			calls[u.Region] = map[int32]int64{}
		}
		calls[u.Region][u.Unit] += u.Calls
	}
	out := map[trace.RegionID]int{}
	for r, of := range calls {
		counts := map[int64]int{}
		for _, n := range of {
			if counts[n]++; n >= fewestRounds && n <= mostCalls && float64(counts[n]) >= mostUnits*float64(s.Units) {
				out[r] = int(n)
			}
		}
	}
	return out
}

// callsOf reads the outermost calls of communication of the location among ids that has most of them.
func (s *Source) callsOf(ids []trace.LocationID) ([]call, error) {
	of := map[trace.LocationID][]call{}
	for _, id := range ids { // one at a time: in order
		var list []call
		err := s.Scan([]trace.LocationID{id}, func(c *trace.Columns) error {
			for i, r := range c.Region {
				if c.Lane > 0 || len(list) >= mostRead || s.Regions[r].Role != trace.RoleCommunication {
					continue
				}
				if n := len(list); n == 0 || c.Begin[i] >= list[n-1].end {
					list = append(list, call{c.Begin[i], c.End(i), r})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(list, func(a, b call) int { return cmp.Compare(a.begin, b.begin) })
		of[id] = list
	}
	best := slices.MaxFunc(ids, func(a, b trace.LocationID) int {
		return cmp.Or(cmp.Compare(len(of[a]), len(of[b])), cmp.Compare(b, a))
	})
	return of[best], nil
}

// byRest orders regions by the time after their calls in which nothing is called: work mostly follows the last call of
// an iteration.
func byRest(calls []call, often map[trace.RegionID]int) []trace.RegionID {
	rest := map[trace.RegionID]trace.Time{}
	for i := range calls {
		if r := calls[i].region; often[r] > 0 {
			rest[r] += 0
			if i+1 < len(calls) {
				rest[r] += calls[i+1].begin - calls[i].end
			}
		}
	}
	list := make([]trace.RegionID, 0, len(rest))
	for r := range rest {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b trace.RegionID) int {
		return cmp.Or(cmp.Compare(rest[b], rest[a]), cmp.Compare(a, b))
	})
	return list
}

// repeats returns how many calls there are from one call of a region to the next, where most often they are the same
// ones, and lengths up to twice the usual fill half of the time between the first call and the last; 0 if they are
// not.
func repeats(calls []call, r trace.RegionID) int {
	var h maphash.Hash
	type kind struct {
		length int
		times  []trace.Time
	}
	kinds, seed := map[uint64]*kind{}, maphash.MakeSeed()
	h.SetSeed(seed)
	all, last := 0, -1
	for i := range calls {
		x := &calls[i]
		h.Write([]byte{byte(x.region), byte(x.region >> 8), byte(x.region >> 16)})
		if x.region != r {
			continue
		}
		if last >= 0 {
			key := h.Sum64()
			if kinds[key] == nil {
				kinds[key] = &kind{length: i - last}
			}
			kinds[key].times = append(kinds[key].times, x.end-calls[last].end)
			all++
		}
		last = i
		h.Reset()
	}
	whole := calls[len(calls)-1].end - calls[0].begin
	for _, k := range kinds {
		if all < fewestRounds-1 || float64(len(k.times)) < mostAlike*float64(all) {
			continue
		}
		slices.Sort(k.times)
		usual, fill := k.times[len(k.times)/2], trace.Time(0)
		for _, t := range k.times {
			fill += min(t, 2*usual)
		}
		if float64(fill) >= leastCover*float64(whole) {
			return k.length
		}
	}
	return 0
}

// toTheEnds makes of calls the time from the end of one to the end of the next. The first of a unit begins where what
// it recorded before the calls of that iteration ended; length is how many calls an iteration has. Where most units
// recorded nothing before, it is unknown when their first iteration began, and it is left out.
func (s *Source) toTheEnds(list []Occurrence, length int) ([]Occurrence, error) {
	slices.SortFunc(list, func(a, b Occurrence) int { return cmp.Or(a.Unit-b.Unit, cmp.Compare(a.Begin, b.Begin)) })
	first := map[int]*before{}
	for i := len(list) - 1; i >= 0; i-- {
		if o := &list[i]; i > 0 && list[i-1].Unit == o.Unit {
			o.Begin = list[i-1].End
		} else {
			first[o.Unit] = &before{until: o.Begin}
		}
	}
	if err := s.readBefore(first); err != nil {
		return nil, err
	}
	unknown, out := 0, make([]Occurrence, 0, len(list))
	for _, b := range first {
		if b.of(length) == len(b.calls) && len(b.ends) == 0 {
			unknown++
		}
	}
	for i, o := range list {
		if i == 0 || list[i-1].Unit != o.Unit {
			if 2*unknown > len(first) {
				continue
			}
			o.Begin = first[o.Unit].end(length, s.Window.Begin)
		}
		out = append(out, o)
	}
	return out, nil
}

// before is the time of a unit until its first call of those that end iterations.
type before struct {
	until trace.Time
	calls []call // outermost ones of communication
	ends  []trace.Time
}

// of is how many of the calls before belong to the first iteration, which has length calls with the last.
func (b *before) of(length int) int { return min(length-1, len(b.calls)) }

// end is when what does not belong to the first iteration is over.
func (b *before) end(length int, begin trace.Time) trace.Time {
	own := b.calls[len(b.calls)-b.of(length):]
	if n := len(b.calls) - len(own); n > 0 {
		begin = b.calls[n-1].end
	}
	from := b.until
	if len(own) > 0 {
		from = own[0].begin
	}
	for _, t := range b.ends {
		if t <= from {
			begin = max(begin, t)
		}
	}
	return begin
}

func (s *Source) readBefore(first map[int]*before) error {
	w := s.Window
	w.End = w.Begin + 1
	for _, b := range first {
		w.End = max(w.End, b.until)
	}
	var mu sync.Mutex
	return s.Store.Intervals(s.ctx, w, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		b := first[int(s.Unit[c.Location])]
		if s.Unit[c.Location] < 0 || b == nil || c.Lane > 0 {
			return nil
		}
		for i, r := range c.Region {
			x := call{c.Begin[i], c.End(i), r}
			switch {
			case x.end > b.until || s.Regions[r].Role.Busy():
			case s.Regions[r].Role != trace.RoleCommunication:
				b.ends = append(b.ends, x.end)
			case len(b.calls) == 0 || x.begin >= b.calls[len(b.calls)-1].end:
				b.calls = append(b.calls, x)
			}
		}
		return nil
	})
}
