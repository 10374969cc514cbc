package otlp

import (
	"encoding/json"

	"github.com/parallax-hpc/parallax/internal/importer/span"
)

// resourceSpans are the spans of one resource, as they are written.
type resourceSpans struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	Scopes    []scopeSpans `json:"scopeSpans"`
	Scopes2   []scopeSpans `json:"scope_spans"`
	Libraries []scopeSpans `json:"instrumentationLibrarySpans"`
}

type scopeSpans struct {
	Scope   scope    `json:"scope"`
	Library scope    `json:"instrumentationLibrary"`
	Spans   []record `json:"spans"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type record struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId"`
	Name       string      `json:"name"`
	Kind       span.Scalar `json:"kind"`
	Start      span.Scalar `json:"startTimeUnixNano"`
	End        span.Scalar `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Events     []event     `json:"events"`
	Links      []link      `json:"links"`
	Status     status      `json:"status"`
	Dropped    int64       `json:"droppedAttributesCount"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text   *string         `json:"stringValue"`
	Whole  *span.Scalar    `json:"intValue"`
	Number *span.Scalar    `json:"doubleValue"`
	Truth  *span.Scalar    `json:"boolValue"`
	Bytes  *string         `json:"bytesValue"`
	List   json.RawMessage `json:"arrayValue"`
	Map    json.RawMessage `json:"kvlistValue"`
}

type event struct {
	Time       span.Scalar `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes"`
}

type link struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type status struct {
	Code    span.Scalar `json:"code"`
	Message string      `json:"message"`
}

// object reads one object of a file. Spans are taken resource by resource.
func object(in *span.Reader, out *span.Writer) error {
	return in.Objects(func(members func(func(string) error) error) error {
		return members(func(name string) error {
			switch name {
			case "resourceSpans", "resource_spans":
				return in.Array(func() error {
					var r resourceSpans
					ok, err := in.Take(&r)
					if ok {
						convert(in, out, &r)
					}
					return err
				})
			case "resourceLogs", "resourceMetrics":
				in.Leave("parts of the protocol that are no spans", nil)
			}
			return in.Skip()
		})
	})
}
