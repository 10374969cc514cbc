package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An answerer writes answers and errors.
type answerer struct {
	config  Config
	pressed *compressor
}

// An apiError is the body of every answer that is not 2xx.
type apiError struct {
	Status  int    `json:"-"`
	Message string `json:"error"` // The error, one sentence.
	Hint    string `json:"hint"`  // The next step for the user; may be empty.
	// For programs. `aborted` and `unreachable` are made by the client alone.
	Kind string `json:"kind" ts:"ErrorKind"`
	// Place is set where the fault is in a text that the user wrote.
	Place *placeJSON `json:"place,omitempty"`
}

// placeJSON is a place in a text, from 1, and its line with a mark under it.
type placeJSON struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Caret  string `json:"caret"`
}

func (e *apiError) Error() string { return e.Message }

var (
	errBusy = &apiError{Status: http.StatusServiceUnavailable, Kind: "busy",
		Message: "too many requests are being computed at once", Hint: "try again in a few seconds"}
	errSuperseded = &apiError{Status: http.StatusConflict, Kind: "superseded",
		Message: "a newer request of the same panel took its place"}
	errPanic = &apiError{Status: http.StatusInternalServerError, Kind: "internal",
		Message: "internal error; the log has the details",
		Hint:    "choose another selection, and please report it"}
)

// usage returns the error of a request that is wrong in itself.
func usage(err error) error {
	return &apiError{Status: http.StatusBadRequest, Kind: "usage", Message: err.Error()}
}

// errorOf finds the answer for an error of any layer.
func errorOf(err error) *apiError {
	var api *apiError
	var empty *view.EmptyError
	var bad *importer.Error
	var unknown *importer.Unknown
	var much *memory.Exceeded
	switch {
	case errors.As(err, &api):
		return api
	case errors.As(err, &unknown): // which quotes the file
		return &apiError{Status: http.StatusUnprocessableEntity, Kind: kindOf(err),
			Message: unknown.Cause.File + ": no reader knows this input", Hint: unknown.Cause.Hint}
	case errors.As(err, &empty):
		return &apiError{Status: http.StatusUnprocessableEntity, Kind: "empty", Message: empty.What, Hint: empty.Hint}
	case errors.As(err, &bad):
		e := *bad
		e.Hint = ""
		return &apiError{Status: http.StatusUnprocessableEntity, Kind: kindOf(err), Message: e.Error(), Hint: bad.Hint}
	case errors.As(err, &much):
		return &apiError{Status: http.StatusInsufficientStorage, Kind: "memory", Message: much.What(),
			Hint: much.Hint()}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &apiError{Status: http.StatusServiceUnavailable, Kind: "superseded",
			Message: "the request was cancelled"}
	}
	out := &apiError{Status: http.StatusUnprocessableEntity, Kind: kindOf(err), Message: withoutPasswords(err.Error())}
	var placed interface {
		Place() (line, column int, caret string)
	}
	if errors.As(err, &placed) {
		line, column, caret := placed.Place()
		out.Kind, out.Place = "usage", &placeJSON{line, column, caret}
	}
	return out
}

func kindOf(err error) string {
	switch {
	case errors.Is(err, importer.ErrMalformed):
		return "malformed"
	case errors.Is(err, importer.ErrUnsupported):
		return "unsupported"
	case errors.Is(err, importer.ErrNotFound):
		return "not-found"
	}
	return "failed"
}

// fail answers with an error, unless the client has left.
func (s *answerer) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	e := errorOf(err)
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	if e.Status >= 500 && e != errBusy {
		s.config.Log.Warn("request failed", "path", r.URL.Path, "error", err)
	}
	body, _ := json.Marshal(e)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	w.Write(body)
}

// recoverPanic turns a panic of a handler into an answer; the stack goes to the log.
func (s *answerer) recoverPanic(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.logPanic(r.URL.Path, p)
	s.fail(w, r, errPanic)
}

func (s *answerer) logPanic(where string, p any) {
	s.config.Log.Error("panic", "where", where, "cause", p, "stack", string(debug.Stack()))
}

// writeJSON answers with a value.
func (s *answerer) writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) error {
	body, err := marshal(v)
	if err != nil {
		return err
	}
	return s.write(w, r, status, "application/json", body)
}

// marshal writes JSON for reading: names keep their < and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if _, err := view.WriteJSON(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// write sends a whole answer, compressed where the line is slow. A client that
// reads nothing for minutes is let go.
func (s *answerer) write(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Vary", "Accept-Encoding, Parallax-Rate")
	if used, most := s.config.Memory.Kept(); most > 0 {
		h.Set("Parallax-Kept", fmt.Sprintf("%d/%d", used, most))
	}
	if s.slowLine(r) && len(body) > 1400 {
		if packed, encoding := s.pressed.compress(body, r.Header.Get("Accept-Encoding")); encoding != "" {
			h.Set("Content-Encoding", encoding)
			body = packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(5 * time.Minute))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client has left
	}
	return nil
}

// fastLine is the rate in bytes a second above which packing takes longer than
// sending: zstd packs scenes at some hundred MB/s, and the browser unpacks as well.
const fastLine = 40e6

// slowLine reports whether packing pays: the user said so, or the page measured it.
func (s *answerer) slowLine(r *http.Request) bool {
	if s.config.Remote {
		return true
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(r.Header.Get("Parallax-Rate")), 64)
	return err == nil && rate > 0 && rate < fastLine
}
