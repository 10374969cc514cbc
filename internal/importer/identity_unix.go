//go:build unix

package importer

import (
	"io/fs"
	"syscall"
)

// identity distinguishes a directory from all others on the machine.
func identity(info fs.FileInfo) (any, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, false
	}
	return [2]uint64{uint64(s.Dev), uint64(s.Ino)}, true
}
