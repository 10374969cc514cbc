package viewtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Span is one call of a service that names its parent: "s" and its number. Times are
// microseconds.
type Span struct {
	Parent     int // -1 for none
	Begin, End int64
}

// RandomSpans makes spans of one service of which children run side by side, begin
// with their parent, outlast it, and come before it in the list.
func RandomSpans(seed uint64, n int) []Span {
	rnd := rand.New(rand.NewPCG(seed, 17))
	out := []Span{{-1, 0, 1000}}
	for len(out) < n {
		p := rnd.IntN(len(out))
		up := out[p]
		length := max(up.End-up.Begin, 1)
		s := Span{Parent: p, Begin: up.Begin + rnd.Int64N(length)}
		s.End = s.Begin + rnd.Int64N(1+(up.End-s.Begin)*5/4)
		switch rnd.IntN(12) {
		case 0: // just as its parent
			s.Begin, s.End = up.Begin, up.End
		case 1: // another root
			s.Parent = -1
		case 2: // after its parent's end
			s.Begin, s.End = up.End+3, up.End+rnd.Int64N(20)+3
		}
		out = append(out, s)
	}
	// Children are often written before their parents, as they end first.
	place := rnd.Perm(n)
	shuffled := make([]Span, n)
	for i, s := range out {
		if s.Parent >= 0 {
			s.Parent = place[s.Parent]
		}
		shuffled[place[i]] = s
	}
	return shuffled
}

// SpanFormats are those that WriteSpans knows.
var SpanFormats = []string{"zipkin", "jaeger", "otlp"}

// WriteSpans writes spans of one service as a format has them.
func WriteSpans(format string, spans []Span) []byte {
	const epoch = 1_700_000_000_000_000 // µs
	var b bytes.Buffer
	put := func(f string, args ...any) { fmt.Fprintf(&b, f, args...) }
	open := map[string]string{
		"zipkin": `[`,
		"jaeger": `{"data":[{"traceID":"a","processes":{"p1":{"serviceName":"one"}},"spans":[`,
		"otlp":   `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"one"}}]},"scopeSpans":[{"spans":[`,
	}[format]
	put("%s", open)
	for i, s := range spans {
		if i > 0 {
			put(",\n")
		}
		parent := ""
		if s.Parent >= 0 {
			parent = fmt.Sprintf("%016x", s.Parent+1)
		}
		switch format {
		case "zipkin":
			put(`{"traceId":"000000000000000a","id":"%016x",`, i+1)
			if parent != "" {
				put(`"parentId":"%s",`, parent)
			}
			put(`"name":"s%d","timestamp":%d,"duration":%d,"localEndpoint":{"serviceName":"one"}}`, i, epoch+s.Begin,
				s.End-s.Begin)
		case "jaeger":
			put(
				`{"traceID":"a","spanID":"%016x","operationName":"s%d","processID":"p1","startTime":%d,"duration":%d,"references":[`, i+1, i, epoch+s.Begin, s.End-s.Begin,
			)
			if parent != "" {
				put(`{"refType":"CHILD_OF","traceID":"a","spanID":"%s"}`, parent)
			}
			put("]}")
		case "otlp":
			put(`{"traceId":"0000000000000000000000000000000a","spanId":"%016x","parentSpanId":"%s","name":"s%d","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
				i+1, parent, i, 1000*(epoch+s.Begin), 1000*(epoch+s.End))
		}
	}
	put("%s", map[string]string{"zipkin": "]", "jaeger": "]}]}", "otlp": "]}]}]}"}[format])
	return b.Bytes()
}

// ImportBytes reads a file of that name and content into a store on disk.
func ImportBytes(tb testing.TB, name string, data []byte) store.Reader {
	tb.Helper()
	return ImportFiles(tb, map[string]string{name: string(data)})
}

// ImportFiles imports the first run of files by their names.
func ImportFiles(tb testing.TB, files map[string]string) store.Reader {
	tb.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	s, err := importer.NewSourceFS("sample", dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect(formats.Formats, s)
	if err != nil {
		tb.Fatal(err)
	}
	return Local(tb, func(w trace.Writer) {
		if err := runs[0].Import(context.Background(), w); err != nil {
			tb.Fatal(err)
		}
	})
}

// A ReadSpan is a span of a store, with its parent by the ids in its attributes.
type ReadSpan struct {
	At     store.Row
	Region trace.RegionID
	Parent *ReadSpan // nil if the source has none

	id, parent, kind string
}

// ReadSpans finds every span of a run and its parent, without a look at nesting or links. If two spans share an id,
// the server's half was called by the client's, and a child belongs to the server's half on its own instance, else
// to one on its instance, else to the server's.
func ReadSpans(tb testing.TB, r store.Reader) (out []*ReadSpan) {
	tb.Helper()
	byID := map[string][]*ReadSpan{}
	var mu sync.Mutex
	err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Begin {
			s := &ReadSpan{At: store.Row{Location: c.Location, Lane: c.Lane, Row: c.First + i}, Region: c.Region[i],
				kind: r.Regions()[c.Region[i]].Category}
			in := ""
			facts, err := r.IntervalAttributes(s.At)
			if err != nil {
				return err
			}
			for _, a := range facts {
				switch a.Key {
				case "trace":
					in = a.Value.String()
				case "span":
					s.id = a.Value.String()
				case "parent span":
					s.parent = a.Value.String()
				}
			}
			s.id = in + " " + s.id
			if s.parent != "" {
				s.parent = in + " " + s.parent
			}
			byID[s.id] = append(byID[s.id], s)
			out = append(out, s)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range out {
		for _, half := range byID[s.id] {
			if half != s && s.kind == "server" && half.kind == "client" {
				s.Parent = half
			}
		}
		if s.Parent != nil || s.parent == s.id {
			continue
		}
		claim := func(half *ReadSpan) (rank int) {
			if half.At.Location == s.At.Location {
				rank += 2
			}
			if half.kind == "server" {
				rank++
			}
			return rank
		}
		for _, half := range byID[s.parent] {
			if s.Parent == nil || claim(half) > claim(s.Parent) {
				s.Parent = half
			}
		}
	}
	return out
}
