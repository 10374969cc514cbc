package rename

import (
	"cmp"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// rewritten are the files that hold names, or numbers of names.
var rewritten = []string{
	"string.offset.u64", "string.bytes.u8", "text.offset.u64", "text.bytes.u8",
	"location.name.u32", "location.kind.u32", "region.name.u32", "region.category.u32", "region.file.u32",
	"location_fact.location.u32", "location_fact.key.u32", "location_fact.kind.u8", "location_fact.bits.u64",
	"region_fact.region.u32", "region_fact.key.u32", "region_fact.kind.u8", "region_fact.bits.u64",
	"interval_fact.kind.u8", "interval_fact.bits.u64", "instant_fact.kind.u8", "instant_fact.bits.u64",
	"attribute.name.u32", "counter.name.u32", "counter.unit.u32", "communicator.name.u32",
}

// strings number names, each once; the first is empty.
type strings struct {
	ids     map[string]uint32
	offsets []uint64
	bytes   []byte
}

func newStrings() *strings {
	s := &strings{ids: map[string]uint32{}, offsets: []uint64{0}}
	s.add("")
	return s
}

func (s *strings) add(name string) uint32 {
	id, ok := s.ids[name]
	if !ok {
		id = uint32(len(s.offsets) - 1)
		s.ids[name] = id
		s.bytes = append(s.bytes, name...)
		s.offsets = append(s.offsets, uint64(len(s.bytes)))
	}
	return id
}

// facts are attributes of definitions.
type facts struct {
	owner, key []uint32
	kind       []uint8
	bits       []uint64
}

func (f *facts) add(owner int, list []trace.Attribute, s *strings) {
	for _, a := range list {
		bits := a.Value.Bits()
		if a.Value.Kind == trace.ValueText {
			bits = uint64(s.add(a.Value.String()))
		}
		f.owner, f.key = append(f.owner, uint32(owner)), append(f.key, s.add(a.Key))
		f.kind, f.bits = append(f.kind, uint8(a.Value.Kind)), append(f.bits, bits)
	}
}

func (f *facts) write(dir, table, owner string) error {
	return cmp.Or(
		disk.WriteColumn(dir, table+"."+owner+".u32", f.owner), disk.WriteColumn(dir, table+".key.u32", f.key),
		disk.WriteColumn(dir, table+".kind.u8", f.kind), disk.WriteColumn(dir, table+".bits.u64", f.bits),
	)
}

// columns are the files of rewritten but for strings.
type columns struct {
	strings                  *strings
	name, kind               []uint32 // of locations
	region, category, file   []uint32
	attribute, counter, unit []uint32
	communicator             []uint32
	ofLocations, ofRegions   facts
}

func (c *columns) fill(t *taker) *columns {
	for id := range t.locations {
		l := &t.locations[id]
		c.name, c.kind = append(c.name, c.strings.add(l.Name)), append(c.kind, c.strings.add(string(l.Kind)))
		c.ofLocations.add(id, l.Attributes, c.strings)
	}
	for id := range t.regions {
		r := &t.regions[id]
		c.region, c.category, c.file = append(c.region, c.strings.add(r.Name)),
			append(c.category, c.strings.add(r.Category)), append(c.file, c.strings.add(r.File))
		c.ofRegions.add(id, r.Attributes, c.strings)
	}
	for _, a := range t.attributes {
		c.attribute = append(c.attribute, c.strings.add(a))
	}
	for _, x := range t.counters {
		c.counter, c.unit = append(c.counter, c.strings.add(x.Name)), append(c.unit, c.strings.add(x.Unit))
	}
	for _, x := range t.communicators {
		c.communicator = append(c.communicator, c.strings.add(x.Name))
	}
	return c
}

func (c *columns) write(dir string) error {
	return cmp.Or(
		disk.WriteColumn(dir, "location.name.u32", c.name), disk.WriteColumn(dir, "location.kind.u32", c.kind),
		disk.WriteColumn(dir, "region.name.u32", c.region), disk.WriteColumn(dir, "region.category.u32", c.category),
		disk.WriteColumn(dir, "region.file.u32", c.file),
		disk.WriteColumn(dir, "attribute.name.u32", c.attribute), disk.WriteColumn(dir, "counter.name.u32", c.counter),
		disk.WriteColumn(dir, "counter.unit.u32", c.unit),
		disk.WriteColumn(dir, "communicator.name.u32", c.communicator),
		c.ofLocations.write(dir, "location_fact", "location"), c.ofRegions.write(dir, "region_fact", "region"),
		disk.WriteColumn(dir, "string.offset.u64", c.strings.offsets),
		disk.WriteColumn(dir, "string.bytes.u8", c.strings.bytes),
	)
}
