//go:build !linux

package main

import (
	"os/exec"
	"path/filepath"
)

func within(root string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(root, "usr", "bin", "parallax"), args...)
}
