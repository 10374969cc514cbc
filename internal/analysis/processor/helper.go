package processor

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// helpers are parts of the names of threads that serve a runtime: they run when it needs them, and do no work of the
// program. In small letters; ^ and $ stand for the begin and the end of the name.
var helpers = []string{
	"profiler overhead", "cupti", "[nsys", // recorders
	"pt_gloo", "pt_nccl", "pt_autograd", "pt_data_pin", "gloo", "nccl", "watchdog", "heartbeat", // PyTorch
	"cuda-evthandlr", "queuefeederthread", "tqdm", // CUDA, Python
	"mpict$", "memmanager", "progress thread", "async_progress", // MPI, StarPU
	"-comm$", ", comm$", // streams of communication that are drawn as threads
	"gc thread", "g1 ", "^zgc", "^shenandoah", "compilerthread", "^vm thread", "vm periodic", "signal dispatcher",
	"reference handler", "^finalizer", "common-cleaner", "attach listener", "service thread", "notification thread",
	"monitor deflation", "sweeper thread", "destroyjavavm", "^jdwp", // Java
	"^.net ",                                                        // .NET
	"^v8", "platformworker", "delayedtaskscheduler", "libuv-worker", // Node.js
}

// idleKinds are the kinds of rows that are no one's work: they show the time of others from another side.
var idleKinds = []trace.Kind{"async", "memory manager"}

// helps reports whether a thread only helps by its name.
func helps(t *store.Tree, id trace.LocationID) bool {
	name := "^" + strings.ToLower(t.Name[id]) + "$"
	return slices.ContainsFunc(helpers, func(part string) bool { return strings.Contains(name, part) })
}

// records reports whether a row is of the recorder.
func records(t *store.Tree, id trace.LocationID) bool {
	up := t.Parent[id]
	return t.Name[id] == "profiler overhead" || trace.RecordsTheRun(t.Name[id]) ||
		up != trace.NoLocation && t.Kind[up] == trace.KindGroup && trace.RecordsTheRun(t.Name[up])
}

// working leaves helpers out of the rows of a process, as far as there are others.
func working(t *store.Tree, rows []trace.LocationID) []trace.LocationID {
	kept := slices.DeleteFunc(slices.Clone(rows), func(id trace.LocationID) bool {
		return slices.Contains(idleKinds, t.Kind[id]) || records(t, id) ||
			t.Kind[id] == trace.KindThread && helps(t, id)
	})
	if len(kept) == 0 {
		return rows
	}
	return kept
}

// mainThread is the thread of a process that has its number, else the one that is called so, else the one that is
// called as the process is or as Python is, else the one with the least number, else the first.
func mainThread(t *store.Tree, process trace.LocationID, threads []trace.LocationID) trace.LocationID {
	pid, hasPid := lastNumber(t.Name[process])
	word, _, _ := strings.Cut(t.Name[process], " ")
	best, least := trace.NoLocation, 0
	rank := func(id trace.LocationID) int {
		name := strings.ToLower(t.Name[id])
		number, ok := lastNumber(t.Name[id])
		switch {
		case hasPid && ok && number == pid && number > 0:
			return 4
		case strings.Contains(name, "main"):
			return 3
		case strings.HasPrefix(name, "python") || strings.HasPrefix(name, strings.ToLower(word)):
			return 2
		case ok && number > 0:
			return 1
		}
		return 0
	}
	for _, id := range threads {
		number, _ := lastNumber(t.Name[id])
		if best == trace.NoLocation || rank(id) > rank(best) || rank(id) == rank(best) && number < least {
			best, least = id, number
		}
	}
	return best
}

// lastNumber is the last whole number of a name that stands by itself: 451 of "thread 451 (python3)".
func lastNumber(name string) (int, bool) {
	fields := strings.Fields(name)
	for i := len(fields) - 1; i >= 0; i-- {
		if n, err := strconv.Atoi(fields[i]); err == nil {
			return n, true
		}
	}
	return 0, false
}
