// Package receive takes spans of the OpenTelemetry protocol from running programs: over gRPC, and over HTTP in
// protobuf or JSON, gzip or not. Acknowledged spans are on disk: each request is appended to a log and synchronised
// before its answer, many requests at a time.
//
//	receive.go   permissions of senders, and counts    grpc.go   the frames of gRPC
//	log.go       the log: appends, rotation, restart   http.go   bodies of HTTP
//	message.go   is it a message of spans?             shown.go  the newest part, to be read
//	json.go      JSON of spans as protobuf
//
// The log is a row of files, spans-00000001.otlp and so on, in the form that the collector's
// file exporter writes: four bytes of length, then the request. So it needs no reader of
// its own. The oldest go when a limit is passed.
//
// gRPC is spoken by net/http: one method with one message each way is headers, a frame and
// trailers. The collector's ptraceotlp with grpc-go adds 6.2 MB and four modules to the
// program for the same; its ptrace alone, which reads JSON, 0.8 MB and 14 packages. JSON is
// translated by tables of fields instead; tests compare the result with that of ptrace.
//
// If more spans arrive than can be written, senders are asked to retry (RESOURCE_EXHAUSTED with a delay, 429): no span
// is accepted and then dropped. Refused requests are counted.
package receive

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Options configure a receiver. Zero values of limits are replaced by defaults.
type Options struct {
	Dir   string        // of the log
	Limit int64         // bytes of the log; the oldest files go
	Keep  time.Duration // how long files are kept
	// Room is for the bodies of requests that are not on disk yet; beyond it senders wait, then are refused.
	Room    int64
	Largest int64 // bytes of a request, unpacked
	// Allow judges the token of a request; nil: none is needed.
	Allow func(token string) bool
	// Hosts that requests may name beside loopback and addresses.
	Hosts []string
	// patience is how long a request waits for room, idle how long it may send nothing.
	patience, idle time.Duration
}

// Counts holds the numbers since the start.
type Counts struct {
	Requests int64 `json:"requests"`
	Spans    int64 `json:"spans"`
	Bytes    int64 `json:"bytes"` // of requests that are on disk
	// Spans that were not taken: the sender was asked to come again, or they cannot be read. The number of spans in a
	// refused request is unknown if it was not read.
	RefusedBusy      int64 `json:"refused_busy_requests"`
	RefusedMalformed int64 `json:"refused_malformed_requests"`
	RefusedLarge     int64 `json:"refused_large_requests"`
	RefusedToken     int64 `json:"refused_token_requests"`
	RefusedSignal    int64 `json:"refused_other_signal_requests"` // metrics, logs
	FailedWrites     int64 `json:"failed_write_requests"`
	// RotatedBytes are of files that went since the limit was passed.
	RotatedBytes int64 `json:"rotated_bytes"`
	CutBytes     int64 `json:"cut_bytes"` // at the end of the log when it was opened: never acknowledged
	// For the newest file when the log was opened: damaged lengths of requests that were corrected, and requests whose
	// bytes are damaged.
	MendedLengths   int64 `json:"mended_lengths"`
	DamagedRequests int64 `json:"damaged_requests"`
	RefusedSlow     int64 `json:"refused_slow_requests"`
}

// A Receiver is a handler of HTTP, for both ports. Close it when done.
type Receiver struct {
	options Options
	log     *log
	room    *semaphore.Weighted
	inside  atomic.Int64 // requests
	counts  struct {
		requests, spans, bytes, busy, malformed, large, token, signal, failed, slow atomic.Int64
	}
}

const mostInside = 4096

// New opens the log and makes a receiver.
func New(o Options) (*Receiver, error) {
	set := func(p *int64, v int64) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&o.Limit, 4<<30)
	set(&o.Room, 64<<20)
	set(&o.Largest, 16<<20)
	o.Room = max(o.Room, o.Largest)
	if o.patience == 0 {
		o.patience = 2 * time.Second
	}
	if o.idle == 0 {
		o.idle = 5 * time.Second
	}
	l, err := openLog(o.Dir, o.Limit, o.Keep)
	if err != nil {
		return nil, err
	}
	return &Receiver{options: o, log: l, room: semaphore.NewWeighted(o.Room)}, nil
}

// Close writes the waiting requests and closes the log.
func (r *Receiver) Close() error { return r.log.close() }

// Counts returns the counts so far.
func (r *Receiver) Counts() Counts {
	c := &r.counts
	out := Counts{
		Requests: c.requests.Load(), Spans: c.spans.Load(), Bytes: c.bytes.Load(), RefusedBusy: c.busy.Load(),
		RefusedMalformed: c.malformed.Load(),
		RefusedLarge:     c.large.Load(), RefusedToken: c.token.Load(), RefusedSignal: c.signal.Load(),
		FailedWrites: c.failed.Load(), RefusedSlow: c.slow.Load(),
	}
	r.log.gone(&out)
	return out
}

// A refusal is why a request is not taken, in the words of both protocols.
type refusal struct {
	status int    // of HTTP
	code   uint32 // of gRPC
	text   string
	retry  time.Duration // 0: not at all
}

const (
	codeInvalid       = 3
	codeExhausted     = 8
	codeUnimplemented = 12
	codeUnavailable   = 14
	codeUnknownToken  = 16
)

func (r *refusal) Error() string { return r.text }

