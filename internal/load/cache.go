package load

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/store/local"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A Cache keeps imported stores for reopening, one directory each, named by a hash of their sources. The time of last
// use is that of the store's directory; the oldest are removed first when the limit is exceeded.
type Cache struct {
	Dir   string
	Limit int64 // bytes
	named bool  // by the user
}

const cacheLimit = 64 << 30

// OpenCache opens the cache in a directory; "": where the environment or the system says.
func OpenCache(dir string) (*Cache, error) {
	if dir == "" {
		dir = os.Getenv("PARALLAX_CACHE")
	}
	named := dir != ""
	if !named {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the cache directory: %w; name one with --cache DIR", err)
		}
		dir = filepath.Join(base, "parallax")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // its stores may come from files that others cannot read
		return nil, fmt.Errorf("make the cache directory: %w; name another with --cache DIR", err)
	}
	return &Cache{Dir: dir, Limit: cacheLimit, named: named}, nil
}

// Path returns the path of the store of a key. label makes the name readable.
func (c *Cache) Path(label, key string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(label))
	if len(clean) > 40 {
		clean = clean[:40]
	}
	return filepath.Join(c.Dir, clean+"-"+key[:24]+".plx")
}

// touch marks a store as used now.
func (c *Cache) touch(path string) { now := time.Now(); _ = os.Chtimes(path, now, now) }

// A Kept is a store of the cache, as `parallax cache` lists it.
type Kept struct {
	Path string
	Size int64
	Used time.Time
}

// List returns the stores, those used last first.
func (c *Cache) List() ([]Kept, error) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("list the cache: %w", err)
	}
	var out []Kept
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".plx") {
			continue
		}
		p := filepath.Join(c.Dir, e.Name())
		info, err := e.Info()
		if err != nil {
			continue
		}
		out = append(out, Kept{p, TreeSize(p), info.ModTime()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Used.After(out[j].Used) })
	return out, nil
}

// Trim removes the stores used longest ago until the rest fit the limit. The
// one named keep stays.
func (c *Cache) Trim(keep string) error {
	all, err := c.List()
	if err != nil {
		return err
	}
	var sum int64
	for _, s := range all {
		if sum += s.Size; sum > c.Limit && s.Path != keep {
			if err := os.RemoveAll(s.Path); err != nil {
				return fmt.Errorf("trim the cache: %w", err)
			}
			sum -= s.Size
		}
	}
	return nil
}

// An import needs some space next to its estimate: for its directory, and for what others write meanwhile.
const (
	leastRoom = 1 << 20
	mostSpare = 16 << 20
)

// MakeRoom removes the leftovers of killed writers, then checks that there is disk space for an import of so many
// bytes.
func (c *Cache) MakeRoom(dir string, need int64) error {
	local.RemoveStale(dir)
	free, err := freeSpace(dir)
	if err != nil {
		return nil // not to be had on this system: the import itself will say
	}
	if need += min(leastRoom+need, mostSpare); free < need {
		return fmt.Errorf("%s has %s free and this import may need %s; free some (`parallax cache clear`) or name "+
			"another place with --cache DIR",
			dir, words.FormatBytes(float64(free)), words.FormatBytes(float64(need)))
	}
	return nil
}

// TreeSize returns the number of bytes the files below a directory have.
func TreeSize(dir string) int64 {
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
