package callgrind

import (
	"bufio"
	"context"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "callgrind.out.gz", Most: 10, Cuts: 20},
		{Path: "xdebug.out"},
		{Path: "two-threads"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.out", "testdata/xdebug.out", "testdata/two-threads/callgrind.out.77-01")
}

// rows lists the rows of a profile by a name: flat ones by their function, others by their path.
func rows(t *testing.T, r store.Reader, metric string) (flat, paths map[string]trace.ProfileRow) {
	t.Helper()
	flat, paths = map[string]trace.ProfileRow{}, map[string]trace.ProfileRow{}
	err := r.Profile(context.Background(), nil, func(list []trace.ProfileRow) error {
		for _, p := range list {
			if r.Metrics()[p.Metric].Name != metric {
				continue
			}
			name := ""
			for id := p.Path; id != trace.NoCallPath; id = r.CallPaths()[id].Parent {
				name = "/" + r.Regions()[r.CallPaths()[id].Region].Name + name
			}
			to := paths
			if r.CallPaths()[p.Path].Flat {
				to = flat
			}
			old := to[name[1:]]
			p.Exclusive += old.Exclusive
			p.Inclusive += old.Inclusive
			p.Calls += old.Calls
			to[name[1:]] = p
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return flat, paths
}

// callgrind_annotate prints the cost of each function by file; by function the sums must be the same, for all of them.
func TestExclusiveCostsAreThoseOfTheToolItself(t *testing.T) {
	f, err := os.Open("testdata/annotate.golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := regexp.MustCompile(`^\s*([\d,]+) \([ \d.]+%\)\s+\S*?[^:]*:(.+?)(?: \[[^\]]*\])?$`)
	want := map[string]float64{}
	for scan := bufio.NewScanner(f); scan.Scan(); {
		m := line.FindStringSubmatch(scan.Text())
		if m == nil {
			t.Fatalf("not understood: %s", scan.Text())
		}
		n, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		want[m[2]] += n
	}
	flat, _ := rows(t, importertest.Import(t, Format, "testdata/callgrind.out.gz"), "Ir")
	if len(want) < 200 {
		t.Fatalf("only %d functions", len(want))
	}
	sum := 0.0
	for name, n := range want {
		if flat[name].Exclusive != n {
			t.Errorf("%s: %v, want %v", name, flat[name].Exclusive, n)
		}
		sum += n
	}
	if sum != 181262 {
		t.Errorf("the tool's functions add up to %v, its total is 181,262", sum)
	}
}

// The program tells what must come out: fib(9) calls itself 108 times; leaf runs for left and, since the compiler adds it to itself, once for right.
func TestFunctionsAndPaths(t *testing.T) {
	flat, paths := rows(t, importertest.Import(t, Format, "testdata/callgrind.out.gz"), "Ir")
	for name, calls := range map[string]float64{"fib": 1, "fib'2": 108, "leaf": 2, "left": 1, "right": 1, "by_value": 1294, "even'2": 5} {
		if got := flat[name].Calls; got != calls {
			t.Errorf("%s is called %v times, want %v", name, got, calls)
		}
	}
	// What a function called itself through is in its cost once.
	if f, g := flat["fib"], flat["fib'2"]; g.Inclusive != g.Exclusive || f.Inclusive != f.Exclusive+g.Exclusive || f.Inclusive != 1577 {
		t.Errorf("fib %+v, fib'2 %+v", f, g)
	}
	sum, roots := 0.0, 0.0
	for name, p := range paths {
		sum += p.Exclusive
		if !strings.Contains(name, "/") {
			roots += p.Inclusive
		}
	}
	if math.Abs(sum-181262) > 1e-6*sum || math.Abs(roots-181262) > 1e-6*sum {
		t.Errorf("paths add up to %v, roots to %v; the total is 181,262", sum, roots)
	}
	for name, p := range paths {
		if (strings.HasSuffix(name, "/main/left/leaf") || strings.HasSuffix(name, "/main/right/leaf")) && p.Calls != 1 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// Costs by instruction, jumps and many events: the file's own totals are what comes out, event by event.
func TestTotalsOfOtherForms(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		"instr.out.gz":      {"Ir": 181262, "Dr": 40948, "Dw": 18882, "I1mr": 1271, "D1mr": 991, "D1mw": 621, "ILmr": 1251, "DLmr": 768, "DLmw": 589},
		"cachegrind.out.gz": {"Ir": 182438, "I1mr": 1287, "ILmr": 1267, "Dr": 42634, "D1mr": 1222, "DLmr": 999, "Dw": 17213, "D1mw": 390, "DLmw": 358},
	} {
		r := importertest.Import(t, Format, "testdata/"+file)
		for metric, total := range want {
			flat, _ := rows(t, r, metric)
			sum := 0.0
			for _, p := range flat {
				sum += p.Exclusive
			}
			if sum != total {
				t.Errorf("%s: %s is %v, want %v", file, metric, sum, total)
			}
		}
		for what := range importertest.Report(r.Info().Report) {
			if strings.Contains(what, "no sense") || strings.Contains(what, "totals") {
				t.Errorf("%s: %s", file, what)
			}
		}
	}
}
