package otf2

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Kinds of location groups and of locations, and the domains of tree nodes that
// give their kind.
const (
	groupProcess     = 1
	groupAccelerator = 2

	locationThread = 1
	locationStream = 2
	locationMetric = 3

	domainMachine      = 0
	domainSharedMemory = 1
	domainAccelerator  = 7
)

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// A process is a location group that acts for itself: it has a rank and a clock.
// Accelerators belong to the process that created them.
type process struct {
	place trace.LocationID
	rank  int
}

// A place is a location of the archive in the trace.
type place struct {
	id      trace.LocationID
	process int32
}

// A tree is the archive's system tree as locations of the trace.
type tree struct {
	nodes     []trace.LocationID // by index of definition
	groups    []trace.LocationID
	places    []place
	processes []process
	owner     []int32 // process of each location group
}

// defineTree passes the whole system tree to w: nodes, location groups and
// locations, each below its parent.
func (d *definitions) defineTree(w trace.Writer) *tree {
	t := &tree{nodes: make([]trace.LocationID, len(d.nodes)), groups: make([]trace.LocationID, len(d.groups)),
		owner: make([]int32, len(d.groups))}
	for i := range t.nodes {
		t.nodes[i] = trace.NoLocation
	}
	holds := d.nodesWithGroups()
	for i := range d.nodes {
		d.defineNode(w, t, i, holds, 0)
	}
	ranks := d.ranks(w)
	for i := range t.groups {
		t.groups[i], t.owner[i] = trace.NoLocation, -1
	}
	for i := range d.groups {
		d.defineGroup(w, t, i, ranks, 0)
	}
	d.defineLocations(w, t)
	return t
}

// nodesWithGroups are the nodes that processes hang below directly.
func (d *definitions) nodesWithGroups() []bool {
	holds := make([]bool, len(d.nodes))
	for i := range d.groups {
		if n, ok := d.nodeIndex.get(uint64(d.groups[i].node)); ok && d.groups[i].kind != groupAccelerator {
			holds[n] = true
		}
	}
	return holds
}

// deepest bounds how deep trees are followed: a parent may be its own child.
const deepest = 1000

func (d *definitions) defineNode(w trace.Writer, t *tree, i int, holds []bool, depth int) trace.LocationID {
	if t.nodes[i] != trace.NoLocation {
		return t.nodes[i]
	}
	n := &d.nodes[i]
	parent := trace.NoLocation
	if p, ok := d.nodeIndex.get(uint64(n.parent)); ok && p != i && depth < deepest {
		parent = d.defineNode(w, t, p, holds, depth+1)
		if t.nodes[i] != trace.NoLocation { // it was its own ancestor
			return t.nodes[i]
		}
	}
	l := trace.Location{
		Parent: parent, Kind: d.nodeKind(n, holds[i]), Key: "node " + decimal(uint64(n.id)), Name: d.text(n.name),
		Rank:  trace.NoRank,
		Order: int64(i), Attributes: d.properties(n.properties),
	}
	if l.Name == "" {
		l.Name = strings.TrimSpace(d.text(n.class) + " " + decimal(uint64(n.id)))
	}
	t.nodes[i] = w.Location(l)
	return t.nodes[i]
}

// nodeKind returns the kind of a node. A machine of the format is the whole
// system: a host is a node with shared memory. Some writers use the class for the
// name of the program, so the class counts only where it is a known word.
func (d *definitions) nodeKind(n *treeNode, holds bool) trace.Kind {
	class := strings.ToLower(d.text(n.class))
	switch {
	case n.domain == domainAccelerator:
		return trace.KindDevice
	case n.domain == domainSharedMemory || class == "node" || class == "host":
		return trace.KindMachine
	case (n.domain == domainMachine || class == "machine") && !holds:
		return trace.KindCluster
	case class == "rack" || class == "midplane" || class == "nodecard" || class == "numa" || class == "socket" ||
		class == "cache" || class == "core" || class == "pu":
		return trace.Kind(class)
	case holds:
		return trace.KindMachine
	}
	return trace.KindGroup
}

