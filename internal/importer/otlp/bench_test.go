package otlp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/fstest"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// generate makes a trace of so many spans, a tree with eight children a span, over
// forty services.
func generate(spans int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"resourceSpans":[`)
	for service := range 40 {
		if service > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"service %d"}}]},"scopeSpans":[{"scope":{"name":"library"},"spans":[`, service)
		for i := service; i < spans; i += 40 {
			if i > service {
				b.WriteString(",\n")
			}
			parent := ""
			if i > 0 {
				parent = fmt.Sprintf("%016x", (i-1)/8+1)
			}
			begin := 1700000000000000000 + i*1000
			fmt.Fprintf(&b, `{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"%016x","parentSpanId":"%s","name":"GET /resource/%d","kind":%d,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.status_code","value":{"intValue":"200"}},{"key":"peer","value":{"stringValue":"service %d"}}]}`,
				i+1, parent, i%300, 2+i%2, begin, begin+50000, (service+1)%40)
		}
		b.WriteString(`]}]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// BenchmarkImport prints how long an import takes a span, and how much faster it is
// than decoding the same JSON with encoding/json into nothing in particular.
func BenchmarkImport(b *testing.B) {
	const spans = 100_000
	text := generate(spans)
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
	if err != nil {
		b.Fatal(err)
	}
	message, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	if err != nil {
		b.Fatal(err)
	}
	for name, data := range map[string][]byte{"json": text, "protobuf": message} {
		b.Run(name, func(b *testing.B) {
			s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: data}})
			if err != nil {
				b.Fatal(err)
			}
			run := importer.ClaimAs(Format, s)[0]
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			seconds := importertest.Beside(b, run, spans, func() error {
				var v any
				return json.Unmarshal(text, &v)
			})
			b.ReportMetric(seconds/spans*1e9, "ns/span")
		})
	}
}
