package demo

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A collected is a trace kept in memory: the plainest Writer there is, strict
// where a store would repair.
type collected struct {
	mu            sync.Mutex
	locations     []trace.Location
	regions       []trace.Region
	regionIDs     map[[2]string]trace.RegionID
	attributes    []string
	counters      []trace.Counter
	communicators []trace.Communicator
	topologies    []trace.Topology
	properties    map[string]string
	links         []trace.Link
	rows          map[trace.LocationID]*collectedRow
	faults        []string // what a correct demo never does
}

type collectedRow struct {
	c         *collected
	at        trace.LocationID
	intervals []collectedInterval // preorder
	open      []int
	instants  []trace.Time
	samples   []collectedSample
	closed    bool
}

type collectedInterval struct {
	begin, end trace.Time
	region     trace.RegionID
	parent     int
	attributes []trace.Attribute
}

type collectedSample struct {
	counter trace.CounterID
	at      trace.Time
	value   float64
}

var _ trace.Writer = (*collected)(nil)

func newCollected() *collected {
	return &collected{rows: map[trace.LocationID]*collectedRow{}, properties: map[string]string{}, regionIDs: map[[2]string]trace.RegionID{}}
}

func (c *collected) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *collected) Location(l trace.Location) trace.LocationID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locations = append(c.locations, l)
	return trace.LocationID(len(c.locations) - 1)
}

func (c *collected) Describe(trace.LocationID, trace.Location) {}

func (c *collected) Region(r trace.Region) trace.RegionID {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{r.Name, r.Category}
	if id, ok := c.regionIDs[key]; ok {
		return id
	}
	id := trace.RegionID(len(c.regions))
	c.regions = append(c.regions, r)
	c.regionIDs[key] = id
	return id
}

func (c *collected) Attribute(name string) trace.AttributeID {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, old := range c.attributes {
		if old == name {
			return trace.AttributeID(i)
		}
	}
	c.attributes = append(c.attributes, name)
	return trace.AttributeID(len(c.attributes) - 1)
}

func (c *collected) Counter(k trace.Counter) trace.CounterID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counters = append(c.counters, k)
	return trace.CounterID(len(c.counters) - 1)
}

func (c *collected) Communicator(k trace.Communicator) trace.CommunicatorID {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.communicators = append(c.communicators, k)
	return trace.CommunicatorID(len(c.communicators) - 1)
}

func (c *collected) Stream(at trace.LocationID, _ trace.StreamOptions) trace.Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows[at] == nil {
		c.rows[at] = &collectedRow{c: c, at: at}
	}
	return c.rows[at]
}

func (c *collected) Link(l trace.Link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
}

func (c *collected) Metric(trace.Metric) trace.MetricID             { return 0 }
func (c *collected) CallPath(trace.CallPath) trace.CallPathID       { return 0 }
func (c *collected) Profile(trace.ProfileRow)                       {}
func (c *collected) Atomic(trace.AtomicRow)                         {}
func (c *collected) Moments(trace.MomentRow)                        {}
func (c *collected) Topology(t trace.Topology)                      { c.topologies = append(c.topologies, t) }
func (c *collected) Property(k, v string)                           { c.properties[k] = v }
func (c *collected) Report(trace.ReportKind, string, int64, string) {}

func (r *collectedRow) fault(format string, args ...any) {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.fault("location %d: %s", r.at, fmt.Sprintf(format, args...))
}

func (r *collectedRow) add(begin, end trace.Time, region trace.RegionID) {
	parent := -1
	if n := len(r.open); n > 0 {
		parent = r.open[n-1]
	}
	if n := len(r.intervals); n > 0 && begin < r.intervals[n-1].begin {
		r.fault("interval %d begins before the one before", n)
	}
	r.intervals = append(r.intervals, collectedInterval{begin: begin, end: end, region: region, parent: parent})
}

func (r *collectedRow) Enter(t trace.Time, region trace.RegionID) {
	r.add(t, -1, region)
	r.open = append(r.open, len(r.intervals)-1)
}

func (r *collectedRow) Leave(t trace.Time, region trace.RegionID) {
	n := len(r.open) - 1
	if n < 0 || r.intervals[r.open[n]].region != region || t < r.intervals[r.open[n]].begin {
		r.fault("leave of region %d at %d does not fit", region, t)
		return
	}
	r.intervals[r.open[n]].end = t
	r.open = r.open[:n]
}

