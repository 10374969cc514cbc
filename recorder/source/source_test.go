package source_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	reader "github.com/parallax-hpc/parallax/internal/importer/recorder"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/recorder/source"
)

// An mpi is one implementation as Debian installs it.
type mpi struct{ name, cc, fortran, run string }

// implementations are those that are installed; tests say when none is.
func implementations(t testing.TB) []mpi {
	t.Helper()
	var found []mpi
	for _, m := range []string{"openmpi", "mpich"} {
		x := mpi{m, "mpicc." + m, "mpif90." + m, "mpirun." + m}
		if _, err := exec.LookPath(x.cc); err == nil {
			found = append(found, x)
		}
	}
	if len(found) == 0 {
		t.Skip("no MPI here (Debian: apt-get install openmpi-bin libopenmpi-dev mpich libmpich-dev): the MPI recorder is not tried")
	}
	return found
}

var built sync.Map // library by recorder and compiler

// build compiles a recorder, once for all tests.
func build(t testing.TB, name, compiler string) string {
	t.Helper()
	one, _ := built.LoadOrStore(name+" "+compiler, sync.OnceValue(func() string {
		dir, err := os.MkdirTemp(scratch, "")
		if err != nil {
			t.Fatal(err)
		}
		return compile(t, dir, name, compiler, "-O1")
	}))
	return one.(func() string)()
}

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "recorder"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

func compile(t testing.TB, dir, name, compiler, level string) string {
	t.Helper()
	for _, r := range source.Recorders() {
		if r.Name != name {
			continue
		}
		text, err := r.Text()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, r.File)
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		library := filepath.Join(dir, "libparallax.so")
		command(t, dir, compiler, "-std=c99", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", level, "-shared", "-fPIC", "-o", library, file, "-ldl")
		return library
	}
	t.Fatalf("no recorder %q", name)
	return ""
}

