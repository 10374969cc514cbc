package budget

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Change is a run with some of its time made shorter. Budgets with changes do not explain waits: they replay the run
// along them. The time of an actor outside its waits takes as long as recorded, or as the change says; a wait lasts
// until the awaited actor comes. A change of nothing ends when the run does.
type Change struct {
	Actors  []bool // of these; nil: of all
	Regions []bool // time in these regions, by number
	To      Target
	// Shift moves the target by one measure of its uncertainty: 1 takes longer, -1 less, 0 is the target itself.
	Shift float64
	// Without says which waits are no more; nil: none.
	Without func(w *Wait) bool
	// End is when the last actor ends, in ns since the begin of the run, once the budget has its result.
	End float64
	// Rounds is how many collectives of most actors there are: without any, ToPeers and ToMean compare whole runs.
	Rounds int

	now    []float64     // by actor, since the begin
	at     []trace.Time  // by actor: up to when it was replayed
	from   []int         // by actor: the stretch in which that is, counted with those forgotten
	factor []float64     // by round and actor; nil: Rate
	parts  [][]remainder // by actor, if there are no rounds: its time in order
	rate   float64
}

// A remainder is time of an actor of which a factor is left.
type remainder struct {
	begin, end trace.Time
	factor     float64
}

func (p remainder) compareEnd(t trace.Time) int { return cmp.Compare(p.end, t) }

func compareEnd(w Wait, t trace.Time) int { return cmp.Compare(w.End, t) }

// A Target is how long a change lets time take.
type Target uint8

// The targets: how long work takes in a replay.
const (
	ToPeers   Target = iota // as long as the median of the others in the same round, or as it did if that is less
	ToMean                  // as long as the mean of all in the same round
	ToShare                 // its part if all actors share it
	ToNothing               // no time
)

// together is the part of the actors that a collective brings together for a round to end there.
const together = 0.75

// replay takes the changes through the waits that were settled, up to a moment.
func (b *Budget) replay(settled []Wait, until trace.Time) {
	for i := range b.tracks {
		if t := &b.tracks[i]; t.any {
			b.last = max(b.last, t.until)
		}
	}
	until = min(until, b.last)
	b.sortByEnd(settled)
	rounds := b.rounds(settled, until)
	for _, c := range b.Changes {
		if c.now == nil {
			c.begin(b)
		}
		c.Rounds += len(rounds) - 1
		c.rates(b, settled, rounds)
		c.pass(b, settled, rounds)
		for a := range b.tracks {
			c.advance(b, int32(a), min(until, b.tracks[a].until), rounds)
		}
	}
	b.replayed = max(b.replayed, until)
}

// Replay takes changes through a run that is settled and of which nothing was forgotten.
func (b *Budget) Replay(changes []*Change) {
	b.Changes, b.replayed = changes, b.begin
	var all []Wait
	for i := range b.tracks {
		all = append(all, b.tracks[i].waits...)
	}
	b.replay(all, 1<<63-1)
	for _, c := range changes {
		c.finish()
	}
}

