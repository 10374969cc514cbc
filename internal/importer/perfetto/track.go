package perfetto

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is a row of events: a thread, a process, a counter, or one that the
// program made. Descriptions of tracks may come after their first events.
type track struct {
	uuid, parent uint64
	kind         trackKind
	machine      uint32
	pid, tid     int64
	name         string
	hint         string // the first event's name, for a track without one
	about        string
	order        int64
	alone        bool // it is not to be merged with others of its name

	unit        string
	factor      float64 // of a counter's values
	incremental bool
	counter     trace.CounterID
	counts      bool // counter is defined

	row     *row
	samples *row   // beside row, for sampled call stacks on a track of calls
	stacks  bool   // all it has are sampled call stacks
	held    []held // records until row is known
	strays  []stray
	lanes   []*lane
	current *openSlice // of a track of states
}

type trackKind uint8

const (
	undescribed trackKind = iota
	ofThread
	ofProcess
	ofCounter
	ofProgram
)

// A row is a location with its stream, shared by tracks that are drawn as one.
type row = importer.Row

// kindTrack is the kind of locations that programs make.
const kindTrack trace.Kind = "track"

// track finds a track by its number.
func (c *rowTree) track(uuid uint64) *track {
	t := c.tracks[uuid]
	if t == nil {
		t = &track{uuid: uuid, factor: 1}
		c.tracks[uuid] = t
		c.order = append(c.order, t)
	}
	return t
}

// A trackDescriptor describes a track.
type trackDescriptor struct {
	uuid     uint64           `pb:"1"`
	name     string           `pb:"2,10,13"` // static names and those of atrace have numbers of their own
	process  []byte           `pb:"3"`
	thread   []byte           `pb:"4"`
	parent   uint64           `pb:"5"`
	counter  []byte           `pb:"8"`
	order    protobuf.Integer `pb:"12"`
	about    string           `pb:"14"`
	siblings uint64           `pb:"15"`
}

type processDescriptor struct {
	pid     int32    `pb:"1"`
	command []string `pb:"2"`
	name    string   `pb:"6"`
	labels  []string `pb:"8"`
}

// A threadDescriptor describes a thread. The last three fields are of the older form.
type threadDescriptor struct {
	pid          int32  `pb:"1"`
	tid          int64  `pb:"2"`
	name         string `pb:"5"`
	time         int64  `pb:"6"` // µs
	cpuTime      int64  `pb:"7"` // µs
	instructions int64  `pb:"8"`
}

type counterDescriptor struct {
	builtin     uint64           `pb:"1"`
	unit        uint64           `pb:"3"`
	factor      protobuf.Integer `pb:"4"`
	incremental bool             `pb:"5"`
	unitName    []byte           `pb:"6"`
}

var (
	trackDescriptors   = protobuf.TableOf[trackDescriptor]()
	processDescriptors = protobuf.TableOf[processDescriptor]()
	threadDescriptors  = protobuf.TableOf[threadDescriptor]()
	counterDescriptors = protobuf.TableOf[counterDescriptor]()
)

// separateTracks is the value of siblings of a track that is not merged with others.
const separateTracks = 2

// describeTrack takes a description of a track. Later ones add to it.
func (c *rowTree) describeTrack(p *packet) bool {
	d, ok := trackDescriptors.Of(p.payload)
	if !ok {
		return false
	}
	t := c.track(d.uuid)
	t.parent, t.alone, t.machine = d.parent, d.siblings == separateTracks, p.machine
	t.name, t.about = cmp.Or(d.name, t.name), cmp.Or(d.about, t.about)
	if order := int64(int32(d.order.Value)); d.order.Set && order >= 0 {
		t.order = order
	}
	if t.kind == undescribed {
		t.kind = ofProgram
	}
	if d.process != nil {
		t.kind = ofProcess
		c.describeProcess(t, d.process)
	}
	if d.thread != nil {
		t.kind = ofThread
		c.describeThread(t, d.thread)
	}
	if d.counter != nil {
		t.kind = ofCounter
		t.describeCounter(d.counter)
	}
	return true
}

func (c *rowTree) describeThread(t *track, b []byte) {
	d, _ := threadDescriptors.Of(b)
	t.pid, t.tid = int64(d.pid), d.tid
	c.nameThread(t.machine, t.pid, t.tid, d.name)
}

