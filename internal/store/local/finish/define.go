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

// define writes the tables of everything that was defined, and of lanes.
func (f *finisher) define(context.Context) error {
	d := definer{dir: f.Dir, def: &f.Def, order: f.order, strings: newStringTable()}
	f.settleCounters()
	aside, err := d.writeLocations()
	f.aside = aside
	return cmp.Or(
		err,
		d.writeRegions(),
		d.writeCounters(f.counters),
		d.writeCommunicators(),
		d.writeCoordinates(),
		d.writeCallPaths(),
		writeLanes(f.Dir, f.jobs),
		disk.WriteColumn(f.Dir, "string.offset.u64", d.strings.offsets),
		disk.WriteColumn(f.Dir, "string.bytes.u8", d.strings.bytes),
	)
}

// settleCounters decides which counters grow, now that all samples are there.
func (f *finisher) settleCounters() {
	for i := range f.Def.Counters {
		c := &f.Def.Counters[i]
		if f.counters[i].growth.Settle(c) {
			f.Report(trace.Repaired, trace.FallingCounters, 1, c.Name)
		}
	}
}

// A definer writes definitions as columns.
type definer struct {
	dir     string
	def     *write.Definitions
	order   ordering
	strings *stringTable
}

// writeLocations returns those of a kind that is aside.
func (d definer) writeLocations() (aside []trace.LocationID, err error) {
	n := len(d.order.old)
	name, kind := make([]uint32, n), make([]uint32, n)
	parent, last := make([]trace.LocationID, n), make([]trace.LocationID, n)
	level, rank := make([]uint16, n), make([]int32, n)
	var facts factColumnsOf
	kinds := make([]uint32, len(d.def.Kinds)) // 0, the empty string: not met yet
	for id, old := range d.order.old {
		l := &d.def.Locations[old]
		if kinds[l.Kind] == 0 {
			kinds[l.Kind] = d.strings.add(string(d.def.Kinds[l.Kind]))
		}
		name[id], kind[id] = d.strings.add(l.Name), kinds[l.Kind]
		parent[id], last[id], rank[id] = trace.NoLocation, trace.LocationID(id), trace.NoRank
		if l.Parent != trace.NoLocation {
			p := d.order.number[l.Parent]
			parent[id], level[id], rank[id] = p, level[p]+1, rank[p]
		}
		if l.Rank != trace.NoRank {
			rank[id] = l.Rank
		}
		if d.def.Kinds[l.Kind].Aside() {
			aside = append(aside, trace.LocationID(id))
		}
		if l.Attributes != nil {
			facts.add(id, *l.Attributes, d.strings)
		}
	}
	for id := n - 1; id >= 0; id-- {
		if p := parent[id]; p != trace.NoLocation {
			last[p] = max(last[p], last[id])
		}
	}
	return aside, cmp.Or(
		disk.WriteColumn(d.dir, "location.name.u32", name), disk.WriteColumn(d.dir, "location.kind.u32", kind),
		disk.WriteColumn(d.dir, "location.parent.u32", parent), disk.WriteColumn(d.dir, "location.last.u32", last),
		disk.WriteColumn(d.dir, "location.level.u16", level), disk.WriteColumn(d.dir, "location.rank.i32", rank),
		facts.write(d.dir, "location_fact", "location"),
	)
}

func (d definer) writeRegions() error {
	n := len(d.def.Regions)
	name, category, file := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	role, line := make([]uint8, n), make([]int32, n)
	var facts factColumnsOf
	for id := range d.def.Regions {
		r := &d.def.Regions[id]
		name[id], category[id], file[id] = d.strings.add(r.Name), d.strings.add(r.Category), d.strings.add(r.File)
		role[id], line[id] = uint8(r.Role), int32(r.Line)
		facts.add(id, r.Attributes, d.strings)
	}
	attributes := make([]uint32, len(d.def.Attributes))
	for i, a := range d.def.Attributes {
		attributes[i] = d.strings.add(a)
	}
	return cmp.Or(
		disk.WriteColumn(d.dir, "region.name.u32", name), disk.WriteColumn(d.dir, "region.category.u32", category),
		disk.WriteColumn(d.dir, "region.role.u8", role), disk.WriteColumn(d.dir, "region.file.u32", file),
		disk.WriteColumn(d.dir, "region.line.i32", line), facts.write(d.dir, "region_fact", "region"),
		disk.WriteColumn(d.dir, "attribute.name.u32", attributes),
	)
}

