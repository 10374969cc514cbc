package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

// readerVersion goes up whenever a reader gives another trace for the same
// bytes, so that stores kept from before are imported anew.
const readerVersion = 6

// A cache keeps imported stores for reopening, one directory each, named by a
// hash of what they were made from. The time of last use is that of the store's
// directory; the oldest go first when the limit is passed.
type cache struct {
	dir   string
	limit int64 // bytes
}

const cacheLimit = 64 << 30

func openCache(dir string) (*cache, error) {
	if dir == "" {
		dir = os.Getenv("PARALLAX_CACHE")
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the cache directory: %w; name one with --cache DIR", err)
		}
		dir = filepath.Join(base, "parallax")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache directory: %w; name another with --cache DIR", err)
	}
	return &cache{dir: dir, limit: cacheLimit}, nil
}

// path gives where the store of a key lies. label makes the name readable.
func (c *cache) path(label, key string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(label))
	if len(clean) > 40 {
		clean = clean[:40]
	}
	return filepath.Join(c.dir, clean+"-"+key[:24]+".plx")
}

// touch marks a store as used now.
func (c *cache) touch(path string) { now := time.Now(); _ = os.Chtimes(path, now, now) }

// A kept store, as `parallax cache` lists it.
type keptStore struct {
	path string
	size int64
	used time.Time
}

func (c *cache) list() ([]keptStore, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("list the cache: %w", err)
	}
	var out []keptStore
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".plx") {
			continue
		}
		p := filepath.Join(c.dir, e.Name())
		info, err := e.Info()
		if err != nil {
			continue
		}
		out = append(out, keptStore{p, treeSize(p), info.ModTime()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].used.After(out[j].used) })
	return out, nil
}

// trim removes the stores used longest ago until the rest fit the limit. The
// one named keep stays.
func (c *cache) trim(keep string) error {
	all, err := c.list()
	if err != nil {
		return err
	}
	var sum int64
	for _, s := range all {
		if sum += s.size; sum > c.limit && s.path != keep {
			if err := os.RemoveAll(s.path); err != nil {
				return fmt.Errorf("trim the cache: %w", err)
			}
			sum -= s.size
		}
	}
	return nil
}

// makeRoom checks that an import of so many packed bytes can be written: text
// unpacks to about ten times its size, and the store and its spool need about as
// much as the text.
func (c *cache) makeRoom(dir string, packed int64) error {
	free, err := freeSpace(dir)
	if err != nil {
		return nil // not to be had on this system: the import itself will say
	}
	if need := 12*packed + 64<<20; free < need {
		return fmt.Errorf("%s has %s free and this import may need %s; free some (`parallax cache clear`) or name another place with --cache DIR",
			dir, view.FormatBytes(float64(free)), view.FormatBytes(float64(need)))
	}
	return nil
}

func treeSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if i, err := d.Info(); err == nil {
				n += i.Size()
			}
		}
		return nil
	})
	return n
}

// runKey names a run by what it is made of: format and reader, and each file's
// path, size, time and both ends, or with whole all of its bytes.
func runKey(run importer.Run, roots []string, whole bool) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s\n%s\n", readerVersion, run.Format.Name, run.Options.Align)
	for _, r := range roots {
		abs, err := filepath.Abs(r)
		if err != nil {
			abs = r
		}
		fmt.Fprintf(h, "%s\n", abs)
	}
	for _, path := range run.Files {
		f, err := run.OpenRaw(path)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", run.Label(path), err)
		}
		err = hashFile(h, path, f, whole)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", run.Label(path), err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

const endBytes = 64 << 10

func hashFile(h io.Writer, path string, f fs.File, whole bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%s\n%d\n", path, info.Size())
	if whole {
		_, err = io.Copy(h, f)
		return err
	}
	fmt.Fprintf(h, "%d\n", info.ModTime().UnixNano())
	if _, err = io.CopyN(h, f, endBytes); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	at, ok := f.(io.ReaderAt)
	if !ok || info.Size() <= endBytes {
		return nil
	}
	tail := make([]byte, min(endBytes, info.Size()-endBytes))
	n, err := at.ReadAt(tail, info.Size()-int64(len(tail)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err = h.Write(tail[:n])
	return err
}

func cacheCommand() *command {
	return &command{
		name: "cache", args: "[list | clear]", summary: "imported stores kept for reopening",
		help:  "Stores that `open`, `info` and `view` made are kept and reused while the files they came from stay the same.\n\n  parallax cache\n  parallax cache clear",
		flags: func(fs *pflag.FlagSet) { fs.String("cache", "", "where imported stores are kept") },
		run:   runCache,
	}
}

func runCache(_ context.Context, e *env, args []string) error {
	c, err := openCache(e.text("cache"))
	if err != nil {
		return err
	}
	local.RemoveStale(c.dir)
	all, err := c.list()
	if err != nil {
		return err
	}
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "list":
		var sum int64
		for _, s := range all {
			sum += s.size
			fmt.Fprintf(e.stdout, "%9s  %s  %s\n", view.FormatBytes(float64(s.size)), s.used.Format("2006-01-02 15:04"), filepath.Base(s.path))
		}
		fmt.Fprintf(e.stdout, "%d stores, %s of %s, in %s\n", len(all), view.FormatBytes(float64(sum)), view.FormatBytes(float64(c.limit)), c.dir)
		return nil
	case len(args) == 1 && args[0] == "clear":
		for _, s := range all {
			if err := os.RemoveAll(s.path); err != nil {
				return fmt.Errorf("clear the cache: %w", err)
			}
		}
		fmt.Fprintf(e.stdout, "removed %d stores\n", len(all))
		return nil
	}
	return usage("cache: want list or clear")
}
