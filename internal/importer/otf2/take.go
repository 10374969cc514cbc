package otf2

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
	case defSystemTreeNode, defLocationGroup, defLocation, defSystemTreeNodeProperty, defSystemTreeNodeDomain,
		defLocationGroupProperty, defLocationProperty:
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

// takeSystem reads the definitions of the tree of locations.
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
		switch g.kind {
		case groupCommLocations:
			d.worlds[g.paradigm] = g.members
		case groupLocations, groupCommGroup, groupCommSelf:
		default:
			d.otherGroups++
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
