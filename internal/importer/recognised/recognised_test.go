package recognised

import (
	"bytes"
	"compress/gzip"
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
		"otf1":           {"a.otf": {Data: []byte("1:1\n2:2\n")}, "a.0.def": {Data: []byte("DVER\n")}, "a.1.events.z": {Data: []byte("x\x9c")}},
		"nvprof":         {"p.nvvp": {Data: []byte("SQLite format 3\x00 CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY")}},
		"rpd":            {"r.db": {Data: []byte("SQLite format 3\x00 CREATE TABLE rocpd_api")}},
		"nsight-report":  {"r.nsys-rep": {Data: []byte("\x01\x00\x00report")}},
		"nsight-compute": {"r.ncu-rep": {Data: []byte("NVR\x00report")}},
		"uftrace":        {"d/info": {Data: []byte("Ftrace!\x00")}, "d/1.dat": {Data: []byte("x")}},
		"tempo-block":    {"b/meta.json": {Data: []byte(`{"version":"vParquet4"}`)}, "b/data.parquet": {Data: []byte("PAR1")}},
		"sleepy":         {"Symbols.txt": {Data: []byte("sym0 x")}, "Callstacks.txt": {Data: []byte("1 sym0")}},
		"inner-archive":  {"run.zip": {Data: []byte("PK\x03\x04rest")}},
		"fxt":            {"prof_file_user_0": {Data: []byte("\x01\x00\x02")}},
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
					if f.Name == "pprof-text" && strings.HasSuffix(r.Files[0], ".string") { // what pprof -raw printed of them
						continue
					}
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
		"sysprof":     "\x5e\x97\xca\xfd",
		"perf-report": "# To display the perf.data header info, please use\n#\n# Samples: 484  of event 'cpu-clock'\n# Overhead  Command\n    50.00%  job",
		"perf-stat":   "# started on Thu Nov 19 11:23:58 2026\n\n\n Performance counter stats for 'true':\n", "perf-frames": " ffffffff8158c494 filemap_map_pages\n     7f0a91694deb do_lookup_x\n",
		"pprof-text": "File: compile\nBuild ID: cb84\nType: cpu\nTime: 2026-11-15 00:44:36 UTC\n",
		"nvidia-smi": "# gpu    pwr  gtemp  mtemp     sm\n# Idx      W      C      C      %\n    0     79     34     44      0\n",
		"har":        `{"log":{"version":"1.2","creator":{"name":"WebInspector"},"pages":[],"entries":[{"time":42.1}]}}`,
		"rprof":      "line.profiling: memory.profiling: sample.interval=20000\n#File 1: a.R\n", "d3-flamegraph": `{"name":"root","value":10,"children":[]}`,
		"prometheus": "# HELP requests_total x\n# TYPE requests_total counter\n", "babeltrace-text": "[11:07:40.123456789] (+?.?????????) host sched_switch: {",
		"go-bench": "goos: linux\ngoarch: amd64\npkg: x\n", "jfr-print": "{\n  \"recording\": {\n    \"events\": [",
		"thread-dump": "2026-11-19 11:07:40\nFull thread dump OpenJDK 64-Bit Server VM\n", "goroutine-dump": "goroutine 1 [running]:\nmain.main()\n",
		"spall": "\x0d\xf0\xad\x0b\x00\x00\x00\x00\x01", "flamegraph": `<?xml version="1.0"?><svg version="1.1"><title>Flame Graph</title>`,
		"git-lfs": "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "html": "<!DOCTYPE html>\n<html>", "elf": "\x7fELF\x02\x01",
		"web-error": `{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}`, "picture": "\x89PNG\r\n\x1a\n",
		"packed-twice":  string(gzipped(gzipped([]byte("main;solve 12\n")))),
		"other-archive": "7z\xbc\xaf\x27\x1c\x00\x04", "parquet": "PAR1\x15\x04", "hdf5": "\x89HDF\r\n\x1a\n", "pickle": "\x80\x04\x95\x10",
		"sqlite": "SQLite format 3\x00 CREATE TABLE users",
		"etl":    string(number(uint32(0x10000), uint32(0x240), uint32(0x240), [36]byte{}, uint32(0x240), uint16(0x21), uint16(4))),
		"xray":   string(number(uint16(3), uint16(0), uint32(255), uint64(1e9), uint64(0), uint64(0))),
	}
	other := map[string][]string{
		"web-error": {`{ "error" : {"code": 403}}`, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code></Error>"},
		"picture":   {"%PDF-1.7\n", "GIF89a", "\xff\xd8\xff\xe0"}, "elf": {"MZ\x90\x00\x03", "\x00asm\x01"},
		"perf-stat":  {"# started on Thu Nov 19 11:23:58 2026\n\n0.50,msec,task-clock,499758,100.00,0.430,CPUs utilized\n"},
		"pprof-text": {"PeriodType: cpu nanoseconds\nPeriod: 10000000\n", "digraph \"compile\" {\nnode [style=filled fillcolor=\"#f8f8f8\"]\n", "Type: cpu\nDuration: 4.77s\n"},
		"nvidia-smi": {"timestamp, name, utilization.gpu [%], memory.used [MiB]\n", "Thu Nov 19 11:04:13 2026       \n+------+\n| NVIDIA-SMI 580.159.04   |\n"},
		"jfr-print":  {"jdk.ExecutionSample {\n  startTime = 11:07:40.123\n"},
	}
	for name, list := range other {
		for _, head := range list {
			s, err := importer.NewSourceFS("source", fstest.MapFS{"x": {Data: []byte(head)}})
			if err != nil {
				t.Fatal(err)
			}
			runs, err := importer.Detect(Formats, s)
			isRefused(t, runs, err, name)
		}
	}
	for _, b := range begins {
		t.Run(b.name, func(t *testing.T) {
			head, ok := heads[b.name]
			if !ok {
				t.Fatal("no head to try")
			}
			for name, file := range map[string]string{"whole": head, "with more": head + strings.Repeat("\n", 5000)} {
				if name == "with more" && (b.name == "web-error" || head[0] == '\x1f') { // short, or packed to its end
					continue
				}
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

// gzipped packs bytes.
func gzipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}
