package importertest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Count is a trace.Writer that keeps definitions and counts records. It costs
// next to nothing, so that a benchmark measures the reader.
type Count struct {
	mu         sync.Mutex
	locations  map[locationKey]trace.LocationID
	regions    map[regionKey]trace.RegionID
	attributes map[string]trace.AttributeID
	counters   map[trace.Counter]trace.CounterID
	paths      map[trace.CallPath]trace.CallPathID
	metrics    map[string]trace.MetricID

	Locations     []trace.Location
	Regions       []trace.Region
	Communicators []trace.Communicator
	Topologies    []trace.Topology
	Properties    map[string]string
	Links         [16]int64 // by kind
	Totals                  // of all streams that are closed
	ProfileRows   int64
	AtomicRows    int64
	MomentRows    int64
	Calls         map[trace.RegionID]int64
	Time          map[trace.RegionID]trace.Time // of whole intervals
	Reported      map[string]int64              // by kind and words
}

// Totals are numbers of records.
type Totals struct {
	Enters, Leaves, Intervals, Instants, Samples, Attributes int64
}

type locationKey struct {
	parent trace.LocationID
	kind   trace.Kind
	key    string
}

type regionKey struct {
	name, category, file string
	line                 int
}

var _ trace.Writer = (*Count)(nil)

// NewCount makes an empty Count.
func NewCount() *Count {
	return &Count{
		locations: map[locationKey]trace.LocationID{}, regions: map[regionKey]trace.RegionID{},
		attributes: map[string]trace.AttributeID{}, counters: map[trace.Counter]trace.CounterID{},
		paths: map[trace.CallPath]trace.CallPathID{}, metrics: map[string]trace.MetricID{},
		Properties: map[string]string{},
		Calls:      map[trace.RegionID]int64{}, Time: map[trace.RegionID]trace.Time{}, Reported: map[string]int64{},
	}
}

// define finds or makes the id of a key.
func define[K comparable, ID ~uint32](c *Count, ids map[K]ID, key K, made func()) ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := ids[key]
	if !ok {
		id = ID(len(ids))
		ids[key] = id
		made()
	}
	return id
}

func (c *Count) Location(l trace.Location) trace.LocationID {
	key := locationKey{l.Parent, l.Kind, l.Key}
	if l.Key == "" {
		key.key = l.Name
	}
	return define(c, c.locations, key, func() { c.Locations = append(c.Locations, l) })
}

func (c *Count) Describe(id trace.LocationID, l trace.Location) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := &c.Locations[id]
	if l.Name != "" {
		old.Name = l.Name
	}
	if l.Rank != trace.NoRank {
		old.Rank = l.Rank
	}
	old.Attributes = append(old.Attributes, l.Attributes...)
}

func (c *Count) Region(r trace.Region) trace.RegionID {
	return define(c, c.regions, regionKey{r.Name, r.Category, r.File, r.Line},
		func() { c.Regions = append(c.Regions, r) })
}

func (c *Count) Attribute(name string) trace.AttributeID {
	return define(c, c.attributes, name, func() {})
}

func (c *Count) Counter(k trace.Counter) trace.CounterID {
	return define(c, c.counters, k, func() {})
}

func (c *Count) Metric(m trace.Metric) trace.MetricID {
	return define(c, c.metrics, m.Name, func() {})
}

func (c *Count) CallPath(p trace.CallPath) trace.CallPathID {
	return define(c, c.paths, p, func() {})
}

func (c *Count) Communicator(k trace.Communicator) trace.CommunicatorID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Communicators = append(c.Communicators, k)
	return trace.CommunicatorID(len(c.Communicators) - 1)
}

func (c *Count) Link(l trace.Link) {
	atomic.AddInt64(&c.Links[l.Kind], 1)
}

func (c *Count) Profile(trace.ProfileRow) { c.add(&c.ProfileRows) }
func (c *Count) Atomic(trace.AtomicRow)   { c.add(&c.AtomicRows) }
func (c *Count) Moments(trace.MomentRow)  { c.add(&c.MomentRows) }

func (c *Count) add(n *int64) {
	c.mu.Lock()
	*n++
	c.mu.Unlock()
}

