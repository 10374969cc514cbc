package all_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/benchtest"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/view/viewtest"
)

// writeSpans writes Jaeger JSON: requests of so many spans each, trees with eight children a span, over forty services.
func writeSpans(spans, each int) []byte {
	var b bytes.Buffer
	out := bufio.NewWriter(&b)
	out.WriteString(`{"data":[`)
	for r := range max(spans/each, 1) {
		if r > 0 {
			out.WriteString(",\n")
		}
		id := fmt.Sprintf("%016x%016x", uint64(r+1)*0x9E3779B97F4A7C15, r+1)
		fmt.Fprintf(out, `{"traceID":"%s","spans":[`, id)
		for i := range each {
			if i > 0 {
				out.WriteString(",\n")
			}
			parent, begin, length := "", 1700000000000000+r*300, each*50
			if i > 0 {
				parent = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"%s","spanID":"%016x"}`, id, r*each+(i-1)/8+1)
				begin, length = begin+i*40, 30+(i*7+r*13)%25
			}
			if i > 0 && i*8+1 < each {
				length += 64 * 40
			}
			fmt.Fprintf(out, `{"traceID":"%s","spanID":"%016x","flags":1,"operationName":"GET /resource/%d","references":[%s],"startTime":%d,"duration":%d,`, id, r*each+i+1, i%30, parent, begin, length)
			fmt.Fprintf(out, `"tags":[{"key":"http.method","type":"string","value":"GET"},{"key":"http.status_code","type":"int64","value":200}],"logs":[],"processID":"p%d","warnings":null}`, i%40)
		}
		out.WriteString(`],"processes":{`)
		for i := range 40 {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(out, `"p%d":{"serviceName":"service %d","tags":[{"key":"hostname","type":"string","value":"node %d"}]}`, i, i, i)
		}
		out.WriteString(`}}`)
	}
	out.WriteString(`]}`)
	out.Flush()
	return b.Bytes()
}

// BenchmarkScaleSpans takes many requests of a hundred spans, and one of all spans: what importing them costs beside
// looking through the JSON with encoding/json's scanner, and what each view of requests does, first and again. Processor time.
func BenchmarkScaleSpans(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		if n > 10_000_000 {
			continue // the JSON is held in memory, 470 bytes a span
		}
		for name, each := range map[string]int{"many": 100, "one": n} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				for b.Loop() {
					r := imported(b, writeSpans(n, each))
					views := []string{"requests", "criticalpath", "services", "findings"}
					if name == "one" {
						views = views[:1]
					}
					for _, v := range views {
						askTwice(b, r, v)
					}
				}
			})
		}
	}
}

func imported(b *testing.B, data []byte) store.Reader {
	begin := benchtest.CPUTime()
	if !json.Valid(data) {
		b.Fatal("no JSON")
	}
	scan := (benchtest.CPUTime() - begin).Seconds()
	begin = benchtest.CPUTime()
	r := viewtest.ImportBytes(b, "x.json", data)
	whole := (benchtest.CPUTime() - begin).Seconds()
	b.ReportMetric(scan, "scan-cpu-s")
	b.ReportMetric(whole, "import-cpu-s")
	b.ReportMetric(whole/scan, "import/scan")
	return r
}

// askTwice computes a view of a run that is just opened, and once more.
func askTwice(b *testing.B, r store.Reader, name string) {
	for _, v := range all.Views {
		if v.Name != name {
			continue
		}
		c := viewtest.Case{Size: scene.Size{Width: 1280, Height: 720}}
		q := c.Request(b, v, r)
		q.Runs[0].Cache = view.NewCache(memory.New(8 << 30))
		for _, when := range []string{"first", "again"} {
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
