package perfetto

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A track is what events are put on: a thread, a process, a counter, or one that
// the program made. Descriptions of tracks may come after their first events.
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

// describe takes a description of a track. Later ones add to it.
func (c *rowTree) describe(p *packet) bool {
	var process, thread, counter []byte
	kind := ofProgram
	d := track{order: -1}
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case trackUUID:
			d.uuid = m.value
		case trackName, trackStaticName, trackAtraceName:
			d.name = string(m.bytes)
		case trackProcess:
			process, kind = m.bytes, ofProcess
		case trackThread:
			thread, kind = m.bytes, ofThread
		case trackParent:
			d.parent = m.value
		case trackCounter:
			counter, kind = m.bytes, ofCounter
		case trackOrder:
			d.order = int64(int32(m.value))
		case trackAbout:
			d.about = string(m.bytes)
		case trackSiblings:
			d.alone = m.value == 2
		}
	}
	if m.broken {
		return false
	}
	t := c.track(d.uuid)
	t.parent, t.alone, t.machine = d.parent, d.alone, p.machine
	if t.kind == undescribed || kind != ofProgram {
		t.kind = kind
	}
	if d.name != "" {
		t.name = d.name
	}
	if d.about != "" {
		t.about = d.about
	}
	if d.order >= 0 {
		t.order = d.order
	}
	switch {
	case thread != nil:
		c.describeThread(t, thread)
	case process != nil:
		c.describeProcess(t, process)
	case counter != nil:
		t.describeCounter(counter)
	}
	return true
}

func (c *rowTree) describeThread(t *track, b []byte) {
	var name string
	m := open(b)
	for m.next() {
		switch m.number {
		case threadPid:
			t.pid = int64(int32(m.value))
		case threadTid:
			t.tid = int64(m.value)
		case threadName:
			name = string(m.bytes)
		}
	}
	c.nameThread(t.machine, t.pid, t.tid, name)
}

func (c *rowTree) describeProcess(t *track, b []byte) {
	var name, command string
	var labels []string
	m := open(b)
	for m.next() {
		switch m.number {
		case processPid:
			t.pid = int64(int32(m.value))
		case processCommand:
			if command == "" {
				command = string(m.bytes)
			}
		case processName:
			name = string(m.bytes)
		case processLabel:
			labels = append(labels, string(m.bytes))
		}
	}
	if name == "" {
		name = command
	}
	c.nameProcess(t.machine, t.pid, name)
	if len(labels) > 0 {
		c.process(t.machine, t.pid).labels = strings.Join(labels, ", ")
	}
}

// Counters that have no name of their own, and units, by number.
var (
	builtinCounters = [...]string{"", "thread_time", "thread_instruction_count"}
	counterUnits    = [...]string{"", "ns", "", "bytes"}
)

func (t *track) describeCounter(b []byte) {
	m := open(b)
	for m.next() {
		switch m.number {
		case counterType:
			if t.name == "" && m.value < uint64(len(builtinCounters)) {
				t.name = builtinCounters[m.value]
			}
			if t.unit == "" && m.value == 1 {
				t.unit = "ns"
			}
		case counterUnit:
			if m.value < uint64(len(counterUnits)) && t.unit == "" {
				t.unit = counterUnits[m.value]
			}
		case counterFactor:
			t.factor = float64(int64(m.value))
		case counterIncremental:
			t.incremental = m.value != 0
		case counterUnitName:
			t.unit = string(m.bytes)
		}
	}
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
