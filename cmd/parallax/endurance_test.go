//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/load"
)

// process is the program as a process of its own, with a cache; limits are for the shell.
func process(t *testing.T, cache, limits string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", append([]string{"-c", limits + ` exec "$0" "$@"`, self}, args...)...)
	c.Env = append(os.Environ(), asProgram+"=1", "PARALLAX_CACHE="+cache, "TMPDIR="+t.TempDir())
	return c
}

// profileOf runs `view profile` and gives what it prints.
func profileOf(t *testing.T, cache, limits, source string) (out string, err error) {
	t.Helper()
	c := process(t, cache, limits, "view", "profile", source, "--quiet", "--json")
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

const enduring = "demo:uniform?locations=16&intervals=200000"

func TestTheNextImportSucceedsAfterAKilledOne(t *testing.T) {
	cache, clean := t.TempDir(), t.TempDir()
	c := process(t, cache, "", "view", "profile", enduring, "--quiet")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }()
	begun := func() bool {
		list, _ := filepath.Glob(filepath.Join(cache, ".*part*"))
		return len(list) > 0
	}
	locked := func() bool { // until then nobody can tell that it is not about to be
		list, _ := filepath.Glob(filepath.Join(cache, ".*part*", "*", "lock"))
		return len(list) > 0
	}
	for !locked() {
		select {
		case <-ended:
			t.Fatal("it ended before it could be killed")
		case <-time.After(time.Millisecond):
		}
	}
	syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	<-ended
	want, err := profileOf(t, clean, "", enduring)
	if err != nil {
		t.Fatal(err)
	}
	got, err := profileOf(t, cache, "", enduring)
	if err != nil || got != want {
		t.Errorf("after a kill: %v, equal: %v", err, got == want)
	}
	if begun() {
		t.Error("what the killed one left is still there")
	}
}

func TestTwoProcessesShareOneCache(t *testing.T) {
	cache := t.TempDir()
	var all sync.WaitGroup
	var out [2]string
	for i := range out {
		all.Go(func() {
			var err error
			if out[i], err = profileOf(t, cache, "", enduring); err != nil {
				t.Errorf("process %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if out[0] != out[1] || out[0] == "" {
		t.Error("two processes that import the same at once tell different things")
	}
	if list, _ := filepath.Glob(filepath.Join(cache, "*.plx")); len(list) != 1 {
		t.Errorf("%d stores are in the cache, want one", len(list))
	}
}

// Whoever is done first opens a store that the next one takes away.
func TestManyImportsOfOneThingIntoOneCacheAllOpen(t *testing.T) {
	for range 5 {
		c, err := load.OpenCache(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				r, err := newLoader(c, 1<<28, nil).One(context.Background(), []string{"demo:uniform?locations=2&intervals=100"})
				if err != nil {
					t.Error(err)
					return
				}
				r.Store.Close()
			})
		}
		all.Wait()
	}
}

func TestFewFileDescriptorsSufficeOrAreReported(t *testing.T) {
	want, err := profileOf(t, t.TempDir(), "", "demo:stencil")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := profileOf(t, t.TempDir(), "ulimit -n 256;", "demo:stencil"); err != nil || got != want {
		t.Errorf("with 256 descriptors: %v, equal: %v", err, got == want)
	}
	got, err := profileOf(t, t.TempDir(), "ulimit -n 20;", "demo:stencil")
	var exit *exec.ExitError
	if err == nil && got != want || err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(err.Error(), "goroutine")) {
		t.Errorf("with 20 descriptors: %v, equal: %v", err, got == want)
	}
}

func TestAReadOnlyCacheIsReadOrReported(t *testing.T) {
	cache := t.TempDir()
	os.Chmod(filepath.Dir(cache), 0o755) // tests hide theirs from others
	want, err := profileOf(t, cache, "", "demo:stencil")
	if err != nil {
		t.Fatal(err)
	}
	as := func(source string) (string, error) {
		c := process(t, cache, "", "view", "profile", source, "--quiet", "--json")
		if os.Getuid() == 0 { // who may do anything must become somebody else first
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		return stdout.String(), errors.Join(err, errors.New(stderr.String()))
	}
	filepath.WalkDir(cache, func(p string, d os.DirEntry, _ error) error {
		if d.IsDir() {
			return os.Chmod(p, 0o555)
		}
		return os.Chmod(p, 0o444)
	})
	defer filepath.WalkDir(cache, func(p string, d os.DirEntry, _ error) error { return os.Chmod(p, 0o755) })
	if self, err := os.Executable(); err == nil {
		for d := filepath.Dir(self); d != "/"; d = filepath.Dir(d) {
			if info, err := os.Stat(d); err != nil || info.Mode()&0o005 != 0o005 {
				t.Skipf("others cannot run what lies in %s", d)
			}
		}
	}
	got, err := as("demo:stencil")
	if got != want {
		t.Errorf("what a cache holds that is read only: %v, equal: %v", err, got == want)
	}
	if _, err := as("demo:quicksort"); !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), "--cache") && !strings.Contains(err.Error(), cache) {
		t.Errorf("what it does not hold: %v", err)
	}
}