func command(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	if out, err := try(dir, nil, name, args...); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func try(dir string, env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

// start runs a program under MPI with a recorder; what it recorded is in dir/out.
func (m mpi) start(dir, library string, ranks int, env []string, program ...string) (string, error) {
	env = append([]string{"PARALLAX_OUT=" + filepath.Join(dir, "out"), "LD_PRELOAD=" + library}, env...)
	return try(dir, env, m.run, m.arguments(ranks, program...)...)
}

// arguments are those of mpirun for a program.
func (m mpi) arguments(ranks int, program ...string) []string {
	args := []string{"-n", fmt.Sprint(ranks)}
	if m.name == "openmpi" {
		args = append([]string{"--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader"}, args...)
	}
	return append(args, program...)
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A call is what a rank recorded of one region, whoever called it.
type call struct{ calls, time, bytes, late float64 }

// calls gives the rows of a run by location and region.
func calls(t *testing.T, r store.Reader) map[string]map[string]call {
	t.Helper()
	all := map[string]map[string]call{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			at, name := r.Locations().Name[row.Location], r.Regions()[r.CallPaths()[row.Path].Region].Name
			if all[at] == nil {
				all[at] = map[string]call{}
			}
			c := all[at][name]
			switch r.Metrics()[row.Metric].Name {
			case "time":
				c.calls, c.time = c.calls+row.Calls, c.time+row.Exclusive
			case "bytes":
				c.bytes += row.Exclusive
			case "late arrival":
				c.late += row.Exclusive
			}
			all[at][name] = c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// busy gives weight and mean of the busy time of each location, ns since 1970.
func busy(t *testing.T, r store.Reader) map[string][2]float64 {
	t.Helper()
	sums := map[string][2]float64{}
	err := r.Moments(context.Background(), nil, func(rows []trace.MomentRow) error {
		for _, m := range rows {
			s := sums[r.Locations().Name[m.Location]]
			s[0] += m.Weight
			s[1] += m.Weight * (float64(m.Begin) + m.Mean)
			sums[r.Locations().Name[m.Location]] = s
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, s := range sums {
		sums[k] = [2]float64{s[0], s[1] / s[0]}
	}
	return sums
}

// imported reads what a program recorded into dir/out.
func imported(t *testing.T, dir string) store.Reader {
	t.Helper()
	return importertest.Import(t, reader.Format, filepath.Join(dir, "out"))
}

// worked gives the time that a rank of steps.c says it worked, ns.
func worked(t *testing.T, dir string, rank int) float64 {
	t.Helper()
	weight := 0.0
	for _, w := range intervals(t, filepath.Join(dir, fmt.Sprintf("work-%d.txt", rank))) {
		weight += w[1] - w[0]
	}
	return weight
}

// intervals reads lines of begin and end.
func intervals(t *testing.T, file string) (list [][2]float64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var w [2]float64
		if _, err := fmt.Sscan(line, &w[0], &w[1]); err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	return list
}

// sumsOf gives weight, mean, M2 and M3 of intervals.
func sumsOf(list [][2]float64) (s [4]float64) {
	for _, w := range list {
		s[0] += w[1] - w[0]
		s[1] += (w[1] - w[0]) * (w[0] + w[1]) / 2
	}
	s[1] /= s[0]
	for _, w := range list {
		a, b := w[0]-s[1], w[1]-s[1]
		s[2] += (b*b*b - a*a*a) / 3
		s[3] += (b*b*b*b - a*a*a*a) / 4
	}
	return s
}

// windows gives the recorded moments of all locations.
func windows(t *testing.T, r store.Reader) (rows []trace.MomentRow) {
	t.Helper()
	if err := r.Moments(context.Background(), nil, func(list []trace.MomentRow) error { rows = append(rows, list...); return nil }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// merged gives weight, mean, M2 and M3 of recorded windows.
func merged(rows []trace.MomentRow) (s [4]float64) {
	for _, m := range rows {
		s[0] += m.Weight
		s[1] += m.Weight * (float64(m.Begin) + m.Mean)
	}
	s[1] /= s[0]
	for _, m := range rows {
		d := float64(m.Begin) + m.Mean - s[1]
		s[2] += m.Central[2] + m.Weight*d*d
		s[3] += m.Central[3] + 3*d*m.Central[2] + m.Weight*d*d*d
	}
	return s
}

// Moments, calls and regions are those of the intervals themselves, however often windows
// were put together.
func TestMomentsAreThoseOfATrace(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler here: the recorder in C is not tried")
	}
	dir := t.TempDir()
	command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "clock", testdata(t, "clock.c"), "-ldl")
	out, err := try(dir, []string{"PARALLAX_OUT=" + filepath.Join(dir, "out")}, "./clock")
	if err != nil {
		t.Fatal(err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "truth"), []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	truth := intervals(t, filepath.Join(dir, "truth"))
	want := sumsOf(truth)
	r := imported(t, dir)
	rows := windows(t, r)
	got := merged(rows)
	scale := math.Sqrt(want[2] / want[0])
	for k, size := range []float64{want[0], scale, want[2], want[0] * scale * scale * scale} {
		if math.Abs(got[k]-want[k]) > 1e-9*size {
			t.Errorf("moment %d: %v, of the intervals themselves %v", k, got[k], want[k])
		}
	}
	if len(rows) > 64 {
		t.Errorf("%d windows, want 64 at most", len(rows))
	}
	all := calls(t, r)["rank 0"]
	if c := all["call"]; c.calls != 3000 || c.time != 3000*2999/2 || c.bytes != 24000 {
		t.Errorf("calls: %+v", c)
	}
	if c := all["hundred"]; c.calls != 30 {
		t.Errorf("regions: %+v", c)
	}
}

// A run of steps.c records what it did: calls by name and number, bytes, messages to
// whom, and busy time as the program itself measured it. In both libraries, in a file a
// rank and in one for all.
func TestMPIProgramsAreRecorded(t *testing.T) {
	for _, m := range implementations(t) {
		dir := t.TempDir()
		library := build(t, "mpi", m.cc)
		command(t, dir, m.cc, "-o", "steps", testdata(t, "steps.c"))
		for files, settings := range map[string][]string{
			"rank": {"PARALLAX_FILES=rank"}, "one": {"PARALLAX_FILES=one"}, "shown meanwhile": {"PARALLAX_FILES=one", "PARALLAX_EVERY=0.001"},
		} {
			t.Run(m.name+" "+files, func(t *testing.T) {
				os.RemoveAll(filepath.Join(dir, "out"))
				if out, err := m.start(dir, library, 4, settings, "./steps"); err != nil {
					t.Fatal(err, out)
				}
				checkSteps(t, dir, imported(t, dir))
			})
		}
	}
}

func checkSteps(t *testing.T, dir string, r store.Reader) {
	const ranks, steps = 4, 20
	all, moments := calls(t, r), busy(t, r)
	if len(all) != ranks || len(moments) != ranks {
		t.Fatalf("%d and %d ranks of %d", len(all), len(moments), ranks)
	}
	for rank := range ranks {
		name := fmt.Sprint("rank ", rank)
		for region, want := range map[string]call{
			"MPI_Isend": {calls: steps, bytes: steps * 800}, "MPI_Irecv": {calls: steps}, "MPI_Waitall": {calls: steps},
			"MPI_Allreduce": {calls: steps, bytes: steps * 8}, "MPI_Allgather": {calls: steps, bytes: steps * 8},
			"MPI_Comm_split": {calls: 1}, "MPI_Init": {calls: 1}, "phase 3": {calls: 1},
		} {
			if got := all[name][region]; got.calls != want.calls || got.bytes != want.bytes {
				t.Errorf("%s, %s: %v calls, %v bytes; want %v, %v", name, region, got.calls, got.bytes, want.calls, want.bytes)
			}
		}
		// Work begins after the call before it and ends before the next: all of it is busy time.
		if weight := worked(t, dir, rank); moments[name][0] < weight {
			t.Errorf("%s: busy %.0f ns, worked %.0f", name, moments[name][0], weight)
		}
		total := 0.0
		for _, c := range all[name] {
			total += c.time
		}
		if span := float64(r.Info().End); total > span*1.0001 {
			t.Errorf("%s: parts add up to %.0f ns of %.0f", name, total, span)
		}
	}
	links := map[string]int64{}
	if err := r.Links(context.Background(), store.Window{End: r.Info().End}, func(c *store.LinkColumns) error {
		for i := range c.Kind {
			links[r.Locations().Name[c.FromLocation[i]]+" to "+r.Locations().Name[c.ToLocation[i]]] = c.Count[i]*1_000_000 + c.Size[i]
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		pair := fmt.Sprintf("rank %d to rank %d", rank, (rank+1)%ranks)
		if links[pair] != steps*1_000_000+steps*800 || len(links) != ranks {
			t.Errorf("%s: %d messages and bytes; all: %v", pair, links[pair], links)
		}
	}
	// Late is against the earliest rank at each place in the program.
	for name, regions := range all {
		if late := regions["MPI_Allreduce"].late; late < 0 {
			t.Errorf("%s is late by %v ns", name, late)
		}
	}
}

// Fortran calls go past the C functions of the library: each way of using MPI is taken,
// and counted once.
func TestFortranIsRecorded(t *testing.T) {
	for _, m := range implementations(t) {
		if _, err := exec.LookPath(m.fortran); err != nil {
			t.Log("no", m.fortran, "here: Fortran is not tried")
			continue
		}
		dir := t.TempDir()
		library := build(t, "mpi", m.cc)
		for _, use := range []string{"INCLUDE", "MODULE", "F08"} {
			t.Run(m.name+" "+use, func(t *testing.T) {
				if out, err := try(dir, nil, m.fortran, "-cpp", "-D"+use, "-fallow-argument-mismatch", "-o", "pingpong", testdata(t, "pingpong.f90")); err != nil {
					t.Skip("this library's Fortran does not compile it: ", out)
				}
				os.RemoveAll(filepath.Join(dir, "out"))
				if out, err := m.start(dir, library, 2, nil, "./pingpong"); err != nil {
					t.Fatal(err, out)
				}
				all := calls(t, imported(t, dir))
				for _, rank := range []string{"rank 0", "rank 1"} {
					for region, want := range map[string]call{"MPI_Send": {calls: 10, bytes: 4000}, "MPI_Recv": {calls: 10}, "MPI_Allreduce": {calls: 10, bytes: 80}, "MPI_Barrier": {calls: 10}} {
						if got := all[rank][region]; got.calls != want.calls || got.bytes != want.bytes {
							t.Errorf("%s, %s: %v calls, %v bytes; want %v, %v", rank, region, got.calls, got.bytes, want.calls, want.bytes)
						}
					}
				}
			})
		}
	}
}

// A program that aborts or crashes leaves what it recorded until then.
func TestAbortedProgramsLeaveTheirRecord(t *testing.T) {
	for _, m := range implementations(t) {
		dir := t.TempDir()
		library := build(t, "mpi", m.cc)
		command(t, dir, m.cc, "-o", "steps", testdata(t, "steps.c"))
		for how, args := range map[string][]string{"abort": {"20", "1"}, "fault": {"20", "1", "fault"}} {
			t.Run(m.name+" "+how, func(t *testing.T) {
				os.RemoveAll(filepath.Join(dir, "out"))
				if out, err := m.start(dir, library, 2, nil, append([]string{"./steps"}, args...)...); err == nil {
					t.Fatal("the program did not fail: ", out)
				}
				r := imported(t, dir)
				if got := calls(t, r)["rank 1"]["MPI_Allreduce"].calls; got != 10 {
					t.Errorf("rank 1 recorded %v reductions before it failed, want 10", got)
				}
				if !slices.ContainsFunc(r.Info().Report, func(e trace.ReportEntry) bool { return strings.Contains(e.What, "ended before MPI_Finalize") }) {
					t.Error("the report does not say that the program ended early")
				}
			})
		}
	}
}

// An OpenMP program under a runtime with OMPT: regions, barriers and tasks by thread,
// named regions around them.
func TestOpenMPIsRecorded(t *testing.T) {
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("no clang here (Debian: apt-get install clang libomp-dev): the OpenMP recorder is not tried")
	}
	dir := t.TempDir()
	if out, err := try(dir, nil, "clang", "-fopenmp", "-I", testdata(t, "../c"), "-o", "team", testdata(t, "team.c")); err != nil {
		t.Skip("no OpenMP runtime of LLVM here (Debian: apt-get install libomp-dev): the OpenMP recorder is not tried: ", out)
	}
	library := build(t, "openmp", "clang")
	if out, err := try(dir, []string{"PARALLAX_OUT=" + filepath.Join(dir, "out"), "LD_PRELOAD=" + library}, "./team"); err != nil {
		t.Fatal(err, out)
	}
	all := calls(t, imported(t, dir))
	if len(all) != 2 {
		t.Fatalf("%d threads recorded, want 2: %v", len(all), all)
	}
	sum := map[string]float64{}
	for _, thread := range all {
		for name, c := range thread {
			sum[strings.Fields(name)[0]] += c.calls
			if strings.HasPrefix(name, "OpenMP") {
				sum[name] += c.calls
			}
		}
	}
	for name, want := range map[string]float64{"round": 3, "parallel": 12, "task": 24, "single": 3, "OpenMP barrier": 6, "OpenMP lock wait": 6} {
		if sum[name] != want {
			t.Errorf("%s: %v times, want %v", name, sum[name], want)
		}
	}
}

// MPI and OpenMP in one program: calls of MPI lie below the parallel region they were made from,
// threads lie below their rank, and messages are those of the rank.
func TestHybridProgramsAreRecorded(t *testing.T) {
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("no clang here (Debian: apt-get install clang libomp-dev): MPI with OpenMP is not tried")
	}
	for _, m := range implementations(t)[:1] { // what they share does not differ between libraries
		t.Run(m.name, func(t *testing.T) {
			t.Setenv("OMPI_CC", "clang")
			t.Setenv("MPICH_CC", "clang")
			dir := t.TempDir()
			if out, err := try(dir, nil, m.cc, "-fopenmp", "-I", testdata(t, "../c"), "-o", "hybrid", testdata(t, "hybrid.c")); err != nil {
				t.Skip("this MPI does not compile OpenMP with clang (Debian: apt-get install libomp-dev): ", out)
			}
			library := build(t, "mpi+openmp", m.cc)
			if out, err := m.start(dir, library, 2, []string{"OMP_NUM_THREADS=2"}, "./hybrid"); err != nil {
				t.Fatal(err, out)
			}
			checkHybrid(t, imported(t, dir))
		})
	}
}

func checkHybrid(t *testing.T, r store.Reader) {
	const ranks, rounds = 2, 10
	at := r.Locations()
	got := map[string]float64{} // calls by rank, kind of location and call path
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, row := range rows {
			if r.Metrics()[row.Metric].Name != "time" {
				continue
			}
			path, who := "", at.Name[row.Location]
			for p := row.Path; p != trace.NoCallPath; p = r.CallPaths()[p].Parent {
				path = "/" + strings.Fields(r.Regions()[r.CallPaths()[p].Region].Name)[0] + path
			}
			if at.Kind[row.Location] == trace.KindThread {
				who = at.Name[at.Parent[row.Location]] + " " + who
			}
			got[who+path] += row.Calls
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range ranks {
		main, other := fmt.Sprintf("rank %d main/hybrid", rank), fmt.Sprintf("rank %d OpenMP thread 1/hybrid", rank)
		for path, want := range map[string]float64{
			main + "/MPI_Init_thread": 1, main + "/MPI_Finalize": 1, main + "/round": rounds, main + "/round/MPI_Allreduce": rounds,
			main + "/round/parallel": rounds, main + "/round/parallel/MPI_Sendrecv": rounds, other + "/parallel": rounds,
		} {
			if got[path] != want {
				t.Errorf("%s: %v calls, want %v", path, got[path], want)
			}
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	for name, b := range busy(t, r) {
		if b[0] <= 0 {
			t.Errorf("%s was never busy", name)
		}
	}
}

// Threads are busy in the regions they name, and not while they sleep, join or wait: busy time
// lies between what the program measured inside and outside its regions. No call is lost,
// though all threads begin at once.
func TestThreadsAreBusyInRegionsAndNotWhileTheyWait(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler here: the recorder in C is not tried")
	}
	dir := t.TempDir()
	library := build(t, "regions", "cc")
	command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "threads", testdata(t, "threads.c"), "-pthread")
	for _, how := range []string{"return", "exit"} {
		t.Run(how, func(t *testing.T) {
			os.RemoveAll(filepath.Join(dir, "out"))
			out, err := try(dir, []string{"PARALLAX_OUT=" + filepath.Join(dir, "out"), "LD_PRELOAD=" + library}, "./threads", how)
			if err != nil {
				t.Fatal(err, out)
			}
			checkThreads(t, imported(t, dir), out, how == "exit")
		})
	}
}

func checkThreads(t *testing.T, r store.Reader, out string, endless bool) {
	const threads, kernels = 3, 20
	inside, outside := make([][][2]float64, threads), make([][][2]float64, threads)
	for line := range strings.Lines(out) {
		var i int
		var a, b [2]float64
		if _, err := fmt.Sscan(line, &i, &a[0], &a[1], &b[0], &b[1]); err != nil {
			t.Fatal(err, line)
		}
		inside[i], outside[i] = append(inside[i], a), append(outside[i], b)
	}
	all, rows := calls(t, r), map[string][]trace.MomentRow{}
	for _, m := range windows(t, r) {
		name := r.Locations().Name[m.Location]
		rows[name] = append(rows[name], m)
	}
	for name, regions := range all {
		if regions["outside regions"].time+regions["pthread_join"].time == 0 && regions["endless"].calls == 0 {
			t.Errorf("%s is never outside its regions: %v", name, regions)
		}
		got := merged(rows[name])
		total := 0.0
		for region, c := range regions {
			if trace.RoleOf(region, "").Busy() {
				total += c.time
			}
		}
		if math.Abs(total-got[0]) > 1 {
			t.Errorf("%s: busy %v ns, by its regions %v", name, got[0], total)
		}
		for i := range threads {
			kernel := regions[fmt.Sprint("kernel ", i)]
			if kernel.calls == 0 {
				continue
			}
			if kernel.calls != kernels || regions["wait"].calls != kernels || regions["wait for a neighbour"].calls != kernels {
				t.Errorf("%s: calls %+v", name, regions)
			}
			least, most := sumsOf(inside[i]), sumsOf(outside[i])
			if got[0] < least[0] || got[0] > most[0] {
				t.Errorf("%s: busy %v ns, measured %v to %v", name, got[0], least[0], most[0])
			}
			// What the recorder counts beside the measured work moves its deviation by so much at the most.
			span := outside[i][len(outside[i])-1][1] - outside[i][0][0]
			slack := 2 * span * math.Sqrt((most[0]-least[0])/least[0])
			if d := math.Sqrt(got[2]/got[0]) - math.Sqrt(least[2]/least[0]); math.Abs(d) > slack {
				t.Errorf("%s: deviation off by %v ns, %v are due to what was measured", name, d, slack)
			}
			inside[i] = nil
		}
		if regions["team"].calls == 1 && got[0] > regions["team"].time {
			t.Errorf("%s: busy %v ns while it joined threads", name, got[0])
		}
	}
	for i := range threads {
		if inside[i] != nil {
			t.Errorf("kernels of thread %d are in no row: %v", i, all)
		}
	}
	if want := threads + 1; !endless && len(all) != want || endless && len(all) != want+1 {
		t.Errorf("%d threads recorded: %v", len(all), all)
	}
}

// What the recorder takes for a wait by its name is none of the busy time for the reader either.
func TestWaitsAreKnownByNamesThatAreNotBusy(t *testing.T) {
	text, err := os.ReadFile(testdata(t, "../c/core.c"))
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`(?m)^\tstatic const char \*const (?:words|begins)\[\] = \{(.*)\};$`).FindAllSubmatch(text, -1)
	if len(lists) != 2 {
		t.Fatalf("%d lists of names in core.c", len(lists))
	}
	for _, list := range lists {
		for name := range strings.SplitSeq(string(list[1]), ", ") {
			if name = strings.Trim(name, `"`); trace.RoleOf(name+"x", "").Busy() && trace.RoleOf(name, "").Busy() {
				t.Errorf("%q is %v", name, trace.RoleOf(name, ""))
			}
		}
	}
	if role := trace.RoleOf("outside regions", ""); role != trace.RoleIdle {
		t.Errorf("time outside regions is %v", role)
	}
}

// A Python script names regions through whichever recorder is loaded, and runs the same without.
func TestPythonNamesRegions(t *testing.T) {
	for _, tool := range []string{"python3", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool, " here: the Python module is not tried")
		}
	}
	dir := t.TempDir()
	library := build(t, "regions", "cc")
	script := "from parallax_recorder import region\n@region('load')\ndef load(): pass\nfor i in range(5):\n  with region('epoch'):\n    load()\n"
	env := []string{"PYTHONPATH=" + testdata(t, "../c"), "PYTHONDONTWRITEBYTECODE=1"}
	if out, err := try(dir, env, "python3", "-c", script); err != nil {
		t.Fatal("without a recorder: ", err, out)
	}
	env = append(env, "PARALLAX_LIBRARY="+library, "PARALLAX_OUT="+filepath.Join(dir, "out"))
	if out, err := try(dir, env, "python3", "-c", script); err != nil {
		t.Fatal(err, out)
	}
	for at, regions := range calls(t, imported(t, dir)) {
		if regions["epoch"].calls != 5 || regions["load"].calls != 5 {
			t.Errorf("%s: %+v", at, regions)
		}
	}
}

// Threads of a Python script are busy in their regions, but for what they sleep, join and wait for
// the interpreter: between the processor time they took and the time that went by.
func TestPythonThreadsAreBusyInRegions(t *testing.T) {
	for _, tool := range []string{"python3", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool, " here: the Python module is not tried")
		}
	}
	dir := t.TempDir()
	env := []string{"PYTHONPATH=" + testdata(t, "../c"), "PYTHONDONTWRITEBYTECODE=1", "LD_PRELOAD=" + build(t, "regions", "cc"), "PARALLAX_OUT=" + filepath.Join(dir, "out")}
	out, err := try(dir, env, "python3", testdata(t, "threads.py"))
	if err != nil {
		t.Fatal(err, out)
	}
	r := imported(t, dir)
	all, moments := calls(t, r), busy(t, r)
	found := 0
	for line := range strings.Lines(out) {
		var kernel string
		var processor, outside float64
		if _, err := fmt.Sscan(line, &kernel, &processor, &outside); err != nil {
			t.Fatal(err, out)
		}
		for name, regions := range all {
			if c := regions[kernel]; c.calls > 0 {
				found++
				if c.calls != 20 || regions["wait for others"].calls != 20 || moments[name][0] < processor || moments[name][0] > outside {
					t.Errorf("%s: busy %v ns, want %v to %v; %+v", name, moments[name][0], processor, outside, regions)
				}
			}
		}
	}
	if main := all["main"]; found != 3 || main["team"].calls != 1 || main["team"].time > moments["main"][0] {
		t.Errorf("%d threads; main, busy %v: %+v", found, moments["main"][0], all["main"])
	}
}
