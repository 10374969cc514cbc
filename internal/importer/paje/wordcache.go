package paje

import (
	"encoding/binary"
	"math/bits"
)

// A wordCache is one parser's memory of the words it met last, so that it rarely
// asks for the lock. It is direct-mapped: two words at one place push each other
// out. Words of up to seven bytes, which most are, stand in their slot as a number.
type wordCache struct {
	all   *symbols
	short [1 << cacheBits]shortSlot
	long  [1 << cacheBits]struct {
		word []byte
		id   symbol
	}
}

type shortSlot struct {
	word uint64
	bits uint32 // eight for each byte; 0 where the slot is empty
	id   symbol
}

const (
	cacheBits = 11
	golden    = 0x9e3779b97f4a7c15
	// longestCached keeps long words from making the cache large.
	longestCached = 256
)

// slot is where a short word is, if anywhere.
func (c *wordCache) slot(word uint64) *shortSlot {
	return &c.short[word*golden>>(64-cacheBits)]
}

// find returns the symbol of a word. One that begins as a quoted word or a comment does
// is never found in its slot: bare in a line it would be one of these.
func (c *wordCache) find(w []byte) symbol {
	if len(w) > 7 {
		return c.findLong(w)
	}
	id := c.all.find(w)
	if id == bare || len(w) == 0 || w[0] == '"' || w[0] == '#' {
		return id
	}
	var x uint64
	for i, b := range w {
		x |= uint64(b) << (8 * uint(i))
	}
	*c.slot(x) = shortSlot{x, uint32(8 * len(w)), id}
	return id
}

func (c *wordCache) findLong(w []byte) symbol {
	h := uint64(len(w))
	rest := w
	for ; len(rest) > 8; rest = rest[8:] {
		h = bits.RotateLeft64(h^binary.LittleEndian.Uint64(rest), 29) * golden
	}
	h = (h ^ binary.LittleEndian.Uint64(w[len(w)-8:])) * golden
	s := &c.long[h>>(64-cacheBits)]
	if s.id != noSymbol && string(s.word) == string(w) {
		return s.id
	}
	id := c.all.find(w)
	if id != bare && len(w) <= longestCached {
		s.word, s.id = append(s.word[:0], w...), id
	}
	return id
}
