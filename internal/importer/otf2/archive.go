package otf2

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An archive is a run while it is imported: the state that all locations share.
// Rows read it from many goroutines; fields that they change are behind mu or
// atomic.
type archive struct {
	run    importer.Run
	w      trace.Writer
	files  archiveFiles
	anchor anchor
	defs   definitions

	tree       *tree
	comms      []communicator
	regions    *table[trace.RegionID]
	attributes table[trace.AttributeID]
	parameters table[trace.AttributeID]
	names      names
	own        [eventIDs + 1]atomic.Uint64 // regions named after records, +1; 0 before

	matcher      *match.Matcher
	mostChannels int // for which messages wait in queues

	mu       sync.Mutex
	streams  map[trace.LocationID]*sharedStream
	programs programName
	totals   tallyTotals
}

// names are the attributes that records become, defined when first met.
type names struct {
	communicator, operation, root, sent, received              name
	program, status                                            name
	threads, lock, lockType, order, task                       name
	window, remote, sync                                       name
	file, handle, mode, requested, transferred, offset, whence name
}

type name struct {
	text string
	id   atomic.Uint64 // +1
}

func (n *names) init() {
	for p, text := range map[*name]string{
		&n.communicator: "communicator", &n.operation: "operation", &n.root: "root", &n.sent: "bytes sent",
		&n.received: "bytes received",
		&n.program:  "program", &n.status: "exit status", &n.threads: "threads requested", &n.lock: "lock",
		&n.lockType: "lock type",
		&n.order:    "acquisition order", &n.task: "task", &n.window: "window", &n.remote: "remote",
		&n.sync: "synchronization",
		&n.file: "file", &n.handle: "handle", &n.mode: "mode", &n.requested: "bytes requested",
		&n.transferred: "bytes transferred",
		&n.offset:      "offset", &n.whence: "whence",
	} {
		p.text = text
	}
}

// name returns the attribute of a name.
func (a *archive) name(n *name) trace.AttributeID {
	id := n.id.Load()
	if id == 0 {
		id = uint64(a.w.Attribute(n.text)) + 1
		n.id.Store(id)
	}
	return trace.AttributeID(id - 1)
}

// define passes all definitions to the trace, in the archive's order.
func (a *archive) define() {
	d := &a.defs
	a.names.init()
	a.tree = d.defineTree(a.w)
	a.regions = d.defineRegions(a.w)
	a.comms = d.defineCommunicators(a.w, a.tree)
	d.defineTopologies(a.w, a.tree, a.comms)
	a.streams = map[trace.LocationID]*sharedStream{}
}

// attribute finds the attribute of a definition.
func (a *archive) attribute(id uint64) (trace.AttributeID, bool) {
	return a.defined(&a.attributes, id, func() string {
		def, _ := a.defs.attributes.get(id)
		return a.defs.text(def.name)
	})
}

// parameter finds the attribute that a parameter becomes.
func (a *archive) parameter(id uint64) (trace.AttributeID, bool) {
	return a.defined(&a.parameters, id, func() string {
		def, _ := a.defs.parameters.get(id)
		return a.defs.text(def.name)
	})
}

func (a *archive) defined(t *table[trace.AttributeID], id uint64, text func() string) (trace.AttributeID, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, ok := t.get(id); ok {
		return k, true
	}
	s := text()
	if s == "" {
		return 0, false
	}
	k := a.w.Attribute(s)
	t.put(id, k)
	return k, true
}

// region finds the region of a location's number, and defines one for a number
// that the archive does not define.
func (a *archive) region(l *local, ref uint64, t *tally) trace.RegionID {
	if ref != undefined64 && ref != undefined32 {
		ref = l.global(mapRegion, ref)
	}
	if id, ok := a.regions.get(ref); ok {
		return id
	}
	t.regions++
	if ref == undefined64 || ref == undefined32 {
		return a.ownRegion("unknown region")
	}
	return a.ownRegion("region " + decimal(ref))
}

// ownRegion defines a region that the archive has no definition of.
func (a *archive) ownRegion(name string) trace.RegionID {
	r := trace.Region{Name: name, Category: "measurement", Role: trace.RoleOverhead}
	if strings.Contains(name, "region") {
		r = trace.Region{Name: name}
	}
	return a.w.Region(r)
}

// recordRegion is the region of instants that are named after a record.
func (a *archive) recordRegion(id uint8) trace.RegionID {
	k := min(int(id), eventIDs)
	known := a.own[k].Load()
	if known == 0 {
		name := "record"
		if k < eventIDs {
			name = eventNames[k]
		}
		known = uint64(a.w.Region(trace.Region{Name: name, Category: "otf2 record", Role: trace.RoleAnnotation})) + 1
		a.own[k].Store(known)
	}
	return trace.RegionID(known - 1)
}

func (a *archive) setIncomplete(process int32) {
	a.mu.Lock()
	a.matcher.Incomplete[process] = true
	a.mu.Unlock()
}

// A programName is the program's name by the first location that has one.
type programName struct {
	at        int32
	name      string
	arguments []string
}

func (a *archive) program(at int32, name string, arguments []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if name != "" && (a.programs.name == "" || at < a.programs.at) {
		a.programs = programName{at, name, arguments}
	}
}

// A sharedStream is the stream of a node or process that several locations record
// metrics of.
type sharedStream struct {
	mu     sync.Mutex
	stream trace.Stream
}

func (s *sharedStream) sample(c trace.CounterID, t trace.Time, v float64) {
	s.mu.Lock()
	s.stream.Sample(c, t, v)
	s.mu.Unlock()
}

// shared opens the stream of a location that is not a row.
func (a *archive) shared(at trace.LocationID) *sharedStream {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.streams[at]
	if s == nil {
		s = &sharedStream{stream: a.w.Stream(at, trace.StreamOptions{Unordered: true})}
		a.streams[at] = s
	}
	return s
}
