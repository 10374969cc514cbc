package source_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/chrometrace"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/moments"
)

// Parts of a recorder that keeps a trace beside its sums, see events.c.
const (
	threadsPart = 1 << iota
	mpiPart
	openmpPart
)

// beside compiles a recorder that keeps a trace beside its sums.
func beside(t *testing.T, dir, compiler string, parts int) (library string) {
	t.Helper()
	library = filepath.Join(dir, "libbeside.so")
	command(t, dir, compiler, "-O1", "-shared", "-fPIC", fmt.Sprint("-DPARTS=", parts), "-o", library,
		testdata(t, "events.c"), "-ldl")
	return library
}

// traced reads the trace that processes left beside what they recorded.
func traced(t *testing.T, dir string) store.Reader {
	t.Helper()
	parts, _ := filepath.Glob(filepath.Join(dir, "trace.*"))
	if len(parts) == 0 {
		t.Fatal("no process left a trace")
	}
	var all bytes.Buffer
	all.WriteString("[")
	for _, p := range parts {
		part, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(part)
	}
	all.WriteString("{}]")
	file := filepath.Join(dir, "beside.json")
	if err := os.WriteFile(file, all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return importertest.Import(t, chrometrace.Format, file)
}

// momentsOf gives the four moments of busy time of each row of the view, by the name of the row; the mean since 1970.
func momentsOf(t *testing.T, r store.Reader, name func(string) string) map[string][4]float64 {
	t.Helper()
	c := viewtest.Case{Options: map[string][]string{"rows": {"all"}}}
	data := viewtest.Decoded[struct {
		Rows []struct {
			Path       string
			M0, M1, M2 float64
			M3         *float64
		}
	}](t, c.Compute(t, moments.View, r))
	out := map[string][4]float64{}
	for _, row := range data.Rows {
		m := [4]float64{row.M0, row.M1 + float64(r.Info().Origin), row.M2}
		if row.M3 != nil {
			m[3] = *row.M3
		}
		out[name(row.Path)] = m
	}
	return out
}

// checkBeside holds the recorded moments of a run in dir/out against those of its trace.
func checkBeside(t *testing.T, dir string, rows int, name func(string) string) {
	t.Helper()
	trace := traced(t, dir)
	got, want := momentsOf(t, imported(t, dir), name), momentsOf(t, trace, name)
	if keys := slices.Sorted(maps.Keys(got)); len(got) != rows || !slices.Equal(keys, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("%d rows are recorded, %v; in the trace %v", len(got), keys, slices.Sorted(maps.Keys(want)))
	}
	for row, w := range want {
		g := got[row]
		t.Logf("%s: recorded %.0f, trace %.0f", row, g, w)
		for k, scale := range []float64{w[0], w[2], w[2], w[2]} { // the mean is a place: what it is off is held against the deviation
			if math.Abs(g[k]-w[k]) > 0.01*scale {
				t.Errorf("%s, m%d: %v recorded, %v in the trace", row, k, g[k], w[k])
			}
		}
		if w[0] <= 0 {
			t.Errorf("%s is never busy", row)
		}
	}
}

func lastOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func rankOf(path string) string { return regexp.MustCompile(`rank \d+`).FindString(path) }

// What a recorder sums up while a program runs is what a trace of the same run gives afterwards.
func TestRecordedMomentsAreThoseOfTheTraceOfThatRun(t *testing.T) {
	record := func(t *testing.T, dir, library string, more []string, program string, args ...string) {
		t.Helper()
		env := append([]string{"PARALLAX_OUT=" + filepath.Join(dir, "out"), "PLX_TRACE=" + filepath.Join(dir, "trace"), "LD_PRELOAD=" + library}, more...)
		if out, err := try(dir, env, program, args...); err != nil {
			t.Fatal(err, out)
		}
	}
	t.Run("threads that name regions", func(t *testing.T) {
		need(t, "cc")
		dir := t.TempDir()
		command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "threads", testdata(t, "threads.c"), "-pthread", "-ldl")
		record(t, dir, beside(t, dir, "cc", threadsPart), nil, "./threads")
		checkBeside(t, dir, 4, lastOf)
	})
	t.Run("regions with roles", func(t *testing.T) {
		need(t, "cc")
		dir := t.TempDir()
		command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "roles", testdata(t, "roles.c"), "-ldl")
		record(t, dir, beside(t, dir, "cc", threadsPart), nil, "./roles")
		checkBeside(t, dir, 1, func(string) string { return "main" })
	})
	t.Run("threads that name nothing", func(t *testing.T) {
		need(t, "cc")
		dir := t.TempDir()
		command(t, dir, "cc", "-O1", "-o", "plain", testdata(t, "plain.c"), "-pthread")
		record(t, dir, beside(t, dir, "cc", threadsPart), []string{"PARALLAX_OUTSIDE=busy"}, "./plain")
		checkBeside(t, dir, 4, lastOf)
	})
	t.Run("threads of Python", func(t *testing.T) {
		need(t, "cc", "python3")
		dir := t.TempDir()
		env := []string{"PYTHONPATH=" + testdata(t, "../c"), "PYTHONDONTWRITEBYTECODE=1"}
		record(t, dir, beside(t, dir, "cc", threadsPart), env, "python3", testdata(t, "threads.py"))
		checkBeside(t, dir, 4, lastOf)
	})
	t.Run("OpenMP", func(t *testing.T) {
		need(t, "clang")
		for program, threads := range map[string]int{"team": 2, "mandelbrot": 4} {
			dir := t.TempDir()
			if out, err := try(dir, nil, "clang", "-fopenmp", "-DN=96", "-I", testdata(t, "../c"), "-o", program,
				testdata(t, program+".c"), "-ldl"); err != nil {
				t.Skip("no OpenMP runtime of LLVM here (Debian: apt-get install libomp-dev): ", out)
			}
			record(t, dir, beside(t, dir, "clang", openmpPart), []string{"OMP_NUM_THREADS=4"}, "./"+program)
			checkBeside(t, dir, threads, lastOf)
		}
	})
	t.Run("MPI", func(t *testing.T) {
		for _, m := range implementations(t) {
			dir := t.TempDir()
			command(t, dir, m.cc, "-o", "steps", testdata(t, "steps.c"))
			if out, err := m.start(dir, beside(t, dir, m.cc, mpiPart), 4, []string{"PLX_TRACE=" + filepath.Join(dir, "trace")}, "./steps"); err != nil {
				t.Fatal(err, out)
			}
			checkBeside(t, dir, 4, rankOf)
		}
	})
}
