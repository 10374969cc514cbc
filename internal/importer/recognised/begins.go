package recognised

import (
	"bytes"
	"encoding/binary"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// A beginning is a format that is known by the first bytes of a file. Its advice holds the command to run.
type beginning struct {
	name, title, advice string
	is                  func(head []byte) bool
}

// memory is the advice for profiles of memory, not time.
const memory = "it holds memory, not time: "

var begins = []beginning{
	{"netperf", "a file in the older serialization of .NET (netperf, gcdump)",
		"record with `dotnet-trace collect` and run `dotnet-trace convert --format speedscope FILE`; a .gcdump is a " +
			"heap without times", prefix("\x14\x00\x00\x00!FastSerialization.1")},
	{"etl", "a log of Event Tracing for Windows (ETW, .etl)",
		"open it in PerfView and save the view as speedscope, or record .NET with `dotnet-trace`", isETL},
	{"ghc-heap", "a heap profile of GHC (.hp)", memory + "`hp2ps FILE` draws it; for time record with `+RTS -p`",
		prefix("JOB \"")},
	{"jfr-0.9", "a recording of Java Flight Recorder 0.9 (Java 7, Oracle Java 8)",
		"Mission Control opens it; record again with Java 8u262 or later: `jcmd PID JFR.start`",
		prefix("FLR\x00\x00\x00\x00\x09")},
	{"simpleperf", "a protobuf report of simpleperf",
		"run `gecko_profile_generator.py -i perf.data > run.json` and open that", prefix("SIMPLEPERF")},
	{"art", "a method trace of Android's runtime (ART)",
		"import it at profiler.firefox.com, save the profile and open that", match(`^(?:\*version\n|SLOW)`)},
	{"mojo", "a binary file of Austin (MOJO)", "run `mojo2austin IN OUT` and open that", isMojo},
	{"memray", "a capture of memray", memory + "`memray flamegraph FILE` draws it; for time run `py-spy record -f " +
		"speedscope -o run.json -- python PROGRAM`", prefix("memray\x00")},
	{"scalene", "a profile of scalene", "its times are by line and have no call paths: run `py-spy record -f " +
		"speedscope -o run.json -- python PROGRAM` and open that", all(`"alloc_samples"`, `"elapsed_time_sec"`)},
	{"dhat", "a heap profile of DHAT (Valgrind)", memory + "`dh_view.html` of Valgrind shows it; for time run " +
		"`valgrind --tool=callgrind PROGRAM`", match(`^\s*\{\s*"dhatFileVersion"`)},
	{"massif", "a heap profile of massif (Valgrind)",
		memory + "`ms_print FILE` draws it; for time run `valgrind --tool=callgrind PROGRAM`",
		match(`^desc: [^\n]*\ncmd: [^\n]*\ntime_unit: `)},
	{"xray", "a log of LLVM XRay", "run `llvm-xray convert --symbolize --instr_map=PROGRAM -f trace_event FILE > " +
		"run.json` and open that", isXRay},
	{"fprof", "an analysis of Erlang's fprof", "run `erlgrind_script IN OUT` and open that, or record with eflame",
		prefix("%% Analysis results:")},
	{"eprof", "a report of Erlang's eprof", "record with fprof and run `erlgrind_script IN OUT`, or with eflame",
		match(`^\s*\*{6} Process <`)},
	{"mpip", "a report of mpiP", "it has sums per call site only: record with Score-P or TAU", prefix("@ mpiP")},
	{"ipm", "a report of IPM", "it has sums per call only: record with Score-P or TAU",
		all("<ipm_job_profile>")},
	{"legion", "a log of Legion Prof", "`legion_prof view FILE` shows it",
		prefix("FileType: BinaryLegionProf v: ")},
	{"tracy", "a capture of Tracy", "run `tracy-csvexport FILE > run.csv` for its zones; Tracy itself shows it",
		prefix("tlZ\x04", "tr\xfdP")},
	{"cprofile-text", "the text that cProfile prints",
		"it has no callers: run `python -m cProfile -o run.pstats PROGRAM` and open that",
		match(`^\s*\d+ function calls (?:\(\d+ primitive calls\) )?in [\d.]+ seconds`)},
	{"strace-summary", "the table of strace -c",
		"it has no times of calls: run `strace -f -ttt -T -o run.strace PROGRAM`",
		match(`^\s*% time +seconds +usecs/call`)},
	{"bpftrace-hist", "a histogram of bpftrace", "it has no stacks: use `@[ustack] = count()` and open its output",
		match(`^(?:Attaching \d+ probes?\.\.\.\s+)?@\w*(?:\[[^\n]*\])?: *\n\[[^\n]*[)\]] +\d+ \|`)},
	{"visual-studio", "a table of Visual Studio's profiler", "export the .diagsession as speedscope and open that",
		prefix("Level,Function Name")},
	{"hprof", "a heap dump or profile of Java's hprof",
		"record with `java -XX:StartFlightRecording=filename=run.jfr` and open that", prefix("JAVA PROFILE 1.0")},
	{"sysprof", "a capture of sysprof", "record with `perf record -g` and run `perf script > run.txt`",
		prefix("\x5e\x97\xca\xfd")},
	{"perf-report", "the table of perf report", "it has sums only: run `perf script > run.txt` and open that",
		all("# Overhead ", "# Samples: ")},
	{"perf-stat", "a table of totals (perf stat)",
		"they are of the whole program: run `perf record -g PROGRAM` and open perf.data",
		match(`^(?:# started on [^\n]*\n)?\s*(?:Performance counter stats for |` +
			`[\d.,]+,(?:msec|ns|Joules)?,[\w-]+,\d+,)`)},
	{"perf-frames", "a list of frames without names of programs (perf script -F)",
		"run `perf script > run.txt` without -F and open that", match(`^ {1,8} *[0-9a-f]{8,16} \S+[^\n]*\n`)},
	{"pprof-text", "a text that pprof prints of a profile (-top, -traces, -raw, -dot)",
		"open the profile itself, or run `pprof -proto FILE > run.pb.gz` and open that",
		match(`^(?:(?:File: [^\n]*\n)?(?:Build ID: [^\n]*\n)?Type: \w+\n(?:Time|Duration|Showing|-----)|` +
			`PeriodType: \w+ \w+\nPeriod: |digraph "[^"]*" \{\nnode \[style=filled fillcolor="#f8f8f8"\])`)},
	{"nvidia-smi", "a text of nvidia-smi",
		"it has no work, only how busy a GPU was: run `nsys profile -o run PROGRAM` " +
			"and `nsys export --type sqlite run.nsys-rep` and open run.sqlite",
		match(`^(?:# ?gpu +\w+ +\w+|#Date +Time +gpu |timestamp, [^\n]*\[(?:%|MiB|W|MHz)\]|` +
			`[^\n]*\n?\+-+\+\s*\n\| NVIDIA-SMI )`)},
	{"har", "a log of HTTP requests (HAR)",
		"it has no work of the page: record with the Performance panel of the browser, save its JSON and run " +
			"`parallax open FILE`", all(`"log"`, `"creator"`, `"version"`, `"entries"`)},
	{"rprof", "a profile of R (Rprof)",
		"in R run `profile::write_pprof(profile::read_rprof(\"FILE\"), \"run.pb.gz\")` and open that",
		match(`^(?:\w+ profiling: |\w+\.profiling: )*sample\.interval=\d+\n`)},
	{"d3-flamegraph", "a tree of d3-flame-graph (JSON)",
		"write its stacks as lines `main;solve;inner 12` or as speedscope and open that",
		match(`^\s*\{\s*"name":\s*"[^"]*",\s*"(?:value|children)":[^\n]{0,200}"(?:children|value)":`)},
	{"prometheus", "a text of metrics (Prometheus)",
		"they are sums at one time: record spans with OpenTelemetry, or run `curl HOST/debug/pprof/profile > " +
			"cpu.pprof`",
		match(`^# (?:HELP \w+ [^\n]*\n# TYPE|TYPE \w+) `)},
	{"babeltrace-text", "a text that babeltrace prints of a CTF trace",
		"open the directory of the trace that has the file `metadata`",
		match(`^\[\d\d:\d\d:\d\d\.\d{9}\] \(\+[?\d]`)},
	{"go-bench", "a table of Go benchmarks",
		"run `go test -bench . -cpuprofile cpu.pprof` and open cpu.pprof", match(`^goos: \w+\ngoarch: `)},
	{"jfr-print", "a text that jfr print prints", "open the .jfr file itself: `parallax open run.jfr`",
		match(`^(?:\s*\{\s*"recording":\s*\{\s*"events":|jdk\.\w+ \{\s)`)},
	{"thread-dump", "a thread dump of a JVM",
		"it is the state at one time: run `jcmd PID JFR.start duration=60s filename=run.jfr` and open run.jfr",
		match(`^(?:[^\n]*\n)?Full thread dump `)},
	{"goroutine-dump", "a dump of goroutines",
		"it is the state at one time: run `curl HOST/debug/pprof/trace?seconds=5 > run.trace` and open that",
		match(`^goroutine \d+ \[`)},
	{"spall", "a trace of Spall", "record with `spall_init_file_json`, whose Chrome trace events are read",
		prefix("\x0d\xf0\xad\x0b\x00\x00\x00\x00")},
	{"flamegraph", "a flame graph as a picture (SVG)",
		"open the stacks that it was drawn from (`asprof -o collapsed`, `stackcollapse-perf.pl`)", isFlameGraph},
	{"git-lfs", "a pointer of Git LFS, not the file itself", "run `git lfs pull` and open it again",
		prefix("version https://git-lfs.github.com/spec/")},
	{"html", "a web page (HTML)",
		"open the file that it shows; if it came in place of a download, run `curl -LO URL` with the link of the file",
		match(`^(?i)\s*(?:<!doctype html|<html[\s>])`)},
	{"web-error", "the error of a web service in place of a file",
		"run `curl -LO URL` with the link of the file, and with your token if it needs one", isWebError},
	{"picture", "a picture or a document, not a trace", "run `parallax open FILE` with the file that it was made from",
		prefix("\x89PNG\r\n", "\xff\xd8\xff", "GIF8", "%PDF-")},
	{"packed-twice", "a file that is packed twice", "unpack it once, for instance with `gunzip FILE`, and open that",
		prefix("\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh91AY&SY")},
	{"other-archive", "an archive that cannot be unpacked here (7z, RAR, compress, lzip)",
		"run `7z x FILE` and open the folder", prefix("7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07", "\x1f\x9d", "LZIP\x01")},
	{"parquet", "a Parquet file that is no table of a trace alone",
		"open the folder that `nsys export --type parquetdir` or `parallax export SOURCE -o DIR` wrote",
		prefix("PAR1")},
	{"hdf5", "a file of HDF5",
		"if Nsight Systems wrote it, run `nsys export --type sqlite FILE.nsys-rep` and open the .sqlite that it writes",
		prefix("\x89HDF\r\n")},
	{"pickle", "a pickle of Python", "if it is a memory snapshot of PyTorch, pytorch.org/memory_viz shows it; for " +
		"time call `prof.export_chrome_trace(\"run.json\")` of torch.profiler", isPickle},
	{"elf", "a program or its core dump", "record it with `perf record -g PROGRAM` and open perf.data",
		prefix("\x7fELF", "MZ\x90\x00", "\x00asm", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MDMP")},
	{"sqlite", "a database without the tables of a profiler (SQLite)",
		"those that are read come from `nsys export --type sqlite` and `rocprofv3 --output-format rocpd`", isSQLite},
}

// texts makes formats of beginnings.
func texts(list ...beginning) (formats []*importer.Format) {
	for _, b := range list {
		formats = append(formats, &importer.Format{Name: b.name, Title: b.title, Advice: b.advice,
			Claim: importer.EachFile(b.is)})
	}
	return formats
}

// prefix recognises a head by its first bytes.
func prefix(any ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, p := range any {
			if bytes.HasPrefix(head, []byte(p)) {
				return true
			}
		}
		return false
	}
}

// match recognises a head by a pattern.
func match(pattern string) func([]byte) bool { return regexp.MustCompile(pattern).Match }

// all recognises a text by strings that are all within its first 4 KiB.
func all(some ...string) func([]byte) bool {
	return func(head []byte) bool {
		head = head[:min(len(head), 4<<10)]
		for _, s := range some {
			if !bytes.Contains(head, []byte(s)) {
				return false
			}
		}
		return true
	}
}

// isWebError recognises a short answer that describes an error.
func isWebError(head []byte) bool { return len(head) < 4<<10 && webError.Match(head) }

var webError = regexp.MustCompile(`^\s*(?:\{\s*"(?:message|error|errors|detail)"\s*:|` +
	`(?:<\?xml[^>]*>\s*)?<Error>\s*<Code>)`)

// isPickle recognises a pickle: protocol 2 to 5, which ends with a stop.
func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && bytes.IndexByte(pickled, head[2]) >= 0
}

// pickled are the operations that a pickle begins with: a frame, a container, a class, a string or a tuple.
var pickled = []byte("\x95}]()cX\x8c\x8a")

// isMojo: three letters and a version.
func isMojo(head []byte) bool {
	return len(head) > 4 && bytes.HasPrefix(head, []byte("MOJ")) && head[3] > 0 && head[3] < 16
}

// isFlameGraph: a picture with frames.
func isFlameGraph(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1<<10)], []byte("<svg")) &&
		regexp.MustCompile(`(?i)flame ?graph|id="frames"`).Match(head)
}

// isETL recognises the head of a buffer: its size, a power of two, twice how much of it is used, and once more behind
// its times, with the type of the first buffer.
func isETL(head []byte) bool {
	if len(head) < 72 {
		return false
	}
	u := binary.LittleEndian.Uint32
	size, used := u(head), u(head[4:])
	return size >= 1<<10 && size <= 1<<24 && size&(size-1) == 0 && used >= 72 && used <= size && used == u(head[8:]) &&
		used == u(head[48:]) && binary.LittleEndian.Uint16(head[54:]) <= 8
}

// isXRay recognises the file header: version, type, flags, cycles per second, and bytes that are free.
func isXRay(head []byte) bool {
	if len(head) < 64 {
		return false
	}
	o := binary.LittleEndian
	rate := o.Uint64(head[8:])
	return o.Uint16(head) >= 1 && o.Uint16(head) <= 5 && o.Uint16(head[2:]) <= 1 && o.Uint32(head[4:]) < 256 &&
		rate >= 1e6 && rate < 1e11 && o.Uint64(head[24:]) == 0
}
