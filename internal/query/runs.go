package query

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

// sortedRuns are keys in a temporary file, sorted piece by piece. Any of them is found by its number in the order of
// all without reading the file: the keys are bisected, and each run is searched.
type sortedRuns struct {
	file  *temporary
	ends  []int64 // of each run, in keys
	count int64
}

// add writes keys as one run; it sorts them.
func (s *sortedRuns) add(keys []uint64) (err error) {
	if s.file == nil {
		if s.file, err = newTemporary(); err != nil {
			return err
		}
	}
	slices.Sort(keys)
	b := make([]byte, 0, 1<<16)
	for i, k := range keys {
		if b = binary.LittleEndian.AppendUint64(b, k); len(b) == cap(b) || i == len(keys)-1 {
			if _, err := s.file.Write(b); err != nil {
				return fmt.Errorf("temporary file: %w", err)
			}
			b = b[:0]
		}
	}
	s.count += int64(len(keys))
	s.ends = append(s.ends, s.count)
	return nil
}

// nth returns the key with n others before it in the order of those of the file and of last, which is sorted.
func (s *sortedRuns) nth(last []uint64, n int64) (uint64, error) {
	if len(s.ends) == 0 {
		return last[n], nil
	}
	var failed error
	var b [8]byte
	at := func(i int64) uint64 {
		if _, err := s.file.ReadAt(b[:], 8*i); err != nil && failed == nil {
			failed = fmt.Errorf("temporary file: %w", err)
		}
		return binary.LittleEndian.Uint64(b[:])
	}
	// upTo counts keys that are at most k.
	upTo := func(k uint64) (count int64) {
		from := int64(0)
		for _, to := range s.ends {
			count += int64(sort.Search(int(to-from), func(i int) bool { return at(from+int64(i)) > k }))
			from = to
		}
		return count + int64(sort.Search(len(last), func(i int) bool { return last[i] > k }))
	}
	lo, hi := uint64(0), ^uint64(0)
	for lo < hi && failed == nil {
		if mid := lo + (hi-lo)/2; upTo(mid) > n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, failed
}

func (s *sortedRuns) close() {
	if s.file != nil {
		s.file.close()
	}
}

func sortedCopy(keys []uint64) []uint64 {
	out := slices.Clone(keys)
	slices.Sort(out)
	return out
}
