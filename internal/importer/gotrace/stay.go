package gotrace

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An inner is something that happened on a P beside the states and stays: a system
// call, a range.
type inner struct {
	begin, end trace.Time
	region     trace.RegionID
	facts      []fact
}

type fact struct {
	id    trace.AttributeID
	value trace.Value
}

// mostInner bounds what is held of one stay.
const mostInner = 1 << 12

// happened takes what ended on a P. In a stay it is held until that is written.
func (c *converter) happened(p *processor, i inner) {
	if p.g == nil || i.begin < p.stay {
		p.write([]inner{i})
		return
	}
	if p.inner = append(p.inner, i); len(p.inner) >= mostInner {
		c.beginStay(p)
		p.flush()
	}
}

// beginStay writes that a goroutine has come to a P.
func (c *converter) beginStay(p *processor) {
	if p.begun || p.stay < p.written {
		return
	}
	c.locate(p.g)
	p.stream.Enter(p.stay, p.g.region)
	p.stream.Attribute(c.attr.goroutine, trace.Integer(int64(p.g.id)))
	p.written, p.begun = p.stay, true
}

// endStay writes that the goroutine leaves its P.
func (c *converter) endStay(t trace.Time, p *processor) {
	c.beginStay(p)
	p.flush()
	if !p.begun { // it began before what is written already
		c.locate(p.g)
		p.stream.Interval(p.stay, t, p.g.region)
		p.stream.Attribute(c.attr.goroutine, trace.Integer(int64(p.g.id)))
		return
	}
	p.stream.Leave(t, p.g.region)
	p.written = t
}

// flush writes what is held.
func (p *processor) flush() {
	if len(p.inner) > 0 {
		p.write(p.inner)
		clear(p.inner)
		p.inner = p.inner[:0]
	}
}

// write writes what ended, outer first. What crosses another, or begins before what
// is written already, is written whole.
func (p *processor) write(list []inner) {
	if len(list) > 1 {
		slices.SortStableFunc(list, func(a, b inner) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	}
	var open []inner
	leave := func(until trace.Time) {
		for n := len(open) - 1; n >= 0 && open[n].end <= until; n-- {
			p.stream.Leave(open[n].end, open[n].region)
			p.written, open = open[n].end, open[:n]
		}
	}
	for _, i := range list {
		leave(i.begin)
		if i.begin < p.written || len(open) > 0 && i.end > open[len(open)-1].end {
			p.stream.Interval(i.begin, i.end, i.region)
		} else {
			p.stream.Enter(i.begin, i.region)
			p.written, open = i.begin, append(open, i)
		}
		for _, f := range i.facts {
			p.stream.Attribute(f.id, f.value)
		}
	}
	leave(1<<63 - 1)
}