func (c *rowTree) describeProcess(t *track, b []byte) {
	d, _ := processDescriptors.Of(b)
	t.pid = int64(d.pid)
	c.nameProcess(t.machine, t.pid, cmp.Or(d.name, cmp.Or(d.command...)))
	if len(d.labels) > 0 {
		c.process(t.machine, t.pid).labels = strings.Join(d.labels, ", ")
	}
}

// Counters that have no name of their own, and units, by number.
var (
	builtinCounters = [...]string{"", "thread_time", "thread_instruction_count"}
	builtinUnits    = [...]string{"", "ns", ""}
	counterUnits    = [...]string{"", "ns", "", "bytes"}
)

func (t *track) describeCounter(b []byte) {
	d, _ := counterDescriptors.Of(b)
	if d.builtin < uint64(len(builtinCounters)) {
		t.name, t.unit = cmp.Or(t.name, builtinCounters[d.builtin]), cmp.Or(t.unit, builtinUnits[d.builtin])
	}
	if d.unit < uint64(len(counterUnits)) {
		t.unit = cmp.Or(t.unit, counterUnits[d.unit])
	}
	if d.unitName != nil {
		t.unit = string(d.unitName)
	}
	if d.factor.Set {
		t.factor = float64(d.factor.Value)
	}
	t.incremental = t.incremental || d.incremental
}

// mostParents is how far up the tree of tracks is followed: parents may run in a circle.
const mostParents = 32

// place finds the row of a track; nil while its description, or that of one
// above, is missing.
func (c *rowTree) place(t *track) *row {
	if t.row == nil {
		t.row = c.locate(t, mostParents)
	}
	return t.row
}

func (c *rowTree) locate(t *track, depth int) *row {
	switch t.kind {
	case undescribed:
		return nil
	case ofThread:
		return c.threadRow(t.machine, t.pid, t.tid)
	case ofProcess:
		return c.processRow(t.machine, t.pid)
	}
	above := c.root
	if t.parent != 0 && depth > 0 {
		p := c.tracks[t.parent]
		if p == nil || p.kind == undescribed {
			return nil
		}
		if p.row == nil {
			p.row = c.locate(p, depth-1)
		}
		if p.row == nil {
			return nil
		}
		above = p.row.At
	}
	if t.kind == ofCounter { // its samples are on the row above
		if above == trace.NoLocation {
			above = c.group("counters", 1<<41)
		}
		return c.rowOf(above)
	}
	return c.programRow(t, above)
}

// programRow is the row of a track that the program made. Those of one name below
// one parent are drawn as one: the format makes a track of each asynchronous
// activity.
func (c *rowTree) programRow(t *track, above trace.LocationID) *row {
	name := cmp.Or(t.name, t.hint, "(no name)")
	l := trace.Location{Parent: above, Kind: kindTrack, Key: name, Name: name, Rank: trace.NoRank,
		Order: 1<<40 + t.order}
	if t.alone {
		l.Key = strconv.FormatUint(t.uuid, 16)
	}
	switch {
	case t.stacks:
		l.Kind = trace.KindSamples
	case isQueue(t.name):
		l.Kind = trace.KindStream
	}
	if t.about != "" {
		l.Attributes = []trace.Attribute{{Key: "description", Value: trace.Text(t.about)}}
	}
	return c.rowOf(c.w.Location(l))
}

// isQueue reports whether a track is called like a queue of a GPU: "COMPUTE AGENT
// [4] QUEUE [0] (GPU)", "HIP Activity Device 0, Queue 1", "stream 7".
func isQueue(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "queue") &&
		(strings.Contains(name, "device") || strings.Contains(name, "agent") || strings.Contains(name, "gpu")) ||
		strings.HasPrefix(name, "stream ") || strings.Contains(name, "gpu stream") ||
		strings.HasPrefix(name, "copy to ") || strings.HasPrefix(name, "hip activity")
}

// rowOf finds the row of a location.
func (c *rowTree) rowOf(at trace.LocationID) *row {
	return c.rows.At(at, trace.StreamOptions{Unordered: true})
}

func (c *rowTree) group(name string, order int64) trace.LocationID {
	return c.w.Location(trace.Location{Parent: c.root, Kind: trace.KindGroup, Name: name, Rank: trace.NoRank,
		Order: order})
}

// program is a command without its directories.
func program(command string) string {
	if i := strings.IndexByte(command, ' '); i > 0 && strings.HasPrefix(command, "/") {
		command = command[:i]
	}
	return path.Base(command)
}
