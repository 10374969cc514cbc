package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// An audit writes one line per request: the holder, the path, the time and the outcome. It contains no tokens.
type audit struct {
	mu sync.Mutex
	w  io.Writer
}

type auditLine struct {
	Time   string `json:"time"`
	Client string `json:"client"`
	Holder string `json:"holder,omitempty"`
	Method string `json:"method"`
	Path   string `json:"path"`
	// Opened are the sources that the request opened, without passwords; SQL is the query that it asked.
	Opened  []string `json:"opened,omitempty"`
	SQL     string   `json:"sql,omitempty"`
	Status  int      `json:"status"`
	Bytes   int64    `json:"bytes"`
	Seconds float64  `json:"seconds"`
}

// A counted answer knows its status and length.
type counted struct {
	http.ResponseWriter
	status int
	bytes  int64
	holder string
	opened []string
	sql    string
}

// noteOpened puts sources into the line of a request.
func noteOpened(w http.ResponseWriter, sources []string) {
	if c, ok := w.(*counted); ok {
		for _, s := range sources {
			c.opened = append(c.opened, shorter(withoutPasswords(s)))
		}
	}
}

// noteSQL puts a query into the line of a request.
func noteSQL(w http.ResponseWriter, text string) {
	if c, ok := w.(*counted); ok {
		c.sql = shorter(text)
	}
}

func shorter(text string) string {
	if len(text) > 1024 {
		return strings.ToValidUTF8(text[:1024], "") + "…"
	}
	return text
}

func (c *counted) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush is for streams.
func (c *counted) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }

// write adds the line of a request that was answered.
func (a *audit) write(r *http.Request, c *counted, begun time.Time) {
	line, err := json.Marshal(auditLine{
		Time: begun.UTC().Format(time.RFC3339Nano), Client: addressOf(r), Holder: c.holder,
		Method: r.Method, Path: shorter(r.URL.Path), Opened: c.opened, SQL: c.sql, Status: c.status, Bytes: c.bytes,
		Seconds: time.Since(begun).Seconds(),
	})
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.w.Write(append(line, '\n')) // a full disk must not end the server
}
