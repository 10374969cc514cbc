package ftrace

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "kernel.ftrace", Anywhere: true}, {Path: "report.txt", Anywhere: true}, {Path: "page.html", Anywhere: true},
		{Path: "small-v6.dat", Most: 10, Cuts: 60}, {Path: "made-v6.dat", Cuts: 60, Anywhere: true}, {Path: "made-v7.dat", Cuts: 60},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x", "testdata/kernel.ftrace", "testdata/report.txt", "testdata/page.html", "testdata/made-v6.dat", "testdata/made-v7.dat")
}

// Running slices of processors, counted by a script: from a switch to a task to the next, which must name it as the one
// before; without the idle task.
func TestSlicesOfRealFiles(t *testing.T) {
	for file, want := range map[string]struct {
		slices int64
		cpus   int
	}{"sched-markers.ftrace": {1365, 2}, "sched-markers.systrace.html": {1365, 2}, "trappy-unsorted.txt": {2, 3}} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, "readers3/ftrace/"+file))
		var slices int64
		for id, n := range w.Calls {
			if w.Regions[id].Category == "task" {
				slices += n
			}
		}
		cpus := 0
		for _, l := range w.Locations {
			if l.Kind == trace.KindRepeat {
				cpus++
			}
		}
		if slices != want.slices || cpus != want.cpus {
			t.Errorf("%s: %d slices on %d processors, want %+v", file, slices, cpus, want)
		}
	}
}

// Of 1,231 wake-ups of a whole system interrupts did 1,224, such as timers, while some other task ran: by the third
// flag of the records. Those that a task did itself are the ends of threads, and are its.
func TestAnInterruptWakesForNoTask(t *testing.T) {
	w := importertest.CountOf(t, Format, importertest.Shared(t, "readers3/ftrace/sched-markers.ftrace"))
	if n := w.Links[trace.LinkWake]; n != 7 {
		t.Errorf("%d links, want 7", n)
	}
}

// A trace.dat has the records that trace-cmd report prints of it.
func TestRecordsOfTraceDat(t *testing.T) {
	w := importertest.CountOf(t, Format, importertest.Shared(t, "readers3/ftrace/trappy.trace.dat.gz"))
	if w.Instants != 525 || len(w.Reported) > 0 {
		t.Errorf("%d records, want 525; %v", w.Instants, w.Reported)
	}
}
