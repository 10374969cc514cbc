package otf2

import (
	"context"
	"io"
)

// Ids of definition records that are used. Those of local files are the same,
// but for the first two.
const (
	defClockProperties        = 5
	defParadigm               = 6
	defParadigmProperty       = 7
	defIoParadigm             = 8
	defString                 = 10
	defAttribute              = 11
	defSystemTreeNode         = 12
	defLocationGroup          = 13
	defLocation               = 14
	defRegion                 = 15
	defCallsite               = 16
	defCallpath               = 17
	defGroup                  = 18
	defMetricMember           = 19
	defMetricClass            = 20
	defMetricInstance         = 21
	defComm                   = 22
	defParameter              = 23
	defRmaWin                 = 24
	defMetricClassRecorder    = 25
	defSystemTreeNodeProperty = 26
	defSystemTreeNodeDomain   = 27
	defLocationGroupProperty  = 28
	defLocationProperty       = 29
	defCartDimension          = 30
	defCartTopology           = 31
	defCartCoordinate         = 32
	defSourceCodeLocation     = 33
	defCallingContext         = 34
	defCallingContextProperty = 35
	defInterruptGenerator     = 36
	defIoFileProperty         = 37
	defIoRegularFile          = 38
	defIoDirectory            = 39
	defIoHandle               = 40
	defIoPreCreatedState      = 41
	defCallpathParameter      = 42
	defInterComm              = 43
	definitionIDs             = 44

	localMappingTable = 5
	localClockOffset  = 6
)

// Definitions as they are written. A text is a number of a string.
type (
	attributeDef struct {
		name uint32
		kind uint8
	}
	treeNode struct {
		id, name, class, parent uint32
		domain                  uint8 // noDomain where nothing is said
		properties              []property
	}
	locationGroup struct {
		id, name   uint32
		kind       uint8
		node       uint32 // of the system tree
		creator    uint32 // another location group
		properties []property
	}
	location struct {
		id         uint64
		name       uint32
		kind       uint8
		events     uint64
		group      uint32
		properties []property
	}
	property struct {
		name  uint32
		value value
	}
	region struct {
		id, name, description, canonical uint32
		file, line, endLine              uint32
		role, paradigm                   uint8
	}
	group struct {
		name     uint32
		kind     uint8
		paradigm uint8
		flags    uint32
		members  []uint64
	}
	comm struct {
		id, name, group, parent uint32
		other                   uint32 // the second group of an inter-communicator, or undefined32
	}
	metricMember struct {
		name, unit uint32
		mode, kind uint8 // kind is the type of its values
		base       uint8
		exponent   int64
	}
	metricInstance struct {
		class    uint32
		recorder uint64
		scope    uint8
		at       uint64
	}
	parameter struct {
		name uint32
		kind uint8
	}
	rmaWin  struct{ name, comm uint32 }
	cartDim struct {
		name, size uint32
		periodic   bool
	}
	cartTopology struct {
		id, name, comm uint32
		dims           []uint32
	}
	cartCoordinate struct {
		topology, rank uint32
		at             []uint32
	}
	sourceLocation struct{ file, line uint32 }
	callingContext struct{ region, source, parent uint32 }
	ioHandle       struct{ name, file uint32 }
)

const noDomain = 0xff

// definitions are all that the global definition file says. What refers to what
// is looked up when all is read: writers put definitions in any order.
type definitions struct {
	resolution uint64 // ticks a second
	offset     uint64 // ticks at the start of the trace
	realtime   uint64 // nanoseconds since 1970 at that time
	hasClock   bool

	strings     table[string]
	attributes  table[attributeDef]
	nodes       []treeNode
	nodeIndex   table[int]
	groups      []locationGroup
	groupIndex  table[int]
	locations   []location
	locIndex    table[int]
	regions     []region
	regionIndex table[int]
	members     table[group]
	// worlds are the groups that list the locations of all ranks of a paradigm.
	worlds     map[uint8][]uint64
	comms      []comm
	commIndex  table[int]
	metrics    table[metricMember]
	classes    table[[]uint32]
	instances  table[metricInstance]
	parameters table[parameter]
	windows    table[rmaWin]
	dims       table[cartDim]
	topologies []cartTopology
	places     []cartCoordinate
	sources    table[sourceLocation]
	contexts   table[callingContext]
	generators table[uint32] // names of interrupt generators
	ioFiles    table[uint32] // names
	ioHandles  table[ioHandle]
	paradigms  map[uint8]uint32 // names

	counts [256]int64 // records of each kind
	bad    int64      // records that could not be read
	badAt  int64
	damage damage
}

// read takes all definitions of the global file.
func (d *definitions) read(ctx context.Context, src io.Reader, chunk int64) error {
	d.worlds, d.paradigms = map[uint8][]uint64{}, map[uint8]uint32{}
	var r definitionReader
	var rec record
	for r.open(src, chunk); r.next(&rec); {
		if r.read&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d.counts[rec.id]++
		d.take(rec.id, &rec.fields)
		if rec.fields.bad {
			if d.bad == 0 {
				d.badAt = rec.offset
			}
			d.bad++
		}
	}
	d.damage = r.damage
	return nil
}

