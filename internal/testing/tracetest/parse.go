package tracetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Parse reads text and writes its trace into w. The error names the line.
func Parse(w trace.Writer, text string) error {
	p := &parser{w: w, paths: map[string]trace.LocationID{}, regions: map[string]trace.RegionID{},
		metrics: map[string]trace.MetricID{}, communicators: map[string]trace.CommunicatorID{}}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return fmt.Errorf("line %d: %q: %w", i+1, strings.TrimSpace(line), err)
		}
	}
	return p.closeFrames(-1)
}

// A frame is a line that others may be indented under.
type frame struct {
	indent int
	// location, with its stream once it has records
	isLocation bool
	location   trace.LocationID
	path       string
	options    trace.StreamOptions
	stream     trace.Stream
	counters   map[string]trace.CounterID
	// interval
	begin, end trace.Time
	// topology
	topology *trace.Topology
}

type parser struct {
	w             trace.Writer
	frames        []*frame
	numbered      []trace.LocationID // by the order of their lines
	paths         map[string]trace.LocationID
	regions       map[string]trace.RegionID
	metrics       map[string]trace.MetricID
	communicators map[string]trace.CommunicatorID
}

func (p *parser) line(line string) error {
	ws, err := words(line)
	if err != nil || len(ws) == 0 {
		return err
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if err := p.closeFrames(indent); err != nil {
		return err
	}
	head, rest := ws[0], ws[1:]
	if c := head.text[:1]; !head.quoted && !head.keyed && (c >= "0" && c <= "9" || c == "-") {
		return p.record(indent, head.text, rest)
	}
	f, ok := statements[head.text]
	if !ok || head.keyed || head.quoted {
		return fmt.Errorf("unknown statement %q", head.text)
	}
	return f(p, indent, rest)
}

// statements are the lines that begin with a word.
var statements = map[string]func(*parser, int, []word) error{
	"property": (*parser).property, "region": (*parser).region, "location": (*parser).location,
	"counter": (*parser).counter,
	"stream":  (*parser).streamOptions, "enter": (*parser).enter, "leave": (*parser).leave,
	"lane":         func(*parser, int, []word) error { return nil },
	"communicator": (*parser).communicator, "topology": (*parser).topology, "at": (*parser).coordinate,
	"link":   (*parser).link,
	"metric": (*parser).metric, "profile": (*parser).profile, "sourceline": (*parser).sourceLine,
	"atomic": (*parser).atomic, "moments": (*parser).moments,
	"report": (*parser).report,
}

// closeFrames ends the blocks that are indented as far as a line at indent, or further.
func (p *parser) closeFrames(indent int) error {
	for n := len(p.frames) - 1; n >= 0 && p.frames[n].indent >= indent; n-- {
		f := p.frames[n]
		p.frames = p.frames[:n]
		if f.topology != nil {
			p.w.Topology(*f.topology)
		}
		if f.stream != nil {
			if err := f.stream.Close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// here is the location whose block we are in, and the interval around, if any.
func (p *parser) here() (location, interval *frame, err error) {
	for i := len(p.frames) - 1; i >= 0; i-- {
		f := p.frames[i]
		switch {
		case f.isLocation:
			return f, interval, nil
		case interval == nil && f.topology == nil:
			interval = f
		}
	}
	return nil, nil, fmt.Errorf("not in a location")
}

func (p *parser) property(_ int, ws []word) error {
	if len(ws) != 2 {
		return fmt.Errorf("want a key and a value")
	}
	p.w.Property(ws[0].text, ws[1].text)
	return nil
}

func (p *parser) location(indent int, ws []word) error {
	if len(ws) < 2 || ws[0].keyed || ws[1].keyed {
		return fmt.Errorf("want a kind and a name")
	}
	l := trace.Location{Parent: trace.NoLocation, Kind: trace.Kind(ws[0].text), Name: ws[1].text, Rank: trace.NoRank}
	path := l.Name
	if len(p.frames) > 0 {
		outer := p.frames[len(p.frames)-1]
		if !outer.isLocation {
			return fmt.Errorf("a location lies in a location or at the top")
		}
		l.Parent, path = outer.location, outer.path+"/"+l.Name
	}
	for _, w := range ws[2:] {
		var err error
		switch w.key {
		case "rank":
			l.Rank, err = strconv.Atoi(w.text)
		case "order":
			l.Order, err = strconv.ParseInt(w.text, 10, 64)
		case "key":
			l.Key = w.text
		default:
			l.Attributes, err = appendAttribute(l.Attributes, w)
		}
		if err != nil {
			return err
		}
	}
	id := p.w.Location(l)
	p.numbered = append(p.numbered, id)
	if _, taken := p.paths[path]; !taken {
		p.paths[path] = id
	}
	p.frames = append(p.frames, &frame{indent: indent, isLocation: true, location: id, path: path,
		options: trace.StreamOptions{Unordered: true}, counters: map[string]trace.CounterID{}})
	return nil
}

func appendAttribute(list []trace.Attribute, w word) ([]trace.Attribute, error) {
	if !w.keyed {
		return nil, fmt.Errorf("%q: want key=value", w.text)
	}
	return append(list, trace.Attribute{Key: w.key, Value: w.value()}), nil
}

func (p *parser) region(_ int, ws []word) error {
	if len(ws) < 1 || ws[0].keyed {
		return fmt.Errorf("want a name")
	}
	r := trace.Region{Name: ws[0].text}
	as := r.Name
	for _, w := range ws[1:] {
		var err error
		switch w.key {
		case "role":
			var ok bool
			if r.Role, ok = trace.ParseRole(w.text); !ok {
				err = fmt.Errorf("unknown role %q", w.text)
			}
		case "category":
			r.Category = w.text
		case "file":
			r.File = w.text
		case "line":
			r.Line, err = strconv.Atoi(w.text)
		case "as":
			as = w.text
		default:
			r.Attributes, err = appendAttribute(r.Attributes, w)
		}
		if err != nil {
			return err
		}
	}
	p.regions[as] = p.w.Region(r)
	return nil
}

// regionNamed finds the region of a name, defining it if no line has.
func (p *parser) regionNamed(name string) trace.RegionID {
	id, ok := p.regions[name]
	if !ok {
		id = p.w.Region(trace.Region{Name: name})
		p.regions[name] = id
	}
	return id
}

// place finds a location by path or #number.
func (p *parser) place(w word) (trace.LocationID, error) {
	if n, ok := strings.CutPrefix(w.text, "#"); ok && !w.quoted {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(p.numbered) {
			return p.numbered[i], nil
		}
	}
	if id, ok := p.paths[w.text]; ok && !w.keyed {
		return id, nil
	}
	return 0, fmt.Errorf("no location %q in the lines above", w.text)
}
