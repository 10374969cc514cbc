package all_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
	"math"
	"testing"
	"time"
)

// A madeSpan is a span of requests of so many spans each: trees with eight children a span, over forty services.
type madeSpan struct {
	request, index         int
	id, parent             int // 0 for none
	begin, length, service int
}

// traceID gives the id of a request, as text.
func (s *madeSpan) traceID(b []byte) []byte {
	return fmt.Appendf(b, "%016x%016x", uint64(s.request+1)*0x9E3779B97F4A7C15, s.request+1)
}

func makeSpans(spans, each int, put func(s *madeSpan)) {
	for r := range max(spans/each, 1) {
		for i := range each {
			s := madeSpan{request: r, index: i, id: r*each + i + 1, begin: 1700000000000000 + r*300, length: each * 50, service: i % 40}
			if i > 0 {
				s.parent = r*each + (i-1)/8 + 1
				s.begin, s.length = s.begin+i*40, 30+(i*7+r*13)%25
			}
			if i > 0 && i*8+1 < each {
				s.length += 64 * 40
			}
			put(&s)
		}
	}
}

// spanWriters write spans in the JSON of each format, with what its exporters give of them.
var spanWriters = map[string]func(spans, each int) []byte{
	"jaeger": writeJaeger, "otlp": writeOTLP, "zipkin": writeZipkin,
}

func writeJaeger(spans, each int) []byte {
	b := append(make([]byte, 0, spans*480), `{"data":[`...)
	makeSpans(spans, each, func(s *madeSpan) {
		if s.index == 0 {
			if s.request > 0 {
				b = append(b, ",\n"...)
			}
			b = append(s.traceID(append(b, `{"traceID":"`...)), `","spans":[`...)
		} else {
			b = append(b, ",\n"...)
		}
		b = s.traceID(append(b, `{"traceID":"`...))
		b = fmt.Appendf(b, `","spanID":"%016x","flags":1,"operationName":"GET /resource/%d","references":[`, s.id, s.index%30)
		if s.parent > 0 {
			b = s.traceID(append(b, `{"refType":"CHILD_OF","traceID":"`...))
			b = fmt.Appendf(b, `","spanID":"%016x"}`, s.parent)
		}
		b = fmt.Appendf(b, `],"startTime":%d,"duration":%d,"tags":[{"key":"http.method","type":"string","value":"GET"},{"key":"http.status_code","type":"int64","value":200}],"logs":[],"processID":"p%d","warnings":null}`, s.begin, s.length, s.service)
		if s.index < each-1 {
			return
		}
		b = append(b, `],"processes":{`...)
		for i := range 40 {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `"p%d":{"serviceName":"service %d","tags":[{"key":"hostname","type":"string","value":"node %d"}]}`, i, i, i)
		}
		b = append(b, `}}`...)
	})
	return append(b, `]}`...)
}

// writeOTLP writes a line for every request, as the collector's file exporter does for what it gets at once.
func writeOTLP(spans, each int) []byte {
	b := make([]byte, 0, spans*430)
	of := make([][]madeSpan, 40)
	makeSpans(spans, each, func(s *madeSpan) {
		if of[s.service] = append(of[s.service], *s); s.index < each-1 {
			return
		}
		b = append(b, `{"resourceSpans":[`...)
		for i, list := range of {
			if len(list) == 0 {
				continue
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"service %d"}},{"key":"host.name","value":{"stringValue":"node %d"}}]},"scopeSpans":[{"scope":{"name":"library"},"spans":[`, i, i)
			for k := range list {
				if k > 0 {
					b = append(b, ',')
				}
				b = list[k].otlp(b)
			}
			b = append(b, `]}]}`...)
			of[i] = list[:0]
		}
		b = append(b, "]}\n"...)
	})
	return b
}

func (s *madeSpan) otlp(b []byte) []byte {
	b = s.traceID(append(b, `{"traceId":"`...))
	b = fmt.Appendf(b, `","spanId":"%016x",`, s.id)
	if s.parent > 0 {
		b = fmt.Appendf(b, `"parentSpanId":"%016x",`, s.parent)
	}
	return fmt.Appendf(b, `"flags":257,"name":"GET /resource/%d","kind":%d,"startTimeUnixNano":"%d000","endTimeUnixNano":"%d000","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.response.status_code","value":{"intValue":"200"}}],"status":{}}`,
		s.index%30, 1+s.index%2, s.begin, s.begin+s.length)
}

