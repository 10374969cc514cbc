package ftrace

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// A line is read as the pattern says it is.
func TestLinesAreReadAsThePatternSays(t *testing.T) {
	pattern := regexp.MustCompile(`^\s*(.*\S)\s*-(\d+)\s+(?:\(\s*(-+|\d+)\)\s+)?\[(\d+)\]\s+(?:(\S{4,6})\s+)?` +
		`(\d+)\.(\d+):\s+([\w.:/-]+):(?:\s+(.*))?$`)
	lines := []string{"app [1] x-72 (71) [001] d..2  4.000000: sched_switch: a=[120]", "a-b c-7 [000] 1.5: print: 0x1: B|7|x",
		"<idle>-0  (-----) [003] d.h1 5.25: irq:exit:", "x-1 [000] 4.00: e: f", "x-1 [002]4.00: e: f", "x 1 [000] .... 4.0: e: f", "-1 [0] 4.0: e: f",
		"x-1 (7 ) [000] 4.0: e: f", "x-1 (7)[000] 4.0: e: f", "x-1 [000] ....... 4.0: e: f", "x-1 [000] d... 4.0: e:f", "x-1 [000] 4.0: e f: g",
		"x-1 [000] 4.0: e:  ", "x-1 [000] 99999999999999999999.0: e: f", "x-1 [000] 4.0: a(b): f", "x-99999999999999999999 [000] 4.0: e: f",
		"x-1 [000] d..2 4.0: y: z-2 [001] 5.0: q: r"}
	for _, file := range []string{"kernel.ftrace", "report.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(data), "\n")...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, line := range slices.Clone(lines) {
		for range 200 {
			b := []byte(line)
			for range 1 + random.IntN(3) {
				if len(b) == 0 {
					break
				}
				at := random.IntN(len(b))
				switch random.IntN(3) {
				case 0:
					b = slices.Delete(b, at, at+1)
				case 1:
					b[at] = " -()[]:.0a_/"[random.IntN(12)]
				default:
					b = slices.Insert(b, at, " -()[]:.0a_/"[random.IntN(12)])
				}
			}
			lines = append(lines, string(b))
		}
	}
	for _, line := range lines {
		r, ok := parse([]byte(line))
		m := pattern.FindStringSubmatch(line)
		value := func(s string) int64 {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return -1
			}
			return n
		}
		want := m != nil && value(m[2]) >= 0 && value(m[6]) >= 0 && value(m[6]) < 1<<33
		if ok != want {
			t.Errorf("%q: read %v, want %v", line, ok, want)
			continue
		}
		if !want {
			continue
		}
		at := value(m[6])*1e9 + value((m[7] + "000000000")[:9])
		if r.task.Name != m[1] || r.task.ID != value(m[2]) || r.tgid != value(m[3]) || r.cpu != value(m[4]) || int64(r.time) != at ||
			r.event != m[8] || string(r.fields) != m[9] || r.byTask != (len(m[5]) > interrupt && m[5][interrupt] == '.') {
			t.Errorf("%q: %+v, want %q", line, r, m[1:])
		}
	}
}
