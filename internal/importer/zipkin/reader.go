package zipkin

import (
	"bytes"
	"encoding/json"

	"github.com/parallax-hpc/parallax/internal/importer/span"
)

// A record is one span as it is written.
type record struct {
	TraceID     string            `json:"traceId"`
	ID          string            `json:"id"`
	ParentID    string            `json:"parentId"`
	Name        string            `json:"name"`
	Kind        string            `json:"kind"`
	Timestamp   *int64            `json:"timestamp"` // µs
	Duration    *int64            `json:"duration"`  // µs
	Local       *endpoint         `json:"localEndpoint"`
	Remote      *endpoint         `json:"remoteEndpoint"`
	Annotations []annotation      `json:"annotations"`
	Tags        map[string]string `json:"tags"`
	Shared      bool              `json:"shared"`
	Debug       bool              `json:"debug"`
}

type endpoint struct {
	Service string `json:"serviceName"`
	IPv4    string `json:"ipv4"`
	IPv6    string `json:"ipv6"`
	Port    int    `json:"port"`
}

type annotation struct {
	Timestamp int64  `json:"timestamp"` // µs
	Value     string `json:"value"`
}

// spans reads a list of spans, or of lists of them.
func spans(in *span.Reader, out *span.Writer) error {
	c := converter{out: out}
	return in.Array(func() error {
		var raw json.RawMessage
		if ok, err := in.Take(&raw); !ok {
			return err
		}
		if bytes.HasPrefix(raw, []byte("[")) {
			return c.list(in, raw)
		}
		return c.one(in, raw)
	})
}
