package tracetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// record reads a line that begins with a time: an interval, an instant or a sample.
func (p *parser) record(indent int, when string, ws []word) error {
	if len(ws) == 0 {
		return fmt.Errorf("want a region after %s", when)
	}
	at, around, err := p.here()
	if err != nil {
		return err
	}
	if strings.Contains(when, "..") {
		return p.interval(indent, when, ws, at, around)
	}
	t, err := parseTime(when)
	switch {
	case err != nil:
		return err
	case ws[0].keyed && len(ws) == 1:
		return p.sample(at, t, ws[0])
	case ws[0].text == "!" && !ws[0].quoted && len(ws) > 1 && !ws[1].keyed:
		s := p.streamOf(at)
		s.Instant(t, p.regionNamed(ws[1].text))
		return p.facts(s, ws[2:])
	}
	return fmt.Errorf("want begin..end and a region, or a time with \"! region\" or \"counter=value\"")
}

func (p *parser) interval(indent int, when string, ws []word, at, around *frame) error {
	begin, end, err := parseRange(when)
	if err != nil {
		return err
	}
	if ws[0].keyed {
		return fmt.Errorf("want a region after %s", when)
	}
	if around != nil && (begin < around.begin || end > around.end) {
		return fmt.Errorf("does not lie in %d..%d, the interval it is indented under", around.begin, around.end)
	}
	s := p.streamOf(at)
	s.Interval(begin, end, p.regionNamed(ws[0].text))
	p.frames = append(p.frames, &frame{indent: indent, begin: begin, end: end})
	return p.facts(s, ws[1:])
}

// facts adds the attributes of the record before.
func (p *parser) facts(s trace.Stream, ws []word) error {
	for _, w := range ws {
		if !w.keyed {
			return fmt.Errorf("%q: want key=value", w.text)
		}
		s.Attribute(p.w.Attribute(w.key), w.value())
	}
	return nil
}

func (p *parser) sample(at *frame, t trace.Time, w word) error {
	id, ok := at.counters[w.key]
	if !ok {
		id = p.w.Counter(trace.Counter{Location: at.location, Name: w.key})
		at.counters[w.key] = id
	}
	v, err := strconv.ParseFloat(w.text, 64)
	if err != nil {
		return err
	}
	p.streamOf(at).Sample(id, t, v)
	return nil
}

func (p *parser) counter(_ int, ws []word) error {
	at, _, err := p.here()
	if err != nil {
		return err
	}
	if len(ws) == 0 || ws[0].keyed {
		return fmt.Errorf("want a name")
	}
	c := trace.Counter{Location: at.location, Name: ws[0].text}
	for _, w := range ws[1:] {
		switch {
		case w.key == "unit":
			c.Unit = w.text
		case w.text == "monotone" && !w.keyed:
			c.Monotone = true
		default:
			return fmt.Errorf("unknown word %q", w.text)
		}
	}
	at.counters[c.Name] = p.w.Counter(c)
	return nil
}

func (p *parser) streamOptions(_ int, ws []word) error {
	at, _, err := p.here()
	if err != nil {
		return err
	}
	if at.stream != nil {
		return fmt.Errorf("must come before the first record of the location")
	}
	for _, w := range ws {
		switch w.text {
		case "ordered":
			at.options.Unordered = false
		case "unordered":
			at.options.Unordered = true
		case "byname":
			at.options.ByName = true
		default:
			return fmt.Errorf("unknown word %q", w.text)
		}
	}
	return nil
}

func (p *parser) streamOf(at *frame) trace.Stream {
	if at.stream == nil {
		at.stream = p.w.Stream(at.location, at.options)
	}
	return at.stream
}

func (p *parser) enter(_ int, ws []word) error {
	at, _, err := p.here()
	if err != nil {
		return err
	}
	if len(ws) < 2 || ws[1].keyed {
		return fmt.Errorf("want a time and a region")
	}
	t, err := parseTime(ws[0].text)
	if err != nil {
		return err
	}
	s := p.streamOf(at)
	s.Enter(t, p.regionNamed(ws[1].text))
	return p.facts(s, ws[2:])
}

func (p *parser) leave(_ int, ws []word) error {
	at, _, err := p.here()
	if err != nil {
		return err
	}
	if len(ws) < 1 || len(ws) > 2 {
		return fmt.Errorf("want a time and perhaps a region")
	}
	t, err := parseTime(ws[0].text)
	if err != nil {
		return err
	}
	region := trace.NoRegion
	if len(ws) == 2 {
		region = p.regionNamed(ws[1].text)
	}
	p.streamOf(at).Leave(t, region)
	return nil
}
