package zipkin

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
// forty services.
func generate(spans int) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i := range spans {
		if i > 0 {
			b.WriteString(",\n")
		}
		parent := ""
		if i > 0 {
			parent = fmt.Sprintf(`"parentId":"%016x",`, (i-1)/8+1)
		}
		begin := 1700000000000000 + i
		fmt.Fprintf(&b, `{"traceId":"0af7651916cd43dd8448eb211c80319c",%s"id":"%016x","kind":"%s","name":"get /resource/%d","timestamp":%d,"duration":50,`,
			parent, i+1, []string{"CLIENT", "SERVER"}[i%2], i%300, begin)
		fmt.Fprintf(&b, `"localEndpoint":{"serviceName":"service %d","ipv4":"10.0.0.%d","port":8080},"tags":{"http.method":"GET","http.path":"/resource/%d"}`, i%40, i%40, i%300)
		if i%4 == 0 {
			fmt.Fprintf(&b, `,"annotations":[{"timestamp":%d,"value":"sent"}]`, begin+10)
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes()
}

// A plain is a span as encoding/json decodes it, with what a record holds.
type plain struct {
	TraceID, ID, ParentID, Name, Kind string
	Timestamp, Duration               int64
	LocalEndpoint, RemoteEndpoint     struct {
		ServiceName, IPv4, IPv6 string
		Port                    int64
	}
	Annotations []struct {
		Timestamp int64
		Value     string
	}
	Tags          map[string]string
	Shared, Debug bool
}

// BenchmarkImport prints what an import reads in a second of processor time, and how
// many times less of that it needs than encoding/json for decoding the same spans.
func BenchmarkImport(b *testing.B) {
	const spans = 100_000
	data := generate(spans)
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x.json": {Data: data}})
	if err != nil {
		b.Fatal(err)
	}
	run := importer.ClaimAs(Format, s)[0]
	seconds := importertest.Beside(b, run, spans, func() error {
		var list []plain
		err := json.Unmarshal(data, &list)
		if err == nil && len(list) != spans {
			err = errors.New("the spans are not all there")
		}
		return err
	})
	b.ReportMetric(spans/seconds, "spans/cpu-s")
	b.ReportMetric(float64(len(data))/1e6/seconds, "MB/cpu-s")
}
