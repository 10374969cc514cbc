package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/importer"
	formats "github.com/parallax-hpc/parallax/internal/importer/all"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A loader turns sources into open runs: demo, store or trace files; from the
// cache where they were imported before.
type loader struct {
	cache    *cache
	memory   int64
	kept     *view.Memory // what views keep of open runs
	format   string
	align    string
	join     bool
	verify   bool
	progress func(label string, done, total int64) // called now and then; may be nil
}

func (e *env) loader() (*loader, error) {
	memory, err := parseSize(e.text("memory"))
	if err != nil {
		return nil, usage("--memory: %v", err)
	}
	switch a := e.text("align"); a {
	case "none", "messages", "collectives":
	default:
		return nil, usage("--align %q: want none, messages or collectives", a)
	}
	if f := e.text("format"); f != "" && findFormat(f) == nil {
		return nil, usage("--format %q: no such format; `parallax formats` lists them", f)
	}
	c, err := openCache(e.text("cache"))
	if err != nil {
		return nil, err
	}
	l := &loader{cache: c, memory: memory, kept: view.NewMemory(keptShare * memory), format: e.text("format"), align: e.text("align"), join: e.flag("join"), verify: e.flag("verify")}
	switch how := e.text("progress"); {
	case how == "json":
		l.progress = (&progressLines{w: e.stderr}).show
	case how != "auto" && how != "none":
		return nil, usage("--progress %q: want auto, json or none", how)
	case how == "auto" && e.terminal && !e.flag("quiet"):
		l.progress = newProgressBar(e.stderr).show
	}
	return l, nil
}

