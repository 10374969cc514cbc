//go:build !linux

// Package disktest makes disks that are soon full.
package disktest

import "testing"

// Small makes a directory the root of a disk of its own. The test is skipped where that may not be done.
func Small(tb testing.TB, dir string, size string) {
	tb.Helper()
	tb.Skip("a small disk cannot be made here: that is tried on Linux")
}

// Fill takes all room of a small disk.
func Fill(tb testing.TB, file string) {}
