package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/demo"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/importer/recorder"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/query"
	"github.com/parallax-hpc/parallax/internal/render/pdf"
	"github.com/parallax-hpc/parallax/internal/render/png"
	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/report"
	"github.com/parallax-hpc/parallax/internal/server"
	"github.com/parallax-hpc/parallax/internal/view"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/web"
	"github.com/spf13/pflag"
)

// servingFlags are the options of commands that serve the page.
func servingFlags(fs *pflag.FlagSet) {
	fs.String("listen", "127.0.0.1:0",
		"HOST:PORT to listen on, with 0 for a free port; or unix:PATH, a socket of this user")
	fs.String("tls-cert", "", "FILE with the TLS certificate and its chain, in PEM")
	fs.String("tls-key", "", "FILE with the key of the TLS certificate")
	fs.String("tokens", "",
		"FILE of access tokens, one line each: NAME read|full|admin TOKEN [until 2030-12-31] [runs PATTERN]; "+
			"default: one new token, which is printed")
	fs.StringArray("root", nil,
		"DIR, or the beginning of an address, from which the page and programs may open sources; repeatable; "+
			"default: the sources of the command line and the working directory")
	fs.String("trust-header", "", "HEADER in which a proxy names the signed-in user; --tokens has the rights of each")
	fs.StringArray("trust-from", nil, "ADDRESS or NETWORK of that proxy; repeatable; default: loopback and the socket")
	fs.StringArray("host", nil, "host name of the server, such as that of a proxy; repeatable")
	fs.Int64("per-client", 128, "largest number of concurrent requests of one client")
	fs.String("access-log", "", "FILE for the access log, one line of JSON per request; - is standard error")
	fs.Bool("no-browser", false, "print the address only")
	fs.Bool("until-eof", false, "exit when standard input ends, for scripts")
	fs.Bool("remote", false, "for a slow connection: compress, and send coarse pictures first")
}

func openFlags(fs *pflag.FlagSet) {
	servingFlags(fs)
	fs.Bool("child", false,
		"for a parent program: listen on a private socket, print its address as JSON, exit when standard input "+
			"ends, store no history")
	fs.Bool("follow", false, "follow sources that grow, and update the page")
	fs.StringArray("run", nil, "NAME=SOURCE, or SOURCE: another run, shown side by side; repeatable")
	fs.StringArray("key", nil,
		"KEY=VALUE or KEY=/REGEXP/ on the path of a source: keys to group and sort runs by; repeatable")
	sourceFlags(fs)
	readingFlags(fs)
}

func openCommand() *command {
	return &command{
		name: "open", args: "[SOURCE...]", summary: "import if needed, serve the page and print its address",
		help: "Sources that are not one run are opened as separate runs. A directory of runs of one format opens as " +
			"a set: with the changes, or with the scaling if their sizes differ. Without a source the home page " +
			"opens.\n\n  parallax open traces/\n  parallax open --run before=a.otf2 --run after=b.otf2\n  parallax " +
			"open demo:stencil --no-browser --listen 127.0.0.1:8080\n  parallax open --follow " +
			"parallax-program-20301231-1/",
		flags: openFlags, run: runOpen, serves: true,
	}
}

func runOpen(ctx context.Context, e *env, args []string) error {
	l, err := e.loader()
	if err != nil {
		return err
	}
	keys, err := parseKeys(e.list("key"))
	if err != nil {
		return err
	}
	if e.flag("follow") {
		return e.openFollowing(ctx, l, args)
	}
	runs, err := e.runsToServe(ctx, l, args)
	if err != nil {
		return err
	}
	if len(e.list("run")) == 0 && !e.flag("child") && stillRuns(runs) {
		closeRuns(runs)
		fmt.Fprintln(e.stdout, "The program still runs: the page follows it.")
		return e.openFollowing(ctx, l, args)
	}
	unique(runs)
	for i := range runs {
		runs[i].Keys = keys.of(&runs[i])
	}
	config := e.serverConfig(l, runs, args...)
	config.Beside = len(e.list("run")) > 0 || len(args) == 1 && alike(runs)
	return e.serve(ctx, l, config, nil)
}

// stillRuns reports whether the sources say that they will be written anew, as those of recorders do.
func stillRuns(runs []view.Run) bool {
	return slices.ContainsFunc(runs, func(r view.Run) bool {
		return r.Store.Info().Properties[recorder.Running] != ""
	})
}

// alike reports whether runs of one directory are a set to be compared: all of one format, and
// no requests, of which files hold a part each.
func alike(runs []view.Run) bool {
	for i := range runs {
		if runs[i].Store.Info().Format != runs[0].Store.Info().Format || runfacts.HasSpans(runs[i].Store) {
			return false
		}
	}
	return true
}

