package paje

import (
	"encoding/binary"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// maxPending bounds how many ends wait for their other one.
const maxPending = 1 << 20

// A half is an end of a link that waits for the other one.
type half struct {
	end   trace.End
	start bool
	value symbol
	size  int64
	tag   int64
	line  int64
	next  int32 // in the queue of its key, or among those free; -1 for none
}

// pendings are the halves of all links, by key. Halves of one key are a queue.
type pendings struct {
	halves []half
	free   int32
	queues map[string]queue
	key    []byte
}

type queue struct{ first, last int32 }

func newPendings() pendings { return pendings{free: -1, queues: map[string]queue{}} }

// keyOf joins what a link is known by. It is valid until the next call.
func (p *pendings) keyOf(t *typ, container symbol, key []byte) []byte {
	p.key = binary.LittleEndian.AppendUint32(p.key[:0], t.index)
	p.key = binary.LittleEndian.AppendUint32(p.key, uint32(container))
	p.key = append(p.key, key...)
	return p.key
}

// match takes out the oldest half of the key that is the other end of a start or
// an end.
func (p *pendings) match(key []byte, start bool) (h half, ok bool) {
	q, ok := p.queues[string(key)]
	if !ok || p.halves[q.first].start == start {
		return half{}, false
	}
	h = p.halves[q.first]
	p.halves[q.first].next, p.free = p.free, q.first
	if h.next < 0 {
		delete(p.queues, string(key))
	} else {
		p.queues[string(key)] = queue{h.next, q.last}
	}
	return h, true
}

// wait adds a half to the queue of its key. again says that there was one already.
func (p *pendings) wait(key []byte, h half) (again, full bool) {
	if p.free < 0 && len(p.halves) >= maxPending {
		return false, true
	}
	h.next = -1
	at := p.free
	if at >= 0 {
		p.free = p.halves[at].next
		p.halves[at] = h
	} else {
		at = int32(len(p.halves))
		p.halves = append(p.halves, h)
	}
	q, again := p.queues[string(key)]
	if again {
		p.halves[q.last].next = at
		q.last = at
	} else {
		q = queue{at, at}
	}
	p.queues[string(key)] = q
	return again, false
}

// left counts the halves that never met, with the first line of each sort.
func (p *pendings) left(t *tally) {
	for _, q := range p.queues {
		for at := q.first; at >= 0; at = p.halves[at].next {
			why := linkEnds
			if p.halves[at].start {
				why = linkStarts
			}
			if line := p.halves[at].line; t.count[why] == 0 || line < t.first[why] {
				t.first[why] = line
			}
			t.count[why]++
		}
	}
}

// link takes PajeStartLink and PajeEndLink, in whichever order they come.
func (c *converter) link(r *record, data []byte) {
	line := c.base + int64(r.line)
	start := r.layout.op == opStartLink
	t, k := c.linkEnd(r, start, line)
	if k == nil {
		return
	}
	declared := t.start
	if !start {
		declared = t.end
	}
	if declared != nil && declared != k.typ {
		c.tally.add(foreignLink, line)
	}
	if k.isEnded && r.time > k.ended {
		c.tally.add(afterDestroy, line)
	}
	c.see(r.time)
	if k.lifeless {
		c.defineRoot(k)
	}
	h := half{end: trace.End{Location: k.location, Time: r.time, Region: trace.NoRegion}, start: start, value: r.value, size: -1, line: line}
	if r.layout.own {
		c.linkFields(&h, r)
	}
	if start && r.value != noSymbol && r.value != t.word {
		c.tally.add(linkValues, line)
	}
	key := c.pending.keyOf(t, r.container, data[r.key.at:r.key.end])
	other, ok := c.pending.match(key, start)
	if !ok {
		again, full := c.pending.wait(key, h)
		if full {
			c.tally.add(farLinks, line)
		} else if again {
			c.tally.add(keyReused, line)
		}
		return
	}
	c.join(t, h, other, line)
}

// linkEnd finds the type of a link and the container of this end.
func (c *converter) linkEnd(r *record, start bool, line int64) (*typ, *container) {
	t, k := c.types.get(r.kind, nil), c.containers.get(r.other, nil)
	if t == nil || k == nil {
		f := c.again(r)
		side := fieldStart
		if !start {
			side = fieldEnd
		}
		if t = c.typeOf(r.kind, f.of[fieldType], line); t == nil {
			return nil, nil
		}
		if k = c.containerOf(r.other, f.of[side], line); k == nil {
			return nil, nil
		}
	}
	if t.op != opLinkType {
		c.tally.add(wrongNature, line)
		return nil, nil
	}
	return t, k
}

// linkFields takes size and tag from the writer's own fields.
func (c *converter) linkFields(h *half, r *record) {
	for _, own := range c.again(r).own {
		n, err := strconv.ParseInt(string(own.word), 10, 64)
		if f, ok := parseNumber(own.word); err != nil && ok && f >= 0 && f < 1<<62 {
			n, err = int64(f), nil
		}
		switch {
		case len(own.word) == 0:
		case own.name == "Size" && err == nil && n >= 0:
			h.size = n
		case (own.name == "Tag" || own.name == "MPITAG") && err == nil:
			h.tag = n
		default:
			c.tally.add(linkFields, h.line)
		}
	}
}

// join writes a link whose two ends are known.
func (c *converter) join(t *typ, a, b half, line int64) {
	if !a.start {
		a, b = b, a
	}
	if a.value != b.value {
		c.tally.add(valueDiffers, line)
	}
	if b.end.Time < a.end.Time {
		c.tally.add(backwardLink, line)
	}
	c.w.Link(trace.Link{
		Kind: t.link, From: a.end, To: b.end, Size: max(a.size, b.size), Tag: max(a.tag, b.tag), Communicator: trace.NoCommunicator,
	})
}
