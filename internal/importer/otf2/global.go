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

// definitions are all that the global definition file says. References are
// resolved when all is read: writers put definitions in any order.
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

	counts      [256]int64 // records of each kind
	otherGroups int64      // of regions or metrics
	bad         int64      // records that could not be read
	badAt       int64
	damage      damage
}

// read takes all definitions of the global file.
func (d *definitions) read(ctx context.Context, src io.Reader) error {
	d.worlds, d.paradigms = map[uint8][]uint64{}, map[uint8]uint32{}
	var r definitionReader
	var rec record
	for r.open(src); r.next(&rec); {
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

// text is a string by its number; "" for none.
func (d *definitions) text(id uint32) string {
	s, _ := d.strings.get(uint64(id))
	return s
}
