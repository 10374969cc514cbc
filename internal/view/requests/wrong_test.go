package requests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/requests"
)

// A call is a span as a source tells it. Its begin is in microseconds, and it lasts a hundred.
type call struct {
	id, trace, parent, service string
	begin                      int
}

// writers write calls in the formats of spans. Ids are hexadecimal, shorter than they should be.
var writers = map[string]func([]call) string{
	"jaeger": func(list []call) string {
		return each(list, `{"data":[{"traceID":"a","processes":{"ps":{"serviceName":"s"},"pt":{"serviceName":"t"}},"spans":[`, `]}]}`, func(c call) string {
			references := ""
			if c.parent != "" {
				references = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"%s","spanID":"%s"}`, c.trace, c.parent)
			}
			return fmt.Sprintf(`{"traceID":"%s","spanID":"%s","operationName":"%s","references":[%s],"startTime":%d,"duration":100,"processID":"p%s"}`, c.trace, c.id, c.id, references, 1700000000000000+c.begin, c.service)
		})
	},
	"zipkin": func(list []call) string {
		return each(list, `[`, `]`, func(c call) string {
			parent := ""
			if c.parent != "" {
				parent = fmt.Sprintf(`"parentId":"%s",`, c.parent)
			}
			return fmt.Sprintf(`{"traceId":"%s","id":"%s",%s"name":"%s","timestamp":%d,"duration":100,"localEndpoint":{"serviceName":"%s"}}`, c.trace, c.id, parent, c.id, 1700000000000000+c.begin, c.service)
		})
	},
	"otlp": func(list []call) string {
		return each(list, `{"resourceSpans":[`, `]}`, func(c call) string {
			return fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"%s","startTimeUnixNano":"%d000","endTimeUnixNano":"%d000"}]}]}`,
				c.service, c.trace, c.id, c.parent, c.id, 1700000000000000+c.begin, 1700000000000100+c.begin)
		})
	},
	"tempo": func(list []call) string {
		return each(list, `{"batches":[`, `]}`, func(c call) string {
			return fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"%s"}}]},"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","parentSpanId":"%s","name":"%s","startTimeUnixNano":"%d000","endTimeUnixNano":"%d000"}]}]}`,
				c.service, c.trace, c.id, c.parent, c.id, 1700000000000000+c.begin, 1700000000000100+c.begin)
		})
	},
}

func each(list []call, before, after string, text func(call) string) string {
	parts := make([]string, len(list))
	for i, c := range list {
		parts[i] = text(c)
	}
	return before + strings.Join(parts, ",\n") + after
}

// What a source gets wrong about who called whom is counted, and said, whatever its format.
func TestInvalidParentsAreCounted(t *testing.T) {
	for name, write := range writers {
		for _, x := range []struct {
			what  string
			calls []call
			want  string
			trees string // of callers, by id
		}{
			{"a circle", []call{{"a1", "a", "a2", "s", 0}, {"a2", "a", "a1", "t", 10}}, "1 call in a circle", "a2(a1)"},
			{"a circle in one service", []call{{"a1", "a", "a2", "s", 0}, {"a2", "a", "a1", "s", 10}, {"a3", "a", "", "s", 0}}, "circle", ""},
			{"a call that is its own parent", []call{{"a1", "a", "a1", "s", 0}, {"a2", "a", "a1", "t", 10}}, "1 call whose caller is not in the source, or the call itself", "a1(a2)"},
			{"no root", []call{{"b1", "b", "b8", "s", 0}, {"b2", "b", "b9", "t", 10}}, "1 request of which no root", "b1 b2"},
			{"callers that are missing", []call{{"b1", "b", "b8", "s", 0}, {"b2", "b", "b9", "t", 10}}, "2 calls whose caller is not in the source", "b1 b2"},
			{"two roots", []call{{"c1", "c", "", "s", 0}, {"c2", "c", "", "t", 10}}, "1 request with more than one root", "c1 c2"},
			{"a child before its parent in the file", []call{{"d3", "d", "d2", "s", 20}, {"d2", "d", "d1", "t", 10}, {"d1", "d", "", "s", 0}}, "", "d1(d2(d3))"},
			{"a child before its parent in time", []call{{"d1", "d", "", "s", 50}, {"d2", "d", "d1", "t", 0}}, "1 call that would begin before", ""},
		} {
			t.Run(name+"/"+x.what, func(t *testing.T) {
				r := viewtest.ImportBytes(t, "x.json", []byte(write(x.calls)))
				if got := r.Info().Intervals; got != int64(len(x.calls)) {
					t.Errorf("%d of %d calls are kept", got, len(x.calls))
				}
				c := viewtest.Case{Reader: func(testing.TB) store.Reader { return r }}
				notes := strings.Join(c.Compute(t, requests.View, r).Notes(), "\n")
				if !strings.Contains(notes, x.want) && !reported(r, x.want) {
					t.Errorf("%q is not said:\n%s", x.want, notes)
				}
				if got := trees(t, r); x.trees != "" && got != x.trees {
					t.Errorf("calls are %s, want %s", got, x.trees)
				}
			})
		}
	}
}

// reported looks for words in the report of the import.
func reported(r store.Reader, words string) bool {
	for _, e := range r.Info().Report {
		if strings.Contains(e.What, words) && e.Count > 0 {
			return true
		}
	}
	return false
}

// trees writes who called whom: "a(b c(d))".
func trees(t *testing.T, r store.Reader) string {
	f, err := request.Gather(runfacts.SpanSourceOf(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	var write func(node int32) string
	write = func(node int32) string {
		var parts []string
		for _, c := range f.Children[f.First[node]:f.First[node+1]] {
			parts = append(parts, write(c))
		}
		name := f.Regions[f.Region[node]].Name
		if len(parts) == 0 {
			return name
		}
		return name + "(" + strings.Join(parts, " ") + ")"
	}
	var all []string
	for i := range f.Requests {
		for _, root := range f.Requests[i].Roots {
			all = append(all, write(root))
		}
	}
	return strings.Join(all, " ")
}
