package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/partial"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Shard is one of several imports that make a run together. If one import makes the whole run, Of is 0.
type Shard struct{ Part, Of int }

// mostShards is more than a file system likes to have in a directory.
const mostShards = 1 << 14

// ParseShard reads "K/N", K from 1 to N.
func ParseShard(s string) (p Shard, err error) {
	if s == "" {
		return p, nil
	}
	k, n, ok := strings.Cut(s, "/")
	p.Part, err = strconv.Atoi(k)
	if err == nil {
		p.Of, err = strconv.Atoi(n)
	}
	if !ok || err != nil || p.Part < 1 || p.Part > p.Of || p.Of > mostShards {
		return Shard{}, usage("--shard %s: want K/N, such as 1/4 to 4/4", s)
	}
	return p, nil
}

// listing returns the files of a run and their sizes, by which its parts know that they are of one source.
func (f Found) listing() (list []local.SourceFile) {
	sizes := map[string]int64{}
	for _, x := range f.run.Source.Files {
		sizes[x.Path] = x.Size
	}
	for _, name := range f.run.Files {
		size, known := sizes[name]
		if !known {
			if info, err := fs.Stat(f.run.Source.FS, name); err == nil {
				size = info.Size()
			}
		}
		list = append(list, local.SourceFile{Name: name, Size: size})
	}
	slices.SortFunc(list, func(a, b local.SourceFile) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Part, s.Of) }

// WritePart imports one part of a run into a directory.
func (l *Loader) WritePart(ctx context.Context, f Found, path string, s Shard) error {
	return l.write(ctx, f, path, s)
}

// JoinParts makes a store of the parts in a directory. Those that are still to come are a local.MissingParts, after so
// long a wait. Where the parts were read by themselves, the work is shared with the importers of other parts that wait:
// own is done first.
func (l *Loader) JoinParts(ctx context.Context, dir string, own Shard, wait time.Duration) error {
	o := l.storeOptions()
	o.Part = own.Part
	for until := time.Now().Add(wait); ; {
		mine, err := local.Join(ctx, dir, o)
		var missing *local.MissingParts
		if err == nil || !errors.As(err, &missing) || time.Now().After(until) {
			if err == nil && (mine || own.Part > 0) {
				l.prepareTogether(ctx, dir)
			}
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookAgain):
		}
	}
}

// prepareTogether is prepare where several importers have joined a run: each result is made by one of them.
func (l *Loader) prepareTogether(ctx context.Context, dir string) {
	l.prepareThose(ctx, dir, func(i int, do func()) {
		path := filepath.Join(dir, fmt.Sprint(".lock-kept-", i))
		if f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
			defer f.Close()
			if err := partial.TryLock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				return
			}
			defer os.Remove(path) // who comes later finds the result
		}
		do()
	})
}

// lookAgain is how long an importer waits before it looks again for the parts of others.
const lookAgain = 50 * time.Millisecond

func (l *Loader) storeOptions() local.Options {
	o := local.Options{Memory: l.Memory, Summaries: l.Summaries, Digests: l.Digests, Align: cmp.Or(l.Align, "auto"),
		Infer: true}
	if !l.RawNames {
		o.RegionName = trace.FoldName
	}
	o.Conclude = l.conclude
	return o
}

// Shares tells whether parts of an import read only their own files; if not, why.
func (f Found) Shares() (why string, ok bool) {
	switch {
	case f.demo != nil:
		return "it is generated", false
	case f.run.Format.Shares == nil:
		return "parts of the format " + f.run.Format.Name + " cannot be read by themselves", false
	}
	return f.run.Format.Shares(f.run)
}

// conclude ends the input of parts of a format.
func (l *Loader) conclude(format string, w trace.Writer, told []local.Told) error {
	f := l.FindFormat(format)
	if f == nil || f.Conclude == nil {
		return fmt.Errorf("parts of the format %q cannot be joined", format)
	}
	return f.Conclude(w, told)
}

// openStore opens a store, and first joins the parts of one.
func (l *Loader) openStore(ctx context.Context, path string) (*local.Reader, error) {
	if local.HasParts(path) {
		if err := l.JoinParts(ctx, path, Shard{}, 0); err != nil {
			return nil, err
		}
	}
	return local.Open(path, l.Summaries, l.Digests...)
}
