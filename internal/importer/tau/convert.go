package tau

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter gives TAU's words their meaning. One goroutine uses it.
type converter struct {
	name  string // of the run
	first string // label of its first file
	w     trace.Writer

	several   map[[2]int]bool // processes with more than one thread
	processes map[[2]int]trace.LocationID
	hosts     map[string]trace.LocationID
	trialHost string

	elements  map[string]*element  // by trimmed name
	functions map[string]*function // by name as written
	paths     map[trace.CallPathID]*pathRows
	metrics   map[string]metric
	counters  map[string]counter   // user events by name as written
	regions   map[sourceKey]string // names that a region stands for
	hasPaths  bool                 // some entry is a call path

	meta  metadata
	links []pendingLink

	serial int // of the profile being converted
	rows   []trace.ProfileRow
	roots  []*element // that begin call paths in this profile
	cut    int64      // paths that begin below the top
}

// An element is a function as a part of call paths.
type element struct {
	region trace.RegionID
	flat   *pathRows
	root   *pathRows // as the root of paths; nil until needed
	// The last profile in which it begins a path, and in which it is called by another.
	begins, called int
}

// A sourceKey is a name with its place in the source.
type sourceKey struct {
	name, file string
	line       int
}

// A pathRows is a call path with its place among the rows of the current profile.
type pathRows struct {
	id     trace.CallPathID
	serial int
	slot   int
}

// A function is an entry's name: a flat one, or a call path.
type function struct {
	path  *pathRows
	parts []*element // of a call path; nil where flat
}

type metric struct {
	id    trace.MetricID
	scale float64
}

// A counter is a user event: its metric, its call path, and the node that it
// counts messages to.
type counter struct {
	metric trace.MetricID
	path   trace.CallPathID
	to     int
	sends  bool
}

type pendingLink struct {
	from         trace.LocationID
	to           int
	count, bytes int64
}

func newConverter(name, first string, w trace.Writer) *converter {
	return &converter{
		name: name, first: first, w: w, several: map[[2]int]bool{}, processes: map[[2]int]trace.LocationID{},
		hosts:    map[string]trace.LocationID{},
		elements: map[string]*element{}, functions: map[string]*function{}, paths: map[trace.CallPathID]*pathRows{},
		metrics: map[string]metric{}, counters: map[string]counter{}, regions: map[sourceKey]string{},
		meta: metadata{keys: map[string]*metaKey{}},
	}
}

// --- locations

// expect says that a thread will come, before any location is made.
func (c *converter) expect(at node) {
	if at.thread != 0 {
		c.several[[2]int{at.node, at.context}] = true
	}
}

func (c *converter) guessedNode(example string) {
	c.w.Report(trace.Guessed, "profiles whose name does not say node, context and thread", 1, example)
}

// location makes the location of a thread, under its host where that is known.
func (c *converter) location(at node, host string) trace.LocationID {
	key := [2]int{at.node, at.context}
	process, ok := c.processes[key]
	if !ok {
		host = cmp.Or(host, c.trialHost)
		process = c.process(at, host)
		if at.thread != 0 && !c.several[key] {
			c.w.Describe(process, trace.Location{Rank: trace.NoRank, Attributes: numbered("thread", at.thread)})
		}
	}
	if !c.several[key] {
		return process
	}
	return c.w.Location(trace.Location{Parent: process, Kind: trace.KindThread,
		Name: "thread " + strconv.Itoa(at.thread), Rank: trace.NoRank, Order: int64(at.thread),
		Attributes: numbered("thread", at.thread)})
}

// numbered returns TAU's number of a location as an attribute, for layouts that go by it.
func numbered(key string, n int) []trace.Attribute {
	return []trace.Attribute{{Key: key, Value: trace.Integer(int64(n))}}
}

