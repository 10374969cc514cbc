package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// build bundles into a folder of its own and gives its files by name.
func build(t *testing.T, web string) map[string][]byte {
	t.Helper()
	out := t.TempDir()
	if err := run(web, out, false, 300_000); err != nil {
		t.Fatal(err)
	}
	return read(t, out)
}

func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func same(t *testing.T, what string, a, b map[string][]byte) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: %d files, want %d", what, len(b), len(a))
	}
	for name := range a {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}

func TestDistIsBuiltFromTheSources(t *testing.T) {
	web := filepath.Join("..", "..", "web")
	if _, err := os.Stat(filepath.Join(web, "node_modules", "preact")); err != nil {
		t.Skip("no packages: run `npm ci` in web first")
	}
	first := build(t, web)
	same(t, "a second build", first, build(t, web))
	same(t, "web/dist (run `go run -C tools/bundle .`)", first, read(t, filepath.Join(web, "dist")))
	for name, content := range first {
		if bytes.Contains(content, []byte(filepath.Dir(filepath.Dir(mustGetwd(t))))) {
			t.Errorf("%s holds a path of this machine", name)
		}
	}
}

func TestMissingPackagesAreNamedWithWhatToDo(t *testing.T) {
	err := run(t.TempDir(), t.TempDir(), false, 0)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("npm ci")) {
		t.Errorf("got %v, want an error that names npm ci", err)
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
