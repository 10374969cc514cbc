package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// within makes a command of the program installed in a root, with nothing around it: no other program, no library,
// no variable. A user who may not change the root sees the machine's files.
func within(root string, args ...string) *exec.Cmd {
	c := exec.Command("/usr/bin/parallax", args...)
	c.Dir, c.Env = "/", []string{"HOME=/tmp", "PARALLAX_CACHE=/tmp"}
	if os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		return c
	}
	c.Path, c.Dir = filepath.Join(root, c.Path), root
	c.Env = []string{"HOME=" + filepath.Join(root, "tmp"), "PARALLAX_CACHE=" + filepath.Join(root, "tmp")}
	return c
}
