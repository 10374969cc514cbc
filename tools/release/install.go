package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// errNoTool is why a package cannot be tried here.
var errNoTool = errors.New("is not here")

// install puts a package into a root that has nothing else in it, by the system's own package manager if that may
// be used, or else by its unpacker.
func install(pkg, root string) error {
	asRoot := os.Geteuid() == 0
	if err := os.MkdirAll(filepath.Join(root, "tmp"), 0o755); err != nil {
		return err
	}
	switch filepath.Ext(pkg) {
	case ".deb":
		if !asRoot {
			return command("dpkg-deb", "-x", pkg, root)
		}
		for _, dir := range []string{"info", "updates", "triggers"} { // dpkg's own database
			if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			return err
		}
		return command("dpkg", "--root="+root, "--log="+filepath.Join(root, "tmp/log"), "--force-architecture", "-i",
			pkg)
	case ".rpm":
		if !asRoot {
			return command("sh", "-c", `rpm2cpio "$1" | (cd "$2" && cpio -idm --quiet)`, "sh", pkg, root)
		}
		return command("rpm", "--root", root, "--nosignature", "--nodeps", "--ignorearch", "-i", pkg)
	}
	return fmt.Errorf("%s: no .deb and no .rpm", pkg)
}

func command(name string, args ...string) error {
	if _, err := exec.LookPath(name); err != nil {
		return fmt.Errorf("%s %w", name, errNoTool)
	}
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "LC_ALL=C")
	if said, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(said))
	}
	return nil
}
