package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A module whose package a is imported by b, which the test of a imports: b is looked at once more, with that test.
var module = map[string]string{
	"go.mod":            "module example.org/m\n\ngo 1.26\n",
	"a/a.go":            "package a\n\nfunc Size() int { return size }\n",
	"a/size_unix.go":    "//go:build unix\n\npackage a\n\nconst size = 1\n",
	"a/size_windows.go": "package a\n\nconst size = 2\n",
	"a/a_test.go":       "package a_test\n\nimport (\n\t\"testing\"\n\n\t\"example.org/m/a\"\n\t\"example.org/m/b\"\n)\n\nfunc Test(t *testing.T) {\n\tif b.Twice(a.T{}) != 2*a.Size() {\n\t\tt.Error()\n\t}\n}\n",
	"a/in_test.go":      "package a\n\nvar _ = T{}\n",
	"a/t.go":            "package a\n\nimport \"os\"\n\ntype T struct{ F *os.File }\n",
	"b/b.go":            "package b\n\nimport \"example.org/m/a\"\n\nfunc Twice(a.T) int { return 2 * a.Size() }\n",
}

func checked(t *testing.T, system string, change map[string]string) (int, error) {
	t.Helper()
	dir := t.TempDir()
	for _, files := range []map[string]string{module, change} {
		for name, text := range files {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return check(dir, system, []string{"./..."})
}

func TestSoundModulesPassEverywhere(t *testing.T) {
	for _, system := range []string{"linux/amd64", "windows/amd64", "darwin/arm64"} {
		if n, err := checked(t, system, nil); err != nil || n != 3 { // a with its inner test, its outer test, and b
			t.Errorf("%s: %d packages: %v", system, n, err)
		}
	}
}

func TestWhatIsWrongOnOneSystemIsFoundThereAlone(t *testing.T) {
	for _, c := range []struct{ what, file, text, want string }{
		{"a type", "a/size_windows.go", "package a\n\nconst size = \"2\"\n", "cannot use size"},
		{"a missing name", "a/size_windows.go", "package a\n", "undefined: size"},
		{"a body", "a/more_windows.go", "package a\n\nfunc more() int { return \"\" }\n", "cannot use \"\""},
		{"an import", "a/more_windows.go", "package a\n\nimport \"io\"\n", "\"io\" imported and not used"},
		{"a name that is not there", "a/more_windows.go", "package a\n\nimport \"syscall\"\n\nvar _ = syscall.Nothing\n", "undefined: syscall.Nothing"},
		{"a constant", "a/more_windows.go", "package a\n\nconst c int8 = 300\n", "overflows"},
		{"no body", "a/more_windows.go", "package a\n\nfunc more()\n", "more has no body"},
		{"an inner test", "a/more_windows_test.go", "package a\n\nvar n string = size\n", "cannot use size"},
		{"an outer test", "a/more_windows_test.go", "package a_test\n\nvar n string = 1\n", "cannot use 1"},
		{"syntax", "a/more_windows.go", "package a\n\nfunc more() {\n", "expected"},
		{"a test of what another imports", "b/b_windows_test.go", "package b\n\nimport \"example.org/m/a\"\n\nvar n string = a.Size()\n", "cannot use a.Size()"},
	} {
		if _, err := checked(t, "windows/amd64", map[string]string{c.file: c.text}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
		if _, err := checked(t, "linux/amd64", map[string]string{c.file: c.text}); err != nil {
			t.Errorf("%s on linux: %v", c.what, err)
		}
	}
	if _, err := checked(t, runtime.GOOS, nil); err == nil {
		t.Error("a system without a processor is taken")
	}
}
