package recognised

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// Formats of which no sample is at hand, by what their descriptions say.
func TestMadeUpFilesAreRefusedByName(t *testing.T) {
	for want, files := range map[string]fstest.MapFS{
		"otf1":          {"a.otf": {Data: []byte("1:1\n2:2\n")}, "a.0.def": {Data: []byte("DVER\n")}, "a.1.events.z": {Data: []byte("x\x9c")}},
		"nvprof":        {"p.nvvp": {Data: []byte("SQLite format 3\x00 CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY")}},
		"rpd":           {"r.db": {Data: []byte("SQLite format 3\x00 CREATE TABLE rocpd_api")}},
		"nsight-report": {"r.nsys-rep": {Data: []byte("\x01\x00\x00report")}},
	} {
		t.Run(want, func(t *testing.T) {
			s, err := importer.NewSourceFS("source", files)
			if err != nil {
				t.Fatal(err)
			}
			runs, err := importer.Detect(Formats, s)
			isRefused(t, runs, err, want)
		})
	}
}

func isRefused(t *testing.T, runs []importer.Run, err error, want string) {
	t.Helper()
	if len(runs) != 1 || runs[0].Format.Name != want {
		t.Fatalf("runs %v, want one of %s; error %v", runs, want, err)
	}
	var e *importer.Error
	if !errors.As(err, &e) || !errors.Is(err, importer.ErrUnsupported) || e.Hint == "" || !strings.Contains(e.Cause, runs[0].Format.Title) {
		t.Errorf("error is %v", err)
	}
}

// Files of formats that are read, or of none, are left to others.
func TestOtherFilesAreNotClaimed(t *testing.T) {
	for _, path := range []string{
		"kineto-ddp-8rank", "chrome-node", "otf2-hpl8", "paje-pingpong4", "go-sync",
		"public/otf2", "public/cubex", "public/tau-profile", "public/tau-ppk", "public/tau-snapshot-xml", "public/paraver", "public/paje",
		"public/paje-csv", "public/perfetto", "public/zipkin", "public/jaeger", "public/otlp", "public/go-trace", "public/pprof",
		"public/perf-script", "public/task-tree", "public/tau-topology", "public/chrome-json/edge-cases",
	} {
		t.Run(path, func(t *testing.T) {
			s, err := importer.NewSource(importertest.Shared(t, path))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range Formats {
				for _, r := range f.Claim(s) {
					t.Errorf("%s claims %v", f.Name, r.Files)
				}
			}
		})
	}
}