// serve serves the page until ctx ends; begin is called once the server is there.
func (e *env) serve(ctx context.Context, l *load.Loader, config server.Config, begin func(*server.Server) error) error {
	listener, done, err := e.listen(&config)
	if err != nil {
		closeRuns(config.Runs)
		return err
	}
	defer done()
	if config.Tokens == nil {
		config.Token = tokenFor(l.Cache, listener.Addr())
	}
	s, err := server.New(config)
	if err != nil {
		listener.Close()
		closeRuns(config.Runs)
		return err
	}
	if begin != nil {
		if err := begin(s); err != nil {
			listener.Close()
			s.Close()
			return err
		}
	}
	if e.flag("child") {
		if err := printChild(e.stdout, listener.Addr(), s); err != nil {
			return err
		}
		return s.Serve(ctx, listener)
	}
	address := s.Address(listener.Addr())
	fmt.Fprintf(e.stdout, "Parallax is at %s\n", address)
	if s.Token() == "" {
		fmt.Fprintln(e.stdout, "Open it with ?token= and your token behind the address, the first time.")
	}
	adviseRemote(e.stdout, listener.Addr())
	for _, w := range exposure(listener.Addr(), config.TLS != nil) {
		e.warn("%s", w)
	}
	if !e.flag("no-browser") {
		startBrowser(address)
	}
	if e.flag("until-eof") {
		fmt.Fprintln(e.stdout, "Ctrl+C or the end of its input ends it.")
	} else {
		fmt.Fprintln(e.stdout, "Ctrl+C ends it.")
	}
	return s.Serve(ctx, listener)
}

// runsToServe opens the sources of the arguments and of --run. If one source fails and others open, it warns of it
// and goes on without it.
func (e *env) runsToServe(ctx context.Context, l *load.Loader, args []string) ([]view.Run, error) {
	var runs []view.Run
	add := func(name string, sources []string) error {
		got, err := l.All(ctx, sources)
		for i := range got {
			if name != "" {
				got[i].Name = name
			}
		}
		runs = append(runs, got...)
		if len(got) > 0 {
			remember(l.Cache, sources, got[0])
		}
		if err != nil && len(got) > 0 {
			e.warn("%v", err)
			return nil
		}
		return err
	}
	if len(args) > 0 {
		if err := add("", args); err != nil {
			closeRuns(runs)
			return nil, err
		}
	}
	for _, s := range e.list("run") {
		name, source := splitRun(s)
		if err := add(name, []string{source}); err != nil {
			closeRuns(runs)
			return nil, err
		}
	}
	return runs, nil
}

// splitRun reads NAME=SOURCE, or SOURCE alone, which names itself: the name is "".
// A file whose name holds the sign is a source.
func splitRun(s string) (name, source string) {
	name, source, named := strings.Cut(s, "=")
	if _, err := os.Stat(s); !named || name == "" || err == nil || strings.ContainsAny(name, "/:") {
		return "", s
	}
	return name, source
}

func closeRuns(runs []view.Run) {
	for _, r := range runs {
		r.Store.Close()
	}
}

