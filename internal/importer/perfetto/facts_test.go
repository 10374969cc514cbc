package perfetto

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The slices of four ranks by category, counted apart from this reader. Hatchet's
// tests have the same numbers for category host: 2 × 281 nodes of begins and ends
// in rank 0, and 8 × 860 where all four are read four times.
func TestEverySliceOfTheSampleIsKept(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/perfetto/omnitrace-mpi-4ranks"))
	whole := store.Window{End: r.Info().End}
	for id := range r.Locations().Len() { // by name, so that samples are there
		whole.Locations = append(whole.Locations, trace.LocationID(id))
	}
	table, err := r.Time(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int64{}
	host := map[int]int64{}
	tree := r.Locations()
	for k, at := range table.Locations {
		for i := table.Offsets[k]; i < table.Offsets[k+1]; i++ {
			category := r.Regions()[table.Region[i]].Category
			calls[category] += table.Calls[i]
			if category == "host" {
				host[int(tree.Rank[at])] += table.Calls[i]
			}
		}
	}
	if d := cmp.Diff(map[string]int64{"timer_sampling": 1172, "mpi": 1100, "host": 860, "overflow_sampling": 545, "pthread": 12}, calls); d != "" {
		t.Errorf("slices by category (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[int]int64{0: 281, 1: 185, 2: 169, 3: 225}, host); d != "" {
		t.Errorf("slices of category host by rank (-want +got):\n%s", d)
	}
	report := importertest.Report(r.Info().Report)
	delete(report, "guessed ranks taken from the names of files")
	delete(report, "skipped bytes of padding between packets")
	if i := r.Info(); i.Samples != 6062 || len(report) > 0 {
		t.Errorf("%d samples, want 6062; reported %v", i.Samples, report)
	}
	// All ranks leave their last barrier together: the clocks are on one axis.
	if end := r.Info().End; end < 8e8 || end > 1e9 {
		t.Errorf("lasts %d ns, want 0.9 s", end)
	}
}

// slicesOf are the intervals of a sample by name, with begin and duration as the
// trace has them.
func slicesOf(t *testing.T, r store.Reader) (out []string) {
	t.Helper()
	origin := r.Info().Origin
	var mu sync.Mutex
	err := r.Intervals(t.Context(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Begin {
			out = append(out, fmt.Sprintf("%d +%d %s", c.Begin[i]+origin, c.Duration[i], r.Regions()[c.Region[i]].Name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// What Perfetto's own tests expect of their samples: trace_processor's tables.
func TestFlowsAreThoseThatTheReferenceFinds(t *testing.T) {
	line := regexp.MustCompile(`(?m)^link .* from=(\w+)@\d+ to=(\w+)@\d+`)
	for sample, want := range map[string][]string{
		"flow_proto_v2": {"FlowBeginSlice FlowEndSlice_1", "FlowBeginSlice FlowStepSlice", "FlowStepSlice FlowEndSlice_2"},
		// Two flows end at instants here, which are no intervals: these links are not tied to a name.
		"flow_track": {"FlowSlice1Start FlowSlice1End", "FlowSlice1Start2Start FlowSlice1End", "FlowSlice1Start2Start FlowSlice2End",
			"FlowSlice4Step2_FlowIdOnAsyncEndEvent FlowSlice4Step2_FlowIdOnEndEvent"},
	} {
		r := importertest.Import(t, Format, "testdata/"+sample+".pftrace")
		var got []string
		for _, m := range line.FindAllStringSubmatch(tracetest.Dump(r), -1) {
			got = append(got, m[1]+" "+m[2])
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no link %s in %v", sample, w, got)
			}
		}
	}
	if n := importertest.Import(t, Format, "testdata/flow_track.pftrace").Info().Links; n != 8 {
		t.Errorf("%d links, the reference finds 8", n)
	}
}

func TestSlicesAndCountersAreThoseThatTheReferenceFinds(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/counters.pftrace")
	want := []string{"1000 +100 event1_on_t1", "2000 +200 event2_on_t1", "2000 +200 event3_on_t1", "4000 +100 event1_on_t3"}
	if d := cmp.Diff(want, slicesOf(t, r)); d != "" {
		t.Errorf("slices (-want +got):\n%s", d)
	}
	if n := r.Info().Samples; n != 18 {
		t.Errorf("%d values of counters, the reference finds 18", n)
	}
	r = importertest.Import(t, Format, "testdata/legacy_async.pftrace")
	if d := cmp.Diff([]string{"1000 +7000 name1", "2000 +1000 name1"}, slicesOf(t, r)); d != "" {
		t.Errorf("slices of the older form (-want +got):\n%s", d)
	}
}

// Two intervals of equal begin and end nest as they were begun.
func TestEqualIntervalsNestInTheOrderOfTheirBegins(t *testing.T) {
	dump := tracetest.Dump(importertest.Import(t, Format, "testdata/counters.pftrace"))
	if !strings.Contains(dump, "1000..1200 event2_on_t1\n      1000..1200 event3_on_t1") {
		t.Error(dump)
	}
}

func TestPackedPacketsGiveTheSame(t *testing.T) {
	whole := importertest.Import(t, Format, "testdata/packed.pftrace").Info()
	plain := importertest.Import(t, Format, "testdata/rocm.pftrace").Info()
	if whole.Intervals != plain.Intervals || whole.Links != plain.Links {
		t.Errorf("packed %d intervals and %d links, plain %d and %d", whole.Intervals, whole.Links, plain.Intervals, plain.Links)
	}
}

// What is wrong with a file, and what is said of it. Each begins with fifty sound
// packets, which are enough to be known by, and what follows a marker is found again.
func TestDamageIsReportedAndTheRestIsRead(t *testing.T) {
	sound := encode(t, `packet { trusted_packet_sequence_id: 1 timestamp: 10 track_event { track_uuid: 0 type: 3 name: "here" } }`)
	mark := field(nil, 1, field(nil, 36, marker))
	for name, c := range map[string]struct {
		after    []byte
		instants int64
		report   string
	}{
		"nothing after":             {nil, 1, ""},
		"zeros":                     {append(make([]byte, 9), sound...), 2, "skipped bytes of padding between packets"},
		"a zero written in two":     {append(append([]byte{0x80, 0x00}, mark...), sound...), 2, "skipped stretches between packets that are no packets"},
		"bytes without a marker":    {[]byte{0xff, 0xff, 0x03, 0x80}, 1, "skipped stretches between packets that are no packets"},
		"bytes before a marker":     {append(append([]byte{0x07, 0x13, 0x80}, mark...), sound...), 2, "skipped stretches between packets that are no packets"},
		"a packet cut":              {sound[:len(sound)-3], 1, "skipped files that end within a packet, read up to there"},
		"a length that is too long": {[]byte{0x0a, 0xff, 0xff, 0xff, 0x07, 0x00}, 1, "skipped files that end within a packet, read up to there"},
		"a packet of nonsense":      {append([]byte{0x0a, 2, 0xff, 0xff}, sound...), 2, "skipped packets that cannot be decoded"},
		"a field that is no packet": {append(field(nil, 7, "x"), sound...), 2, "skipped fields of a file that are no packets"},
		"a broken bundle":           {append(field(nil, 1, field(nil, packetCompressed, "\x78\x9cno")), sound...), 2, "skipped bundles of compressed packets that are damaged, read up to there"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.pftrace")
			if err := os.WriteFile(file, append(bytes.Repeat(sound, 50), c.after...), 0o644); err != nil {
				t.Fatal(err)
			}
			r := importertest.Import(t, Format, file)
			report := importertest.Report(r.Info().Report)
			if c.instants += 49; r.Info().Instants != c.instants || c.report != "" && report[c.report] == 0 || c.report == "" && len(report) > 0 {
				t.Errorf("%d instants, want %d; reported %v, want %q", r.Info().Instants, c.instants, report, c.report)
			}
		})
	}
}
