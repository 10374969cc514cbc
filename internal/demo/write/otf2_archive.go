package write

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const otf2None = math.MaxUint32

// An otf2Archive is the archive while it is completed: our tree in its words.
type otf2Archive struct {
	o   *otf2
	dir string

	nodes     []trace.LocationID // system tree nodes
	groups    []otf2Group
	locations []otf2Location
	nodeOf    map[trace.LocationID]uint32
	groupOf   map[trace.LocationID]uint32
	place     map[trace.LocationID]uint32 // locations
	world     []uint32                    // locations by rank; nil: ranks have gaps
	rankOf    []uint32                    // of the group of each location
	comms     []map[uint32]uint32         // rank in the communicator by rank of the world
	all       uint32                      // the communicator of all ranks; one past the last: it is added
	names     []string                    // of attributes

	definitions uint64            // how many were written
	texts       map[string]uint32 // all strings
}

type otf2Group struct {
	of     trace.LocationID // whose it is
	node   uint32
	device bool
	maker  uint32 // the process of a device
}

type otf2Location struct {
	of    trace.LocationID
	group uint32
	part  *otf2Part
}

// newArchive sorts our locations into nodes, groups and locations.
func (o *otf2) newArchive() *otf2Archive {
	a := &otf2Archive{
		o: o, dir: o.pending.temporary, nodeOf: map[trace.LocationID]uint32{}, groupOf: map[trace.LocationID]uint32{},
		place: map[trace.LocationID]uint32{},
	}
	leaf := make([]bool, len(o.locations))
	for i := range leaf {
		leaf[i] = true
	}
	for i := range o.locations {
		if p := o.locations[i].Parent; p != trace.NoLocation {
			leaf[p] = false
		}
	}
	for i := range o.locations {
		a.sort(trace.LocationID(i), leaf[i])
	}
	if len(a.nodes) == 0 {
		a.nodes = []trace.LocationID{trace.NoLocation} // there must be one
	}
	a.names = make([]string, len(o.attributeIDs))
	for text, id := range o.attributeIDs {
		a.names[id] = text
	}
	a.rankAll()
	return a
}

func (a *otf2Archive) sort(id trace.LocationID, leaf bool) {
	l := &a.o.locations[id]
	part := a.o.parts[id]
	group, inGroup := a.nearest(a.groupOf, l.Parent)
	switch {
	case l.Kind == trace.KindProcess || l.Kind == trace.KindDevice:
		g := otf2Group{of: id, device: l.Kind == trace.KindDevice, maker: otf2None}
		g.node, _ = a.nearest(a.nodeOf, l.Parent)
		if inGroup && g.device {
			g.maker = group
		}
		a.groupOf[id] = a.addGroup(g)
		if part != nil || leaf {
			a.addLocation(id, a.groupOf[id])
		}
	case l.Kind == trace.KindThread || l.Kind == trace.KindStream || leaf && inGroup:
		if !inGroup {
			g := otf2Group{of: id, maker: otf2None}
			g.node, _ = a.nearest(a.nodeOf, l.Parent)
			group = a.addGroup(g)
		}
		a.addLocation(id, group)
	default:
		a.nodeOf[id] = uint32(len(a.nodes))
		a.nodes = append(a.nodes, id)
		if part != nil { // records of a node: a group of its own holds them
			a.addLocation(id, a.addGroup(otf2Group{of: id, node: a.nodeOf[id], maker: otf2None}))
		}
	}
}

// nearest looks a location up, or the first above it that is there.
func (a *otf2Archive) nearest(m map[trace.LocationID]uint32, id trace.LocationID) (uint32, bool) {
	for ; id != trace.NoLocation; id = a.o.locations[id].Parent {
		if k, ok := m[id]; ok {
			return k, true
		}
	}
	return 0, false
}

func (a *otf2Archive) addGroup(g otf2Group) uint32 {
	a.groups = append(a.groups, g)
	return uint32(len(a.groups) - 1)
}

