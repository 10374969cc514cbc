package pajecsv

import (
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns lines into records.
type converter struct {
	w        trace.Writer
	decimals int // nanoseconds in the unit of times
	tally    tally

	containers map[string]*container
	programs   map[int]*container // by rank
	opened     []*container
	listed     bool // containers come in a table or as lines
	regions    map[regionKey]trace.RegionID
	attributes importer.Attributes
	graph      taskGraph
	dumped     map[string]*columns
	err        error
}

type regionKey struct{ name, category string }

func newConverter(w trace.Writer, decimals int) *converter {
	c := &converter{
		w: w, decimals: decimals, containers: map[string]*container{}, programs: map[int]*container{},
		regions:    map[regionKey]trace.RegionID{},
		attributes: importer.NewAttributes(w), graph: newTaskGraph(), dumped: map[string]*columns{},
	}
	for nature, names := range dumped {
		c.dumped[nature] = newColumns(names)
	}
	return c
}

// record takes one line of pj_dump's, or of a table of such lines.
func (c *converter) record(cols *columns, fields []string, line int64) {
	nature := fields[0]
	if cols == nil {
		if cols = c.dumped[nature]; cols == nil {
			c.tally.Add(unknownNature, line)
			return
		}
		if len(fields) > len(cols.names) {
			c.tally.Add(namelessFields, line)
		}
	}
	if len(fields) < len(dumped[nature]) && len(fields) < len(cols.names) || len(fields) < 5 {
		c.tally.Add(shortLine, line)
		return
	}
	begin, ok := parseTime(cols.get(fields, "Start"), c.decimals)
	if !ok {
		c.tally.Add(badTime, line)
		return
	}
	switch nature {
	case "Container": // read before, see containers
	case "State":
		c.state(cols, fields, begin, line)
	case "Event":
		c.event(cols, fields, begin, line)
	case "Variable":
		c.variable(cols, fields, begin, line)
	case "Link":
		c.link(cols, fields, begin, line)
	default:
		c.tally.Add(unknownNature, line)
	}
}

func (c *converter) region(name, category string) trace.RegionID {
	key := regionKey{name, category}
	id, ok := c.regions[key]
	if !ok {
		key = regionKey{strings.Clone(name), strings.Clone(category)} // fields are cut out of a line
		id = c.w.Region(trace.Region{Name: key.name, Category: key.category})
		c.regions[key] = id
	}
	return id
}

func (c *converter) state(cols *columns, fields []string, begin trace.Time, line int64) {
	end, ok := parseTime(cols.get(fields, "End"), c.decimals)
	if !ok {
		c.tally.Add(badTime, line)
		return
	}
	kind := cols.get(fields, "Type")
	k := c.container(cols.get(fields, "Container"), kind, line)
	region := c.region(cols.get(fields, "Value"), kind)
	s := c.enter(k, kind, cols.get(fields, "Depth"), region, begin, end)
	c.facts(s, cols, fields)
	if job := cols.get(fields, "JobId"); job != "" {
		t, full := c.graph.task(job)
		if full {
			c.tally.Add(manyTasks, line)
			return
		}
		if row := c.track(k, kind).on; row == k || !t.ran { // on the row that counts, where there is one
			t.at, t.ran = place{row.location, region, begin, end}, true
		}
		for _, f := range t.facts {
			s.Attribute(c.attributes.ID(f.name), f.value)
		}
	}
}

// maxDepth is the deepest nesting that is believed.
const maxDepth = 1 << 16

// enter writes a state. pj_dump prints those of one type in order of their begin,
// with the depth of each, so that even empty ones keep their place in the nesting.
func (c *converter) enter(k *container, kind, depth string, region trace.RegionID, begin, end trace.Time) trace.Stream {
	t := c.track(k, kind)
	s := c.stream(t.on)
	level, err := strconv.ParseFloat(depth, 64)
	if err != nil || !(level >= 0 && level < maxDepth) || end < begin {
		s.Interval(begin, end, region)
		return s
	}
	t.shut(s, int(level))
	s.Enter(begin, region)
	t.open = append(t.open, openState{region, end})
	return s
}

// finish ends all open states.
func (c *converter) finish() error {
	for _, k := range c.containers {
		for _, t := range k.tracks {
			t.shut(c.stream(t.on), 0)
		}
	}
	for _, k := range c.opened {
		c.fail(k.stream.Close())
	}
	return c.err
}

func (c *converter) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// facts keeps the columns that have no meaning of their own.
func (c *converter) facts(s trace.Stream, cols *columns, fields []string) {
	for i, text := range fields {
		switch {
		case text == "":
		case i >= len(cols.names):
			s.Attribute(c.attributes.ID("field "+strconv.Itoa(i+1)), value(text))
		case !known[cols.names[i]]:
			s.Attribute(c.attributes.ID(cols.names[i]), value(text))
		}
	}
}

func (c *converter) event(cols *columns, fields []string, at trace.Time, line int64) {
	kind, text := cols.get(fields, "Type"), cols.get(fields, "Value")
	name := text
	if isNumeral(text) { // of a task, or an address
		name = kind
	}
	s := c.stream(c.container(cols.get(fields, "Container"), kind, line))
	s.Instant(at, c.region(name, kind))
	if name != text {
		s.Attribute(c.attributes.ID("value"), value(text))
	}
	c.facts(s, cols, fields)
}

func (c *converter) variable(cols *columns, fields []string, at trace.Time, line int64) {
	v, err := strconv.ParseFloat(cols.get(fields, "Value"), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		c.tally.Add(badNumber, line)
		return
	}
	name := cols.get(fields, "Type")
	k := c.container(cols.get(fields, "Container"), name, line)
	id, ok := k.counters[name]
	if !ok {
		if k.counters == nil {
			k.counters = map[string]trace.CounterID{}
		}
		name = strings.Clone(name)
		id = c.w.Counter(trace.Counter{Location: k.location, Name: name, Unit: unitOf(name)})
		k.counters[name] = id
	}
	c.stream(k).Sample(id, at, v)
}

// unitOf takes the unit out of names such as "Used (MB)".
func unitOf(name string) string {
	if i := strings.LastIndexByte(name, '('); i >= 0 && strings.HasSuffix(name, ")") {
		return name[i+1 : len(name)-1]
	}
	return ""
}

// linkWords are words for types of links, with their kind; most are messages.
var linkWords = []struct {
	word string
	kind trace.LinkKind
}{
	{"steal", trace.LinkSteal}, {"migrat", trace.LinkSteal}, {"spawn", trace.LinkSpawn}, {"creat", trace.LinkSpawn},
	{"wake", trace.LinkWake},
	{"depend", trace.LinkFlow}, {"task", trace.LinkFlow}, {"intra-node", trace.LinkFlow}, {"fetch", trace.LinkFlow},
}

func (c *converter) link(cols *columns, fields []string, begin trace.Time, line int64) {
	end, ok := parseTime(cols.get(fields, "End"), c.decimals)
	if !ok {
		c.tally.Add(badTime, line)
		return
	}
	from, to := cols.get(fields, "Origin"), cols.get(fields, "Dest")
	if from == "" || to == "" {
		c.tally.Add(lonelyLinks, line)
		return
	}
	if cols.get(fields, "Value") != "" {
		c.tally.Add(linkValues, line)
	}
	l := trace.Link{Kind: trace.LinkMessage, Size: -1, Communicator: trace.NoCommunicator}
	kind := strings.ToLower(cols.get(fields, "Type"))
	for _, w := range linkWords {
		if strings.Contains(kind, w.word) {
			l.Kind = w.kind
			break
		}
	}
	if n, err := strconv.ParseInt(cols.get(fields, "Size"), 10, 64); err == nil && n >= 0 {
		l.Size = n
	}
	if n, err := strconv.ParseInt(cols.get(fields, "Tag"), 10, 64); err == nil {
		l.Tag = n
	}
	l.From = trace.End{Location: c.container(from, kind, line).location, Time: begin, Region: trace.NoRegion}
	l.To = trace.End{Location: c.container(to, kind, line).location, Time: end, Region: trace.NoRegion}
	c.w.Link(l)
}
