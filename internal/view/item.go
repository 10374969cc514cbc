package view

import (
	"encoding/json"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Detailed result knows more of its items than it holds: what takes the store or a
// long look. The page shows a fact at once and asks for the rest.
type Detailed interface {
	Detail(scene.Item, *Fact)
}

// FactOf says all that is known of an item.
func FactOf(r Result, it scene.Item) (Fact, bool) {
	f, ok := heldFact(r, it)
	if d, more := r.(Detailed); ok && more {
		d.Detail(it, &f)
	}
	f.More = false
	return f.finish(), ok
}

// heldFact says what the result holds of an item.
func heldFact(r Result, it scene.Item) (Fact, bool) {
	x, ok := r.(Facts)
	if !ok || it.Of == 0 {
		return Fact{}, false
	}
	f, ok := x.Fact(it)
	_, f.More = r.(Detailed)
	return f.finish(), ok
}

// minor are labels of what a glance does without: it is on the axes, or the same all over.
var minor = map[string]bool{"path": true, "kind": true, "role": true, "category": true, "begin": true, "end": true, "from": true, "to": true, "depth": true, "row": true, "lane": true}

// finish makes a fact ready for the page.
func (f Fact) finish() Fact {
	lines := make([]FactLine, len(f.Lines))
	for i, l := range f.Lines {
		l.Minor = minor[l.Label]
		lines[i] = l
	}
	f.Lines = lines
	return f
}

// PickAt says all that is known of what is at a place of a scene of the result.
func PickAt(r Result, s *scene.Scene, x, y float64) (Fact, bool) {
	if p, ok := r.(Picker); ok {
		f, ok := p.Pick(x, y)
		return f.finish(), ok
	}
	it, ok := s.ItemAt(x, y)
	if !ok {
		return Fact{}, false
	}
	return FactOf(r, it)
}

// HeldFacts gives the facts of a scene's items in their order, as a list in JSON of at
// most so many bytes: the page asks for those that are left out. An item without a fact
// is null.
func HeldFacts(r Result, s *scene.Scene, most int) json.RawMessage {
	if len(s.Items) == 0 {
		return nil
	}
	out := []byte{'['}
	for i, it := range s.Items {
		b := []byte("null")
		if f, ok := heldFact(r, it); ok && !it.Placed {
			var err error
			if b, err = json.Marshal(f); err != nil {
				break
			}
		}
		if len(out)+len(b) > most {
			break
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b...)
	}
	return append(out, ']')
}

// Say adds a line; exact may be empty.
func (f *Fact) Say(label, value, exact string) {
	f.Lines = append(f.Lines, FactLine{Label: label, Value: value, Exact: exact})
}

// SayTime adds a time, exact to the nanosecond.
func (f *Fact) SayTime(label string, t trace.Time) {
	f.Say(label, FormatTime(t), Thousands(int64(t))+" ns")
}

// SayNumber adds a number as format writes it, and exactly.
func (f *Fact) SayNumber(label string, v float64, format func(float64) string) {
	f.Say(label, format(v), Cell(v))
}

// Defined is a number of the JSON twin: null where it is not finite.
func Defined(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
