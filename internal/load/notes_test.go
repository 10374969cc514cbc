package load

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNotesAreWithTheDataOfTheUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("HOME", home)
	t.Setenv("LocalAppData", filepath.Join(home, "cache")) // of Windows
	t.Setenv("PARALLAX_CACHE", "")
	want := filepath.Join(home, "data", "parallax", "notes")
	usual := func() *Cache {
		t.Helper()
		c, err := OpenCache("")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := usual()
	if got := c.NotesDir(); got != want {
		t.Errorf("in %s, want %s", got, want)
	}
	write := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(c.Dir, "notes"), "of an earlier version")
	if got := usual().NotesDir(); got != want {
		t.Errorf("in %s, want %s", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(want, "a.json")); string(b) != "of an earlier version" {
		t.Errorf("notes of an earlier version are not moved: %q, %v", b, err)
	}
	write(filepath.Join(c.Dir, "notes"), "of two versions in turn")
	if got := usual().NotesDir(); got != want {
		t.Errorf("in %s, want %s", got, want)
	}
	if b, _ := os.ReadFile(filepath.Join(want, "a.json")); string(b) != "of an earlier version" {
		t.Errorf("notes were overwritten: %q", b)
	}
	for name, open := range map[string]func(dir string) (*Cache, error){
		"--cache":        OpenCache,
		"PARALLAX_CACHE": func(dir string) (*Cache, error) { t.Setenv("PARALLAX_CACHE", dir); return OpenCache("") },
	} {
		dir := filepath.Join(home, name)
		named, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := named.NotesDir(); got != filepath.Join(dir, "notes") {
			t.Errorf("%s: in %s, want %s", name, got, filepath.Join(dir, "notes"))
		}
	}
}
