package request

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Difference is something that some requests have and others have not, or have more of. For an attribute's value,
// or two values together, inside and outside are the shares of requests with it, and the effect is their difference;
// for numbers they are means, and the effect is Cliff's delta.
type Difference struct {
	Attribute, Value       string
	AndAttribute, AndValue string // of a pair, the second; else ""
	Unit                   string // of inside and outside: "share", "ns", "count", ""
	Inside, Outside        float64
	Effect                 float64 // -1 … 1
	P, Q                   float64 // Q is corrected for all that were tested
}

// IsPair reports whether a difference is of two values that requests have together.
func (x *Difference) IsPair() bool { return x.AndAttribute != "" }

// Label names a difference: "zone = b", "version = v2 and zone = b".
func (x *Difference) Label() string {
	if x.IsPair() {
		return label(x.Attribute, x.Value) + " and " + label(x.AndAttribute, x.AndValue)
	}
	return label(x.Attribute, x.Value)
}

func label(attribute, value string) string {
	switch {
	case attribute == OfTime || attribute == OfCalls || attribute == OfLocation:
		return attribute + " " + value
	case value == "":
		return attribute
	}
	return attribute + " = " + value
}

// Names of quantities that are no attributes of spans.
const (
	OfTime     = "self time of"
	OfCalls    = "calls of"
	OfLocation = "passes through"
)

const (
	fewest     = 3    // requests that must have a value
	mostValues = 1000 // of an attribute
	manyValues = 20   // from which on an attribute of numbers is one
	mostOps    = 300
)

// Differ tests for differences between some requests and others: each value of each attribute of their calls and
// of the locations of these, each location, pairs of such, and each operation's self time and calls. Effects come
// first.
func (f *Forest) Differ(s *runfacts.SpanSource, inside, outside []int32) (list []Difference, tests int, err error) {
	q := f.newQuestion(inside, outside)
	q.operations(f, s, slices.Concat(inside, outside))
	if err := f.askFacts(s, slices.Concat(inside, outside), []*question{q}); err != nil {
		return nil, 0, err
	}
	list, tests = q.answer()
	return list, tests, nil
}

// Shared tests for properties of each of several choices that the other requests do not have: values of attributes,
// locations, and pairs of such. Attributes of calls are read once for all choices.
func (f *Forest) Shared(s *runfacts.SpanSource, all []int32, choices [][]int32) ([][]Difference, error) {
	questions := make([]*question, len(choices))
	for i, inside := range choices {
		in := make(map[int32]bool, len(inside))
		for _, k := range inside {
			in[k] = true
		}
		questions[i] = f.newQuestion(inside,
			slices.DeleteFunc(slices.Clone(all), func(k int32) bool { return in[k] }))
	}
	if err := f.askFacts(s, all, questions); err != nil {
		return nil, err
	}
	out := make([][]Difference, len(choices))
	for i, q := range questions {
		out[i], _ = q.answer()
	}
	return out, nil
}

// A question is some requests against others, with the tests made so far.
type question struct {
	side    []int8  // by request: 1 inside, 2 outside, 0 neither
	at      []int32 // by request: its place on its side
	in, out int
	bits    [2][]uint64 // the requests of each side
	list    []Difference
	facts   []fact // of which pairs are tested
}

func (f *Forest) newQuestion(inside, outside []int32) *question {
	n := len(f.Requests)
	q := &question{side: make([]int8, n), at: make([]int32, n), in: len(inside), out: len(outside)}
	for s, list := range [][]int32{inside, outside} {
		q.bits[s] = make([]uint64, (n+63)/64)
		for i, k := range list {
			q.side[k], q.at[k] = int8(s+1), int32(i)
			q.bits[s][k>>6] |= 1 << (k & 63)
		}
	}
	return q
}

