package perfscript

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "header.txt", Anywhere: true},
		{Path: "system-wide.txt", Anywhere: true},
		{Path: "odd.txt", Anywhere: true},
		{Path: "flat.perf.data", Most: 5, Cuts: 60}, {Path: "zstd.perf.data", Most: 5, Cuts: 60}, {Path: "pipe.perf.data", Most: 5, Cuts: 60, Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.txt", "testdata/header.txt", "testdata/odd.txt", "testdata/zstd.perf.data", "testdata/pipe.perf.data")
}

// Samples counted in the files: lines that name the event, and their periods.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for file, want := range map[string]struct {
		samples, period float64
		threads         int
	}{
		"simple-with-header.linux-perf.txt": {136, 136136136, 1},
		"simple-with-pid.linux-perf.txt":    {137, 0, 1},
		"system-wide.linux-perf.txt":        {556, 556556556, 2},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "public/perf-script/speedscope/"+file))
		total := map[string]float64{}
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, row := range rows {
				total[r.Metrics()[row.Metric].Name] += row.Exclusive
			}
			return nil
		})
		threads := 0
		for _, k := range r.Locations().Kind {
			if k == trace.KindThread {
				threads++
			}
		}
		got := fmt.Sprint(total["samples of cpu-clock"], total["cpu-clock"], threads, r.Info().Instants, len(r.Info().Report))
		if w := fmt.Sprint(want.samples, want.period, want.threads, want.samples, 0); got != w || err != nil {
			t.Errorf("%s: samples, period, threads, instants, reports %s, want %s: %v", file, got, w, err)
		}
	}
}

// A file that ends within a line makes no function of half a name, and says so.
func TestALineThatIsCutIsNoFunction(t *testing.T) {
	const whole = "prog  7/7  [001] 12.000001: 100 cycles: \n\t    ffffffff81000000 do_syscall_64+0x5 ([kernel.kallsyms])\n\t          401000 main+0x10 (/bin/prog)\n\n"
	at := len("prog  7/7  [001] 12.000001: 100 cycles: \n")
	for cut := at + 20; cut < len(whole)-1; cut++ {
		s, err := importer.NewSourceFS("x", fstest.MapFS{"perf.txt": {Data: []byte(whole[:cut])}})
		if err != nil {
			t.Fatal(err)
		}
		w := importertest.NewCount()
		if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), w); err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		for _, r := range w.Regions {
			if r.Name != "do_syscall_64" && r.Name != "main" && r.Name != "(no stack)" {
				t.Errorf("cut after %d bytes: region %q", cut, r.Name)
			}
		}
		if len(w.Reported) == 0 {
			t.Errorf("cut after %d bytes: nothing is said", cut)
		}
	}
}

