package ctf

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// Stream files may end after any packet, so a cut between two cannot be told from the end.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "kernel", Anywhere: true, ByName: true, Cuts: 100}, {Path: "fields", Anywhere: true, ByName: true, Cuts: 100},
		{Path: "two", Anywhere: true, ByName: true, Cuts: 100}, {Path: "intersect", Anywhere: true, ByName: true, Cuts: 60}, {Path: "unknown", Anywhere: true, ByName: true, Cuts: 20},
	})
}

// FuzzReader changes the metadata and one stream of a trace at once.
func FuzzReader(f *testing.F) {
	for _, dir := range []string{"kernel", "fields", "two"} {
		meta, stream := fuzzSeed(f, dir)
		f.Add(meta, stream)
	}
	f.Fuzz(func(t *testing.T, meta, stream []byte) { fuzzOne(t, meta, stream) })
}

// Traces that babeltrace's own tests must refuse are refused in words, or give what came before the fault.
func TestInvalidTracesAreRefusedWithAReason(t *testing.T) {
	for _, c := range []struct {
		set, says string
		events    int64
	}{
		{"fail1", "line 26: the metadata cannot be understood: version 0.1 of the format is not known; 1.8 and 2 are read", 0},
		{"fail2", "line 21: the metadata cannot be understood: version 0.1 of the format is not known; 1.8 and 2 are read", 0},
		{"integer-range", "must be a number of 64 bits", 0},
		{"invalid-packet-size", "skipped packets that break off before their end", 10},
		{"invalid-sequence-length-field-class", `event ze_event: field "len" is no integer, so it can be no length and no selector`, 0},
		{"invalid-variant-selector-field-class", `event ze_event: field "selector" is no integer, so it can be no length and no selector`, 0},
		{"lttng-modules-2.0-pre1", "at byte 24576 a packet of metadata says that it has 4096 bytes, 35 of them content; 4096 are left", 0},
		{"metadata-syntax-error", `line 3: the metadata cannot be understood: "]" where a name must be`, 0},
		{"packet-based-metadata", "at byte 0 a packet of metadata says that it has 4096 bytes, 636 of them content; 636 are left", 0},
		{"smalltrace", "version 0.1 of the format is not known", 0},
		{"valid-events-then-invalid-events", "skipped packets with an event that the metadata does not describe: left from there on", 2},
	} {
		names, w, err := countEvents(t, importertest.Shared(t, "readers/ctf/fail/"+c.set))
		if c.events == 0 {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %s", c.set, err, c.says)
			}
			continue
		}
		n := int64(0)
		for _, k := range names {
			n += k
		}
		if err != nil || n != c.events || w.Reported[c.says] != 1 {
			t.Errorf("%s: %d events, %v, %v; want %d and one of %q", c.set, n, w, err, c.events, c.says)
		}
	}
}

// What the recorder lost is counted: as babeltrace2 says, 728 events.
func TestLostEventsAreReported(t *testing.T) {
	_, w, err := countEvents(t, importertest.Shared(t, "readers/ctf/multi-domains"))
	if err != nil || w.Reported["skipped events that the recorder says it lost"] != 728 {
		t.Errorf("%v, %v", w.Reported, err)
	}
	w = importertest.CountOf(t, Format, "testdata/kernel")
	if w.Reported["skipped events that the recorder says it lost"] != 5 || w.Reported["skipped packets that are missing by their numbers"] != 1 {
		t.Errorf("%v", w.Reported)
	}
}

// Kernel and user space of one session are one run; two recordings of user space are two.
func TestOneSessionIsOneRun(t *testing.T) {
	for set, want := range map[string]int{"readers/ctf/multi-domains": 1, "public/ctf/lttng-ust-glxgears-function-entry-exit": 2, "readers/ctf/lttng-tracefile-rotation": 1} {
		s, err := importer.NewSource(importertest.Shared(t, set))
		if err != nil {
			t.Fatal(err)
		}
		if runs := Format.Claim(s); len(runs) != want {
			t.Errorf("%s: %d runs, want %d", set, len(runs), want)
		}
		s.Close()
	}
}

// Functions that LTTng's tracing of entries and exits tells are intervals of their thread.
func TestFunctionsAreIntervals(t *testing.T) {
	for set, want := range map[string][2]int64{"glxgears-cyg-profile": {2490, 2487}, "glxgears-cyg-profile-fast": {2582, 2579}} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, "public/ctf/lttng-ust-glxgears-function-entry-exit/"+set))
		if calls, _ := w.Categories(); calls["function"] != want[0] || w.Leaves != want[1] || w.Instants != 0 {
			t.Errorf("%s: %d functions, %d ends, %d instants, want %v", set, calls["function"], w.Leaves, w.Instants, want)
		}
	}
}

// Traces that were made from OTF2 have its regions, by name, on ranks and threads.
func TestRegionsOfOTF2(t *testing.T) {
	for set, want := range map[string]struct{ calls, rows, ranks int64 }{"mpi-allreduce-8ranks": {88, 8, 8}, "mpi-pthread-4ranks-3threads": {44, 12, 4}} {
		w := importertest.CountOf(t, Format, importertest.Shared(t, "public/ctf/"+set))
		var rows, ranks int64
		for _, l := range w.Locations {
			if l.Rank >= 0 {
				ranks++
			} else {
				rows++
			}
		}
		named := false
		for id := range w.Calls {
			named = named || w.Regions[id].Name == "MPI_Init" || w.Regions[id].Name == "MPI_Init_thread"
		}
		if w.Enters != want.calls || w.Leaves != want.calls || rows != want.rows || ranks != want.ranks || !named {
			t.Errorf("%s: %d and %d calls, %d rows, %d ranks, MPI_Init %v; want %v", set, w.Enters, w.Leaves, rows, ranks, named, want)
		}
	}
}

