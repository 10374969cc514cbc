// Package load opens the sources that a user names: trace files, a directory of them, an archive, a store, a demo.
// Imported stores go to a cache and are opened from there the next time.
//
//	load.go    from sources to open runs     cache.go   the cache of imported stores
//	key.go     a run's key in the cache      watch.go   progress of an import
//	follow.go  runs that grow, opened anew   room.go    disk space of an import
package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/sourcefile"
	"github.com/parallax-hpc/parallax/internal/store/clickhouse"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Loader turns sources into open runs: demo, store or trace files; from the
// cache where they were imported before.
type Loader struct {
	// Formats, Summaries and Digests are the lists of them all, handed down.
	Formats   []*importer.Format
	Summaries []trace.Summary
	Digests   []trace.Digest
	// AtImport are the results that are kept next to a store that was just made.
	AtImport []derived.Preparer

	Cache  *Cache
	Memory int64          // for imports, in bytes
	Budget *memory.Budget // for everything together; may be nil
	Format string         // the only one to read as; "": found out
	Align  string         // auto, none, messages or collectives; "" is auto
	// RawNames keeps names of regions as the source has them, with addresses and ids of processes.
	RawNames bool
	Join     bool // several sources are one run
	Verify   bool // look at every byte first
	// Sources finds the files of programs; may be nil.
	Sources *sourcefile.Finder
	// Progress is called now and then; may be nil.
	Progress func(label string, done, total int64)
}

// A UsageError is one that the user can mend by asking otherwise.
type UsageError struct {
	Text string
	// Typed is the unknown name, if the error is a name that is not in Known.
	Typed string
	Known []string
}

func (e *UsageError) Error() string { return e.Text }

func usage(format string, a ...any) error { return &UsageError{Text: fmt.Sprintf(format, a...)} }

// An ImportError is a source that cannot be read as the format that it has.
type ImportError struct {
	Format string
	err    error
}

func (e *ImportError) Error() string { return e.err.Error() }
func (e *ImportError) Unwrap() error { return e.err }

