package write

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// definitions are the half of a trace.Writer that every format shares: all definitions, and the first error.
// Formats embed it.
type definitions struct {
	format string
	// category is the word that the format uses for ours.
	category func(string) string

	mu            sync.RWMutex
	err           error
	locations     []trace.Location
	locationIDs   map[locationKey]trace.LocationID
	regions       []region
	regionIDs     map[regionKey]trace.RegionID
	attributes    []string // as JSON, with the colon
	attributeIDs  map[string]trace.AttributeID
	counters      []counter
	counterIDs    map[counterKey]trace.CounterID
	communicators []trace.Communicator
	topologies    []trace.Topology
	properties    [][2]string
	left          []trace.ReportEntry // omissions

	counted sync.Once
	gpus    int // of a machine, once counted
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

type counterKey struct {
	location trace.LocationID
	name     string
}

// A region is kept in the form in which it is written thousands of times.
type region struct {
	trace.Region
	json []byte // "cat":"…","name":"…"
	args []byte // attributes of the region as members of args, each with ", " after it
}

type counter struct {
	trace.Counter
	json []byte // the name, quoted
}

func newDefinitions(format string, category func(string) string) *definitions {
	return &definitions{
		format:       format,
		category:     category,
		locationIDs:  map[locationKey]trace.LocationID{},
		regionIDs:    map[regionKey]trace.RegionID{},
		attributeIDs: map[string]trace.AttributeID{},
		counterIDs:   map[counterKey]trace.CounterID{},
	}
}

// fail keeps the first error.
func (d *definitions) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil && err != nil {
		d.err = err
	}
}

func (d *definitions) failed() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.err
}

// cannotHold reports records that the format has no place for.
func (d *definitions) cannotHold(what string) {
	d.fail(fmt.Errorf("write %s: the format cannot hold %s", d.format, what))
}

func (d *definitions) Location(l trace.Location) trace.LocationID {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := locationKey{l.Parent, l.Kind, l.Key}
	if k.key == "" {
		k.key = "\x00" + l.Name // a name never equals a key
	}
	if id, ok := d.locationIDs[k]; ok {
		return id
	}
	id := trace.LocationID(len(d.locations))
	l.Attributes = append([]trace.Attribute(nil), l.Attributes...)
	d.locations = append(d.locations, l)
	d.locationIDs[k] = id
	return id
}

func (d *definitions) Describe(id trace.LocationID, l trace.Location) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := &d.locations[id]
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

func (d *definitions) Region(r trace.Region) trace.RegionID {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := regionKey{r.Name, r.Category, r.File, r.Line}
	if id, ok := d.regionIDs[k]; ok {
		return id
	}
	id := trace.RegionID(len(d.regions))
	n := region{Region: r}
	n.json = appendText(append(n.json, `"cat":`...), d.category(r.Category))
	n.json = appendText(append(n.json, `,"name":`...), r.Name)
	for _, a := range r.Attributes {
		n.args = append(appendText(n.args, a.Key), ": "...)
		if text := a.Value.String(); strings.HasPrefix(text, "[") {
			n.args = append(append(n.args, text...), ", "...) // a list, such as the grid of a kernel
		} else {
			n.args = append(appendValue(n.args, a.Value), ", "...)
		}
	}
	d.regions = append(d.regions, n)
	d.regionIDs[k] = id
	return id
}

func (d *definitions) Attribute(name string) trace.AttributeID {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.attributeIDs[name]; ok {
		return id
	}
	id := trace.AttributeID(len(d.attributes))
	d.attributes = append(d.attributes, string(appendText(nil, name))+":")
	d.attributeIDs[name] = id
	return id
}

func (d *definitions) Counter(c trace.Counter) trace.CounterID {
	d.mu.Lock()
	defer d.mu.Unlock()
	k := counterKey{c.Location, c.Name}
	if id, ok := d.counterIDs[k]; ok {
		return id
	}
	id := trace.CounterID(len(d.counters))
	d.counters = append(d.counters, counter{c, appendText(nil, c.Name)})
	d.counterIDs[k] = id
	return id
}

func (d *definitions) Communicator(c trace.Communicator) trace.CommunicatorID {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Members = append([]trace.LocationID(nil), c.Members...)
	d.communicators = append(d.communicators, c)
	return trace.CommunicatorID(len(d.communicators) - 1)
}

func (d *definitions) Topology(t trace.Topology) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.topologies = append(d.topologies, t)
}

func (d *definitions) Property(key, value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.properties = append(d.properties, [2]string{key, value})
}

// Report counts omissions of a writer; demos themselves repair nothing.
func (d *definitions) Report(kind trace.ReportKind, what string, count int64, _ string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.left, func(e trace.ReportEntry) bool { return e.Kind == kind && e.What == what })
	if i < 0 {
		i = len(d.left)
		d.left = append(d.left, trace.ReportEntry{Kind: kind, What: what})
	}
	d.left[i].Count += count
}

// Left implements File.
func (d *definitions) Left() []trace.ReportEntry {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := slices.Clone(d.left)
	slices.SortFunc(list, func(a, b trace.ReportEntry) int { return strings.Compare(a.What, b.What) })
	return list
}

func (d *definitions) Metric(trace.Metric) trace.MetricID       { return 0 }
func (d *definitions) CallPath(trace.CallPath) trace.CallPathID { return 0 }
func (d *definitions) Profile(trace.ProfileRow)                 { d.cannotHold("profiles") }
func (d *definitions) Atomic(trace.AtomicRow)                   { d.cannotHold("profiles") }
func (d *definitions) Moments(trace.MomentRow)                  { d.cannotHold("moments") }

// above returns the nearest location of a kind at or above id, or NoLocation.
func (d *definitions) above(id trace.LocationID, kind trace.Kind) trace.LocationID {
	for id != trace.NoLocation && d.locations[id].Kind != kind {
		id = d.locations[id].Parent
	}
	return id
}

// rank of a location: its own or that of the nearest one above.
func (d *definitions) rank(id trace.LocationID) int {
	for ; id != trace.NoLocation; id = d.locations[id].Parent {
		if r := d.locations[id].Rank; r != trace.NoRank {
			return r
		}
	}
	return trace.NoRank
}

// number returns the key of a location if that is a number.
func (d *definitions) number(id trace.LocationID) (int64, bool) {
	n, err := strconv.ParseInt(d.locations[id].Key, 10, 64)
	return n, err == nil
}

// A lookup is a copy of the tables that records refer to, taken without a lock and
// renewed when an id is newer than it.
type lookup struct {
	d          *definitions
	regions    []region
	attributes []string
	counters   []counter
}

func (l *lookup) renew() {
	l.d.mu.RLock()
	defer l.d.mu.RUnlock()
	l.regions, l.attributes, l.counters = l.d.regions, l.d.attributes, l.d.counters
}

func (l *lookup) region(id trace.RegionID) *region {
	if int(id) >= len(l.regions) {
		l.renew()
	}
	return &l.regions[id]
}

func (l *lookup) attribute(id trace.AttributeID) string {
	if int(id) >= len(l.attributes) {
		l.renew()
	}
	return l.attributes[id]
}

func (l *lookup) counter(id trace.CounterID) *counter {
	if int(id) >= len(l.counters) {
		l.renew()
	}
	return &l.counters[id]
}
