package jaeger

import "github.com/parallax-hpc/parallax/internal/importer/span"

// A record is one span as it is written.
type record struct {
	TraceID    string        `json:"traceID"`
	SpanID     string        `json:"spanID"`
	ParentID   string        `json:"parentSpanID"` // of old versions
	Operation  string        `json:"operationName"`
	References []reference   `json:"references"`
	Start      span.Scalar   `json:"startTime"` // µs
	Duration   span.Scalar   `json:"duration"`  // µs
	Tags       []tag         `json:"tags"`
	Logs       []log         `json:"logs"`
	ProcessID  string        `json:"processID"`
	Process    *process      `json:"process"`
	Warnings   []span.Scalar `json:"warnings"`

	offset int64
}

type reference struct {
	Type    string `json:"refType"`
	TraceID string `json:"traceID"`
	SpanID  string `json:"spanID"`
}

type tag struct {
	Key   string      `json:"key"`
	Value span.Scalar `json:"value"`
}

type log struct {
	Timestamp span.Scalar `json:"timestamp"` // µs
	Fields    []tag       `json:"fields"`
}

type process struct {
	Service string `json:"serviceName"`
	Tags    []tag  `json:"tags"`
}

// file reads a file: traces, or an object that holds them as its data.
func file(in *span.Reader, out *span.Writer) error {
	return in.Objects(func(members func(func(string) error) error) error {
		t := newTrace(in, out)
		err := members(func(name string) error {
			if name == "data" {
				return in.Objects(func(members func(func(string) error) error) error {
					t := newTrace(in, out)
					err := members(t.member)
					t.write()
					return err
				})
			}
			return t.member(name)
		})
		t.write()
		return err
	})
}

// A traceReader holds the spans of one trace until its processes are known.
type traceReader struct {
	in        *span.Reader
	out       *span.Writer
	spans     []record
	processes map[string]*process
}

func newTrace(in *span.Reader, out *span.Writer) *traceReader {
	return &traceReader{in: in, out: out}
}

// member reads one member of a trace.
func (t *traceReader) member(name string) error {
	switch name {
	case "spans":
		return t.in.Array(func() error {
			var r record
			ok, err := t.in.Take(&r)
			if r.offset = t.in.InputOffset(); ok {
				t.spans = append(t.spans, r)
			}
			return err
		})
	case "processes":
		_, err := t.in.Take(&t.processes)
		return err
	}
	return t.in.Skip()
}
