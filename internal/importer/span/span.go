// Package span is what the formats of distributed tracing share: the meaning of
// spans. A format reads its own grammar into Spans; this package writes them.
//
//	service             location (service)
//	instance, host      location (process) below its service, where the format tells it
//	span                interval; its kind is the region's category
//	parent elsewhere    spawn link; also on the same row, where the child does not lie within the parent
//	reference, link     flow link
//	event, annotation   instant
//	tag, attribute      attribute
//
// Spans of kind client and producer are communication: their time passes
// elsewhere. All others are compute. Spans on one row that overlap get lanes.
//
// Nothing is moved to please a parent: hosts whose clocks disagree are counted.
// What a source does not say is filled in and counted: a span without duration is
// an empty interval, one without time begins with its parent.
//
// Memory is some 150 bytes a span, since a parent may come after its children.
package span

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Span is one record of a source, whatever its format.
type Span struct {
	Trace, ID, Parent string // Parent is empty at the root
	Service, Instance string
	Resource          []trace.Attribute // of the instance; those of its first span count
	Name, Kind        string            // Kind in lower case; empty where unknown
	Begin, Duration   trace.Time
	Timed             bool // Begin is known
	Lasting           bool // Duration is known
	// Shared: the server's half of a span whose other half, of the same ID, is the client's.
	Shared     bool
	References []Reference
	Events     []Event
	Tags       []trace.Attribute
	Offset     int64 // in the file, where it ends; for reports
}

// A Reference is another span that this one has to do with, beside its parent.
type Reference struct{ Trace, ID string }

// An Event is a point in time within a span.
type Event struct {
	Time trace.Time
	Name string
	Tags []trace.Attribute
}

// Latest is the last time that is believed: the year 2262 in nanoseconds.
const Latest = trace.Time(1<<63 - 1)

// FromMicroseconds converts a time or duration; ok is false where it does not fit.
func FromMicroseconds(us int64) (t trace.Time, ok bool) {
	if us < 0 || us > int64(Latest)/1000 {
		return 0, false
	}
	return trace.Time(us * 1000), true
}

// A Writer writes spans. Add them in any order, then Finish.
type Writer struct {
	w       trace.Writer
	label   string // of the file
	rows    map[rowKey]*row
	regions map[regionKey]trace.RegionID
	tags    map[string]trace.AttributeID
	byID    map[key]int32 // the first node of an id
	nodes   []node
	later   []waiting // without time
	traces  map[string]uint32
	held    []bool // traces that have spans
	refs    []reference
	first   trace.Time
	began   bool
	skew    skew
}

type rowKey struct{ service, instance string }

type row struct {
	at     trace.LocationID
	stream trace.Stream
}

type regionKey struct{ name, category string }

// A key names a span: the number of its trace, and its id.
type key struct {
	trace uint32
	id    string
}

// A node is what is kept of a span: enough to join it with others.
type node struct {
	key
	parent     string
	row        *row
	region     trace.RegionID
	begin, end trace.Time
	next       int32 // of the same id; -1
	client     bool
	server     bool
	shared     bool
	timed      bool
	offset     int64
}

type waiting struct {
	node int32
	span Span
}

type reference struct {
	node int32
	to   key
}

// NewWriter makes one that writes the spans of a file to w.
func NewWriter(w trace.Writer, label string) *Writer {
	return &Writer{w: w, label: label, rows: map[rowKey]*row{}, regions: map[regionKey]trace.RegionID{}, tags: map[string]trace.AttributeID{},
		byID: map[key]int32{}, traces: map[string]uint32{}}
}

func (w *Writer) place(offset int64) string { return place(w.label, offset) }

// Count is the number of spans so far.
func (w *Writer) Count() int { return len(w.nodes) }