func (c *converter) process(at node, host string) trace.LocationID {
	l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
		Key: fmt.Sprintf("%d.%d", at.node, at.context), Rank: at.node,
		Order: int64(at.node)<<20 + int64(at.context&0xfffff)}
	if host != "" {
		parent := importer.Once(c.hosts, host, func() trace.LocationID {
			return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: host,
				Rank: trace.NoRank, Order: int64(len(c.hosts))})
		})
		l.Parent = parent
	}
	l.Name = "rank " + strconv.Itoa(at.node)
	if at.node < 0 {
		l.Rank, l.Name = trace.NoRank, "node "+strconv.Itoa(at.node)
	}
	if at.context != 0 {
		l.Name += " context " + strconv.Itoa(at.context)
		l.Attributes = numbered("context", at.context)
	}
	id := c.w.Location(l)
	c.processes[[2]int{at.node, at.context}] = id
	return id
}

// hostOf finds the name of the machine in metadata.
func hostOf(pairs []pair) string {
	for _, key := range []string{"Hostname", "Node Name", "MPI Processor Name"} {
		for _, p := range pairs {
			if p.key == key && p.value != "" {
				return p.value
			}
		}
	}
	return ""
}

// --- names

// element finds or makes the region of one name; group is used where it is new.
func (c *converter) element(name, group string) *element {
	name = strings.TrimSpace(name)
	if e, ok := c.elements[name]; ok {
		return e
	}
	r := regionOf(name, group)
	key := sourceKey{r.Name, r.File, r.Line}
	if _, taken := c.regions[key]; taken {
		// Another entry begins on the same line: the whole name distinguishes them.
		r.Name, r.File, r.Line = name, "", 0
	} else {
		c.regions[key] = name
	}
	e := &element{region: c.w.Region(r)}
	e.flat = c.path(trace.CallPath{Parent: trace.NoCallPath, Region: e.region, Flat: true})
	c.elements[name] = e
	return e
}

func (c *converter) path(p trace.CallPath) *pathRows {
	id := c.w.CallPath(p)
	rows, ok := c.paths[id]
	if !ok {
		rows = &pathRows{id: id}
		c.paths[id] = rows
	}
	return rows
}

// separator is between the parts of a call path.
const separator = "=>"

// function finds or makes the function of an entry's name. The names in a buffer are looked up without a copy.
func (c *converter) function(name, group []byte) *function {
	if f, ok := c.functions[string(name)]; ok {
		return f
	}
	full := strings.ToValidUTF8(string(name), "\ufffd")
	f := &function{}
	if strings.Contains(full, separator) {
		c.hasPaths = true
		f.parts = c.parts(full, groups(string(group)))
		f.path = c.pathOf(f.parts)
	} else {
		f.path = c.element(full, groups(string(group))).flat
	}
	c.functions[string(name)] = f
	return f
}

// parts splits a call path; the group of the entry is that of its last part.
func (c *converter) parts(full, group string) []*element {
	names := strings.Split(full, separator)
	out := make([]*element, len(names))
	for i, n := range names {
		g := ""
		if i == len(names)-1 {
			g = group
		}
		out[i] = c.element(n, g)
	}
	return out
}

func (c *converter) pathOf(parts []*element) *pathRows {
	id := trace.NoCallPath
	for i, e := range parts {
		if i == 0 {
			if e.root == nil {
				e.root = c.path(trace.CallPath{Parent: trace.NoCallPath, Region: e.region})
			}
			id = e.root.id
			continue
		}
		id = c.w.CallPath(trace.CallPath{Parent: id, Region: e.region})
	}
	rows, ok := c.paths[id]
	if !ok {
		rows = &pathRows{id: id}
		c.paths[id] = rows
	}
	return rows
}

// groups drops the groups that say only that an entry is a call path.
func groups(s string) string {
	if !strings.Contains(s, "TAU_CALLPATH") {
		return s
	}
	var keep []string
	for part := range strings.SplitSeq(s, "|") {
		if part = strings.TrimSpace(part); part != "TAU_CALLPATH" && part != "TAU_CALLPATH_DERIVED" {
			keep = append(keep, part)
		}
	}
	return strings.Join(keep, "|")
}

