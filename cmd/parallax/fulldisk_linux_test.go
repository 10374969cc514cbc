package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskIsAnErrorAndLeavesNoFiles(t *testing.T) {
	cache := t.TempDir()
	if err := syscall.Mount("tmpfs", cache, "tmpfs", 0, "size=20m"); err != nil {
		t.Skipf("a small disk cannot be made here: %v", err)
	}
	defer syscall.Unmount(cache, 0)
	_, err := profileOf(t, cache, "", "demo:uniform?locations=16&intervals=3000000")
	if err == nil || !strings.Contains(err.Error(), "no space left") && !strings.Contains(err.Error(), "free") {
		t.Fatalf("a full disk: %v", err)
	}
	if list, _ := filepath.Glob(filepath.Join(cache, ".*part*")); len(list) > 0 {
		t.Errorf("it leaves %v", list)
	}
	if _, err := profileOf(t, cache, "", "demo:stencil?locations=4"); err != nil {
		t.Errorf("a small import afterwards: %v", err)
	}
}
