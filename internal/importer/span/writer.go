package span

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/clock"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Writer writes spans. Add them in any order, then Finish.
type Writer struct {
	w     trace.Writer
	label string // of the file
	rows  map[rowKey]*row
	order []*row
	last  [recentRows]*row
	// variants are the resources of each service and instance.
	variants  map[rowKey]*variants
	resources [recentRows]recentResource
	regions   map[regionKey]trace.RegionID
	tags      importer.Attributes
	recent    [recentTags]recentTag
	named     [recentRegions]recentRegion
	nodes     nodeList
	links     []trace.Link // on their way to w
	later     []waiting    // without time
	traces    map[string]uint32
	newest    string // the trace seen last, and its number
	number    uint32
	held      []bool            // traces that have spans
	odd       map[string]uint64 // ids that are no number
	refs      []reference
	first     trace.Time
	latest    trace.Time // end
	began     bool
	skew      skew
	queue     queue
	taken     int // spans, written or in the queue
	// Clocks: measuring gathers how they compare and writes nothing; lines say how
	// they are to be moved.
	measuring bool
	lines     map[rowKey]clock.Line
}

type rowKey struct{ service, instance string }

type row struct {
	rowKey
	number int
	at     trace.LocationID
	stream trace.Stream
	spans  uint32 // written so far
	line   clock.Line
	moved  bool
}

type regionKey struct{ name, category string }

type waiting struct {
	node int32
	span Span
}

type reference struct {
	node int32
	to   key
}

func newWriter(w trace.Writer, label string) *Writer {
	return &Writer{w: w, label: label, rows: map[rowKey]*row{}, variants: map[rowKey]*variants{},
		regions: map[regionKey]trace.RegionID{}, tags: importer.NewAttributes(w),
		traces: map[string]uint32{}, odd: map[string]uint64{}}
}

func (w *Writer) place(offset int64) string { return jsonstream.Place(w.label, offset) }

// report counts something, once: not while clocks are measured.
func (w *Writer) report(kind trace.ReportKind, what string, n int64, example string) {
	if !w.measuring {
		w.w.Report(kind, what, n, example)
	}
}

// Report counts one thing, for formats that read without a Reader.
func (w *Writer) Report(kind trace.ReportKind, what, example string) {
	if w.measuring {
		return
	}
	b := w.queue.batch()
	b.reports = append(b.reports, reported{len(b.spans), kind, what, example})
	if len(b.reports) == batchSpans {
		w.queue.send(w.writeBatch)
	}
}

// NewReader reads the JSON of a file; parts left out are reported to out.
func NewReader(ctx context.Context, r io.Reader, label string, out *Writer) *jsonstream.Reader {
	return jsonstream.NewReader(ctx, r, label, out.Report)
}

// Silent is a Writer for a Reader whose findings are of no interest.
func (w *Writer) Silent() *Writer { return &Writer{measuring: true} }

// Count is the number of spans so far.
func (w *Writer) Count() int { return w.taken }

// Add takes one span; it may be reused afterwards, with its slices.
func (w *Writer) Add(s *Span) {
	w.taken++
	b := w.queue.batch()
	if b.add(s); len(b.spans) == batchSpans {
		w.queue.send(w.writeBatch)
	}
}

// drain waits until all that was added is written.
func (w *Writer) drain() { w.queue.drain(w.writeBatch) }

// writeBatch writes spans, and the reports between them.
func (w *Writer) writeBatch(b *batch) {
	reports := b.reports
	for i := range b.spans {
		for ; len(reports) > 0 && reports[0].before <= i; reports = reports[1:] {
			w.report(reports[0].kind, reports[0].what, 1, reports[0].example)
		}
		w.add(&b.spans[i])
	}
	for _, r := range reports {
		w.report(r.kind, r.what, 1, r.example)
	}
}

func (w *Writer) add(s *Span) {
	if s.Timed && (s.Begin < 0 || s.Begin > Latest) {
		w.report(trace.Repaired, "spans whose time is out of range: they begin with their parent", 1, w.place(s.Offset))
		s.Begin, s.Duration, s.Timed = 0, 0, false
	}
	if n := len(s.Events); n > 0 {
		s.Events = slices.DeleteFunc(s.Events, func(e Event) bool { return e.Time < 0 || e.Time > Latest })
		if lost := n - len(s.Events); lost > 0 {
			w.report(trace.MissingEvents, "events of spans whose time is out of range", int64(lost), w.place(s.Offset))
		}
	}
	if s.Duration < 0 || s.Begin > Latest-s.Duration {
		w.report(trace.Repaired, "spans whose duration is negative or out of range: drawn as empty", 1,
			w.place(s.Offset))
		s.Duration = 0
	}
	r := w.row(s)
	number := w.trace(s.Trace)
	w.held[number] = true
	n := node{trace: number, row: uint32(r.number), region: w.region(s), begin: s.Begin, end: s.Begin + s.Duration,
		flags: s.flags(), offset: s.Offset}
	odd := false
	if n.id, odd = w.id(s.ID); odd {
		n.flags |= oddNumber
	}
	if r.moved && s.Timed {
		n.begin, n.end = r.line.At(n.begin), r.line.At(n.end)
	}
	if n.is(hasParent) {
		if n.parent, odd = w.id(s.Parent); odd {
			n.flags |= oddParent
		}
	}
	at := w.nodes.add(&n)
	for _, f := range s.References {
		id, odd := w.id(f.ID)
		w.refs = append(w.refs, reference{at, key{id, w.trace(f.Trace), odd}})
	}
	if !s.Timed {
		keep := *s
		keep.Tags, keep.Events = slices.Clone(s.Tags), slices.Clone(s.Events)
		for i := range keep.Events {
			keep.Events[i].Tags = slices.Clone(keep.Events[i].Tags)
		}
		w.later = append(w.later, waiting{at, keep})
		return
	}
	w.write(s, w.nodes.at(at))
}

