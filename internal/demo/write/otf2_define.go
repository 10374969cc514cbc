package write

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// otf2Paradigms are our categories that the format has a number for.
var otf2Paradigms = map[string]uint8{
	"user": 1, "compiler": 2, "openmp": 3, "omp": 3, "mpi": 4, "cuda": 5, "kernel": 5, "pthread": 7, "shmem": 13,
	"openacc": 18, "opencl": 19, "hip": 23,
}

// otf2Roles are the format's words for our roles, for regions whose name does not show them.
var otf2Roles = [trace.RoleCount]uint8{
	trace.RoleCompute: 1, trace.RoleCommunication: 28, trace.RoleSynchronization: 15, trace.RoleIO: 27,
	trace.RoleCopy: 30, trace.RoleOverhead: 35,
}

// writeGlobal writes the definitions of the whole archive.
func (a *otf2Archive) writeGlobal() error {
	out, err := createOTF2File(filepath.Join(a.dir, otf2Name+".def"), false)
	if err != nil {
		return err
	}
	d := &otf2Definer{a: a, out: out, strings: map[string]uint32{}}
	d.clock()
	d.tree()
	d.regions()
	d.groups()
	d.metrics()
	d.topologies()
	for i := range a.names {
		name, empty := d.text(a.names[i]), d.text("")
		d.out.id(uint32(i)).id(name).u8(11).id(empty)
		d.out.define(otf2DefAttribute)
	}
	for i := range a.locations { // texts of attributes, which mapping tables refer to
		for _, s := range a.locations[i].part.texts {
			d.text(s)
		}
	}
	a.definitions, a.texts = out.events, d.strings
	return out.close()
}

// An otf2Definer writes definitions. Strings are defined when first met.
type otf2Definer struct {
	a       *otf2Archive
	out     *otf2File
	strings map[string]uint32
}

// text returns the number of a string. It is called before a record is begun.
func (d *otf2Definer) text(s string) uint32 {
	id, known := d.strings[s]
	if !known {
		id = uint32(len(d.strings))
		d.strings[s] = id
		d.out.id(id).text(s)
		d.out.define(otf2DefString)
	}
	return id
}

func (d *otf2Definer) clock() {
	var last trace.Time
	for i := range d.a.locations {
		last = max(last, d.a.locations[i].part.last)
	}
	const start = 1_767_225_600_000_000_000 // 2026-01-01
	d.out.u64(1_000_000_000).u64(0).u64(uint64(last)).u64(start)
	d.out.define(otf2DefClock)
}

func (d *otf2Definer) tree() {
	a := d.a
	for i, id := range a.nodes {
		name, class, parent := "machine", "machine", uint32(otf2None)
		if id != trace.NoLocation {
			l := &a.o.locations[id]
			name, class = l.Name, string(l.Kind)
			if p, ok := a.nearest(a.nodeOf, l.Parent); ok {
				parent = p
			}
			if l.Kind == trace.KindMachine {
				class = "node"
			}
		}
		n, c := d.text(name), d.text(class)
		d.out.id(uint32(i)).id(n).id(c).id(parent)
		d.out.define(otf2DefNode)
		if class == "node" {
			d.out.id(uint32(i)).u8(1)
			d.out.define(otf2DefNodeDomain)
		}
	}
	for i, g := range a.groups {
		name, kind := d.text(a.o.locations[g.of].Name), uint8(1)
		if g.device {
			kind = 2
		}
		d.out.id(uint32(i)).id(name).u8(kind).id(g.node).id(g.maker)
		d.out.define(otf2DefGroup)
	}
	for i, l := range a.locations {
		at := &a.o.locations[l.of]
		text, kind := at.Name, uint8(1)
		switch {
		case at.Kind == trace.KindProcess:
			text = "Master thread"
		case at.Kind == trace.KindStream || a.groups[l.group].device:
			kind = 2
		}
		name := d.text(text)
		d.out.u64(uint64(i)).id(name).u8(kind).u64(l.part.events).id(l.group)
		d.out.define(otf2DefLocation)
	}
}

