package jaeger

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A record is one span as it is written. It is used again for the next.
type record struct {
	traceID          string
	spanID, parentID span.ID // parentID of old versions
	operation        string
	references       []reference
	start, duration  int64 // µs
	timed, lasting   bool
	tags             []trace.Attribute
	logs             []log
	processID        string
	process          *process
	warnings         []trace.Value
	offset           int64 // in the file, where it ends
}

type reference struct {
	kind, traceID string
	spanID        span.ID
}

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

// A file is read once. Spans name processes that mostly come after them, at the end of the trace: until then they are
// held, as records. A trace of very many spans is not held: its file is then looked through for processes, before it is
// read on.
type file struct {
	source    *span.Source
	out       *span.Writer
	in        *jsonstream.Reader
	converter converter
	at        int // the trace

	processes map[string]*process // of the trace
	known     bool                // these are all it has
	held      []record            // spans that wait for them; the first so many, the rest is to be used again
	waiting   int
	survey    []map[string]*process // the processes of each trace, once the file was looked through
	surveyed  bool
	seen      knownProcesses
}

// mostHeld is how many spans wait for their processes.
const mostHeld = 1 << 14

// all reads the traces of a file.
func (f *file) all() error {
	f.at = -1
	err := traces(f.in, f.begin, f.member)
	f.release()
	return err
}

// traces reads lists of traces, or an object that holds them as its data.
func traces(in *jsonstream.Reader, begin func(), member func(name string) error) error {
	return in.Objects(func() error {
		begin()
		return in.Members(func(name string) error {
			if name == "data" {
				return in.Objects(func() error {
					begin()
					return in.Members(member)
				})
			}
			return member(name)
		})
	})
}

// begin goes to the next trace.
func (f *file) begin() {
	f.release()
	f.at++
	f.processes, f.known = nil, false
	if f.surveyed {
		f.surveyedProcesses()
	}
}

func (f *file) surveyedProcesses() {
	f.known = true
	if f.at < len(f.survey) {
		f.processes = f.survey[f.at]
	}
}

// member reads one member of a trace.
func (f *file) member(name string) error {
	switch {
	case name == "spans":
		return f.in.Array(f.span)
	case name == "processes" && !f.surveyed:
		found, err := f.seen.read(f.in)
		f.processes, f.known = found, true
		f.release()
		return err
	}
	return f.in.Skip()
}

// release passes on the spans that are held.
func (f *file) release() {
	for i := range f.waiting {
		f.converter.one(f.in, &f.held[i], f.processes)
	}
	f.waiting = 0
}

func (f *file) span() error {
	if f.waiting == len(f.held) {
		f.held = append(f.held, record{})
	}
	r := &f.held[f.waiting]
	ok, err := f.in.Walk(r.read)
	if !ok {
		return err
	}
	r.offset = f.in.Offset()
	if f.known {
		f.converter.one(f.in, r, f.processes)
		return nil
	}
	if f.waiting++; f.waiting == mostHeld {
		if err := f.lookThrough(); err != nil {
			return err
		}
		f.release()
	}
	return nil
}

// lookThrough finds the processes of all traces of the file, in another reading. Errors of the file are found again,
// and judged, in the first.
func (f *file) lookThrough() error {
	run := f.source.Run
	run.Progress = nil // this reading is not the import
	opened, err := run.Open(f.source.Path)
	if err != nil {
		return err
	}
	defer opened.Close()
	in := span.NewReader(f.source.Ctx, opened, f.source.Label, f.out.Silent())
	var seen knownProcesses
	_ = traces(in, func() { f.survey = append(f.survey, nil) }, func(name string) error {
		if name != "processes" {
			return in.Skip()
		}
		found, err := seen.read(in)
		f.survey[len(f.survey)-1] = found
		return err
	})
	f.surveyed = true
	f.surveyedProcesses()
	return f.source.Ctx.Err()
}

// knownProcesses are those that were read, by how they are written: every trace tells those it passed through again.
type knownProcesses struct {
	byText map[string]*process
	most   int // of one trace
}

// mostProcesses and longestProcess bound the remembered processes.
const (
	mostProcesses  = 1 << 12
	longestProcess = 4 << 10
)

func (k *knownProcesses) read(in *jsonstream.Reader) (map[string]*process, error) {
	found := make(map[string]*process, k.most)
	_, err := in.Walk(func(c *jsonstream.Cursor) {
		clear(found)
		for ok := c.Open('{'); ok && c.More('}'); {
			key := c.Name()
			found[key] = k.one(c)
		}
	})
	k.most = max(k.most, len(found))
	return found, err
}

func (k *knownProcesses) one(c *jsonstream.Cursor) *process {
	text := c.Raw()
	if p, ok := k.byText[string(text)]; ok {
		return p
	}
	c.Back(text)
	p := readProcess(c)
	if len(text) > longestProcess || c.Bad || c.Wrong {
		return p
	}
	if k.byText == nil || len(k.byText) >= mostProcesses {
		k.byText = map[string]*process{}
	}
	k.byText[string(text)] = p
	return p
}

func (r *record) read(c *jsonstream.Cursor) {
	*r = record{references: r.references[:0], tags: r.tags[:0], logs: r.logs[:0], warnings: r.warnings[:0]}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "traceID":
			r.traceID = c.Text()
		case "spanID":
			r.spanID = span.ParseID(c.Bytes())
		case "parentSpanID":
			r.parentID = span.ParseID(c.Bytes())
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
				f.spanID = span.ParseID(c.Bytes())
			}
		}
		r.references = append(r.references, f)
	}
}

func (r *record) readLogs(c *jsonstream.Cursor) {
	for ok := c.Open('['); ok && c.More(']'); {
		n := len(r.logs)
		r.logs = slices.Grow(r.logs, 1)[:n+1] // with the fields of one that was there before
		l := &r.logs[n]
		*l = log{fields: l.fields[:0]}
		for ok := c.Open('{'); ok && c.More('}'); {
			switch string(c.Key()) {
			case "timestamp":
				l.timestamp, l.timed = c.Whole()
			case "fields":
				l.fields = readTags(c, l.fields)
			}
		}
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
		}
	}
	p.instance = p.name()
	return p
}
