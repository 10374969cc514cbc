package request

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Difference is something that some requests have and others have not, or have more of.
// Of an attribute's value, inside and outside are the shares of requests with it, and the
// effect is their difference; of numbers they are means, and the effect is Cliff's delta.
type Difference struct {
	Attribute, Value string
	Unit             string // of inside and outside: "share", "ns", "count", ""
	Inside, Outside  float64
	Effect           float64 // -1 … 1
	P, Q             float64 // Q is corrected for all that were tested
}

// Words for what is no attribute of spans.
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

// Differ tests what separates some requests from others: each value of each attribute, each
// place they pass through, and each operation's self time and calls. Effects come first.
func (f *Forest) Differ(s *runfacts.SpanSource, attributes []string, inside, outside []int32,
	name func(trace.LocationID) string) (list []Difference, tests int, err error) {
	d := &differ{Forest: f, side: make([]int8, len(f.Requests)), at: make([]int32, len(f.Requests)), in: len(inside),
		out: len(outside), name: name}
	for i, k := range inside {
		d.side[k], d.at[k] = 1, int32(i)
	}
	for i, k := range outside {
		d.side[k], d.at[k] = 2, int32(i)
	}
	d.operations(slices.Concat(inside, outside))
	for _, a := range attributes {
		switch a {
		case attributeTrace, attributeParent, "span":
			continue
		}
		if err := d.attribute(s, a); err != nil {
			return nil, 0, err
		}
	}
	p := make([]float64, len(d.list))
	for i := range d.list {
		p[i] = d.list[i].P
	}
	for i, q := range contrast.Adjust(p) {
		d.list[i].Q = q
	}
	tests = len(d.list)
	// Chance comes last, whatever its effect.
	sure := func(x *Difference) int {
		if x.Q <= contrast.Level {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(d.list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(sure(&a), sure(&b)), cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)),
			cmp.Compare(a.P, b.P), cmp.Compare(a.Attribute, b.Attribute), cmp.Compare(a.Value, b.Value))
	})
	return d.list, tests, nil
}

type differ struct {
	*Forest
	side    []int8 // by request: 1 inside, 2 outside, 0 neither
	at      []int32
	in, out int
	name    func(trace.LocationID) string
	list    []Difference
}

// shares compares how many requests of each side have something.
func (d *differ) shares(attribute, value string, a, b int) {
	if a+b < fewest || a+b == d.in+d.out {
		return
	}
	x := Difference{Attribute: attribute, Value: value, Unit: "share", Inside: float64(a) / float64(d.in),
		Outside: float64(b) / float64(d.out), P: contrast.Fisher(a, d.in, b, d.out)}
	x.Effect = x.Inside - x.Outside
	d.list = append(d.list, x)
}

// numbers compares what requests of each side have of something.
func (d *differ) numbers(attribute, value, unit string, a, b []float64) {
	if len(a) == 0 || len(b) == 0 {
		return
	}
	x := Difference{Attribute: attribute, Value: value, Unit: unit, Inside: mean(a), Outside: mean(b),
		Effect: contrast.Delta(a, b)}
	x.P, _ = contrast.RankTest(a, b)
	d.list = append(d.list, x)
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

// operations tests places, and self times and calls of operations.
func (d *differ) operations(requests []int32) {
	sums := map[op]*opSum{}
	recent := make([]*opSum, len(d.Regions)) // the last of a region: mostly it is of one service
	places := map[trace.LocationID]*[2]int{}
	seen := make([]int32, len(d.service)) // by location: the request that was there last, and one
	for _, k := range requests {
		d.Each(&d.Requests[k], func(node int32, _ int) {
			o := op{d.Service(node), d.Region[node]}
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
			u.self += d.Self[node]
			sum.total += d.Self[node]
			if at := d.calls.Location(node); seen[at] != k+1 {
				seen[at] = k + 1
				if places[at] == nil {
					places[at] = &[2]int{}
				}
				places[at][d.side[k]-1]++
			}
		})
	}
	ids := make([]trace.LocationID, 0, len(places))
	for id := range places {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		d.shares(OfLocation, d.name(id), places[id][0], places[id][1])
	}
	ops := make([]*opSum, 0, len(sums))
	for _, sum := range sums {
		ops = append(ops, sum)
	}
	slices.SortFunc(ops, func(a, b *opSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.service, b.service), cmp.Compare(a.region, b.region))
	})
	a, b := make([]float64, d.in), make([]float64, d.out)
	for _, o := range ops[:min(len(ops), mostOps)] {
		name := d.name(o.service) + ": " + d.Regions[o.region].Name
		for _, what := range []string{OfTime, OfCalls} {
			clear(a)
			clear(b)
			same := len(o.uses) == d.in+d.out
			for _, u := range o.uses {
				v := float64(u.self)
				if what == OfCalls {
					v = float64(u.calls)
				}
				same = same && u.calls == o.uses[0].calls
				if d.side[u.request] == 1 {
					a[d.at[u.request]] = v
				} else {
					b[d.at[u.request]] = v
				}
			}
			if what == OfCalls && same {
				continue // every request calls it as often
			}
			d.numbers(what, name, map[string]string{OfTime: "ns", OfCalls: "count"}[what], a, b)
		}
	}
}

