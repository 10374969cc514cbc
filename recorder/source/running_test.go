package source_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An endless is a program that works until it is killed, and the region of it that is called again and again.
type endless struct {
	name, region string
	tools        []string
	// start compiles the program in dir, and returns its command with the recorder.
	start func(t *testing.T, dir string) *exec.Cmd
}

func preloaded(library string, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "LD_PRELOAD="+library)
	return c
}

var endlessPrograms = []endless{
	{"a thread", "solve", []string{"cc"}, func(t *testing.T, dir string) *exec.Cmd {
		command(t, dir, "cc", "-O1", "-I", testdata(t, "../c"), "-o", "endless", testdata(t, "endless.c"), "-ldl")
		return preloaded(build(t, "regions", "cc"), filepath.Join(dir, "endless"))
	}},
	{"threads that main waits for", "solve", []string{"cc"}, func(t *testing.T, dir string) *exec.Cmd {
		command(t, dir, "cc", "-O1", "-DTHREADS", "-pthread", "-I", testdata(t, "../c"), "-o", "endless", testdata(t, "endless.c"), "-ldl")
		return preloaded(build(t, "regions", "cc"), filepath.Join(dir, "endless"))
	}},
	{"threads of Python", "solve", []string{"cc", "python3"}, func(t *testing.T, dir string) *exec.Cmd {
		script := `import threading, time
from parallax_recorder import region
def work():
    while True:
        with region("solve"): time.sleep(0.001)
t = [threading.Thread(target=work) for _ in range(2)]
for x in t: x.start()
for x in t: x.join()
`
		c := preloaded(build(t, "regions", "cc"), "python3", "-c", script)
		c.Env = append(c.Env, "PYTHONPATH="+testdata(t, "../c"), "PYTHONDONTWRITEBYTECODE=1")
		return c
	}},
	{"OpenMP", "parallel", []string{"clang"}, func(t *testing.T, dir string) *exec.Cmd {
		if out, err := try(dir, nil, "clang", "-fopenmp", "-I", testdata(t, "../c"), "-o", "endless", testdata(t, "endless.c"), "-ldl"); err != nil {
			t.Skip("no OpenMP runtime of LLVM here (Debian: apt-get install libomp-dev): ", out)
		}
		return preloaded(build(t, "openmp", "clang"), filepath.Join(dir, "endless"))
	}},
	{"MPI", "MPI_Barrier", nil, func(t *testing.T, dir string) *exec.Cmd {
		m := implementations(t)[0]
		command(t, dir, m.cc, "-O1", "-DRANKS", "-o", "endless", testdata(t, "endless.c"))
		return preloaded(build(t, "mpi", m.cc), m.run, m.arguments(2, "./endless")...)
	}},
}

// kill ends a program at once, and its ranks, which say their numbers in files.
func kill(c *exec.Cmd, dir string) {
	ranks, _ := filepath.Glob(filepath.Join(dir, "pid.*"))
	for _, file := range ranks {
		var id int
		if text, err := os.ReadFile(file); err == nil {
			if _, err := fmt.Sscan(string(text), &id); err == nil {
				if p, err := os.FindProcess(id); err == nil {
					_ = p.Kill()
				}
			}
		}
		_ = os.Remove(file)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
}

// With PARALLAX_EVERY the files are there while a program runs, whole whenever they are looked at, and stay when the
// program is killed.
func TestARunningProgramIsShown(t *testing.T) {
	for _, p := range endlessPrograms {
		t.Run(p.name, func(t *testing.T) {
			need(t, p.tools...)
			dir := t.TempDir()
			c := p.start(t, dir)
			c.Dir = dir
			c.Env = append(c.Env, "PARALLAX_EVERY=0.02", "PARALLAX_OUT="+filepath.Join(dir, "out"))
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			defer kill(c, dir)
			for {
				if files, _ := filepath.Glob(filepath.Join(dir, "out", "*.moments")); len(files) > 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			called := func() (n float64) {
				for _, regions := range calls(t, imported(t, dir)) {
					for name, c := range regions {
						if strings.HasPrefix(name, p.region) {
							n = max(n, c.calls)
						}
					}
				}
				return n
			}
			first := called()
			for called() <= first { // it grows, or the test does not end
				time.Sleep(time.Millisecond)
			}
			kill(c, dir)
			r := imported(t, dir)
			if r.Info().Properties["running"] == "" {
				t.Error("the run does not say that its program runs")
			}
			if report := fmt.Sprint(r.Info().Report); !strings.Contains(report, "still running") || called() <= first {
				t.Errorf("after it was killed: %s", report)
			}
		})
	}
}
