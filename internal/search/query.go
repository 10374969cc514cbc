// Package search finds intervals by words: a part of the region's name, an attribute, an id, a duration. `mm >5ms
// stream=7` are calls with "mm" in their name that take more than five milliseconds on stream 7. All words must
// hold; letter case does not count. The package also finds the causes and effects of an interval.
package search

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Query is a condition on intervals.
type Query struct {
	words      []string // lower case; each is part of a name, or else the value of an attribute
	duration   span
	exclusive  span
	attributes []condition
}

// A span is a range of values, both ends included.
type span struct{ from, to float64 }

var anything = span{math.Inf(-1), math.Inf(1)}

func (s span) has(x float64) bool { return x >= s.from && x <= s.to }

// narrow cuts a span by a comparison.
func (s *span) narrow(op string, x float64) {
	switch op {
	case ">":
		s.from = max(s.from, math.Nextafter(x, math.Inf(1)))
	case ">=":
		s.from = max(s.from, x)
	case "<":
		s.to = min(s.to, math.Nextafter(x, math.Inf(-1)))
	case "<=":
		s.to = min(s.to, x)
	case "=":
		s.from, s.to = max(s.from, x), min(s.to, x)
	}
}

// A condition is on one attribute: a part of its text, or a number in a span.
type condition struct {
	name   string // lower case
	text   string // lower case; of a text, "" for any
	number *span  // nil: only texts can hold
}

var comparison = regexp.MustCompile(`^([\p{L}_][\p{L}\p{N}_. /-]*)?(<=|>=|<|>|=)(.*)$`)

// Parse reads a query. Words are parted by blanks, which quotes keep together:
// `"data loader" >1ms`, `name="a b"`.
func Parse(text string) (*Query, error) {
	q := &Query{duration: anything, exclusive: anything}
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	for _, w := range words {
		m := comparison.FindStringSubmatch(w.text)
		if m == nil || w.quoted || m[1] == "" && m[2] == "=" {
			q.words = append(q.words, strings.ToLower(w.text))
			continue
		}
		if err := q.compare(strings.ToLower(m[1]), m[2], m[3]); err != nil {
			return nil, err
		}
	}
	if len(words) == 0 {
		return nil, errors.New("nothing to search for")
	}
	return q, nil
}

func (q *Query) compare(name, op, value string) error {
	switch name {
	case "", "duration", "self", "exclusive":
		t, err := view.ParseTime(value, 0)
		if err != nil || value == "" || strings.HasSuffix(value, "%") {
			return fmt.Errorf("%s%s%s: want a duration, such as >5ms or self<20us", name, op, value)
		}
		of := &q.duration
		if name == "self" || name == "exclusive" {
			of = &q.exclusive
		}
		of.narrow(op, float64(t))
		return nil
	}
	c := condition{name: name, text: strings.ToLower(value)}
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		c.number = &span{anything.from, anything.to}
		c.number.narrow(op, x)
	} else if op != "=" {
		return fmt.Errorf("%s%s%s: want a number after %s, such as bytes>1e6", name, op, value, op)
	}
	q.attributes = append(q.attributes, c)
	return nil
}

type word struct {
	text   string
	quoted bool // as a whole: it is no comparison
}

func split(text string) (out []word, err error) {
	var b strings.Builder
	in, begun, quoted := false, false, false
	end := func() {
		if begun {
			out = append(out, word{b.String(), quoted})
		}
		b.Reset()
		begun, quoted = false, false
	}
	for _, r := range text {
		switch {
		case r == '"':
			if !begun {
				quoted = true
			}
			in, begun = !in, true
		case r == ' ' && !in:
			end()
		default:
			begun = true
			b.WriteRune(r)
		}
	}
	if in {
		return nil, fmt.Errorf("%s: a quote is not closed", text)
	}
	end()
	return out, nil
}

// holds reports whether a value fulfils a condition.
func (c *condition) holds(v trace.Value) bool {
	if v.Kind == trace.ValueText {
		return strings.Contains(strings.ToLower(v.String()), c.text)
	}
	if c.number == nil {
		return c.text == ""
	}
	x, ok := v.Number()
	return ok && c.number.has(x)
}

// A plan is a query against the words of one run.
type plan struct {
	*Query
	regions []bool // those with all words in their name; nil: any
	// any are words that no region has: they are looked for in the values of attributes.
	any []string
}

func (q *Query) plan(r store.Reader) *plan {
	p := &plan{Query: q}
	names := r.Regions()
	for _, w := range q.words {
		mask, some := make([]bool, len(names)), false
		for i := range names {
			mask[i] = strings.Contains(strings.ToLower(names[i].Name), w)
			some = some || mask[i]
		}
		switch {
		case !some:
			p.any = append(p.any, w)
		case p.regions == nil:
			p.regions = mask
		default:
			for i := range mask {
				p.regions[i] = p.regions[i] && mask[i]
			}
		}
	}
	return p
}
