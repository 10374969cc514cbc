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

// Sort sorts a run: first small keys, then each record goes to its place once. A
// stable sort of the records themselves took several times as long.
func (s *Sorter[T]) Sort(run []T, by Order[T]) {
	if !arrangeTies(run, by) {
		s.scatter(run, by)
	}
}

// scatter sorts a run that is out of order.
func (s *Sorter[T]) scatter(run []T, by Order[T]) {
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
		slices.SortFunc(s.Keys,
			func(a, b SortKey) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Index, b.Index)) })
	} else {
		s.Spread()
	}
}

// group sorts records that follow each other with one key by the first of them. It returns false if that is no less
// work, or if more than mostTied with one key would have to be sorted further.
func (s *Sorter[T]) group(run []T, by Order[T]) bool {
	s.Keys = s.Keys[:0]
	for i := range run {
		if key := by.Key(&run[i]); len(s.Keys) == 0 || s.Keys[len(s.Keys)-1].Key != key {
			s.Keys = append(s.Keys, SortKey{key, uint32(i)})
		}
	}
	if by.Ties != nil && 2*len(s.Keys) > len(run) {
		return false
	}
	s.sortKeys()
	if by.Ties == nil {
		return true
	}
	for i, n := 0, 0; i < len(s.Keys); i++ {
		if i > 0 && s.Keys[i].Key != s.Keys[i-1].Key {
			n = 0
		}
		for k := int(s.Keys[i].Index); k < len(run) && by.Key(&run[k]) == s.Keys[i].Key && n <= mostTied; k++ {
			n++
		}
		if n > mostTied {
			return false
		}
	}
	return true
}

// mostTied is how many records with one key are put together before they are sorted further.
const mostTied = 1 << 13

// gather yields the records of groups, up to most at a time.
func (s *Sorter[T]) gather(run []T, by Order[T], most int, f func([]T) error) error {
	room := min(most, len(run))
	if by.Ties != nil {
		room += mostTied
	}
	out := make([]T, 0, room)
	first := 0 // of those with the key at hand
	for at, k := range s.Keys {
		if by.Ties != nil && (at == 0 || k.Key != s.Keys[at-1].Key) {
			sortTies(out[first:], by.Ties)
			for len(out) >= most {
				if err := f(out[:most]); err != nil {
					return err
				}
				out = append(out[:0], out[most:]...)
			}
			first = len(out)
		}
		for i := int(k.Index); i < len(run) && by.Key(&run[i]) == k.Key; i++ {
			if out = append(out, run[i]); by.Ties != nil || len(out) < most {
				continue
			}
			if err := f(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	if by.Ties != nil {
		sortTies(out[first:], by.Ties)
		return chunks(out, most, f)
	}
	if len(out) == 0 {
		return nil
	}
	return f(out)
}

// arrangeTies sorts a run whose keys are in order already; it returns false if they are not.
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

// sortTies sorts records that are equal but for ties. They are few, and mostly in order.
func sortTies[T any](run []T, ties func(a, b *T) int) {
	i := 1
	for i < len(run) && ties(&run[i-1], &run[i]) <= 0 {
		i++
	}
	if i >= len(run) {
		return
	}
	if len(run) <= fewTied {
		for ; i < len(run); i++ {
			k := i
			for k > 0 && ties(&run[k-1], &run[i]) > 0 {
				k--
			}
			if k < i {
				x := run[i]
				copy(run[k+1:i+1], run[k:i])
				run[k] = x
			}
		}
		return
	}
	keys := make([]SortKey, len(run))
	for i := range keys {
		keys[i].Index = uint32(i)
	}
	slices.SortFunc(keys, func(a, b SortKey) int {
		return cmp.Or(ties(&run[a.Index], &run[b.Index]), cmp.Compare(a.Index, b.Index))
	})
	(&Sorter[T]{Keys: keys}).arrange(run)
}

// fewTied are sorted in place.
const fewTied = 64

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
		if starts[(uint64(from[0].Key)-uint64(least))>>shift&(1<<digitBits-1)] == uint32(len(from)) {
			continue // all have the same
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
