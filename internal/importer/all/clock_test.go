package all

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// spansWithEvent are spans on a clock that counts from 1970, one of which has a named event after a millisecond.
func spansWithEvent(name string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[
{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"get","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000005000000",
"events":[{"timeUnixNano":"1700000000001000000","name":"` + name + `"}]}]}]}]}`
}

// eventsSinceBoot are Chrome events on a clock of their own, with an instant 2 ms after the first.
func eventsSinceBoot(name string) string {
	return `[{"ph":"X","name":"work","ts":9000000,"dur":3000,"pid":1,"tid":1},{"ph":"i","s":"t","name":"` + name + `","ts":9002000,"pid":1,"tid":1}]`
}

// Sources whose clocks cannot be one are refused with both epochs; an offset is given, or found from a common event.
func TestJoinedClocks(t *testing.T) {
	for name, c := range map[string]struct {
		spans, events string
		offset        trace.Time // of the Chrome file; 0: none
		end           trace.Time // of the joined run
		report        string
		refused       []string
	}{
		"no common event":       {spans: spansWithEvent("begun"), events: eventsSinceBoot("begun"), refused: []string{"2023-11-14 22:13:20 UTC", "9s after the zero of its own clock", "events.json@+1699999991s"}},
		"another marker":        {spans: spansWithEvent("sync:a"), events: eventsSinceBoot("sync:b"), refused: []string{"not one clock"}},
		"an offset":             {spans: spansWithEvent("begun"), events: eventsSinceBoot("begun"), offset: 1699999991e9 + 4e6, end: 7e6, report: "guessed clock offsets of joined sources, as given"},
		"a sync marker of both": {spans: spansWithEvent("sync:start"), events: eventsSinceBoot("sync:start"), end: 6e6, report: "guessed clock offsets of joined sources, found from spans with the same ids, sync markers of the same name or the same calls of MPI_Init and MPI_Barrier in both"},
		"one after the other": {spans: "# tracer: nop\n  app-72 (71) [001] d..2  4.000000: tracing_mark_write: B|71|load\n  app-72 (71) [001] d..2  5.000000: tracing_mark_write: E|71\n",
			events: eventsSinceBoot("a"), end: 5_003e6,
			report: "guessed joined sources one of which ends before the other begins: their clocks may differ"},
		"other days": {spans: spansWithEvent("a"), events: strings.ReplaceAll(eventsSinceBoot("a"), `"ts":9`, `"ts":1700200000`),
			refused: []string{"2023-11-14 22:13:20 UTC", "2023-11-17 05:46:40 UTC", "these are not one run", "give an offset, such as "}},
		"one clock, left as is": {spans: spansWithEvent("sync"), events: strings.ReplaceAll(eventsSinceBoot("sync"), `"ts":9`, `"ts":1700000000`), end: 5e6},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := importer.NewSourceFS("", fstest.MapFS{"spans.json": {Data: []byte(c.spans)}, "events.json": {Data: []byte(c.events)}})
			if err != nil {
				t.Fatal(err)
			}
			runs, _ := importer.Detect(Formats, s)
			if len(runs) != 2 {
				t.Fatalf("%d runs", len(runs))
			}
			for i := range runs {
				if runs[i].Format.Name == "chrome" && c.offset != 0 {
					runs[i].Offset = importer.Offset{By: c.offset, Given: true}
				}
			}
			m := storetest.NewMemory()
			err = importer.Join(runs).Import(context.Background(), m)
			for _, want := range c.refused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error is %v, want %q", err, want)
				}
			}
			if len(c.refused) > 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			info := m.Reader().Info()
			if info.End != c.end {
				t.Errorf("the run ends at %d, want %d", info.End, c.end)
			}
			if c.report != "" && importertest.Report(info.Report)[c.report] == 0 {
				t.Errorf("report is %v, want %q", info.Report, c.report)
			}
		})
	}
}

// noted is a Writer that notes when each rank called a region. Streams of several ranks are written at the same time.
type noted struct {
	*importertest.Count
	mu     sync.Mutex
	name   string
	region trace.RegionID
	ranks  map[trace.LocationID]int
	begins map[int][]trace.Time
}

func (n *noted) Location(l trace.Location) trace.LocationID {
	at := n.Count.Location(l)
	if l.Rank != trace.NoRank {
		n.ranks[at] = l.Rank
	} else if rank, ok := n.ranks[l.Parent]; ok {
		n.ranks[at] = rank
	}
	return at
}

func (n *noted) Region(r trace.Region) trace.RegionID {
	id := n.Count.Region(r)
	if r.Name == n.name {
		n.region = id
	}
	return id
}

func (n *noted) Stream(at trace.LocationID, o trace.StreamOptions) trace.Stream {
	return &notedStream{n.Count.Stream(at, o), n, n.ranks[at]}
}

type notedStream struct {
	trace.Stream
	of   *noted
	rank int
}

func (s *notedStream) Enter(t trace.Time, r trace.RegionID) {
	if r == s.of.region {
		s.of.mu.Lock()
		s.of.begins[s.rank] = append(s.of.begins[s.rank], t)
		s.of.mu.Unlock()
	}
	s.Stream.Enter(t, r)
}

// A real OTF2 trace beside Chrome events of the same ranks on another clock: their calls of MPI_Init tell the offset.
func TestMPICallsGiveTheOffset(t *testing.T) {
	dir := importertest.Shared(t, "public/otf2/ping-pong-2ranks")
	alone, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	runs, _ := importer.Detect(Formats, alone)
	n := &noted{Count: importertest.NewCount(), name: "MPI_Init", region: trace.NoRegion, ranks: map[trace.LocationID]int{}, begins: map[int][]trace.Time{}}
	runs[0].Options.Memory = 1 << 20
	if err := runs[0].Import(t.Context(), n); err != nil || len(n.begins) != 2 {
		t.Fatalf("MPI_Init at %v: %v", n.begins, err)
	}
	const off = trace.Time(86400 * 400 * 1e9)
	var events strings.Builder
	for rank, begins := range n.begins {
		fmt.Fprintf(&events, `{"ph":"M","name":"process_name","pid":%d,"tid":0,"args":{"name":"rank %d"}},`, 100+rank, rank)
		for _, at := range begins {
			at += off
			fmt.Fprintf(&events, `{"ph":"X","name":"MPI_Init","ts":%d.%03d,"dur":5,"pid":%d,"tid":0},`, at/1000, at%1000, 100+rank)
		}
	}
	file := filepath.Join(t.TempDir(), "host.json")
	if err := os.WriteFile(file, []byte("["+strings.TrimSuffix(events.String(), ",")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := importer.NewSource(dir, file)
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	runs, _ = importer.Detect(Formats, both)
	m := storetest.NewMemory()
	if err := importer.Join(runs).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Reader().Info().Report {
		if strings.Contains(e.What, "clock offsets of joined sources") && (strings.HasSuffix(e.Example, "-34560000s") || strings.HasSuffix(e.Example, "+34560000s")) && e.Count == 2 {
			return
		}
	}
	t.Errorf("no offset of 400 days: %v", m.Reader().Info().Report)
}

// Rows of another format with the same process and thread are below those of the first, aside; others are not.
func TestRowsAreJoinedByProcessAndThread(t *testing.T) {
	events := `[{"ph":"M","name":"process_name","pid":71,"args":{"name":"app"}},{"ph":"X","name":"work","ts":9000000,"dur":3000,"pid":71,"tid":72},` +
		`{"ph":"M","name":"thread_name","pid":71,"tid":72,"args":{"name":"worker"}}]`
	ftrace := "# tracer: nop\n" +
		"  app-72  (   71) [001] d..2  9.000000: sched_switch: prev_comm=swapper prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=72 next_prio=120\n" +
		"  app-72  (   71) [001] d..2  9.001000: sched_switch: prev_comm=app prev_pid=72 prev_prio=120 prev_state=S ==> next_comm=other next_pid=99 next_prio=120\n" +
		"  app-99  (   98) [001] d..2  9.002000: sched_switch: prev_comm=other prev_pid=99 prev_prio=120 prev_state=S ==> next_comm=app next_pid=72 next_prio=120\n" +
		"  app-73  (   71) [001] d..2  9.003000: print: hello\n"
	s, err := importer.NewSourceFS("", fstest.MapFS{"a.json": {Data: []byte(events)}, "b.ftrace": {Data: []byte(ftrace)}})
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := importer.Detect(Formats, s)
	m := storetest.NewMemory()
	if err := importer.Join(runs).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	tree := map[string]string{} // kind by path
	for i, name := range r.Locations().Name {
		where := name
		for p := r.Locations().Parent[i]; p != trace.NoLocation; p = r.Locations().Parent[p] {
			where = r.Locations().Name[p] + "/" + where
		}
		tree[where] = string(r.Locations().Kind[i])
	}
	for where, kind := range map[string]string{"a.json/app 71/worker": "thread", "a.json/app 71/worker/ftrace": "repeat", "a.json/app 71/app 73": "thread",
		"b.ftrace/process 98/other 99": "thread"} {
		if tree[where] != kind {
			t.Errorf("%s is %q, want %s; all: %v", where, tree[where], kind, tree)
		}
	}
	if r.Info().End != 3e6 {
		t.Errorf("the run ends at %d", r.Info().End)
	}
}

// Names that occur once in both tell an offset if at least three agree; two do not.
func TestNamesThatOccurOnceGiveTheOffset(t *testing.T) {
	build := func(base int64, names ...string) []byte {
		var b strings.Builder
		for i, name := range names {
			fmt.Fprintf(&b, `{"ph":"X","name":%q,"ts":%d,"dur":500,"pid":1,"tid":1},`, name, base+int64(i)*1000)
		}
		return []byte("[" + strings.TrimSuffix(b.String(), ",") + "]")
	}
	spans := strings.Replace(spansWithEvent("x"), `"events":`, `"attributes":[],"events":`, 1)
	for _, c := range []struct {
		names []string
		ok    bool
	}{{[]string{"get", "step 1", "step 2"}, true}, {[]string{"get"}, false}} {
		more := spans
		for i, name := range c.names[1:] {
			more = strings.Replace(more, `"spans":[`, fmt.Sprintf(`"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b1%02d","name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"},`,
				i, name, 1700000000000000000+(i+1)*1000000, 1700000000000000000+(i+1)*1000000+1000), 1)
		}
		s, err := importer.NewSourceFS("", fstest.MapFS{"spans.json": {Data: []byte(more)}, "events.json": {Data: build(9000000, c.names...)}})
		if err != nil {
			t.Fatal(err)
		}
		runs, _ := importer.Detect(Formats, s)
		err = importer.Join(runs).Import(t.Context(), storetest.NewMemory())
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.names, err)
		}
	}
}

// A Go trace counts from the start of its machine, and tells the time of day: spans of its program lie where they were.
func TestTheTimeOfDayGivesTheOffset(t *testing.T) {
	file := "../gotrace/testdata/tree.trace"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, alone, err := importAll(t, fstest.MapFS{"go.trace": {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	start, err := time.Parse(time.RFC3339Nano, alone.Info().Properties["start"])
	if err != nil {
		t.Fatal(err)
	}
	spans := strings.NewReplacer("1700000000000000000", fmt.Sprint(start.UnixNano()),
		"1700000000001000000", fmt.Sprint(start.UnixNano()),
		"1700000000005000000", fmt.Sprint(start.UnixNano()+1e6)).Replace(spansWithEvent("x"))
	s, err := importer.NewSourceFS("", fstest.MapFS{"go.trace": {Data: data}, "spans.json": {Data: []byte(spans)}})
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := importer.Detect(Formats, s)
	m := storetest.NewMemory()
	if err := importer.Join(runs).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	info := m.Reader().Info()
	if info.End > alone.Info().End+1e6 {
		t.Errorf("joined, the run takes %d ns; the trace alone %d", info.End, alone.Info().End)
	}
	if importertest.Report(info.Report)["guessed clock offsets of joined sources, found from the time of day that each of them tells"] != 1 {
		t.Errorf("report is %v", info.Report)
	}
}

// A region of a thread that a tool copies to its GPU, or that every rank enters, is still once in its thread: the
// kernel's marks of the same threads tell the offset. Ranks and rows are described at the end of a Chrome trace.
func TestRegionsThatOccurOnceInAThreadGiveTheOffset(t *testing.T) {
	var events, marks strings.Builder
	for i, name := range []string{"setup", "solve", "teardown"} {
		for _, pid := range []int{41, 42} {
			at := 9_000_000 + 1000*i + pid
			fmt.Fprintf(&events, `{"ph":"X","name":%q,"ts":%d,"dur":500,"pid":%d,"tid":%d},`, name, 1_700_000_000_000_000+at, pid, pid)
			fmt.Fprintf(&marks, "job-%d (%d) [000] ...1. %d.%06d: tracing_mark_write: B|%d|%s\njob-%d (%d) [000] ...1. %d.%06d: tracing_mark_write: E|%d\n",
				pid, pid, at/1e6, at%1e6, pid, name, pid, pid, (at+500)/1e6, (at+500)%1e6, pid)
		}
		fmt.Fprintf(&events, `{"ph":"X","name":%q,"cat":"gpu_user_annotation","ts":%d,"dur":300,"pid":0,"tid":7,"args":{"stream":7,"device":0}},`, name, 1_700_000_009_100_000+1000*i)
	}
	s, err := importer.NewSourceFS("", fstest.MapFS{
		"events.json":  {Data: []byte("[" + strings.TrimSuffix(events.String(), ",") + "]")},
		"kernel.trace": {Data: []byte("# tracer: nop\n#\n" + marks.String())},
	})
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := importer.Detect(Formats, s)
	m := storetest.NewMemory()
	if err := importer.Join(runs).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	info := m.Reader().Info()
	if importertest.Report(info.Report)["guessed clock offsets of joined sources, found from regions that occur once, under the same names, in both"] != 6 {
		t.Errorf("report is %v", info.Report)
	}
	if info.End > 150_000_000 {
		t.Errorf("the run ends at %d", info.End)
	}
}

// perf record -k tells a clock and the time of day at one moment.
func TestPerfDataTellsTheTimeOfDay(t *testing.T) {
	data, err := os.ReadFile("../perfscript/testdata/mono.perf.data")
	if err != nil {
		t.Fatal(err)
	}
	// Its header: the time of day 1795087239.376009 was 2175.074706345 of the clock.
	events := `[{"ph":"X","name":"sh","ts":1795087239376009,"dur":30000,"pid":1,"tid":1}]`
	s, err := importer.NewSourceFS("", fstest.MapFS{"events.json": {Data: []byte(events)}, "perf.data": {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := importer.Detect(Formats, s)
	m := storetest.NewMemory()
	if err := importer.Join(runs).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Reader().Info().Report {
		if strings.HasPrefix(e.What, "clock offsets") && e.Example == "perf.data: +1795085064.301302655s" {
			return
		}
	}
	t.Errorf("report is %v", m.Reader().Info().Report)
}