// A valueTable is the values of an attribute, with the requests that have them. Most attributes have few values in many
// calls: those of the first values have a bit a request, further ones are listed.
type valueTable struct {
	texts   []string
	numbers []float64
	numeric bool
	ids     map[string]int32
	known   map[trace.Value]int32 // as they came, bounded
	bits    [][]uint64            // of the first values
	list    []found               // of the others
}

type found struct{ request, value int32 }

// mostBits values have bits at most, in bitBytes at most.
const (
	mostBits = 256
	bitBytes = 64 << 20
)

// id numbers a value by its text.
func (t *valueTable) id(v trace.Value) int32 {
	if id, ok := t.known[v]; ok {
		return id
	}
	text := v.String()
	id, ok := t.ids[text]
	if !ok {
		id = int32(len(t.texts))
		t.ids[text] = id
		t.texts = append(t.texts, text)
		x, isNumber := v.Number()
		t.numeric = t.numeric && isNumber
		t.numbers = append(t.numbers, x)
	}
	if len(t.known) < mostBits {
		t.known[v] = id
	}
	return id
}

// add notes that a request has a value; there are so many requests.
func (t *valueTable) add(request, id int32, requests int) {
	if id >= mostBits || int(id)*requests >= 8*bitBytes {
		t.list = append(t.list, found{request, id})
		return
	}
	for int(id) >= len(t.bits) {
		t.bits = append(t.bits, make([]uint64, (requests+63)/64))
	}
	t.bits[id][request>>6] |= 1 << (request & 63)
}

// each hands out values with the requests that have them, each once.
func (t *valueTable) each(do func(request, value int32)) {
	for id, words := range t.bits {
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				do(int32(i<<6+bits.TrailingZeros64(w)), int32(id))
			}
		}
	}
	slices.SortFunc(t.list,
		func(x, y found) int { return cmp.Or(cmp.Compare(x.value, y.value), cmp.Compare(x.request, y.request)) })
	t.list = slices.Compact(t.list)
	for _, x := range t.list {
		do(x.request, x.value)
	}
}

// attribute tests the values of one attribute, whichever span of a request has it.
func (d *differ) attribute(s *runfacts.SpanSource, name string) error {
	t := &valueTable{numeric: true, ids: map[string]int32{}, known: map[trace.Value]int32{}}
	var mu sync.Mutex
	err := s.Attribute(name, func(location trace.LocationID, lane int, rows []int32, column []trace.Value) {
		mu.Lock()
		defer mu.Unlock()
		var last trace.Value
		id := int32(-1)
		for i, row := range rows {
			node := d.Node(location, lane, int(row))
			if node < 0 || d.Of[node] < 0 || d.side[d.Of[node]] == 0 {
				continue
			}
			if id < 0 || column[i] != last {
				last, id = column[i], t.id(column[i])
			}
			t.add(d.Of[node], id, len(d.Requests))
		}
	})
	if err != nil || len(t.texts) == 0 {
		return err
	}
	if t.numeric && len(t.texts) > manyValues {
		most, has := make([]float64, len(d.Requests)), make([]bool, len(d.Requests))
		t.each(func(request, value int32) {
			if v := t.numbers[value]; !has[request] || v > most[request] {
				most[request], has[request] = v, true
			}
		})
		var a, b []float64
		for k := range most {
			if has[k] && d.side[k] == 1 {
				a = append(a, most[k])
			} else if has[k] {
				b = append(b, most[k])
			}
		}
		if len(a)+len(b) >= fewest {
			d.numbers(name, "", "", a, b)
		}
		return nil
	}
	counts := make([][2]int, len(t.texts))
	t.each(func(request, value int32) { counts[value][d.side[request]-1]++ })
	ids := make([]int, len(t.texts))
	for i := range ids {
		ids[i] = i
	}
	// Many values are mostly names of one thing each: those of most requests are tested.
	slices.SortFunc(ids, func(x, y int) int {
		return cmp.Or(cmp.Compare(counts[y][0]+counts[y][1], counts[x][0]+counts[x][1]),
			cmp.Compare(t.texts[x], t.texts[y]))
	})
	for _, i := range ids[:min(len(ids), mostValues)] {
		d.shares(name, t.texts[i], counts[i][0], counts[i][1])
	}
	return nil
}