func (e *env) serverConfig(l *load.Loader, runs []view.Run, named ...string) server.Config {
	c := server.Config{
		Version: version(), Views: views.Views, Formats: formats.Formats, Runs: runs, Assets: web.Files(),
		Roots:  e.roots(named),
		Remote: e.flag("remote") || os.Getenv("SSH_CONNECTION") != "",
		Export: map[string]server.Exporter{"svg": svg.Render, "png": png.Render, "pdf": pdf.Render,
			"jpg": png.RenderJPEG},
		Recent:   func() []server.Recent { return recent(l.Cache) },
		Memory:   l.Budget,
		NotesDir: l.Cache.NotesDir(),
		Log:      slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	c.Docs = lazySite{sync.OnceValues(newSite)}
	ask, child := e.asker(), e.flag("child")
	if child { // its parent may open and ask for as much as there is
		ask, c.Roots = &asker{}, nil
	}
	c.Ask, c.Rows, c.Programs = ask.answerSQL, ask.rowsAs(servedLimits), programsHandler(ask, c.Log)
	c.Report = func(ctx context.Context, w io.Writer, r view.Run) error {
		whole, err := view.Spec{}.Resolve(r.Store)
		if err != nil {
			return err
		}
		r.Sources = nil // a report leaves this machine
		return report.Write(ctx, w, report.Options{Run: r, Views: views.Views, Version: version(), Selection: whole})
	}
	for _, d := range demo.Demos {
		c.Demos = append(c.Demos, server.Demo{Name: d.Name, Title: d.Title, Truth: strings.Join(d.Truth, " ")})
	}
	if child {
		c.Frames, c.Rows, c.Recent = true, ask.rowsAs(query.Limits{}), nil
	}
	c.Open = func(ctx context.Context, o server.Opening) ([]view.Run, error) { return openFor(ctx, l, o, !child) }
	return c
}

// roots returns the paths below which sources may be opened: those of --root, else the named sources and the
// working directory.
func (e *env) roots(named []string) []string {
	if list := e.list("root"); len(list) > 0 {
		return list
	}
	roots := []string{"."}
	for _, s := range e.list("run") {
		_, source := splitRun(s)
		named = append(named, source)
	}
	return append(roots, named...)
}

// openFor opens the sources that a client of the server asks for.
func openFor(ctx context.Context, l *load.Loader, o server.Opening, noted bool) ([]view.Run, error) {
	own := *l
	own.Progress = func(_ string, done, total int64) { o.Progress(done, total) }
	if o.Format != "" {
		own.Format = o.Format
	}
	own.Join = own.Join || o.Join
	sources := o.Sources
	if o.Align != "" {
		own.Align = o.Align
		if _, err := os.Stat(sources[0]); err != nil && len(sources) == 1 && !strings.HasPrefix(sources[0], "demo:") {
			sources = strings.Fields(sources[0]) // several files of a run are one line
		}
	}
	if o.Keep != "" {
		var err error
		if own.Cache, err = load.OpenCache(o.Keep); err != nil {
			return nil, err
		}
	}
	runs, err := own.All(ctx, sources)
	if len(runs) > 0 && o.Align == "" && o.Keep == "" && noted {
		remember(l.Cache, sources, runs[0])
	}
	return runs, err
}

// adviseRemote prints the tunnel to use if this machine has no display.
func adviseRemote(w io.Writer, a net.Addr) {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" ||
		os.Getenv("SSH_CONNECTION") != "" {
		_, port, err := net.SplitHostPort(a.String())
		host, _ := os.Hostname()
		if err == nil {
			fmt.Fprintf(w, "From your own machine: ssh -L %s:127.0.0.1:%s %s, then open that address there.\n", port,
				port, host)
		}
	}
}

// startBrowser asks the desktop to open an address; without a desktop, the printed address serves.
func startBrowser(address string) {
	var c *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		c = exec.Command("open", address)
	case "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		c = exec.Command("xdg-open", address)
	}
	if c.Start() == nil {
		go c.Wait()
	}
}

// openFollowing serves runs that are still being written.
func (e *env) openFollowing(ctx context.Context, l *load.Loader, sources []string) error {
	switch {
	case len(sources) == 0:
		return usage("open --follow: name the file or the directory that grows")
	case len(e.list("run")) > 0:
		return usage("open --follow: --run is for runs that are finished; give the sources alone")
	}
	for _, s := range sources {
		if _, err := os.Stat(s); err != nil {
			return usage("open --follow %s: it is not there yet; name its directory, which is", s)
		}
	}
	f, err := l.NewFollower()
	if err != nil {
		return err
	}
	defer f.Close() // after the server, which closes the stores
	return e.serve(ctx, l, e.serverConfig(l, nil, sources...), func(s *server.Server) error {
		lives := &lives{server: s, source: strings.Join(sources, " ")}
		lives.first = s.Live(filepath.Base(filepath.Clean(sources[0])), lives.source)
		s.Do(func(ctx context.Context) {
			repeat(ctx, func() {
				if err := f.Look(ctx, sources, lives.show); err != nil && ctx.Err() == nil {
					e.warn("%v", err)
				}
			})
		})
		return nil
	})
}

// lives are the runs that are followed, by name. The first that can be shown takes the place
// that was kept for it.
type lives struct {
	server *server.Server
	source string
	first  *server.Live
	named  map[string]*server.Live
}

func (x *lives) show(name string, r view.Run, done func()) {
	live := x.named[name]
	if live == nil {
		if live, x.first = x.first, nil; live == nil {
			live = x.server.Live(name, r.Source)
		}
		if x.named == nil {
			x.named = map[string]*server.Live{}
		}
		x.named[name] = live
	}
	live.Set(r, done)
}

// repeat calls f again and again: at most once in half a second, and with pauses of three
// times as long as it took, so that a large run leaves most of the machine to others.
func repeat(ctx context.Context, f func()) {
	for ctx.Err() == nil {
		begun := time.Now()
		f()
		wait := time.NewTimer(max(500*time.Millisecond, 3*time.Since(begun)))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}
