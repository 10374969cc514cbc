package tracetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The statements here are about the trace as a whole, or tie locations together.

func (p *parser) communicator(_ int, ws []word) error {
	if len(ws) == 0 {
		return fmt.Errorf("want a name")
	}
	c := trace.Communicator{Name: ws[0].text, Parent: trace.NoCommunicator}
	for _, w := range ws[1:] {
		if w.key == "parent" {
			parent, ok := p.communicators[w.text]
			if !ok {
				return fmt.Errorf("no communicator %q in the lines above", w.text)
			}
			c.Parent = parent
			continue
		}
		id, err := p.place(w)
		if err != nil {
			return err
		}
		c.Members = append(c.Members, id)
	}
	p.communicators[c.Name] = p.w.Communicator(c)
	return nil
}

func (p *parser) topology(indent int, ws []word) error {
	if len(ws) < 2 {
		return fmt.Errorf("want a name and dimensions, such as 4x4")
	}
	t := &trace.Topology{Name: ws[0].text}
	var err error
	if t.Dims, err = integers(ws[1].text, "x"); err != nil {
		return err
	}
	for _, w := range ws[2:] {
		switch w.key {
		case "names":
			t.DimNames = strings.Split(w.text, ",")
		case "periodic":
			for s := range strings.SplitSeq(w.text, ",") {
				t.Periodic = append(t.Periodic, s == "true")
			}
		default:
			return fmt.Errorf("unknown word %q", w.text)
		}
	}
	p.frames = append(p.frames, &frame{indent: indent, topology: t})
	return nil
}

func (p *parser) coordinate(_ int, ws []word) error {
	if len(p.frames) == 0 || p.frames[len(p.frames)-1].topology == nil || len(ws) != 2 {
		return fmt.Errorf("want a location and coordinates, in a topology")
	}
	id, err := p.place(ws[0])
	if err != nil {
		return err
	}
	at, err := integers(ws[1].text, ",")
	t := p.frames[len(p.frames)-1].topology
	t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: id, At: at})
	return err
}

func integers(s, separator string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(s, separator) {
		i, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

func parseLinkKind(name string) (trace.LinkKind, bool) {
	for k := trace.LinkMessage; k <= trace.LinkFlow; k++ {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

func (p *parser) link(_ int, ws []word) error {
	if len(ws) == 0 {
		return fmt.Errorf("want a kind")
	}
	l := trace.Link{Size: -1, Communicator: trace.NoCommunicator}
	l.From.Region, l.To.Region = trace.NoRegion, trace.NoRegion
	var ok bool
	if l.Kind, ok = parseLinkKind(ws[0].text); !ok {
		return fmt.Errorf("unknown kind of link %q", ws[0].text)
	}
	var places []word // the words before the first option
	options := ws[1:]
	for len(options) > 0 && !options[0].keyed && options[0].text != "untimed" {
		places, options = append(places, options[0]), options[1:]
	}
	for _, w := range options {
		if err := p.linkOption(&l, w); err != nil {
			return err
		}
	}
	return p.linkEnds(&l, places)
}

func (p *parser) linkOption(l *trace.Link, w word) (err error) {
	switch w.key {
	case "size":
		l.Size, err = strconv.ParseInt(w.text, 10, 64)
	case "tag":
		l.Tag, err = strconv.ParseInt(w.text, 10, 64)
	case "count":
		l.Count, err = strconv.ParseInt(w.text, 10, 64)
	case "comm":
		c, ok := p.communicators[w.text]
		if !ok {
			return fmt.Errorf("no communicator %q in the lines above", w.text)
		}
		l.Communicator = c
	case "from":
		l.From.Region = p.regionNamed(withoutBegin(w.text))
	case "to":
		l.To.Region = p.regionNamed(withoutBegin(w.text))
	default:
		if w.keyed || w.text != "untimed" {
			return fmt.Errorf("unknown word %q", w.text)
		}
		l.Untimed = true
	}
	return err
}

// withoutBegin drops the "@begin" that dumps add to the region of an end.
func withoutBegin(s string) string {
	if i := strings.LastIndexByte(s, '@'); i > 0 {
		if _, err := strconv.ParseInt(s[i+1:], 10, 64); err == nil {
			return s[:i]
		}
	}
	return s
}

func (p *parser) linkEnds(l *trace.Link, ws []word) (err error) {
	step, arrow := 2, 2
	if l.Untimed {
		step, arrow = 1, 1
	}
	if len(ws) != 2*step+1 || ws[arrow].text != "->" {
		return fmt.Errorf("want \"time place -> time place\", without times where untimed")
	}
	if !l.Untimed {
		if l.From.Time, err = parseTime(ws[0].text); err != nil {
			return err
		}
		if l.To.Time, err = parseTime(ws[3].text); err != nil {
			return err
		}
	}
	if l.From.Location, err = p.place(ws[arrow-1]); err != nil {
		return err
	}
	if l.To.Location, err = p.place(ws[len(ws)-1]); err != nil {
		return err
	}
	p.w.Link(*l)
	return nil
}

func (p *parser) report(_ int, ws []word) error {
	if len(ws) < 3 {
		return fmt.Errorf("want a kind, what, a count and perhaps an example")
	}
	count, err := strconv.ParseInt(ws[2].text, 10, 64)
	example := ""
	if len(ws) > 3 {
		example = ws[3].text
	}
	for k := trace.Repaired; k.Valid(); k++ {
		if k.String() == ws[0].text && err == nil {
			p.w.Report(k, ws[1].text, count, example)
			return nil
		}
	}
	return fmt.Errorf("want repaired, guessed or skipped, and a count")
}