// metric finds or makes a metric. Those of time are in microseconds, whatever
// clock they are named after.
func (c *converter) metric(name string) metric {
	name = cmp.Or(name, "TIME")
	if m, ok := c.metrics[name]; ok {
		return m
	}
	m := metric{scale: 1}
	d := trace.Metric{Name: name, Integer: true}
	upper := strings.ToUpper(name)
	if strings.Contains(upper, "TIME") || upper == "LINUX_TIMERS" || upper == "BGL_TIMERS" || upper == "BGP_TIMERS" ||
		upper == "CRAY_TIMERS" {
		m.scale, d.Unit, d.Integer, d.Default = 1000, "ns", false, true
		for _, other := range c.metrics {
			d.Default = d.Default && other.scale == 1 // the first clock stands for time
		}
	}
	m.id = c.w.Metric(d)
	c.metrics[name] = m
	return m
}

// counter finds or makes the counter of a user event's name.
func (c *converter) counter(name []byte) counter {
	if k, ok := c.counters[string(name)]; ok {
		return k
	}
	full := strings.TrimSpace(strings.ToValidUTF8(string(name), "\ufffd"))
	k := counter{path: trace.NoCallPath}
	base, where, hasPath := strings.Cut(full, " : ")
	switch {
	case !c.hasPaths: // no timer has a caller: the event's own would be a call path without time
		base, hasPath = full, false
	case hasPath && strings.Contains(where, separator):
		k.path = c.pathOf(c.parts(where, "")).id
	case hasPath && c.elements[strings.TrimSpace(where)] != nil:
		k.path = c.pathOf([]*element{c.elements[strings.TrimSpace(where)]}).id
	default:
		base, hasPath = full, false
	}
	base = strings.TrimSpace(base)
	if n, ok := strings.CutPrefix(base, "Message size sent to node "); ok && !hasPath {
		to, err := strconv.ParseInt(n, 10, 32)
		k.to, k.sends = int(to), err == nil
	}
	m := trace.Metric{Name: base, Description: "user event"}
	if lower := strings.ToLower(base); strings.Contains(lower, "message size") || strings.Contains(lower, "bytes") {
		m.Unit = "bytes"
	}
	k.metric = c.w.Metric(m)
	c.counters[string(name)] = k
	return k
}

// --- values

// begin starts the profile of one thread.
func (c *converter) begin() {
	c.serial++
	c.rows, c.roots = c.rows[:0], c.roots[:0]
}

// add gives an entry a value; entries that differ only in blanks add up.
func (c *converter) add(at trace.LocationID, f *function, m metric, calls, subcalls, exclusive, inclusive float64) {
	if sum := calls + subcalls + exclusive + inclusive; sum-sum != 0 {
		c.w.Report(trace.MissingValues, "values that are no number, or too large to add up", 1, c.name)
		return
	}
	c.row(f.path,
		trace.ProfileRow{Location: at, Path: f.path.id, Metric: m.id, Calls: calls, Subcalls: subcalls,
			Inclusive: inclusive * m.scale, Exclusive: exclusive * m.scale})
	for i, e := range f.parts {
		if i > 0 {
			e.called = c.serial
		} else if e.begins != c.serial {
			e.begins = c.serial
			c.roots = append(c.roots, e)
		}
	}
}

func (c *converter) row(p *pathRows, r trace.ProfileRow) {
	// Metrics of one profile come one after the other for an entry, so a row is
	// looked for from its slot on.
	if p.serial == c.serial {
		for i := p.slot; i < len(c.rows); i++ {
			x := &c.rows[i]
			if x.Path == r.Path && x.Metric == r.Metric {
				x.Calls += r.Calls
				x.Subcalls += r.Subcalls
				x.Inclusive += r.Inclusive
				x.Exclusive += r.Exclusive
				return
			}
			if x.Path != r.Path {
				break
			}
		}
	} else {
		p.serial, p.slot = c.serial, len(c.rows)
	}
	c.rows = append(c.rows, r)
}

