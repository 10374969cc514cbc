package local

import (
	"cmp"
	"slices"
)

// A sortKey stands for a record while it is sorted: small, and with no equal.
type sortKey struct {
	key   int64
	index uint32
}

// A sorter sorts runs in memory.
type sorter[T any] struct {
	keys, other []sortKey
}

// sort sorts a run: first small keys, then each record goes to its place once. A
// stable sort of the records themselves took several times as long.
func (s *sorter[T]) sort(run []T, by order[T]) {
	if arrangeTies(run, by) {
		return
	}
	s.keys = slices.Grow(s.keys[:0], len(run))
	for i := range run {
		s.keys = append(s.keys, sortKey{by.key(&run[i]), uint32(i)})
	}
	if len(run) < fewKeys {
		slices.SortFunc(s.keys, func(a, b sortKey) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.index, b.index)) })
	} else {
		s.spread()
	}
	if by.ties != nil {
		s.untie(run, by.ties)
	}
	s.arrange(run)
}

// arrangeTies sorts a run whose keys are in order already; false where they are not.
func arrangeTies[T any](run []T, by order[T]) bool {
	if len(run) == 0 {
		return true
	}
	before, tied, first := by.key(&run[0]), false, 0 // of those with this key
	for i := 1; i < len(run); i++ {
		key := by.key(&run[i])
		switch {
		case key < before:
			return false
		case key > before:
			before = key
			if tied {
				sortTies(run[first:i], by.ties)
			}
			tied, first = false, i
		case by.ties != nil && by.ties(&run[i-1], &run[i]) > 0:
			tied = true
		}
	}
	if tied {
		sortTies(run[first:], by.ties)
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

// spread sorts the keys digit by digit, the lowest first; equal ones keep their
// order. O(n) for each digit in which keys differ.
func (s *sorter[T]) spread() {
	least, most := s.keys[0].key, s.keys[0].key
	for _, k := range s.keys {
		least, most = min(least, k.key), max(most, k.key)
	}
	width := uint64(most) - uint64(least)
	s.other = slices.Grow(s.other[:0], len(s.keys))[:len(s.keys)]
	from, to := s.keys, s.other
	for shift := 0; shift < 64 && width>>shift > 0; shift += digitBits {
		var starts [1 << digitBits]uint32
		for i := range from {
			starts[(uint64(from[i].key)-uint64(least))>>shift&(1<<digitBits-1)]++
		}
		at := uint32(0)
		for d, n := range starts {
			starts[d] = at
			at += n
		}
		for _, k := range from {
			d := (uint64(k.key) - uint64(least)) >> shift & (1<<digitBits - 1)
			to[starts[d]] = k
			starts[d]++
		}
		from, to = to, from
	}
	s.keys, s.other = from, to
}

// untie puts records with equal keys in order.
func (s *sorter[T]) untie(run []T, ties func(a, b *T) int) {
	for i := 0; i < len(s.keys); {
		k := i + 1
		for k < len(s.keys) && s.keys[k].key == s.keys[i].key {
			k++
		}
		if k-i > 1 {
			slices.SortFunc(s.keys[i:k], func(a, b sortKey) int {
				return cmp.Or(ties(&run[a.index], &run[b.index]), cmp.Compare(a.index, b.index))
			})
		}
		i = k
	}
}

// arrange moves each record to its place, along the cycles of the permutation.
func (s *sorter[T]) arrange(run []T) {
	const placed = ^uint32(0)
	keys := s.keys
	for i := range keys {
		if keys[i].index == placed {
			continue
		}
		first, at := run[i], i
		for {
			from := int(keys[at].index)
			keys[at].index = placed
			if from == i {
				run[at] = first
				break
			}
			run[at] = run[from]
			at = from
		}
	}
}
