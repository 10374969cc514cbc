package quantile

// SizeBytes returns the memory of values and buckets besides the sketch itself.
func (s *Sketch) SizeBytes() int64 {
	n := int64(cap(s.values) + cap(s.pages))
	for _, p := range s.pages {
		if p != nil {
			n += int64(len(p))
		}
	}
	return n * 8
}