func findFormat(name string) *importer.Format {
	for _, f := range formats.Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// one opens sources that are one run.
func (l *loader) one(ctx context.Context, sources []string) (view.Run, error) {
	runs, done, err := l.find(sources)
	defer done()
	if err != nil {
		return view.Run{}, err
	}
	if len(runs) > 1 {
		return view.Run{}, usage("%d sources that are not one run; name one, or `parallax open` them all", len(runs))
	}
	return l.open(ctx, runs[0])
}

// all opens every run that the sources hold. Where some fail and others do not,
// the runs that opened come with the error that joins the failures.
func (l *loader) all(ctx context.Context, sources []string) ([]view.Run, error) {
	found, done, err := l.find(sources)
	defer done()
	var several *importer.Ambiguous
	if errors.As(err, &several) {
		found = l.readable(several.Runs, sources)
	} else if err != nil {
		return nil, err
	}
	var out []view.Run
	var failed []error
	for _, f := range found {
		r, err := l.open(ctx, f)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(failed...)
}

// A foundRun is a run that is not open yet: a store, a demo or trace files.
type foundRun struct {
	name, source string
	store        string
	demo         *demo.Demo
	options      demo.Options
	run          importer.Run
	roots        []string
}

// find says which runs lie in the sources, reading heads of files only. What is called
// in the end closes them, so that nothing that was unpacked stays.
func (l *loader) find(sources []string) (found []foundRun, done func(), err error) {
	done = func() {}
	if len(sources) == 0 {
		return nil, done, usage("no source given; name a file, a directory, an archive, a .plx store or demo:NAME")
	}
	var out []foundRun
	var files []string
	for _, s := range sources {
		switch {
		case strings.HasPrefix(s, "demo:"):
			d, o, err := findDemo(strings.TrimPrefix(s, "demo:"))
			if err != nil {
				return nil, done, err
			}
			out = append(out, foundRun{name: d.Name, source: s, demo: d, options: o})
		case isStore(s):
			out = append(out, foundRun{name: strings.TrimSuffix(filepath.Base(filepath.Clean(s)), ".plx"), source: s, store: s})
		default:
			files = append(files, s)
		}
	}
	if len(files) == 0 {
		return out, done, nil
	}
	src, err := importer.NewSource(files...)
	if err != nil {
		return nil, done, err
	}
	done = func() { _ = src.Close() } // what cannot be removed hurts nobody
	if f := findFormat(l.format); f != nil {
		return append(out, l.readable(l.joined(importer.ClaimAs(f, src)), files)...), done, nil
	}
	runs, err := importer.Detect(formats.Formats, src)
	var several *importer.Ambiguous
	if l.join && errors.As(err, &several) && len(runs) > 0 && runs[0].Format.Import != nil {
		runs, err = l.joined(runs), nil
	}
	if err != nil {
		return nil, done, err
	}
	return append(out, l.readable(runs, files)...), done, nil
}

// single finds the one run that a command writes as a store at out.
func (l *loader) single(verb string, sources []string, out string) (f foundRun, done func(), err error) {
	found, done, err := l.find(sources)
	switch {
	case err != nil:
		return f, done, err
	case len(found) > 1:
		return f, done, usage("%s: %d sources that are not one run; name one", verb, len(found))
	}
	if _, err := os.Stat(out); err == nil && !isStore(out) {
		return f, done, fmt.Errorf("%s exists and is no store; choose another name", out)
	}
	return found[0], done, nil
}

// joined makes one run of several where the user asks for it.
func (l *loader) joined(runs []importer.Run) []importer.Run {
	if !l.join || len(runs) < 2 {
		return runs
	}
	return []importer.Run{importer.Join(runs)}
}

// readable makes found runs of those that a reader exists for.
func (l *loader) readable(runs []importer.Run, files []string) []foundRun {
	var out []foundRun
	for _, r := range runs {
		if r.Format.Import == nil {
			continue
		}
		r.Options = importer.Options{Align: l.align, Memory: l.memory}
		source := strings.Join(files, " ")
		if len(runs) > 1 {
			source = r.Label(r.Files[0])
		}
		out = append(out, foundRun{name: r.Name, source: source, run: r, roots: files})
	}
	return out
}

// keptShare is how many times the memory of an import may be kept of open runs, so that
// the next picture of a large one is not computed from its rows again.
const keptShare = 4

func isStore(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return err == nil && strings.HasSuffix(filepath.Clean(path), ".plx")
}

func (l *loader) open(ctx context.Context, f foundRun) (view.Run, error) {
	path := f.store
	if path == "" {
		key, err := l.key(f)
		if err != nil {
			return view.Run{}, err
		}
		path = l.cache.path(f.name, key)
		if r, err := local.Open(path, all.Summaries, all.Digests...); err == nil {
			l.cache.touch(path)
			return view.Run{Name: f.name, Source: f.source, Store: r, Cache: l.kept.NewCache()}, l.check(r)
		}
		if err := l.cache.makeRoom(l.cache.dir, f.packed()); err != nil {
			return view.Run{}, err
		}
		if err := l.write(ctx, f, path); err != nil {
			return view.Run{}, err
		}
		if err := l.cache.trim(path); err != nil {
			return view.Run{}, err
		}
	}
	r, err := local.Open(path, all.Summaries, all.Digests...)
	var other *local.VersionError
	if errors.As(err, &other) && f.store != "" {
		return l.renew(ctx, f, other)
	}
	if err != nil {
		return view.Run{}, fmt.Errorf("open %s: %w", f.source, err)
	}
	return view.Run{Name: f.name, Source: f.source, Store: r, Cache: l.kept.NewCache()}, l.check(r)
}

// renew opens the sources of a store that this version cannot read. The store stays
// as it is: another version may have use for it.
func (l *loader) renew(ctx context.Context, f foundRun, cause *local.VersionError) (view.Run, error) {
	failed := fmt.Errorf("open %s: %w", f.source, cause)
	if len(cause.Sources) == 0 {
		return view.Run{}, failed
	}
	found, done, err := l.find(cause.Sources)
	if err != nil { // several files are kept as one line
		done()
		found, done, err = l.find(strings.Fields(strings.Join(cause.Sources, " ")))
	}
	defer done()
	if err != nil || len(found) != 1 || found[0].store != "" {
		return view.Run{}, fmt.Errorf("%w; it was made from %s, which is not here", failed, strings.Join(cause.Sources, ", "))
	}
	run, err := l.open(ctx, found[0])
	if err != nil {
		return view.Run{}, fmt.Errorf("%w; importing %s: %w", failed, found[0].source, err)
	}
	run.Name, run.Source = f.name, f.source
	return run, nil
}

func (l *loader) check(r *local.Reader) error {
	if !l.verify {
		return nil
	}
	return r.Verify()
}

func (f foundRun) packed() int64 {
	sizes := map[string]int64{}
	for _, x := range f.run.Source.Files {
		sizes[x.Path] = x.Size
	}
	var n int64
	for _, p := range f.run.Files {
		n += sizes[p]
	}
	return n
}

func (l *loader) key(f foundRun) (string, error) {
	if f.demo != nil {
		return demoKey(f.demo, f.options), nil
	}
	return runKey(f.run, f.roots, l.verify)
}

// write imports a run into a new store at path.
func (l *loader) write(ctx context.Context, f foundRun, path string) error {
	return l.writeThrough(ctx, f, path, func(w trace.Writer) trace.Writer { return w })
}

// writeThrough is write with something between the reader and the store.
func (l *loader) writeThrough(ctx context.Context, f foundRun, path string, through func(trace.Writer) trace.Writer) error {
	o := local.Options{Memory: l.memory, Summaries: all.Summaries, Digests: all.Digests, Sources: []string{f.source}}
	fill := func(w trace.Writer) error { return f.demo.Write(ctx, f.options, w) }
	progress := &importer.Progress{Total: f.packed()}
	if f.demo != nil {
		o.Format = "demo"
	} else {
		o.Format = f.run.Format.Name
		f.run.Progress = progress
		fill = func(w trace.Writer) error { return f.run.Import(ctx, w) }
	}
	stop := l.watch(f.name, progress)
	defer stop()
	w, err := local.Create(path, o)
	if err != nil {
		return fmt.Errorf("import %s: %w", f.source, err)
	}
	if err := fill(through(w)); err != nil {
		w.Abort()
		return fmt.Errorf("import %s: %w", f.name, err)
	}
	if err := w.Finish(ctx); err != nil {
		w.Abort()
		return fmt.Errorf("import %s: %w", f.name, err)
	}
	return nil
}