func (d *definitions) defineGroup(w trace.Writer, t *tree, i int, ranks map[int]int, depth int) trace.LocationID {
	if t.groups[i] != trace.NoLocation {
		return t.groups[i]
	}
	g := &d.groups[i]
	l := trace.Location{
		Parent: trace.NoLocation, Kind: trace.KindProcess, Key: "group " + decimal(uint64(g.id)), Name: d.text(g.name),
		Rank:  trace.NoRank,
		Order: int64(i), Attributes: d.properties(g.properties),
	}
	if n, ok := d.nodeIndex.get(uint64(g.node)); ok {
		l.Parent = t.nodes[n]
	}
	owner := int32(-1)
	if c, ok := d.groupIndex.get(uint64(g.creator)); ok && c != i && depth < deepest && g.kind == groupAccelerator {
		l.Parent = d.defineGroup(w, t, c, ranks, depth+1)
		if t.groups[i] != trace.NoLocation {
			return t.groups[i]
		}
		owner = t.owner[c]
	}
	if rank, ok := ranks[i]; ok {
		l.Rank, l.Order = rank, int64(rank)
	}
	if g.kind == groupAccelerator {
		l.Kind = trace.KindDevice
	}
	if l.Name == "" {
		l.Name = "process " + decimal(uint64(g.id))
	}
	t.groups[i] = w.Location(l)
	if owner < 0 {
		owner = int32(len(t.processes))
		t.processes = append(t.processes, process{t.groups[i], l.Rank})
	}
	t.owner[i] = owner
	return t.groups[i]
}

// processParadigms are those whose ranks are processes, in order of preference.
var processParadigms = []uint8{paradigmMPI, 13, 11, 12}

// ranks returns the rank of each location group: its place among the locations of
// the paradigm that the processes talk by, else its place among the processes.
func (d *definitions) ranks(w trace.Writer) map[int]int {
	ranks := map[int]int{}
	for _, p := range processParadigms {
		for rank, id := range d.worlds[p] {
			l, ok := d.locIndex.get(id)
			if !ok {
				continue
			}
			if g, ok := d.groupIndex.get(uint64(d.locations[l].group)); ok {
				if _, known := ranks[g]; !known {
					ranks[g] = rank
				}
			}
		}
		if len(ranks) > 0 {
			return ranks
		}
	}
	var processes []int
	for i := range d.groups {
		if d.groups[i].kind != groupAccelerator {
			processes = append(processes, i)
		}
	}
	if len(processes) < 2 {
		return ranks
	}
	for rank, i := range processes {
		ranks[i] = rank
	}
	w.Report(trace.Guessed, "ranks counted in the order of the processes, since the archive names no ranks",
		int64(len(processes)), d.text(d.groups[processes[0]].name))
	return ranks
}

// defineLocations gives the threads, streams and recorders of metrics. If a
// process has one thread and all such threads have the same name, that name says
// nothing and the process's is taken.
func (d *definitions) defineLocations(w trace.Writer, t *tree) {
	inGroup := make([]int, len(d.groups))
	names := map[string]int{}
	for i := range d.locations {
		if g, ok := d.groupIndex.get(uint64(d.locations[i].group)); ok {
			inGroup[g]++
		}
		names[d.text(d.locations[i].name)]++
	}
	t.places = make([]place, len(d.locations))
	for i := range d.locations {
		l := &d.locations[i]
		out := trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Key: decimal(l.id),
			Name: d.text(l.name), Rank: trace.NoRank, Order: int64(i), Attributes: d.properties(l.properties)}
		owner := int32(-1)
		if g, ok := d.groupIndex.get(uint64(l.group)); ok {
			out.Parent, owner = t.groups[g], t.owner[g]
			if inGroup[g] == 1 && names[out.Name] > 1 && d.text(d.groups[g].name) != "" {
				out.Name = d.text(d.groups[g].name)
			}
		}
		switch l.kind {
		case locationStream:
			out.Kind = trace.KindStream
		case locationMetric:
			out.Kind = "metric"
		}
		if out.Name == "" {
			out.Name = "location " + decimal(l.id)
		}
		t.places[i].id = w.Location(out)
		if owner < 0 { // without a process it has a clock of its own
			owner = int32(len(t.processes))
			t.processes = append(t.processes, process{t.places[i].id, trace.NoRank})
		}
		t.places[i].process = owner
	}
}

// properties returns the archive's properties of a node, a group or a location.
func (d *definitions) properties(list []property) (out []trace.Attribute) {
	for _, p := range list {
		if name := d.text(p.name); name != "" {
			out = append(out, trace.Attribute{Key: name, Value: d.value(p.value, nil)})
		}
	}
	return out
}
