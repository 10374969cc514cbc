package sides

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// attributes compares the attributes of the locations themselves: numbers as they are,
// words by how many units have them. An attribute that is different for every unit, such
// as a name or a process id, identifies the unit but does not describe it, so it is left
// out.
func (g *gatherer) attributes() {
	if !g.r.by["attribute"] || g.r.Paired {
		return
	}
	var keys []string
	facts := [2][]map[string]trace.Value{}
	for i := range g.r.Sides {
		s := &g.r.Sides[i]
		for _, u := range s.Units {
			facts[i] = append(facts[i], s.factsOf(u))
		}
		for _, f := range facts[i] {
			for k := range f {
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if !identifies(k) {
			g.attribute(k, facts)
		}
	}
}

// factsOf gathers the attributes of a unit and of all above it; the nearest wins.
// Nodes above give their name under their kind.
func (s *Side) factsOf(u trace.LocationID) map[string]trace.Value {
	out := map[string]trace.Value{}
	for id := u; id != trace.NoLocation; id = s.Tree.Parent[id] {
		for _, a := range s.Tree.Attributes[id] {
			if _, known := out[a.Key]; !known {
				out[a.Key] = a.Value
			}
		}
		if kind := string(s.Tree.Kind[id]); id != u && kind != "" {
			if _, known := out[kind]; !known {
				out[kind] = trace.Text(s.Tree.Name[id])
			}
		}
	}
	return out
}

// identifying are words in names of attributes that identify something.
var identifying = []string{"pid", "ppid", "tid", "tgid", "port", "address", "addr", "ip", "uuid", "guid", "id", "ids",
	"handle", "pointer", "ptr", "hash", "fd", "socket", "url", "path", "file", "seed", "timestamp", "time", "date",
	"started"}

// identifies reports whether an attribute tells who a location is, such as a process id,
// a port or an address: such a number is never a cause, even where some share it.
func identifies(name string) bool {
	word := strings.Builder{}
	last := rune(0)
	for _, c := range name + " " {
		if unicode.IsUpper(c) && unicode.IsLower(last) || !unicode.IsLetter(c) {
			if slices.Contains(identifying, strings.ToLower(word.String())) {
				return true
			}
			word.Reset()
		}
		if unicode.IsLetter(c) {
			word.WriteRune(c)
		}
		last = c
	}
	return false
}

// mostWords is how many different words an attribute may have.
const mostWords = 1000

func (g *gatherer) attribute(name string, facts [2][]map[string]trace.Value) {
	counts := map[string][2]int{}
	numbers, n := true, 0
	for i := range facts {
		for _, f := range facts[i] {
			v, ok := f[name]
			if !ok {
				numbers = false
				continue
			}
			n++
			c := counts[v.String()]
			c[i]++
			counts[v.String()] = c
			if x, ok := v.Number(); v.Kind == trace.ValueText || !ok || math.IsNaN(x) || math.IsInf(x, 0) {
				numbers = false
			}
		}
	}
	if len(counts) < 2 && n == len(facts[0])+len(facts[1]) || len(counts) == n || len(counts) > mostWords {
		return
	}
	if numbers {
		q := g.at(key{"attribute", name, ""}, "")
		for i := range facts {
			for u, f := range facts[i] {
				v, _ := f[name].Number()
				g.add(q, i, int32(u), v)
			}
		}
		return
	}
	word, best := "", 0.0
	for _, w := range sortedKeys(counts) {
		c := counts[w]
		d := math.Abs(float64(c[0])/float64(len(facts[0])) - float64(c[1])/float64(len(facts[1])))
		if d > best {
			word, best = w, d
		}
	}
	if best == 0 {
		return
	}
	q := g.at(key{"attribute", name + " is " + word, ""}, "share")
	q.whole = 1
	for i := range facts {
		for u, f := range facts[i] {
			v := 0.0
			if x, ok := f[name]; ok && x.String() == word {
				v = 1
			}
			g.add(q, i, int32(u), v)
		}
	}
}

func sortedKeys(m map[string][2]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
