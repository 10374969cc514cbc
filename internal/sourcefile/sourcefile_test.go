package sourcefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreOpenedBelowTheirRootsAlone(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for name, text := range map[string]string{"project/src/main.c": "deep", "project/main.c": "top",
		"project/a/b/x.c": "right", "project/x.c": "wrong", "project/q/only.c": "only", "secret.txt": "secret",
		"project/bytes.c": "\x00\x01\xff", "project/long.c": strings.Repeat("x", maxLength+1),
		"project/wide.c": strings.Repeat("z", 5000)} {
		write(t, filepath.Join(dir, name), text)
	}
	linked := os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(root, "link.txt")) == nil &&
		os.Symlink("/dev/zero", filepath.Join(root, "device.c")) == nil
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
		{"/trimmed/src/main.c", "deep"},
		{"../secret.txt", ""},
		{"../../../../etc/passwd", ""},
		{filepath.Join(dir, "secret.txt"), ""},
		{"link.txt", ""},
		{"device.c", ""},
		{"bytes.c", ""},
		{"long.c", ""},
		{"main.c\x00", ""},
		{"wide.c", strings.Repeat("z", maxLineLength) + "…"},
		{"src", ""},
		{"", ""},
		{"missing.c", ""},
	} {
		if !linked && (c.name == "link.txt" || c.name == "device.c") {
			continue
		}
		f, err := (&Finder{Roots: []string{root}, Trim: []string{"/trimmed/"}}).Read(t.Context(), c.name)
		got := ""
		if err == nil {
			got = strings.Join(f.Lines, "\n")
		}
		if got != c.want {
			t.Errorf("%q gives %q (%v), want %q", c.name, got, err, c.want)
		}
	}
	if f, err := (*Finder)(nil).Read(t.Context(), "main.c"); err == nil {
		t.Errorf("no root finds %v", f)
	}
	f, err := (&Finder{Roots: []string{root}}).Read(t.Context(), "/build/far/only.c")
	if err != nil || !f.ByName || f.Shown != "project/q/only.c" {
		t.Errorf("%+v, %v: want a match by name alone", f, err)
	}
}

func TestLinksOpenTheFoundFile(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a project")
	write(t, filepath.Join(root, "s&c", "f#1?.c"), "x")
	f := &Finder{Roots: []string{root}}
	file, err := f.Read(t.Context(), "/recorded/elsewhere/s&c/f#1?.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ editor, want string }{
		{"none", ""},
		{"vscode", "vscode://file" + strings.ReplaceAll(filepath.ToSlash(root), " ", "%20") + "/s%26c/f%231%3F.c:12"},
		{"jetbrains", "jetbrains://idea/navigate/reference?project=a%20project&path=s%26c/f%231%3F.c:12"},
		{"my+ed://x?{rel}@{line},{column}", "my+ed://x?s%26c/f%231%3F.c@12,1"},
	} {
		if f.Editor, err = ParseEditor(c.editor); err != nil {
			t.Fatal(err)
		}
		if got := f.Link(file, 12); got != c.want {
			t.Errorf("%s: %s, want %s", c.editor, got, c.want)
		}
	}
	for _, bad := range []string{"javascript:alert('{file}')", "data:{file}", "http://x/{file}", "https://x/{file}",
		"file://{file}", "JavaScript:{file}", "emacs", "{file}", "vscode://x", " javascript:{file}"} {
		if got, err := ParseEditor(bad); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}