func (d definer) writeCounters(ranges []sampleRange) error {
	n := len(d.def.Counters)
	location, name, unit := make([]trace.LocationID, n), make([]uint32, n), make([]uint32, n)
	monotone, first, count := make([]uint8, n), make([]uint64, n), make([]uint64, n)
	for i, c := range d.def.Counters {
		location[i], name[i], unit[i] = d.order.numberOf(c.Location), d.strings.add(c.Name), d.strings.add(c.Unit)
		if c.Monotone {
			monotone[i] |= disk.CounterMonotone
		}
		if c.Grows {
			monotone[i] |= disk.CounterGrows
		}
		first[i], count[i] = ranges[i].first, ranges[i].count
	}
	return cmp.Or(
		disk.WriteColumn(d.dir, "counter.location.u32", location), disk.WriteColumn(d.dir, "counter.name.u32", name),
		disk.WriteColumn(d.dir, "counter.unit.u32", unit), disk.WriteColumn(d.dir, "counter.monotone.u8", monotone),
		disk.WriteColumn(d.dir, "counter.first.u64", first), disk.WriteColumn(d.dir, "counter.count.u64", count),
	)
}

func (d definer) writeCommunicators() error {
	var name []uint32
	var parent []trace.CommunicatorID
	var members []trace.LocationID
	offsets := []uint64{0}
	for _, c := range d.def.Communicators {
		name, parent = append(name, d.strings.add(c.Name)), append(parent, c.Parent)
		for _, m := range c.Members {
			members = append(members, d.order.numberOf(m))
		}
		offsets = append(offsets, uint64(len(members)))
	}
	return cmp.Or(
		disk.WriteColumn(d.dir, "communicator.name.u32", name),
		disk.WriteColumn(d.dir, "communicator.parent.u32", parent),
		disk.WriteColumn(d.dir, "communicator.member.u64", offsets),
		disk.WriteColumn(d.dir, "member.location.u32", members),
	)
}

func (d definer) writeCoordinates() error {
	var topology []uint32
	var location []trace.LocationID
	var values []int64
	offsets := []uint64{0}
	for i, t := range d.def.Topologies {
		for _, c := range t.Coordinates {
			topology, location = append(topology, uint32(i)), append(location, d.order.numberOf(c.Location))
			for _, v := range c.At {
				values = append(values, int64(v))
			}
			offsets = append(offsets, uint64(len(values)))
		}
	}
	return cmp.Or(
		disk.WriteColumn(d.dir, "coordinate.topology.u32", topology),
		disk.WriteColumn(d.dir, "coordinate.location.u32", location),
		disk.WriteColumn(d.dir, "coordinate.value.u64", offsets), disk.WriteColumn(d.dir, "axis.value.i64", values),
	)
}

func (d definer) writeCallPaths() error {
	n := len(d.def.CallPaths)
	parent, region, flat := make([]trace.CallPathID, n), make([]trace.RegionID, n), make([]uint8, n)
	for i, p := range d.def.CallPaths {
		parent[i], region[i] = p.Parent, p.Region
		if p.Flat {
			flat[i] = 1
		}
	}
	return cmp.Or(
		disk.WriteColumn(d.dir, "callpath.parent.u32", parent), disk.WriteColumn(d.dir, "callpath.region.u32", region),
		disk.WriteColumn(d.dir, "callpath.flat.u8", flat),
	)
}

// writeLanes joins the lanes that the jobs found.
func writeLanes(dir string, jobs []*job) error {
	lanes, rows, ends := []uint32{0}, []uint64{0}, []trace.Time(nil)
	for _, j := range jobs {
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
		disk.WriteColumn(dir, "location.lane.u32", lanes),
		disk.WriteColumn(dir, "lane.row.u64", rows),
		disk.WriteColumn(dir, "lane.end.i64", ends),
	)
}
