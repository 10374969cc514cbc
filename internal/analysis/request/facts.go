package request

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A visit is a request at a location.
type visit struct {
	request  int32
	location trace.LocationID
}

// askFacts tests, for each question, the locations that requests pass through and the attributes of their calls and
// locations.
func (f *Forest) askFacts(s *runfacts.SpanSource, requests []int32, questions []*question) error {
	among := make([]bool, len(f.Requests))
	for _, k := range requests {
		among[k] = true
	}
	visits := f.visits(requests)
	places, known := newValueTable(false), map[trace.LocationID]int32{}
	for _, v := range visits {
		id, has := known[v.location]
		if !has {
			id = places.id(trace.Text(s.Path(v.location)))
			known[v.location] = id
		}
		places.add(v.request, id, len(f.Requests))
	}
	for _, q := range questions {
		q.values(OfLocation, places)
	}
	ofCalls, ofLocations := s.AttributeNames(), f.locationFacts(s)
	names := slices.Clone(ofCalls)
	for name := range ofLocations {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		switch name {
		case attributeTrace, attributeParent, "span":
			continue
		}
		t := newValueTable(true)
		if slices.Contains(ofCalls, name) {
			if err := f.addOfCalls(t, s, name, among); err != nil {
				return err
			}
		}
		if values := ofLocations[name]; values != nil {
			for _, v := range visits {
				if x, has := values[v.location]; has {
					t.add(v.request, t.id(x), len(f.Requests))
				}
			}
		}
		for _, q := range questions {
			q.values(name, t)
		}
	}
	return nil
}

// visits lists the locations of each request, each once.
func (f *Forest) visits(requests []int32) (out []visit) {
	seen := make([]int32, len(f.service)) // by location: the request that was there last, and one
	for _, k := range requests {
		f.Each(&f.Requests[k], func(node int32, _ int) {
			if at := f.calls.Location(node); seen[at] != k+1 {
				seen[at] = k + 1
				out = append(out, visit{k, at})
			}
		})
	}
	return out
}

// locationFacts are the attributes of locations by name, without those that only repeat the name of the location.
func (f *Forest) locationFacts(s *runfacts.SpanSource) map[string]map[trace.LocationID]trace.Value {
	out := map[string]map[trace.LocationID]trace.Value{}
	for id := range trace.LocationID(len(f.service)) {
		for _, a := range s.LocationFacts(id) {
			if out[a.Key] == nil {
				out[a.Key] = map[trace.LocationID]trace.Value{}
			}
			out[a.Key][id] = a.Value
		}
	}
	return out
}

// addOfCalls takes the values of an attribute, whichever call of a request has it.
func (f *Forest) addOfCalls(t *valueTable, s *runfacts.SpanSource, name string, among []bool) error {
	var mu sync.Mutex
	return s.Attribute(name, func(location trace.LocationID, lane int, rows []int32, column []trace.Value) {
		mu.Lock()
		defer mu.Unlock()
		var last trace.Value
		id := int32(-1)
		for i, row := range rows {
			node := f.Node(location, lane, int(row))
			if node < 0 || f.Of[node] < 0 || !among[f.Of[node]] {
				continue
			}
			if id < 0 || column[i] != last {
				last, id = column[i], t.id(column[i])
			}
			t.add(f.Of[node], id, len(f.Requests))
		}
	})
}

// values tests the values of an attribute, or the attribute as a number where it has many.
func (q *question) values(name string, t *valueTable) {
	if len(t.texts) == 0 {
		return
	}
	if t.numeric && len(t.texts) > manyValues {
		q.largest(name, t)
		return
	}
	counts := make([][2]int, len(t.texts))
	t.each(func(request, value int32) {
		if s := q.side[request]; s > 0 {
			counts[value][s-1]++
		}
	})
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
		x := q.shares(name, t.texts[i], counts[i][0], counts[i][1])
		if x != nil && x.P <= contrast.Level && x.Effect > 0 {
			q.keepFact(fact{name, t.texts[i], t.requests(int32(i), len(q.side)), x.P})
		}
	}
}

// largest tests an attribute of numbers by the largest value of each request.
func (q *question) largest(name string, t *valueTable) {
	most, has := make([]float64, len(q.side)), make([]bool, len(q.side))
	t.each(func(request, value int32) {
		if v := t.numbers[value]; !has[request] || v > most[request] {
			most[request], has[request] = v, true
		}
	})
	var a, b []float64
	for k := range most {
		switch {
		case has[k] && q.side[k] == 1:
			a = append(a, most[k])
		case has[k] && q.side[k] == 2:
			b = append(b, most[k])
		}
	}
	if len(a)+len(b) >= fewest {
		q.numbers(name, "", "", a, b)
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

func newValueTable(numeric bool) *valueTable {
	return &valueTable{numeric: numeric, ids: map[string]int32{}, known: map[trace.Value]int32{}}
}

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

// each yields values with the requests that have them, each once.
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

// requests returns the requests that have a value, as bits.
func (t *valueTable) requests(id int32, requests int) []uint64 {
	if int(id) < len(t.bits) {
		return t.bits[id]
	}
	out := make([]uint64, (requests+63)/64)
	for _, x := range t.list {
		if x.value == id {
			out[x.request>>6] |= 1 << (x.request & 63)
		}
	}
	return out
}
