package quantile

import "slices"

// Buckets yields how many values lie from low to high, both included, in ascending order: each value that is known
// exactly, else buckets whose middle is within RelativeError. A sketch that is only a box has none.
func (s *Sketch) Buckets(f func(low, high, count int64)) {
	if s.pages == nil {
		values := slices.Clone(s.values)
		slices.Sort(values)
		for i := 0; i < len(values); {
			n := i
			for n < len(values) && values[n] == values[i] {
				n++
			}
			f(values[i], values[i], int64(n-i))
			i = n
		}
		return
	}
	for i, p := range s.pages {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				low, high := edges((s.first+i)<<pageBits + k)
				f(max(low, s.Min), min(high, s.Max), int64(n))
			}
		}
	}
}

// edges are the least and the most value of a bucket.
func edges(b int) (low, high int64) {
	e := b>>stepBits - 1
	if e <= 0 {
		return int64(b), int64(b)
	}
	low = int64(b-e<<stepBits) << e
	return low, low + int64(1)<<e - 1
}