// Lines as perf and simpleperf write them by version and options, each with what it says.
func TestFormsOfSamples(t *testing.T) {
	const chain = "\t    11dd leaf_add+0x1 (/tmp/demo/work)\n\t    1266 outer (/tmp/demo/work)\n\n"
	for name, c := range map[string]struct {
		text string
		want string // name, thread, period, event, time, frames
	}{
		"a name that ends in a number":   {"work 1 15890  4549.581915: 1003009 cpu-clock: \n" + chain, "work 1 15890 1003009 cpu-clock 4549581915000 2"},
		"a virtual processor":            {"CPU 0/KVM 812/815 [003]  12.5:  10 cycles: \n" + chain, "CPU 0/KVM 815 10 cycles 12500000000 2"},
		"no call chain":                  {"          work 2 15897  4551.029516:    1003009 cpu-clock:      563b2a754213 leaf_mul+0x15 (/tmp/demo/work)\n", "work 2 15897 1003009 cpu-clock 4551029516000 1"},
		"simpleperf":                     {"work 1\t15890 [000] 4549.581915:\t\t1003009 cpu-clock:u:\n            11dd\tleaf_add (/tmp/w)\n", "work 1 15890 1003009 cpu-clock:u 4549581915000 1"},
		"frames without indentation":     {"java 19983 cycles:\n7f12 Interpreter (/tmp/perf-1.map)\nffff main (/usr/bin/java)\n\n", "java 19983 0 cycles 0 2"},
		"a period without time":          {"work 1 15890    1003009 cpu-clock: \n" + chain, "work 1 15890 1003009 cpu-clock 0 2"},
		"no event":                       {"work 1 15890 \n" + chain, "work 1 15890 0  0 2"},
		"no event, with time and period": {"work 1 15890  4549.581915:    1003009 \n" + chain, "work 1 15890 1003009  4549581915000 2"},
		"a trace point":                  {"          work 0 15924 [001]  4556.814877: sched:sched_switch: prev_comm=work 0 prev_pid=15924\n", "work 0 15924 0 sched:sched_switch 4556814877000 0"},
		"an unknown thread":              {":-1    -1  4549.581915: 1 cycles: \n" + chain, ":-1 -1 1 cycles 4549581915000 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if !isScript([]byte(c.text)) {
				t.Error("not recognised")
			}
			conv := newConverter(importertest.NewCount())
			var got string
			for line := range strings.Lines(c.text) {
				if line = strings.TrimRight(line, "\n"); line != "" && (conv.open && !maybeSample([]byte(line)) && conv.frame([]byte(line))) {
					continue
				} else if line == "" {
					break
				}
				conv.line([]byte(line), func() string { return "" })
			}
			s := conv.now
			got = fmt.Sprintf("%s %d %.0f %s %d %d", s.comm, s.tid, s.period, s.event, s.time, len(conv.keys))
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	for _, text := range []string{"chapter 12\n", "total 12 34\n", "a b 3 intro:\n\tonce\n"} {
		if isScript([]byte(text)) {
			t.Errorf("%q is claimed", text)
		}
	}
}

// Files of a program whose threads are called "work 0", "work 1", with counts made by another script.
func TestThreadsWithNumbersInTheirNames(t *testing.T) {
	for file, want := range map[string]struct {
		samples   int64
		threads   int
		untimed   bool
		mostNames int
	}{
		"stacks-header": {184, 3, false, 2}, "flat": {307, 4, false, 2}, "fields": {307, 4, false, 2}, "noevent": {184, 3, true, 1},
		"simpleperf-layout": {184, 3, false, 2}, "two-events-ns": {453, 4, false, 4}, "unindented": {184, 3, true, 1}, "sched": {0, 0, false, 3},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "readers3/perf/"+file+".perf.txt"))
		threads := 0
		for _, k := range r.Locations().Kind {
			if k == trace.KindThread {
				threads++
			}
		}
		if n := r.Info().Instants; want.samples > 0 && (n != want.samples && !want.untimed || threads < want.threads) || len(r.Metrics()) > want.mostNames {
			t.Errorf("%s: %d samples, %d threads, %d metrics; want %+v", file, n, threads, len(r.Metrics()), want)
		}
		if file == "sched" { // switches of this program only were recorded
			if r.Info().Intervals < 200 {
				t.Errorf("%s: %d states of threads", file, r.Info().Intervals)
			}
		} else if len(r.Info().Report) > 0 {
			t.Errorf("%s: %v", file, r.Info().Report)
		}
	}
}

// Trace points in perf.data give the states that those in the text of perf script give.
func TestTracePointsOfData(t *testing.T) {
	text := importertest.Import(t, Format, importertest.Shared(t, "readers3/perf/sched.perf.txt")).Info()
	data := importertest.Import(t, Format, importertest.Shared(t, "readers3/perf/sched.perf.data")).Info()
	if data.Intervals != text.Intervals || data.Instants != text.Instants || data.Links != text.Links || data.Intervals == 0 {
		t.Errorf("%d states, %d instants, %d links in the data; %d, %d, %d in the text", data.Intervals, data.Instants, data.Links,
			text.Intervals, text.Instants, text.Links)
	}
}

// perf.data has the samples, threads and periods that perf script prints of it; names are those of objects.
func TestDataHoldsTheSamples(t *testing.T) {
	for file, want := range map[string]struct {
		samples int64
		period  float64
		threads int
	}{
		"flat": {307, 307923763, 4}, "pipe": {199, 199598791, 3}, "stacks": {184, 184553656, 3}, "zstd": {190, 190571710, 3}, "two-events": {453, 203610827, 4},
		"sched": {460, 0, 0},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "readers3/perf/"+file+".perf.data"))
		total, threads := 0.0, 0
		err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
			for _, row := range rows {
				if r.Metrics()[row.Metric].Name == "cpu-clock" {
					total += row.Exclusive
				}
			}
			return nil
		})
		for _, k := range r.Locations().Kind {
			if k == trace.KindThread {
				threads++
			}
		}
		if err != nil || r.Info().Instants != want.samples || total != want.period || threads < want.threads {
			t.Errorf("%s: %d samples, %v ns, %d threads; want %+v: %v", file, r.Info().Instants, total, threads, want, err)
		}
	}
}
