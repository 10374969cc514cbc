package paraver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A body may rightly end after any line; so may the files of names.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "hybrid", Anywhere: true},
		{Path: "wrong.prv", Anywhere: true},
		{Path: "packed.prv.gz", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.prv", "testdata/hybrid", "testdata/wrong.prv")
}

// What is counted of the LULESH sample: records, state times, MPI values, messages.
func TestLULESHHoldsWhatIsKnownOfIt(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/paraver/lulesh-8ranks"))
	i := r.Info()
	const states, calls = 4280, 540 + 540 + 540 + 120 + 40 + 360
	got := fmt.Sprint(i.Intervals, i.Links, i.Ranks, i.Rows, i.End, i.Depth)
	if want := fmt.Sprint(states+calls, 484, 8, 8, 1616378951, 2); got != want {
		t.Errorf("intervals, links, ranks, rows, end, depth: %s, want %s", got, want)
	}
	count, time := byName(t, r)
	for name, want := range map[string]trace.Time{
		"Running": 11_795_065_899, "Group Communication": 810_761_118, "Wait/WaitAll": 317_688_449, "Immediate Send": 3_120_871,
		"Others": 2_327_870, "Immediate Receive": 2_022_204,
	} {
		if time[name] != want {
			t.Errorf("%s: %d ns, want %d", name, time[name], want)
		}
	}
	for name, want := range map[string]int{"MPI_Isend": 540, "MPI_Irecv": 540, "MPI_Wait": 540, "MPI_Waitall": 120, "MPI_Allreduce": 40, "MPI_Comm_rank": 360} {
		if count[name] != want {
			t.Errorf("%s: %d calls, want %d", name, count[name], want)
		}
	}
	var bytes int64
	pairs := map[[2]trace.LocationID]bool{}
	err := r.Links(context.Background(), store.Window{End: i.End}, func(c *store.LinkColumns) error {
		for k := range c.Size {
			bytes += c.Size[k]
			pairs[[2]trace.LocationID{c.FromLocation[k], c.ToLocation[k]}] = true
			if c.ToTime[k] < c.FromTime[k] {
				t.Errorf("a message arrives %d ns before it is sent", c.FromTime[k]-c.ToTime[k])
			}
		}
		return nil
	})
	if err != nil || bytes != 35_093_376 || len(pairs) != 56 {
		t.Errorf("%d bytes over %d pairs, %v; want 35093376 over 56", bytes, len(pairs), err)
	}
	if n := len(r.Communicators()); n != 9 {
		t.Errorf("%d communicators, want the 9 whose tasks there are", n)
	}
}

func byName(t *testing.T, r store.Reader) (count map[string]int, time map[string]trace.Time) {
	t.Helper()
	count, time = map[string]int{}, map[string]trace.Time{}
	regions := r.Regions()
	var mu sync.Mutex
	err := r.Intervals(context.Background(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Len() {
			count[regions[c.Region[i]].Name]++
			time[regions[c.Region[i]].Name] += c.Duration[i]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return count, time
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"#Paraver (21/01/2022 at 16:37):1616378951_ns:1(20):2:2(1:1,1:1),3(1:1,1:1,2:1),14", "1616378951 1 [20] [[{1 1} {1 1}] [{1 1} {1 1} {2 1}]] 14"},
		{"#Paraver (1/1/20 at 1:01):5:2(4,8):1:2(3:1,3:2),1", "5000 1000 [4 8] [[{3 1} {3 2}]] 1"},
		{"#Paraver (1/1/20 at 1:01):5_us:2(4,8):2:1(1:1):1(2:2)", "5000 1000 [4 8] [[{1 1}] [{2 2}]] 0"},
		{"#Paraver (1/1/20 at 1:01):7_ns:0:1:1(4:0)", "7 1 [] [[{4 0}]] 0"},
		{"#Paraver (1/1/20 at 1:01):7_ns:1(1):1:1(1:9)", "7 1 [1] [[{1 0}]] 0"}, // a node that is not there
		{"#Paraver (1/1/20", "the date does not end"},
		{"#Paraver (x):1_days:0:1:1(1:0)", "length"},
		{"#Paraver (x):-1:0:1:1(1:0)", "length"},
		{"#Paraver (x):1:2(4):1:1(1:0)", "names 2 nodes and lists 1"},
		{"#Paraver (x):1:0:1:2(1:0)", "2 tasks lists 1"},
		{"#Paraver (x):1:0:2:1(1:0)", "a number is missing"},
		{"#Paraver (x):1:0:1:1(1:0", "a number is missing"},
		{"#Paraver (x):1:0:1:1", "'(' is missing"},
		{"hello", "does not begin"},
	} {
		h, err := parseHeader(c.line)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(int64(h.length), int64(h.scale), h.cpus, h.applications, h.communicator)
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s\n gives %s\nwant %s", c.line, got, c.want)
		}
	}
}