// FindFormat finds a format by its name; nil: there is none.
func (l *Loader) FindFormat(name string) *importer.Format {
	for _, f := range l.Formats {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// One opens sources that are one run.
func (l *Loader) One(ctx context.Context, sources []string) (derived.Run, error) {
	runs, done, err := l.Find(sources)
	defer done()
	if err != nil {
		return derived.Run{}, err
	}
	if len(runs) > 1 {
		return derived.Run{}, usage("%d sources that are not one run; name one, or `parallax open` them all", len(runs))
	}
	return l.Open(ctx, runs[0])
}

// All opens every run that the sources hold. If only some fail, it returns the opened runs and an error that joins the
// failures.
func (l *Loader) All(ctx context.Context, sources []string) ([]derived.Run, error) {
	found, done, err := l.Find(sources)
	defer done()
	var several *importer.Ambiguous
	if errors.As(err, &several) {
		found = l.readable(several.Runs, sources)
	} else if err != nil {
		return nil, err
	}
	var out []derived.Run
	var failed []error
	for _, f := range found {
		r, err := l.Open(ctx, f)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(failed...)
}

// A Found is a run that is not open yet: a store, a demo or trace files.
type Found struct {
	Name, Source string
	Store        string // where it lies, if it is one
	remote       *clickhouse.Address
	demo         *demo.Demo
	options      demo.Options
	run          importer.Run
	roots        []string
}

// Find lists the runs in the sources, reading heads of files only. The caller must call done at the end: it closes the
// sources and removes unpacked files.
func (l *Loader) Find(sources []string) (found []Found, done func(), err error) {
	done = func() {}
	if len(sources) == 0 {
		return nil, done,
			usage("no source given; name a file, a directory, an archive, a .plx store, demo:NAME or " +
				"clickhouse://HOST:PORT/DATABASE/RUN")
	}
	var out []Found
	var files []string
	offsets := map[string]importer.Offset{}
	for _, s := range sources {
		if file, by, ok := splitOffset(s); ok {
			offsets[filepath.Clean(file)] = importer.Offset{By: by, Given: true}
			s = file
		}
		switch {
		case strings.HasPrefix(s, "demo:"):
			d, o, err := FindDemo(strings.TrimPrefix(s, "demo:"))
			if err != nil {
				return nil, done, err
			}
			out = append(out, Found{Name: d.Name, Source: s, demo: d, options: o})
		case clickhouse.IsAddress(s):
			a, err := clickhouse.Parse(s)
			if err != nil {
				return nil, done, err
			}
			out = append(out, Found{Name: a.Run, Source: a.String(), Store: a.String(), remote: a})
		case IsStore(s):
			out = append(out,
				Found{Name: strings.TrimSuffix(filepath.Base(filepath.Clean(s)), ".plx"), Source: s, Store: s})
		default:
			files = append(files, s)
		}
	}
	if len(offsets) > 0 && (!l.Join || len(files) < 2) {
		return nil, done, usage("SOURCE@OFFSET is for sources that are one run: give --join and all of them")
	}
	if len(files) == 0 {
		return out, done, nil
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, inLake(f)...)
	}
	src, err := importer.NewSource(paths...)
	if err != nil {
		return nil, done, err
	}
	done = func() { _ = src.Close() } // leftovers do no harm
	if f := l.FindFormat(l.Format); f != nil {
		return append(out, l.readable(l.joined(importer.ClaimAs(f, src), offsets), files)...), done, nil
	}
	runs, err := importer.Detect(l.Formats, src)
	var several *importer.Ambiguous
	if l.Join && errors.As(err, &several) && len(runs) > 0 && runs[0].Format.Import != nil {
		runs, err = l.joined(runs, offsets), nil
	}
	if err != nil {
		return nil, done, err
	}
	return append(out, l.readable(runs, files)...), done, nil
}

// inLake returns the files of a run that is in a lake, where a path names one: LAKE/_runs/RUN. Any other path is its
// own only file.
func inLake(p string) []string {
	dir := filepath.Clean(p)
	schema := filepath.Join(dir, "schema.json")
	if _, err := os.Stat(schema); err != nil || filepath.Base(filepath.Dir(dir)) != "_runs" {
		return []string{p}
	}
	lake := os.DirFS(filepath.Dir(filepath.Dir(dir)))
	tables, _ := fs.Glob(lake, "*/project=*/month=*/*.parquet")
	out := []string{schema}
	for _, t := range tables {
		if path.Base(t) == filepath.Base(dir)+".parquet" { // names may hold characters that mean something in a pattern
			out = append(out, filepath.Join(filepath.Dir(filepath.Dir(dir)), filepath.FromSlash(t)))
		}
	}
	return out
}

// splitOffset takes SOURCE@+1.5s apart. A file whose name has that form is a source.
func splitOffset(s string) (file string, by trace.Time, ok bool) {
	at := strings.LastIndexByte(s, '@')
	if at <= 0 || at+1 == len(s) || s[at+1] != '+' && s[at+1] != '-' {
		return "", 0, false
	}
	if _, err := os.Stat(s); err == nil {
		return "", 0, false
	}
	d, err := time.ParseDuration(s[at+1:])
	return s[:at], trace.Time(d), err == nil
}

// Single finds the one run that a command writes as a store at out.
func (l *Loader) Single(verb string, sources []string, out string) (f Found, done func(), err error) {
	found, done, err := l.Find(sources)
	switch {
	case err != nil:
		return f, done, err
	case len(found) > 1:
		return f, done, usage("%s: %d sources that are not one run; name one", verb, len(found))
	}
	if _, err := os.Stat(out); err == nil && !IsStore(out) {
		return f, done, fmt.Errorf("%s exists and is no store; choose another name", out)
	}
	return found[0], done, nil
}

// joined makes one run of several where the user asks for it.
func (l *Loader) joined(runs []importer.Run, offsets map[string]importer.Offset) []importer.Run {
	if !l.Join || len(runs) < 2 {
		return runs
	}
	for i := range runs {
		name := filepath.Clean(runs[i].Label(runs[i].Files[0]))
		for file, offset := range offsets {
			if name == file || strings.HasPrefix(name, file+string(filepath.Separator)) {
				runs[i].Offset = offset
			}
		}
	}
	return []importer.Run{importer.Join(runs)}
}

// readable makes found runs of those that a reader exists for.
func (l *Loader) readable(runs []importer.Run, files []string) []Found {
	var out []Found
	for _, r := range runs {
		if r.Format.Import == nil {
			continue
		}
		r.Options = importer.Options{Align: l.Align, Memory: l.Memory}
		source := strings.Join(files, " ")
		if len(runs) > 1 {
			source = r.Label(r.Files[0])
		}
		out = append(out, Found{Name: r.Name, Source: source, run: r, roots: files})
	}
	named := map[string]int{}
	for i := range out {
		named[out[i].Name]++
	}
	for i := range out { // several runs of one directory are called after it: their files distinguish them
		if named[out[i].Name] > 1 {
			if name, _, _ := strings.Cut(path.Base(out[i].Source), "."); name != "" {
				out[i].Name = name
			}
		}
	}
	if len(files) == 1 { // a directory or an archive: the user gave no order
		slices.SortStableFunc(out, func(a, b Found) int { return trace.CompareNatural(a.Source, b.Source) })
	}
	return out
}

// IsStore reports whether a directory is a store, or the parts of one.
func IsStore(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return (err == nil || local.HasParts(path)) && strings.HasSuffix(filepath.Clean(path), ".plx")
}

// mostTries is how often a store of the cache is opened while others, who imported the same at the same time, put
// theirs in its place.
const mostTries = 50

// Files returns the files that the run is read from; a store, a demo or an address is one.
func (f Found) Files() []string {
	if len(f.run.Files) == 0 {
		return []string{f.Source}
	}
	out := make([]string, len(f.run.Files))
	for i, file := range f.run.Files {
		out[i] = f.run.Label(file)
	}
	return out
}

// Open opens a run that was found, and imports it first where the cache does not have it.
func (l *Loader) Open(ctx context.Context, f Found) (derived.Run, error) {
	path := f.Store
	if f.remote != nil && f.remote.Run == clickhouse.SpanTable {
		return l.openSpans(ctx, f)
	}
	if f.remote != nil {
		r, err := clickhouse.Open(ctx, f.remote, l.Summaries, l.Digests...)
		if err != nil {
			return derived.Run{}, err
		}
		return derived.Run{Name: f.Name, Source: f.Source, Files: f.Files(), Store: r,
				Cache: derived.NewCache(l.Budget), Sources: l.Sources},
			l.check(r)
	}
	if path == "" {
		key, err := l.key(f)
		if err != nil {
			return derived.Run{}, err
		}
		path = l.Cache.Path(f.Name, key)
		if r, err := local.Open(path, l.Summaries, l.Digests...); err == nil {
			l.Cache.touch(path)
			run := derived.Run{Name: f.Name, Source: f.Source, Files: f.Files(), Store: r,
				Cache: derived.NewCache(l.Budget), Sources: l.Sources}
			return run, l.check(r)
		}
		if err := l.Cache.MakeRoom(l.Cache.Dir, f.Room()); err != nil {
			return derived.Run{}, err
		}
		if err := l.Write(ctx, f, path); err != nil {
			return derived.Run{}, err
		}
		_ = os.Chmod(path, f.mode()) // where it cannot be changed, neither can others look
		if err := l.Cache.Trim(path); err != nil {
			return derived.Run{}, err
		}
	}
	r, err := l.openStore(ctx, path)
	for tries := 0; f.Store == "" && errors.Is(err, fs.ErrNotExist) && tries < mostTries; tries++ {
		time.Sleep(time.Duration(1+tries) * time.Millisecond)
		r, err = local.Open(path, l.Summaries, l.Digests...)
	}
	var other *local.VersionError
	if errors.As(err, &other) && f.Store != "" {
		return l.renew(ctx, f, other)
	}
	if err != nil {
		return derived.Run{}, fmt.Errorf("open %s: %w", f.Source, err)
	}
	return derived.Run{Name: f.Name, Source: f.Source, Files: f.Files(), Store: r, Cache: derived.NewCache(l.Budget),
			Sources: l.Sources},
		l.check(r)
}

// OpenPlace opens a store by its directory or its address, without looking for anything else.
func (l *Loader) OpenPlace(ctx context.Context, place string) (derived.Run, error) {
	cache := derived.NewCache(l.Budget)
	if clickhouse.IsAddress(place) {
		a, err := clickhouse.Parse(place)
		if err != nil {
			return derived.Run{}, err
		}
		r, err := clickhouse.Open(ctx, a, l.Summaries, l.Digests...)
		return derived.Run{Store: r, Cache: cache}, err
	}
	r, err := l.openStore(ctx, place)
	return derived.Run{Store: r, Cache: cache}, err
}

// openSpans reads spans of a table as a file of them, which is imported like any other.
func (l *Loader) openSpans(ctx context.Context, f Found) (run derived.Run, err error) {
	dir, err := os.MkdirTemp(l.Cache.Dir, "spans-")
	if err != nil {
		return run, fmt.Errorf("read spans: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, clickhouse.SpanTable+".otlp.json")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return run, fmt.Errorf("read spans: %w", err)
	}
	_, err = clickhouse.Spans(ctx, f.remote, file)
	if err = errors.Join(err, file.Close()); err != nil {
		return run, err
	}
	found, done, err := l.Find([]string{path})
	defer done()
	if err != nil {
		return run, err
	}
	found[0].Source = f.Source
	return l.Open(ctx, found[0])
}

// renew opens the sources of a store that this version cannot read. The store stays
// as it is: another version may have use for it.
func (l *Loader) renew(ctx context.Context, f Found, cause *local.VersionError) (derived.Run, error) {
	failed := fmt.Errorf("open %s: %w", f.Source, cause)
	if len(cause.Sources) == 0 {
		return derived.Run{}, failed
	}
	found, done, err := l.Find(cause.Sources)
	if err != nil { // several files are kept as one line
		done()
		found, done, err = l.Find(strings.Fields(strings.Join(cause.Sources, " ")))
	}
	defer done()
	if err != nil || len(found) != 1 || found[0].Store != "" {
		return derived.Run{},
			fmt.Errorf("%w; it was made from %s, which is not here", failed, strings.Join(cause.Sources, ", "))
	}
	if changed := changedSince(filepath.Join(f.Store, "manifest.json"), found[0].roots); changed != "" {
		return derived.Run{},
			fmt.Errorf("%w; %s has changed since it was made from it: open %s itself to see what it is now", failed,
				changed, changed)
	}
	run, err := l.Open(ctx, found[0])
	if err != nil {
		return derived.Run{}, fmt.Errorf("%w; importing %s: %w", failed, found[0].Source, err)
	}
	run.Name, run.Source, run.Files = f.Name, f.Source, f.Files()
	return run, nil
}

// changedSince returns the first of the files that is younger than another; "": none.
func changedSince(made string, files []string) string {
	info, err := os.Stat(made)
	if err != nil {
		return ""
	}
	for _, f := range files {
		if now, err := os.Stat(f); err == nil && now.ModTime().After(info.ModTime()) {
			return f
		}
	}
	return ""
}

func (l *Loader) check(r interface{ Verify() error }) error {
	if !l.Verify {
		return nil
	}
	return r.Verify()
}

// mode returns the file mode of a store in the cache: users who may not read the source may not read it.
func (f Found) mode() fs.FileMode {
	mode := fs.FileMode(0o755)
	for _, root := range f.roots {
		info, err := os.Stat(root)
		if err != nil {
			return 0o700
		}
		readable := info.Mode().Perm() & 0o044
		mode &= 0o700 | readable | readable>>2
	}
	return mode
}

func (l *Loader) key(f Found) (string, error) {
	if f.demo != nil {
		return demoKey(f.demo, f.options), nil
	}
	return runKey(f.run, f.roots, l.Verify, l.RawNames)
}

// Local returns the store of a run on this machine, and imports it first where the cache does not have it.
func (l *Loader) Local(ctx context.Context, f Found) (string, error) {
	if f.remote != nil {
		return "", usage("%s is remote; import from what it was made of", f.Source)
	}
	r, err := l.Open(ctx, f)
	if err != nil {
		return "", err
	}
	if err := r.Store.Close(); err != nil {
		return "", err
	}
	if f.Store != "" {
		return f.Store, nil
	}
	key, err := l.key(f)
	return l.Cache.Path(f.Name, key), err
}

// Write imports a run into a new store at path.
func (l *Loader) Write(ctx context.Context, f Found, path string) error {
	err := l.write(ctx, f, path, Shard{})
	if err == nil {
		l.prepare(ctx, path)
	}
	return err
}

func (l *Loader) write(ctx context.Context, f Found, path string, part Shard) error {
	work, done := l.Budget.Work(ctx)
	defer done()
	err := l.writeThrough(work, f, path, part, func(w trace.Writer) trace.Writer { return w })
	var much *memory.Exceeded
	if errors.As(context.Cause(work), &much) {
		return fmt.Errorf("import %s: %w", f.Name, much.Reading())
	}
	return err
}

// prepare computes and stores the results that the first view would wait for. Those that fail are computed by the
// view.
func (l *Loader) prepare(ctx context.Context, path string) {
	l.prepareThose(ctx, path, func(_ int, do func()) { do() })
}

// prepareThose does so with those results that are chosen.
func (l *Loader) prepareThose(ctx context.Context, path string, choose func(i int, do func())) {
	if len(l.AtImport) == 0 {
		return
	}
	r, err := local.Open(path, l.Summaries, l.Digests...)
	if err != nil {
		return
	}
	defer r.Close()
	ctx, done := l.Budget.Work(ctx)
	defer done()
	_ = r.KeepSums(ctx)
	// where one needs the result of another it waits for that
	run := derived.Run{Store: r, Cache: derived.NewCache(l.Budget), Sources: l.Sources}
	defer run.Cache.Close()
	for _, x := range l.AtImport {
		x.Declare()
	}
	_ = parallel.For(ctx, len(l.AtImport), func(i int) {
		choose(i, func() { _ = l.AtImport[i].Prepare(ctx, &run) })
	})
}

// WriteThrough is Write with something between the reader and the store.
func (l *Loader) WriteThrough(ctx context.Context, f Found, path string,
	through func(trace.Writer) trace.Writer) error {
	return l.writeThrough(ctx, f, path, Shard{}, through)
}

func (l *Loader) writeThrough(ctx context.Context, f Found, path string, part Shard,
	through func(trace.Writer) trace.Writer) error {
	o := l.storeOptions()
	o.Sources, o.Part, o.Parts = []string{f.Source}, part.Part, part.Of
	fill := func(w trace.Writer) error { return f.demo.Write(ctx, f.options, w) }
	progress := &importer.Progress{Total: f.Packed()}
	if f.demo != nil {
		o.Format = "demo"
	} else {
		o.Format = f.run.Format.Name
		f.run.Progress = progress
		fill = func(w trace.Writer) error { return f.run.Import(ctx, w) }
		if _, o.Shared = f.Shares(); part.Of == 0 {
			o.Shared = false
		} else if o.Shared {
			o.Listing = f.listing()
		}
	}
	stop := l.watch(f.Name, progress)
	defer stop()
	w, err := local.Create(path, o)
	if err != nil {
		return fmt.Errorf("import %s: %w", f.Source, err)
	}
	if err := fill(through(w)); err != nil {
		w.Abort()
		if next, ok := f.run.Next(err); ok && f.demo == nil {
			f.run = next
			return l.writeThrough(ctx, f, path, part, through)
		}
		return fmt.Errorf("import %s: %w", f.Name, &ImportError{o.Format, f.run.Refused(err)})
	}
	if err := w.Finish(ctx); err != nil {
		w.Abort()
		return fmt.Errorf("import %s: %w", f.Name, err)
	}
	return nil
}
