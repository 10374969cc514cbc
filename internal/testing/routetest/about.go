package routetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// things are locations and regions of a run, by id and by name.
type things struct {
	locations map[trace.LocationID]bool
	regions   map[string]bool
}

func newThings() things {
	return things{map[trace.LocationID]bool{}, map[string]bool{}}
}

func (t things) empty() bool { return len(t.locations)+len(t.regions) == 0 }

func (t things) with(o things) things {
	out := newThings()
	for _, x := range []things{t, o} {
		for id := range x.locations {
			out.locations[id] = true
		}
		for name := range x.regions {
			out.regions[name] = true
		}
	}
	return out
}

// within reports whether all of these are among those that are spoken of.
func (t things) within(o things) bool {
	for id := range t.locations {
		if !o.locations[id] {
			return false
		}
	}
	for name := range t.regions {
		if !o.regions[name] {
			return false
		}
	}
	return true
}

// A record is one object of a view's data or one row of its table: its things, with those of the objects around it,
// and its numbers.
type record struct {
	about   things
	keys    map[string]bool // texts that are no name of the run: the name of a step, of a cause
	numbers []float64
	deep    []float64 // with all that is inside
	listed  bool      // one of several alike
}

// at reports whether a record is of a time and not about other locations.
func (r *record) at(begin, end *trace.Time, of things) bool {
	return begin != nil && allAmong([]float64{float64(*begin), float64(*end)}, r.numbers) &&
		things{r.about.locations, nil}.within(of)
}

// A speech holds the numbers that texts of a view may state, by the things they are about.
type speech struct {
	raw     *Raw
	names   map[string][]trace.LocationID // by path, name and short name
	regions map[string]bool
	records []*record
	counts  map[string][]float64 // numbers and lengths of lists by the name of their field
	longest []string             // all names, longest first
	told    map[string][]float64 // measured numbers, by time and things
}

// named are the names of a run, which all answers share.
type named struct {
	names   map[string][]trace.LocationID
	regions map[string]bool
	longest []string
}

func namesOf(x *Raw) *named {
	if x.known != nil {
		return x.known
	}
	s := &named{names: map[string][]trace.LocationID{}, regions: map[string]bool{}}
	ids := []trace.LocationID{}
	for id := range x.Tree.Len() {
		ids = append(ids, trace.LocationID(id))
	}
	short := runfacts.ShortNames(x.Tree, ids)
	for _, g := range x.Regions {
		s.regions[g.Name] = true
	}
	for i, id := range ids {
		for _, n := range []string{x.Tree.Path(id), x.Tree.Name[id], short[i]} {
			if !s.regions[n] && !slices.Contains(s.names[n], id) { // a thread "main" is not the region main
				s.names[n] = append(s.names[n], id)
			}
		}
	}
	for n := range s.names {
		s.longest = append(s.longest, n)
	}
	for n := range s.regions {
		s.longest = append(s.longest, n)
	}
	slices.SortFunc(s.longest, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	x.known = s
	return s
}

// newSpeech takes the data of an answer apart.
func newSpeech(x *Raw, data []byte, table *view.Table) *speech {
	n := namesOf(x)
	s := &speech{raw: x, names: n.names, regions: n.regions, longest: n.longest, counts: map[string][]float64{},
		told: map[string][]float64{}}
	var d any
	if json.Unmarshal(data, &d) == nil {
		s.walk(d, "", newThings(), false)
	}
	for i, row := range table.Rows {
		r := &record{about: newThings(), keys: map[string]bool{}, listed: true}
		for c, v := range row {
			s.take(r, table.Columns[c].Name, v)
		}
		if i < len(table.Locations) {
			r.about.locations[table.Locations[i]] = true
		}
		s.records = append(s.records, r)
	}
	for _, r := range s.records {
		slices.Sort(r.numbers)
		slices.Sort(r.deep)
	}
	return s
}

// take puts one value into a record.
func (s *speech) take(r *record, key string, v any) {
	switch v := v.(type) {
	case string:
		switch {
		case s.regions[v]:
			r.about.regions[v] = true
		case len(s.names[v]) == 1 && key != "kind":
			r.about.locations[s.names[v][0]] = true
		case v != "":
			r.keys[v] = true
		}
	case int64:
		r.numbers = append(r.numbers, math.Abs(float64(v)))
	case float64:
		r.numbers = append(r.numbers, math.Abs(v))
		switch key {
		case "location", "from", "to", "reference":
			if v >= 0 && v < float64(s.raw.Tree.Len()) && v == math.Trunc(v) {
				r.about.locations[trace.LocationID(v)] = true
			}
		}
		s.counts[key] = append(s.counts[key], math.Abs(v))
	case []any:
		for _, e := range v { // plain lists are part of the record
			switch e.(type) {
			case float64, string:
				s.take(r, "", e)
			}
		}
	}
}

// walk makes a record of each object. Objects inside are also about the things that an object names. It returns the
// numbers that are part of the object around, and all of them.
func (s *speech) walk(x any, key string, around things, listed bool) (own, deep []float64) {
	switch x := x.(type) {
	case map[string]any:
		r := &record{about: newThings(), keys: map[string]bool{}, listed: listed}
		for k, v := range x {
			s.take(r, k, v)
			if list, ok := v.([]any); ok {
				s.counts[k] = append(s.counts[k], float64(len(list)))
				r.numbers = append(r.numbers, float64(len(list)))
			}
			if s.regions[k] {
				r.keys[k] = true
			}
		}
		r.about = r.about.with(around)
		s.records = append(s.records, r)
		for k, v := range x {
			own, deep := s.walk(v, k, r.about, listed)
			r.numbers, r.deep = append(r.numbers, own...), append(r.deep, deep...)
		}
		r.deep = append(r.deep, r.numbers...)
		return r.numbers, r.deep
	case []any:
		for _, v := range x {
			_, in := s.walk(v, key, around, true)
			deep = append(deep, in...)
		}
	}
	return nil, deep
}

// spokenOf finds the things that texts name.
func (s *speech) spokenOf(texts ...string) things {
	out := newThings()
	all := strings.Join(texts, "\n")
	for name, ids := range s.names {
		if holds(all, name) {
			for _, id := range ids {
				out.locations[id] = true
			}
		}
	}
	for name := range s.regions {
		if holds(all, name) {
			out.regions[name] = true
		}
	}
	return out
}

// holds reports whether a text has a name that goes on at neither end.
func holds(text, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(name)
		if (begin == 0 || !wordy(text[begin-1])) && (end == len(text) || !wordy(text[end])) {
			return true
		}
		from = begin + 1
	}
	return false
}

