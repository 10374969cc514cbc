package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/server"
)

// A token is printed once, when it is added; the file holds its hash, and tokens written by hand can be hashed.
func TestFilesOfTokensHoldHashes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "people.tokens")
	if err := os.WriteFile(file, []byte("# people\nzoe read zoe-zoe-zoe-zoe-zoe until 2030-12-31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, token, errs := parallax(t, "tokens", file, "add", "alice", "admin")
	token = strings.TrimSpace(token)
	if status != 0 || len(token) < 20 {
		t.Fatal(status, token, errs)
	}
	text := func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if strings.Contains(text(), token) || !strings.Contains(text(), server.Hash(token)) {
		t.Errorf("the file has\n%s", text())
	}
	if _, list, _ := parallax(t, "tokens", file); !strings.Contains(list, "token, not hashed") {
		t.Errorf("listed as\n%s", list)
	}
	if status, _, errs := parallax(t, "tokens", file, "hash"); status != 0 {
		t.Fatal(errs)
	}
	want := "zoe read " + server.Hash("zoe-zoe-zoe-zoe-zoe") + " until 2030-12-31"
	if !strings.Contains(text(), want) || !strings.Contains(text(), "# people") {
		t.Errorf("hashed it has\n%s", text())
	}
	if status, _, errs := parallax(t, "tokens", file, "revoke", "alice"); status != 0 || strings.Contains(text(), "alice") {
		t.Errorf("%d %s\n%s", status, errs, text())
	}
	if i, err := os.Stat(file); err != nil || i.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v %v", i.Mode(), err)
	}
}
