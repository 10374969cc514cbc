package paje

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The counts that are known of sample data: from the files that describe it, and
// from what pj_dump says.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for _, c := range []struct {
		path                                          string
		locations, rows, ranks                        int
		intervals, links, samples, instants, counters int64
		last                                          float64 // end of the last record or container, in the file's seconds
		depth                                         int
	}{
		{"paje-hpl128-g5k", 6453, 128, 128, 310511, 32727, 0, 0, 0, 8.52289, 1},
		{"paje-is128-g5k", 6453, 128, 128, 10618, 127, 0, 0, 0, 0.414356, 1},
		{"paje-pingpong4", 4, 4, 4, 2028, 1000, 0, 0, 0, 0.389848, 1},
		{"public/paje/starpu-native-sample", 13, 8, 0, 2439 + 220 + 659, 0, 880, 2, 2, 40.70449859, 2},
		{"public/paje/simgrid-cluster", 356, 101, 0, 13620, 405, 507, 0, 507, 1205, 3},
		{"public/paje/smpi-replay-extract", 1, 1, 1, 10, 0, 0, 0, 0, 29.538086, 1},
		{"public/paje/record-kinds-small/containers.trace", 10, 0, 0, 0, 0, 0, 0, 0, 1.34, 0},
		{"public/paje/record-kinds-small/states.trace", 1, 1, 0, 3, 0, 0, 0, 0, 1.34, 2},
		{"public/paje/record-kinds-small/events.trace", 1, 0, 0, 0, 0, 0, 2, 0, 2.88, 0},
		{"public/paje/record-kinds-small/links.trace", 3, 0, 0, 0, 2, 0, 0, 0, 2.1, 0},
		{"public/paje/record-kinds-small/variables.trace", 1, 0, 0, 0, 0, 3, 0, 1, 1.34, 0},
		{"public/paje/record-kinds-small/gattaca.trace", 3, 1, 1, 8, 0, 0, 0, 0, 0.000018741, 2},
	} {
		t.Run(c.path, func(t *testing.T) {
			skipLarge(t, c.path)
			r := importertest.Import(t, Format, importertest.Shared(t, c.path))
			i := r.Info()
			got := fmt.Sprint(r.Locations().Len(), i.Rows, i.Ranks, i.Intervals, i.Links, i.Samples, i.Instants, len(r.Counters()), i.Depth)
			want := fmt.Sprint(c.locations, c.rows, c.ranks, c.intervals, c.links, c.samples, c.instants, c.counters, c.depth)
			if got != want {
				t.Errorf("locations, rows, ranks, intervals, links, samples, instants, counters, depth:\n got %s\nwant %s", got, want)
			}
			if last := float64(i.Origin+i.End) / 1e9; math.Abs(last-c.last) > 1e-5*c.last {
				t.Errorf("it ends at %g s, want %g", last, c.last)
			}
		})
	}
}

// golden.txt lists value, count and summed duration of the states.
func TestStatesAddUpToTheGoldenListing(t *testing.T) {
	for _, path := range []string{"paje-hpl128-g5k", "paje-pingpong4"} {
		t.Run(path, func(t *testing.T) {
			skipLarge(t, path)
			dir := importertest.Shared(t, path)
			calls, time := statesByName(t, importertest.Import(t, Format, dir))
			f, err := os.Open(filepath.Join(dir, "golden.txt"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			found := 0
			for s := bufio.NewScanner(f); s.Scan(); {
				words := strings.Fields(s.Text())
				if !strings.HasPrefix(s.Text(), "  ") || len(words) != 3 {
					continue
				}
				n, err := strconv.ParseInt(words[1], 10, 64)
				sum, err2 := strconv.ParseFloat(words[2], 64)
				if err != nil || err2 != nil {
					t.Fatalf("not understood: %q", s.Text())
				}
				found++
				if calls[words[0]] != n || math.Abs(float64(time[words[0]])/1e9-sum) > 0.0005001 {
					t.Errorf("%s: %d states, %.4f s; want %d, %.3f", words[0], calls[words[0]], float64(time[words[0]])/1e9, n, sum)
				}
			}
			if found != len(calls) || found < 5 {
				t.Errorf("%d names in the listing, %d in the trace", found, len(calls))
			}
		})
	}
}

// skipLarge leaves the largest sample out of short runs, such as those under the race
// detector.
func skipLarge(t *testing.T, path string) {
	if testing.Short() && strings.Contains(path, "hpl128") {
		t.Skip("large")
	}
}

func statesByName(t *testing.T, r store.Reader) (calls map[string]int64, time map[string]trace.Time) {
	t.Helper()
	calls, time = map[string]int64{}, map[string]trace.Time{}
	regions := r.Regions()
	for row := range rows(t, r) {
		name := regions[row.region].Name
		calls[name]++
		time[name] += row.end - row.begin
	}
	return calls, time
}

// What pj_dump refuses must be read and reported.
func TestLinksBetweenOtherTypesThanDeclaredAreKeptAndCounted(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "paje-is128-g5k"))
	report := importertest.Report(r.Info().Report)
	if n := report["guessed "+reasons[foreignLink].What]; n != 2*127 {
		t.Errorf("%d ends counted, want 254: %v", n, report)
	}
}

func TestTypesAreKnownByAliasNotByName(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "paje-is128-g5k"))
	tree := r.Locations()
	kinds := map[trace.Kind]int{}
	for id := range tree.Len() {
		kinds[tree.Kind[id]]++
	}
	want := map[trace.Kind]int{"machine": 1528, "l1": 10, "l2": 34, "l3": 21, "link": 4670, "process": 128, "router": 62}
	for k, n := range want {
		if kinds[k] != n {
			t.Errorf("%d locations of kind %q, want %d", kinds[k], k, n)
		}
	}
	for id := range tree.Len() {
		if tree.Kind[id] == "process" && tree.Kind[tree.Parent[id]] != trace.KindMachine {
			t.Fatalf("%s is not on a host", tree.Name[id])
		}
	}
}
