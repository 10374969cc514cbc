package pprof

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The samples may end after any record: a cut cannot be told from the end.
func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "gobench.cpu", Anywhere: true},
		{Path: "java.contention", Anywhere: true},
		{Path: "labels.pb.gz", Anywhere: true},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.pprof", "testdata/gobench.cpu", "testdata/java.contention", "testdata/labels.pb.gz")
}

// sums adds up what lies on paths of one region, and on all roots, by metric.
func sums(t *testing.T, r store.Reader, region string) (total, inclusive, exclusive map[string]float64) {
	t.Helper()
	total, inclusive, exclusive = map[string]float64{}, map[string]float64{}, map[string]float64{}
	paths, regions, metrics := r.CallPaths(), r.Regions(), r.Metrics()
	err := r.Profile(t.Context(), nil, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			p, m := paths[row.Path], metrics[row.Metric].Name
			if p.Parent == trace.NoCallPath {
				total[m] += row.Inclusive
			}
			if regions[p.Region].Name == region {
				exclusive[m] += row.Exclusive
				above := false // recursion counts once
				for up := p.Parent; up != trace.NoCallPath; up = paths[up].Parent {
					above = above || regions[paths[up].Region].Name == region
				}
				if !above {
					inclusive[m] += row.Inclusive
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return total, inclusive, exclusive
}

// What go tool pprof -top says of two profiles.
func TestFlatAndCumulativeTimesAgreeWithThePeer(t *testing.T) {
	for _, c := range []struct {
		path, function  string
		total, flat, up float64 // ms
	}{
		{"go-compile/gocompile.cpu.pprof", "runtime.asyncPreempt", 4510, 500, 500},
		{"go-compile/gocompile.cpu.pprof", "runtime.tryDeferToSpanScan", 4510, 170, 350},
		{"go-compile/gocompile.cpu.pprof", "runtime.step", 4510, 200, 250},
		{"go-nethttp/nethttp.cpu.pprof", "regexp/syntax.(*compiler).inst", 230, 10, 20},
	} {
		total, inclusive, exclusive := sums(t, importertest.Import(t, Format, importertest.Shared(t, c.path)), c.function)
		got := fmt.Sprint(total["cpu"]/1e6, exclusive["cpu"]/1e6, inclusive["cpu"]/1e6)
		if want := fmt.Sprint(c.total, c.flat, c.up); got != want {
			t.Errorf("%s in %s: total, flat, cumulative %s ms, want %s", c.function, c.path, got, want)
		}
	}
}

// Beside each sample lies the text of the reference decoder, with every value.
func TestTotalsAgreeWithTheReferenceText(t *testing.T) {
	for _, name := range []string{"cppbench.cpu", "gobench.cpu", "java.contention"} {
		t.Run(name, func(t *testing.T) {
			file := importertest.Shared(t, "public/pprof/bench/"+name)
			f, err := os.Open(file + ".string")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var want [2]float64
			scan := bufio.NewScanner(f)
			for scan.Scan() && !strings.HasPrefix(scan.Text(), "Locations") {
				var a, b float64
				if n, _ := fmt.Sscanf(scan.Text(), " %f %f:", &a, &b); n == 2 {
					want[0] += a
					want[1] += b
				}
			}
			r := importertest.Import(t, Format, file)
			total, _, _ := sums(t, r, "")
			names := r.Metrics()
			factor := 1.0
			if name == "java.contention" {
				factor = 1e3 // its delays are microseconds
			}
			if a, b := total[names[0].Name], total[names[1].Name]; want[0] == 0 || a != want[0] || math.Abs(b-factor*want[1]) > 0.5 {
				t.Errorf("%g %g, want %v", a, b, want)
			}
		})
	}
}

// Labels that make no location are attributes of the one that took the samples.
func TestLabelsAreAttributesOfTheLocation(t *testing.T) {
	f := &profile.Function{ID: 1, Name: "main"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, Function: []*profile.Function{f}, Location: []*profile.Location{l}}
	add := func(rank string, n int64, labels map[string][]string, numbers map[string][]int64) {
		labels["rank"] = []string{rank}
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{n}, Label: labels, NumLabel: numbers})
	}
	add("0", 1, map[string][]string{"request": {"read"}}, map[string][]int64{"bytes": {512}})
	add("0", 2, map[string][]string{"request": {"write"}}, map[string][]int64{"bytes": {512}})
	add("0", 3, map[string][]string{"request": {"write"}}, nil)
	add("1", 4, map[string][]string{"request": {"read"}}, nil)
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.pprof")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, Format, file)
	got := map[string]string{}
	for id, name := range r.Locations().Name {
		for _, a := range r.Locations().Attributes[id] {
			got[name+" "+a.Key] = a.Value.String()
		}
	}
	want := map[string]string{"rank 0 request": "write, read", "rank 0 bytes": "512", "rank 1 request": "read"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("attributes (-want +got):\n%s", d)
	}
	report := importertest.Report(r.Info().Report)
	if n := report[`skipped labels "request" of samples (the most frequent are attributes of the location)`]; n != 3 {
		t.Errorf("%d samples are reported as added up, want the 3 of rank 0: %v", n, report)
	}
}
