package nsight

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostLine bounds a line. The longest is the one with all strings.
const mostLine = 256 << 20

// isLines reports whether a file begins like an export as JSON lines: with a record, or with the table of strings.
func isLines(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte(`{"data":["[Unknown]","[Unknown kernel module]"`)) ||
		bytes.HasPrefix(head, []byte(`{"type":"String","id":"0"`)) {
		return true
	}
	if !bytes.HasPrefix(head, []byte(`{"Type":`)) {
		return false
	}
	rest := bytes.TrimLeft(head[len(`{"Type":`):min(len(head), 40)], "0123456789")
	name, _, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(`,"`)), []byte(`"`))
	return len(rest) > 2 && string(rest[:2]) == `,"` && ok && bytes.HasSuffix(name, []byte("Event"))
}

// A line is a message of the report. Numbers of 64 bits are strings in JSON.
type line struct {
	Type int64
	Cuda *cudaEvent `json:"CudaEvent"`
	Call *callEvent `json:"TraceProcessEvent"`
	Nvtx *nvtxEvent `json:"NvtxEvent"`

	Data []string `json:"data"` // all strings, by their ids

	Kind   string `json:"type"` // of one string or one thread's name
	ID     number `json:"id"`
	Value  string `json:"value"`
	Thread number `json:"globalTid"`
	NameID number `json:"nameId"`
}

type cudaEvent struct {
	StartNs, EndNs, CorrelationID, DeviceID, ContextID, StreamID, GlobalPid number

	Kernel *struct {
		DemangledName, ShortName, MangledName, RegistersPerThread, StaticSharedMemory, DynamicSharedMemory number
		GridX, GridY, GridZ, BlockX, BlockY, BlockZ, GraphNodeID, GraphID                                  number
	}
	Memcpy *struct {
		Sizebytes, CopyKind, GraphNodeID number
	}
	Memset *struct {
		Sizebytes, GraphNodeID number
	}
	Sync *struct {
		SyncType syncType
	}
}

type callEvent struct {
	StartNs, EndNs, CorrelationID, EventClass, Name, GlobalTid number
}

type nvtxEvent struct {
	Type, Timestamp, EndTimestamp, GlobalTid, DomainID, TextID number
	Text                                                       *string
}

// A number is an integer that may be written as a string, or be missing.
type number struct {
	n  int64
	ok bool
}

// UnmarshalJSON implements json.Unmarshaler. A value that is no integer is missing.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(string(bytes.Trim(b, `"`)), 10, 64)
	if err != nil {
		// Ids of threads use all 64 bits.
		u, unsigned := strconv.ParseUint(string(bytes.Trim(b, `"`)), 10, 64)
		v, err = int64(u), unsigned
	}
	n.n, n.ok = v, err == nil
	return nil
}

// A syncType is CUPTI's number or its word.
type syncType struct{ number }

// UnmarshalJSON implements json.Unmarshaler.
func (s *syncType) UnmarshalJSON(b []byte) error {
	words := []string{"EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT", "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"}
	for i, w := range words {
		if bytes.Contains(b, []byte(w)) {
			s.n, s.ok = int64(i+1), true
			return nil
		}
	}
	return s.number.UnmarshalJSON(b)
}

// The columns of the tables that lines become.
var (
	lineActivity = []string{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"}
	lineTables   = map[string][]string{
		"StringIds":                           {"id", "value"},
		"ThreadNames":                         {"nameId", "globalTid"},
		"NVTX_EVENTS":                         {"start", "end", "eventType", "globalTid", "domainId", "textId", "text"},
		"CUPTI_ACTIVITY_KIND_RUNTIME":         callColumns,
		"OSRT_API":                            callColumns,
		"CUDNN_EVENTS":                        callColumns,
		"CUBLAS_EVENTS":                       callColumns,
		"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": append(lineActivity[:7:7], "syncType"),
		"CUPTI_ACTIVITY_KIND_MEMCPY":          append(lineActivity[:7:7], "bytes", "copyKind", "graphNodeId"),
		"CUPTI_ACTIVITY_KIND_MEMSET":          append(lineActivity[:7:7], "bytes", "graphNodeId"),
		"CUPTI_ACTIVITY_KIND_KERNEL": append(lineActivity[:7:7], "demangledName", "shortName", "mangledName", "gridX",
			"gridY", "gridZ",
			"blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
			"graphNodeId", "graphId"),
	}
	callColumns = []string{"start", "end", "globalTid", "nameId", "correlationId"}
)

// callTables are the tables of calls by their class, as ENUM_NSYS_EVENT_CLASS of other exports names these. Other
// classes are marks of the profiler itself.
var callTables = map[int64]string{0: "CUPTI_ACTIVITY_KIND_RUNTIME", 1: "CUPTI_ACTIVITY_KIND_RUNTIME",
	26: "CUPTI_ACTIVITY_KIND_RUNTIME", 27: "OSRT_API", 28: "CUDNN_EVENTS", 29: "CUBLAS_EVENTS"}

// traceFunctions is the type of a record that is a call.
const traceFunctions = 48

// openLines turns a file of lines into tables, which are in the temporary directory: names come last, and are needed
// first.
func openLines(ctx context.Context, run importer.Run, name string, w trace.Writer) (*file, error) {
	f := &file{run: run, name: name, label: run.Label(name), w: w}
	db := newSpooledTables()
	f.close = db.close
	in, err := run.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	l := &lines{file: f, db: db, other: map[string]int64{}}
	err = l.read(ctx, in)
	if err == nil {
		err = db.flush()
	}
	if err != nil {
		db.close()
		return nil, err
	}
	l.report()
	f.take(db)
	return f, nil
}

// lines is one pass over a file.
type lines struct {
	*file
	db    *spooledTables
	at    int64
	bad   int64
	first int64
	other map[string]int64 // records of kinds that are not read
}

func (l *lines) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 1<<16)
	var long []byte
	for {
		b, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, b...); len(long) > mostLine {
				return importer.Malformed(l.label, fmt.Sprintf("line %d", l.at+1), "a line of more than %d MiB",
					mostLine>>20)
			}
			continue
		}
		if len(long) > 0 {
			long = append(long, b...)
			b = long
		}
		l.at++
		l.run.Progress.Add(int64(len(b)))
		if b = bytes.TrimSpace(b); len(b) > 0 {
			if err := l.line(b); err != nil {
				return err
			}
		}
		long = long[:0]
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return importer.Malformed(l.label, fmt.Sprintf("line %d", l.at), "reading fails: %v", err)
		}
		if l.at%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// line adds one message. Lines that are no JSON are counted.
