package receive

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// takeHTTP takes a body in protobuf or JSON.
func (r *Receiver) takeHTTP(q *http.Request) *refusal {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if kind != "application/x-protobuf" && kind != "application/json" {
		r.counts.malformed.Add(1)
		return &refusal{http.StatusUnsupportedMediaType, codeInvalid,
			"the content is neither application/x-protobuf nor application/json", 0}
	}
	packing := q.Header.Get("Content-Encoding")
	if packing != "" && packing != "identity" && packing != "gzip" {
		r.counts.malformed.Add(1)
		return &refusal{http.StatusUnsupportedMediaType, codeInvalid, "the content is packed otherwise than by gzip", 0}
	}
	if q.ContentLength > r.options.Largest {
		return r.tooLarge()
	}
	h := &held{receiver: r, ctx: q.Context()}
	defer h.back()
	body, bad := h.read(q.Body, packing == "gzip")
	if bad != nil {
		return bad
	}
	if kind == "application/json" {
		if bad := h.grow(int64(len(body))); bad != nil {
			return bad
		}
		encoded, err := encodeJSON(body)
		if err != nil {
			return r.malformed("the body is not JSON of spans: " + err.Error())
		}
		body = encoded
	}
	return r.keep(body)
}

// read reads a body, unpacked, up to the largest that is taken. Space is asked for as bytes arrive.
func (h *held) read(from io.Reader, packed bool) ([]byte, *refusal) {
	r := h.receiver
	if packed {
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, r.broken(err, "the body is not gzip")
		}
		from = z
	}
	var first [4 << 10]byte
	n, err := io.ReadFull(from, first[:])
	body := first[:n]
	for err == nil {
		if int64(len(body)) > r.options.Largest {
			return nil, r.tooLarge()
		}
		more := max(len(body), 32<<10)
		if bad := h.grow(int64(more)); bad != nil {
			return nil, bad
		}
		body = slices.Grow(body, more)
		n, err = io.ReadFull(from, body[len(body):len(body)+more])
		body = body[:len(body)+n]
	}
	switch {
	case int64(len(body)) > r.options.Largest:
		return nil, r.tooLarge()
	case err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, r.broken(err, "the body breaks off")
	}
	return slices.Clip(body), nil
}

// broken returns the reason why a body ended early: its sender is slow, or it is wrong.
func (r *Receiver) broken(err error, otherwise string) *refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return r.tooSlow()
	}
	return r.malformed(otherwise)
}

// answerHTTP reports the outcome of a request, in the encoding of the request.
func answerHTTP(w http.ResponseWriter, q *http.Request, bad *refusal) {
	kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type"))
	if kind != "application/json" {
		kind = "application/x-protobuf"
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if bad == nil {
		if kind == "application/json" {
			_, _ = io.WriteString(w, "{}")
		}
		return
	}
	if bad.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(bad.retry.Seconds()))))
	}
	w.WriteHeader(bad.status)
	if kind == "application/json" {
		_ = json.NewEncoder(w).Encode(map[string]any{"code": bad.code, "message": bad.text})
		return
	}
	_, _ = w.Write(statusMessage(bad))
}

// statusMessage is google.rpc.Status: a code, words, and how long to wait.
func statusMessage(bad *refusal) []byte {
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(bad.code))
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), bad.text)
	if bad.retry <= 0 {
		return b
	}
	seconds := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType),
		uint64(math.Ceil(bad.retry.Seconds())))
	info := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), seconds)
	any := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType),
		"type.googleapis.com/google.rpc.RetryInfo")
	any = protowire.AppendBytes(protowire.AppendTag(any, 2, protowire.BytesType), info)
	return protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), any)
}
