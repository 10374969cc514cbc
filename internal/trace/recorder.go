package trace

import "strings"

// recorders begin the names of threads, and of the functions that goroutines start with, which record the run: they
// are there because it was recorded, and are no part of the program.
var recorders = []string{
	"runtime/pprof.", "runtime/trace.", "runtime.tracestartreadcpu", "runtime.(*traceadvancerstate)", // Go
	"jfr ", "async-profiler", // Java
	"py-spy", "viztracer", // Python
}

// RecordsTheRun reports whether a thread, or the start function of goroutines, belongs to the recorder by its name.
func RecordsTheRun(name string) bool {
	name = strings.ToLower(name)
	for _, r := range recorders {
		if strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}
