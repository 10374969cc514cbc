//go:build !linux

package spool

import "os"

// StartWriting would begin to write part of a file to the disk, on systems that can.
func StartWriting(*os.File, int64, int64) {}
