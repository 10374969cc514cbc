package server

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSourceIsOpenedBelowItsRootsAlone(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for name, text := range map[string]string{"project/src/main.c": "deep", "project/main.c": "top", "project/a/b/x.c": "right", "project/x.c": "wrong", "project/q/only.c": "only", "secret.txt": "secret"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(root, "link.txt")
	linked := os.Symlink(filepath.Join(dir, "secret.txt"), link) == nil
	for _, c := range []struct{ name, want string }{
		{"src/main.c", "deep"},
		{"/home/somebody/project/src/main.c", "deep"},
		{`C:\build\src\main.c`, "deep"},
		{"main.c", "top"},
		{"/elsewhere/main.c", ""}, // either
		{"/build/b/x.c", "right"},
		{"/build/c/x.c", ""},
		{"only.c", "only"},
		{"/build/far/only.c", "only"},
		{"../secret.txt", ""},
		{filepath.Join(dir, "secret.txt"), ""},
		{"link.txt", ""},
		{"src", ""},
		{"", ""},
		{"missing.c", ""},
	} {
		if c.name == "link.txt" && !linked {
			continue
		}
		f, _, err := new(sourceFinder).find(t.Context(), []string{root}, c.name)
		got := ""
		if err == nil {
			b, _ := io.ReadAll(f)
			got = string(b)
			f.Close()
		}
		if got != c.want {
			t.Errorf("%q gives %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheLinesAroundAPlace(t *testing.T) {
	text := strings.Repeat("x\n", 99) + "here\n" + strings.Repeat("y\n", 100)
	got, err := readAround(strings.NewReader(text), 100)
	if err != nil || got.First != 76 || len(got.Lines) != 49 || got.Lines[24] != "here" {
		t.Errorf("first %d, %d lines, %v", got.First, len(got.Lines), err)
	}
	if _, err := readAround(strings.NewReader("a\nb\n"), 90); err == nil {
		t.Error("a line that the file does not have is given")
	}
	if _, err := readAround(strings.NewReader("\x00\x01\xff"), 1); err == nil {
		t.Error("bytes are given as text")
	}
	if got, err := readAround(strings.NewReader(strings.Repeat("z", 5000)), 0); err != nil || len([]rune(got.Lines[0])) != maxLineLen+1 {
		t.Errorf("a long line is not cut: %v", err)
	}
}
