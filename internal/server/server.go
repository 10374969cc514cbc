// Package server is the HTTP side of the workbench: the embedded page, scenes as
// typed arrays, everything else as JSON. docs/api.md describes the paths.
//
// A request passes three checks: guard (is it ours?), panels and slots (is it still wanted, and is there room?), cache
// (has it been computed?). The context of a computation ends when no request waits for it any more, so that an
// unwanted picture stops inside the kernel.
//
// The server speaks contracts: views, formats, the opener and the exporters are
// given to it.
package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An Opener imports sources, or opens their stores. It may give several runs, also
// next to an error about the rest of the sources.
type Opener func(ctx context.Context, o Opening) ([]view.Run, error)

// An Opening is a request to an Opener.
type Opening struct {
	Sources []string
	// Format is the only one to read as; "": found out. Join says that the sources are one run.
	Format string
	Join   bool
	// Align is how clocks are to be fitted, as --align has it; "": as the opener likes.
	Align string
	// Keep is the directory for stores made of the sources, which goes with an upload; "": the opener chooses.
	Keep     string
	Progress func(done, total int64)
}

// An Exporter writes a scene as a file.
type Exporter func(w io.Writer, s *scene.Scene, t scene.Theme) error

// Config configures a server. Zero values of limits are replaced by defaults.
type Config struct {
	Version string
	Views   []*view.View
	Formats []*importer.Format
	// Runs are open from the start; the server closes their stores.
	Runs []view.Run
	// Beside says that the runs were named to be compared: the page opens them side by side.
	Beside bool
	// Open serves POST /api/runs and uploads; nil: neither is offered.
	Open Opener
	// Export by file ending: "svg", "png", "pdf". CSV and JSON need none.
	Export map[string]Exporter
	Recent func() []Recent
	Demos  []Demo
	// Ask answers SQL about a run; nil: not offered.
	Ask func(ctx context.Context, q Question) (*Answer, error)
	// Rows answers SQL with all rows, by the media type that is asked for: Arrow, Parquet, CSV.
	Rows map[string]RowsWriter
	// Programs makes the handler of /api/mcp, for programs; nil: there is none.
	Programs func(Runs) (http.Handler, error)
	// Report writes the report of a run; nil: not offered.
	Report func(ctx context.Context, w io.Writer, r view.Run) error
	// Frames allows POST /api/frame, which opens a port of this machine for a page in a frame.
	Frames bool
	// Docs answers below /docs/; nil: there are none.
	Docs http.Handler
	// Assets is the page: index.html at its top.
	Assets fs.FS

	// Token that every request must carry; empty: a random one is made.
	Token string
	// Tokens let further holders in, each with its rights and its end; the one named like Token is the printed one.
	Tokens []Token
	// TokensIn returns the tokens again where their file has changed; nil: they stay.
	TokensIn func() (list []Token, changed bool)
	// Proxy signs people in; nil: none does.
	Proxy *Proxy
	// Roots are the directories, and the beginnings of addresses, that sources may be opened below; nil: any.
	Roots []string
	// TLS encrypts the line; nil: it is plain.
	TLS *tls.Config
	// Audit takes a line a request; nil: none are written.
	Audit io.Writer
	// Hosts that a request may name next to the loopback names and the listener's.
	Hosts []string
	// Remote says that the line is slow: answers are compressed, pictures come coarse first.
	Remote bool
	Theme  string // "light", "dark", "": the page decides

	// NotesDir is where notes about runs are kept; empty: nowhere.
	NotesDir string

	UploadDir   string // parent of the directory for uploads; empty: the system's
	UploadLimit int64  // bytes of all uploads on disk together

	Workers      int            // computations at once
	Queue        int            // computations that may wait for a worker
	PerClient    int            // requests at once of one client
	Requests     int            // requests at once
	CacheResults int            // results kept
	Memory       *memory.Budget // for results, cached data of views, and computations
	Log          *slog.Logger
}

// A Recent is a source that was open before.
type Recent struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	Format string `json:"format"`
	Opened string `json:"opened"` // RFC 3339
}

// A Demo is a trace with known truth.
type Demo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Truth string `json:"truth"` // The problems that a correct tool must show.
}

// A Server answers for the runs that are open. Close it when done.
type Server struct {
	runPages

	guard   *guard
	audit   *audit // nil: none
	frames  frames
	uploads *uploads
	assets  *assets
	mux     *http.ServeMux
	busy    chan struct{} // one element a request being served

	ctx    context.Context // ends with the server; parent of all computations
	cancel context.CancelFunc
	work   sync.WaitGroup // computations and imports
	closed sync.Once
}

