package receive

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
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
	length := q.ContentLength
	if length > r.options.Largest {
		return r.tooLarge()
	}
	if length < 0 {
		length = r.options.Largest
	}
	back, bad := r.reserve(q.Context(), unpackedSize(length, packing == "gzip", r.options.Largest))
	if bad != nil {
		return bad
	}
	defer back()
	body, bad := r.read(q.Body, packing == "gzip", q.ContentLength)
	if bad != nil {
		return bad
	}
	if kind == "application/json" {
		encoded, err := encodeJSON(body)
		if err != nil {
			return r.malformed("the body is not JSON of spans: " + err.Error())
		}
		body = encoded
	}
	return r.keep(body)
}

// unpackedSize guesses how large a body will be: text of spans packs to a tenth or so.
func unpackedSize(length int64, packed bool, most int64) int64 {
	if packed && length < math.MaxInt64/10 {
		length *= 10
	}
	return min(length, most)
}

// read reads a body, unpacked, up to the largest that is taken.
func (r *Receiver) read(from io.Reader, packed bool, length int64) ([]byte, *refusal) {
	if packed {
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, r.malformed("the body is not gzip")
		}
		from, length = z, 0
	}
	var body bytes.Buffer
	if length > 0 && length <= r.options.Largest {
		body.Grow(int(length) + bytes.MinRead)
	}
	n, err := body.ReadFrom(io.LimitReader(from, r.options.Largest+1))
	switch {
	case n > r.options.Largest:
		return nil, r.tooLarge()
	case err != nil && !errors.Is(err, io.EOF):
		return nil, r.malformed("the body breaks off")
	}
	return body.Bytes(), nil
}

// answerHTTP says what became of a request, in the form that it came in.
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
