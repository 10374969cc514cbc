package xplane

import (
	"bytes"

	"github.com/parallax-hpc/parallax/internal/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// A plane is the description of a plane, and its tables of names.
type plane struct {
	name   string
	lines  int
	events map[int64]metadata
	stats  map[int64]string
	facts  []stat
}

// A space is the definitions of a file; lines are read in a second pass.
type space struct {
	hosts  []string
	planes []*plane
}

// readSpace reads all but the lines. A file that is cut gives the planes before the end, and cut is true.
func readSpace(d decoder) (s *space, cut bool, err error) {
	s = &space{}
	for d.More() {
		field, kind := d.tag()
		switch {
		case field == spacePlanes && kind == protowire.BytesType:
			p := &plane{events: map[int64]metadata{}, stats: map[int64]string{}}
			s.planes = append(s.planes, p)
			p.read(d)
		case field == spaceHosts && kind == protowire.BytesType:
			if name := d.bytes(1 << 62); !d.Failed() {
				s.hosts = append(s.hosts, string(name))
			}
		default:
			d.skip(kind, 1<<62)
		}
	}
	if d.ended() {
		return s, true, nil
	}
	return s, false, d.Err()
}

func (p *plane) read(d decoder) {
	for end := d.message(1 << 62); d.more(end); {
		field, kind := d.tag()
		if field == planeLines {
			p.lines++
		}
		if kind != protowire.BytesType || field == planeLines {
			d.skip(kind, end)
			continue
		}
		b := d.bytes(end)
		if d.Failed() {
			return
		}
		sound := true
		switch field {
		case planeName:
			p.name = string(b)
		case planeEventMetadata, planeStatMetadata:
			sound = p.addMetadata(field, b)
		case planeStats:
			var s stat
			s, sound = statTable.Of(bytes.Clone(b))
			if len(p.facts) < 64 {
				p.facts = append(p.facts, s)
			}
		}
		if !sound {
			d.Fail(errMalformed)
		}
	}
}

// addMetadata adds the name of events or stats.
func (p *plane) addMetadata(field int, b []byte) bool {
	e, ok := metadataEntries.Of(b)
	if field == planeEventMetadata {
		p.events[e.id] = e.value
	} else {
		p.stats[e.id] = e.value.name
	}
	return ok
}

// fact finds a fact of the plane by name.
func (p *plane) fact(name string) (stat, bool) {
	for _, s := range p.facts {
		if p.stats[s.name] == name {
			return s, true
		}
	}
	return stat{}, false
}

// text returns a stat as a string: a reference is a name in the table of stats.
func (p *plane) text(s *stat) string {
	switch s.value.Number {
	case statText:
		return string(s.value.Bytes)
	case statRef:
		return p.stats[int64(s.value.Bits)]
	}
	return ""
}

// value is a stat as an attribute; false if it has none that can be shown.
func (p *plane) value(s *stat) (trace.Value, bool) {
	if n, ok := s.integer(); ok {
		return trace.Integer(n), true
	}
	if n, ok := s.number(); ok {
		return trace.Number(n), true
	}
	text := p.text(s)
	if s.value.Number == statBytes || text == "" {
		return trace.Value{}, false
	}
	return trace.Text(text[:min(len(text), mostText)]), true
}

// mostText bounds the text of an attribute: HLO can be long.
const mostText = 1024
