package write

import (
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A chunk is a stretch of records of one row, or of links, on its way to the file.
type chunk struct {
	row     *chromeRow
	records []record
	links   []chromeLink
	tail    string // the end of the file
	out     []byte // metadata, to which records and links are added
	done    chan struct{}
}

func (k *chunk) reset() {
	k.row, k.records, k.links, k.tail, k.out = nil, k.records[:0], k.links[:0], "", k.out[:0]
}

type recordKind uint8

const (
	recordEnter recordKind = iota
	recordLeave
	recordInterval
	recordInstant
	recordSample
	recordMemory    // its args as text
	recordAttribute // belongs to the record before
)

// A record is one call of a stream. a and b are begin and end, or time and value.
type record struct {
	kind recordKind
	id   uint32 // of region, counter or attribute
	a, b int64
	text string
	of   trace.ValueKind
}

type chromeLink struct {
	id       int64
	name     string
	from, to *chromeRow
	at, till trace.Time
	size     int64
	tag      int64
}

// A chromeStream appends to its chunk.
type chromeStream struct {
	c         *chrome
	row       *chromeRow
	chunk     *chunk
	tables    lookup
	allocator allocator
}

func (s *chromeStream) add(r record) {
	if len(s.chunk.records) >= chunkRecords && r.kind != recordAttribute {
		s.c.cut(s.chunk)
		s.chunk = s.c.pool.Get().(*chunk)
		s.chunk.row = s.row
	}
	s.chunk.records = append(s.chunk.records, r)
}

func (s *chromeStream) Enter(t trace.Time, region trace.RegionID) {
	s.add(record{kind: recordEnter, id: uint32(region), a: int64(t)})
}

func (s *chromeStream) Leave(t trace.Time, region trace.RegionID) {
	s.add(record{kind: recordLeave, id: uint32(region), a: int64(t)})
}

func (s *chromeStream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.add(record{kind: recordInterval, id: uint32(region), a: int64(begin), b: int64(end)})
}

func (s *chromeStream) Instant(t trace.Time, region trace.RegionID) {
	s.add(record{kind: recordInstant, id: uint32(region), a: int64(t)})
}

func (s *chromeStream) Sample(c trace.CounterID, t trace.Time, value float64) {
	if args, taken := s.allocator.sample(s.c.definitions, s.tables.counter(c), value); taken {
		if args != "" {
			s.add(record{kind: recordMemory, a: int64(t), text: args})
		}
		return
	}
	s.add(record{kind: recordSample, id: uint32(c), a: int64(t), b: int64(math.Float64bits(value))})
}

func (s *chromeStream) Attribute(a trace.AttributeID, v trace.Value) {
	r := record{kind: recordAttribute, id: uint32(a), of: v.Kind, a: int64(v.Bits())}
	if v.Kind == trace.ValueText {
		r.text = v.String()
	}
	s.add(r)
}

func (s *chromeStream) Close() error {
	s.c.cut(s.chunk)
	s.chunk = nil
	return s.c.failed()
}

// Link keeps a link until there are enough for a chunk.
func (c *chrome) Link(l trace.Link) {
	if l.Untimed {
		c.cannotHold("messages without times")
		return
	}
	c.cutting.Lock()
	defer c.cutting.Unlock()
	from, to := c.row(l.From.Location), c.row(l.To.Location)
	if c.links == nil {
		c.links = c.pool.Get().(*chunk)
	}
	c.linkID++
	k := chromeLink{c.linkID, l.Kind.String(), from, to, l.From.Time, l.To.Time, l.Size, l.Tag}
	if l.Kind == trace.LinkSpawn && c.onDevice(l.To.Location) {
		k.name = "ac2g" // as PyTorch's profiler calls it
	}
	c.links.links = append(c.links.links, k)
	if len(c.links.links) >= chunkRecords {
		c.cutLocked(c.links)
		c.links = nil
	}
}

// format writes the records as JSON.
func (k *chunk) format(c *chrome) {
	tables := lookup{d: c.definitions}
	b := k.out
	for i := 0; i < len(k.records); {
		r := &k.records[i]
		i++
		args := i
		for i < len(k.records) && k.records[i].kind == recordAttribute {
			i++
		}
		b = k.appendRecord(b, &tables, r, k.records[args:i])
	}
	for i := range k.links {
		b = k.links[i].append(b)
	}
	k.out = append(b, k.tail...)
}

func (k *chunk) appendRecord(b []byte, tables *lookup, r *record, attributes []record) []byte {
	switch r.kind {
	case recordLeave:
		b = append(b, ",\n{\"ph\":\"E\","...)
		if id := trace.RegionID(r.id); id != trace.NoRegion { // some tools match ends by name
			b = append(append(b, tables.region(id).json...), ',')
		}
		b = append(append(b, k.row.json...), `,"ts":`...)
		return append(appendTime(b, trace.Time(r.a)), '}')
	case recordSample:
		c := tables.counter(trace.CounterID(r.id))
		b = append(append(b, ",\n{\"ph\":\"C\",\"name\":"...), c.json...)
		b = append(append(append(b, ','), k.row.json...), `,"ts":`...)
		b = append(appendTime(b, trace.Time(r.a)), `,"args":{"value":`...)
		return append(appendNumber(b, math.Float64frombits(uint64(r.b))), "}}"...)
	case recordMemory:
		b = append(b, ",\n{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\","...)
		b = append(append(b, k.row.json...), `,"ts":`...)
		b = append(append(appendTime(b, trace.Time(r.a)), `,"args":`...), r.text...)
		return append(b, '}')
	case recordEnter:
		b = append(b, ",\n{\"ph\":\"B\","...)
	case recordInterval:
		b = append(b, ",\n{\"ph\":\"X\","...)
	case recordInstant:
		b = append(b, ",\n{\"ph\":\"i\",\"s\":\"t\","...)
	}
	b = append(append(b, tables.region(trace.RegionID(r.id)).json...), ',')
	b = append(append(b, k.row.json...), `,"ts":`...)
	b = appendTime(b, trace.Time(r.a))
	if r.kind == recordInterval {
		b = appendTime(append(b, `,"dur":`...), trace.Time(r.b-r.a))
	}
	if len(attributes) > 0 {
		b = append(b, `,"args":{`...)
		for i := range attributes {
			a := &attributes[i]
			b = append(b, tables.attribute(trace.AttributeID(a.id))...)
			b = append(appendValue(b, trace.ValueOf(a.of, uint64(a.a), a.text)), ',')
		}
		b[len(b)-1] = '}'
	}
	return append(b, '}')
}

func (l *chromeLink) append(b []byte) []byte {
	side := func(b []byte, phase string, row *chromeRow, t trace.Time) []byte {
		b = append(append(b, ",\n{\"ph\":\""...), phase...)
		b = append(append(b, `","cat":"`...), l.name...)
		b = append(append(b, `","name":"`...), l.name...)
		b = strconv.AppendInt(append(b, `","id":`...), l.id, 10)
		b = append(append(append(b, ','), row.json...), `,"ts":`...)
		return appendTime(b, t)
	}
	b = side(b, "s", l.from, l.at)
	if l.size >= 0 {
		b = strconv.AppendInt(append(b, `,"args":{"size":`...), l.size, 10)
		b = append(strconv.AppendInt(append(b, `,"tag":`...), l.tag, 10), '}')
	}
	b = append(b, '}')
	return append(side(b, "f", l.to, l.till), `,"bp":"e"}`...)
}
