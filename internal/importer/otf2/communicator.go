package otf2

import (
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A communicator resolves ranks to locations of the archive.
type communicator struct {
	id   trace.CommunicatorID
	name string
	// members are locations by rank: index of definition, -1 where unknown. For
	// an inter-communicator they are those of its first group, others of its
	// second.
	members []int32
	others  []int32
	self    bool // every process is rank 0 of its own
	between bool
	process bool // ranks are processes, not threads

	ranking sync.Once
	rank    map[int32]int32 // of members, made on first use
}

// defineCommunicators passes all communicators to w, parents first.
func (d *definitions) defineCommunicators(w trace.Writer, t *tree) []communicator {
	list := make([]communicator, len(d.comms))
	worlds := map[uint8][]int32{}
	for p, ids := range d.worlds {
		worlds[p] = d.indices(ids)
	}
	done := make([]bool, len(d.comms))
	for i := range d.comms {
		d.defineCommunicator(w, t, list, worlds, done, i, 0)
	}
	return list
}

func (d *definitions) defineCommunicator(w trace.Writer, t *tree, list []communicator, worlds map[uint8][]int32,
	done []bool, i, depth int) {
	if done[i] {
		return
	}
	c, out := &d.comms[i], &list[i]
	parent := trace.NoCommunicator
	if p, ok := d.commIndex.get(uint64(c.parent)); ok && p != i && depth < deepest {
		d.defineCommunicator(w, t, list, worlds, done, p, depth+1)
		if done[i] {
			return
		}
		parent = list[p].id
	}
	done[i] = true
	out.name = d.text(c.name)
	if out.name == "" {
		out.name = "communicator " + decimal(uint64(c.id))
	}
	d.fillMembers(out, c, worlds)
	k := trace.Communicator{Name: out.name, Parent: parent}
	for _, m := range slices.Concat(out.members, out.others) {
		if m < 0 {
			w.Report(trace.MissingGroups, "members of communicators that have a rank that is not defined",
				int64(len(out.members)+len(out.others)), out.name)
			k.Members = nil
			break
		}
		k.Members = append(k.Members, out.location(t, m))
	}
	out.id = w.Communicator(k)
}

// location returns the location of a member: a process if ranks are processes.
func (c *communicator) location(t *tree, member int32) trace.LocationID {
	if c.process {
		return t.processes[t.places[member].process].place
	}
	return t.places[member].id
}

// fillMembers finds the locations of a communicator.
func (d *definitions) fillMembers(out *communicator, c *comm, worlds map[uint8][]int32) {
	g, _ := d.members.get(uint64(c.group))
	out.members = d.membersOf(g, worlds)
	out.self = g.kind == groupCommSelf
	for _, p := range processParadigms {
		out.process = out.process || g.paradigm == p
	}
	if c.other != undefined32 {
		out.between = true
		other, _ := d.members.get(uint64(c.other))
		out.others = d.membersOf(other, worlds)
	}
}

func (d *definitions) membersOf(g group, worlds map[uint8][]int32) []int32 {
	switch {
	case g.kind == groupCommLocations || g.kind == groupLocations:
		return d.indices(g.members)
	case g.kind != groupCommGroup:
		return nil
	case g.flags&groupGlobalMembers != 0:
		return worlds[g.paradigm]
	}
	world := worlds[g.paradigm]
	list := make([]int32, len(g.members))
	for i, m := range g.members {
		list[i] = -1
		if m < uint64(len(world)) {
			list[i] = world[m]
		}
	}
	return list
}

// indices looks locations up.
func (d *definitions) indices(ids []uint64) []int32 {
	list := make([]int32, len(ids))
	for i, id := range ids {
		list[i] = -1
		if k, ok := d.locIndex.get(id); ok {
			list[i] = int32(k)
		}
	}
	return list
}

// partner is the location of a rank that at, a location, speaks of; -1 where it
// is not known.
func (c *communicator) partner(rank uint64, at int32) int32 {
	if c.self {
		return at
	}
	side := c.members
	if c.between && c.rankOf(at) >= 0 {
		side = c.others
	}
	if rank < uint64(len(side)) {
		return side[rank]
	}
	return -1
}

// rankOf is the rank of a location among the members; -1 where it is none.
func (c *communicator) rankOf(at int32) int32 {
	c.ranking.Do(func() {
		c.rank = make(map[int32]int32, len(c.members))
		for r, m := range c.members {
			if _, known := c.rank[m]; !known {
				c.rank[m] = int32(r)
			}
		}
	})
	if r, ok := c.rank[at]; ok {
		return r
	}
	return -1
}

// defineTopologies gives the Cartesian topologies.
func (d *definitions) defineTopologies(w trace.Writer, t *tree, comms []communicator) {
	for i := range d.topologies {
		c := &d.topologies[i]
		out := trace.Topology{Name: d.text(c.name)}
		for _, dim := range c.dims {
			k, _ := d.dims.get(uint64(dim))
			out.Dims = append(out.Dims, int(k.size))
			out.DimNames = append(out.DimNames, d.text(k.name))
			out.Periodic = append(out.Periodic, k.periodic)
		}
		k, ok := d.commIndex.get(uint64(c.comm))
		if !ok {
			w.Report(trace.MissingGroups, "Cartesian topologies without a communicator", 1, out.Name)
			continue
		}
		for _, p := range d.places {
			if p.topology != c.id || len(p.at) != len(c.dims) {
				continue
			}
			at := comms[k].partner(uint64(p.rank), -1)
			if at < 0 {
				w.Report(trace.MissingGroups, "coordinates of ranks that are not known", 1, out.Name)
				continue
			}
			coordinate := trace.Coordinate{Location: comms[k].location(t, at)}
			for _, x := range p.at {
				coordinate.At = append(coordinate.At, int(x))
			}
			out.Coordinates = append(out.Coordinates, coordinate)
		}
		w.Topology(out)
	}
}
