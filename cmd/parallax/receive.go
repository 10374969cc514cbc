package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/receive"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

func receiveCommand() *command {
	return &command{
		name: "receive", args: "[DIR]",
		summary: "receive OpenTelemetry spans from running programs, and show the last minutes",
		help: "Spans arrive over gRPC (port 4317) and HTTP (port 4318, protobuf or JSON), the default ports of " +
			"exporters. Acknowledged spans are on disk in DIR (parallax-received), even if the program is killed; " +
			"`parallax open DIR` shows all of them later. If spans arrive faster than they can be written, senders " +
			"are asked to send them again.\n\n" +
			"  parallax receive\n  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317 " +
			"OTEL_EXPORTER_OTLP_PROTOCOL=grpc ./service\n" +
			"  parallax receive /var/spool/spans --limit 20GiB --last 15m\n" +
			"  parallax receive --grpc 10.0.0.5:4317 --http 10.0.0.5:4318 --tokens tokens --tls-cert cert.pem " +
			"--tls-key key.pem",
		flags: func(fs *pflag.FlagSet) {
			fs.String("grpc", "127.0.0.1:4317", "HOST:PORT for OTLP over gRPC; empty: none")
			fs.String("http", "127.0.0.1:4318", "HOST:PORT for OTLP over HTTP; empty: none. Either port takes both")
			fs.String("limit", "4GiB", "size limit of DIR; the oldest spans are removed")
			fs.Duration("keep", 24*time.Hour, "time after which spans are removed")
			fs.Duration("last", 5*time.Minute,
				"time range of the page; shorter if memory does not suffice")
			servingFlags(fs)
			readingFlags(fs)
		},
		run: runReceive, serves: true,
	}
}

