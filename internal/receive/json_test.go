package receive

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// fullTraces has every field of the protocol.
func fullTraces() ptrace.Traces {
	t := ptrace.NewTraces()
	r := t.ResourceSpans().AppendEmpty()
	r.SetSchemaUrl("https://example.org/resource")
	r.Resource().SetDroppedAttributesCount(1)
	r.Resource().Attributes().PutStr("service.name", "shop \"ü\"")
	s := r.ScopeSpans().AppendEmpty()
	s.SetSchemaUrl("https://example.org/scope")
	s.Scope().SetName("library")
	s.Scope().SetVersion("1.2")
	s.Scope().SetDroppedAttributesCount(2)
	s.Scope().Attributes().PutBool("on", false)
	x := s.Spans().AppendEmpty()
	x.SetTraceID(pcommon.TraceID{1, 2, 15: 3})
	x.SetSpanID(pcommon.SpanID{4, 7: 5})
	x.SetParentSpanID(pcommon.SpanID{6})
	x.TraceState().FromRaw("a=b")
	x.SetName("GET /")
	x.SetKind(ptrace.SpanKindClient)
	x.SetStartTimestamp(math.MaxUint64)
	x.SetEndTimestamp(2)
	x.SetFlags(0x101)
	x.SetDroppedAttributesCount(3)
	x.SetDroppedEventsCount(4)
	x.SetDroppedLinksCount(5)
	x.Status().SetCode(ptrace.StatusCodeError)
	x.Status().SetMessage("failed")
	a := x.Attributes()
	a.PutInt("integer", math.MinInt64)
	a.PutDouble("double", 0.1)
	a.PutDouble("endless", math.Inf(-1))
	a.PutStr("empty", "")
	a.PutEmpty("none")
	a.PutEmptyBytes("bytes").FromRaw([]byte{0, 255})
	list := a.PutEmptySlice("list")
	list.AppendEmpty().SetStr("inner")
	list.AppendEmpty().SetEmptyMap().PutInt("deep", 1)
	e := x.Events().AppendEmpty()
	e.SetName("event")
	e.SetTimestamp(7)
	e.SetDroppedAttributesCount(8)
	e.Attributes().PutStr("k", "v")
	l := x.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID{9})
	l.SetSpanID(pcommon.SpanID{10})
	l.TraceState().FromRaw("c=d")
	l.SetFlags(11)
	l.SetDroppedAttributesCount(12)
	l.Attributes().PutInt("n", 1)
	return t
}

// The collector's own library reads the same from our protobuf as from the JSON.
func TestJSONOfSpansIsTheSameInProtobuf(t *testing.T) {
	full, err := (&ptrace.JSONMarshaler{}).MarshalTraces(fullTraces())
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"all fields": full, "nothing": []byte("{}"),
		"names": []byte(`{"resource_spans":[{"x":[{"y":null}],"scope_spans":[{"spans":[{"kind":"SPAN_KIND_SERVER",
			"start_time_unix_nano":12,"attributes":null,"status":{"code":"STATUS_CODE_OK"}}]}]}]}`)}
	for _, file := range []string{"trace.json", "rich.json", "otlp2jaeger-in.json"} {
		if texts[file], err = os.ReadFile("../importer/otlp/testdata/" + file); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		want, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := encodeJSON(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		one, _ := (&ptrace.ProtoMarshaler{}).MarshalTraces(want)
		two, _ := (&ptrace.ProtoMarshaler{}).MarshalTraces(got)
		if !bytes.Equal(one, two) {
			a, _ := (&ptrace.JSONMarshaler{}).MarshalTraces(want)
			b, _ := (&ptrace.JSONMarshaler{}).MarshalTraces(got)
			t.Errorf("%s:\n%s\nwant\n%s", name, b, a)
		}
	}
}

func TestBadJSONIsRefused(t *testing.T) {
	deep := `{"resourceSpans":[{"resource":{"attributes":[{"key":"k","value":` +
		strings.Repeat(`{"arrayValue":{"values":[`, 1000) + strings.Repeat(`]}}`, 1000) + `}]}}]}`
	for _, text := range []string{"", "[]", "{", `{"resourceSpans":{}}`, `{"resourceSpans":[1]}`, "{} {}", deep,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xyz"}]}]}]}`,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"startTimeUnixNano":1.5}]}]}]}`,
		`{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":1}]}]}]}`} {
		if _, err := encodeJSON([]byte(text)); err == nil {
			t.Errorf("%.60s is taken", text)
		}
	}
}
