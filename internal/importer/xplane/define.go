package xplane

import (
	"bytes"
	"errors"
	"io"

	"github.com/parallax-hpc/parallax/internal/trace"
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
func readSpace(d *decoder) (s *space, cut bool, err error) {
	s = &space{}
	for {
		if _, err := d.r.Peek(1); errors.Is(err, io.EOF) {
			return s, false, nil
		}
		field, wire, err := d.tag()
		if err == nil {
			switch {
			case field == spacePlanes && wire == wireBytes:
				p := &plane{events: map[int64]metadata{}, stats: map[int64]string{}}
				s.planes = append(s.planes, p)
				err = p.read(d)
			case field == spaceHosts && wire == wireBytes:
				var name []byte
				if name, err = d.bytes(1 << 62); err == nil {
					s.hosts = append(s.hosts, string(name))
				}
			default:
				err = d.skip(wire, 1<<62)
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errMalformed) {
			return s, true, nil
		}
		if err != nil {
			return s, false, err
		}
	}
}

func (p *plane) read(d *decoder) error {
	end, err := d.message(1 << 62)
	for err == nil && d.at < end {
		var field, wire int
		if field, wire, err = d.tag(); err != nil {
			return err
		}
		if wire != wireBytes || field == planeLines {
			if field == planeLines {
				p.lines++
			}
			err = d.skip(wire, end)
			continue
		}
		var b []byte
		if b, err = d.bytes(end); err != nil {
			return err
		}
		switch field {
		case planeName:
			p.name = string(b)
		case planeEventMetadata, planeStatMetadata:
			err = p.addMetadata(field, b)
		case planeStats:
			s, ok := statTable.Of(bytes.Clone(b))
			if !ok {
				err = errMalformed
			}
			if len(p.facts) < 64 {
				p.facts = append(p.facts, s)
			}
		}
	}
	return err
}

// addMetadata adds the name of events or stats.
func (p *plane) addMetadata(field int, b []byte) error {
	e, ok := metadataEntries.Of(b)
	if field == planeEventMetadata {
		p.events[e.id] = e.value
	} else {
		p.stats[e.id] = e.value.name
	}
	if !ok {
		return errMalformed
	}
	return nil
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