func (r *Receiver) busy() *refusal {
	r.counts.busy.Add(1)
	return &refusal{http.StatusTooManyRequests, codeExhausted,
		"more comes than can be written; send it again in a second", time.Second}
}

func (r *Receiver) tooLarge() *refusal {
	r.counts.large.Add(1)
	return &refusal{http.StatusRequestEntityTooLarge, codeInvalid,
		fmt.Sprintf("a request of more than %d MiB; send fewer spans at a time", r.options.Largest>>20), 0}
}

func (r *Receiver) tooSlow() *refusal {
	r.counts.slow.Add(1)
	return &refusal{http.StatusRequestTimeout, codeUnavailable, "the body comes too slowly; send it again", time.Second}
}

func (r *Receiver) malformed(why string) *refusal {
	r.counts.malformed.Add(1)
	return &refusal{http.StatusBadRequest, codeInvalid, why, 0}
}

// ServeHTTP answers both protocols, by the type of the content.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	grpc := strings.HasPrefix(q.Header.Get("Content-Type"), "application/grpc")
	answer := answerHTTP
	if grpc {
		answer = answerGRPC
	}
	if bad := r.guard(q); bad != nil {
		answer(w, q, bad)
		return
	}
	if r.inside.Add(1) > mostInside {
		r.inside.Add(-1)
		answer(w, q, r.busy())
		return
	}
	defer r.inside.Add(-1)
	q.Body = &steady{ReadCloser: q.Body, control: http.NewResponseController(w), idle: r.options.idle,
		begun: time.Now()}
	switch {
	case grpc && q.URL.Path == "/opentelemetry.proto.collector.trace.v1.TraceService/Export":
		answer(w, q, r.takeGRPC(q))
	case !grpc && q.URL.Path == "/v1/traces" && q.Method == http.MethodPost:
		answer(w, q, r.takeHTTP(q))
	case !grpc && q.URL.Path == "/status" && q.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(r.Counts())
	default:
		r.counts.signal.Add(1)
		answer(w, q,
			&refusal{http.StatusNotFound, codeUnimplemented,
				"only traces are taken here: POST /v1/traces, or TraceService over gRPC", 0})
	}
}

// guard keeps out pages of other sites and those without a token. A browser says where a
// page is from; no sender does.
func (r *Receiver) guard(q *http.Request) *refusal {
	bad := func(text string) *refusal {
		r.counts.token.Add(1)
		return &refusal{http.StatusForbidden, codeUnknownToken, text, 0}
	}
	if q.Header.Get("Origin") != "" {
		return bad("requests of web pages are not taken")
	}
	if !r.ours(q.Host) {
		return bad("the host of the request is not one of this receiver; name it with --host")
	}
	if r.options.Allow != nil {
		token, ok := strings.CutPrefix(q.Header.Get("Authorization"), "Bearer ")
		if !ok || !r.options.Allow(token) {
			return bad("a token is needed: the header Authorization: Bearer TOKEN")
		}
	}
	return nil
}

// ours reports whether a host is this machine by a name that no one else can take: a name of loopback, an address, or
// one that the user gave.
func (r *Receiver) ours(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if host == "" || host == "localhost" || net.ParseIP(host) != nil || strings.HasPrefix(host, "/") {
		return true
	}
	for _, h := range r.options.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}

// Same compares tokens in a time that says nothing of them.
func Same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// A held is room for a body that arrives. It grows with the bytes that are there, so who sends nothing holds nothing.
type held struct {
	receiver *Receiver
	ctx      context.Context
	bytes    int64
}

// grow waits for more room.
func (h *held) grow(n int64) *refusal {
	r := h.receiver
	if !r.room.TryAcquire(n) {
		ctx, done := context.WithTimeout(h.ctx, r.options.patience)
		defer done()
		if r.room.Acquire(ctx, n) != nil {
			return r.busy()
		}
	}
	h.bytes += n
	return nil
}

func (h *held) back() { h.receiver.room.Release(h.bytes) }

// A steady body must keep coming: it breaks off where nothing comes for a while, or too little over all.
type steady struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	begun   time.Time
	got     int64
}

// leastRate is how many bytes a second a sender must send, once it has sent for as long as it may be idle.
const leastRate = 4 << 10

// Read implements io.Reader.
func (s *steady) Read(b []byte) (int, error) {
	most := s.begun.Add(2*s.idle + time.Duration(s.got)*time.Second/leastRate)
	if next := time.Now().Add(s.idle); next.Before(most) {
		most = next
	}
	_ = s.control.SetReadDeadline(most) // where it cannot be set, the server has one of its own
	n, err := s.ReadCloser.Read(b)
	s.got += int64(n)
	return n, err
}

// keep puts a message on disk; when it returns nil, it is there.
func (r *Receiver) keep(message []byte) *refusal {
	spans, ok := countSpans(message)
	if !ok {
		return r.malformed("the body is not a message of spans")
	}
	if spans == 0 {
		r.counts.requests.Add(1)
		return nil
	}
	if err := r.log.append(message); err != nil {
		r.counts.failed.Add(1)
		return &refusal{http.StatusServiceUnavailable, codeUnavailable, "the log cannot be written: " + err.Error(),
			5 * time.Second}
	}
	r.counts.requests.Add(1)
	r.counts.spans.Add(spans)
	r.counts.bytes.Add(int64(len(message)))
	return nil
}