// A header may promise more than there is: that must not be believed with memory.
func TestThreadsThatOnlyTheHeaderHasTakeNoMemory(t *testing.T) {
	w := count(t, "#Paraver (x):10_ns:0:1:1(999999999:0)\n1:0:1:1:888888888:0:10:1\n")
	if len(w.Locations) != 2 || w.Intervals != 1 {
		t.Errorf("%d locations, %d intervals", len(w.Locations), w.Intervals)
	}
	if w.Reported["skipped "+reasons[manyThreads].What] != 999999999 {
		t.Errorf("reported: %v", w.Reported)
	}
}

func TestLinesOfAnyLengthAreRead(t *testing.T) {
	var b strings.Builder
	b.WriteString("#Paraver (x):10_ns:0:1:1(1:0)\n2:0:1:1:1:5")
	for i := range 200_000 { // two megabytes of pairs
		fmt.Fprintf(&b, ":%d:%d", 100+i%3, i)
	}
	b.WriteString("\n1:0:1:1:1:0:10:1")
	w := count(t, b.String())
	if w.Samples != 200_000 || w.Intervals != 1 {
		t.Errorf("%d samples, %d intervals", w.Samples, w.Intervals)
	}
}

// count imports a text into a writer that counts.
func count(t testing.TB, text string) *importertest.Count {
	t.Helper()
	s, err := importer.NewSourceFS("test", fstest.MapFS{"x.prv": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	w := importertest.NewCount()
	for _, run := range importer.ClaimAs(Format, s) {
		if err := run.Import(context.Background(), w); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func TestEverySortOfEventHasItsMeaning(t *testing.T) {
	c := &converter{names: newNames(), types: map[int64]*eventType{}}
	c.names.events[9999] = &eventNames{"Phase", map[int64]string{0: "Not in a phase", 1: "one"}}
	c.names.events[9998] = &eventNames{"Mode", map[int64]string{1: "detailed", 2: "bursts"}}
	for id, want := range map[int64]meaning{
		50000001: region, 50000003: region, 60000001: region, 60000005: region, 60000019: stacked, 60000018: stacked, 60000023: stacked,
		42000050: counted, 12345: counted, 70000003: detail, 80000001: detail, 50100004: detail, 60000119: detail, 30000000: marked, 30000101: detail,
		9999: region, 9998: marked,
	} {
		if got := c.eventOf(id).meaning; got != want {
			t.Errorf("type %d means %d, want %d", id, got, want)
		}
	}
	for value, want := range map[int64]string{1: "MPI_Send", 10: "MPI_Allreduce", 31: "MPI_Init", 150: "MPI_File_write_at_all", 215: "MPI_Iexscan", 999: "event 50000002 999"} {
		if got := c.eventOf(50000002).nameOf(value); got != want {
			t.Errorf("MPI value %d is %s, want %s", value, got, want)
		}
	}
}

func BenchmarkBody(b *testing.B) {
	var text strings.Builder
	text.WriteString("#Paraver (x):100000000_ns:1(16):1:16(" + strings.TrimSuffix(strings.Repeat("1:1,", 16), ",") + ")\n")
	for i := range 200_000 {
		k, at := i%16+1, i*100
		fmt.Fprintf(&text, "1:%d:1:%d:1:%d:%d:1\n2:%d:1:%d:1:%d:50000001:3:42000050:%d:42000059:%d\n2:%d:1:%d:1:%d:50000001:0\n", k, k, at, at+1500, k, k, at, i, i*3, k, k, at+700)
	}
	s, err := importer.NewSourceFS("bench", fstest.MapFS{"x.prv": {Data: []byte(text.String())}})
	if err != nil {
		b.Fatal(err)
	}
	runs, err := importer.Detect([]*importer.Format{Format}, s)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := runs[0].Import(context.Background(), importertest.NewCount()); err != nil {
			b.Fatal(err)
		}
	}
}
