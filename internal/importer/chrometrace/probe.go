package chrometrace

import (
	"bytes"
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// A dialect is a family of writers that give records a meaning of their own.
type dialect uint8

const (
	chrome dialect = iota
	kineto
	dftracer
)

// facts are the findings from the beginning of a file.
type facts struct {
	path    string
	trace   bool // the file holds trace events
	mayCome bool // the head does not reach them, but may be the part before them
	dialect dialect
	rank    int // -1: not said
	world   int // 0: not said
	base    int64
	hasBase bool
	epoch   bool // times look like microseconds since 1970
	host    string
	pid     string
	process string // id of the process that the first host record is of
	begin   int64  // ns, of the earliest record that was looked at
}

// mostProbed bounds how many records of a head are looked at.
const mostProbed = 64

// probe looks at the beginning of a file.
func probe(file string, head []byte) facts {
	f := facts{path: file, rank: -1}
	f.host, f.pid, _ = workerName(file)
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '[' && trimmed[0] != '{' {
		return f
	}
	s := scanHead(head)
	var r record
	records := 0
	for ; records < mostProbed && s.next(&r); records++ {
		f.look(&r)
	}
	f.trace = f.trace || s.lists > 0
	for i := range s.sections {
		f.member(s.sections[i].key, s.sections[i].raw)
	}
	f.mayCome = !f.trace && records == 0 && longFirst(trimmed) ||
		!f.trace && s.damage.cut && len(s.sections) > 0 && len(head) >= shortestCut && beforeRecords[s.sections[0].key]
	return f
}

// longFirst reports whether a head may end within the first record of a list.
func longFirst(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte("["))
	return ok && len(head) >= shortestCut && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("{"))
}

// shortestCut is the shortest head that may be cut: shorter ones are whole files.
const shortestCut = 1 << 10

// beforeRecords are members that stand before traceEvents in files of Chrome.
var beforeRecords = map[string]bool{
	"metadata": true, "otherData": true, "displayTimeUnit": true, "stackFrames": true, "samples": true,
	"systemTraceEvents":      true,
	"controllerTraceDataKey": true, "clientInfo": true, "powerTraceAsString": true, "traceAnnotations": true,
	"schemaVersion": true,
}

// look adds the facts of one record.
func (f *facts) look(r *record) {
	if !knownPhase(r.phase) || !r.ts.present() && r.phase != 'M' {
		return
	}
	f.trace = true
	if t, ok := r.ts.nanoseconds(); ok && t > 0 && r.phase != 'M' {
		f.epoch = f.epoch || t > 1e18
		if f.begin == 0 || t < f.begin {
			f.begin = t
		}
	}
	switch cat := string(r.category.raw()); {
	case cat == "dftracer":
		f.dialect = dftracer
		if string(r.name.raw()) == "HH" {
			f.host = string(r.argument("name").plain(nil))
		}
		if r.pid.present() {
			f.pid = string(r.pid.raw())
		}
	case kinetoOnly[cat]:
		f.dialect = kineto
		if !strings.HasPrefix(cat, "gpu_") {
			f.process = cmp.Or(f.process, string(r.pid.raw()))
		}
	case cat == "Operator": // Kineto's of 2021
		f.process = cmp.Or(f.process, string(r.pid.raw()))
	}
}

// kinetoOnly are categories that no other tool writes.
var kinetoOnly = map[string]bool{
	"cpu_op": true, "user_annotation": true, "cuda_runtime": true, "cuda_driver": true, "gpu_memcpy": true,
	"gpu_memset":          true,
	"gpu_user_annotation": true, "python_function": true, "ac2g": true, "fwdbwd": true, "xpu_runtime": true,
	"mtia_ccp_events": true,
}

// member adds the facts of a top-level member.
func (f *facts) member(key string, raw []byte) {
	switch key {
	case "distributedInfo":
		f.trace, f.dialect = true, kineto
		if n, ok := numberAfter(raw, `"rank"`); ok {
			f.rank = int(n)
		}
		if n, ok := numberAfter(raw, `"world_size"`); ok {
			f.world = int(n)
		}
	case "deviceProperties", "schemaVersion":
		f.dialect = kineto
		f.trace = f.trace || key == "deviceProperties"
	case "hostname", "host_name":
		f.host = textOf(raw)
	case "baseTimeNanoseconds":
		f.dialect = kineto
		f.base, f.hasBase = decimal(bytes.TrimSpace(raw), 0)
	}
}

// numberAfter finds the number that is the value of a key. The text may be cut,
// as lists of ranks are long, so it is searched, not parsed.
func numberAfter(raw []byte, key string) (int64, bool) {
	_, rest, ok := bytes.Cut(raw, []byte(key))
	if !ok {
		return 0, false
	}
	rest = bytes.TrimLeft(rest, " \t\r\n:\"")
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(rest[:end]), 10, 32)
	return n, err == nil
}

// workerName takes apart the names that PyTorch's handler gives its files:
// HOST_PID.TIME.pt.trace.json.
func workerName(file string) (host, pid string, ok bool) {
	m := workerPattern.FindStringSubmatch(path.Base(file))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

var workerPattern = regexp.MustCompile(`^(.+)_(\d+)\.\d+\.pt\.trace\.json`)

// windowOf is the name of a file of PyTorch's handler without its time, as all windows of a worker have it; else "".
func windowOf(file string) string {
	m := windowPattern.FindStringSubmatch(path.Base(file))
	if m == nil {
		return ""
	}
	return path.Join(path.Dir(file), m[1])
}

var windowPattern = regexp.MustCompile(`^(.+)\.\d{10,}\.pt\.trace\.json`)