// total is the number of records.
func (d *definitions) total() (n int64) {
	for _, c := range d.counts {
		n += c
	}
	return n
}

// take reads one definition.
func (d *definitions) take(id uint8, f *fields) {
	switch id {
	case defClockProperties:
		d.takeClock(f)
	case defParadigm:
		p, name := f.uint8(), f.uint32()
		if !f.bad {
			d.paradigms[p] = name
		}
	case defString:
		if self, s := f.uint32(), f.text(); !f.bad {
			d.strings.put(uint64(self), s)
		}
	case defAttribute:
		if self, a := f.uint32(), (attributeDef{name: f.uint32(), kind: f.uint8()}); !f.bad {
			d.attributes.put(uint64(self), a)
		}
	case defSystemTreeNode, defLocationGroup, defLocation, defSystemTreeNodeProperty, defSystemTreeNodeDomain, defLocationGroupProperty, defLocationProperty:
		d.takeSystem(id, f)
	case defRegion:
		d.takeRegion(f)
	case defGroup, defComm, defInterComm:
		d.takeGroup(id, f)
	case defMetricMember, defMetricClass, defMetricInstance:
		d.takeMetric(id, f)
	case defParameter:
		if self, p := f.uint32(), (parameter{f.uint32(), f.uint8()}); !f.bad {
			d.parameters.put(uint64(self), p)
		}
	case defRmaWin:
		if self, w := f.uint32(), (rmaWin{f.uint32(), f.uint32()}); !f.bad {
			d.windows.put(uint64(self), w)
		}
	case defCartDimension, defCartTopology, defCartCoordinate:
		d.takeCart(id, f)
	case defSourceCodeLocation, defCallingContext, defInterruptGenerator:
		d.takeContext(id, f)
	case defIoRegularFile, defIoDirectory, defIoHandle:
		d.takeIO(id, f)
	}
}

func (d *definitions) takeClock(f *fields) {
	resolution, offset := f.uint64(), f.uint64()
	f.uint64() // the length, which some writers get wrong
	realtime := uint64(undefined64)
	if f.more() {
		realtime = f.uint64()
	}
	if !f.bad && resolution > 0 {
		d.resolution, d.offset, d.realtime, d.hasClock = resolution, offset, realtime, true
	}
}

// takeSystem reads what makes the tree of locations.
func (d *definitions) takeSystem(id uint8, f *fields) {
	switch id {
	case defSystemTreeNode:
		n := treeNode{id: f.uint32(), name: f.uint32(), class: f.uint32(), parent: f.uint32(), domain: noDomain}
		if !f.bad {
			keep(&d.nodes, &d.nodeIndex, uint64(n.id), n)
		}
	case defLocationGroup:
		g := locationGroup{id: f.uint32(), name: f.uint32(), kind: f.uint8(), node: f.uint32(), creator: undefined32}
		if f.more() {
			g.creator = f.uint32()
		}
		if !f.bad {
			keep(&d.groups, &d.groupIndex, uint64(g.id), g)
		}
	case defLocation:
		l := location{id: f.uint64(), name: f.uint32(), kind: f.uint8(), events: f.uint64(), group: f.uint32()}
		if !f.bad {
			keep(&d.locations, &d.locIndex, l.id, l)
		}
	case defSystemTreeNodeDomain:
		node, domain := f.uint32(), f.uint8()
		if i, ok := d.nodeIndex.get(uint64(node)); ok && !f.bad {
			d.nodes[i].domain = domain
		}
	case defSystemTreeNodeProperty:
		node := f.uint32()
		if p, i, ok := readProperty(f, &d.nodeIndex, uint64(node)); ok {
			d.nodes[i].properties = append(d.nodes[i].properties, p)
		}
	case defLocationGroupProperty:
		g := f.uint32()
		if p, i, ok := readProperty(f, &d.groupIndex, uint64(g)); ok {
			d.groups[i].properties = append(d.groups[i].properties, p)
		}
	case defLocationProperty:
		l := f.uint64()
		if p, i, ok := readProperty(f, &d.locIndex, l); ok {
			d.locations[i].properties = append(d.locations[i].properties, p)
		}
	}
}

// keep appends a definition, or replaces the one of that number.
func keep[T any](list *[]T, index *table[int], id uint64, v T) {
	if i, ok := index.get(id); ok {
		(*list)[i] = v
		return
	}
	index.put(id, len(*list))
	*list = append(*list, v)
}

// readProperty reads name and value; the value was a text before version 2.0.
func readProperty(f *fields, index *table[int], id uint64) (property, int, bool) {
	p := property{name: f.uint32()}
	p.value = value{typeString, uint64(f.uint32())}
	if f.more() {
		p.value = f.value(f.uint8())
	}
	i, ok := index.get(id)
	return p, i, ok && !f.bad
}

