// Package anonymise replaces names while a trace is written, so that people can send a run without revealing its
// origin. Times, numbers, structure and roles stay; names of locations, regions, files, counters and attributes,
// texts and properties do not.
//
// A name becomes a word by a keyed hash: the same name is the same word everywhere in the run, and in other runs
// under the same key. Without the key, names cannot be guessed by trying.
package anonymise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Keeps are the kinds of words that can be kept.
var Keeps = []string{"public", "regions", "locations", "paths", "counters", "attributes", "properties"}

// Options names the kinds of words to keep and the key of the hashes.
type Options struct {
	Key  []byte
	Keep []string // of Keeps
}

// A Writer passes a trace on to another with its names replaced.
type Writer struct {
	w    trace.Writer
	key  []byte
	keep map[string]bool
	// Replaced counts definitions whose name became another.
	Replaced atomic.Int64
}

// New makes a writer in front of w.
func New(w trace.Writer, o Options) *Writer {
	a := &Writer{w: w, key: o.Key, keep: map[string]bool{}}
	for _, k := range o.Keep {
		a.keep[k] = true
	}
	return a
}

// word returns the replacement for a name: its type, and ten letters of its hash.
func (a *Writer) word(what, name string) string {
	if name == "" {
		return ""
	}
	a.Replaced.Add(1)
	h := hmac.New(sha256.New, a.key)
	h.Write([]byte(name))
	return what + "-" + hex.EncodeToString(h.Sum(nil)[:5])
}

// public are prefixes of public names: interfaces of libraries and runtimes, and profilers' own names.
var public = []string{
	"MPI_", "PMPI_", "nccl", "rccl", "gloo:", "cuda", "cu", "hip", "aten::", "autograd::", "c10d::", "omp_", "pthread_",
	"ProfilerStep#", "Optimizer.", "DistributedDataParallel.",
	"runtime.", "sync.", "waiting", "running", "runnable", "idle", "syscall", "scheduling", "GC ", "stop-the-world",
	"shmem_", "gaspi_", "HTTP ", "Memcpy", "Memset",
}

// categories are words of formats from which views recognise the type of a region.
var categories = []string{
	"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cpu_op", "cuda_runtime", "cuda_driver",
	"user_annotation", "python_function", "overhead", "Trace",
	"mpi", "MPI", "user", "USER", "state", "goroutine", "processor", "range", "runtime", "label", "phase", "io",
	"client", "server", "consumer", "producer", "internal", "function", "loop",
}

var kinds = []trace.Kind{
	trace.KindSite, trace.KindCluster, trace.KindMachine, trace.KindProcess, trace.KindThread, trace.KindStream,
	trace.KindDevice, trace.KindGroup,
	trace.KindProcessor, trace.KindGoroutine, trace.KindStates, trace.KindSamples, trace.KindRepeat, "core", "service",
	"task",
}

// signs are attributes that views need to interpret records; they hold no texts of users.
var signs = []string{"sampled", "step", "error", "trace", "span", "parent span", "correlation", "stream", "device",
	"bytes", trace.RawName}

func (a *Writer) Location(l trace.Location) trace.LocationID { return a.w.Location(a.location(l)) }
func (a *Writer) Describe(id trace.LocationID, l trace.Location) {
	a.w.Describe(id, a.location(l))
}

func (a *Writer) location(l trace.Location) trace.Location {
	if !a.keep["locations"] {
		what := string(l.Kind)
		if l.Kind != "" && !slices.Contains(kinds, l.Kind) {
			l.Kind = trace.Kind(a.word("kind", string(l.Kind)))
			what = "location"
		}
		if what == "" {
			what = "location"
		}
		l.Name, l.Key = a.word(what, l.Name), a.word("key", l.Key)
	}
	l.Attributes = a.attributes(l.Attributes)
	return l
}

func (a *Writer) Region(r trace.Region) trace.RegionID {
	if name, without := trace.EndOf(&r); without { // of a store, which has put it aside
		r.Name, r.Attributes = name,
			slices.DeleteFunc(slices.Clone(r.Attributes),
				func(x trace.Attribute) bool { return x.Value.String() == name })
		return a.w.Region(trace.WithoutEnd(a.region(r)))
	}
	return a.w.Region(a.region(r))
}

func (a *Writer) region(r trace.Region) trace.Region {
	if r.Role == trace.RoleByName {
		r.Role = trace.RoleOf(r.Name, r.Category) // while the name can tell
	}
	if !a.keepsRegion(r.Name) {
		r.Name = a.word("region", r.Name)
	}
	if r.Category != "" && !a.keep["regions"] && !slices.Contains(categories, r.Category) {
		r.Category = a.word("category", r.Category)
	}
	if !a.keep["paths"] {
		r.File = a.word("file", r.File)
	}
	r.Attributes = a.attributes(r.Attributes)
	return r
}

func (a *Writer) keepsRegion(name string) bool {
	return a.keep["regions"] || a.keep["public"] && isPublic(name)
}

