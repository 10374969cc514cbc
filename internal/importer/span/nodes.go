package span

import "github.com/parallax-hpc/parallax/internal/trace"

// A node is the kept part of a span: enough to join it with others, in one line of the processor's cache.
type node struct {
	begin, end trace.Time
	id, parent uint64
	offset     int64
	trace      uint32
	region     trace.RegionID
	row        uint32
	number     uint32 // on its row, from 1 on
	next       int32  // of the same id; -1
	flags      nodeFlags
}

type nodeFlags uint16

const (
	hasParent nodeFlags = 1 << iota
	oddNumber           // id is a number that the text was given here
	oddParent
	isClient
	isServer
	isShared
	isTimed
	isTwin // others have its id
)

func (n *node) is(f nodeFlags) bool { return n.flags&f != 0 }

func (n *node) key() key { return key{n.id, n.trace, n.is(oddNumber)} }

func (n *node) parentKey() key { return key{n.parent, n.trace, n.is(oddParent)} }

// A key names a span: the number of its trace, and its id.
type key struct {
	id    uint64
	trace uint32
	odd   bool
}

// hash is a number of 32 bits.
func (k key) hash() uint64 {
	h := (k.id ^ uint64(k.trace)<<32) * 0x9e3779b97f4a7c15
	if k.odd {
		h = ^h
	}
	h = (h ^ h>>29 ^ uint64(k.trace)) * 0xd6e8feb86659fd93
	return h >> 32
}

// A nodeList holds nodes in pieces, so that no node moves and none is copied as it grows, and finds the first one of a
// key: its table has a slot of a node's number and its hash, so that a look at other nodes is rare. A map of keys took
// three times the memory and four times the time.
type nodeList struct {
	pieces [][]node
	count  int
	table  []uint64 // 0, or hash in the upper half and number + 1 in the lower
}

const (
	pieceBits = 14
	pieceSize = 1 << pieceBits
)

func (l *nodeList) at(i int32) *node { return &l.pieces[i>>pieceBits][i&(pieceSize-1)] }

// add appends a node and returns its number.
func (l *nodeList) add(n *node) int32 {
	if l.count>>pieceBits == len(l.pieces) {
		l.pieces = append(l.pieces, make([]node, pieceSize))
	}
	i := int32(l.count)
	l.count++
	if l.count*4 > len(l.table)*3 {
		l.grow()
	}
	to := l.at(i)
	*to = *n
	to.next = -1
	slot, found := l.find(n.key())
	if !found {
		l.table[slot] = n.key().hash()<<32 | uint64(i+1)
		return i
	}
	first := l.at(int32(uint32(l.table[slot])) - 1)
	to.next, first.next = first.next, i
	to.flags |= isTwin
	first.flags |= isTwin
	return i
}

// find returns the slot of a key, or the one where it belongs.
func (l *nodeList) find(k key) (slot uint64, found bool) {
	h := k.hash()
	mask := uint64(len(l.table) - 1)
	for slot = h & mask; ; slot = (slot + 1) & mask {
		s := l.table[slot]
		if s == 0 {
			return slot, false
		}
		if s>>32 == h && l.at(int32(uint32(s))-1).key() == k {
			return slot, true
		}
	}
}

// first is the first node of a key.
func (l *nodeList) first(k key) (int32, bool) {
	if l.count == 0 {
		return 0, false
	}
	slot, found := l.find(k)
	if !found {
		return 0, false
	}
	return int32(uint32(l.table[slot])) - 1, true
}

// grow doubles the table.
func (l *nodeList) grow() {
	old := l.table
	l.table = make([]uint64, max(2*len(old), 1<<10))
	mask := uint64(len(l.table) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		slot := s >> 32 & mask
		for l.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		l.table[slot] = s
	}
}
