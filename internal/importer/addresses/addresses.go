// Package addresses finds the object at an address: the objects in the memory of a process, the functions that a
// just-in-time compiler put there. Formats that record stacks as addresses share it.
package addresses

import (
	"cmp"
	"slices"
)

// A Map holds ranges of addresses, each with a value. Its zero value is empty.
type Map[T any] struct {
	blocks [][]entry[T] // in order of addresses, none empty
}

type entry[T any] struct {
	begin, end uint64
	value      T
}

// longestBlock bounds the entries that an insertion moves.
const longestBlock = 512

// block is the number of the last block that begins at or before an address.
func (m *Map[T]) block(at uint64) int {
	i, found := slices.BinarySearchFunc(m.blocks, at,
		func(b []entry[T], at uint64) int { return cmp.Compare(b[0].begin, at) })
	if !found && i > 0 {
		i--
	}
	return i
}

func (m *Map[T]) place(b []entry[T], at uint64) (int, bool) {
	return slices.BinarySearchFunc(b, at, func(e entry[T], at uint64) int { return cmp.Compare(e.begin, at) })
}

// Put sets the object in [begin, begin+length), in place of one that began there before. A length that is 0 or too long
// reaches to the last address.
func (m *Map[T]) Put(begin, length uint64, value T) {
	end := begin + length
	if end <= begin {
		end = ^uint64(0)
	}
	for i := m.block(begin); i < len(m.blocks); { // remove
		b := m.blocks[i]
		if b[0].begin >= end {
			break
		}
		from, _ := m.place(b, begin)
		to, _ := m.place(b, end)
		if b = slices.Delete(b, from, to); len(b) == 0 {
			m.blocks = slices.Delete(m.blocks, i, i+1)
			continue
		}
		m.blocks[i] = b
		i++
	}
	if len(m.blocks) == 0 {
		m.blocks = [][]entry[T]{{{begin, end, value}}}
		return
	}
	i := m.block(begin)
	at, _ := m.place(m.blocks[i], begin)
	b := slices.Insert(m.blocks[i], at, entry[T]{begin, end, value})
	m.blocks[i] = b
	if half := len(b) / 2; len(b) > longestBlock {
		m.blocks[i] = slices.Clip(b[:half])
		m.blocks = slices.Insert(m.blocks, i+1, slices.Clone(b[half:]))
	}
}

// Find returns the object at an address.
func (m *Map[T]) Find(at uint64) (value T, ok bool) {
	if e := m.entry(at); e != nil {
		return e.value, true
	}
	return value, false
}

func (m *Map[T]) entry(at uint64) *entry[T] {
	if len(m.blocks) == 0 {
		return nil
	}
	b := m.blocks[m.block(at)]
	i, found := m.place(b, at)
	if !found {
		i--
	}
	if i < 0 || at >= b[i].end {
		return nil
	}
	return &b[i]
}

// Move moves the object that begins at an address to another.
func (m *Map[T]) Move(from, to uint64) {
	if e := m.entry(from); e != nil && e.begin == from {
		moved := *e
		e.end = e.begin // nothing lies there any more
		m.Put(to, moved.end-moved.begin, moved.value)
	}
}

// Clone returns a copy.
func (m *Map[T]) Clone() Map[T] {
	c := Map[T]{blocks: slices.Clone(m.blocks)}
	for i, b := range c.blocks {
		c.blocks[i] = slices.Clone(b)
	}
	return c
}