func writeZipkin(spans, each int) []byte {
	b := append(make([]byte, 0, spans*360), '[')
	makeSpans(spans, each, func(s *madeSpan) {
		if s.id > 1 {
			b = append(b, ",\n"...)
		}
		b = s.traceID(append(b, `{"traceId":"`...))
		b = append(b, `",`...)
		if s.parent > 0 {
			b = fmt.Appendf(b, `"parentId":"%016x",`, s.parent)
		}
		b = fmt.Appendf(b, `"id":"%016x","kind":"SERVER","name":"get /resource/%d","timestamp":%d,"duration":%d,"localEndpoint":{"serviceName":"service %d","ipv4":"10.0.0.%d","port":8080},"tags":{"http.method":"GET","http.status_code":"200"}}`,
			s.id, s.index%30, s.begin, s.length, s.service, s.service)
	})
	return append(b, ']')
}

// BenchmarkScaleSpanImport compares what an import of requests of a hundred spans costs with looking through the same JSON with
// encoding/json's scanner: processor time and, since spans are written beside reading, time on the clock; the least of some rounds.
// The first looks that `parallax import` makes besides are those of BenchmarkScaleSpans, prepare.
func BenchmarkScaleSpanImport(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		if n > 10_000_000 {
			continue // the JSON is held in memory, 470 bytes a span
		}
		for _, format := range []string{"jaeger", "otlp", "zipkin"} {
			b.Run(fmt.Sprint(format, "/", n), func(b *testing.B) {
				data := spanWriters[format](n, 100)
				rounds := max(1, min(5, 2_000_000/n))
				for b.Loop() {
					most := cost{math.Inf(1), math.Inf(1)}
					scan, whole := most, most
					for range rounds {
						_, s, w := imported(b, data)
						scan.least(s)
						whole.least(w)
					}
					b.ReportMetric(scan.cpu, "scan-cpu-s")
					b.ReportMetric(whole.cpu, "import-cpu-s")
					b.ReportMetric(whole.cpu/scan.cpu, "import/scan")
					b.ReportMetric(whole.wall/scan.wall, "import/scan-wall")
				}
			})
		}
	}
}

// BenchmarkScaleSpans takes many requests of a hundred spans, and one of all spans: what each view of requests costs, first and
// again, what it costs to prepare the first look as an import does, and what that costs then. Processor time.
func BenchmarkScaleSpans(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		if n > 10_000_000 {
			continue // the JSON is held in memory, 470 bytes a span
		}
		for name, each := range map[string]int{"many": 100, "one": n} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					r, _, _ := imported(b, writeJaeger(n, each))
					views := []string{"requests", "criticalpath", "services", "findings"}
					if name == "one" {
						views = views[:1]
					}
					for _, v := range views {
						ask(b, r, v, "", "first", "again")
					}
					begin := benchtest.CPUTime()
					if err := requests.OverviewOfRun.Prepare(b.Context(), &view.Run{Store: r}); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric((benchtest.CPUTime() - begin).Seconds(), "prepare-cpu-s")
					for _, v := range views {
						ask(b, r, v, "", "kept")
					}
					if name == "many" {
						ask(b, r, "requests", string((&madeSpan{request: n / each / 2}).traceID(nil)), "one-kept", "one-again")
					}
				}
			})
		}
	}
}

// A cost is the seconds that something took, of processors and on the clock.
type cost struct{ cpu, wall float64 }

func costOf(f func()) cost {
	begin, at := benchtest.CPUTime(), time.Now()
	f()
	return cost{(benchtest.CPUTime() - begin).Seconds(), time.Since(at).Seconds()}
}

// least takes the least of each.
func (c *cost) least(o cost) { c.cpu, c.wall = min(c.cpu, o.cpu), min(c.wall, o.wall) }

// imported gives a run, and what a scan of its JSON and its import took.
func imported(b *testing.B, data []byte) (r store.Reader, scan, whole cost) {
	scan = costOf(func() {
		if !json.Valid(data) && !validLines(data) {
			b.Fatal("no JSON")
		}
	})
	whole = costOf(func() { r = viewtest.ImportBytes(b, "x.json", data) })
	return r, scan, whole
}

// validLines reports whether every line is JSON. A scan of the whole ends at the second one.
func validLines(data []byte) bool {
	for line := range bytes.Lines(data) {
		if !json.Valid(line) {
			return false
		}
	}
	return true
}

// ask computes a view of a run that is just opened, or of one request of it, as often as there are words for it.
func ask(b *testing.B, r store.Reader, name, one string, words ...string) {
	for _, v := range all.Views {
		if v.Name != name {
			continue
		}
		c := viewtest.Case{Size: scene.Size{Width: 1280, Height: 720}}
		if one != "" {
			c.Options = map[string][]string{"request": {one}}
		}
		q := c.Request(b, v, r)
		q.Runs[0].Cache = derived.NewCache(memory.New(8 << 30))
		for _, when := range words {
			begin := benchtest.CPUTime()
			x, err := v.Compute(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			x.Scene(c.Size)
			b.ReportMetric((benchtest.CPUTime() - begin).Seconds(), name+"-"+when+"-cpu-s")
		}
	}
}