// answer tests pairs, corrects for all tests and sorts: chance comes last, whatever its effect.
func (q *question) answer() (list []Difference, tests int) {
	q.pairs()
	p := make([]float64, len(q.list))
	for i := range q.list {
		p[i] = q.list[i].P
	}
	for i, x := range contrast.Adjust(p) {
		q.list[i].Q = x
	}
	tests = len(q.list)
	list = slices.DeleteFunc(q.list, func(x Difference) bool { return x.IsPair() && x.Q > contrast.Level })
	sure := func(x *Difference) int {
		if x.Q <= contrast.Level {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(sure(&a), sure(&b)), cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)),
			cmp.Compare(a.P, b.P), cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.AndAttribute, b.AndAttribute), cmp.Compare(a.AndValue, b.AndValue))
	})
	return list, tests
}

// shares compares how many requests of each side have something; nil if that is not tested.
func (q *question) shares(attribute, value string, a, b int) *Difference {
	if a+b < fewest || a+b == q.in+q.out {
		return nil
	}
	x := Difference{Attribute: attribute, Value: value, Unit: "share", Inside: float64(a) / float64(q.in),
		Outside: float64(b) / float64(q.out), P: contrast.Fisher(a, q.in, b, q.out)}
	x.Effect = x.Inside - x.Outside
	q.list = append(q.list, x)
	return &q.list[len(q.list)-1]
}

// numbers compares a quantity of the requests of each side.
func (q *question) numbers(attribute, value, unit string, a, b []float64) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	x := Difference{Attribute: attribute, Value: value, Unit: unit, Inside: mean(a), Outside: mean(b),
		Effect: contrast.Delta(a, b)}
	x.P, _ = contrast.RankTest(a, b)
	q.list = append(q.list, x)
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// An op is an operation in the requests.
type op struct {
	service trace.LocationID
	region  trace.RegionID
}

type opUse struct {
	request int32
	calls   int32
	self    trace.Time
}

// An opSum is an operation with the requests that use it.
type opSum struct {
	op
	uses  []opUse // by request, as these come
	total trace.Time
}

// operations tests self times and calls of operations.
func (q *question) operations(f *Forest, s *runfacts.SpanSource, requests []int32) {
	sums := map[op]*opSum{}
	recent := make([]*opSum, len(f.Regions)) // the last of a region: mostly it is of one service
	for _, k := range requests {
		f.Each(&f.Requests[k], func(node int32, _ int) {
			o := op{f.Service(node), f.Region[node]}
			sum := recent[o.region]
			if sum == nil || sum.op != o {
				if sum = sums[o]; sum == nil {
					sum = &opSum{op: o}
					sums[o] = sum
				}
				recent[o.region] = sum
			}
			if n := len(sum.uses); n == 0 || sum.uses[n-1].request != k {
				sum.uses = append(sum.uses, opUse{request: k})
			}
			u := &sum.uses[len(sum.uses)-1]
			u.calls++
			u.self += f.Self[node]
			sum.total += f.Self[node]
		})
	}
	ops := make([]*opSum, 0, len(sums))
	for _, sum := range sums {
		ops = append(ops, sum)
	}
	slices.SortFunc(ops, func(a, b *opSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.service, b.service), cmp.Compare(a.region, b.region))
	})
	a, b := make([]float64, q.in), make([]float64, q.out)
	for _, o := range ops[:min(len(ops), mostOps)] {
		name := s.Path(o.service) + ": " + f.Regions[o.region].Name
		for _, what := range []string{OfTime, OfCalls} {
			clear(a)
			clear(b)
			same := len(o.uses) == q.in+q.out
			for _, u := range o.uses {
				v := float64(u.self)
				if what == OfCalls {
					v = float64(u.calls)
				}
				same = same && u.calls == o.uses[0].calls
				if q.side[u.request] == 1 {
					a[q.at[u.request]] = v
				} else {
					b[q.at[u.request]] = v
				}
			}
			if what == OfCalls && same {
				continue // every request calls it as often
			}
			q.numbers(what, name, map[string]string{OfTime: "ns", OfCalls: "count"}[what], a, b)
		}
	}
}
