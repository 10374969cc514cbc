package ctf

import (
	"path"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// otf2Names are the definitions of a trace that was made from OTF2: they are events of a stream of
// their own, which comes before the others.
type otf2Names struct {
	strings   map[uint64]string
	regions   map[uint64]uint64 // number of the name
	groups    map[uint64]uint64
	locations map[uint64]otf2Location
	unused    int64 // definitions of other kinds
}

type otf2Location struct{ name, group uint64 }

func (n *otf2Names) report(w trace.Writer) {
	importer.Tell(w, trace.Redundant, "definitions of OTF2 that no interval needs", n.unused, "")
}

// otf2Meaning returns the meaning of events of such a trace. Those that are neither definitions
// nor calls are instants of their location.
func (c *converter) otf2Meaning(t *traceClass, m *meaning) *meaning {
	names := []string{"self", "name"}
	m.kind = isSpecial
	switch m.name {
	case "GlobalDef_String":
		names[1] = "stringValue"
		m.take = func(c *converter, s *stream, m *meaning) {
			if id, text := s.d.find(m.field[0]), s.d.find(m.field[1]); id != nil && text != nil {
				c.otf2.strings[id.bits] = strings.ToValidUTF8(string(text.text), "\uFFFD")
			}
		}
	case "GlobalDef_Region":
		m.take = func(c *converter, s *stream, m *meaning) { c.named(s, m, c.otf2.regions) }
	case "GlobalDef_LocationGroup":
		m.take = func(c *converter, s *stream, m *meaning) { c.named(s, m, c.otf2.groups) }
	case "GlobalDef_Location":
		names = append(names, "locationGroup")
		m.take = func(c *converter, s *stream, m *meaning) {
			if id, name, group := s.d.find(m.field[0]), s.d.find(m.field[1]), s.d.find(m.field[2]); id != nil &&
				name != nil && group != nil {
				c.otf2.locations[id.bits] = otf2Location{name.bits, group.bits}
			}
		}
	case "Event_Enter", "Event_Leave":
		names = []string{"region", "locationID"}
		leave := m.name == "Event_Leave"
		m.take = func(c *converter, s *stream, m *meaning) {
			r, region := c.otf2Row(s, m.field[1]), trace.NoRegion
			if v := s.d.find(m.field[0]); v != nil {
				region = c.otf2Region(v.bits)
			}
			switch {
			case leave:
				r.Stream.Leave(s.time, region)
			case region != trace.NoRegion:
				r.Stream.Enter(s.time, region)
			}
		}
	default:
		names = []string{"locationID"}
		m.take = func(c *converter, s *stream, m *meaning) {
			if strings.HasPrefix(m.name, "GlobalDef") {
				c.otf2.unused++
				return
			}
			r := c.otf2Row(s, m.field[0])
			r.Stream.Instant(s.time, c.regionOf(m))
			c.tell(s, r)
		}
	}
	for i, n := range names {
		m.field[i] = t.leaves[n]
	}
	return m
}

// named takes a definition that has a number and a name.
func (c *converter) named(s *stream, m *meaning, into map[uint64]uint64) {
	if id, name := s.d.find(m.field[0]), s.d.find(m.field[1]); id != nil && name != nil {
		into[id.bits] = name.bits
	}
}

func (c *converter) otf2Region(id uint64) trace.RegionID {
	region, ok := c.regions[id]
	if !ok {
		name := c.otf2.strings[c.otf2.regions[id]]
		if name == "" {
			name = "region " + strconv.FormatUint(id, 10)
		}
		region = c.w.Region(trace.Region{Name: name, Category: "otf2", Role: trace.RoleByName})
		c.regions[id] = region
	}
	return region
}

// otf2Row is the location that an event names, else the one that its file is called by.
func (c *converter) otf2Row(s *stream, at *leaf) *row {
	var id uint64
	if v := s.d.find(at); v != nil {
		id = v.bits
	} else if n, err := strconv.ParseUint(path.Base(s.file), 10, 64); err == nil {
		id = n
	} else {
		return c.rowOf(s, false)
	}
	key := rowKey{kind: trace.KindThread, id: int64(id), file: s.trace.uuid}
	r := c.rows[key]
	if r == nil {
		l := c.otf2.locations[id]
		name := func(n uint64, otherwise string) string {
			if text := c.otf2.strings[n]; text != "" {
				return text
			}
			return otherwise
		}
		rank := trace.NoRank
		if l.group < 1<<24 {
			rank = int(l.group)
		}
		group := strconv.FormatUint(l.group, 10)
		parent := c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: group,
			Name: name(c.otf2.groups[l.group], "process "+group), Rank: rank, Order: int64(rank)})
		number := strconv.FormatUint(id, 10)
		r = c.addRow(key,
			trace.Location{Parent: parent, Kind: trace.KindThread, Key: number, Name: name(l.name, "location "+number),
				Rank: trace.NoRank, Order: int64(id & (1<<63 - 1))}, trace.StreamOptions{Unordered: true})
	}
	return r
}
