package jaeger

import (
	"io"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A record is one span as it is written. It is used again for the next.
type record struct {
	traceID, spanID, parentID string // parentID of old versions
	operation                 string
	references                []reference
	start, duration           int64 // µs
	timed, lasting            bool
	tags                      []trace.Attribute
	logs                      []log
	processID                 string
	process                   *process
	warnings                  []trace.Value
}

type reference struct{ kind, traceID, spanID string }

type log struct {
	timestamp int64 // µs
	timed     bool
	fields    []trace.Attribute
}

type process struct {
	service  string
	instance string
	tags     []trace.Attribute
}

// A file is read twice, since spans name processes that come after them: first for
// the processes of each trace, in order, then for the spans.
type file struct {
	in        *jsonstream.Reader
	converter converter
	processes []map[string]*process
	at        int // the trace
	first     bool
}

// all reads the traces of a file: lists of them, or an object that holds them as
// its data.
func (f *file) all() error {
	f.at = -1
	return f.in.Objects(func() error {
		f.begin()
		return f.in.Members(func(name string) error {
			if name == "data" {
				return f.in.Objects(func() error {
					f.begin()
					return f.in.Members(f.member)
				})
			}
			return f.member(name)
		})
	})
}

// begin goes to the next trace.
func (f *file) begin() {
	f.at++
	if f.first {
		f.processes = append(f.processes, nil)
	}
}

// member reads one member of a trace.
func (f *file) member(name string) error {
	switch {
	case name == "spans" && !f.first:
		return f.in.Array(f.span)
	case name == "processes" && f.first:
		found := map[string]*process{}
		_, err := f.in.Take(func(c *jsonstream.Cursor) {
			for ok := c.Open('{'); ok && c.More('}'); {
				key := c.Name()
				found[key] = readProcess(c)
			}
		})
		f.processes[f.at] = found
		return err
	}
	return f.in.Skip()
}

func (f *file) span() error {
	ok, err := f.in.Take(f.converter.record.read)
	if ok {
		var processes map[string]*process
		if f.at < len(f.processes) {
			processes = f.processes[f.at]
		}
		f.converter.one(f.in, processes)
	}
	return err
}

func (r *record) read(c *jsonstream.Cursor) {
	*r = record{references: r.references[:0], tags: r.tags[:0], logs: r.logs[:0], warnings: r.warnings[:0]}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "traceID":
			r.traceID = c.Text()
		case "spanID":
			r.spanID = c.ID()
		case "parentSpanID":
			r.parentID = c.ID()
		case "operationName":
			r.operation = c.Text()
		case "references":
			r.readReferences(c)
		case "startTime":
			r.start, r.timed = c.Whole()
		case "duration":
			r.duration, r.lasting = c.Whole()
		case "tags":
			r.tags = readTags(c, r.tags)
		case "logs":
			r.readLogs(c)
		case "processID":
			r.processID = c.Text()
		case "process":
			r.process = readProcess(c)
		case "warnings":
			for ok := c.Open('['); ok && c.More(']'); {
				r.warnings = append(r.warnings, c.Scalar())
			}
		default:
			c.Skip()
		}
	}
}

func (r *record) readReferences(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		var f reference
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "refType":
				f.kind = c.Text()
			case "traceID":
				f.traceID = c.Text()
			case "spanID":
				f.spanID = c.ID()
			default:
				c.Skip()
			}
		}
		r.references = append(r.references, f)
	}
}

func (r *record) readLogs(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		var l log
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "timestamp":
				l.timestamp, l.timed = c.Whole()
			case "fields":
				l.fields = readTags(c, nil)
			default:
				c.Skip()
			}
		}
		r.logs = append(r.logs, l)
	}
}

// readTags appends tags; those without a value are none.
func readTags(c *jsonstream.Cursor, tags []trace.Attribute) []trace.Attribute {
	for ok := c.Open('['); ok && c.More(']'); {
		var t trace.Attribute
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "key":
				t.Key = c.Text()
			case "value":
				t.Value = c.Scalar()
			default:
				c.Skip()
			}
		}
		if t.Value.Kind != 0 {
			tags = append(tags, t)
		}
	}
	return tags
}

func readProcess(c *jsonstream.Cursor) *process {
	p := &process{}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "serviceName":
			p.service = c.Text()
		case "tags":
			p.tags = readTags(c, p.tags)
		default:
			c.Skip()
		}
	}
	p.instance = p.name()
	return p
}

// readProcesses is the first reading. What is wrong with the file is found again,
// and judged, in the second.
func (f *file) readProcesses(s *span.Source, out *span.Writer) error {
	run := s.Run
	run.Progress = nil // this reading is not the import
	in, err := run.Open(s.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	f.in, f.first = span.NewReader(s.Ctx, in, s.Label, out.Silent()), true
	if err := f.all(); err != nil && err != io.EOF && s.Ctx.Err() != nil {
		return s.Ctx.Err()
	}
	f.first = false
	return nil
}
