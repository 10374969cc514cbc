package receive

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// takeGRPC takes the one message of a call: a byte that says whether it is packed, four of
// length, and the message.
func (r *Receiver) takeGRPC(q *http.Request) *refusal {
	var head [5]byte
	if _, err := io.ReadFull(q.Body, head[:]); err != nil {
		return r.broken(err, "the call has no message")
	}
	length, packed := int64(binary.BigEndian.Uint32(head[1:])), head[0] == 1
	if length > r.options.Largest {
		return r.tooLarge()
	}
	if how := q.Header.Get("Grpc-Encoding"); packed && how != "gzip" {
		r.counts.malformed.Add(1)
		return &refusal{http.StatusUnsupportedMediaType, codeUnimplemented,
			"the message is packed otherwise than by gzip", 0}
	}
	h := &held{receiver: r, ctx: q.Context()}
	defer h.back()
	body, bad := h.read(io.LimitReader(q.Body, length), packed)
	if bad != nil {
		return bad
	}
	if !packed && int64(len(body)) < length {
		return r.malformed("the message breaks off")
	}
	return r.keep(body)
}

// answerGRPC answers a call: an empty message, or none, and the status in the trailers.
func answerGRPC(w http.ResponseWriter, q *http.Request, bad *refusal) {
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Accept-Encoding", "identity, gzip")
	h.Set("Trailer", "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
	w.WriteHeader(http.StatusOK)
	if bad == nil {
		_, _ = w.Write(make([]byte, 5))
		h.Set("Grpc-Status", "0")
		return
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush() // trailers follow
	}
	h.Set("Grpc-Status", strconv.FormatUint(uint64(bad.code), 10))
	h.Set("Grpc-Message", percent(bad.text))
	h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(statusMessage(bad)))
}

// percent writes a text as trailers of gRPC want it: bytes beyond printable ASCII as %XX.
func percent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
