package source_test

import (
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// need skips a test where a tool is not here.
func need(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool, " here")
		}
	}
}

// same reports whether two numbers differ by less than 1 %.
func same(a, b float64) bool { return a > 0 && math.Abs(a-b) <= 0.01*max(a, b) }

func roleNamed(r store.Reader, name string) trace.Role {
	for _, g := range r.Regions() {
		if g.Name == name {
			return g.Role
		}
	}
	return trace.RoleNone
}

// checkRoles holds what roles.c and roles.f90 do against their record: the role says what is busy, not the name.
func checkRoles(t *testing.T, dir string) {
	t.Helper()
	r := imported(t, dir)
	all, moments := calls(t, r)["roles"], busy(t, r)["roles"]
	if all["halo"].calls != 5 || all["wait"].calls != 5 || !same(moments[0], all["wait"].time) {
		t.Errorf("busy %v: %+v", moments[0], all)
	}
	if roleNamed(r, "halo") != trace.RoleCommunication || roleNamed(r, "wait") != trace.RoleCompute {
		t.Errorf("roles are %v and %v", roleNamed(r, "halo"), roleNamed(r, "wait"))
	}
	if told := r.Info().Properties["outside named regions"]; told != "idle" {
		t.Errorf("time outside of regions is told as %q", told)
	}
}

func TestRegionsCarryARole(t *testing.T) {
	need(t, "cc")
	dir := t.TempDir()
	command(t, dir, "cc", "-O2", "-o", "roles", testdata(t, "roles.c"))
	env := []string{"LD_PRELOAD=" + build(t, "regions", "cc"), "PARALLAX_OUT=" + filepath.Join(dir, "out")}
	if out, err := try(dir, env, "./roles"); err != nil {
		t.Fatal(err, out)
	}
	checkRoles(t, dir)
}

func TestFortranNamesRegions(t *testing.T) {
	need(t, "cc", "gfortran")
	dir := t.TempDir()
	command(t, dir, "gfortran", "-O2", "-o", "roles", testdata(t, "../c/parallax.f90"), testdata(t, "roles.f90"), "-ldl")
	if out, err := try(dir, nil, "./roles"); err != nil {
		t.Fatal("without a recorder: ", err, out)
	}
	env := []string{"LD_PRELOAD=" + build(t, "regions", "cc"), "PARALLAX_OUT=" + filepath.Join(dir, "out")}
	if out, err := try(dir, env, "./roles"); err != nil {
		t.Fatal(err, out)
	}
	checkRoles(t, dir)
}

// Threads that name nothing are busy but for what they wait for, where time outside of regions is busy.
func TestThreadsWithoutRegionsAreRecordedWhereOutsideIsBusy(t *testing.T) {
	need(t, "cc")
	dir := t.TempDir()
	command(t, dir, "cc", "-O2", "-pthread", "-o", "plain", testdata(t, "plain.c"))
	env := []string{"LD_PRELOAD=" + build(t, "regions", "cc"), "PARALLAX_OUT=" + filepath.Join(dir, "out")}
	if out, err := try(dir, env, "./plain"); err != nil || !strings.Contains(out, "PARALLAX_OUTSIDE=busy records all threads") {
		t.Error("a program whose threads name nothing does not hear why it leaves no record: ", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a program without regions left a record, though it has nothing to tell")
	}
	if out, err := try(dir, append(env, "PARALLAX_OUTSIDE=busy"), "./plain"); err != nil {
		t.Fatal(err, out)
	}
	r := imported(t, dir)
	all, moments := calls(t, r), busy(t, r)
	if len(all) != 4 {
		t.Fatalf("%d rows", len(all))
	}
	if r.Info().Properties["outside named regions"] != "busy" {
		t.Errorf("properties %v", r.Info().Properties)
	}
	names := slices.Sorted(maps.Keys(all)) // threads are numbered as they begin, which is in any order
	if !slices.Equal(names[:2], []string{"loader", "main"}) || !strings.HasPrefix(names[2], "thread ") || !strings.HasPrefix(names[3], "thread ") {
		t.Errorf("rows are called %q", names)
	}
	numbers := map[string]bool{} // of processes and threads in the operating system
	for _, attributes := range r.Locations().Attributes {
		for _, a := range attributes {
			if a.Key == "pid" || a.Key == "tid" {
				numbers[a.Key+" "+a.Value.String()] = true
			}
		}
	}
	if len(numbers) != 5 {
		t.Errorf("numbers of a process and four threads: %v", numbers)
	}
	for name, regions := range all {
		if !same(moments[name][0], regions["plain"].time) || name != "main" && regions["usleep"].calls != 10 {
			t.Errorf("%s is busy for %v: %+v", name, moments[name][0], regions)
		}
	}
}

// A program that begins threads all the time is recorded in as many rows as threads live at once, or 256: memory and file
// do not grow with the run, and nothing that threads named is lost.
func TestThreadsGoOnInRowsOfThoseThatEnded(t *testing.T) {
	need(t, "cc")
	dir := t.TempDir()
	command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-pthread", "-o", "many", testdata(t, "many.c"), "-ldl")
	env := []string{"LD_PRELOAD=" + build(t, "regions", "cc"), "PARALLAX_OUT=" + filepath.Join(dir, "out")}
	if out, err := try(dir, env, "./many"); err != nil {
		t.Fatal(err, out)
	}
	r := imported(t, dir)
	all, moments := calls(t, r), busy(t, r)
	kernels := 0.0
	for name, regions := range all {
		kernels += regions["kernel"].calls
		if !same(moments[name][0], regions["kernel"].time) {
			t.Errorf("%s is busy for %v: %+v", name, moments[name][0], regions)
		}
	}
	if len(all) != 256 || kernels != 600 {
		t.Errorf("%v kernels in %d rows", kernels, len(all))
	}
}

func TestTasksAndThreadsOfPythonAreCalledAsPythonCallsThem(t *testing.T) {
	need(t, "cc", "python3")
	dir := t.TempDir()
	env := []string{"PYTHONPATH=" + testdata(t, "../c"), "PYTHONDONTWRITEBYTECODE=1"}
	if out, err := try(dir, env, "python3", testdata(t, "tasks.py")); err != nil {
		t.Fatal("without a recorder: ", err, out)
	}
	env = append(env, "LD_PRELOAD="+build(t, "regions", "cc"), "PARALLAX_OUT="+filepath.Join(dir, "out"))
	if out, err := try(dir, env, "python3", testdata(t, "tasks.py")); err != nil {
		t.Fatal(err, out)
	}
	r := imported(t, dir)
	all, moments := calls(t, r), busy(t, r)
	for _, name := range []string{"worker 1", "worker 2", "worker"} {
		if c := all[name]["kernel"]; c.calls != 5 || !same(moments[name][0], c.time) {
			t.Errorf("%s is busy for %v: %+v", name, moments[name][0], all[name])
		}
	}
	if names := slices.Sorted(maps.Keys(all)); !slices.Equal(names, []string{"loader", "worker", "worker 1", "worker 2"}) {
		t.Errorf("rows with calls are %q: the loop's own tasks are none", names)
	}
	if all["loader"]["load"].calls != 1 || roleNamed(r, "load") != trace.RoleIO {
		t.Errorf("the thread: %+v", all["loader"])
	}
}
