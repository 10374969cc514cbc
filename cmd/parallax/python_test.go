//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// findPython finds a Python, with pandas where one has it.
var findPython = sync.OnceValues(func() (python string, pandas bool) {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if exec.Command(path, "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('pandas'))").Run() == nil {
			return path, true
		}
		if python == "" {
			python = path
		}
	}
	return python, false
})

// pythonCommandFor makes a command of a Python that finds the module in dir and this test as the program.
func pythonCommandFor(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	python, _ := findPython()
	if python == "" {
		t.Skip("no python3 here")
	}
	// A program beside the module, since the variable that makes this test the program must not reach Python.
	program := filepath.Join(dir, "parallax")
	script := "#!/bin/sh\n" + asProgram + "=1 exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "PARALLAX="+program)
	return c
}

func writeModule(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if status, _, said := parallax(t, "python", "-o", filepath.Join(dir, "parallax.py")); status != 0 {
		t.Fatal(said)
	}
	return dir
}

// The module answers with and without pandas; `-I -S` is a Python without any package.
func TestTheModuleAnswersPython(t *testing.T) {
	data, _ := filepath.Abs("../../docs/tutorials/data")
	script, _ := filepath.Abs("testdata/module.py")
	for name, flags := range map[string][]string{"bare": {"-I", "-S"}, "with packages": {"-W", "error::SyntaxWarning"}} {
		t.Run(name, func(t *testing.T) {
			dir := writeModule(t)
			out, err := pythonCommandFor(t, dir, append(flags, script, dir, data)...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "all hold") {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Log(strings.TrimSpace(string(out)))
		})
	}
}

// Every call on the right of the table of docs/notebook.md runs, on data of the kind that the tool on the left reads.
func TestExamplesForUsersOfOtherToolsRun(t *testing.T) {
	if _, pandas := findPython(); !pandas {
		t.Skip("no pandas here")
	}
	text, err := os.ReadFile("../../docs/notebook.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(text), "## Coming from elsewhere")
	page, _, _ = strings.Cut(page, "\n## ")
	sources := map[string]string{"Pipit": "docs/tutorials/data/hpl32.tar.zst", "HTA": "docs/tutorials/data/training-8",
		"Hatchet": "internal/importer/pprof/testdata/labels.pb.gz", "pprof": "internal/importer/pprof/testdata/labels.pb.gz",
		"Perfetto": "docs/tutorials/data/training-8", "nsys stats": "docs/tutorials/data/training-8"}
	var script strings.Builder
	script.WriteString("import parallax\nclass GraphFrame:\n    from_literal = staticmethod(list)\n")
	code := regexp.MustCompile("`([^`]+)`")
	calls := 0
	for _, line := range strings.Split(page, "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			continue
		}
		if _, tool, ok := strings.Cut(cells[0], "**"); ok {
			tool, _, _ = strings.Cut(tool, "**")
			if sources[tool] == "" {
				t.Fatalf("%s: name data that it reads", tool)
			}
			full, err := filepath.Abs("../../" + sources[tool])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&script, "p = d = %q\nrun = parallax.open(p)\na, b = run, parallax.open(p, name='again', join=True)\n", full)
			script.WriteString("NAME = run.profile(by='region')['region'].iloc[0]\n")
		}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			if !strings.Contains(m[1], "(") {
				continue
			}
			calls++
			shown := strings.ReplaceAll(m[1], `"NAME"`, "str(NAME)")
			fmt.Fprintf(&script, "x = None\ntry:\n    exec(%q)\n    x = eval(%q) if not %q.startswith('run = ') else None\n"+
				"    getattr(x, 'data', None)\nexcept Exception as e:\n    raise SystemExit(%q + ': ' + str(e))\n", shown, shown, shown, m[1])
		}
	}
	if calls < 20 {
		t.Fatalf("%d calls", calls)
	}
	dir := writeModule(t)
	if out, err := pythonCommandFor(t, dir, "-c", script.String()).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Notebooks of the tutorials run through, and their cells show something.
func TestTutorialNotebooksRun(t *testing.T) {
	runner, _ := filepath.Abs("testdata/notebook.py")
	tutorials, _ := filepath.Abs("../../docs/tutorials")
	books, _ := filepath.Glob(filepath.Join(tutorials, "*.ipynb"))
	if len(books) < 4 {
		t.Fatalf("%d notebooks", len(books))
	}
	for _, book := range books {
		t.Run(strings.TrimSuffix(filepath.Base(book), ".ipynb"), func(t *testing.T) {
			dir := writeModule(t)
			c := pythonCommandFor(t, dir, runner, dir, book)
			if _, pandas := findPython(); !pandas {
				t.Skip("no pandas here")
			}
			c.Dir = tutorials // where a notebook runs
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "a picture") || strings.Contains(string(out), "Error") {
				t.Errorf("it shows no picture, or an error:\n%s", out)
			}
			for _, empty := range []string{"Series([]", "<tbody>\n  </tbody>"} {
				if strings.Contains(string(out), empty) {
					t.Errorf("it shows rows that are none:\n%s", out)
				}
			}
		})
	}
}