func runReceive(ctx context.Context, e *env, args []string) error {
	if len(args) > 1 {
		return usage("receive: one directory, not %d", len(args))
	}
	dir := "parallax-received"
	if len(args) == 1 {
		dir = args[0]
	}
	limit, err := parseSize(e.text("limit"))
	if err != nil || limit < 1<<20 {
		return usage("--limit %q: want at least 1MiB", e.text("limit"))
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	tokens, err := readTokens(e.text("tokens"))
	if err != nil {
		return err
	}
	line, err := e.certificate()
	if err != nil {
		return err
	}
	var ports []net.Listener
	defer func() {
		for _, p := range ports {
			p.Close()
		}
	}()
	for _, name := range []string{"grpc", "http"} {
		p, err := portFor(e, name, tokens != nil)
		if err != nil {
			return err
		}
		if p != nil {
			ports = append(ports, p)
			fmt.Fprintf(e.stdout, "OTLP over %s is taken at %s\n",
				map[string]string{"grpc": "gRPC", "http": "HTTP"}[name], p.Addr())
		}
	}
	if len(ports) == 0 {
		return usage("receive: --grpc and --http are both empty, so nothing could come")
	}
	keep, _ := e.flags.GetDuration("keep")
	r,
		err := receive.New(receive.Options{Dir: dir, Limit: limit, Keep: keep, Hosts: e.list("host"),
		Allow: allowed(e.text("tokens"), tokens, e.warn)})
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := l.NewFollower()
	if err != nil {
		return err
	}
	defer f.Close()
	err = e.serve(ctx, l, e.serverConfig(l, nil), func(s *server.Server) error {
		for _, p := range ports {
			s.Do(func(ctx context.Context) {
				if err := takeSpans(ctx, r, p, line); err != nil {
					e.warn("%s: %v", p.Addr(), err)
				}
			})
		}
		shown := &received{env: e, loader: l, from: r, follower: f, dir: dir,
			live: s.Live(filepath.Base(filepath.Clean(dir)), dir)}
		s.Do(func(ctx context.Context) { repeat(ctx, func() { shown.renew(ctx) }) })
		return nil
	})
	c := r.Counts()
	fmt.Fprintf(e.stdout, "Received in %[3]s: spans %[1]s, requests %[2]s.\n", view.FormatCount(float64(c.Spans)),
		view.FormatCount(float64(c.Requests)), dir)
	for _, x := range losses(c) {
		fmt.Fprintf(e.stdout, "%s: %d\n", x.what, x.count)
	}
	return err
}

// portFor opens a port for senders. Beyond loopback they need tokens.
func portFor(e *env, flag string, guarded bool) (net.Listener, error) {
	address := e.text(flag)
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("receive: %w; choose another address with --%s HOST:PORT", err, flag)
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() && !guarded {
		l.Close()
		return nil,
			usage("--%s %s: others can reach it, and could fill the disk; give --tokens FILE, or listen on 127.0.0.1",
				flag, address)
	}
	return l, nil
}

// allowed judges tokens: those that only look may not send.
func allowed(path string, tokens []server.Token, warn func(string, ...any)) func(string) bool {
	if tokens == nil {
		return nil
	}
	var mu sync.Mutex
	renew := changedTokens(path, warn)
	return func(token string) bool {
		mu.Lock()
		defer mu.Unlock()
		if list, changed := renew(); changed {
			tokens = list
		}
		ok := false
		for _, t := range tokens {
			if t.Is(token) && !t.ReadOnly &&
				(t.Until.IsZero() || time.Now().Before(t.Until)) {
				ok = true
			}
		}
		return ok
	}
}

// takeSpans answers senders on a port until ctx ends; those under way are answered first.
func takeSpans(ctx context.Context, r *receive.Receiver, l net.Listener, line *tls.Config) error {
	h := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10, TLSConfig: line}
	h.Protocols = new(http.Protocols)
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetHTTP2(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	stopped := context.AfterFunc(ctx, func() {
		grace, done := context.WithTimeout(context.Background(), 3*time.Second)
		defer done()
		if h.Shutdown(grace) != nil {
			h.Close()
		}
	})
	defer stopped()
	var err error
	if line != nil {
		err = h.ServeTLS(l, "", "")
	} else {
		err = h.Serve(l)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// received is the run of the last minutes.
type received struct {
	env      *env
	loader   *load.Loader
	from     *receive.Receiver
	follower *load.Follower
	dir      string
	live     *server.Live
	state    receive.State
	told     string
}

// renew shows the spans that came since the last call.
func (x *received) renew(ctx context.Context) {
	last, _ := x.env.flags.GetDuration("last")
	shown := x.from.Shown(last, max(16<<20, x.env.budget.Most()/32))
	if shown.Empty() || shown.State == x.state || x.live.Ended() {
		return
	}
	state := shown.State
	err := x.open(ctx, shown)
	if err == nil {
		x.state, x.told = state, ""
	} else if ctx.Err() == nil && err.Error() != x.told && !errors.Is(err, os.ErrNotExist) {
		// a file that was rotated away meanwhile
		x.told = err.Error()
		x.env.warn("%v", err)
	}
}

func (x *received) open(ctx context.Context, shown receive.Shown) error {
	src, err := importer.NewSourceFS(x.dir, shown)
	if err != nil {
		return err
	}
	defer src.Close()
	found, err := x.loader.FindIn(src, "otlp", filepath.Base(filepath.Clean(x.dir)))
	if err != nil {
		return err
	}
	run, done, err := x.follower.Renew(ctx, found, func(w trace.Writer) trace.Writer {
		for _, l := range losses(x.from.Counts()) {
			w.Report(trace.MissingIntervals, l.what, l.count, x.dir)
		}
		return w
	})
	if err != nil {
		return err
	}
	x.live.Set(run, done)
	return nil
}

type loss struct {
	what  string
	count int64
}

// losses lists refused, damaged and removed data.
func losses(c receive.Counts) (out []loss) {
	for _, x := range []loss{
		{"requests refused while too many came at once: senders were asked to send again", c.RefusedBusy},
		{"requests refused since the log could not be written: senders were asked to send again", c.FailedWrites},
		{"requests refused that are no spans", c.RefusedMalformed},
		{"requests refused that are too large", c.RefusedLarge},
		{"requests refused without a token", c.RefusedToken},
		{"requests refused that are metrics, logs or something else", c.RefusedSignal},
		{"bytes of the oldest spans removed to stay within --limit and --keep", c.RotatedBytes},
		{"requests refused that came too slowly: senders were asked to send again", c.RefusedSlow},
		{"requests of the log that are damaged: their checksums are wrong", c.DamagedRequests},
		{"lengths of requests of the log that were damaged, and are right again: nothing is lost", c.MendedLengths},
		{"bytes cut from the end of the log at the start: half a request, never acknowledged", c.CutBytes},
	} {
		if x.count > 0 {
			out = append(out, x)
		}
	}
	return out
}
