package recognised

import (
	"bytes"
	"encoding/binary"
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
		"uftrace":       {"d/info": {Data: []byte("Ftrace!\x00")}, "d/1.dat": {Data: []byte("x")}},
		"tempo-block":   {"b/meta.json": {Data: []byte(`{"version":"vParquet4"}`)}, "b/data.parquet": {Data: []byte("PAR1")}},
		"sleepy":        {"Symbols.txt": {Data: []byte("sym0 x")}, "Callstacks.txt": {Data: []byte("1 sym0")}},
		"fxt":           {"prof_file_user_0": {Data: []byte("\x01\x00\x02")}},
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

// Every format that is known by its beginning: refused by name, in one sentence with a command or a tool.
func TestBeginningsAreRefusedByName(t *testing.T) {
	number := func(parts ...any) []byte {
		var b bytes.Buffer
		for _, p := range parts {
			_ = binary.Write(&b, binary.LittleEndian, p)
		}
		return append(b.Bytes(), make([]byte, 64)...)
	}
	heads := map[string]string{

		"netperf": "\x14\x00\x00\x00!FastSerialization.1", "ghc-heap": "JOB \"mp\"\n",
		"jfr-0.9": "FLR\x00\x00\x00\x00\x09", "simpleperf": "SIMPLEPERF\x01\x00", "art": "*version\n3\n", "mojo": "MOJ\x03\x00",
		"memray": "memray\x00\x0c", "scalene": `{"alloc_samples": 52, "elapsed_time_sec": 1.5`, "dhat": `{"dhatFileVersion":2`,
		"massif": "desc: x\ncmd: ./a\ntime_unit: i\n", "fprof": "%% Analysis results:\n", "eprof": "****** Process <0.9.0>    -- 100.00 %",
		"mpip": "@ mpiP\n", "ipm": "<?xml version=\"1.0\"?>\n<ipm_job_profile>\n", "legion": "FileType: BinaryLegionProf v: 1.0\n",
		"tracy": "tlZ\x04", "cprofile-text": "         6472 function calls (4346 primitive calls) in 0.038 seconds\n",
		"strace-summary": "% time     seconds  usecs/call     calls    errors syscall\n", "hprof": "JAVA PROFILE 1.0.2\x00",
		"bpftrace-hist": "Attaching 1 probe...\n\n@bytes: \n[0]                 12 |@@@  |\n", "visual-studio": "Level,Function Name,",
		"sysprof": "\x5e\x97\xca\xfd",
		"etl":     string(number(uint32(0x10000), uint32(0x240), uint32(0x240), [36]byte{}, uint32(0x240), uint16(0x21), uint16(4))),
		"xray":    string(number(uint16(3), uint16(0), uint32(255), uint64(1e9), uint64(0), uint64(0))),
	}
	for _, b := range begins {
		t.Run(b.name, func(t *testing.T) {
			head, ok := heads[b.name]
			if !ok {
				t.Fatal("no head to try")
			}
			for name, file := range map[string]string{"whole": head, "with more": head + strings.Repeat("\n", 5000)} {
				s, err := importer.NewSourceFS("source", fstest.MapFS{"x": {Data: []byte(file)}})
				if err != nil {
					t.Fatal(err)
				}
				runs, err := importer.Detect(Formats, s)
				isRefused(t, runs, err, b.name)
				if err == nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: not one line: %v", name, err)
				}
			}
		})
	}
}
