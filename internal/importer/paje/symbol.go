package paje

import (
	"math/bits"
	"sync"
)

// A symbol is a word as a number, so that what comes after the parsers looks words
// up by index.
type symbol uint32

const (
	noSymbol symbol = 0
	// bare stands for all words past maxSymbols: their text is looked up.
	bare       symbol = ^symbol(0)
	maxSymbols        = 1 << 20
)

// symbols numbers words, for all parsers.
type symbols struct {
	mu    sync.Mutex
	ids   map[string]symbol
	words []string
}

func newSymbols() *symbols {
	return &symbols{ids: map[string]symbol{}, words: []string{""}}
}

func (s *symbols) find(w []byte) symbol {
	id, _ := s.enter(w)
	return id
}

// enter numbers a word, and gives it as a string that can be kept.
func (s *symbols) enter(w []byte) (symbol, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[string(w)]; ok {
		return id, s.words[id]
	}
	if len(s.words) >= maxSymbols {
		return bare, ""
	}
	id, text := symbol(len(s.words)), string(w)
	s.ids[text] = id
	s.words = append(s.words, text)
	return id, text
}

// A wordCache is one parser's memory of the words it met last, so that it rarely
// asks for the lock. It is direct-mapped: two words at one place push each other out.
type wordCache struct {
	all   *symbols
	slots [1 << 12]struct {
		hash uint64
		word string
		id   symbol
	}
}

func (c *wordCache) find(w []byte) symbol {
	h := hash(w)
	s := &c.slots[h>>(64-12)]
	if s.hash == h && s.word == string(w) && s.id != noSymbol {
		return s.id
	}
	id, text := c.all.enter(w)
	if id != bare {
		s.hash, s.word, s.id = h, text, id
	}
	return id
}

// hash mixes a word; most are shorter than eight bytes.
func hash(w []byte) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := uint64(len(w)) * k
	for len(w) >= 8 {
		h = bits.RotateLeft64(h^load8(w), 29) * k
		w = w[8:]
	}
	var x uint64
	for i, b := range w {
		x |= uint64(b) << (8 * uint(i))
	}
	h = (h ^ x) * k
	return (h ^ h>>32) * k
}

func load8(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
