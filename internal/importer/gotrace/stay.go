package gotrace

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An inner is something that happened on a P next to the states and stays: a system
// call, a range.
type inner struct {
	begin, end trace.Time
	region     trace.RegionID
	facts      []fact
}

// An openInner is one that is entered and not yet left.
type openInner struct {
	end    trace.Time
	region trace.RegionID
}

type fact struct {
	id    trace.AttributeID
	value trace.Value
}

// mostInner bounds the intervals held for one stay.
const mostInner = 1 << 12

// happened takes an interval that ended on a P. In a stay it is held until that is written.
func (c *actors) happened(p *processor, i inner) {
	if p.g == nil || i.begin < p.stay {
		p.write([]inner{i})
		return
	}
	if p.inner = append(p.inner, i); len(p.inner) >= mostInner {
		c.beginStay(p)
		p.flush()
	}
}

// heldFacts is the number of facts of the held intervals.
func (p *processor) heldFacts() int {
	if len(p.inner) == 0 {
		p.facts = p.facts[:0]
	}
	return len(p.facts)
}

// beginStay writes that a goroutine has come to a P.
func (c *actors) beginStay(p *processor) {
	if p.begun || p.stay < p.written {
		return
	}
	c.locate(p.g)
	p.stream.Enter(p.stay, p.g.start.region)
	p.stream.Attribute(c.attr.goroutine, trace.Integer(int64(p.g.id)))
	p.written, p.begun = p.stay, true
}

// endStay writes that the goroutine leaves its P.
func (c *actors) endStay(t trace.Time, p *processor) {
	c.beginStay(p)
	p.flush()
	if !p.begun { // it began before the last written interval
		c.locate(p.g)
		p.stream.Interval(p.stay, t, p.g.start.region)
		p.stream.Attribute(c.attr.goroutine, trace.Integer(int64(p.g.id)))
		return
	}
	p.stream.Leave(t, p.g.start.region)
	p.written = t
}

// flush writes the held intervals.
func (p *processor) flush() {
	if len(p.inner) > 0 {
		p.write(p.inner)
		clear(p.inner)
		p.inner = p.inner[:0]
	}
}

// write writes ended intervals, outer first. One that crosses another, or begins
// before the last written one, is written whole.
func (p *processor) write(list []inner) {
	if len(list) > 1 {
		slices.SortStableFunc(list,
			func(a, b inner) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	}
	for k := range list {
		i := &list[k]
		p.leave(i.begin)
		if n := len(p.open); i.begin < p.written || n > 0 && i.end > p.open[n-1].end {
			p.stream.Interval(i.begin, i.end, i.region)
		} else {
			p.stream.Enter(i.begin, i.region)
			p.written, p.open = i.begin, append(p.open, openInner{i.end, i.region})
		}
		for _, f := range i.facts {
			p.stream.Attribute(f.id, f.value)
		}
	}
	p.leave(math.MaxInt64)
}

// leave ends open intervals that end by a time.
func (p *processor) leave(until trace.Time) {
	for n := len(p.open) - 1; n >= 0 && p.open[n].end <= until; n-- {
		p.stream.Leave(p.open[n].end, p.open[n].region)
		p.written, p.open = p.open[n].end, p.open[:n]
	}
}
