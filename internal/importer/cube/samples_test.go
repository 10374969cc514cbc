package cube

import (
	"context"
	"encoding/csv"
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

// A table is what a reader gives: metric × call node in preorder × location in order.
type table struct {
	r     store.Reader
	order map[trace.CallPathID]int // preorder of the call tree
	rows  map[cell]trace.ProfileRow
}

type cell struct {
	metric         string
	node, location int
}

func tableOf(t testing.TB, r store.Reader) *table {
	t.Helper()
	x := &table{r, map[trace.CallPathID]int{}, map[cell]trace.ProfileRow{}}
	children := map[trace.CallPathID][]trace.CallPathID{}
	for i, p := range r.CallPaths() {
		children[p.Parent] = append(children[p.Parent], trace.CallPathID(i))
	}
	var walk func(trace.CallPathID)
	walk = func(id trace.CallPathID) {
		for _, k := range children[id] {
			x.order[k] = len(x.order)
			walk(k)
		}
	}
	walk(trace.NoCallPath)
	columns := map[trace.LocationID]int{}
	for id := range r.Locations().Len() {
		if r.Locations().IsLeaf(trace.LocationID(id)) {
			columns[trace.LocationID(id)] = len(columns)
		}
	}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			x.rows[cell{r.Metrics()[p.Metric].Name, x.order[p.Path], columns[p.Location]}] = p
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *table) scale(metric string) float64 {
	for _, m := range x.r.Metrics() {
		if m.Name == metric && m.Unit == "ns" {
			return 1e9
		}
	}
	return 1
}

// sum over all locations.
func (x *table) sum(metric string, node int) (exclusive, inclusive float64) {
	for c, r := range x.rows {
		if c.metric == metric && c.node == node {
			exclusive += r.Exclusive
			inclusive += r.Inclusive
		}
	}
	s := x.scale(metric)
	return exclusive / s, inclusive / s
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// The dumps hold every value of the profile, floating point ones with six to twelve digits.
func TestEveryValueOfTheDumpIsRead(t *testing.T) {
	dir := importertest.Shared(t, "public/cubex/blast-64ranks")
	x := tableOf(t, importertest.Import(t, Format, filepath.Join(dir, "profile.cubex")))
	for _, name := range []string{"excl.csv", "incl.csv"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		checked, wrong := 0, 0
		for _, line := range lines[1:] {
			node, _ := strconv.Atoi(line[0])
			location, _ := strconv.Atoi(line[1])
			for k, text := range line[2:] {
				metric := strings.TrimSpace(lines[0][k+2])
				want, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				row := x.rows[cell{metric, node, location}]
				got := row.Exclusive
				if name == "incl.csv" {
					got = row.Inclusive
				}
				got /= x.scale(metric)
				// What the dump prints of a small difference of large numbers has only its own digits.
				digits := 5e-6 * math.Abs(want)
				if x.scale(metric) == 1 && want < 1e6 {
					digits = 0
				}
				if checked++; math.Abs(got-want) > digits {
					if wrong++; wrong < 6 {
						t.Errorf("%s: %s of call node %d at %d is %v, want %v", name, metric, node, location, got, want)
					}
				}
			}
		}
		if wrong > 0 || checked != 2048*15 {
			t.Errorf("%s: %d of %d values are wrong", name, wrong, checked)
		}
	}
}

func TestBlastHasTheAssertedTotals(t *testing.T) {
	x := tableOf(t, importertest.Import(t, Format, importertest.Shared(t, "public/cubex/blast-64ranks/profile.cubex")))
	exclusive, inclusive := x.sum("time", 0)
	n27, _ := x.sum("time", 27)
	n20, _ := x.sum("time", 20)
	for _, c := range []struct{ got, want float64 }{
		{inclusive, 2869.1061315206257}, {exclusive, 62.34447098062492}, {n27, 1115.03969127125}, {n20, 913.5156949831248},
	} {
		if !near(c.got, c.want) {
			t.Errorf("time %v s, want %v", c.got, c.want)
		}
	}
	visits := 0.0
	for n := range x.order {
		v, _ := x.sum("visits", x.order[n])
		visits += v
	}
	if visits != 6_278_914 || len(x.order) != 32 || len(x.r.Metrics()) != 15 {
		t.Errorf("%v visits, %d call nodes, %d metrics", visits, len(x.order), len(x.r.Metrics()))
	}
}

func TestKripkeHasTheAssertedVisits(t *testing.T) {
	x := tableOf(t, importertest.Import(t, Format, "testdata/kripke.cubex"))
	want := []float64{8, 8, 33, 16, 8, 8000, 8000, 8000, 8000, 96000, 169025, 96000, 8000, 8}
	for n, v := range want {
		if got, _ := x.sum("visits", n); got != v {
			t.Errorf("call node %d has %v visits, want %v", n, got, v)
		}
	}
	_, visits := x.sum("visits", 0)
	_, time := x.sum("time", 0)
	n5, _ := x.sum("time", 5)
	n6, _ := x.sum("time", 6)
	if visits != 401_106 || !near(time, 148.63150991125) || !near(n5, 59.994445453124996) || !near(n6, 59.901360724375) {
		t.Errorf("inclusive visits %v and time %v of the root, exclusive times %v and %v", visits, time, n5, n6)
	}
	if report := importertest.Report(x.r.Info().Report); len(report) != 0 {
		t.Errorf("metrics without files are no fault: %v", report)
	}
}

// Converting a counter to exclusive values goes below zero in this run.
func TestCountersBelowZeroAreKeptAndCounted(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/cubex/hwcounters-128ranks"))
	report := importertest.Report(r.Info().Report)
	if n := report["guessed exclusive values below zero: the children have more than their parent"]; n != 36 {
		t.Errorf("%d values below zero, want the 36 of PAPI_L3_DCA; report %v", n, report)
	}
	top := r.Topologies()
	if len(top) != 1 || top[0].Name != "Process x Thread" || len(top[0].Coordinates) != 128 || top[0].Dims[0] != 128 || top[0].Dims[1] != 1 || top[0].Periodic[0] {
		t.Errorf("topologies %+v", top)
	}
	if len(r.CallPaths()) != 280 || len(r.Metrics()) != 13 || r.Info().Ranks != 128 {
		t.Errorf("%d call paths, %d metrics, %d ranks", len(r.CallPaths()), len(r.Metrics()), r.Info().Ranks)
	}
	x := tableOf(t, r)
	at := r.Locations().Rank[top[0].Coordinates[77].Location]
	if at != 77 || top[0].Coordinates[77].At[0] != 77 {
		t.Errorf("coordinate 77 is at rank %d", at)
	}
	if e, _ := x.sum("time", 0); e <= 0 {
		t.Errorf("the root has %v s of its own", e)
	}
}

func TestVisitsOfTheTracedRun(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/otf2/sst-macro-mpi-coverage-10ranks/profile.cubex"))
	visits := map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			if r.Metrics()[x.Metric].Default {
				visits[r.Regions()[r.CallPaths()[x.Path].Region].Name] += x.Calls
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"MPI_Isend": 1440, "MPI_Irecv": 1440, "MPI_Wait": 1080, "MPI_Waitall": 480, "MPI_Comm_rank": 110, "MPI_Comm_size": 100,
		"MPI_Gather": 30, "MPI_Bcast": 30, "MPI_Init": 10, "MPI_Finalize": 10, "MPI_Iallreduce": 360}
	for name, n := range want {
		if visits[name] != n {
			t.Errorf("%s: %v visits, want %v", name, visits[name], n)
		}
	}
	if len(visits) != 21 {
		t.Errorf("%d regions, want 21", len(visits))
	}
}
