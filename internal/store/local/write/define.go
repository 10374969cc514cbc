package write

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Definitions holds the definitions of a trace. They stay in memory until Finish.
type Definitions struct {
	Locations     []Location
	keys          []string // of locations
	locationIDs   IdTable
	Kinds         []trace.Kind
	names         arena
	seed          maphash.Seed
	Regions       []trace.Region
	Sorted        *Sorted // definitions numbered by their order, not by their arrival; nil: none
	regionIDs     map[regionKey]trace.RegionID
	variants      []variant // names of regions that are not their own
	rawName       trace.AttributeID
	Attributes    []string
	attributeIDs  map[string]trace.AttributeID
	Counters      []trace.Counter
	counterIDs    map[counterKey]trace.CounterID
	Series        []*Series // of counters
	Metrics       []trace.Metric
	SourceFiles   []string
	metricIDs     map[string]trace.MetricID
	fileIDs       map[string]trace.FileID
	CallPaths     []trace.CallPath
	callPathIDs   map[trace.CallPath]trace.CallPathID
	Communicators []trace.Communicator
	Topologies    []trace.Topology
	Properties    map[string]string
	words         map[string]string // short strings that repeat, kept once
}

// Sorted are how many definitions there were before those that may come in any order: the first regions, attributes and
// counters that are to be put in order.
type Sorted struct {
	Regions, Attributes, Counters                                         int
	Locations, Metrics, SourceFiles, CallPaths, Communicators, Topologies int
}

type regionKey struct {
	name, category, file string
	line                 int
}

type counterKey struct {
	location trace.LocationID
	name     string
}

func (d *Definitions) init() {
	d.seed = maphash.MakeSeed()
	d.regionIDs = map[regionKey]trace.RegionID{}
	d.attributeIDs = map[string]trace.AttributeID{}
	d.counterIDs = map[counterKey]trace.CounterID{}
	d.metricIDs = map[string]trace.MetricID{}
	d.fileIDs = map[string]trace.FileID{}
	d.callPathIDs = map[trace.CallPath]trace.CallPathID{}
	d.Properties = map[string]string{}
	d.words = map[string]string{}
}

// ForgetKeys frees the tables that find definitions by key: there will be no more definitions.
func (d *Definitions) ForgetKeys() {
	d.keys, d.locationIDs = nil, IdTable{}
	d.regionIDs, d.attributeIDs, d.counterIDs = nil, nil, nil
	d.metricIDs, d.fileIDs, d.callPathIDs, d.words = nil, nil, nil, nil
}

// word copies a string that many definitions share, such as a kind or a key.
func (d *Definitions) word(s string) string {
	if s == "" {
		return ""
	}
	if w, ok := d.words[s]; ok {
		return w
	}
	s = strings.Clone(s)
	d.words[s] = s
	return s
}

// own copies attributes, so that nothing of the caller's memory is kept.
func (d *Definitions) own(list []trace.Attribute) []trace.Attribute {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	for i, a := range out {
		out[i].Key = d.word(a.Key)
		if a.Value.Kind == trace.ValueText {
			out[i].Value = trace.Text(strings.Clone(a.Value.String()))
		}
	}
	return out
}

// Region implements trace.Writer.
func (w *Writer) Region(r trace.Region) trace.RegionID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	k := regionKey{r.Name, r.Category, r.File, r.Line}
	if id, ok := d.regionIDs[k]; ok {
		return id
	}
	if name := w.Opt.regionName(r.Name); name != r.Name {
		raw := strings.Clone(r.Name)
		r.Name = name
		id := w.variantOf(w.region(r), raw)
		d.regionIDs[regionKey{raw, d.word(r.Category), d.word(r.File), r.Line}] = id
		return id
	}
	return w.region(r)
}

// region defines a region or finds it; w.mu is held.
func (w *Writer) region(r trace.Region) trace.RegionID {
	d := &w.Def
	k := regionKey{r.Name, r.Category, r.File, r.Line}
	if id, ok := d.regionIDs[k]; ok {
		return id
	}
	r.Name, r.Category, r.File = strings.Clone(r.Name), d.word(r.Category), d.word(r.File)
	k.name, k.category, k.file = r.Name, r.Category, r.File
	r.Attributes = d.own(r.Attributes)
	if r.Role == trace.RoleByName {
		r.Role = trace.RoleOf(r.Name, r.Category)
	}
	id := trace.RegionID(len(d.Regions))
	d.Regions = append(d.Regions, r)
	d.regionIDs[k] = id
	w.regions.Store(uint32(len(d.Regions)))
	return id
}