func TestASourceThatChangesOrVanishesUnderAServer(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.json")
	write := func(name string, n int) {
		var b strings.Builder
		b.WriteString(`{"traceEvents":[`)
		for i := range n {
			fmt.Fprintf(&b, `{"ph":"X","name":%q,"pid":1,"tid":1,"ts":%d,"dur":5},`, name, 10*i)
		}
		b.WriteString(`{"ph":"X","name":"end","pid":1,"tid":1,"ts":1000000,"dur":5}]}`)
		if err := os.WriteFile(source, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before", 100)
	s := newSoak(t, 256<<20, []string{source, "demo:stencil", "demo:quicksort"})
	path := "/api/runs/a.json/views/profile/data?from="
	if status, body := s.get(path + "0"); status != 200 || !strings.Contains(body, `"before"`) {
		t.Fatalf("%d %.200s", status, body)
	}
	write("after", 200)
	if status, body := s.get(path + "1"); status != 200 || !strings.Contains(body, `"before"`) {
		t.Errorf("a source that changed: %d %.200s", status, body)
	}
	os.Remove(source)
	if status, body := s.get(path + "2"); status != 200 || !strings.Contains(body, `"before"`) {
		t.Errorf("a source that is gone: %d %.200s", status, body)
	}
	if status, body := s.get("/api/runs"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, _, errs := parallax(t, "view", "profile", source); status != 1 || !strings.Contains(errs, "a.json") {
		t.Errorf("opening what is gone: %d %s", status, errs)
	}
	write("after", 200)
	if status, out, errs := parallax(t, "view", "profile", source); status != 0 || !strings.Contains(out, `"after"`) {
		t.Errorf("opening what changed: %d %s", status, errs)
	}
}

func TestAClockThatGoesBackwardsLosesNothing(t *testing.T) {
	cache := t.TempDir()
	want, err := profileOf(t, cache, "", "demo:stencil?locations=4")
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(365 * 24 * time.Hour) // as it was before the clock was set back
	list, _ := filepath.Glob(filepath.Join(cache, "*.plx"))
	for _, p := range list {
		os.Chtimes(p, later, later)
	}
	if _, err := profileOf(t, cache, "", "demo:quicksort"); err != nil {
		t.Errorf("a further import: %v", err)
	}
	got, err := profileOf(t, cache, "", "demo:stencil?locations=4")
	if err != nil || got != want {
		t.Errorf("a store of the future: %v, equal: %v", err, got == want)
	}
	if now, _ := filepath.Glob(filepath.Join(cache, "*.plx")); len(now) != 2 {
		t.Errorf("%d stores are kept, want 2", len(now))
	}
	if status, out, _ := parallax(t, "cache", "--cache", cache); status != 0 || !strings.Contains(out, "2 stores") {
		t.Errorf("the cache: %d %s", status, out)
	}
}
