package otf2

import (
	"io"
	"math"
)

// The kinds of mapping tables.
const (
	mapString = iota
	mapAttribute
	mapLocation
	mapRegion
	mapGroup
	mapMetric
	mapComm
	mapParameter
	mapRmaWin
	mapSourceCodeLocation
	mapCallingContext
	mapInterruptGenerator
	mapIOFile
	mapIOHandle
	mapLocationGroup
	mappings
)

// local is the definition file of one location: it maps the location's numbers
// and clock to those of the whole archive.
type local struct {
	maps   [mappings]*table[uint64]
	clock  correction
	others int64 // definitions that the global ones stand for
	bad    int64
	damage damage
}

// readLocal reads a local definition file.
func readLocal(r *definitionReader, src io.Reader) *local {
	l := &local{}
	var rec record
	for r.open(src); r.next(&rec); {
		l.take(rec.id, &rec.fields)
		if rec.fields.bad {
			l.bad++
		}
	}
	l.damage = r.damage
	return l
}

func (l *local) take(id uint8, f *fields) {
	switch id {
	case localMappingTable:
		l.takeMapping(f)
	case localClockOffset:
		o := clockOffset{ticks: f.full(8), offset: f.int64()}
		if deviation := math.Float64frombits(f.full(8)); !f.bad && !math.IsNaN(deviation) {
			l.clock.add(o)
		}
	default:
		l.others++
	}
}

// takeMapping reads a table: dense ones list the global number of each local one
// in turn, sparse ones pairs.
func (l *local) takeMapping(f *fields) {
	kind := f.uint8()
	n := f.uint64()
	sparse := f.uint8() == 1
	size := 1
	if sparse {
		size = 2
	}
	m := new(table[uint64])
	for i := range f.count(n, size) {
		from := uint64(i)
		if sparse {
			from = f.uint64()
		}
		m.put(from, f.uint64())
	}
	if !f.bad && kind < mappings {
		l.maps[kind] = m
	}
}

// global translates a number of this location; one that is not in the table, or
// if there is none, is the archive's own.
func (l *local) global(kind int, id uint64) uint64 {
	if m := l.maps[kind]; m != nil {
		if g, ok := m.get(id); ok {
			return g
		}
	}
	return id
}