// Cover implements trace.Coverer.
func (w *Writer) Cover(begin, end trace.Time) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.Covered.See(begin)
	w.Covered.See(end)
}

// Format implements trace.FormatTaker.
func (w *Writer) Format(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Opt.Format = strings.Clone(name)
}

// SortRegions implements trace.RegionSorter.
func (w *Writer) SortRegions() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := &w.Def; d.Sorted == nil {
		d.sortFromHere()
		if w.shared != nil {
			w.reportMu.Lock()
			w.shared.before = slices.Clone(w.Told.Entries)
			w.reportMu.Unlock()
		}
	}
}

// sortFromHere is for definitions that may come in any order from here on.
func (d *Definitions) sortFromHere() {
	d.Sorted = &Sorted{len(d.Regions), len(d.Attributes), len(d.Counters), len(d.Locations), len(d.Metrics),
		len(d.SourceFiles), len(d.CallPaths), len(d.Communicators), len(d.Topologies)}
}

// Attribute implements trace.Writer.
func (w *Writer) Attribute(name string) trace.AttributeID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return defineName(&w.Def.Attributes, w.Def.attributeIDs, name, strings.Clone)
}

// defineName finds or appends something that has only its name.
func defineName[ID ~uint32](list *[]string, ids map[string]ID, name string, keep func(string) string) ID {
	if id, ok := ids[name]; ok {
		return id
	}
	name = keep(name)
	id := ID(len(*list))
	*list = append(*list, name)
	ids[name] = id
	return id
}

// Counter implements trace.Writer.
func (w *Writer) Counter(c trace.Counter) trace.CounterID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	if id, ok := d.counterIDs[counterKey{c.Location, c.Name}]; ok {
		return id
	}
	c.Name, c.Unit = d.word(c.Name), d.word(c.Unit)
	id := trace.CounterID(len(d.Counters))
	d.Counters = append(d.Counters, c)
	d.counterIDs[counterKey{c.Location, c.Name}] = id
	series := append(d.Series, &Series{Location: c.Location, last: math.MinInt64})
	d.Series = series
	w.counters.Store(&series)
	return id
}

// A Series describes the samples of a counter. All come from the stream of its location.
type Series struct {
	Location   trace.LocationID
	Count      uint32
	Disordered bool // a sample came before the one before it
	last       trace.Time
}

// Communicator implements trace.Writer.
func (w *Writer) Communicator(c trace.Communicator) trace.CommunicatorID {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.Name, c.Members = w.Def.word(c.Name), slices.Clone(c.Members)
	w.Def.Communicators = append(w.Def.Communicators, c)
	return trace.CommunicatorID(len(w.Def.Communicators) - 1)
}

// Metric implements trace.Writer.
func (w *Writer) Metric(m trace.Metric) trace.MetricID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	if id, ok := d.metricIDs[m.Name]; ok {
		return id
	}
	m.Name, m.Unit = strings.Clone(m.Name), d.word(m.Unit)
	m.Parent, m.Description = d.word(m.Parent), strings.Clone(m.Description)
	id := trace.MetricID(len(d.Metrics))
	d.Metrics = append(d.Metrics, m)
	d.metricIDs[m.Name] = id
	return id
}

// SourceFile implements trace.LineTaker.
func (w *Writer) SourceFile(name string) trace.FileID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	id, ok := d.fileIDs[name]
	if !ok {
		name = strings.Clone(name)
		id = trace.FileID(len(d.SourceFiles))
		d.SourceFiles = append(d.SourceFiles, name)
		d.fileIDs[name] = id
	}
	return id
}

// CallPath implements trace.Writer.
func (w *Writer) CallPath(p trace.CallPath) trace.CallPathID {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := &w.Def
	p.Region = w.plain(p.Region)
	if id, ok := d.callPathIDs[p]; ok {
		return id
	}
	id := trace.CallPathID(len(d.CallPaths))
	d.CallPaths = append(d.CallPaths, p)
	d.callPathIDs[p] = id
	return id
}

// Topology implements trace.Writer.
func (w *Writer) Topology(t trace.Topology) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Name = strings.Clone(t.Name)
	t.Dims, t.DimNames, t.Periodic = slices.Clone(t.Dims), slices.Clone(t.DimNames), slices.Clone(t.Periodic)
	t.Coordinates = slices.Clone(t.Coordinates)
	for i := range t.Coordinates {
		t.Coordinates[i].At = slices.Clone(t.Coordinates[i].At)
	}
	w.Def.Topologies = append(w.Def.Topologies, t)
}

// Property implements trace.Writer.
func (w *Writer) Property(key, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Def.Properties[strings.Clone(key)] = strings.Clone(value)
}
