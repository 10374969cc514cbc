package storetest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Memory is the reference store: a trace.Writer that remembers every call, and
// readers that compute each answer straight from the definitions.
type Memory struct {
	mu        sync.Mutex
	summaries []trace.Summary
	readers   uint64

	locations   []trace.Location
	locationIDs map[locationIdentity]trace.LocationID
	regions     []trace.Region
	regionIDs   map[regionIdentity]trace.RegionID
	attributes  []string
	counters    []trace.Counter

	tracks map[trace.LocationID]*track
	links  []trace.Link

	metrics   []trace.Metric
	callPaths []trace.CallPath
	profile   []trace.ProfileRow
	lines     []trace.LineRow
	files     []string
	atomics   []trace.AtomicRow
	moments   []trace.MomentRow
	covered   []trace.Time

	communicators []trace.Communicator
	topologies    []trace.Topology
	properties    map[string]string
	report        []trace.ReportEntry
}

var _ trace.Writer = (*Memory)(nil)

type locationIdentity struct {
	parent trace.LocationID
	kind   trace.Kind
	key    string
}

type regionIdentity struct {
	name, category, file string
	line                 int
}

// NewMemory makes an empty reference store that keeps the given summaries.
func NewMemory(summaries ...trace.Summary) *Memory {
	return &Memory{
		summaries:   summaries,
		locationIDs: map[locationIdentity]trace.LocationID{},
		regionIDs:   map[regionIdentity]trace.RegionID{},
		tracks:      map[trace.LocationID]*track{},
		properties:  map[string]string{},
	}
}

// Reader returns a snapshot of the records so far.
func (m *Memory) Reader() store.Reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readers++
	return m.build()
}

func (m *Memory) Location(l trace.Location) trace.LocationID {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := locationIdentity{l.Parent, l.Kind, l.Key}
	if l.Key == "" {
		id.key = l.Name
	}
	if known, ok := m.locationIDs[id]; ok {
		return known
	}
	l.Attributes = slices.Clone(l.Attributes)
	m.locations = append(m.locations, l)
	m.locationIDs[id] = trace.LocationID(len(m.locations) - 1)
	return m.locationIDs[id]
}

func (m *Memory) Describe(id trace.LocationID, l trace.Location) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := &m.locations[id]
	if l.Name != "" {
		old.Name = l.Name
	}
	if l.Order != 0 {
		old.Order = l.Order
	}
	if l.Rank != trace.NoRank {
		old.Rank = l.Rank
	}
	old.Attributes = append(old.Attributes, l.Attributes...)
}

func (m *Memory) Region(r trace.Region) trace.RegionID {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := regionIdentity{r.Name, r.Category, r.File, r.Line}
	if known, ok := m.regionIDs[id]; ok {
		return known
	}
	if r.Role == trace.RoleByName {
		r.Role = trace.RoleOf(r.Name, r.Category)
	}
	r.Attributes = slices.Clone(r.Attributes)
	m.regions = append(m.regions, r)
	m.regionIDs[id] = trace.RegionID(len(m.regions) - 1)
	return m.regionIDs[id]
}

func (m *Memory) Attribute(name string) trace.AttributeID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return trace.AttributeID(find(&m.attributes, name, func(a string) bool { return a == name }))
}

func (m *Memory) Counter(c trace.Counter) trace.CounterID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return trace.CounterID(find(&m.counters, c,
		func(x trace.Counter) bool { return x.Location == c.Location && x.Name == c.Name }))
}

func (m *Memory) Metric(x trace.Metric) trace.MetricID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return trace.MetricID(find(&m.metrics, x, func(y trace.Metric) bool { return y.Name == x.Name }))
}

func (m *Memory) CallPath(p trace.CallPath) trace.CallPathID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return trace.CallPathID(find(&m.callPaths, p, func(q trace.CallPath) bool { return q == p }))
}

// find returns the index of the element that is the same, appending it if new.
func find[T any](list *[]T, x T, same func(T) bool) int {
	if i := slices.IndexFunc(*list, same); i >= 0 {
		return i
	}
	*list = append(*list, x)
	return len(*list) - 1
}

func (m *Memory) Communicator(c trace.Communicator) trace.CommunicatorID {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.Members = slices.Clone(c.Members)
	m.communicators = append(m.communicators, c)
	return trace.CommunicatorID(len(m.communicators) - 1)
}

func (m *Memory) Link(l trace.Link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.links = append(m.links, l)
}

func (m *Memory) Profile(r trace.ProfileRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.profile = append(m.profile, r)
}

func (m *Memory) Lines(rows []trace.LineRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, rows...)
}

func (m *Memory) SourceFile(name string) trace.FileID {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.files, name); i >= 0 {
		return trace.FileID(i)
	}
	m.files = append(m.files, name)
	return trace.FileID(len(m.files) - 1)
}

func (m *Memory) Atomic(r trace.AtomicRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.atomics = append(m.atomics, r)
}

func (m *Memory) Moments(r trace.MomentRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.moments = append(m.moments, r)
}

func (m *Memory) Topology(t trace.Topology) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t.Dims, t.DimNames, t.Periodic = slices.Clone(t.Dims), slices.Clone(t.DimNames), slices.Clone(t.Periodic)
	t.Coordinates = slices.Clone(t.Coordinates)
	for i := range t.Coordinates {
		t.Coordinates[i].At = slices.Clone(t.Coordinates[i].At)
	}
	m.topologies = append(m.topologies, t)
}

// Cover implements trace.Coverer.
func (m *Memory) Cover(begin, end trace.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.covered = append(m.covered, begin, end)
}

func (m *Memory) Property(key, value string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.properties[key] = value
}

func (m *Memory) Report(kind trace.ReportKind, what string, count int64, example string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	addReport(&m.report, kind, what, count, example)
}

func addReport(list *[]trace.ReportEntry, kind trace.ReportKind, what string, count int64, example string) {
	entry := trace.ReportEntry{Kind: kind, What: what, Example: example}
	i := find(list, entry, func(e trace.ReportEntry) bool { return e.Kind == kind && e.What == what })
	(*list)[i].Count += count
	if (*list)[i].Example == "" {
		(*list)[i].Example = example
	}
}

func (m *Memory) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(id) >= len(m.locations) {
		return &memoryStream{track: &track{}, err: fmt.Errorf("stream of location %d: not defined", id)}
	}
	k := m.tracks[id]
	if k == nil {
		k = &track{}
		m.tracks[id] = k
	}
	if k.open {
		return &memoryStream{track: &track{},
			err: fmt.Errorf("stream of location %q: already open", m.locations[id].Name)}
	}
	k.open = true
	k.unordered = k.unordered || o.Unordered
	k.byName = k.byName || o.ByName
	k.byParent = k.byParent || o.ByParent
	return &memoryStream{memory: m, track: k}
}
