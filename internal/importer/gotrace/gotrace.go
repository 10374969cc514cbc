// Package gotrace imports execution traces of Go programs, as runtime/trace,
// go test -trace and net/http/pprof write them: binary, Go 1.11 to 1.26. The
// grammar is read by golang.org/x/exp/trace, the public copy of the reader of
// go tool trace; it is described in the source of Go, internal/trace.
//
// The same time is shown twice, from both sides: by processor and by goroutine.
//
//	P                    location (processor), below "processors"
//	goroutine            location (goroutine), below a group for its start function, below "goroutines"
//	start function       region: of the goroutine's whole life on its own row, and of each stay on a P
//	goroutine's state    interval: running, runnable, syscall, waiting: <reason>; with the stack where it stopped
//	P's state            interval: idle, or scheduling with goroutines inside; so exclusive scheduling is
//	                     the time in which a P ran no goroutine
//	creation             spawn link from the creator's goroutine;   unblocking: wake link, and the stack of the one that
//	                     unblocks on the state that begins then: "woken at"
//	range (GC, STW …)    interval where it applies: on its P, its goroutine, or "runtime" if global
//	user region, task    interval on the goroutine; on "tasks", a location for each type
//	log, label, sample   instant
//	where the program    rows of a profile by call stack and of source lines, for the process: blocked time and blocks
//	waits, sample        of goroutines that wait or are in the system (not those of the runtime), samples
//	metric               counter of the process
//	goroutines, those    two more counters of the process, which this package keeps: all of their first
//	that are runnable    65,536 changes, then the first, lowest, highest and last of every 10 µs
//
// Roles: goroutines that the runtime starts for itself (the garbage collector's
// workers above all) are overhead, on their rows and on the Ps, and their states
// have names of their own, such as "runtime running"; a system call counts as input
// and output; waiting is distinguished by its reason. Ranges of a goroutine are
// annotations on its row, where states tile the time, and overhead on the P, where
// they nest.
//
// Limits: a goroutine that was there before the trace has no creator, and its life begins with the trace; its start
// function is the outermost frame of its first stack, which for stacks deeper than the 128 recorded frames is not the
// real one. Traces of Go 1.21 and before do not record the state of a P before it first starts: its row begins there.
// Go's own reader puts their events of one nanosecond in an order that changes from one reading to the next, a
// nanosecond apart: two imports of one such file may differ by that. Threads (Ms) have no rows. Experimental events
// are counted and left out.
package gotrace

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the execution trace of Go.
var Format = &importer.Format{
	Name:  "gotrace",
	Title: "Go execution trace",
	// An event takes 4 bytes, and those of processors and goroutines tell of several rows.
	Room:   importer.Times(30),
	Claim:  importer.EachFile(isHeader),
	Import: importer.OneFile(read),
}

// isHeader recognises the 16 bytes in front of every trace: "go 1.N trace" and zeros.
func isHeader(head []byte) bool {
	_, ok := headerVersion(head)
	return ok
}

// headerVersion returns the N of that header.
func headerVersion(head []byte) (n int, ok bool) {
	if len(head) < 16 {
		return 0, false
	}
	rest, ok := bytes.CutPrefix(head[:16], []byte("go 1."))
	if !ok {
		return 0, false
	}
	version, ending, ok := bytes.Cut(rest, []byte(" trace"))
	if !ok || len(bytes.Trim(version, "0123456789")) > 0 || len(bytes.Trim(ending, "\x00")) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(string(version))
	return n, err == nil
}

// toldStates is the version of Go from which on a trace says in which state its Ps are
// when it begins. Before, the first that is known of a P is that it starts.
const toldStates = 22

// largeTrace is the size of a file from which on memory is worth a pause. The store makes
// one of its own for many goroutines.
const largeTrace = 16 << 20

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, run.Name)
	version, _ := headerVersion(run.Source.Head(run.Files[0]))
	c.untold = version < toldStates
	if err := events(ctx, in, run.Size(), label, w, c.take); err != nil {
		c.close()
		return err
	}
	// The library's data is garbage by now, larger than the trace. It goes back to
	// the system before the writer sorts, so that the two do not add up.
	if run.Size() > largeTrace {
		debug.FreeOSMemory()
	}
	return c.close()
}
