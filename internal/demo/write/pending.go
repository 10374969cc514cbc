package write

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A pending is a file or directory that has no name yet: it is written next to its
// path under a temporary one, so that a run that is killed leaves no half file
// under the name that was asked for.
type pending struct {
	path, temporary string
}

// newPending chooses the temporary name. A directory that holds something is not
// replaced: its files may be the only copy of another run.
func newPending(path string, directory bool) (pending, error) {
	path = filepath.Clean(path)
	p := pending{path,
		filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d.partial", filepath.Base(path), os.Getpid()))}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return p, err
	case info.IsDir() && !directory:
		return p, fmt.Errorf("%s is a directory; name a file", path)
	case !info.IsDir() && directory:
		return p, fmt.Errorf("%s is a file; name a directory", path)
	case directory:
		entries, err := os.ReadDir(path)
		if err != nil {
			return p, err
		}
		if len(entries) > 0 {
			return p, fmt.Errorf("%s exists and is not empty; remove it or choose another name", path)
		}
	}
	if err := os.RemoveAll(p.temporary); err != nil {
		return p, err
	}
	if directory {
		return p, os.Mkdir(p.temporary, 0o777)
	}
	return p, nil
}

// commit names the file.
func (p pending) commit() error {
	if info, err := os.Stat(p.path); err == nil && info.IsDir() {
		if err := os.Remove(p.path); err != nil { // empty, or it was filled meanwhile
			return err
		}
	}
	return os.Rename(p.temporary, p.path)
}

func (p pending) abort() { os.RemoveAll(p.temporary) }