// number returns the number that stands for an id, and whether it was given here.
func (w *Writer) id(i ID) (n uint64, odd bool) {
	if i.kind != oddID {
		return i.number, false
	}
	n, ok := w.odd[i.text]
	if !ok {
		n = uint64(len(w.odd))
		w.odd[i.text] = n
	}
	return n, true
}

// trace returns the number of a trace, of which there may be no span.
func (w *Writer) trace(id string) uint32 {
	if len(w.held) > 0 && id == w.newest {
		return w.number
	}
	n, ok := w.traces[id]
	if !ok {
		n = uint32(len(w.traces))
		w.traces[id] = n
		w.held = append(w.held, false)
	}
	w.newest, w.number = id, n
	return n
}

func (w *Writer) row(s *Span) *row {
	k := w.rowOf(s)
	last := &w.last[(nearby(k.service)+nearby(k.instance))%recentRows]
	if *last != nil && (*last).rowKey == k {
		return *last
	}
	r := w.rows[k]
	if r == nil {
		r = w.newRow(s, k)
		w.rows[k] = r
		w.order = append(w.order, r)
	}
	*last = r
	return r
}

func (w *Writer) newRow(s *Span, k rowKey) *row {
	r := &row{rowKey: k, number: len(w.order)}
	r.line, r.moved = w.lines[k]
	if w.measuring {
		return r
	}
	name := cmp.Or(s.Service, "(no service)")
	l := trace.Location{Parent: trace.NoLocation, Kind: "service", Name: name, Rank: trace.NoRank}
	if k.instance != "" {
		l = trace.Location{Parent: w.w.Location(l), Kind: trace.KindProcess, Name: k.instance, Rank: trace.NoRank}
	}
	l.Attributes = s.Resource
	r.at = w.w.Location(l)
	r.stream = w.w.Stream(r.at, trace.StreamOptions{Unordered: true, ByParent: true})
	return r
}

func (w *Writer) region(s *Span) trace.RegionID {
	name, role := s.Name, trace.RoleCompute
	if name == "" || name[0] <= ' ' && strings.TrimSpace(name) == "" {
		name = "(no name)"
	}
	if s.Kind == "client" || s.Kind == "producer" {
		role = trace.RoleCommunication
	}
	return w.define(name, s.Kind, role)
}

func (w *Writer) define(name, category string, role trace.Role) trace.RegionID {
	if w.measuring {
		return 0
	}
	r := &w.named[nearby(name)%recentRegions]
	if r.known && r.name == name && r.category == category {
		return r.id
	}
	k := regionKey{name, category}
	id, ok := w.regions[k]
	if !ok {
		id = w.w.Region(trace.Region{Name: name, Category: category, Role: role})
		w.regions[k] = id
	}
	*r = recentRegion{k, id, true}
	return id
}

// write puts a span whose time is known on its row.
func (w *Writer) write(s *Span, n *node) {
	if !w.began || n.begin < w.first {
		w.first, w.began = n.begin, true
	}
	w.latest = max(w.latest, n.end)
	if w.measuring {
		return
	}
	if !s.Lasting {
		w.report(trace.Guessed, "spans without duration: drawn as empty", 1, w.place(s.Offset))
	}
	r := w.order[n.row]
	out := r.stream
	out.Interval(n.begin, n.end, n.region)
	r.spans++
	n.number = r.spans
	w.tag(out, "trace", trace.Text(s.Trace))
	w.tag(out, "span", s.ID.value())
	if s.Follows {
		w.tag(out, "follows", trace.Integer(1))
	}
	if !s.Parent.None() {
		w.tag(out, "parent span", s.Parent.value())
	}
	for _, a := range s.Tags {
		w.tag(out, a.Key, a.Value)
	}
	for _, e := range s.Events {
		name := cmp.Or(e.Name, "(no name)")
		at := e.Time
		if r.moved {
			at = r.line.At(at)
		}
		out.Instant(at, w.define(name, "event", trace.RoleAnnotation))
		w.tag(out, "span", s.ID.value())
		for _, a := range e.Tags {
			w.tag(out, a.Key, a.Value)
		}
	}
}

func (w *Writer) tag(out trace.Stream, name string, v trace.Value) {
	r := &w.recent[nearby(name)%recentTags]
	if r.known && name == r.name {
		out.Attribute(r.id, v)
		return
	}
	id := w.tags.ID(name)
	*r = recentTag{name, id, true}
	out.Attribute(id, v)
}

// nearby is a number of a name that costs little: names that differ mostly do so there.
func nearby(name string) int {
	n := len(name)
	if n == 0 {
		return 0
	}
	return n + int(name[0])*31 + int(name[n/2])*17 + int(name[n-1])*7
}

// recentTags and recentRegions are how many names of attributes and of regions are found without a look into the table
// of all.
const (
	recentTags    = 256
	recentRegions = 512
	recentRows    = 64
)

type recentRegion struct {
	regionKey
	id    trace.RegionID
	known bool
}

type recentTag struct {
	name  string
	id    trace.AttributeID
	known bool
}

// flags are those of a span that are known by itself.
func (s *Span) flags() (f nodeFlags) {
	switch s.Kind {
	case "client":
		f = isClient
	case "server":
		f = isServer
	}
	if !s.Parent.None() {
		f |= hasParent
	}
	if s.Shared {
		f |= isShared
	}
	if s.Timed {
		f |= isTimed
	}
	return f
}
