package tau

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An xmlFile is a merged profile or a file of snapshots: documents one after the
// other. Definitions are for all threads ("*") or for one.
type xmlFile struct {
	c     *converter
	label string
	d     *xml.Decoder

	scopes  map[string]*scope
	threads map[string]*xmlThread
	order   []*xmlThread
	derived int64
}

// A scope holds the definitions by id.
type scope struct {
	metrics map[int]string
	events  map[int]definition
	users   map[int]string
}

type definition struct{ name, group string }

// An xmlThread keeps its last snapshot until the end, when all threads are known.
type xmlThread struct {
	id        string
	at        node
	facts     []pair
	metrics   []string
	intervals []xmlInterval
	atomics   []xmlAtomic
	snapshots int
}

type xmlInterval struct {
	definition      definition
	calls, subcalls float64
	values          []float64 // exclusive and inclusive of each metric
}

type xmlAtomic struct {
	name string
	event
}

func readXML(ctx context.Context, run importer.Run, file string, c *converter) error {
	f, err := run.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	clean := &cleaner{r: f}
	x := &xmlFile{c: c, label: run.Label(file), d: xml.NewDecoder(clean), scopes: map[string]*scope{},
		threads: map[string]*xmlThread{}}
	x.d.Strict = false
	x.d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	if err := x.read(ctx); err != nil {
		return err
	}
	importer.Tell(c.w, trace.MissingValues, "bytes of a text that are zero, or that XML forbids", clean.bad, x.label)
	x.write()
	return nil
}

// A cleaner replaces bytes that XML forbids by blanks: merging puts the zero that
// ends a text in C between documents. It counts those that are elsewhere.
type cleaner struct {
	r    io.Reader
	last byte // the one before
	bad  int64
}

func (c *cleaner) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	for i, x := range b[:n] {
		if x < ' ' && x != '\n' && x != '\t' && x != '\r' {
			if b[i] = ' '; c.last != '>' && c.last != '\n' {
				c.bad++
			}
		}
		c.last = x
	}
	return n, err
}

// read walks the elements. Damage ends it; elements before are kept.
func (x *xmlFile) read(ctx context.Context) error {
	depth := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		token, err := x.d.Token()
		if err == io.EOF && depth == 0 {
			break
		}
		if err == nil {
			switch t := token.(type) {
			case xml.StartElement:
				err = x.element(t, &depth)
			case xml.EndElement:
				depth--
			}
		}
		if err != nil {
			var known *importer.Error
			if errors.As(err, &known) {
				return known
			}
			if len(x.order) == 0 {
				return importer.Malformed(x.label, x.place(), "%s", sentence(err))
			}
			x.c.w.Report(trace.MissingRest, "the rest of a file that is cut off or damaged", 1, x.label+": "+x.place())
			break
		}
	}
	if len(x.order) == 0 {
		return importer.Malformed(x.label, x.place(), "the file holds no profile of a thread")
	}
	return nil
}

func sentence(err error) string {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Msg
	}
	return err.Error()
}

func (x *xmlFile) place() string { return fmt.Sprintf("byte %d", x.d.InputOffset()) }

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (x *xmlFile) element(t xml.StartElement, depth *int) error {
	switch name := t.Name.Local; {
	case name == "profile_xml":
		*depth++
		return nil
	case name == "definitions":
		return x.definitions(t)
	case name == "thread":
		return x.thread(t)
	case name == "profile":
		return x.profile(t)
	case strings.Contains(name, "derived"):
		if strings.HasSuffix(name, "profile") {
			x.derived++
		}
		return x.d.Skip()
	default:
		x.c.w.Report(trace.MissingValues, "elements of an unknown kind", 1, x.label+": "+x.place()+": "+name)
		return x.d.Skip()
	}
}

func (x *xmlFile) scope(id string) *scope {
	s, ok := x.scopes[id]
	if !ok {
		s = &scope{map[int]string{}, map[int]definition{}, map[int]string{}}
		x.scopes[id] = s
	}
	return s
}

func (x *xmlFile) definitions(t xml.StartElement) error {
	var d struct {
		Metrics []xmlName `xml:"metric"`
		Events  []xmlName `xml:"event"`
		Users   []xmlName `xml:"userevent"`
	}
	err := x.d.DecodeElement(&d, &t)
	s := x.scope(attribute(t, "thread"))
	for _, m := range d.Metrics {
		s.metrics[m.ID] = strings.TrimSpace(m.Name)
	}
	for _, e := range d.Events {
		s.events[e.ID] = definition{e.Name, e.Group}
	}
	for _, u := range d.Users {
		s.users[u.ID] = u.Name
	}
	return err
}

type xmlName struct {
	ID    int    `xml:"id,attr"`
	Name  string `xml:"name"`
	Group string `xml:"group"`
}

func (x *xmlFile) thread(t xml.StartElement) error {
	var d struct {
		Facts []struct {
			Name  string `xml:"name"`
			Value string `xml:"value"`
		} `xml:"metadata>attribute"`
	}
	err := x.d.DecodeElement(&d, &t)
	h := x.threadOf(attribute(t, "id"))
	for name, to := range map[string]*int{"node": &h.at.node, "context": &h.at.context, "thread": &h.at.thread} {
		if v, e := strconv.ParseInt(attribute(t, name), 10, 32); e == nil {
			*to = int(v)
		}
	}
	for _, f := range d.Facts {
		if f.Name != "" {
			h.facts = append(h.facts, pair{f.Name, f.Value})
		}
	}
	return err
}