// New makes a server; nothing listens yet.
func New(c Config) (*Server, error) {
	c = c.withDefaults()
	s := new(Server)
	s.config, s.panels, s.pressed = c, newPanels(), newCompressor()
	s.ctx, s.cancel = context.WithCancel(context.Background())
	tokens := c.Tokens
	if len(tokens) == 0 {
		tokens = []Token{{Value: c.Token}}
	}
	s.guard = newGuard(tokens, c.Hosts)
	s.guard.clients, s.guard.proxy, s.guard.tokensIn = newClients(c.PerClient), c.Proxy, c.TokensIn
	if c.Audit != nil {
		s.audit = &audit{w: c.Audit}
	}
	s.limiter = newComputeLimiter(c.Workers, c.Queue)
	s.cache = newCache(s.ctx, &s.work, c.CacheResults, c.Memory)
	s.uploads = newUploads(c.UploadDir, c.UploadLimit, len(c.Tokens) > 0)
	s.runs = newRegistry(s)
	s.busy = make(chan struct{}, c.Requests)
	var err error
	if s.assets, err = loadAssets(c.Assets); err != nil {
		s.cancel()
		return nil, err
	}
	for _, r := range c.Runs {
		s.runs.add(r)
	}
	s.mux = s.newMux()
	if c.Programs != nil {
		h, err := c.Programs(Runs{server: s})
		if err != nil {
			s.Close()
			return nil, err
		}
		s.mux.Handle("/api/mcp", h)
	}
	if c.Docs != nil {
		s.mux.Handle("GET /docs/", http.StripPrefix("/docs", c.Docs))
	}
	return s, nil
}

func (c Config) withDefaults() Config {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&c.Workers, parallel.Workers())
	set(&c.Queue, 256)
	set(&c.Requests, 1024)
	set(&c.PerClient, 128)
	set(&c.CacheResults, 96)
	if c.Memory == nil {
		c.Memory = memory.New(512 << 20)
	}
	if c.UploadLimit <= 0 {
		c.UploadLimit = 64 << 30
	}
	switch {
	case c.Token != "":
	case len(c.Tokens) == 0:
		c.Token = newToken()
	case c.Tokens[0].Plain():
		c.Token = c.Tokens[0].Value
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// newToken returns 128 random bits as text.
func newToken() string {
	var b [16]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Token returns the token that every request must carry.
func (s *Server) Token() string { return s.config.Token }

// Address returns the address for a user to open: it contains the token, once. Of a token that is known by its hash
// alone it contains none.
func (s *Server) Address(a net.Addr) string {
	host, scheme := a.String(), "http"
	if s.config.TLS != nil {
		scheme = "https"
	}
	if h, port, err := net.SplitHostPort(host); err == nil {
		if ip := net.ParseIP(h); ip != nil && ip.IsUnspecified() {
			host = net.JoinHostPort(s.guard.ownName(), port)
		}
	} else if a.Network() == "unix" {
		host = "localhost" // the user who connects the socket to an address chooses the name
	}
	if s.config.Token == "" {
		return scheme + "://" + host + "/"
	}
	return scheme + "://" + host + "/?token=" + url.QueryEscape(s.config.Token)
}

// Serve answers on l until ctx ends, then lets running requests finish for a few
// seconds and closes the server.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	defer s.Close()
	s.guard.allow(l.Addr())
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second, // uploads move it along as bytes arrive
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		TLSConfig:         s.config.TLS,
		ErrorLog:          slog.NewLogLogger(s.config.Log.Handler(), slog.LevelDebug),
	}
	s.frames.serve(h)
	failed := make(chan error, 1)
	go func() {
		if s.config.TLS != nil {
			failed <- h.ServeTLS(l, "", "")
			return
		}
		failed <- h.Serve(l)
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.cancel() // running computations are not waited for
	grace, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	if err := h.Shutdown(grace); err != nil {
		h.Close()
	}
	<-failed
	return nil
}

// Close ends computations and imports, waits for them, closes all stores and
// removes uploads.
func (s *Server) Close() error {
	s.closed.Do(func() {
		s.cancel()
		s.runs.closeAll()
		s.work.Wait()
		s.uploads.removeAll()
		s.pressed.close()
	})
	return nil
}

// ServeHTTP is the whole chain: headers, limits, guard, routes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.audit == nil {
		s.answer(w, r, nil)
		return
	}
	begun, c := time.Now(), &counted{ResponseWriter: w}
	defer func() { s.audit.write(r, c, begun) }()
	s.answer(c, r, c)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *counted) {
	setHeaders(w.Header(), s.frames.ancestors())
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		s.fail(w, r, errBusy)
		return
	}
	defer s.recoverPanic(w, r)
	if len(r.URL.RawQuery) > maxQuery {
		s.fail(w, r,
			&apiError{Status: http.StatusRequestURITooLong, Kind: "too-large",
				Message: "the request's parameters are too long", Hint: "select with patterns instead of lists"})
		return
	}
	ours := s.guard.check(s, w, r)
	if ours == nil {
		return
	}
	if c != nil {
		c.holder = holderOf(ours).Name
	}
	leave, ok := s.guard.clients.enter(clientName(ours))
	if !ok {
		s.fail(w, r, errClientBusy)
		return
	}
	defer leave()
	if !mayWrite(ours) {
		s.fail(w, r, errReadOnly)
		return
	}
	s.mux.ServeHTTP(w, ours)
}

// setHeaders are the same on every answer: nothing from elsewhere, nothing to elsewhere.
func setHeaders(h http.Header, ancestors string) {
	h.Set("Content-Security-Policy", strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "font-src 'self'",
		"img-src 'self' data: blob:", "base-uri 'none'", "form-action 'none'", "frame-ancestors " + ancestors,
	}, "; "))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
