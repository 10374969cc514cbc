package hpctoolkit

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{{Path: "cpi-v4", Most: 12, Cuts: 80, ByName: true}, {Path: "ping-pong", Most: 12, Cuts: 80, ByName: true}, {Path: "cpi-xml", Most: 12, Cuts: 60, ByName: true, Anywhere: true}})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "meta.db", "testdata/cpi-v4/meta.db", "testdata/cpi-xml/experiment.xml")
}

// FuzzDatabase changes one file of a database whose others are sound: values, samples over time.
func FuzzDatabase(f *testing.F) {
	importertest.FuzzBeside(f, Format, "testdata/ping-pong", "profile.db", "trace.db", "meta.db")
}

// FuzzMetrics changes the values beside an experiment.xml.
func FuzzMetrics(f *testing.F) {
	importertest.FuzzBeside(f, Format, "testdata/cpi-xml", "1.cpi-000000-000-a8c00270-160443-0.metric-db", "experiment.xml")
}

// byNode sums inclusive and exclusive values by rank and region.
func byNode(t *testing.T, r store.Reader) (inclusive, exclusive map[string]float64) {
	t.Helper()
	inclusive, exclusive = map[string]float64{}, map[string]float64{}
	tree := r.Locations()
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			rank := trace.NoRank
			for at := p.Location; at != trace.NoLocation && rank == trace.NoRank; at = tree.Parent[at] {
				rank = int(tree.Rank[at])
			}
			key := fmt.Sprint(rank, " ", r.Regions()[r.CallPaths()[p.Path].Region].Name)
			inclusive[key] += p.Inclusive
			exclusive[key] += p.Exclusive
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return inclusive, exclusive
}

// calledAt is the line of a call, which Hatchet puts before some names.
var calledAt = regexp.MustCompile(`^\d+:`)

// Hatchet made a table of the same database: inclusive microseconds of every function on every rank. A name may
// stand for several contexts, so values are held by name and rank.
func TestValuesAreThoseOfHatchet(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "readers/hpctoolkit/cpi-xml"))
	inclusive, exclusive := byNode(t, r)
	f, err := os.Open(importertest.Shared(t, "readers/hpctoolkit/cpi-xml-graphframe.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range lines[0] {
		at[name] = i
	}
	want := map[string]float64{}
	for _, line := range lines[1:] {
		var inc float64
		fmt.Sscan(line[at["time (inc)"]], &inc)
		if line[at["type"]] == "PF" {
			key := line[at["rank"]] + " " + calledAt.ReplaceAllString(line[at["name"]], "")
			want[key] += inc * 1000
		}
	}
	for key, v := range want {
		if math.Abs(inclusive[key]-v) > 1 {
			t.Errorf("%s: inclusive %.0f, Hatchet has %.0f", key, inclusive[key], v)
		}
	}
	for rank := range 4 {
		sum := 0.0
		for key, v := range exclusive {
			if key[0] == byte('0'+rank) {
				sum += v
			}
		}
		if all := inclusive[fmt.Sprint(rank, " <program root>")]; math.Abs(sum-all) > 1 {
			t.Errorf("rank %d: what functions take for themselves is %.0f of %.0f", rank, sum, all)
		}
	}
	if len(want) < 40 {
		t.Errorf("only %d values were compared", len(want))
	}
}

// Counted by pipit's and hatchet's tests and by a walk over the files by hand.
func TestDatabasesHoldWhatIsKnownOfThem(t *testing.T) {
	for _, c := range []struct {
		set                string
		ranks, rows, aside int
		intervals          int64
		total              float64
	}{
		{"cpi-v4", 4, 245, 0, 0, 325975000},
		{"ping-pong", 2, 71, 2, 259, 262070000},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "readers/hpctoolkit/"+c.set))
		ranks, aside := map[int32]bool{}, 0
		tree := r.Locations()
		for i, n := range tree.Rank {
			if n >= 0 {
				ranks[int32(n)] = true
			}
			if tree.Kind[i].Aside() {
				aside++
			}
		}
		_, exclusive := byNode(t, r)
		total := 0.0
		for _, v := range exclusive {
			total += v
		}
		if len(ranks) != c.ranks || int(r.Info().Profile) != c.rows || aside != c.aside || r.Info().Intervals != c.intervals || math.Abs(total-c.total) > 1 {
			t.Errorf("%s: ranks %d, rows %d, rows of samples %d with %d intervals, total %.0f; want %+v", c.set, len(ranks), r.Info().Profile, aside, r.Info().Intervals, total, c)
		}
	}
}

// Entries that are too short to hold what is read of them are refused in words, whatever their stated length.
func TestEntriesThatAreTooShortAreRefused(t *testing.T) {
	for length := range 256 {
		files := fstest.MapFS{}
		for _, name := range []string{"meta.db", "profile.db", "trace.db"} {
			data, err := os.ReadFile("testdata/ping-pong/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if name != "meta.db" {
				data[u64(data, 0x18)+0x0c] = byte(length)
			}
			files[name] = &fstest.MapFile{Data: data}
		}
		s, err := importer.NewSourceFS("x", files)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := importer.Detect([]*importer.Format{Format}, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := runs[0].Import(t.Context(), importertest.NewCount()); length < 0x2c && err == nil {
			t.Errorf("entries of %d bytes are taken", length)
		}
	}
}

// Bytes that are missing from the values of threads shift all that follow: that is told, however few rows are left.
func TestValuesThatAreShiftedAreReported(t *testing.T) {
	for _, sample := range []string{"testdata/ping-pong", "testdata/cpi-v4"} {
		for _, where := range importertest.Silent(t, Format, sample, "profile.db", "removed", 150) {
			t.Error(sample, where)
		}
	}
}
