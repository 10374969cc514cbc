package all

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// The files of one job are one run; copies of one of them, named after nights, are as many runs.
func TestNightsAreNotRanks(t *testing.T) {
	for _, c := range []struct {
		job, one string
		jobs     bool // several copies of the whole job are told apart in one directory tree
	}{
		{"kineto-ddp-8rank", "rank0.json.gz", true},
		{"public/chrome-json/dftracer-cm1-48ranks", "", true},
		{"public/perfetto/omnitrace-mpi-4ranks", "mpi-binary-rewrite-0.proto", true},
		{"public/tau-profile/adios-xmain-8ranks", "", true},
		{"public/nsight-sqlite/saxpy-mpi-cuda-rank0", "saxpy-mpi-cuda_nsys_perlmutter0.sqlite", false},
		{"ml/h200", "starved.json.gz", false},
		{"ml/resnet50-workers0", "", true},
	} {
		t.Run(c.job, func(t *testing.T) {
			folder := importertest.Shared(t, c.job)
			if c.jobs {
				if n := runsIn(t, folder); n != 1 {
					t.Errorf("the job is %d runs", n)
				}
				nights := t.TempDir()
				for night := range 3 {
					link(t, folder, filepath.Join(nights, fmt.Sprint("night-", night)))
				}
				if n := runsIn(t, nights); n != 3 {
					t.Errorf("three directories of the job are %d runs", n)
				}
			}
			if c.one == "" {
				return
			}
			nights := t.TempDir()
			for night := range 5 {
				link(t, filepath.Join(folder, c.one), filepath.Join(nights, fmt.Sprintf("night-%02d", night)+filepath.Ext(c.one)))
			}
			if n := runsIn(t, nights); n != 5 {
				t.Errorf("five nights of one file are %d runs", n)
			}
		})
	}
}

// link puts a file, or each file of a directory, in another place.
func link(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{""}
	if info.IsDir() {
		files = nil
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files = append(files, e.Name())
		}
	}
	for _, f := range files {
		full, err := filepath.Abs(filepath.Join(from, f))
		if err == nil {
			err = os.Symlink(full, filepath.Join(to, f))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func runsIn(t *testing.T, dir string) int {
	t.Helper()
	s, err := importer.NewSource(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, _ := importer.Detect(Formats, s)
	return len(runs)
}