func (l *lines) line(b []byte) error {
	var m line
	if err := json.Unmarshal(b, &m); err != nil {
		if l.bad++; l.bad == 1 {
			l.first = l.at
		}
		return nil
	}
	switch {
	case m.Cuda != nil:
		return l.cuda(m.Cuda)
	case m.Call != nil:
		if table, ok := callTables[m.Call.EventClass.n]; ok && m.Type == traceFunctions {
			c := m.Call
			return l.db.add(table, c.StartNs, c.EndNs, c.GlobalTid, c.Name, c.CorrelationID)
		}
		l.other["calls of other libraries and marks of the profiler"]++
	case m.Nvtx != nil:
		n := m.Nvtx
		if !n.Type.ok {
			n.Type = number{m.Type, true}
		}
		if n.Text != nil {
			return l.db.add("NVTX_EVENTS", n.Timestamp, n.EndTimestamp, n.Type, n.GlobalTid, n.DomainID, n.TextID,
				*n.Text)
		}
		return l.db.add("NVTX_EVENTS", n.Timestamp, n.EndTimestamp, n.Type, n.GlobalTid, n.DomainID, n.TextID, number{})
	case m.Data != nil:
		for id, s := range m.Data {
			if err := l.db.add("StringIds", number{int64(id), true}, s); err != nil {
				return err
			}
		}
	case m.Kind == "String":
		return l.db.add("StringIds", m.ID, m.Value)
	case m.Kind == "ThreadName":
		return l.db.add("ThreadNames", m.NameID, m.Thread)
	case m.Type != 0:
		l.other["records "+otherKind(b)]++
	}
	return nil
}

func (l *lines) cuda(c *cudaEvent) error {
	work := []any{c.StartNs, c.EndNs, c.DeviceID, c.ContextID, c.StreamID, c.CorrelationID, c.GlobalPid}
	switch {
	case c.Kernel != nil:
		k := c.Kernel
		return l.db.add("CUPTI_ACTIVITY_KIND_KERNEL",
			append(work, k.DemangledName, k.ShortName, k.MangledName, k.GridX, k.GridY, k.GridZ, k.BlockX, k.BlockY,
				k.BlockZ,
				k.RegistersPerThread, k.StaticSharedMemory, k.DynamicSharedMemory, k.GraphNodeID, k.GraphID)...)
	case c.Memcpy != nil:
		return l.db.add("CUPTI_ACTIVITY_KIND_MEMCPY",
			append(work, c.Memcpy.Sizebytes, c.Memcpy.CopyKind, c.Memcpy.GraphNodeID)...)
	case c.Memset != nil:
		return l.db.add("CUPTI_ACTIVITY_KIND_MEMSET", append(work, c.Memset.Sizebytes, c.Memset.GraphNodeID)...)
	case c.Sync != nil:
		return l.db.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", append(work, c.Sync.SyncType.number)...)
	}
	l.other["records of CUDA that are neither work nor waits"]++
	return nil
}

// otherKind is the name of a message's second field, its kind.
func otherKind(b []byte) string {
	_, rest, _ := strings.Cut(string(b[:min(len(b), 200)]), `,"`)
	name, _, ok := strings.Cut(rest, `"`)
	if !ok || name == "" || len(name) > 40 {
		return "of an unknown kind"
	}
	return name
}

// report counts the parts left out.
func (l *lines) report() {
	importer.Tell(l.w, trace.MissingEvents, "lines that are no JSON", l.bad,
		fmt.Sprintf("%s: line %d", l.label, l.first))
	for what, n := range l.other {
		l.w.Report(trace.MissingEvents, what, n, l.label)
	}
	if !l.db.has("StringIds") {
		l.w.Report(trace.MissingNames, "tables of names that are missing (the file ends before them)", 1, l.label)
	}
}

var _ database = (*sqlitefile.File)(nil)
