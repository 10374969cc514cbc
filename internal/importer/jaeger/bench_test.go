package jaeger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// generate makes a trace of so many spans, a tree with eight children a span, over
// forty processes.
func generate(spans int) []byte {
	const id = "0af7651916cd43dd8448eb211c80319c"
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"data":[{"traceID":"%s","spans":[`, id)
	for i := range spans {
		if i > 0 {
			b.WriteString(",\n")
		}
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(`{"refType":"CHILD_OF","traceID":"%s","spanID":"%016x"}`, id, (i-1)/8+1)
		}
		begin := 1700000000000000 + i
		fmt.Fprintf(&b, `{"traceID":"%s","spanID":"%016x","flags":1,"operationName":"GET /resource/%d","references":[%s],"startTime":%d,"duration":50,`,
			id, i+1, i%300, parent, begin)
		fmt.Fprintf(&b, `"tags":[{"key":"http.method","type":"string","value":"GET"},{"key":"http.status_code","type":"int64","value":200}],"logs":[`)
		if i%4 == 0 {
			fmt.Fprintf(&b, `{"timestamp":%d,"fields":[{"key":"event","type":"string","value":"sent"}]}`, begin+10)
		}
		fmt.Fprintf(&b, `],"processID":"p%d","warnings":null}`, i%40)
	}
	b.WriteString(`],"processes":{`)
	for i := range 40 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"p%d":{"serviceName":"service %d","tags":[{"key":"hostname","type":"string","value":"node %d"}]}`, i, i, i)
	}
	b.WriteString(`}}]}`)
	return b.Bytes()
}

// A plain is a file as encoding/json decodes it, with what records hold.
type plain struct {
	Data []struct {
		Spans []struct {
			TraceID, SpanID, OperationName, ProcessID string
			StartTime, Duration                       int64
			References                                []struct{ RefType, TraceID, SpanID string }
			Tags                                      []plainTag
			Logs                                      []struct {
				Timestamp int64
				Fields    []plainTag
			}
			Warnings []string
		}
		Processes map[string]struct {
			ServiceName string
			Tags        []plainTag
		}
	}
}

type plainTag struct {
	Key   string
	Value any
}

// BenchmarkImport prints what an import reads in a second of processor time, and how
// many times less of that it needs than encoding/json for decoding the same spans, although
// it reads the file twice.
func BenchmarkImport(b *testing.B) {
	const spans = 100_000
	data := generate(spans)
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x.json": {Data: data}})
	if err != nil {
		b.Fatal(err)
	}
	run := importer.ClaimAs(Format, s)[0]
	seconds := importertest.Beside(b, run, spans, func() error {
		var all plain
		err := json.Unmarshal(data, &all)
		if err == nil && (len(all.Data) != 1 || len(all.Data[0].Spans) != spans) {
			err = errors.New("the spans are not all there")
		}
		return err
	})
	b.ReportMetric(spans/seconds, "spans/cpu-s")
	b.ReportMetric(float64(len(data))/1e6/seconds, "MB/cpu-s")
}
