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

// next reads a record; false at the end of the file. What was missing or damaged
// on the way is counted in damage.
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
