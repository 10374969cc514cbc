package table

import (
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Op compares a column with a value.
type Op string

// The comparisons that a filter knows.
const (
	Equal   Op = "="
	Less    Op = "<"
	AtMost  Op = "<="
	More    Op = ">"
	AtLeast Op = ">="
	Like    Op = "like" // as in SQL: % for any text, _ for one character, ASCII letters in either case
)

// A Condition is one comparison.
type Condition struct {
	Column string
	Op     Op
	Value  any // int64, float64, string or nil
}

// A Filter holds conditions that all hold for the rows wanted, and the arguments of a
// function. The zero Filter wants all rows.
type Filter struct {
	Conditions []Condition
	Arguments  map[string]any
}

// Between returns the whole numbers that the conditions on a column leave, both ends
// included; lo > hi where none is left.
func (f *Filter) Between(column string) (lo, hi int64) {
	lo, hi = math.MinInt64, math.MaxInt64
	for _, c := range f.Conditions {
		if c.Column != column {
			continue
		}
		from, to, ok := bounds(c.Op, c.Value)
		if ok {
			lo, hi = max(lo, from), min(hi, to)
		}
	}
	return lo, hi
}

// bounds returns the whole numbers that compare so with a value; false if they are not a range.
func bounds(op Op, value any) (lo, hi int64, ok bool) {
	lo, hi = math.MinInt64, math.MaxInt64
	below, above := int64(0), int64(0) // the whole numbers around the value; the value itself twice
	switch v := value.(type) {
	case int64:
		below, above = v, v
	case float64:
		if math.IsNaN(v) || math.Abs(v) >= 1<<62 {
			return lo, hi, false
		}
		below, above = int64(math.Floor(v)), int64(math.Ceil(v))
	default:
		return lo, hi, false
	}
	whole := below == above
	switch op {
	case Equal:
		if !whole {
			return 1, 0, true
		}
		return below, below, true
	case Less:
		hi = below
		if whole {
			if below == math.MinInt64 {
				return 1, 0, true
			}
			hi--
		}
	case AtMost:
		hi = below
	case More:
		lo = above
		if whole {
			if above == math.MaxInt64 {
				return 1, 0, true
			}
			lo++
		}
	case AtLeast:
		lo = above
	default:
		return lo, hi, false
	}
	return lo, hi, true
}

// Words returns a test of the strings that the conditions on a column leave; nil: all.
func (f *Filter) Words(column string) func(string) bool {
	var tests []func(string) bool
	for _, c := range f.Conditions {
		want, isText := c.Value.(string)
		if c.Column != column || !isText {
			continue
		}
		switch c.Op {
		case Equal:
			tests = append(tests, func(s string) bool { return s == want })
		case Like:
			tests = append(tests, func(s string) bool { return like(want, s) })
		}
	}
	if tests == nil {
		return nil
	}
	return func(s string) bool {
		for _, t := range tests {
			if !t(s) {
				return false
			}
		}
		return true
	}
}

// like implements LIKE of SQLite.
func like(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, mark, i, j := -1, 0, 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '%':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '_' || fold(p[i]) == fold(t[j])):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '%' {
		i++
	}
	return i == len(p)
}

func fold(c rune) rune {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// A where is the locations that a filter leaves.
type where struct {
	first, last int64 // ids, both included
	test        func(trace.LocationID) bool
}

func (w *where) has(id trace.LocationID) bool {
	return int64(id) >= w.first && int64(id) <= w.last && (w.test == nil || w.test(id))
}

// none reports whether no location can be left.
func (w *where) none() bool { return w.first > w.last }

// locations reads the conditions on columns that name a location; prefix is that of
// their names: "from_".
func (f *Filter) locations(r *Run, prefix string) where {
	w := where{}
	w.first, w.last = f.Between(prefix + "location")
	w.first, w.last = max(w.first, 0), min(w.last, int64(r.Store.Locations().Len())-1)
	paths := f.Words(prefix + "path")
	least, most := f.Between(prefix + "rank")
	if paths == nil && least == math.MinInt64 && most == math.MaxInt64 {
		return w
	}
	tree := r.Store.Locations()
	w.test = func(id trace.LocationID) bool {
		if n := int64(tree.Rank[id]); n < least || n > most {
			return false
		}
		return paths == nil || paths(strings.ToValidUTF8(tree.Path(id), "\uFFFD"))
	}
	return w
}

// regions reads the conditions on columns that name a region: true for those left, nil for all.
func (f *Filter) regions(r *Run) []bool {
	lo, hi := f.Between("region_id")
	name, category, role := f.Words("region"), f.Words("category"), f.Words("role")
	if lo == math.MinInt64 && hi == math.MaxInt64 && name == nil && category == nil && role == nil {
		return nil
	}
	all := r.Store.Regions()
	keep := make([]bool, len(all))
	for id := range all {
		g := &all[id]
		keep[id] = int64(id) >= lo && int64(id) <= hi &&
			(name == nil || name(strings.ToValidUTF8(g.Name, "\uFFFD"))) &&
			(category == nil || category(strings.ToValidUTF8(g.Category, "\uFFFD"))) &&
			(role == nil || role(g.Role.String()))
	}
	return keep
}

// nothing reports whether a set of regions holds none at all; nil is all of them.
func nothing(regions []bool) bool { return regions != nil && !slices.Contains(regions, true) }

// argument reads a whole number given to a function; not given or null: the default.
func (f *Filter) argument(name string, otherwise int64) int64 {
	switch v := f.Arguments[name].(type) {
	case int64:
		return v
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v)
		}
	}
	return otherwise
}

func (f *Filter) word(name, otherwise string) string {
	if s, ok := f.Arguments[name].(string); ok {
		return s
	}
	return otherwise
}