func wordy(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '/'
}

// known gathers the numbers of the records about nothing but these things, and of those
// that stand alone.
func (s *speech) known(of things) (out []float64) {
	for _, r := range s.records {
		if !r.listed || !r.about.empty() && r.about.within(of) {
			out = append(out, r.numbers...)
		}
	}
	return out
}

// countedWords are words behind a number, with the fields of data that hold how many.
var countedWords = regexp.MustCompile(
	`(\d[\d,]*) (?:[a-z]+ )?(locations?|ranks?|regions?|calls?|messages?|rows?|groups?|steps?|boxes|box|cells?|findings?|slots?|phases?|levels?|bins?|operators?|pieces?|quantities|pairs?|lanes?|links?|columns?|nodes?|launches|launch)\b`,
)

// measured returns the numbers of things in a time from raw intervals: of their regions on their locations and
// below, together and one by one, and of each interval if both are named.
func (s *speech) measured(w *Window, of things) []float64 {
	key := fmt.Sprint(w.Begin, w.End, of)
	if _, ok := s.told[key]; !ok {
		s.told[key] = s.measure(w, of)
	}
	return s.told[key]
}

func (s *speech) measure(w *Window, of things) (out []float64) {
	x := s.raw
	in := func(id trace.LocationID) bool {
		if len(of.locations) == 0 {
			return true
		}
		for up := id; up != trace.NoLocation; up = x.Tree.Parent[up] {
			if of.locations[up] {
				return true
			}
		}
		return false
	}
	shown := func(id trace.RegionID) bool { return len(of.regions) == 0 || of.regions[x.Regions[id].Name] }
	length := float64(max(w.End-w.Begin, 1))
	together, role, each := map[string]sum{}, map[trace.Role]sum{}, map[trace.LocationID]float64{}
	add := func(m *sum, v sum) {
		*m = sum{m.Calls + v.Calls, m.Inclusive + v.Inclusive, m.Exclusive + v.Exclusive}
	}
	say := func(v sum) { out = append(out, v.Calls, v.Inclusive, v.Exclusive, v.Exclusive/length) }
	locations := 0
	for _, id := range x.holders(w) {
		if in(id) {
			locations++
		}
	}
	var all sum
	for c, v := range x.totals(w) {
		if !in(c.Location) {
			continue
		}
		each[c.Location] += v.Exclusive
		add(&all, v)
		if !shown(c.Region) {
			continue
		}
		g := &x.Regions[c.Region]
		t, u := together[g.Name], role[g.Role]
		add(&t, v)
		add(&u, v)
		together[g.Name], role[g.Role] = t, u
		say(v)
	}
	for _, v := range together {
		say(v)
		out = append(out, v.Exclusive/max(all.Exclusive, 1), v.Exclusive/length/float64(max(locations, 1)))
	}
	busy, idle := 0.0, 0.0
	for g, v := range role {
		say(v)
		if !x.timed() && g.Busy() {
			busy += v.Exclusive
		} else if !x.timed() {
			idle += v.Exclusive
		}
	}
	for _, id := range x.holders(w) {
		if !in(id) {
			continue
		}
		b := 0.0
		for _, t := range x.states(id, w.Begin, w.End) {
			switch {
			case t.Role.Busy():
				b += float64(t.End - t.Begin)
			case t.Role != trace.RoleNone:
				idle += float64(t.End - t.Begin)
			}
		}
		busy += b
		out = append(out, b, b/length)
	}
	out = append(out, busy, idle, busy/length/float64(max(locations, 1)), float64(locations), 0)
	if len(of.locations) > 0 && len(of.regions) > 0 {
		x.lanes(w, func(l *Lane) {
			for i, row := range l.Rows {
				if in(l.Location) && shown(row.Region) {
					out = append(out, float64(row.Begin), float64(row.End), float64(row.End-row.Begin),
						float64(l.exclusive(i)), float64(w.clip(row.Begin, row.End)))
				}
			}
		})
	}
	for _, l := range x.Links {
		if in(l.From) || in(l.To) {
			out = append(out, float64(l.FromTime), float64(l.ToTime), math.Abs(float64(l.ToTime-l.FromTime)),
				float64(l.Size))
		}
	}
	return out
}

