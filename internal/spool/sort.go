package spool

import (
	"cmp"
	"slices"
)

// A SortKey stands for a record while it is sorted: small, and with no equal.
type SortKey struct {
	Key   int64
	Index uint32
}

// A Sorter sorts runs in memory.
type Sorter[T any] struct {
	Keys, other []SortKey
}

// sort sorts a run: first small keys, then each record goes to its place once. A
// stable sort of the records themselves took several times as long.
func (s *Sorter[T]) sort(run []T, by Order[T]) {
	if arrangeTies(run, by) {
		return
	}
	s.Keys = slices.Grow(s.Keys[:0], len(run))
	for i := range run {
		s.Keys = append(s.Keys, SortKey{by.Key(&run[i]), uint32(i)})
	}
	s.sortKeys()
	if by.Ties != nil {
		s.untie(run, by.Ties)
	}
	s.arrange(run)
}

func (s *Sorter[T]) sortKeys() {
	if len(s.Keys) < fewKeys {
		slices.SortFunc(s.Keys, func(a, b SortKey) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Index, b.Index)) })
	} else {
		s.Spread()
	}
}

// group sorts records that follow each other with one key by the first of them.
func (s *Sorter[T]) group(run []T, by Order[T]) {
	s.Keys = s.Keys[:0]
	for i := range run {
		if key := by.Key(&run[i]); len(s.Keys) == 0 || s.Keys[len(s.Keys)-1].Key != key {
			s.Keys = append(s.Keys, SortKey{key, uint32(i)})
		}
	}
	s.sortKeys()
}

// gather hands out the records of groups, up to most at a time.
func (s *Sorter[T]) gather(run []T, by Order[T], most int, f func([]T) error) error {
	out := make([]T, 0, min(most, len(run)))
	for _, k := range s.Keys {
		for i := int(k.Index); i < len(run) && by.Key(&run[i]) == k.Key; i++ {
			if out = append(out, run[i]); len(out) < cap(out) {
				continue
			}
			if err := f(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	if len(out) == 0 {
		return nil
	}
	return f(out)
}

// arrangeTies sorts a run whose keys are in order already; false where they are not.
func arrangeTies[T any](run []T, by Order[T]) bool {
	if len(run) == 0 {
		return true
	}
	before, tied, first := by.Key(&run[0]), false, 0 // of those with this key
	for i := 1; i < len(run); i++ {
		key := by.Key(&run[i])
		switch {
		case key < before:
			return false
		case key > before:
			before = key
			if tied {
				sortTies(run[first:i], by.Ties)
			}
			tied, first = false, i
		case by.Ties != nil && by.Ties(&run[i-1], &run[i]) > 0:
			tied = true
		}
	}
	if tied {
		sortTies(run[first:], by.Ties)
	}
	return true
}

func sortTies[T any](run []T, ties func(a, b *T) int) {
	slices.SortStableFunc(run, func(a, b T) int { return ties(&a, &b) })
}

const (
	fewKeys   = 512
	digitBits = 11
)

// Spread sorts the keys digit by digit, the lowest first; equal ones keep their
// order. O(n) for each digit in which keys differ.
func (s *Sorter[T]) Spread() {
	least, most := s.Keys[0].Key, s.Keys[0].Key
	for _, k := range s.Keys {
		least, most = min(least, k.Key), max(most, k.Key)
	}
	width := uint64(most) - uint64(least)
	s.other = slices.Grow(s.other[:0], len(s.Keys))[:len(s.Keys)]
	from, to := s.Keys, s.other
	for shift := 0; shift < 64 && width>>shift > 0; shift += digitBits {
		var starts [1 << digitBits]uint32
		for i := range from {
			starts[(uint64(from[i].Key)-uint64(least))>>shift&(1<<digitBits-1)]++
		}
		at := uint32(0)
		for d, n := range starts {
			starts[d] = at
			at += n
		}
		for _, k := range from {
			d := (uint64(k.Key) - uint64(least)) >> shift & (1<<digitBits - 1)
			to[starts[d]] = k
			starts[d]++
		}
		from, to = to, from
	}
	s.Keys, s.other = from, to
}

// untie puts records with equal keys in order.
func (s *Sorter[T]) untie(run []T, ties func(a, b *T) int) {
	for i := 0; i < len(s.Keys); {
		k := i + 1
		for k < len(s.Keys) && s.Keys[k].Key == s.Keys[i].Key {
			k++
		}
		if k-i > 1 {
			slices.SortFunc(s.Keys[i:k], func(a, b SortKey) int {
				return cmp.Or(ties(&run[a.Index], &run[b.Index]), cmp.Compare(a.Index, b.Index))
			})
		}
		i = k
	}
}

// arrange moves each record to its place, along the cycles of the permutation.
func (s *Sorter[T]) arrange(run []T) {
	const placed = ^uint32(0)
	keys := s.Keys
	for i := range keys {
		if keys[i].Index == placed {
			continue
		}
		first, at := run[i], i
		for {
			from := int(keys[at].Index)
			keys[at].Index = placed
			if from == i {
				run[at] = first
				break
			}
			run[at] = run[from]
			at = from
		}
	}
}
