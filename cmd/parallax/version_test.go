package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// setVersion makes a store look as if another version had written it.
func setVersion(t *testing.T, store, version string) {
	t.Helper()
	path := filepath.Join(store, "manifest.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var outer struct{ Manifest json.RawMessage }
	if err := json.Unmarshal(b, &outer); err != nil {
		t.Fatal(err)
	}
	inner := regexp.MustCompile(`"version":\d+`).ReplaceAll(outer.Manifest, []byte(`"version":`+version))
	sum := crc32.Checksum(inner, crc32.MakeTable(crc32.Castagnoli))
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"crc32c": "%08x", "manifest": %s}`, sum, inner), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestStoresOfOtherVersionsAreImportedAgain(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"0", "99"} {
		made := filepath.Join(dir, "made.plx")
		if status, _, stderr := parallax(t, "import", "demo:fig4", "-o", made); status != 0 {
			t.Fatal(stderr)
		}
		setVersion(t, made, version)
		status, stdout, stderr := parallax(t, "info", made)
		if status != 0 || !strings.Contains(stdout, "intervals") {
			t.Errorf("version %s: status %d, %s", version, status, stderr)
		}
	}
}

func TestAStoreOfAnotherVersionWithoutItsSourceIsRefusedByName(t *testing.T) {
	dir := t.TempDir()
	source, made := filepath.Join(dir, "trace.json"), filepath.Join(dir, "made.plx")
	if err := os.WriteFile(source, []byte(`{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := parallax(t, "import", source, "-o", made); status != 0 {
		t.Fatal(stderr)
	}
	setVersion(t, made, "0")
	if err := os.Remove(source); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := parallax(t, "info", made)
	if status != 1 || !strings.Contains(stderr, "older") || !strings.Contains(stderr, "trace.json") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