// A trace without streams says so.
func TestNoStreams(t *testing.T) {
	s, err := importer.NewSource(importertest.Shared(t, "readers/ctf/intersection/nostream"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := runs[0].Import(context.Background(), importertest.NewCount()); err == nil || !strings.Contains(err.Error(), "no file of events that it describes") {
		t.Errorf("%v", err)
	}
}

// Every kind of field has the value that make.py wrote; babeltrace2 reads the first line the same.
func TestValuesOfFields(t *testing.T) {
	for dir, want := range map[string]string{
		"fields": "three=5 nine=-3 many=74565 shade=GREEN single=1.5 twice=-2.25 n=3 list=[1, 2, 3] which=words chosen.words=chosen letters=abc both.a=9 both.b=-1 swapped=513",
		"two":    "text=hi many=300 less=-200 n=2 dynamic=ok which=large chosen.b=77 there=0 signed=-5 blob=[9, 8]",
	} {
		got := ""
		if err := readEvents(t, "testdata/"+dir, importertest.NewCount(), func(s *stream) {
			if s.event.name != "everything" && s.event.name != "all" {
				return
			}
			for _, v := range s.d.values {
				text := string(v.text) + v.label
				switch v.kind {
				case valueSigned, valueUnsigned:
					text = strconv.FormatInt(int64(v.bits), 10)
				case valueFloat:
					text = fmt.Sprint(math.Float64frombits(v.bits))
				}
				got += " " + v.leaf.name + "=" + text
			}
		}); err != nil {
			t.Fatal(err)
		}
		if got != " "+want {
			t.Errorf("%s:%s\nwant %s", dir, got, want)
		}
	}
}

func TestDamage(t *testing.T) {
	importertest.Damage(t, Format, "readers/ctf/lttng-tracefile-rotation", 24)
}

// Times are exact where a clock does not tick in nanoseconds, however long it ticked.
func TestClocks(t *testing.T) {
	for _, c := range []struct {
		clock clock
		ticks uint64
		want  int64
	}{
		{clock{frequency: 1e9, cycles: 5}, 7, 12},
		{clock{frequency: 1000, seconds: 10, cycles: 500}, 100, 10_600_000_000},
		{clock{frequency: 3}, 1 << 33, 2863311530666666666},
		{clock{frequency: 4_000_000_000}, 1 << 62, 1152921504606846976},
	} {
		if got := int64(c.clock.time(c.ticks)); got != c.want {
			t.Errorf("%v at %d: %d, want %d", c.clock, c.ticks, got, c.want)
		}
	}
}

// Functions have names where a list of symbols lies in the folder above: of the trace with call sites,
// 13 functions, among them the loop that draws.
func TestFunctionsHaveNames(t *testing.T) {
	w := importertest.NewCount()
	if err := readEvents(t, importertest.Shared(t, "public/ctf/lttng-ust-glxgears-function-entry-exit"), w, func(*stream) {}); err != nil {
		t.Fatal(err)
	}
	calls := map[string]int64{}
	for id, n := range w.Calls {
		calls[w.Regions[id].Name] += n
	}
	if calls["main"] != 2 || calls["draw_gears"] == 0 || calls["0x40472b"] != 0 {
		t.Errorf("%v", calls)
	}
	for line, want := range map[string]string{
		"0000000000404311 t query_vsync": "404311 t query_vsync true", "                 U puts": "0 U  true", "x": "0 \x00  false", "": "0 \x00  false",
		"00404311 T operator new(unsigned long)": "404311 T operator new(unsigned long) true",
	} {
		address, kind, name, ok := symbol([]byte(line))
		if got := fmt.Sprintf("%x %c %s %v", address, kind, name, ok); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// What events mean is decided by their names, and by which others there are.
func TestEventsAreClassifiedByTheirNames(t *testing.T) {
	known := map[string]bool{}
	names := []string{"syscall_entry_read", "compat_syscall_exit_read", "sys_open", "exit_syscall", "irq_handler_entry", "irq_handler_exit", "net:begin", "net:end", "block_start", "block_stop", "lonely_begin", "weekend", "begin", "end"}
	for _, n := range names {
		known[n] = true
	}
	c := newConverter(importer.Run{}, importertest.NewCount())
	got := ""
	for _, n := range names {
		m := c.meaningOf(&traceClass{env: map[string]string{"domain": "kernel"}, leaves: map[string]*leaf{}}, n, known)
		got += fmt.Sprintf("%s is %d %s %s\n", n, m.kind, m.name, m.word)
	}
	want := fmt.Sprintf(`syscall_entry_read is %d read syscall
compat_syscall_exit_read is %d read syscall
sys_open is %d open syscall
exit_syscall is %d exit_syscall event
irq_handler_entry is %d irq_handler interrupt
irq_handler_exit is %d irq_handler interrupt
net:begin is %d net net
net:end is %d net net
block_start is %d block event
block_stop is %d block event
lonely_begin is %d lonely_begin event
weekend is %d weekend event
begin is %d begin event
end is %d end event
`, isCall, isReturn, isCall, isReturnAny, isEnter, isLeave, isEnter, isLeave, isEnter, isLeave, isInstant, isInstant, isInstant, isInstant)
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