// end writes the rows of the profile, and those of the roots of its call paths.
func (c *converter) end() {
	for _, e := range c.roots {
		switch {
		case e.called == c.serial:
			c.cut++
		case e.flat.serial == c.serial && e.root.serial != c.serial:
			for i := e.flat.slot; i < len(c.rows) && c.rows[i].Path == e.flat.id; i++ {
				r := c.rows[i]
				r.Path = e.root.id
				c.w.Profile(r)
			}
		}
	}
	for _, r := range c.rows {
		c.w.Profile(r)
	}
}

// event writes a user event of a thread.
func (c *converter) event(at trace.LocationID, k counter, e event) {
	c.w.Atomic(trace.AtomicRow{Location: at, Path: k.path, Metric: k.metric, Count: e.count, Min: e.min, Max: e.max,
		Mean: e.mean, SumSquares: e.square})
	if bytes := math.Round(e.mean * e.count); k.sends && e.count > 0 && e.count < 1<<53 && bytes >= 0 && bytes < 1<<62 {
		c.links = append(c.links, pendingLink{at, k.to, int64(e.count), int64(bytes)})
	}
}

// textFile converts one text file of a thread.
func (c *converter) textFile(t *threadFiles, file int, f *textFile, label string) {
	for _, p := range f.problems {
		c.w.Report(p.kind, p.what, p.count, place(label, p.line))
	}
	var pairs []pair
	if file == 0 {
		pairs = parsePairs(f.metadata)
	}
	at := c.location(t.at, hostOf(pairs))
	name := string(bytes.TrimSpace(f.metric))
	if name == "" {
		if _, dir, ok := strings.Cut("/"+t.files[file], "/MULTI__"); ok {
			name, _, _ = strings.Cut(dir, "/")
		}
	}
	m := c.metric(name)
	c.begin()
	for _, paths := range []bool{false, true} { // flat ones know the groups
		for i := range f.entries {
			e := &f.entries[i]
			fn, ok := c.functions[string(e.name)]
			if !ok {
				if bytes.Contains(e.name, []byte(separator)) != paths {
					continue
				}
				fn = c.function(e.name, e.group)
			}
			if (fn.parts != nil) == paths {
				c.add(at, fn, m, e.calls, e.subcalls, e.exclusive, e.inclusive)
			}
		}
	}
	c.end()
	if file > 0 {
		return // the events and metadata of a thread are the same for all metrics
	}
	for i := range f.events {
		c.event(at, c.counter(f.events[i].name), f.events[i])
	}
	c.meta.add(c.w, at, pairs)
}

// finish writes the data that needs all threads.
func (c *converter) finish() error {
	if len(c.meta.threads) == 0 {
		return &importer.Error{File: c.first, Cause: "the profile holds no thread",
			Kind: importer.ErrMalformed}
	}
	c.meta.finish(c.w)
	importer.Tell(c.w, trace.Guessed,
		"call paths that begin below the top, since TAU cut them at its depth limit", c.cut, "")
	for _, l := range c.links {
		to, ok := c.processes[[2]int{l.to, 0}]
		if !ok {
			to = c.process(node{node: l.to}, "")
			c.w.Report(trace.Guessed, "nodes that received messages and have no profile", 1, "node "+strconv.Itoa(l.to))
		}
		end := func(at trace.LocationID) trace.End { return trace.End{Location: at, Region: trace.NoRegion} }
		c.w.Link(trace.Link{Kind: trace.LinkMessage, From: end(l.from), To: end(to), Size: l.bytes, Count: l.count,
			Untimed: true, Communicator: trace.NoCommunicator})
	}
	return nil
}
