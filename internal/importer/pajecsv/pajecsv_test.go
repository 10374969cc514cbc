package pajecsv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Any of the files may rightly end after any line.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "dump.csv", Anywhere: true},
		{Path: "tables", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.csv", "testdata/dump.csv", "testdata/tables")
}

// PUBLIC: 5,681 worker states of which 280 dgemm, 1,603 variable intervals, 35 MPI
// messages (20 from 0 to 1), 1,227 task records, 1,779 edges in the task graph.
func TestTheStarPUSampleHoldsWhatIsKnownOfIt(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/paje-csv/starpu-lu-2ranks"))
	i := r.Info()
	const messages, direct, through = 35, 382, 158
	got := fmt.Sprint(i.Intervals, i.Samples, i.Instants, i.Links, i.Ranks)
	want := fmt.Sprint(5681+627+105+2170, 1603, 2177, messages+direct+through, 2)
	if got != want {
		t.Errorf("intervals, samples, instants, links, ranks: %s, want %s", got, want)
	}
	report := importertest.Report(i.Report)
	if n := report["guessed "+reasons[passedThrough].What]; n != through {
		t.Errorf("%d links through tasks without a state, want %d: %v", n, through, report)
	}
	if n := report["skipped "+reasons[orphanTasks].What]; n == 0 || n > 1227-268 {
		t.Errorf("%d tasks without a state", n)
	}
	tree := r.Locations()
	for id := range tree.Len() {
		if tree.Name[id] == "1_CPU13" && (tree.Rank[id] != 1 || tree.Path(trace.LocationID(id)) != "root/1_program/1_MEMNODE0/1_T26/1_CPU13") {
			t.Errorf("1_CPU13 is %s of rank %d", tree.Path(trace.LocationID(id)), tree.Rank[id])
		}
	}
	gemm := 0
	for _, g := range r.Regions() {
		if g.Name == "dgemm" && g.Category == "Worker State" {
			gemm++
		}
	}
	if gemm != 1 {
		t.Errorf("%d regions dgemm of the workers", gemm)
	}
}

// StarPU tells a task as the state of its worker and once more as that of a scheduling
// context; it runs once, whichever table comes first.
func TestTasksOfASchedulingContextAreNotCountedTwice(t *testing.T) {
	dir := t.TempDir()
	const header = "Nature, ResourceId, Type, Start, End, Duration, Depth, Value, JobId\n"
	for name, text := range map[string]string{
		"paje.other_state.csv":  header + "State, CPU0, InCtx1, 1.0, 3.5, 2.5, 0.0, gemm, 7\nState, CPU0, InCtx1, 4.0, 5.5, 1.5, 0.0, gemm, 8\n",
		"paje.worker_state.csv": header + "State, CPU0, Worker State, 1.0, 3.0, 2.0, 0.0, gemm, 7\nState, CPU0, Worker State, 4.0, 5.0, 1.0, 0.0, gemm, 8\n",
		"entities.csv":          "Parent, Name, Type, Nature\n0, CPU0, Worker, Container\n",
		"dag.csv":               "JobId, Dependent\n8, 7\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := importertest.Import(t, Format, dir)
	table, err := r.Time(t.Context(), store.Window{End: r.Info().End})
	if err != nil {
		t.Fatal(err)
	}
	calls, time := int64(0), trace.Time(0)
	for i := range table.Region {
		calls += table.Calls[i]
		time += table.Exclusive[i]
	}
	if calls != 2 || time != 3e6 {
		t.Errorf("%d calls take %d ns, want 2 and 3 ms", calls, time)
	}
	tree := r.Locations()
	err = r.Links(t.Context(), store.Window{End: r.Info().End}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			if tree.IsAside(c.FromLocation[i]) || tree.IsAside(c.ToLocation[i]) || c.ToTime[i]-c.FromTime[i] != 1e6 {
				t.Errorf("link from %s at %d to %s at %d", tree.Path(c.FromLocation[i]), c.FromTime[i], tree.Path(c.ToLocation[i]), c.ToTime[i])
			}
		}
		return nil
	})
	if err != nil || r.Info().Links != 1 {
		t.Errorf("%d links, %v", r.Info().Links, err)
	}
}

// What pj_dump prints of a trace holds what the trace holds.
func TestDumpsOfRealTraces(t *testing.T) {
	tool, err := exec.LookPath("pj_dump")
	if err != nil {
		t.Skip("pj_dump (PajeNG) is not installed")
	}
	for _, c := range []struct {
		path string
		want []int64 // intervals, links, samples, instants, depth, locations
	}{
		{"paje-pingpong4/pingpong4.trace", []int64{2028, 1000, 0, 0, 1, 4}},
		{"public/paje/simgrid-cluster/simu-mardi.trace", []int64{13620, 405, 507, 0, 3, 356}},
		{"public/paje/starpu-native-sample/native_sample.trace", []int64{3318, 0, 880, 2, 2, 13}},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			out, err := exec.Command(tool, "-l", "9", importertest.Shared(t, c.path)).Output()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "dump")
			if err := os.WriteFile(file, out, 0o666); err != nil {
				t.Fatal(err)
			}
			r := importertest.Import(t, Format, file)
			i := r.Info()
			got := []int64{i.Intervals, i.Links, i.Samples, i.Instants, int64(i.Depth), int64(r.Locations().Len())}
			if !slices.Equal(got, c.want) {
				t.Errorf("intervals, links, samples, instants, depth, locations: %v, want %v", got, c.want)
			}
		})
	}
}

func TestLinesAreCutAtCommas(t *testing.T) {
	for line, want := range map[string]string{
		"":                    "",
		"a":                   "a",
		"a, b,c ,\td":         "a|b|c|d",
		"a,,b,":               "a||b|",
		`"a, b", c`:           "a, b|c",
		`"he said ""so""",x`:  `he said "so"|x`,
		`"no end, of it`:      "no end, of it",
		`"a"junk,b`:           "a|b",
		`x, "y" , "z, ""w"" `: `x|y|z, "w" `,
	} {
		if got := strings.Join(split(line, nil), "|"); got != want {
			t.Errorf("%q is cut into %q, want %q", line, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		text     string
		decimals int
		want     trace.Time
	}{
		{"0", 9, 0}, {"1.34", 9, 1340000000}, {"0.000001", 6, 1}, {"0.0000015", 6, 2}, {"-2.5", 9, -2500000000}, {"1e-06", 9, 1000}, {"8.52289", 9, 8522890000},
		{"", 9, -1}, {".", 9, -1}, {"x", 9, -1}, {"nan", 9, -1}, {"1.-5", 9, -1}, {"99999999999999", 9, -1}, {"1.5.2", 9, -1},
	} {
		got, ok := parseTime(c.text, c.decimals)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%q is %d, want %d", c.text, got, c.want)
		}
	}
}
