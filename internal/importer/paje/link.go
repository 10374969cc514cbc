package paje

import (
	"encoding/binary"
	"math/bits"

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

// pendings are the halves of the links of a shard, by key. Halves of one key are a queue.
type pendings struct {
	halves []half
	count  int // that wait
	free   int32
	short  map[shortKey]queue
	long   map[string]queue
}

type queue struct{ first, last int32 }

// A shortKey identifies a link whose key has up to sixteen bytes, as most have.
type shortKey struct {
	a, b            uint64
	kind, container uint32
	size            uint32
}

func newPendings() pendings {
	return pendings{free: -1, short: map[shortKey]queue{}, long: map[string]queue{}}
}

// A linkKey joins two halves. Only one of both is used.
type linkKey struct {
	short shortKey
	long  []byte // nil for a short one
}

// shortKeyOf joins type, container and key; of a long one, a is a hash.
func shortKeyOf(t *typ, container symbol, key []byte) shortKey {
	k := shortKey{kind: t.index, container: uint32(container), size: uint32(len(key))}
	for ; len(key) > 16; key = key[8:] {
		k.a = bits.RotateLeft64(k.a^binary.LittleEndian.Uint64(key), 29) * golden
	}
	var both [16]byte
	copy(both[:], key)
	k.a, k.b = k.a^binary.LittleEndian.Uint64(both[:8]), binary.LittleEndian.Uint64(both[8:])
	return k
}

// hash is the same for the two ends of a link.
func (k *shortKey) hash() uint64 {
	h := (uint64(k.kind)<<32 | uint64(k.container)) * golden
	h = bits.RotateLeft64(h^k.a, 29) * golden
	return (h ^ k.b) * golden >> 32
}

// whole is all of a key.
func (d *linkDeed) whole(data []byte) linkKey {
	k := linkKey{short: d.key}
	if d.key.size > 16 {
		k.long = binary.LittleEndian.AppendUint32(make([]byte, 0, 8+d.key.size), d.key.kind)
		k.long = append(binary.LittleEndian.AppendUint32(k.long, d.key.container), data[d.text.at:d.text.end]...)
	}
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
	p.count--
	p.halves[q.first].next, p.free = p.free, q.first
	if h.next < 0 {
		p.remove(key)
	} else {
		p.set(key, queue{h.next, q.last})
	}
	return h, true, false
}

// wait adds a half to the queue of its key, which match found empty or with halves of
// the same sort.
func (p *pendings) wait(key *linkKey, h half, alone bool) {
	p.count++
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
		return
	}
	q, _ := p.find(key)
	p.halves[q.last].next = at
	q.last = at
	p.set(key, q)
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

// A linkDeed is an end of a link on its way to the shard of its key.
type linkDeed struct {
	time  trace.Time
	t     *typ
	k     *container
	key   shortKey
	text  span // of the key
	value symbol
	line  uint32 // within the block
	extra uint32 // as the record has it
	shard uint32 // index
	start bool
}

// link takes PajeStartLink and PajeEndLink, in whichever order they come.
func (c *resolver) link(r *record) bool {
	start := r.layout.op == opStartLink
	t, k, known := c.linkEnd(r, start)
	if k == nil {
		return known
	}
	declared := t.start
	if !start {
		declared = t.end
	}
	if declared != nil && declared.index != k.typ {
		c.note(foreignLink)
	}
	if (k.shard == 0 || r.time > k.ended) && !c.ready(k, r.time) {
		return false
	}
	b := c.b
	d := linkDeed{time: r.time, t: t, k: k, text: r.key, value: c.word(r, wordValue, fieldValue), line: r.line,
		extra: r.extra, start: start}
	d.key = shortKeyOf(t, c.word(r, wordContainer, fieldContainer), b.data[r.key.at:r.key.end])
	if r.layout.own {
		c.note(linkFields)
	}
	if start && d.value != noSymbol && d.value != t.word {
		c.note(linkValues)
	}
	b.seen.see(r.time)
	d.shard = uint32(d.key.hash() % uint64(len(c.shards)))
	b.linksOf[d.shard].add(uint32(len(b.links)), c.defines)
	b.links = append(b.links, d)
	return true
}

// linkEnd finds the type of a link and the container of this end.
func (c *resolver) linkEnd(r *record, start bool) (t *typ, k *container, known bool) {
	t, k = c.types.get(r.words[wordType]), c.container(r.words[wordEnd])
	if t == nil || k == nil {
		f := c.again(r)
		side := fieldStart
		if !start {
			side = fieldEnd
		}
		if t = c.typeOf(f.of[fieldType]); t == nil {
			return nil, nil, c.defines
		}
		if k = c.containerOf(f.of[side]); k == nil {
			return nil, nil, c.defines
		}
	}
	if t.op != opLinkType {
		c.note(wrongNature)
		return nil, nil, true
	}
	return t, k, true
}

// link joins an end of a link with its other one; without room it does not wait for that.
func (s *shard) link(b *block, d *linkDeed, room bool) {
	h := half{start: d.start, value: d.value, size: -1, line: b.base + int64(d.line)}
	h.end = trace.End{Location: d.k.location, Time: d.time, Region: trace.NoRegion}
	if d.extra > 0 {
		h.size, h.tag = b.extras[d.extra-1].size, b.extras[d.extra-1].tag
	}
	key := d.whole(b.data)
	other, ok, alone := s.pending.match(&key, d.start)
	switch {
	case ok:
		s.join(d.t, h, other)
	case !room:
		s.tally.Add(farLinks, h.line)
	default:
		s.pending.wait(&key, h, alone)
		if !alone {
			s.tally.Add(keyReused, h.line)
		}
	}
}

// join writes a link whose two ends are known, of which a came last.
func (s *shard) join(t *typ, a, b half) {
	line := a.line
	if !a.start {
		a, b = b, a
	}
	if a.value != b.value {
		s.tally.Add(valueDiffers, line)
	}
	if b.end.Time < a.end.Time {
		s.tally.Add(backwardLink, line)
	}
	s.joined = append(s.joined, trace.Link{
		Kind: t.link, From: a.end, To: b.end, Size: max(a.size, b.size), Tag: max(a.tag, b.tag),
		Communicator: trace.NoCommunicator,
	})
	if len(s.joined) == manyJoined {
		s.flush()
	}
}

// manyJoined are handed over at once: the writer takes links from one shard at a time.
const manyJoined = 256

func (s *shard) flush() {
	trace.AddLinks(s.c.w, s.joined)
	s.joined = s.joined[:0]
}
