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
	for _, c := range []struct {
		files map[string]string
		want  []string
	}{
		{map[string]string{
			"a/body_windows.go":       "package a\n\nfunc body() int { return \"body\" }\n",
			"a/import_windows.go":     "package a\n\nimport \"io\"\n",
			"a/name_windows.go":       "package a\n\nimport \"syscall\"\n\nvar _ = syscall.Nothing\n",
			"a/constant_windows.go":   "package a\n\nconst c int8 = 300\n",
			"a/bodyless_windows.go":   "package a\n\nfunc bodyless()\n",
			"a/inner_windows_test.go": "package a\n\nvar inner string = size\n",
			"a/outer_windows_test.go": "package a_test\n\nvar outer string = 1\n",
			"b/b_windows_test.go":     "package b\n\nimport \"example.org/m/a\"\n\nvar n string = a.Size()\n",
		}, []string{"cannot use \"body\"", "\"io\" imported and not used", "undefined: syscall.Nothing", "overflows",
			"bodyless has no body", "cannot use size", "cannot use 1", "cannot use a.Size()"}},
		{map[string]string{"a/size_windows.go": "package a\n\nconst size = \"2\"\n"}, []string{"cannot use size"}},
		{map[string]string{"a/size_windows.go": "package a\n"}, []string{"undefined: size"}},
		{map[string]string{"a/more_windows.go": "package a\n\nfunc more() {\n"}, []string{"expected"}},
	} {
		_, err := checked(t, "windows/amd64", c.files)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if len(c.want) > 1 {
			if _, err := checked(t, "linux/amd64", c.files); err != nil {
				t.Errorf("on linux: %v", err)
			}
		}
	}
	if _, err := checked(t, runtime.GOOS, nil); err == nil {
		t.Error("a system without a processor is taken")
	}
}
