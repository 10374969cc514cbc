package vista

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// randomTree makes records of a tree, so many a millisecond. The clause of a record is
// its number, so that it is known again.
func randomTree(seed uint64, n, pes, each int) []Record {
	rnd := rand.New(rand.NewPCG(seed, 9))
	next := make([]int64, pes)
	var out []Record
	for i := range n {
		r := Record{Time: int64(i / each), Clause: int64(i + 1), PE: int64(rnd.IntN(pes))}
		next[r.PE]++
		r.Index = next[r.PE]
		if i > 0 {
			up := out[rnd.IntN(i)]
			r.PPE, r.PIndex = up.PE, up.Index
		}
		out = append(out, r)
	}
	return out
}

func write(t *testing.T, pes int, records []Record) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, pes)
	for _, r := range records {
		fmt.Fprintln(&b, r.Time, r.Clause, r.PE, r.Index, r.PPE, r.PIndex)
	}
	path := filepath.Join(t.TempDir(), "x.vista")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// callers gives, for each clause that has one, the clause of its caller.
func callers(t *testing.T, r store.Reader) map[int]int {
	t.Helper()
	clause := func(at store.Row) int {
		x, err := r.Interval(at)
		if x == nil || err != nil {
			t.Fatalf("no interval at %v", at)
		}
		return r.Regions()[x.Region[0]].Line
	}
	out := map[int]int{}
	err := r.Links(t.Context(), store.Window{End: r.Info().End}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			from := store.Row{Location: c.FromLocation[i], Lane: int(c.FromLane[i]), Row: int(c.FromRow[i])}
			to := store.Row{Location: c.ToLocation[i], Lane: int(c.ToLane[i]), Row: int(c.ToRow[i])}
			out[clause(to)] = clause(from)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// wantCallers is what records say, of those that are there.
func wantCallers(records []Record) map[int]int {
	byPlace, out := map[[2]int64]int{}, map[int]int{}
	for _, r := range records {
		byPlace[[2]int64{r.PE, r.Index}] = int(r.Clause)
	}
	for _, r := range records {
		if up, ok := byPlace[[2]int64{r.PPE, r.PIndex}]; ok {
			out[int(r.Clause)] = up
		}
	}
	return out
}

func TestCallersAreFoundByTheirPlaceInTheOrderOfRecords(t *testing.T) {
	for seed := range uint64(10) {
		records := randomTree(seed, 60, 1+int(seed%4), 20)
		got := callers(t, importertest.Import(t, Format, write(t, 4, records)))
		want := wantCallers(records)
		if fmt.Sprint(got) != fmt.Sprint(want) || len(want) != 59 {
			t.Errorf("seed %d: callers\n got %v\nwant %v", seed, got, want)
		}
	}
}

func TestALostRecordLosesOnlyItsOwnData(t *testing.T) {
	all := randomTree(3, 1000, 4, 7)
	lost := all[17]
	records := append(append([]Record(nil), all[:17]...), all[18:]...)
	children := 0
	for _, r := range all {
		if r.PPE == lost.PE && r.PIndex == lost.Index {
			children++
		}
	}
	r := importertest.Import(t, Format, write(t, 4, records))
	if n := r.Info().Intervals; n != 999 || children == 0 {
		t.Errorf("%d of 999 records are kept", n)
	}
	got, want := callers(t, r), wantCallers(records)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != 998-children {
		t.Errorf("%d callers, want %d", len(got), 998-children)
	}
	report := importertest.Report(r.Info().Report)
	if a, b := report["skipped procedures whose record is lost, as the indices of later ones tell"], report["guessed procedures whose caller's record is lost: taken for roots"]; a != 1 || b != int64(children) {
		t.Errorf("%d lost, %d without a caller; want 1, %d: %v", a, b, children, report)
	}
}

func TestACallerMayComeAfterThoseItCalled(t *testing.T) {
	records := []Record{{0, 1, 0, 1, 0, 0}, {1, 2, 1, 1, 2, 1}, {1, 3, 2, 1, 0, 1}, {1, 4, 1, 9_000_000_000, 2, 1}, {2, 5, 0, 2, 1, 9_000_000_000}}
	got := callers(t, importertest.Import(t, Format, write(t, 3, records)))
	if fmt.Sprint(got) != "map[2:3 3:1 4:3 5:4]" {
		t.Errorf("callers %v", got)
	}
}

// Of records of one millisecond each begins after the one before, on its PE and on any other.
func TestRecordsOfAMillisecondKeepTheirOrder(t *testing.T) {
	for seed := range uint64(6) {
		pes := 1 + int(seed%4)
		records := randomTree(seed, 200, pes, 20)
		r := importertest.Import(t, Format, write(t, pes, records))
		begin := make([]trace.Time, len(records))
		index := map[trace.LocationID]int64{}
		var mu sync.Mutex // locations are handed out side by side
		err := r.Intervals(t.Context(), store.Window{End: r.Info().End}, func(c *trace.Columns) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range c.Begin {
				record := r.Regions()[c.Region[i]].Line - 1
				begin[record] = c.Begin[i]
				index[c.Location]++
				if got, want := index[c.Location], records[record].Index; got != want || c.Lane > 0 || c.Parent[i] >= 0 {
					t.Errorf("seed %d: record %d is the %d-th of its PE, want the %d-th", seed, record+1, got, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, at := range begin {
			if i > 0 && at <= begin[i-1] || at/millisecond != trace.Time(records[i].Time) {
				t.Errorf("seed %d: record %d of millisecond %d begins at %d, the one before at %d", seed, i+1, records[i].Time, at, begin[max(i, 1)-1])
			}
		}
	}
}

// Named by its path alone, the trace still finds the names of its clauses beside it.
func TestClausesAreFoundBesideTheTrace(t *testing.T) {
	path := write(t, 1, []Record{{0, 7, 0, 1, 0, 0}})
	if err := os.WriteFile(strings.TrimSuffix(path, ".vista")+".clauses", []byte("7 append([], L, L).\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if g := importertest.Import(t, Format, path).Regions()[0]; g.Name != "append([], L, L)" || g.Line != 1 {
		t.Errorf("the clause is called %q", g.Name)
	}
}
