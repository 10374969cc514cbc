package read

import (
	"os"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/store"
)

var _ store.Keeper = (*Reader)(nil)

// keptFile returns the path of a stored result. It is not in the manifest: a store without it,
// or with another one, is the same store.
func (r *sections) keptFile(name string) string { return filepath.Join(r.path, "kept."+name) }

// Kept implements store.Keeper.
func (r *sections) Kept(name string) ([]byte, bool) {
	if r.Fetched != nil {
		return r.Fetched.From.Kept(name)
	}
	info, err := os.Stat(r.keptFile(name))
	if err != nil || info.Size() > store.MostKept {
		return nil, false
	}
	b, err := os.ReadFile(r.keptFile(name))
	return b, err == nil
}

// Keep implements store.Keeper; a file appears under its name only when it is whole.
func (r *sections) Keep(name string, data []byte) error {
	if r.Fetched != nil {
		return r.Fetched.From.Keep(name, data)
	}
	f, err := os.CreateTemp(r.path, "kept."+name+".part-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if end := f.Close(); err == nil {
		err = end
	}
	if err == nil {
		err = os.Rename(f.Name(), r.keptFile(name))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
