package source_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

// Busy time goes by the clock. The file says besides how long each thread had a core for it and how long it had none,
// and the view says so where that is much.
func TestTimeWithoutACoreIsReportedNextToBusyTime(t *testing.T) {
	need(t, "cc")
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("this system does not tell how long threads wait for a core")
	}
	dir := t.TempDir()
	command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "cores", testdata(t, "cores.c"), "-pthread", "-ldl")
	env := []string{"PARALLAX_OUT=" + filepath.Join(dir, "out"), "LD_PRELOAD=" + build(t, "regions", "cc")}
	if out, err := try(dir, env, "./cores"); err != nil {
		t.Fatal(err, out)
	}
	r := imported(t, dir)
	told := map[string]map[string]float64{trace.RanOnCore: {}, trace.WaitedForCore: {}}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			if by := told[r.Metrics()[row.Metric].Name]; by != nil {
				by[r.Locations().Name[row.Location]] += row.Inclusive
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ran, waited := told[trace.RanOnCore], told[trace.WaitedForCore]
	if len(ran) != 3 || len(waited) != 3 {
		t.Fatalf("of 3 threads that name regions: ran %v, waited for a core %v", ran, waited)
	}
	all := 0.0
	for name, m := range busy(t, r) {
		t.Logf("%s: busy %.0f, ran %.0f, waited for a core %.0f", name, m[0], ran[name], waited[name])
		if ran[name] < 50e6 || m[0] < 50e6 {
			t.Errorf("%s ran %.0f ns and was busy %.0f, want 50 ms of both and more", name, ran[name], m[0])
		}
		all += waited[name]
	}
	if all < 50e6 { // two of the three wait while one works
		t.Errorf("three threads on one core waited %.0f ns for it", all)
	}
	c := viewtest.Case{Options: map[string][]string{"rows": {"all"}}}
	notes := c.Compute(t, moments.View, r).Notes()
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "others had the cores") }) {
		t.Errorf("the view says nothing of it: %q", notes)
	}
}