// sortByEnd puts waits in the order in which they end; of two that end at once, the one for an actor that waits to the
// same moment comes later.
func (b *Budget) sortByEnd(list []Wait) {
	waits := func(w *Wait) int {
		t := &b.tracks[w.Late]
		if i := t.lastWait(w.End); i >= 0 && t.waits[i].End == w.End {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(x, y Wait) int {
		if x.End != y.End {
			return cmp.Compare(x.End, y.End)
		}
		return cmp.Or(cmp.Compare(waits(&x), waits(&y)), cmp.Compare(x.Late, y.Late), cmp.Compare(x.Kind, y.Kind),
			cmp.Compare(x.Actor, y.Actor))
	})
}

// sameEvent returns the number of waits at the head of a list that end by one event, and whether it is a collective in
// which all wait for all.
func (b *Budget) sameEvent(list []Wait) (n int, all bool) {
	w := &list[0]
	if w.Kind != Collective {
		return 1, false
	}
	for n < len(list) && list[n].Kind == Collective && list[n].End == w.End && list[n].Late == w.Late {
		n++
	}
	return n, b.Rooted == nil || !b.Rooted[w.Region]
}

// rounds are the moments that cut the time since the last replay: collectives of most actors end there. The last is
// until.
func (b *Budget) rounds(list []Wait, until trace.Time) (cuts []trace.Time) {
	some := 0
	for i := range b.tracks {
		if b.tracks[i].any {
			some++
		}
	}
	for len(list) > 0 {
		n, all := b.sameEvent(list)
		if at := list[0].End; all && float64(n+1) >= together*float64(some) &&
			(len(cuts) == 0 || at > cuts[len(cuts)-1]) {
			cuts = append(cuts, at)
		}
		list = list[n:]
	}
	return append(cuts, until)
}

func (c *Change) begin(b *Budget) {
	n := len(b.tracks)
	c.now, c.at, c.from = make([]float64, n), make([]trace.Time, n), make([]int, n)
	for a := range c.at {
		c.at[a] = b.begin
	}
}

// rates finds the factors by which time changes in each round.
func (c *Change) rates(b *Budget, settled []Wait, rounds []trace.Time) {
	n := len(b.tracks)
	switch c.To {
	case ToNothing:
		c.rate = 0
		return
	case ToShare:
		c.rate = (1 + c.Shift) / float64(n)
		return
	}
	own := make([]float64, len(rounds)*n)
	for a := range b.tracks {
		c.sum(b, a, rounds, own[a:])
	}
	c.factor = own
	c.parts = nil
	peers := make([]float64, 0, n)
	for r := range rounds {
		round := own[r*n : (r+1)*n]
		peers = peers[:0]
		for a, t := range round {
			if b.tracks[a].any && (c.To == ToMean || !c.has(int32(a))) {
				peers = append(peers, t)
			}
		}
		target := c.target(peers)
		for a, t := range round {
			round[a] = 1
			if t > 0 && (c.To == ToMean || target < t) {
				round[a] = target / t
			}
		}
		if c.To == ToPeers && len(rounds) == 1 {
			c.parts = c.awaited(b, settled, round, rounds[0])
		}
	}
}

// awaited distributes the excess of actors over their time: where others wait for them they lose most. Without rounds
// no other record shows the moments at which an actor was late.
func (c *Change) awaited(b *Budget, settled []Wait, factor []float64, until trace.Time) [][]remainder {
	out := make([][]remainder, len(factor))
	for a, x := range factor {
		if x >= 1 || !c.has(int32(a)) {
			continue
		}
		var on []Wait
		for i := range settled {
			if settled[i].Late == int32(a) {
				on = append(on, settled[i])
			}
		}
		slices.SortFunc(on, func(x, y Wait) int { return cmp.Compare(x.End, y.End) })
		var parts []remainder
		var waited []trace.Time
		all, sum := trace.Time(0), trace.Time(0)
		c.own(b, a, until, func(begin, end trace.Time) {
			n, _ := slices.BinarySearchFunc(on, begin+1, compareEnd)
			first := end // from here on an actor waits for the end of this
			for i := n; i < len(on) && on[i].End <= end; i++ {
				first = min(first, max(on[i].Begin, begin))
			}
			for i := n; i < len(on) && on[i].Begin < end && i < n+len(b.tracks); i++ {
				first = min(first, max(on[i].Begin, begin))
			}
			parts, waited = append(parts, remainder{begin, end, 1}), append(waited, end-first)
			all, sum = all+end-begin, sum+end-first
		})
		much := (1 - x) * float64(all)
		rest := 1.0 // of the time that no actor waited for
		if sum < all {
			rest = 1 - max(much-float64(sum), 0)/float64(all-sum)
		}
		for i := range parts {
			p := &parts[i]
			left := float64(waited[i]) * (1 - min(much/float64(max(sum, 1)), 1))
			p.factor = (left + rest*float64(p.end-p.begin-waited[i])) / float64(p.end-p.begin)
		}
		out[a] = parts
	}
	return out
}

// target is the time that a round is to take, which peers give.
func (c *Change) target(peers []float64) float64 {
	if len(peers) == 0 {
		return math.Inf(1)
	}
	n := float64(len(peers))
	if c.To == ToMean {
		sum, squares := 0.0, 0.0
		for _, t := range peers {
			sum += t
			squares += t * t
		}
		mean := sum / n
		return max(mean+c.Shift*math.Sqrt(max(squares/n-mean*mean, 0)/n), 0)
	}
	slices.Sort(peers)
	at := (n - 1) * (2 + c.Shift) / 4 // quartiles
	low := int(at)
	high := min(low+1, len(peers)-1)
	return peers[low] + (at-float64(low))*(peers[high]-peers[low])
}

func (c *Change) has(actor int32) bool { return c.Actors == nil || c.Actors[actor] }

// sum adds up the time of an actor in the regions of a change by round, without its waits; out has a stride of all
// actors.
func (c *Change) sum(b *Budget, a int, rounds []trace.Time, out []float64) {
	round := 0
	c.own(b, a, rounds[len(rounds)-1], func(begin, end trace.Time) {
		for begin < end {
			for round < len(rounds)-1 && rounds[round] <= begin {
				round++
			}
			cut := end
			if round < len(rounds)-1 {
				cut = min(end, rounds[round])
			}
			out[round*len(b.tracks)] += float64(cut - begin)
			begin = cut
		}
	})
}

// own yields the time of an actor in the regions of a change up to a moment, without its waits.
func (c *Change) own(b *Budget, a int, until trace.Time, give func(begin, end trace.Time)) {
	t := &b.tracks[a]
	at, from := b.replayed, t.at(b.replayed)
	add := func(begin, end trace.Time, region int32) {
		if c.Regions[b.RegionOf(region)] {
			give(begin, end)
		}
	}
	for i := t.lastWait(b.replayed) + 1; i < len(t.waits) && t.waits[i].End <= until; i++ {
		from = t.walk(from, at, t.waits[i].Begin, add)
		at = t.waits[i].End
	}
	t.walk(from, at, min(until, t.until), add)
}

// walk yields the time of a track from a moment to another, from a stretch on. It returns the last stretch.
func (t *track) walk(i int, from, to trace.Time, add func(begin, end trace.Time, region int32)) int {
	for from < to {
		for i+1 < len(t.stretches) && t.stretches[i+1].begin <= from {
			i++
		}
		end, region := to, Nothing
		if i+1 < len(t.stretches) {
			end = min(end, t.stretches[i+1].begin)
		}
		if i < len(t.stretches) && t.stretches[i].begin <= from && from < t.until {
			region = t.stretches[i].region
		}
		add(from, end, region)
		from = end
	}
	return i
}

// advance takes an actor's own time up to a moment.
func (c *Change) advance(b *Budget, a int32, to trace.Time, rounds []trace.Time) {
	if to <= c.at[a] {
		return
	}
	t := &b.tracks[a]
	changed := c.has(a)
	round := 0
	i := max(c.from[a]-int(t.dropped), 0)
	i = t.walk(i, c.at[a], to, func(begin, end trace.Time, region int32) {
		switch {
		case !changed || !c.Regions[b.RegionOf(region)]:
			c.now[a] += float64(end - begin)
			return
		case c.factor == nil:
			c.now[a] += c.rate * float64(end-begin)
			return
		case c.parts != nil:
			c.now[a] += left(c.parts[a], begin, end)
			return
		}
		for begin < end {
			if rounds[round] <= begin && round < len(rounds)-1 {
				round, _ = slices.BinarySearch(rounds, begin+1)
				round = min(round, len(rounds)-1)
			}
			cut := end
			if round < len(rounds)-1 {
				cut = min(end, rounds[round])
			}
			c.now[a] += c.factor[round*len(b.tracks)+int(a)] * float64(cut-begin)
			begin = cut
		}
	})
	c.at[a], c.from[a] = to, i+int(t.dropped)
}

// left is the rest of a time without parts.
func left(parts []remainder, begin, end trace.Time) float64 {
	sum := float64(end - begin)
	i, _ := slices.BinarySearchFunc(parts, begin+1, remainder.compareEnd)
	for ; i < len(parts) && parts[i].begin < end; i++ {
		sum -= (1 - parts[i].factor) * float64(min(end, parts[i].end)-max(begin, parts[i].begin))
	}
	return sum
}

// pass lets waits end when the awaited actors come.
func (c *Change) pass(b *Budget, list []Wait, rounds []trace.Time) {
	for len(list) > 0 {
		n, all := b.sameEvent(list)
		late, at := list[0].Late, list[0].End
		c.advance(b, late, at, rounds)
		comes := c.now[late]
		for i := range list[:n] {
			c.advance(b, list[i].Actor, list[i].Begin, rounds)
			if all {
				comes = max(comes, c.now[list[i].Actor])
			}
		}
		for i := range list[:n] {
			w := &list[i]
			if c.Without == nil || !c.Without(w) {
				c.now[w.Actor] = max(c.now[w.Actor], comes)
			}
			c.at[w.Actor] = max(c.at[w.Actor], at)
		}
		if all && c.at[late] <= at {
			c.now[late] = comes
		}
		list = list[n:]
	}
}

// finish notes when the last actor ends.
func (c *Change) finish() {
	for _, t := range c.now {
		c.End = max(c.End, t)
	}
}
