package strace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "threads.strace", Anywhere: true}, {Path: "terminal.strace", Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.strace", "testdata/threads.strace", "testdata/terminal.strace")
}

// Calls, tasks and time counted by a script that walks the lines.
func TestCallsOfRealFiles(t *testing.T) {
	for file, want := range map[string]struct {
		calls   int64
		threads int
		time    float64 // seconds
	}{
		"threads-ttt": {728, 4, 1.283754}, "stderr-pid": {142, 3, 0.25967}, "threads-tt": {197, 3, 0}, "relative": {72, 1, 0},
		"basic": {5, 2, 0}, "resumed_then_unfinished": {1, 1, 0.001}, "unfinished_resumed": {2, 1, 0.0005},
	} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, "readers3/strace/"+file+".strace"))
		var time trace.Time
		for _, v := range w.Time {
			time += v
		}
		threads := 0
		for _, l := range w.Locations {
			if l.Kind == trace.KindThread {
				threads++
			}
		}
		if got := float64(time) / 1e9; w.Intervals != want.calls || threads != want.threads || want.time > 0 && (got < want.time*0.999 || got > want.time*1.001) {
			t.Errorf("%s: %d calls by %d threads in %v s, want %+v", file, w.Intervals, threads, got, want)
		}
	}
}

// A thread that runs before the call that makes it has returned is of the process of its maker; a child of fork is its
// own process.
func TestThreadsThatRunBeforeTheirCallReturns(t *testing.T) {
	for name, c := range map[string]struct {
		flags     string
		processes int
	}{"a thread": {"CLONE_VM|CLONE_THREAD", 1}, "a process": {"SIGCHLD", 2}} {
		file := filepath.Join(t.TempDir(), "x.strace")
		text := "10 1700000000.000000 execve(\"./p\", [\"./p\"], 0x1) = 0 <0.000100>\n" +
			"10 1700000000.001000 clone(child_stack=0x1, flags=" + c.flags + " <unfinished ...>\n" +
			"11 1700000000.001100 gettid( <unfinished ...>\n" +
			"10 1700000000.001200 <... clone resumed>, tls=0x2) = 11 <0.000200>\n" +
			"11 1700000000.001300 <... gettid resumed>) = 11 <0.000200>\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := importertest.CountOf(t, Format, file)
		processes := 0
		for _, l := range w.Locations {
			if l.Kind == trace.KindProcess {
				processes++
			}
		}
		if processes != c.processes || w.Intervals != 3 || w.Links[trace.LinkSpawn] != 1 {
			t.Errorf("%s: %d processes, %d calls, %d links", name, processes, w.Intervals, w.Links[trace.LinkSpawn])
		}
	}
}
