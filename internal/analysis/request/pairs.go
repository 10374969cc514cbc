package request

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
)

// A fact is a value that more of the requests inside have than outside.
type fact struct {
	attribute, value string
	requests         []uint64 // those that have it, as bits
	p                float64
}

// mostFacts is the number of facts of which all pairs are tested: those that chance explains least.
const mostFacts = 32

func (q *question) keepFact(x fact) {
	q.facts = append(q.facts, x)
	if len(q.facts) < 2*mostFacts {
		return
	}
	q.cutFacts()
}

func (q *question) cutFacts() {
	slices.SortStableFunc(q.facts, func(a, b fact) int { return cmp.Compare(a.p, b.p) })
	clear(q.facts[min(len(q.facts), mostFacts):])
	q.facts = q.facts[:min(len(q.facts), mostFacts)]
}

// pairs tests two values together. A pair is one where each of the two matters among the requests that have the other:
// its p is the largest of these two tests and of the test of both values against all other requests.
func (q *question) pairs() {
	q.cutFacts()
	for i := range q.facts {
		for k := range q.facts[:i] {
			if a, b := &q.facts[k], &q.facts[i]; a.attribute != b.attribute {
				q.pair(a, b)
			}
		}
	}
}

func (q *question) pair(a, b *fact) {
	var first, second, both [2]int // requests inside and outside
	for s, side := range q.bits {
		for i, w := range side {
			x, y := a.requests[i]&w, b.requests[i]&w
			first[s] += bits.OnesCount64(x)
			second[s] += bits.OnesCount64(y)
			both[s] += bits.OnesCount64(x & y)
		}
	}
	if both[0] < fewest || both == first || both == second {
		return // one of the two says it all
	}
	if cmp.Or(cmp.Compare(a.attribute, b.attribute), cmp.Compare(a.value, b.value)) > 0 {
		a, b = b, a
	}
	x := Difference{Attribute: a.attribute, Value: a.value, AndAttribute: b.attribute, AndValue: b.value, Unit: "share",
		Inside: float64(both[0]) / float64(q.in), Outside: float64(both[1]) / float64(q.out)}
	x.Effect = x.Inside - x.Outside
	x.P = max(contrast.Fisher(both[0], q.in, both[1], q.out), matters(both, first), matters(both, second))
	q.list = append(q.list, x)
}

// matters tests whether, among requests of a fact, those that have another one too are more often inside.
func matters(both, fact [2]int) float64 {
	if both[0]*fact[1] <= both[1]*fact[0] {
		return 1
	}
	return contrast.Fisher(both[0], fact[0], both[1], fact[1])
}
