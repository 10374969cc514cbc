package view

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Detailed result knows more of some items than it holds: facts that need the store or a
// long computation. Their facts say so (More); the page shows a fact at once and asks for
// the rest.
type Detailed interface {
	Detail(scene.Item, *Fact) error
}

// A Brief is the few things that a glance needs of an item of which there are very many: they
// travel as columns, and there is more to know of each.
type Brief struct {
	Title      string
	On         string // the row it is in
	Region     trace.RegionID
	Begin, End trace.Time
	Count      int64 // how many it stands for
}

// A Briefer has briefs of some of its items, in place of facts.
type Briefer interface {
	Brief(scene.Item) (Brief, bool)
}

// Fact says a brief in words. The page does the same, see web/src/shell/brief.ts.
func (b *Brief) Fact() Fact {
	begin, end := b.Begin, b.End
	f := Fact{Title: b.Title, Begin: &begin, End: &end, More: true}
	if b.Region != trace.NoRegion {
		f.Regions = []trace.RegionID{b.Region}
	}
	if b.Count > 1 {
		f.Count, f.Text = b.Count, "Aggregated: "+Count(int(b.Count), "interval")
	}
	f.Say("location", b.On, "")
	f.SayTime("begin", begin)
	f.SayTime("end", end)
	f.SayTime("duration", end-begin)
	return f.finish()
}

// FactOf says all that is known of an item.
func FactOf(r Result, it scene.Item) (f Fact, found bool, err error) {
	f, found = heldFact(r, it)
	if d, more := r.(Detailed); found && more && f.More {
		if err := d.Detail(it, &f); err != nil {
			return Fact{}, false, err
		}
	}
	f.More = false
	return f.finish(), found, nil
}

// heldFact returns the facts that the result holds of an item.
func heldFact(r Result, it scene.Item) (Fact, bool) {
	if b, ok := briefOf(r, it); ok {
		return b.Fact(), true
	}
	x, ok := r.(Facts)
	if !ok || it.Of == 0 {
		return Fact{}, false
	}
	f, ok := x.Fact(it)
	return f.finish(), ok
}

func briefOf(r Result, it scene.Item) (Brief, bool) {
	if x, ok := r.(Briefer); ok {
		return x.Brief(it)
	}
	return Brief{}, false
}

// minor are labels that a short description leaves out: they are on the axes, or the same
// everywhere.
var minor = map[string]bool{"path": true, "kind": true, "role": true, "category": true, "begin": true, "end": true,
	"from": true, "to": true, "depth": true, "row": true, "lane": true}

// finish makes a fact ready for the page.
func (f Fact) finish() Fact {
	lines := make([]FactLine, len(f.Lines))
	for i, l := range f.Lines {
		l.Minor = minor[l.Label] || l.Text > 0
		lines[i] = l
	}
	f.Lines = lines
	return f
}

// PickAt returns all facts of the item at a place of a scene of the result.
func PickAt(r Result, s *scene.Scene, x, y float64) (f Fact, found bool, err error) {
	it, ok := s.ItemAt(x, y)
	if !ok {
		return Fact{}, false, nil
	}
	return FactOf(r, it)
}

// HeldFacts returns the facts of a scene's items by their number, in JSON of at most so
// many bytes: the page asks for those that are left out. An item without a fact is null.
// Items that are placed or have a brief are left out.
func HeldFacts(r Result, s *scene.Scene, most int) json.RawMessage {
	if len(s.Items) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, it := range s.Items {
		if _, brief := briefOf(r, it); brief || it.Placed {
			continue
		}
		b := []byte("null")
		if f, ok := heldFact(r, it); ok {
			var err error
			if b, err = json.Marshal(f); err != nil {
				break
			}
		}
		if len(out)+len(b) > most {
			break
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = strconv.AppendQuote(out, strconv.Itoa(i))
		out = append(append(out, ':'), b...)
	}
	return append(out, '}')
}

// A BriefBlock is the briefs of items one after the other.
type BriefBlock struct {
	First  int // number of the first item
	Briefs []Brief
}

// HeldBriefs returns the briefs of a scene's items.
func HeldBriefs(r Result, s *scene.Scene) (out []BriefBlock) {
	if _, ok := r.(Briefer); !ok {
		return nil
	}
	for i, it := range s.Items {
		b, ok := briefOf(r, it)
		if !ok {
			continue
		}
		if n := len(out); n == 0 || out[n-1].First+len(out[n-1].Briefs) != i {
			out = append(out, BriefBlock{First: i})
		}
		last := &out[len(out)-1]
		last.Briefs = append(last.Briefs, b)
	}
	return out
}

// Say adds a line; exact may be empty.
func (f *Fact) Say(label, value, exact string) {
	f.Lines = append(f.Lines, FactLine{Label: label, Value: value, Exact: exact})
}

// SayTime adds a time, exact to the nanosecond.
func (f *Fact) SayTime(label string, t trace.Time) {
	f.Say(label, FormatTime(t), Thousands(int64(t))+" ns")
}

// SayCount adds a count.
func (f *Fact) SayCount(label string, n int64) {
	f.Say(label, FormatCount(float64(n)), Thousands(n))
}

// SaySome adds a count that is not 0.
func (f *Fact) SaySome(label string, n int64) {
	if n > 0 {
		f.SayCount(label, n)
	}
}

// SayBytes adds a size.
func (f *Fact) SayBytes(label string, n int64) {
	f.Say(label, FormatBytes(float64(n)), Thousands(n))
}

// SayNumber adds a number as format writes it, and exactly.
func (f *Fact) SayNumber(label string, v float64, format func(float64) string) {
	f.Say(label, format(v), Cell(v))
}

// Signed writes a difference as format writes its size.
func Signed(v float64, format func(float64) string) string {
	if v < 0 {
		return "−" + format(-v)
	}
	return "+" + format(v)
}

// Defined is a number of the JSON output: null if it is not finite.
func Defined(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
