package load

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// NotesDir is where notes about runs are: with the user's data, since the cache is what may be deleted and made again.
// Those of a cache that the user names are in the cache. Notes that an earlier version left in the cache are moved.
func (c *Cache) NotesDir() string {
	old := filepath.Join(c.Dir, "notes")
	data := dataDir()
	if c.named || data == "" {
		return old
	}
	dir := filepath.Join(data, "parallax", "notes")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir
	}
	if _, err := os.Stat(old); err != nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil || os.Rename(old, dir) != nil {
		return old // on another file system: they stay where they are
	}
	return dir
}

// dataDir is the directory of the user's data; "" if the system does not name one.
func dataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	switch runtime.GOOS {
	case "darwin", "ios", "windows":
		dir, _ := os.UserConfigDir() // Application Support, AppData
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share")
}