func (c *Count) Topology(t trace.Topology) {
	c.mu.Lock()
	c.Topologies = append(c.Topologies, t)
	c.mu.Unlock()
}

func (c *Count) Property(key, value string) {
	c.mu.Lock()
	c.Properties[key] = value
	c.mu.Unlock()
}

func (c *Count) Report(kind trace.ReportKind, what string, count int64, example string) {
	c.mu.Lock()
	c.Reported[kind.String()+" "+what] += count
	c.mu.Unlock()
}

func (c *Count) Stream(trace.LocationID, trace.StreamOptions) trace.Stream {
	return &countStream{c: c}
}

// CountOf imports a source, as one format, into a writer that only counts.
func CountOf(tb testing.TB, f *importer.Format, paths ...string) *Count {
	tb.Helper()
	s, err := importer.NewSource(paths...)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{f}, s)
	if err != nil {
		tb.Fatal(err)
	}
	w := NewCount()
	if err := runs[0].Import(context.Background(), w); err != nil {
		tb.Fatal(err)
	}
	return w
}

// Categories sums calls and times of whole intervals by the category of regions.
func (c *Count) Categories() (calls map[string]int64, time map[string]trace.Time) {
	calls, time = map[string]int64{}, map[string]trace.Time{}
	for id, n := range c.Calls {
		calls[c.Regions[id].Category] += n
		time[c.Regions[id].Category] += c.Time[id]
	}
	return calls, time
}

// countStream counts without locks until it is closed.
type countStream struct {
	c *Count
	Totals
	few   [8]regionTotal // of the first regions that it meets
	known int            // how many those are
	dense []regionTotal  // of others with small numbers, by number
	more  map[trace.RegionID]*regionTotal
}

// denseRegions bounds the numbers that are looked up in a list.
const denseRegions = 1 << 10

type regionTotal struct {
	region trace.RegionID
	calls  int64
	time   trace.Time
}

// of finds the total of a region.
func (s *countStream) of(r trace.RegionID) *regionTotal {
	for i := range s.few[:s.known] {
		if s.few[i].region == r {
			return &s.few[i]
		}
	}
	if s.known < len(s.few) {
		s.few[s.known].region = r
		s.known++
		return &s.few[s.known-1]
	}
	if int(r) < len(s.dense) {
		return &s.dense[r]
	}
	if r < denseRegions {
		s.dense = append(s.dense, make([]regionTotal, int(r)+1-len(s.dense))...)
		return &s.dense[r]
	}
	total := s.more[r]
	if total == nil {
		if s.more == nil {
			s.more = map[trace.RegionID]*regionTotal{}
		}
		total = &regionTotal{region: r}
		s.more[r] = total
	}
	return total
}

func (s *countStream) Enter(_ trace.Time, r trace.RegionID) { s.Enters++; s.of(r).calls++ }
func (s *countStream) Leave(trace.Time, trace.RegionID)     { s.Leaves++ }

func (s *countStream) Interval(begin, end trace.Time, r trace.RegionID) {
	s.Intervals++
	total := s.of(r)
	total.calls++
	total.time += end - begin
}

func (s *countStream) Instant(trace.Time, trace.RegionID)          { s.Instants++ }
func (s *countStream) Sample(trace.CounterID, trace.Time, float64) { s.Samples++ }
func (s *countStream) Attribute(trace.AttributeID, trace.Value)    { s.Attributes++ }

func (s *countStream) Close() error {
	s.c.mu.Lock()
	defer s.c.mu.Unlock()
	t := &s.c.Totals
	t.Enters += s.Enters
	t.Leaves += s.Leaves
	t.Intervals += s.Intervals
	t.Instants += s.Instants
	t.Samples += s.Samples
	t.Attributes += s.Attributes
	for _, total := range s.few[:s.known] {
		s.c.Calls[total.region] += total.calls
		s.c.Time[total.region] += total.time
	}
	for r, total := range s.dense {
		if total.calls > 0 {
			s.c.Calls[trace.RegionID(r)] += total.calls
			s.c.Time[trace.RegionID(r)] += total.time
		}
	}
	for r, total := range s.more {
		s.c.Calls[r] += total.calls
		s.c.Time[r] += total.time
	}
	*s = countStream{c: s.c}
	return nil
}