func (d *otf2Definer) regions() {
	for i := range d.a.o.regions {
		r := &d.a.o.regions[i]
		name, file, empty := d.text(r.Name), d.text(r.File), d.text("")
		role, paradigm, word := uint8(1), otf2Paradigms[r.Category], r.Category
		if paradigm == 0 {
			paradigm, word = 1, ""
		}
		want := r.Role
		if want == trace.RoleByName {
			want = trace.RoleOf(r.Name, r.Category)
		}
		if want != trace.RoleOf(r.Name, word) {
			role = max(1, otf2Roles[want])
		}
		d.out.id(uint32(i)).id(name).id(empty).u8(1).id(file).id(uint32(max(r.Line,
			0))).id(0).id(name).u8(role).u8(paradigm).id(0)
		d.out.define(otf2DefRegion)
	}
}

// groups defines the world and the communicators; one of all ranks is among them.
func (d *otf2Definer) groups() {
	a := d.a
	if a.world == nil {
		return
	}
	empty := d.text("")
	d.out.id(0).id(empty).u8(6).id(uint32(len(a.world)))
	for _, l := range a.world {
		d.out.u64(uint64(l))
	}
	d.out.u8(4).u8(4).id(0)
	d.out.define(otf2DefMembers)
	group := func(number uint32, members []uint32) {
		d.out.id(number).id(empty).u8(4).id(uint32(len(members)))
		for _, r := range members {
			d.out.u64(uint64(r))
		}
		d.out.u8(5).u8(4).id(0)
		d.out.define(otf2DefMembers)
	}
	for i, c := range a.o.communicators {
		members := make([]uint32, len(c.Members))
		for k, m := range c.Members {
			members[k] = uint32(a.o.rank(m))
		}
		group(uint32(i)+1, members)
	}
	added := a.all == uint32(len(a.comms))
	if added {
		ranks := make([]uint32, len(a.world))
		for i := range ranks {
			ranks[i] = uint32(i)
		}
		group(a.all+1, ranks)
	}
	for i, c := range a.o.communicators {
		parent := uint32(otf2None)
		if c.Parent != trace.NoCommunicator {
			parent = uint32(c.Parent)
		}
		name := d.text(c.Name)
		d.out.id(uint32(i)).id(name).id(uint32(i) + 1).id(parent).id(0)
		d.out.define(otf2DefComm)
	}
	if added {
		name := d.text("MPI_COMM_WORLD")
		d.out.id(a.all).id(name).id(a.all + 1).id(otf2None).id(0)
		d.out.define(otf2DefComm)
	}
}

// metrics defines a class for each counter; those about a process that has
// threads are instances.
func (d *otf2Definer) metrics() {
	a := d.a
	n := uint32(len(a.o.counters))
	for i := range a.o.counters {
		c := &a.o.counters[i]
		name, unit, empty := d.text(c.Name), d.text(c.Unit), d.text("")
		mode := uint8(0x11) // absolute, at a point in time
		if c.Monotone {
			mode = 0x00 // accumulated since the start
		}
		d.out.id(uint32(i)).id(name).id(empty).u8(3).u8(mode).u8(10).u8(1).u64(0).id(unit)
		d.out.define(otf2DefMetricMember)
		group, about := a.groupOf[c.Location]
		class := uint32(i)
		if about {
			class = n + uint32(i)
		}
		d.out.id(class).u8(1).id(uint32(i)).u8(2).u8(1)
		d.out.define(otf2DefMetricClass)
		if about {
			d.out.id(uint32(i)).id(class).u64(uint64(a.place[c.Location])).u8(1).u64(uint64(group))
			d.out.define(otf2DefMetricInstance)
		}
	}
}

