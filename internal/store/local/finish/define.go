package finish

import (
	"cmp"
	"context"
	"hash/maphash"

	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A stringTable numbers the names of definitions.
type stringTable struct {
	seed    maphash.Seed
	ids     write.IdTable
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
	id, ok := t.ids.Find(hash, func(id uint32) bool { return string(t.bytes[t.offsets[id]:t.offsets[id+1]]) == s })
	if !ok {
		id = uint32(len(t.offsets) - 1)
		t.ids.Add(hash, id)
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
		disk.WriteColumn(dir, table+"."+owner+".u32", c.owner), disk.WriteColumn(dir, table+".key.u32", c.key),
		disk.WriteColumn(dir, table+".kind.u8", c.kind), disk.WriteColumn(dir, table+".bits.u64", c.bits),
	)
}

// A definer writes what was defined.
type definer struct{ *finisher }

// define writes the tables of everything that was defined, and of lanes.
func (f definer) define(context.Context) error {
	strings := newStringTable()
	return cmp.Or(
		f.writeLocations(strings),
		f.writeRegions(strings),
		f.writeCounters(strings),
		f.writeCommunicators(strings),
		f.writeCoordinates(),
		f.writeCallPaths(),
		f.writeLanes(),
		disk.WriteColumn(f.Dir, "string.offset.u64", strings.offsets),
		disk.WriteColumn(f.Dir, "string.bytes.u8", strings.bytes),
	)
}

func (f definer) writeLocations(strings *stringTable) error {
	n := len(f.order.old)
	name, kind := make([]uint32, n), make([]uint32, n)
	parent, last := make([]trace.LocationID, n), make([]trace.LocationID, n)
	level, rank := make([]uint16, n), make([]int32, n)
	var facts factColumnsOf
	kinds := make([]uint32, len(f.Def.Kinds)) // 0, the empty string: not met yet
	for id, old := range f.order.old {
		l := &f.Def.Locations[old]
		if kinds[l.Kind] == 0 {
			kinds[l.Kind] = strings.add(string(f.Def.Kinds[l.Kind]))
		}
		name[id], kind[id] = strings.add(l.Name), kinds[l.Kind]
		parent[id], last[id], rank[id] = trace.NoLocation, trace.LocationID(id), trace.NoRank
		if l.Parent != trace.NoLocation {
			p := f.order.number[l.Parent]
			parent[id], level[id], rank[id] = p, level[p]+1, rank[p]
		}
		if l.Rank != trace.NoRank {
			rank[id] = l.Rank
		}
		if f.Def.Kinds[l.Kind].Aside() {
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
		disk.WriteColumn(f.Dir, "location.name.u32", name), disk.WriteColumn(f.Dir, "location.kind.u32", kind),
		disk.WriteColumn(f.Dir, "location.parent.u32", parent), disk.WriteColumn(f.Dir, "location.last.u32", last),
		disk.WriteColumn(f.Dir, "location.level.u16", level), disk.WriteColumn(f.Dir, "location.rank.i32", rank),
		facts.write(f.Dir, "location_fact", "location"),
	)
}

func (f definer) writeRegions(strings *stringTable) error {
	n := len(f.Def.Regions)
	name, category, file := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	role, line := make([]uint8, n), make([]int32, n)
	var facts factColumnsOf
	for id := range f.Def.Regions {
		r := &f.Def.Regions[id]
		name[id], category[id], file[id] = strings.add(r.Name), strings.add(r.Category), strings.add(r.File)
		role[id], line[id] = uint8(r.Role), int32(r.Line)
		facts.add(id, r.Attributes, strings)
	}
	attributes := make([]uint32, len(f.Def.Attributes))
	for i, a := range f.Def.Attributes {
		attributes[i] = strings.add(a)
	}
	return cmp.Or(
		disk.WriteColumn(f.Dir, "region.name.u32", name), disk.WriteColumn(f.Dir, "region.category.u32", category),
		disk.WriteColumn(f.Dir, "region.role.u8", role), disk.WriteColumn(f.Dir, "region.file.u32", file),
		disk.WriteColumn(f.Dir, "region.line.i32", line), facts.write(f.Dir, "region_fact", "region"),
		disk.WriteColumn(f.Dir, "attribute.name.u32", attributes),
	)
}

func (f definer) writeCounters(strings *stringTable) error {
	n := len(f.Def.Counters)
	location, name, unit := make([]trace.LocationID, n), make([]uint32, n), make([]uint32, n)
	monotone, first, count := make([]uint8, n), make([]uint64, n), make([]uint64, n)
	for i, c := range f.Def.Counters {
		location[i], name[i], unit[i] = f.numberOf(c.Location), strings.add(c.Name), strings.add(c.Unit)
		if f.counters[i].growth.Settle(&c) {
			f.Report(trace.Repaired, trace.FallingCounters, 1, c.Name)
		}
		if c.Monotone {
			monotone[i] |= disk.CounterMonotone
		}
		if c.Grows {
			monotone[i] |= disk.CounterGrows
		}
		first[i], count[i] = f.counters[i].first, f.counters[i].count
	}
	return cmp.Or(
		disk.WriteColumn(f.Dir, "counter.location.u32", location), disk.WriteColumn(f.Dir, "counter.name.u32", name),
		disk.WriteColumn(f.Dir, "counter.unit.u32", unit), disk.WriteColumn(f.Dir, "counter.monotone.u8", monotone),
		disk.WriteColumn(f.Dir, "counter.first.u64", first), disk.WriteColumn(f.Dir, "counter.count.u64", count),
	)
}

func (f definer) writeCommunicators(strings *stringTable) error {
	var name []uint32
	var parent []trace.CommunicatorID
	var members []trace.LocationID
	offsets := []uint64{0}
	for _, c := range f.Def.Communicators {
		name, parent = append(name, strings.add(c.Name)), append(parent, c.Parent)
		for _, m := range c.Members {
			members = append(members, f.numberOf(m))
		}
		offsets = append(offsets, uint64(len(members)))
	}
	return cmp.Or(
		disk.WriteColumn(f.Dir, "communicator.name.u32", name), disk.WriteColumn(f.Dir, "communicator.parent.u32", parent),
		disk.WriteColumn(f.Dir, "communicator.member.u64", offsets), disk.WriteColumn(f.Dir, "member.location.u32", members),
	)
}

func (f definer) writeCoordinates() error {
	var topology []uint32
	var location []trace.LocationID
	var values []int64
	offsets := []uint64{0}
	for i, t := range f.Def.Topologies {
		for _, c := range t.Coordinates {
			topology, location = append(topology, uint32(i)), append(location, f.numberOf(c.Location))
			for _, v := range c.At {
				values = append(values, int64(v))
			}
			offsets = append(offsets, uint64(len(values)))
		}
	}
	return cmp.Or(
		disk.WriteColumn(f.Dir, "coordinate.topology.u32", topology), disk.WriteColumn(f.Dir, "coordinate.location.u32", location),
		disk.WriteColumn(f.Dir, "coordinate.value.u64", offsets), disk.WriteColumn(f.Dir, "axis.value.i64", values),
	)
}

func (f definer) writeCallPaths() error {
	n := len(f.Def.CallPaths)
	parent, region, flat := make([]trace.CallPathID, n), make([]trace.RegionID, n), make([]uint8, n)
	for i, p := range f.Def.CallPaths {
		parent[i], region[i] = p.Parent, p.Region
		if p.Flat {
			flat[i] = 1
		}
	}
	return cmp.Or(
		disk.WriteColumn(f.Dir, "callpath.parent.u32", parent), disk.WriteColumn(f.Dir, "callpath.region.u32", region),
		disk.WriteColumn(f.Dir, "callpath.flat.u8", flat),
	)
}

// writeLanes puts together what the jobs found.
func (f definer) writeLanes() error {
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
		disk.WriteColumn(f.Dir, "location.lane.u32", lanes),
		disk.WriteColumn(f.Dir, "lane.row.u64", rows),
		disk.WriteColumn(f.Dir, "lane.end.i64", ends),
	)
}
