//go:build unix

package partial

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncDir makes names in a directory durable, where the file system can.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