func (d *otf2Definer) topologies() {
	a, dim := d.a, uint32(0)
	for i, t := range a.o.topologies {
		first := dim
		for k, size := range t.Dims {
			text := "dimension " + strconv.Itoa(k)
			if k < len(t.DimNames) {
				text = t.DimNames[k]
			}
			periodic := uint8(0)
			if k < len(t.Periodic) && t.Periodic[k] {
				periodic = 1
			}
			name := d.text(text)
			d.out.id(dim).id(name).id(uint32(size)).u8(periodic)
			d.out.define(otf2DefDimension)
			dim++
		}
		name := d.text(t.Name)
		d.out.id(uint32(i)).id(name).id(a.all).u8(uint8(len(t.Dims)))
		for k := first; k < dim; k++ {
			d.out.id(k)
		}
		d.out.define(otf2DefTopology)
		for _, c := range t.Coordinates {
			rank := a.o.rank(c.Location)
			if rank < 0 {
				a.o.cannotHold("coordinates of locations without a rank")
				return
			}
			d.out.id(uint32(i)).id(uint32(rank)).u8(uint8(len(c.At)))
			for _, x := range c.At {
				d.out.id(uint32(x))
			}
			d.out.define(otf2DefCoordinate)
		}
	}
}

// writeLocals writes the definitions of each location: how its texts are numbered.
func (a *otf2Archive) writeLocals() error {
	for i := range a.locations {
		out, err := createOTF2File(filepath.Join(a.dir, otf2Name, strconv.Itoa(i)+".def"), false)
		if err != nil {
			return err
		}
		if texts := a.locations[i].part.texts; len(texts) > 0 {
			out.u8(0).u64(uint64(len(texts))).u8(0) // strings, dense
			for _, s := range texts {
				out.u64(uint64(a.texts[s]))
			}
			out.define(otf2DefMapping)
		}
		if err := out.close(); err != nil {
			return err
		}
	}
	return nil
}

// writeMarkers writes the instants.
func (a *otf2Archive) writeMarkers() error {
	if len(a.o.markers) == 0 {
		return nil
	}
	out, err := createOTF2File(filepath.Join(a.dir, otf2Name+".marker"), false)
	if err != nil {
		return err
	}
	list := slices.Clone(a.o.markers)
	slices.SortFunc(list, func(x, y otf2Marker) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.time, y.time), cmp.Compare(x.region, y.region))
	})
	known := map[trace.RegionID]bool{}
	for _, m := range list {
		if r := &a.o.regions[m.region]; !known[m.region] {
			known[m.region] = true
			out.id(uint32(m.region)).text(r.Category).text(r.Name).u8(0)
			out.define(otf2DefMarker)
		}
	}
	for _, m := range list {
		out.u64(uint64(m.time)).u64(0).id(uint32(m.region)).u8(1).u64(uint64(a.place[m.at])).text("")
		out.define(otf2MarkerRecord)
	}
	return out.close()
}

// writeAnchor writes the file that one opens. Its last numbers are not zero in
// archives of the library: an identity, which is the same here for the same sizes.
func (a *otf2Archive) writeAnchor() error {
	w := &otf2File{}
	w.u8(3).u8(otf2Little).text("OTF2").u8(3).u8(2).u8(3).u8(0).u8(2)
	w.full(otf2Chunk, 8).full(otf2Chunk, 8).u8(1).u8(1).full(uint64(len(a.locations)), 8).full(a.definitions, 8)
	w.text("").text("Parallax").text("a simulated run")
	w.full(uint64(len(a.o.properties)), 4)
	for _, p := range a.o.properties {
		w.text("PARALLAX::" + otf2Property(p[0])).text(p[1]) // names must have a namespace
	}
	w.full(0x9a7a11a5<<16^a.definitions, 8).full(0, 4).full(0, 4).u8(2).u8(1)
	return os.WriteFile(filepath.Join(a.dir, otf2Name+".otf2"), w.record, 0o666)
}

// otf2Property is a name of letters, digits and underscores.
func otf2Property(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// full appends an integer of n bytes.
func (o *otf2File) full(v uint64, n int) *otf2File {
	for range n {
		o.record = append(o.record, byte(v))
		v >>= 8
	}
	return o
}