func (r *collectedRow) Interval(begin, end trace.Time, region trace.RegionID) {
	for len(r.open) > 0 && r.intervals[r.open[len(r.open)-1]].end <= begin {
		r.open = r.open[:len(r.open)-1]
	}
	if n := len(r.open); n > 0 && end > r.intervals[r.open[n-1]].end {
		r.fault("interval [%d, %d) of region %d crosses the one around it", begin, end, region)
	}
	if end < begin {
		r.fault("interval [%d, %d) ends before it begins", begin, end)
	}
	r.add(begin, end, region)
	r.open = append(r.open, len(r.intervals)-1)
}

func (r *collectedRow) Instant(t trace.Time, _ trace.RegionID) { r.instants = append(r.instants, t) }

func (r *collectedRow) Sample(c trace.CounterID, t trace.Time, v float64) {
	if r.c.counters[c].Location != r.at {
		r.fault("sample of a counter of another location")
	}
	r.samples = append(r.samples, collectedSample{c, t, v})
}

func (r *collectedRow) Attribute(a trace.AttributeID, v trace.Value) {
	last := &r.intervals[len(r.intervals)-1]
	last.attributes = append(last.attributes, trace.Attribute{Key: r.c.attributes[a], Value: v})
}

func (r *collectedRow) Close() error {
	for _, i := range r.open {
		if r.intervals[i].end < 0 {
			r.fault("interval %d is never left", i)
		}
	}
	if r.closed {
		r.fault("closed twice")
	}
	r.closed = true
	return nil
}

// hash digests everything, whatever the order in which goroutines wrote it.
func (c *collected) hash() string {
	h := fnv.New64a()
	c.dump(h)
	return fmt.Sprintf("%016x", h.Sum64())
}

func (c *collected) dump(w io.Writer) {
	fmt.Fprintln(w, c.locations, c.regions, c.attributes, c.communicators, c.topologies, c.properties)
	for _, at := range c.order() {
		r := c.rows[at]
		fmt.Fprintln(w, at, r.instants)
		for _, s := range r.samples {
			k := &c.counters[s.counter] // without what a store finds
			fmt.Fprintln(w, struct {
				at         trace.LocationID
				name, unit string
				monotone   bool
			}{k.Location, k.Name, k.Unit, k.Monotone}, s.at, s.value)
		}
		for _, i := range r.intervals {
			line := numbers(nil, int64(i.begin), int64(i.end), int64(i.region), int64(i.parent))
			for _, a := range i.attributes {
				line = append(append(line, a.Key...), a.Value.String()...)
			}
			w.Write(line)
		}
	}
	lines := make([]string, len(c.links))
	for i, l := range c.links {
		lines[i] = string(numbers(nil, int64(l.Kind), int64(l.From.Location), int64(l.From.Time), int64(l.From.Region),
			int64(l.To.Location), int64(l.To.Time), int64(l.To.Region), l.Size, l.Tag, int64(l.Communicator)))
	}
	sort.Strings(lines)
	for _, l := range lines {
		io.WriteString(w, l)
	}
}

// numbers appends numbers as bytes that can be hashed.
func numbers(b []byte, list ...int64) []byte {
	for _, n := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func (c *collected) order() []trace.LocationID {
	var ids []trace.LocationID
	for at := range c.rows {
		ids = append(ids, at)
	}
	sort.Slice(ids, func(a, b int) bool { return ids[a] < ids[b] })
	return ids
}

func (c *collected) count() (n int64) {
	for _, r := range c.rows {
		n += int64(len(r.intervals))
	}
	return n
}

// rank is that of the nearest location above that has one.
func (c *collected) rank(at trace.LocationID) int {
	for at != trace.NoLocation {
		if r := c.locations[at].Rank; r != trace.NoRank {
			return r
		}
		at = c.locations[at].Parent
	}
	return trace.NoRank
}

// total adds up the durations of a region by rank.
func (c *collected) total(region string) map[int]trace.Time {
	sums := map[int]trace.Time{}
	for at, r := range c.rows {
		for _, i := range r.intervals {
			if c.regions[i.region].Name == region {
				sums[c.rank(at)] += i.end - i.begin
			}
		}
	}
	return sums
}
