package paje

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// A symbol is a word as a number, so that the stages after the parsers look words
// up by index.
type symbol uint32

const (
	noSymbol symbol = 0
	// bare stands for words that parsers meet past maxMet and maxMetBytes: their text
	// is looked up.
	bare symbol = ^symbol(0)
)

// Words that parsers meet are bounded: every value may be another one. Those that are
// defined are not, since their definitions are kept as well.
const (
	maxMet      = 1 << 20
	maxMetBytes = 1 << 28
)

// symbols numbers words, for all parsers and the converter. There may be millions, so
// nothing in it is a pointer for each: 12 bytes and the text, 8 to 21 more for the slot.
type symbols struct {
	mu       sync.Mutex
	seed     maphash.Seed
	slots    []symbolSlot // open addressing, a power of two of them
	count    uint32
	met      int // words that parsers brought
	metBytes int
	texts    texts
}

type symbolSlot struct{ hash, place uint32 } // place is 0 where the slot is free

func newSymbols() *symbols {
	return &symbols{seed: maphash.MakeSeed(), slots: make([]symbolSlot, 256)}
}

// find numbers a word that a parser meets; bare past the bounds.
func (s *symbols) find(w []byte) symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := s.hash(w)
	id, slot := s.look(hash, w)
	if id == noSymbol {
		if s.met >= maxMet || s.metBytes >= maxMetBytes {
			return bare
		}
		s.met++
		s.metBytes += len(w)
		id = s.add(hash, slot, w)
	}
	return id
}

// keep numbers a word that is defined.
func (s *symbols) keep(w []byte) symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := s.hash(w)
	id, slot := s.look(hash, w)
	if id == noSymbol {
		id = s.add(hash, slot, w)
	}
	return id
}

// lookup returns the symbol of a word that has one, else noSymbol.
func (s *symbols) lookup(w []byte) symbol {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, _ := s.look(s.hash(w), w)
	return id
}

func (s *symbols) hash(w []byte) uint32 { return uint32(maphash.Bytes(s.seed, w)) }

// look returns the symbol of a word, or the slot where it would be; O(1).
func (s *symbols) look(hash uint32, w []byte) (symbol, uint32) {
	mask := uint32(len(s.slots) - 1)
	i := hash & mask
	for ; s.slots[i].place != 0; i = (i + 1) & mask {
		if s.slots[i].hash == hash {
			if id, text := s.texts.at(s.slots[i].place); bytes.Equal(text, w) {
				return id, i
			}
		}
	}
	return noSymbol, i
}

// add numbers a new word, whose slot look gave.
func (s *symbols) add(hash, slot uint32, w []byte) symbol {
	id := symbol(s.count + 1)
	place := s.texts.add(id, w)
	if place == 0 {
		return bare
	}
	s.count++
	s.slots[slot] = symbolSlot{hash, place}
	if 4*uint64(s.count) > 3*uint64(len(s.slots)) {
		s.grow()
	}
	return id
}

func (s *symbols) grow() {
	old := s.slots
	s.slots = make([]symbolSlot, 2*len(old))
	mask := uint32(len(s.slots) - 1)
	for _, slot := range old {
		if slot.place == 0 {
			continue
		}
		i := slot.hash & mask
		for s.slots[i].place != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = slot
	}
}

// texts are words in few blocks of memory, each after its symbol and its length. A
// place is the number of a block and, in words of four bytes, where in it: never 0.
type texts struct{ blocks [][]byte }

const (
	textBlock = 1 << 16
	textAlign = 4
	placeBits = 14 // textBlock/textAlign is a number of so many
	maxBlocks = 1 << (32 - placeBits)
)

// add keeps a word; its place is 0 where 16 GiB are taken.
func (t *texts) add(id symbol, w []byte) (place uint32) {
	most := textAlign + binary.MaxVarintLen32 + len(w) + textAlign
	n := len(t.blocks) - 1
	if n < 0 || cap(t.blocks[n])-len(t.blocks[n]) < most {
		if n++; n == maxBlocks {
			return 0
		}
		t.blocks = append(t.blocks, make([]byte, textAlign, max(textBlock, textAlign+most)))
	}
	b := t.blocks[n]
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(id))
	b = append(binary.AppendUvarint(b, uint64(len(w))), w...)
	for len(b)%textAlign != 0 {
		b = append(b, 0)
	}
	t.blocks[n] = b
	return uint32(n)<<placeBits | uint32(at/textAlign)
}

// at returns the word at a place, and its symbol.
func (t *texts) at(place uint32) (symbol, []byte) {
	b := t.blocks[place>>placeBits][place&(1<<placeBits-1)*textAlign:]
	id := symbol(binary.LittleEndian.Uint32(b))
	size, n := binary.Uvarint(b[4:])
	b = b[4+n:]
	return id, b[:size]
}
