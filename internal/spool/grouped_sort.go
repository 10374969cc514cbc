package spool

import (
	"cmp"
	"slices"
)

// A groupSorter puts the records of a run in order. Most that belong together come in
// order already, from one file: they are collected by hash first, and only the
// groups that are out of order are sorted. O(records + groups log groups) then.
type groupSorter[T any] struct {
	keys    []groupKey
	member  []uint32 // by record as they come: its group
	groups  []recordGroup
	slots   []uint32 // a hash table of groups, by hash; 0 is empty, else its number + 1
	ordered []uint32 // groups by hash
}

// A groupKey stands for a record of a group.
type groupKey struct {
	turn  int64
	index uint32
}

// groupBytes is about the space of a record here, beside itself.
const groupBytes = 40

type recordGroup struct {
	hash  uint64
	count uint32
	at    uint32 // the place of its next key
}

const leastSlots = 1 << 10

// run returns the keys of all records, in order; they are valid until the next call.
func (s *groupSorter[T]) run(b *blocks[T], order *Grouping[T]) []groupKey {
	s.collect(b, order)
	s.place(b, order)
	compare := func(x, y groupKey) int {
		if x.turn != y.turn {
			return cmp.Compare(x.turn, y.turn)
		}
		return order.Compare(b.at(x.index), b.at(y.index))
	}
	first := uint32(0)
	for _, g := range s.ordered {
		keys := s.keys[first:s.groups[g].at]
		first = s.groups[g].at
		if !slices.IsSortedFunc(keys, compare) {
			slices.SortFunc(keys, compare)
		}
	}
	return s.keys
}

// collect finds the group of each record.
func (s *groupSorter[T]) collect(b *blocks[T], order *Grouping[T]) {
	s.member = slices.Grow(s.member[:0], b.count)
	s.groups = s.groups[:0]
	if s.slots == nil {
		s.slots = make([]uint32, leastSlots)
	}
	clear(s.slots)
	for _, block := range b.list {
		for i := range block {
			hash, _ := order.Hash(&block[i])
			g := s.group(hash)
			s.groups[g].count++
			s.member = append(s.member, g)
		}
	}
}

// group finds the group of a hash, or makes it.
func (s *groupSorter[T]) group(hash uint64) uint32 {
	mask := uint64(len(s.slots) - 1)
	at := hash & mask
	for s.slots[at] != 0 {
		if g := s.slots[at] - 1; s.groups[g].hash == hash {
			return g
		}
		at = (at + 1) & mask
	}
	s.groups = append(s.groups, recordGroup{hash: hash})
	s.slots[at] = uint32(len(s.groups))
	if 2*len(s.groups) > len(s.slots) {
		s.grow()
	}
	return uint32(len(s.groups) - 1)
}

func (s *groupSorter[T]) grow() {
	s.slots = make([]uint32, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for i := range s.groups {
		at := s.groups[i].hash & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = uint32(i + 1)
	}
}

// place puts the keys of groups one after the other, in order of their hashes.
func (s *groupSorter[T]) place(b *blocks[T], order *Grouping[T]) {
	s.ordered = s.ordered[:0]
	for g := range s.groups {
		s.ordered = append(s.ordered, uint32(g))
	}
	slices.SortFunc(s.ordered, func(x, y uint32) int { return cmp.Compare(s.groups[x].hash, s.groups[y].hash) })
	at := uint32(0)
	for _, g := range s.ordered {
		s.groups[g].at = at
		at += s.groups[g].count
	}
	s.keys = slices.Grow(s.keys[:0], b.count)[:b.count]
	n := 0
	for k, block := range b.list {
		for i := range block {
			_, turn := order.Hash(&block[i])
			g := &s.groups[s.member[n]]
			s.keys[g.at] = groupKey{turn, uint32(k<<blockBits | i)}
			g.at++
			n++
		}
	}
}