// Add takes one span; it may be reused afterwards, but not its slices.
func (w *Writer) Add(s *Span) {
	if s.Duration < 0 || s.Begin > Latest-s.Duration {
		w.w.Report(trace.Repaired, "spans whose duration is negative or out of range: drawn as empty", 1, w.place(s.Offset))
		s.Duration = 0
	}
	number := w.number(s.Trace)
	w.held[number] = true
	id := int32(len(w.nodes))
	n := node{key: key{number, s.ID}, parent: s.Parent, row: w.row(s), region: w.region(s), begin: s.Begin, end: s.Begin + s.Duration, next: -1,
		client: s.Kind == "client", server: s.Kind == "server", shared: s.Shared, timed: s.Timed, offset: s.Offset}
	if first, ok := w.byID[n.key]; ok {
		n.next = w.nodes[first].next
		w.nodes = append(w.nodes, n)
		w.nodes[first].next = id
	} else {
		w.byID[n.key] = id
		w.nodes = append(w.nodes, n)
	}
	for _, r := range s.References {
		w.refs = append(w.refs, reference{id, key{w.number(r.Trace), r.ID}})
	}
	if !s.Timed {
		w.later = append(w.later, waiting{id, *s})
		return
	}
	w.write(s, &n)
}

// number gives the number of a trace, of which there may be no span.
func (w *Writer) number(id string) uint32 {
	n, ok := w.traces[id]
	if !ok {
		n = uint32(len(w.traces))
		w.traces[id] = n
		w.held = append(w.held, false)
	}
	return n
}

func (w *Writer) row(s *Span) *row {
	k := rowKey{s.Service, s.Instance}
	r := w.rows[k]
	if r == nil {
		name := s.Service
		if name == "" {
			name = "(no service)"
		}
		l := trace.Location{Parent: trace.NoLocation, Kind: "service", Name: name, Rank: trace.NoRank}
		if s.Instance != "" {
			l = trace.Location{Parent: w.w.Location(l), Kind: trace.KindProcess, Name: s.Instance, Rank: trace.NoRank}
		}
		l.Attributes = s.Resource
		at := w.w.Location(l)
		r = &row{at: at, stream: w.w.Stream(at, trace.StreamOptions{Unordered: true})}
		w.rows[k] = r
	}
	return r
}

func (w *Writer) region(s *Span) trace.RegionID {
	name, role := s.Name, trace.RoleCompute
	if name == "" {
		name = "(no name)"
	}
	if s.Kind == "client" || s.Kind == "producer" {
		role = trace.RoleCommunication
	}
	return w.define(name, s.Kind, role)
}

func (w *Writer) define(name, category string, role trace.Role) trace.RegionID {
	k := regionKey{name, category}
	id, ok := w.regions[k]
	if !ok {
		id = w.w.Region(trace.Region{Name: name, Category: category, Role: role})
		w.regions[k] = id
	}
	return id
}

// write puts a span whose time is known on its row.
func (w *Writer) write(s *Span, n *node) {
	if !w.began || n.begin < w.first {
		w.first, w.began = n.begin, true
	}
	if !s.Lasting {
		w.w.Report(trace.Guessed, "spans without duration: drawn as empty", 1, w.place(s.Offset))
	}
	out := n.row.stream
	out.Interval(n.begin, n.end, n.region)
	w.tag(out, "trace", trace.Text(s.Trace))
	w.tag(out, "span", trace.Text(s.ID))
	if s.Parent != "" {
		w.tag(out, "parent span", trace.Text(s.Parent))
	}
	for _, a := range s.Tags {
		w.tag(out, a.Key, a.Value)
	}
	for _, e := range s.Events {
		name := e.Name
		if name == "" {
			name = "(no name)"
		}
		out.Instant(e.Time, w.define(name, "event", trace.RoleAnnotation))
		w.tag(out, "span", trace.Text(s.ID))
		for _, a := range e.Tags {
			w.tag(out, a.Key, a.Value)
		}
	}
}

func (w *Writer) tag(out trace.Stream, name string, v trace.Value) {
	id, ok := w.tags[name]
	if !ok {
		id = w.w.Attribute(name)
		w.tags[name] = id
	}
	out.Attribute(id, v)
}

// KindOf brings the name of a kind to ours: "SPAN_KIND_CLIENT" becomes "client".
func KindOf(name string) string {
	name = strings.TrimPrefix(strings.ToLower(name), "span_kind_")
	if name == "unspecified" {
		return ""
	}
	return name
}