// isStep reports whether a text is the name of a step whose region keeps its name: the raw name tells its number.
func (a *Writer) isStep(text string) bool {
	name := trace.FoldName(text)
	return name != text && trace.FoldedStep(name) && a.keepsRegion(name)
}

func isPublic(name string) bool {
	return slices.ContainsFunc(public, func(p string) bool { return strings.HasPrefix(name, p) })
}

func (a *Writer) attributes(list []trace.Attribute) []trace.Attribute {
	if a.keep["attributes"] || len(list) == 0 {
		return list
	}
	out := make([]trace.Attribute, len(list))
	for i, x := range list {
		out[i] = trace.Attribute{Key: a.attribute(x.Key), Value: a.value(x.Value)}
	}
	return out
}

func (a *Writer) attribute(name string) string {
	if a.keep["attributes"] || slices.Contains(signs, name) {
		return name
	}
	return a.word("attribute", name)
}

// value replaces texts; numbers stay.
func (a *Writer) value(v trace.Value) trace.Value {
	if a.keep["attributes"] || v.Kind != trace.ValueText {
		return v
	}
	switch text := v.String(); text {
	case "true", "false":
		return v
	default:
		if a.isStep(text) {
			return v
		}
		return trace.Text(a.word("text", text))
	}
}

func (a *Writer) Attribute(name string) trace.AttributeID { return a.w.Attribute(a.attribute(name)) }

func (a *Writer) Counter(c trace.Counter) trace.CounterID {
	if !a.keep["counters"] {
		c.Name = a.word("counter", c.Name)
	}
	return a.w.Counter(c)
}

func (a *Writer) Communicator(c trace.Communicator) trace.CommunicatorID {
	c.Name = a.word("communicator", c.Name)
	return a.w.Communicator(c)
}

func (a *Writer) Metric(m trace.Metric) trace.MetricID {
	if !a.keep["counters"] {
		m.Name, m.Parent, m.Description = a.metric(m.Name), a.metric(m.Parent), ""
	}
	return a.w.Metric(m)
}

// SourceFile implements trace.LineTaker.
func (a *Writer) SourceFile(name string) trace.FileID {
	if !a.keep["paths"] {
		name = a.word("file", name)
	}
	return trace.SourceFile(a.w, name)
}

func (a *Writer) metric(name string) string {
	switch name {
	case "time", "TIME", "samples", "visits", "calls", "bytes":
		return name
	}
	return a.word("metric", name)
}

func (a *Writer) Topology(t trace.Topology) {
	if !a.keep["locations"] {
		t.Name = a.word("topology", t.Name)
		names := make([]string, len(t.DimNames))
		for i, n := range t.DimNames {
			names[i] = a.word("dimension", n)
		}
		t.DimNames = names
	}
	a.w.Topology(t)
}

// Property leaves facts of the whole run out: paths, users, commands and dates are in them.
func (a *Writer) Property(key, value string) {
	if a.keep["properties"] {
		a.w.Property(key, value)
		return
	}
	a.w.Report(trace.MissingDetails, "properties of the run, which may identify its owner", 1, "")
}

// Report passes counts of repairs, guesses and omissions on, without their descriptions unless properties are kept.
func (a *Writer) Report(kind trace.ReportKind, what string, count int64, example string) {
	if !a.keep["properties"] {
		what, example = "records of the source, before names were replaced", ""
	}
	a.w.Report(kind, what, count, example)
}

func (a *Writer) Stream(id trace.LocationID, o trace.StreamOptions) trace.Stream {
	return &stream{a.w.Stream(id, o), a}
}
func (a *Writer) Link(l trace.Link)                          { a.w.Link(l) }
func (a *Writer) Links(list []trace.Link)                    { trace.AddLinks(a.w, list) }
func (a *Writer) CallPath(p trace.CallPath) trace.CallPathID { return a.w.CallPath(p) }
func (a *Writer) Profile(r trace.ProfileRow)                 { a.w.Profile(r) }
func (a *Writer) Lines(rows []trace.LineRow)                 { trace.AddLines(a.w, rows) }
func (a *Writer) Atomic(r trace.AtomicRow)                   { a.w.Atomic(r) }
func (a *Writer) Moments(r trace.MomentRow)                  { a.w.Moments(r) }
func (a *Writer) SortRegions()                               { trace.SortRegions(a.w) }
func (a *Writer) Format(name string)                         { trace.SetFormat(a.w, name) }
func (a *Writer) Meet(m *trace.Meeting)                      { trace.Meet(a.w, m) }
func (a *Writer) Cover(begin, end trace.Time)                { trace.Cover(a.w, begin, end) }

// A stream replaces texts of attributes.
type stream struct {
	trace.Stream
	a *Writer
}

func (s *stream) Attribute(id trace.AttributeID, v trace.Value) { s.Stream.Attribute(id, s.a.value(v)) }
func (s *stream) Rounded(most trace.Time)                       { trace.SetRounded(s.Stream, most) }
func (s *stream) Calls(list []trace.StackRecord)                { trace.AddCalls(s.Stream, list) }
