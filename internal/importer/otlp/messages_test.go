package otlp

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
)

// translate makes protocol buffers of a file of JSON, with the collector's own
// library: one message for each object.
func translate(t *testing.T, file string) (messages [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range objectsOf(text) {
		traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		if err != nil {
			t.Fatal(err)
		}
		b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, b)
	}
	return messages
}

func objectsOf(text []byte) [][]byte {
	if lines := bytes.Split(bytes.TrimSpace(text), []byte("\n{")); len(lines) > 1 {
		for i := 1; i < len(lines); i++ {
			lines[i] = append([]byte("{"), lines[i]...)
		}
		return lines
	}
	return [][]byte{text}
}

// The same spans come out of every form of the protocol.
func TestAllFormsGiveTheSame(t *testing.T) {
	for _, file := range []string{"testdata/trace.json", "testdata/lines.txt", "testdata/otlp2jaeger-in.json", "testdata/rich.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := dumpOf(t, text)
		messages := translate(t, file)
		var four, varint []byte
		for _, m := range messages {
			four = append(binary.BigEndian.AppendUint32(four, uint32(len(m))), m...)
			varint = protowire.AppendBytes(varint, m)
		}
		for name, b := range map[string][]byte{"one message": bytes.Join(messages, nil), "four bytes of length": four, "a varint of length": varint} {
			if d := tracetest.Diff(want, dumpOf(t, b)); d != "" {
				t.Errorf("%s as %s: %s", file, name, d)
			}
		}
		if file == "testdata/rich.json" {
			keep(t, "testdata/rich.pb", bytes.Join(messages, nil))
			keep(t, "testdata/framed.pb", four)
		}
	}
}

// What query services wrap around spans changes nothing in them.
func TestAnswersOfQueryServicesAreTheSameSpans(t *testing.T) {
	text, err := os.ReadFile("testdata/rich.json")
	if err != nil {
		t.Fatal(err)
	}
	want := dumpOf(t, text)
	old := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"scopeSpans"`), []byte(`"instrumentationLibrarySpans"`)), []byte(`"scope"`), []byte(`"instrumentationLibrary"`))
	for name, b := range map[string][]byte{
		"Jaeger's third version": fmt.Appendf(nil, `{"result":%s}`, text),
		"Tempo's batches":        bytes.Replace(text, []byte(`"resourceSpans"`), []byte(`"batches"`), 1),
		"older batches":          bytes.Replace(old, []byte(`"resourceSpans"`), []byte(`"batches"`), 1),
		"Tempo's second version": fmt.Appendf(nil, `{"trace":%s}`, text),
	} {
		if d := tracetest.Diff(want, dumpOf(t, b)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// offsets are the places of examples, which differ.
var offsets = regexp.MustCompile(`sample/x: byte \d+`)

func dumpOf(t *testing.T, b []byte) string {
	t.Helper()
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x": {Data: b}})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	m := storetest.NewMemory()
	if err := runs[0].Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return offsets.ReplaceAllString(tracetest.Dump(m.Reader()), "")
}

// keep holds bytes against a sample, or writes it.
func keep(t *testing.T, file string, b []byte) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, b) {
		t.Errorf("%s is not what the collector's library writes: %v; -update writes it", file, err)
	}
}
