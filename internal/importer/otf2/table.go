package otf2

// A table holds definitions by their number. Most writers count from zero, some
// leave wide gaps: what does not follow on goes to a map.
type table[T any] struct {
	dense  []T
	sparse map[uint64]T
}

// put sets an entry and reports whether it is new.
func (t *table[T]) put(id uint64, v T) bool {
	switch {
	case id < uint64(len(t.dense)):
		t.dense[id] = v
		return false
	case id == uint64(len(t.dense)):
		if _, known := t.sparse[id]; known {
			break
		}
		t.dense = append(t.dense, v)
		return true
	}
	if t.sparse == nil {
		t.sparse = map[uint64]T{}
	}
	_, known := t.sparse[id]
	t.sparse[id] = v
	return !known
}

func (t *table[T]) get(id uint64) (T, bool) {
	if id < uint64(len(t.dense)) {
		return t.dense[id], true
	}
	v, ok := t.sparse[id]
	return v, ok
}

func (t *table[T]) len() int { return len(t.dense) + len(t.sparse) }
