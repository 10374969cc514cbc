package share

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// appendHead appends the head of a long block.
func (d *Digest) appendHead(b trace.Block) trace.Block {
	for _, t := range d.Role {
		b = binary.LittleEndian.AppendUint64(b, uint64(t))
	}
	for _, v := range [...]uint64{
		uint64(d.Rows), uint64(d.Empty), uint64(d.Longest.Duration), uint64(d.Longest.Region),
		uint64(d.Shortest.Duration), uint64(d.Shortest.Region), uint64(d.Last), uint64(d.Slack),
	} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Words of the head after the time of each role.
const (
	wordRows = trace.RoleCount + iota
	wordEmpty
	wordLongest // duration, then region
	_
	wordShortest
	_
	wordLast
	wordSlack
)

func isLong(b trace.Block) bool { return len(b) >= longHead && (len(b)-longHead)%longEntry == 0 }

func word(b trace.Block, i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }

func setWord(b trace.Block, i int, v uint64) { binary.LittleEndian.PutUint64(b[8*i:], v) }

func extremeAt(b trace.Block, i int) Extreme {
	return Extreme{trace.Time(word(b, i)), trace.RegionID(word(b, i+1))}
}

func setExtreme(b trace.Block, i int, x Extreme) {
	setWord(b, i, uint64(x.Duration))
	setWord(b, i+1, uint64(x.Region))
}

// mergeHeads adds the head of the neighbour that follows to that of a long block.
func mergeHeads(to, b trace.Block) {
	to, b = to[:longHead], b[:longHead]
	for i := range wordLongest { // roles, rows and empty ones
		setWord(to, i, word(to, i)+word(b, i))
	}
	setWord(to, wordSlack, word(to, wordSlack)+word(b, wordSlack))
	setExtreme(to, wordLongest, longer(extremeAt(to, wordLongest), extremeAt(b, wordLongest)))
	setExtreme(to, wordShortest, shorter(extremeAt(to, wordShortest), extremeAt(b, wordShortest)))
	if last := word(b, wordLast); trace.RegionID(last) != trace.NoRegion {
		setWord(to, wordLast, last)
	}
}

// head reads the head of a long block; it reports false for bytes that are no long block.
func (d *Digest) head(b trace.Block) bool {
	if !isLong(b) {
		return false
	}
	b = b[:longHead]
	for i := range d.Role {
		d.Role[i] = trace.Time(word(b, i))
	}
	d.Rows, d.Empty = int64(word(b, wordRows)), int64(word(b, wordEmpty))
	d.Longest, d.Shortest = extremeAt(b, wordLongest), extremeAt(b, wordShortest)
	d.Last, d.Slack = trace.RegionID(word(b, wordLast)), trace.Time(word(b, wordSlack))
	return true
}

func appendEntry(b trace.Block, r trace.RegionID, t trace.Time) trace.Block {
	b = binary.LittleEndian.AppendUint32(b, uint32(r))
	return binary.LittleEndian.AppendUint64(b, uint64(t))
}

func entryAt(b trace.Block) Entry {
	return Entry{trace.RegionID(binary.LittleEndian.Uint32(b)), trace.Time(binary.LittleEndian.Uint64(b[4:]))}
}

// before orders entries by time, most first, then by id.
func before(a, b Entry) bool { return a.Time > b.Time || a.Time == b.Time && a.Region < b.Region }

// list fills in the regions with the most time, and the bounds of the others.
func (d *Digest) list(entries trace.Block) {
	known := trace.Time(0)
	for ; len(entries) > 0; entries = entries[longEntry:] {
		e := entryAt(entries)
		known += e.Time
		if d.Count == Listed && !before(e, d.Top[Listed-1]) {
			d.Rest = max(d.Rest, e.Time)
			continue
		}
		d.insert(e)
	}
	d.Slack = min(d.Slack, d.Open()-known)
	switch {
	case d.Slack == 0:
		d.Decided = true
	case d.Count > 0:
		second := d.Rest
		if d.Count > 1 {
			second = d.Top[1].Time
		}
		d.Decided = second+d.Slack < d.Top[0].Time
	}
}

// insert puts e in its place in Top; an entry that falls out joins the rest.
func (d *Digest) insert(e Entry) {
	if d.Count == Listed {
		d.Count--
		d.Rest = max(d.Rest, d.Top[d.Count].Time)
	}
	i := d.Count
	for i > 0 && before(e, d.Top[i-1]) {
		d.Top[i] = d.Top[i-1]
		i--
	}
	d.Top[i] = e
	d.Count++
}

// cutLong drops the smaller regions of a long block, raises its slack, and gives its
// length. O(regions log regions), once in a doubling of the list at most.
func cutLong(b trace.Block) int {
	list := make([]Entry, 0, (len(b)-longHead)/longEntry)
	for e := b[longHead:]; len(e) > 0; e = e[longEntry:] {
		list = append(list, entryAt(e))
	}
	slices.SortFunc(list, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Region, b.Region))
	})
	slack := b[longHead-8 : longHead]
	binary.LittleEndian.PutUint64(slack, binary.LittleEndian.Uint64(slack)+uint64(list[longListed].Time))
	out := b[:longHead]
	for _, e := range list[:longListed] {
		out = appendEntry(out, e.Region, e.Time)
	}
	return len(out)
}

// A placeTable says where in a block a region is listed; 0: nowhere. It is all zero
// between uses.
type placeTable struct {
	dense []int32
	many  map[uint32]int // beyond densePlaces
}

// densePlaces bounds the table to some megabytes.
const densePlaces = 1 << 20

func (p *placeTable) put(r uint32, at int) {
	switch {
	case int(r) < len(p.dense):
	case r >= densePlaces:
		if p.many == nil {
			p.many = map[uint32]int{}
		}
		if p.many[r] = at; at == 0 {
			delete(p.many, r)
		}
		return
	default:
		n := min(max(int(r)+1, 2*len(p.dense), 64), densePlaces)
		p.dense = append(p.dense, make([]int32, n-len(p.dense))...)
	}
	p.dense[r] = int32(at)
}

func (p *placeTable) get(r uint32) int {
	if int(r) < len(p.dense) {
		return int(p.dense[r])
	}
	return p.many[r]
}
