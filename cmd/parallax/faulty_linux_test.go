package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// faultyCalls are the calls to a file system that an import or an export makes.
var faultyCalls = []string{"openat", "write", "pwrite64", "fallocate", "ftruncate", "fsync", "fchmod", "mkdirat",
	"renameat", "unlinkat"}

// An import and an export in which one call to the file system fails, each call in turn: the result is whole, or there
// is none and the error says so; the next one succeeds and removes what was left. Needs strace, which makes calls
// fail. PARALLAX_FAULTS is how many places of each call are tried.
func TestACallToTheFileSystemThatFailsCostsNothingButTheCommand(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil || exec.Command(strace, "-qq", "-o", os.DevNull, "true").Run() != nil {
		t.Skip("strace is not there, or may not trace")
	}
	places, _ := strconv.Atoi(os.Getenv("PARALLAX_FAULTS"))
	places = max(places, 2)
	source := filepath.Join(t.TempDir(), "source.plx")
	if status, _, errs := parallax(t, "import", "demo:stencil?locations=4", "-o", source, "--quiet"); status != 0 {
		t.Fatal(errs)
	}
	for verb, args := range map[string][]string{"import": {"import", "demo:stencil?locations=4", "--quiet", "-o"},
		"export": {"export", source, "--quiet", "-o"}} {
		t.Run(verb, func(t *testing.T) {
			f := &faultyRun{strace: strace, dir: t.TempDir(), args: args}
			f.out = filepath.Join(f.dir, "out.plx")
			_, log, _ := f.run(t, "", 0)
			f.whole = f.contents(t)
			refused, tried := 0, 0
			for _, call := range faultyCalls {
				total := len(regexp.MustCompile(`(?m)^\d+ +`+call+`\(`).FindAllString(log, -1))
				for i := range min(places, total) {
					tried++
					if f.fails(t, call, 1+i*total/places) {
						refused++
					}
				}
			}
			if refused == 0 {
				t.Error("nothing failed")
			}
			t.Logf("%d faults: %d commands refused, %d went on and were whole", tried, refused, tried-refused)
		})
	}
}

type faultyRun struct {
	strace, dir, out string
	args             []string
	whole            string // what a sound run writes
}

// run runs the command under strace with the n-th of a call failing; "" makes none fail.
func (f *faultyRun) run(t *testing.T, call string, n int) (errs, log string, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log")
	under := []string{f.strace, "-f", "-y", "-qq", "-o", file, "-e", "trace=" + strings.Join(faultyCalls, ",")}
	if n > 0 {
		under = append(under, "-e", fmt.Sprintf("inject=%s:error=EIO:when=%d", call, n))
	}
	errs, ok = f.command(t, under...)
	calls, _ := os.ReadFile(file)
	return errs, string(calls), ok
}

// command runs the command, under another one or by itself, with an empty cache.
func (f *faultyRun) command(t *testing.T, under ...string) (errs string, ok bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := slices.Concat(under, []string{self}, f.args, []string{f.out})
	c := exec.Command(words[0], words[1:]...)
	c.Env = append(os.Environ(), asProgram+"=1", "PARALLAX_CACHE="+t.TempDir())
	text, err := c.CombinedOutput()
	return string(text), err == nil
}

// fails runs with one call failing and judges the result; refused: the command ended with an error.
func (f *faultyRun) fails(t *testing.T, call string, n int) (refused bool) {
	t.Helper()
	os.RemoveAll(f.out)
	errs, log, ok := f.run(t, call, n)
	what := fmt.Sprintf("%s %d", call, n)
	for line := range strings.Lines(log) {
		if strings.Contains(line, "INJECTED") {
			what += ": " + strings.TrimSpace(line)
		}
	}
	if _, err := os.Stat(f.out); (ok || err == nil) && f.contents(t) != f.whole {
		t.Errorf("%s: success is %v, and the result is not whole: %s", what, ok, errs)
	}
	// A call of Go's runtime, which wakes its poller by a write, ends the program.
	if strings.Contains(errs, "goroutine ") && !strings.Contains(errs, "netpollBreak write failed") {
		t.Errorf("%s: %s", what, errs)
	}
	if !ok && strings.TrimSpace(errs) == "" && !strings.Contains(what, " write(2<") {
		t.Errorf("%s: it failed and said nothing", what)
	}
	os.RemoveAll(f.out)
	if errs, ok := f.command(t); !ok || f.contents(t) != f.whole {
		t.Errorf("%s: the next one: %s", what, errs)
	}
	remains := func() []string {
		left, _ := filepath.Glob(filepath.Join(f.dir, ".*"))
		return left
	}
	// What removes a directory opens it and unlinks what is in it; strace counts the calls of each thread, so that a
	// second one may fail there. Its lock may be gone by then, and it stays for a day.
	if left := remains(); len(left) > 0 && (call == "unlinkat" || call == "openat") {
		for _, dir := range left {
			if err := os.Chtimes(dir, time.Time{}, time.Now().AddDate(0, 0, -2)); err != nil {
				t.Fatal(err)
			}
		}
		os.RemoveAll(f.out)
		f.command(t)
	}
	if left := remains(); len(left) > 0 {
		t.Errorf("%s: left are %v", what, left)
	}
	return !ok
}

// contents sums up the files of the result.
func (f *faultyRun) contents(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(f.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintln(h, strings.TrimPrefix(path, f.out), len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
