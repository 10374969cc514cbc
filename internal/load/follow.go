package load

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Follower opens runs anew as they grow. Their stores are in a directory of its own and not
// in the cache: the next state is soon another one.
type Follower struct {
	loader *Loader
	dir    string
	stores int
	known  map[string]*followed
}

// A followed run: the stamp of its files when they were last read, and the error of that reading.
type followed struct {
	stamp string
	err   error
	told  bool
}

const followPrefix = "following-"

// NewFollower makes a follower; Close removes its files. Files of followers that were killed are removed a day later.
func (l *Loader) NewFollower() (*Follower, error) {
	left, _ := filepath.Glob(filepath.Join(l.Cache.Dir, followPrefix+"*"))
	for _, d := range left {
		if info, err := os.Stat(d); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(d)
		}
	}
	dir, err := os.MkdirTemp(l.Cache.Dir, followPrefix)
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	return &Follower{loader: l, dir: dir, known: map[string]*followed{}}, nil
}

// Close removes all stores; they must be closed.
func (f *Follower) Close() error { return os.RemoveAll(f.dir) }

// Look opens every run of the sources that changed since the last look, under a name that stays the same. A source
// that cannot be read may still be being written: it is an error only if it is unchanged at the next look, and
// reported once.
func (f *Follower) Look(ctx context.Context, sources []string,
	show func(name string, r derived.Run, done func())) error {
	found, done, err := f.loader.Find(sources)
	defer done()
	var several *importer.Ambiguous
	if errors.As(err, &several) {
		found, err = f.loader.readable(several.Runs, sources), nil
	}
	if err != nil {
		return f.settled("", stampOf(sources), err)
	}
	var failed []error
	names := map[string]int{}
	for _, x := range found {
		name := x.Name
		if names[x.Name]++; names[x.Name] > 1 {
			name += " " + strconv.Itoa(names[x.Name])
		}
		stamp := x.stamp()
		if k := f.known[name]; k != nil && k.stamp == stamp {
			if k.err != nil && !k.told {
				k.told = true
				failed = append(failed, k.err)
			}
			continue
		}
		run, gone, err := f.Renew(ctx, x, nil)
		if ctx.Err() != nil {
			if err == nil {
				run.Store.Close()
				gone()
			}
			return ctx.Err()
		}
		f.known[name] = &followed{stamp: stamp, err: err}
		if err == nil {
			show(name, run, gone)
		}
	}
	return errors.Join(failed...)
}

// settled returns the error of a source that has not changed since the last look.
func (f *Follower) settled(name, stamp string, err error) error {
	if k := f.known[name]; k != nil && k.stamp == stamp {
		if k.told {
			return nil
		}
		k.told = true
		return err
	}
	f.known[name] = &followed{stamp: stamp, err: err}
	return nil
}

// Renew imports a run into a store of its own, which done removes when it is closed.
func (f *Follower) Renew(ctx context.Context, x Found, through func(trace.Writer) trace.Writer) (run derived.Run,
	done func(), err error) {
	l := f.loader
	f.stores++
	path := filepath.Join(f.dir, strconv.Itoa(f.stores)+".plx")
	done = func() { _ = os.RemoveAll(path) } // leftovers go with the directory
	if x.Store != "" || x.demo != nil {
		return run, done, usage("%s does not grow: follow trace files, or a directory of them", x.Source)
	}
	if err := l.Cache.MakeRoom(f.dir, x.Room()); err != nil {
		return run, done, err
	}
	if through == nil {
		through = func(w trace.Writer) trace.Writer { return w }
	}
	work, end := l.Budget.Work(ctx)
	defer end()
	if err := l.WriteThrough(work, x, path, through); err != nil {
		return run, done, err
	}
	r, err := local.Open(path, l.Summaries, l.Digests...)
	if err != nil {
		done()
		return run, done, fmt.Errorf("open %s: %w", x.Source, err)
	}
	return derived.Run{Name: x.Name, Source: x.Source, Store: r, Cache: derived.NewCache(l.Budget)}, done, nil
}

// FindIn makes one run of all files of a source, as one format.
func (l *Loader) FindIn(src importer.Source, format, name string) (Found, error) {
	f := l.FindFormat(format)
	if f == nil {
		return Found{}, usage("there is no format %q", format)
	}
	run := importer.Join(importer.ClaimAs(f, src))
	run.Options = importer.Options{Align: l.Align, Memory: l.Memory}
	return Found{Name: name, Source: src.Name, run: run}, nil
}

// stamp changes when the files of a run do: their names, sizes and times.
func (f Found) stamp() string {
	h := sha256.New()
	for _, p := range f.run.Files {
		if info, err := fs.Stat(f.run.Source.FS, p); err == nil {
			fmt.Fprintf(h, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
		}
	}
	return string(h.Sum(nil))
}

// stampOf returns the same for sources that hold no run yet.
func stampOf(sources []string) string {
	var b strings.Builder
	for _, s := range sources {
		_ = filepath.WalkDir(s, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if info, err := d.Info(); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return b.String()
}