func (a *otf2Archive) addLocation(id trace.LocationID, group uint32) {
	a.place[id] = uint32(len(a.locations))
	part := a.o.parts[id]
	if part == nil {
		part = &otf2Part{}
	}
	a.locations = append(a.locations, otf2Location{id, group, part})
}

// rankAll finds the location of each rank, its group's first, and the ranks within
// communicators.
func (a *otf2Archive) rankAll() {
	most := -1
	for _, g := range a.groups {
		most = max(most, a.o.locations[g.of].Rank)
	}
	first := make([]uint32, len(a.groups))
	for i := range first {
		first[i] = otf2None
	}
	for i, l := range a.locations {
		if first[l.group] == otf2None {
			first[l.group] = uint32(i)
		}
	}
	world := make([]uint32, most+1)
	for i := range world {
		world[i] = otf2None
	}
	ranks := 0
	for i, g := range a.groups {
		if r := a.o.locations[g.of].Rank; r >= 0 && first[i] != otf2None && world[r] == otf2None && !g.device {
			world[r] = first[i]
			ranks++
		}
	}
	if ranks == len(world) && ranks > 0 {
		a.world = world
	}
	a.rankOf = make([]uint32, len(a.locations))
	for i, l := range a.locations {
		a.rankOf[i] = uint32(a.o.rank(l.of))
	}
	a.all = uint32(len(a.o.communicators))
	for i, c := range a.o.communicators {
		m := map[uint32]uint32{}
		inOrder := len(c.Members) == len(world)
		for k, member := range c.Members {
			rank := a.o.rank(member)
			m[uint32(rank)] = uint32(k)
			inOrder = inOrder && rank == k
		}
		a.comms = append(a.comms, m)
		if inOrder {
			a.all = min(a.all, uint32(i))
		}
	}
}

// partner is the rank of a location in a communicator, and the communicator's
// number.
func (a *otf2Archive) partner(at, comm uint32) (rank, number uint32, ok bool) {
	place, known := a.place[trace.LocationID(at)]
	if !known || a.world == nil {
		return 0, 0, false
	}
	rank = a.rankOf[place]
	if trace.CommunicatorID(comm) == trace.NoCommunicator {
		return rank, a.all, rank < uint32(len(a.world))
	}
	rank, ok = a.comms[comm][rank]
	return rank, comm, ok
}

// writeEvents completes the event file of a location.
func (a *otf2Archive) writeEvents(i int) error {
	l := &a.locations[i]
	links, err := l.part.allLinks()
	if err != nil {
		return err
	}
	out, err := createOTF2File(filepath.Join(a.dir, otf2Name, strconv.Itoa(i)+".evt"), true)
	if err != nil {
		return err
	}
	m := &otf2Merge{a: a, out: out, links: links, texts: map[string]uint32{}}
	if l.part.path != "" {
		err = m.read(l.part.path)
	}
	m.linksUntil(math.MaxInt64)
	if closed := out.close(); err == nil {
		err = closed
	}
	l.part.events, l.part.last, l.part.texts = out.events, out.last, m.list
	return err
}

// An otf2Merge puts the records and the links of a location together.
type otf2Merge struct {
	a     *otf2Archive
	out   *otf2File
	links []otf2End
	stack []uint32
	texts map[string]uint32
	list  []string

	now     trace.Time
	waiting bool // an Enter is not written yet, since attributes may follow
	region  uint32
	facts   []byte
	count   int
}

func (m *otf2Merge) read(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		op, err := in.ReadByte()
		if err == io.EOF {
			m.enter()
			return nil
		}
		if err == nil {
			err = m.record(op, in)
		}
		if err != nil {
			return err
		}
	}
}