func (d *definitions) takeRegion(f *fields) {
	r := region{id: f.uint32(), name: f.uint32(), description: f.uint32()}
	kind := f.uint8()
	r.file, r.line, r.endLine = f.uint32(), f.uint32(), f.uint32()
	r.canonical = r.name
	if f.more() {
		r.canonical, r.role, r.paradigm = f.uint32(), f.uint8(), f.uint8()
	} else {
		r.role, r.paradigm = oldRole(kind)
	}
	if !f.bad {
		keep(&d.regions, &d.regionIndex, uint64(r.id), r)
	}
}

// The kinds of groups that matter here.
const (
	groupLocations     = 1
	groupCommLocations = 4
	groupCommGroup     = 5
	groupCommSelf      = 6

	groupGlobalMembers = 1 // a flag: ranks in events are those of the world
)

func (d *definitions) takeGroup(id uint8, f *fields) {
	switch id {
	case defGroup:
		self := f.uint32()
		g := group{name: f.uint32()}
		old := f.uint8()
		g.members = make([]uint64, f.count(uint64(f.uint32()), 1))
		for i := range g.members {
			g.members[i] = f.uint64()
		}
		if f.more() {
			g.kind, g.paradigm, g.flags = f.uint8(), f.uint8(), f.uint32()
		} else {
			g.kind, g.paradigm = oldGroup(old)
		}
		if f.bad {
			return
		}
		if g.kind == groupCommLocations {
			d.worlds[g.paradigm] = g.members
		}
		d.members.put(uint64(self), g)
	case defComm:
		c := comm{id: f.uint32(), name: f.uint32(), group: f.uint32(), parent: f.uint32(), other: undefined32}
		if !f.bad {
			keep(&d.comms, &d.commIndex, uint64(c.id), c)
		}
	case defInterComm:
		c := comm{id: f.uint32(), name: f.uint32(), group: f.uint32(), other: f.uint32(), parent: f.uint32()}
		if !f.bad {
			keep(&d.comms, &d.commIndex, uint64(c.id), c)
		}
	}
}

// oldGroup translates the kinds of groups from before version 1.2.
func oldGroup(kind uint8) (uint8, uint8) {
	switch kind {
	case 4:
		return groupCommGroup, paradigmMPI
	case 5:
		return groupCommSelf, paradigmMPI
	case 6:
		return groupCommLocations, paradigmMPI
	}
	return kind, paradigmUnknown
}

func (d *definitions) takeMetric(id uint8, f *fields) {
	self := uint64(f.uint32())
	switch id {
	case defMetricMember:
		m := metricMember{name: f.uint32()}
		f.uint32() // description
		f.uint8()  // source: PAPI, rusage, …
		m.mode, m.kind, m.base, m.exponent, m.unit = f.uint8(), f.uint8(), f.uint8(), f.int64(), f.uint32()
		if !f.bad {
			d.metrics.put(self, m)
		}
	case defMetricClass:
		c := make([]uint32, f.count(uint64(f.uint8()), 1))
		for i := range c {
			c[i] = f.uint32()
		}
		if !f.bad {
			d.classes.put(self, c)
		}
	case defMetricInstance:
		m := metricInstance{class: f.uint32(), recorder: f.uint64(), scope: f.uint8(), at: f.uint64()}
		if !f.bad {
			d.instances.put(self, m)
		}
	}
}

func (d *definitions) takeCart(id uint8, f *fields) {
	self := f.uint32()
	switch id {
	case defCartDimension:
		c := cartDim{name: f.uint32(), size: f.uint32(), periodic: f.uint8() == 1}
		if !f.bad {
			d.dims.put(uint64(self), c)
		}
	case defCartTopology:
		t := cartTopology{id: self, name: f.uint32(), comm: f.uint32()}
		t.dims = f.uint32s()
		if !f.bad {
			d.topologies = append(d.topologies, t)
		}
	case defCartCoordinate:
		c := cartCoordinate{topology: self, rank: f.uint32()}
		c.at = f.uint32s()
		if !f.bad {
			d.places = append(d.places, c)
		}
	}
}

// uint32s reads a list whose length is one byte.
func (f *fields) uint32s() []uint32 {
	list := make([]uint32, f.count(uint64(f.uint8()), 1))
	for i := range list {
		list[i] = f.uint32()
	}
	return list
}

func (d *definitions) takeContext(id uint8, f *fields) {
	self := uint64(f.uint32())
	switch id {
	case defSourceCodeLocation:
		if s := (sourceLocation{f.uint32(), f.uint32()}); !f.bad {
			d.sources.put(self, s)
		}
	case defCallingContext:
		if c := (callingContext{f.uint32(), f.uint32(), f.uint32()}); !f.bad {
			d.contexts.put(self, c)
		}
	case defInterruptGenerator:
		if name := f.uint32(); !f.bad {
			d.generators.put(self, name)
		}
	}
}

func (d *definitions) takeIO(id uint8, f *fields) {
	self, name := uint64(f.uint32()), f.uint32()
	file := f.uint32() // of files: where they are known
	switch {
	case f.bad:
	case id == defIoHandle:
		d.ioHandles.put(self, ioHandle{name, file})
	default:
		d.ioFiles.put(self, name)
	}
}

// text is a string by its number; "" for none.
func (d *definitions) text(id uint32) string {
	s, _ := d.strings.get(uint64(id))
	return s
}
