package local

import (
	"cmp"
	"context"
	"hash/maphash"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A stringTable numbers the names of definitions.
type stringTable struct {
	seed    maphash.Seed
	ids     idTable
	offsets []uint64
	bytes   []byte
}

func newStringTable() *stringTable {
	t := &stringTable{seed: maphash.MakeSeed(), offsets: []uint64{0}}
	t.add("")
	return t
}

func (t *stringTable) add(s string) uint32 {
	hash := uint32(maphash.String(t.seed, s))
	id, ok := t.ids.find(hash, func(id uint32) bool { return string(t.bytes[t.offsets[id]:t.offsets[id+1]]) == s })
	if !ok {
		id = uint32(len(t.offsets) - 1)
		t.ids.add(hash, id)
		t.bytes = append(t.bytes, s...)
		t.offsets = append(t.offsets, uint64(len(t.bytes)))
	}
	return id
}

// facts are attributes of definitions in columns.
type factColumnsOf struct {
	owner, key []uint32
	kind       []uint8
	bits       []uint64
}

func (c *factColumnsOf) add(owner int, list []trace.Attribute, strings *stringTable) {
	for _, a := range list {
		if a.Value.Kind == 0 {
			continue
		}
		bits := a.Value.Bits()
		if a.Value.Kind == trace.ValueText {
			bits = uint64(strings.add(a.Value.String()))
		}
		c.owner, c.key = append(c.owner, uint32(owner)), append(c.key, strings.add(a.Key))
		c.kind, c.bits = append(c.kind, uint8(a.Value.Kind)), append(c.bits, bits)
	}
}

func (c *factColumnsOf) write(dir, table, owner string) error {
	return cmp.Or(
		writeColumn(dir, table+"."+owner+".u32", c.owner), writeColumn(dir, table+".key.u32", c.key),
		writeColumn(dir, table+".kind.u8", c.kind), writeColumn(dir, table+".bits.u64", c.bits),
	)
}

// define writes the tables of everything that was defined, and of lanes.
func (f *finisher) define(context.Context) error {
	strings := newStringTable()
	return cmp.Or(
		f.writeLocations(strings),
		f.writeRegions(strings),
		f.writeCounters(strings),
		f.writeCommunicators(strings),
		f.writeCoordinates(),
		f.writeCallPaths(),
		f.writeLanes(),
		writeColumn(f.dir, "string.offset.u64", strings.offsets),
		writeColumn(f.dir, "string.bytes.u8", strings.bytes),
	)
}

func (f *finisher) writeLocations(strings *stringTable) error {
	n := len(f.order.old)
	name, kind := make([]uint32, n), make([]uint32, n)
	parent, last := make([]trace.LocationID, n), make([]trace.LocationID, n)
	level, rank := make([]uint16, n), make([]int32, n)
	var facts factColumnsOf
	kinds := make([]uint32, len(f.def.kinds))
	for i, k := range f.def.kinds {
		kinds[i] = strings.add(string(k))
	}
	for id, old := range f.order.old {
		l := &f.def.locations[old]
		name[id], kind[id] = strings.add(l.Name), kinds[l.kind]
		parent[id], last[id], rank[id] = trace.NoLocation, trace.LocationID(id), trace.NoRank
		if l.Parent != trace.NoLocation {
			p := f.order.number[l.Parent]
			parent[id], level[id], rank[id] = p, level[p]+1, rank[p]
		}
		if l.Rank != trace.NoRank {
			rank[id] = l.Rank
		}
		if f.def.kinds[l.kind].Aside() {
			f.aside = append(f.aside, trace.LocationID(id))
		}
		if l.Attributes != nil {
			facts.add(id, *l.Attributes, strings)
		}
	}
	for id := n - 1; id >= 0; id-- {
		if p := parent[id]; p != trace.NoLocation {
			last[p] = max(last[p], last[id])
		}
	}
	return cmp.Or(
		writeColumn(f.dir, "location.name.u32", name), writeColumn(f.dir, "location.kind.u32", kind),
		writeColumn(f.dir, "location.parent.u32", parent), writeColumn(f.dir, "location.last.u32", last),
		writeColumn(f.dir, "location.level.u16", level), writeColumn(f.dir, "location.rank.i32", rank),
		facts.write(f.dir, "location_fact", "location"),
	)
}

func (f *finisher) writeRegions(strings *stringTable) error {
	n := len(f.def.regions)
	name, category, file := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	role, line := make([]uint8, n), make([]int32, n)
	var facts factColumnsOf
	for id := range f.def.regions {
		r := &f.def.regions[id]
		name[id], category[id], file[id] = strings.add(r.Name), strings.add(r.Category), strings.add(r.File)
		role[id], line[id] = uint8(r.Role), int32(r.Line)
		facts.add(id, r.Attributes, strings)
	}
	attributes := make([]uint32, len(f.def.attributes))
	for i, a := range f.def.attributes {
		attributes[i] = strings.add(a)
	}
	return cmp.Or(
		writeColumn(f.dir, "region.name.u32", name), writeColumn(f.dir, "region.category.u32", category),
		writeColumn(f.dir, "region.role.u8", role), writeColumn(f.dir, "region.file.u32", file),
		writeColumn(f.dir, "region.line.i32", line), facts.write(f.dir, "region_fact", "region"),
		writeColumn(f.dir, "attribute.name.u32", attributes),
	)
}

func (f *finisher) writeCounters(strings *stringTable) error {
	n := len(f.def.counters)
	location, name, unit := make([]trace.LocationID, n), make([]uint32, n), make([]uint32, n)
	monotone, first, count := make([]uint8, n), make([]uint64, n), make([]uint64, n)
	for i, c := range f.def.counters {
		location[i], name[i], unit[i] = f.numberOf(c.Location), strings.add(c.Name), strings.add(c.Unit)
		if f.counters[i].growth.Settle(&c) {
			f.Report(trace.Repaired, trace.FallingCounters, 1, c.Name)
		}
		if c.Monotone {
			monotone[i] |= counterMonotone
		}
		if c.Grows {
			monotone[i] |= counterGrows
		}
		first[i], count[i] = f.counters[i].first, f.counters[i].count
	}
	return cmp.Or(
		writeColumn(f.dir, "counter.location.u32", location), writeColumn(f.dir, "counter.name.u32", name),
		writeColumn(f.dir, "counter.unit.u32", unit), writeColumn(f.dir, "counter.monotone.u8", monotone),
		writeColumn(f.dir, "counter.first.u64", first), writeColumn(f.dir, "counter.count.u64", count),
	)
}

// The bits of column counter.monotone.
const (
	counterMonotone = 1 << iota
	counterGrows
)

// numberOf gives the new number of a location; NoLocation stays, and stands for
// one that was never defined.
func (f *finisher) numberOf(old trace.LocationID) trace.LocationID {
	if int(old) < len(f.order.number) {
		return f.order.number[old]
	}
	return trace.NoLocation
}

func (f *finisher) writeCommunicators(strings *stringTable) error {
	var name []uint32
	var parent []trace.CommunicatorID
	var members []trace.LocationID
	offsets := []uint64{0}
	for _, c := range f.def.communicators {
		name, parent = append(name, strings.add(c.Name)), append(parent, c.Parent)
		for _, m := range c.Members {
			members = append(members, f.numberOf(m))
		}
		offsets = append(offsets, uint64(len(members)))
	}
	return cmp.Or(
		writeColumn(f.dir, "communicator.name.u32", name), writeColumn(f.dir, "communicator.parent.u32", parent),
		writeColumn(f.dir, "communicator.member.u64", offsets), writeColumn(f.dir, "member.location.u32", members),
	)
}

func (f *finisher) writeCoordinates() error {
	var topology []uint32
	var location []trace.LocationID
	var values []int64
	offsets := []uint64{0}
	for i, t := range f.def.topologies {
		for _, c := range t.Coordinates {
			topology, location = append(topology, uint32(i)), append(location, f.numberOf(c.Location))
			for _, v := range c.At {
				values = append(values, int64(v))
			}
			offsets = append(offsets, uint64(len(values)))
		}
	}
	return cmp.Or(
		writeColumn(f.dir, "coordinate.topology.u32", topology), writeColumn(f.dir, "coordinate.location.u32", location),
		writeColumn(f.dir, "coordinate.value.u64", offsets), writeColumn(f.dir, "axis.value.i64", values),
	)
}

func (f *finisher) writeCallPaths() error {
	n := len(f.def.callPaths)
	parent, region, flat := make([]trace.CallPathID, n), make([]trace.RegionID, n), make([]uint8, n)
	for i, p := range f.def.callPaths {
		parent[i], region[i] = p.Parent, p.Region
		if p.Flat {
			flat[i] = 1
		}
	}
	return cmp.Or(
		writeColumn(f.dir, "callpath.parent.u32", parent), writeColumn(f.dir, "callpath.region.u32", region),
		writeColumn(f.dir, "callpath.flat.u8", flat),
	)
}

// writeLanes puts together what the jobs found.
func (f *finisher) writeLanes() error {
	lanes, rows, ends := []uint32{0}, []uint64{0}, []trace.Time(nil)
	for _, j := range f.jobs {
		for _, n := range j.lanes {
			lanes = append(lanes, lanes[len(lanes)-1]+n)
		}
		for _, n := range j.laneRows {
			rows = append(rows, rows[len(rows)-1]+uint64(n))
		}
		ends = append(ends, j.laneEnd...)
		j.lanes, j.laneRows, j.laneEnd = nil, nil, nil
	}
	return cmp.Or(
		writeColumn(f.dir, "location.lane.u32", lanes),
		writeColumn(f.dir, "lane.row.u64", rows),
		writeColumn(f.dir, "lane.end.i64", ends),
	)
}