func (m *otf2Merge) record(op byte, in *bufio.Reader) error {
	id, err := binary.ReadUvarint(in)
	if err != nil {
		return err
	}
	d, err := binary.ReadVarint(in)
	if err != nil {
		return err
	}
	if op == otf2Attribute {
		return m.attribute(uint32(id), in)
	}
	m.enter()
	if op == otf2Leave && id == 0 { // a stream begins
		m.now = trace.Time(d)
		return nil
	}
	m.now += trace.Time(d)
	switch op {
	case otf2Enter:
		m.linksUntil(m.now)
		m.waiting, m.region = true, uint32(id)
		m.stack = append(m.stack, uint32(id))
	case otf2Leave:
		m.linksUntil(m.now)
		m.linksHere(uint32(id) - 1)
		m.out.single(m.now, otf2EvLeave, id-1, nil)
		m.stack = m.stack[:max(0, len(m.stack)-1)]
	case otf2Sample:
		m.linksUntil(m.now)
		var b [8]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return err
		}
		m.out.id(uint32(id)).u8(1).u8(10).u64(binary.LittleEndian.Uint64(b[:]))
		m.out.event(m.now, otf2EvMetric)
	}
	return nil
}

// attribute adds to the list of the Enter that waits.
func (m *otf2Merge) attribute(id uint32, in *bufio.Reader) error {
	kind, err := in.ReadByte()
	if err != nil {
		return err
	}
	m.facts = appendShort(m.facts, uint64(id))
	m.count++
	if trace.ValueKind(kind) == trace.ValueText {
		n, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		ref, known := m.texts[string(text)]
		if !known {
			ref = uint32(len(m.list))
			m.texts[string(text)] = ref
			m.list = append(m.list, string(text))
		}
		m.facts = appendShort(append(m.facts, 11), uint64(ref))
		return nil
	}
	var b [8]byte
	if _, err := io.ReadFull(in, b[:]); err != nil {
		return err
	}
	if trace.ValueKind(kind) == trace.ValueNumber {
		m.facts = append(append(m.facts, 10), b[:]...)
	} else {
		m.facts = appendShort(append(m.facts, 8), binary.LittleEndian.Uint64(b[:]))
	}
	return nil
}

// enter writes the Enter that waits, with its attributes before it.
func (m *otf2Merge) enter() {
	if !m.waiting {
		return
	}
	var list []byte
	if m.count > 0 {
		body := append(appendShort(nil, uint64(m.count)), m.facts...)
		list = appendRecord(nil, otf2EvAttributes, body)
	}
	m.out.single(m.now, otf2EvEnter, uint64(m.region), list)
	m.waiting, m.facts, m.count = false, m.facts[:0], 0
}

// linksUntil writes the links before t.
func (m *otf2Merge) linksUntil(t trace.Time) {
	for len(m.links) > 0 && m.links[0].time < t {
		m.link(&m.links[0])
		m.links = m.links[1:]
	}
}

// linksHere writes the links of now that belong to the call that is left now.
func (m *otf2Merge) linksHere(region uint32) {
	for len(m.links) > 0 && m.links[0].time == m.now &&
		(uint32(m.links[0].region) == region || m.links[0].region == trace.NoRegion) {
		m.link(&m.links[0])
		m.links = m.links[1:]
	}
}

func (m *otf2Merge) link(e *otf2End) {
	o := m.out
	switch e.kind {
	case otf2Send, otf2Receive:
		rank, comm, ok := m.a.partner(e.a, e.b)
		if !ok {
			m.a.o.cannotHold("messages of locations without a rank")
			return
		}
		id := byte(otf2EvSend)
		if e.kind == otf2Receive {
			id = otf2EvRecv
		}
		o.id(rank).id(comm).id(uint32(e.tag)).u64(uint64(max(e.size, 0)))
		o.event(e.time, id)
	case otf2Create, otf2Begin:
		id := byte(otf2EvCreate)
		if e.kind == otf2Begin {
			id = otf2EvBegin
		}
		o.id(otf2None).u64(uint64(e.tag))
		o.event(e.time, id)
	}
}
