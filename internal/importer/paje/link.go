package paje

import (
	"encoding/binary"

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
	short  map[shortKey]queue
	long   map[string]queue
}

type queue struct{ first, last int32 }

// A shortKey is what a link is known by where its key has up to sixteen bytes, as
// most have.
type shortKey struct {
	a, b            uint64
	kind, container uint32
	size            uint32
}

func newPendings() pendings {
	return pendings{free: -1, short: map[shortKey]queue{}, long: map[string]queue{}}
}

// A linkKey is what joins two halves. Only one of both is used.
type linkKey struct {
	short shortKey
	long  []byte // nil for a short one
}

// keyOf joins type, container and key.
func keyOf(t *typ, container symbol, key []byte) linkKey {
	k := linkKey{short: shortKey{kind: t.index, container: uint32(container), size: uint32(len(key))}}
	if len(key) > 16 {
		k.long = binary.LittleEndian.AppendUint32(make([]byte, 0, 8+len(key)), t.index)
		k.long = append(binary.LittleEndian.AppendUint32(k.long, uint32(container)), key...)
		return k
	}
	var both [16]byte
	copy(both[:], key)
	k.short.a, k.short.b = binary.LittleEndian.Uint64(both[:8]), binary.LittleEndian.Uint64(both[8:])
	return k
}

func (p *pendings) find(k *linkKey) (queue, bool) {
	if k.long != nil {
		q, ok := p.long[string(k.long)]
		return q, ok
	}
	q, ok := p.short[k.short]
	return q, ok
}

func (p *pendings) set(k *linkKey, q queue) {
	if k.long != nil {
		p.long[string(k.long)] = q
		return
	}
	p.short[k.short] = q
}

func (p *pendings) remove(k *linkKey) {
	if k.long != nil {
		delete(p.long, string(k.long))
		return
	}
	delete(p.short, k.short)
}

// match takes out the oldest half of the key that is the other end of a start or
// an end. alone says that no half of the key waits at all.
func (p *pendings) match(key *linkKey, start bool) (h half, ok, alone bool) {
	q, ok := p.find(key)
	if !ok || p.halves[q.first].start == start {
		return half{}, false, !ok
	}
	h = p.halves[q.first]
	p.halves[q.first].next, p.free = p.free, q.first
	if h.next < 0 {
		p.remove(key)
	} else {
		p.set(key, queue{h.next, q.last})
	}
	return h, true, false
}

// wait adds a half to the queue of its key, which match found empty or with halves of
// the same sort. again says that there were some.
func (p *pendings) wait(key *linkKey, h half, alone bool) (again, full bool) {
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
	if alone {
		p.set(key, queue{at, at})
		return false, false
	}
	q, _ := p.find(key)
	p.halves[q.last].next = at
	q.last = at
	p.set(key, q)
	return true, false
}

// left counts the halves that never met, with the first line of each sort.
func (p *pendings) left(t *tally) {
	for _, q := range p.short {
		p.leftIn(q, t)
	}
	for _, q := range p.long {
		p.leftIn(q, t)
	}
}

func (p *pendings) leftIn(q queue, t *tally) {
	for at := q.first; at >= 0; at = p.halves[at].next {
		why := linkEnds
		if p.halves[at].start {
			why = linkStarts
		}
		t.Add(why, p.halves[at].line)
	}
}

// link takes PajeStartLink and PajeEndLink, in whichever order they come.
func (c *converter) link(r *record, b *block) {
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
	if declared != nil && declared.index != k.typ {
		c.tally.Add(foreignLink, line)
	}
	if r.time > k.ended {
		c.tally.Add(afterDestroy, line)
	}
	c.see(r.time)
	if k.location == trace.NoLocation {
		c.defineRoot(k)
	}
	carried := c.word(r, wordValue, fieldValue)
	h := half{end: trace.End{Location: k.location, Time: r.time, Region: trace.NoRegion}, start: start, value: carried, size: -1, line: line}
	if r.extra > 0 {
		h.size, h.tag = b.extras[r.extra-1].size, b.extras[r.extra-1].tag
	}
	if r.layout.own {
		c.tally.Add(linkFields, line)
	}
	if start && carried != noSymbol && carried != t.word {
		c.tally.Add(linkValues, line)
	}
	key := keyOf(t, c.word(r, wordContainer, fieldContainer), b.data[r.key.at:r.key.end])
	other, ok, alone := c.pending.match(&key, start)
	if !ok {
		again, full := c.pending.wait(&key, h, alone)
		if full {
			c.tally.Add(farLinks, line)
		} else if again {
			c.tally.Add(keyReused, line)
		}
		return
	}
	c.join(t, h, other, line)
}

// linkEnd finds the type of a link and the container of this end.
func (c *converter) linkEnd(r *record, start bool, line int64) (*typ, *container) {
	t, k := c.types.get(r.words[wordType]), c.container(r.words[wordEnd])
	if t == nil || k == nil {
		f := c.again(r)
		side := fieldStart
		if !start {
			side = fieldEnd
		}
		if t = c.typeOf(f.of[fieldType], line); t == nil {
			return nil, nil
		}
		if k = c.containerOf(f.of[side], line); k == nil {
			return nil, nil
		}
	}
	if t.op != opLinkType {
		c.tally.Add(wrongNature, line)
		return nil, nil
	}
	return t, k
}

// join writes a link whose two ends are known.
func (c *converter) join(t *typ, a, b half, line int64) {
	if !a.start {
		a, b = b, a
	}
	if a.value != b.value {
		c.tally.Add(valueDiffers, line)
	}
	if b.end.Time < a.end.Time {
		c.tally.Add(backwardLink, line)
	}
	c.w.Link(trace.Link{
		Kind: t.link, From: a.end, To: b.end, Size: max(a.size, b.size), Tag: max(a.tag, b.tag), Communicator: trace.NoCommunicator,
	})
}