// withoutNames takes the names of the run out of a text, longest first: the 3 of "rank 3" is no count.
func (s *speech) withoutNames(text string) string {
	for _, n := range s.longest {
		if holds(text, n) {
			text = strings.ReplaceAll(text, n, "·")
		}
	}
	return text
}

// fieldsOf maps a counted word to fields of data that have another name.
var fieldsOf = map[string][]string{
	"box": {"parts"}, "region": {"rows", "shown", "callees"}, "operator": {"rows"},
	"piece":   {"count", "shorter_than_launch", "value"},
	"message": {"count"}, "launch": {"count"}, "link": {"count"}, "rank": {"locations", "rows"},
	"row": {"spans", "members"},
}

// mostBoxes is the limit that treemap and overview state of their first picture.
const mostBoxes = 256

// howMany reports whether there are so many of a word: by a field or a list of the data with that name, or by the
// raw records. If a text may speak of a part, no more than all.
func (s *speech) howMany(w *Window, n float64, word string) bool {
	x := s.raw
	stem := strings.TrimSuffix(word, "s")
	switch word {
	case "launches", "boxes":
		stem = strings.TrimSuffix(word, "es")
	case "quantities":
		stem = "row"
	}
	var out []float64
	for key, list := range s.counts {
		if strings.Contains(key, stem) || slices.Contains(fieldsOf[stem], key) {
			out = append(out, list...)
		}
	}
	most := -1.0
	switch stem {
	case "box":
		out = append(out, mostBoxes)
	case "location", "row", "lane", "rank":
		holders := x.holders(w)
		most = float64(len(holders)) // of a part
		out = append(out, float64(x.Tree.Len()))
	case "region":
		seen := map[trace.RegionID]bool{}
		for c := range x.totals(w) {
			seen[c.Region] = true
		}
		named := newThings()
		for _, r := range s.records {
			named = named.with(things{nil, r.about.regions})
		}
		ids := 0
		for _, g := range x.Regions { // of one name there may be several
			if named.regions[g.Name] {
				ids++
			}
		}
		out = append(out, float64(len(seen)), float64(len(x.Regions)), float64(len(named.regions)), float64(ids))
	case "call":
		most = 0
		for _, l := range x.Lanes {
			for _, r := range l.Rows {
				if w.begins(r) || w.clip(r.Begin, r.End) > 0 {
					most++
				}
			}
		}
		if !x.timed() {
			for _, v := range x.totals(w) {
				most += v.Calls
			}
		}
	case "link", "message", "launch":
		most = float64(len(x.Links))
	case "level":
		for _, k := range s.counts["level"] {
			most = max(most, k+1)
		}
		out = append(out, s.counts["height"]...)
	case "cell": // a location in a slice of time, or a part of a tree
		for _, k := range s.counts["slices"] {
			for _, l := range s.counts["locations"] {
				out = append(out, k*l)
			}
		}
		for _, k := range append(s.counts["cells"], s.counts["parts"]...) {
			most = max(most, k)
		}
	}
	return n <= most || slices.Contains(out, n)
}

// compared reports whether a share is how two numbers of the sentence's own record compare:
// "38.3 % more".
func (s *speech) compared(text string, f figure) bool {
	if f.unit != "%" {
		return false
	}
	for _, rec := range s.records {
		if !rec.keys[text] {
			continue
		}
		for _, a := range rec.deep {
			for _, b := range rec.deep {
				if b > 0 && f.among([]float64{math.Abs(a/b - 1)}) {
					return true
				}
			}
		}
	}
	return false
}
