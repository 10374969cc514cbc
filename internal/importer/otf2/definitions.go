package otf2

import "io"

// firstDefinition is the lowest id of a definition, or of a marker.
const firstDefinition = 5

// A record of a definition file: an id, a length and that many bytes.
type record struct {
	id     uint8
	offset int64
	fields fields // valid until the next record
}

// A definitionReader reads a file of definitions, global or local.
type definitionReader struct {
	chunks
	read int64 // records
}

func (r *definitionReader) open(src io.Reader) {
	r.chunks.open(src, false)
	r.read = 0
}

// next reads a record; false at the end of the file. Missing or damaged records on the way are counted in damage.
func (r *definitionReader) next(rec *record) bool {
	for {
		b := r.rest(10)
		if r.done || len(b) == 0 {
			return false
		}
		id, at := b[0], r.in.offset()
		if id <= endOfFile {
			more, sound := r.mark(id)
			if !sound {
				r.broken()
			} else if !more {
				return false
			}
			continue
		}
		body, ok := r.body(b)
		if !ok || id < firstDefinition {
			r.broken()
			continue
		}
		*rec = record{id, at, fields{b: body, big: r.big}}
		r.read++
		return true
	}
}

// whole reports whether the file was read from header to end mark.
func (d *damage) whole() bool {
	return !d.noHeader && !d.noEnd && d.chunks == 0 && d.readError == nil
}

// A table holds definitions by their number. Most writers count from zero, some
// leave wide gaps: numbers that do not follow on go to a map.
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