func (x *xmlFile) threadOf(id string) *xmlThread {
	h, ok := x.threads[id]
	if !ok {
		h = &xmlThread{id: id, at: node{node: len(x.order)}}
		x.threads[id] = h
		x.order = append(x.order, h)
	}
	return h
}

// profile reads the values of one snapshot; they are totals, so the last one counts.
func (x *xmlFile) profile(t xml.StartElement) error {
	var d struct {
		Interval []struct {
			Metrics string `xml:"metrics,attr"`
			Text    []byte `xml:",chardata"`
		} `xml:"interval_data"`
		Atomic [][]byte `xml:"atomic_data"`
	}
	if err := x.d.DecodeElement(&d, &t); err != nil {
		return err
	}
	id := attribute(t, "thread")
	h := x.threadOf(id)
	h.snapshots++
	h.metrics, h.intervals, h.atomics = nil, nil, nil
	for _, block := range d.Interval {
		first := len(h.metrics)
		for f := range strings.FieldsSeq(block.Metrics) {
			n, _ := strconv.Atoi(f)
			h.metrics = append(h.metrics, lookup(x, id, n, func(s *scope) map[int]string { return s.metrics }))
		}
		x.intervals(h, block.Text, first, len(h.metrics))
	}
	for _, block := range d.Atomic {
		x.atomics(h, block)
	}
	return nil
}

// lookup finds a definition of a thread, or of all.
func lookup[T any](x *xmlFile, thread string, id int, table func(*scope) map[int]T) (v T) {
	for _, s := range []*scope{x.scopes[thread], x.scopes["*"]} {
		if s != nil {
			if v, ok := table(s)[id]; ok {
				return v
			}
		}
	}
	return v
}

// intervals reads lines of "id calls subrs" and two values for each metric.
func (x *xmlFile) intervals(h *xmlThread, text []byte, first, last int) {
	for line := range bytes.Lines(text) {
		v, ok := numbers(line)
		if len(v) == 0 && ok {
			continue
		}
		if want := 3 + 2*(last-first); !ok || len(v) < want {
			x.unreadable()
			continue
		}
		d := lookup(x, h.id, int(v[0]), func(s *scope) map[int]definition { return s.events })
		if d.name == "" {
			x.undefined()
			continue
		}
		values := make([]float64, 2*last)
		copy(values[2*first:], v[3:])
		h.intervals = append(h.intervals, xmlInterval{d, v[1], v[2], values})
	}
}

// atomics reads lines of "id count max min mean sumsqr".
func (x *xmlFile) atomics(h *xmlThread, text []byte) {
	for line := range bytes.Lines(text) {
		v, ok := numbers(line)
		if len(v) == 0 && ok {
			continue
		}
		if !ok || len(v) < 6 {
			x.unreadable()
			continue
		}
		name := lookup(x, h.id, int(v[0]), func(s *scope) map[int]string { return s.users })
		if name == "" {
			x.undefined()
			continue
		}
		h.atomics = append(h.atomics,
			xmlAtomic{name, event{count: v[1], max: v[2], min: v[3], mean: v[4], square: v[5]}})
	}
}

func (x *xmlFile) unreadable() {
	x.c.w.Report(trace.MissingValues, "lines of values that cannot be read", 1, x.label+": before "+x.place())
}

func (x *xmlFile) undefined() {
	x.c.w.Report(trace.MissingValues, "values of something that is not defined", 1, x.label+": before "+x.place())
}

func numbers(line []byte) (v []float64, ok bool) {
	line = bytes.TrimSpace(line)
	for len(line) > 0 {
		n, rest, ok := number(line)
		if !ok {
			return v, false
		}
		v, line = append(v, n), bytes.TrimSpace(rest)
	}
	return v, true
}

// write passes everything to the converter, when it is known which processes have
// several threads.
func (x *xmlFile) write() {
	for _, h := range x.order {
		x.c.expect(h.at)
	}
	for _, paths := range []bool{false, true} { // flat ones know the groups
		for _, h := range x.order {
			for _, i := range h.intervals {
				if strings.Contains(i.definition.name, separator) == paths {
					x.c.function([]byte(i.definition.name), []byte(i.definition.group))
				}
			}
		}
	}
	for _, h := range x.order {
		at := x.c.location(h.at, hostOf(h.facts))
		x.c.begin()
		for _, i := range h.intervals {
			f := x.c.function([]byte(i.definition.name), []byte(i.definition.group))
			for k, name := range h.metrics {
				if 2*k+1 < len(i.values) {
					x.c.add(at, f, x.c.metric(name), i.calls, i.subcalls, i.values[2*k], i.values[2*k+1])
				}
			}
		}
		x.c.end()
		for _, a := range h.atomics {
			x.c.event(at, x.c.counter([]byte(a.name)), a.event)
		}
		x.c.meta.add(x.c.w, at, h.facts)
		if h.snapshots == 0 {
			x.c.w.Report(trace.MissingLocations, "threads without a profile", 1, x.label+": "+h.id)
		} else if h.snapshots > 1 {
			x.c.w.Report(trace.MissingValues, "snapshots before the last of a thread", int64(h.snapshots-1), x.label)
		}
	}
	importer.Tell(x.c.w, trace.Redundant, "statistics over threads, which are computed anew", x.derived, x.label)
}
