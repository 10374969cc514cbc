package write

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A kinetoFile is the file of one rank. While none of its streams is open it is
// closed, so that ten thousand ranks do not need ten thousand handles; appending
// to a packed file adds a member to it.
type kinetoFile struct {
	k          *kineto
	rank       int
	name, path string
	pid        int64
	host       string

	mu          sync.Mutex
	rows        map[trace.LocationID]*kinetoRow
	devices     map[trace.LocationID]bool // whose metadata is written
	buffer      []byte
	out         *os.File
	packer      *gzip.Writer
	streams     int // open
	first, last trace.Time
}

// A kinetoRow is a location as the profiler names it.
type kinetoRow struct {
	json []byte // "pid": 0, "tid": 7
	gpu  []byte // attributes of kernels and copies on this device; nil on the CPU
}

const (
	kinetoBuffer = 1 << 18
)

var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return w
}}

// open begins a stream and writes the names of its row the first time.
func (f *kinetoFile) open(id trace.LocationID) *kinetoRow {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams++
	return f.row(id)
}

func (f *kinetoFile) row(id trace.LocationID) *kinetoRow {
	if row, ok := f.rows[id]; ok {
		return row
	}
	f.k.mu.RLock()
	defer f.k.mu.RUnlock()
	at := &f.k.locations[id]
	pid, tid := f.pid, f.pid
	if n, ok := f.k.number(id); ok && at.Kind != trace.KindProcess {
		tid = n
	} else if at.Kind != trace.KindProcess {
		tid = f.pid + int64(len(f.rows))
	}
	row := &kinetoRow{}
	device := f.k.above(id, trace.KindDevice)
	if device != trace.NoLocation {
		pid, _ = f.k.number(device)
		row.gpu = fmt.Appendf(nil, `"device": %d, "context": 1, "stream": %d, `, pid, tid)
		if !f.devices[device] {
			f.devices[device] = true
			f.buffer = f.appendProcess(f.buffer, pid, fmt.Sprintf("GPU %d", pid), 5_000_000+pid)
		}
	}
	row.json = fmt.Appendf(nil, `"pid": %d, "tid": %d`, pid, tid)
	f.rows[id] = row
	if at.Kind != trace.KindDevice {
		name := fmt.Sprintf("thread %d (%s)", tid, at.Name)
		if device != trace.NoLocation {
			name = fmt.Sprintf("stream %d ", tid)
		}
		f.buffer = appendName(f.buffer, "thread", row.json, name, tid)
	}
	return row
}

// appendProcess writes the metadata of a process, or of a GPU, which is one here.
func (f *kinetoFile) appendProcess(b []byte, pid int64, label string, order int64) []byte {
	json := fmt.Appendf(nil, `"pid": %d, "tid": 0`, pid)
	b = appendName(b, "process", json, "python", order)
	b = append(append(b, `  {"name": "process_labels", "ph": "M", "ts": `...), kinetoTime(0)...)
	return fmt.Appendf(b, `, %s, "args": {"labels": %q}},`+"\n", json, label)
}

func appendName(b []byte, kind string, row []byte, name string, order int64) []byte {
	b = fmt.Appendf(b, `  {"name": "%s_name", "ph": "M", "ts": %s, %s, "args": {"name": `, kind, kinetoTime(0), row)
	b = append(appendText(b, name), "}},\n"...)
	return fmt.Appendf(b, `  {"name": "%s_sort_index", "ph": "M", "ts": %s, %s, "args": {"sort_index": %d}},`+"\n",
		kind, kinetoTime(0), row, order)
}

func kinetoTime(t trace.Time) []byte { return appendTime(nil, t+kinetoStart) }

// write takes the formatted records of a stream.
func (f *kinetoFile) write(b []byte, first, last trace.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.first, f.last = min(f.first, first), max(f.last, last)
	f.buffer = append(f.buffer, b...)
	if len(f.buffer) >= kinetoBuffer {
		return f.flush()
	}
	return nil
}

// flush writes the buffer out, opening the file if needed.
func (f *kinetoFile) flush() error {
	if f.out == nil {
		out, err := openFile(f.path)
		if err != nil {
			return err
		}
		f.out = out
		if f.k.gzip {
			f.packer = packers.Get().(*gzip.Writer)
			f.packer.Reset(out)
		}
	}
	var err error
	if f.packer != nil {
		_, err = f.packer.Write(f.buffer)
	} else {
		_, err = f.out.Write(f.buffer)
	}
	f.buffer = f.buffer[:0]
	return err
}

// closeStream ends a stream; with the last one the file is put aside.
func (f *kinetoFile) closeStream() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams--; f.streams > 0 {
		return nil
	}
	err := f.flush()
	if parked := f.park(); err == nil {
		err = parked
	}
	f.buffer = nil
	return err
}

// park closes the file.
func (f *kinetoFile) park() (err error) {
	if f.packer != nil {
		err = f.packer.Close()
		packers.Put(f.packer)
		f.packer = nil
	}
	if f.out != nil {
		if closed := f.out.Close(); err == nil {
			err = closed
		}
		f.out = nil
	}
	return err
}

// end completes the file as the profiler does: a span over everything that is not
// work, two marks, and the file's name.
func (f *kinetoFile) end() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	begin := min(f.first, f.last)
	f.buffer = fmt.Appendf(f.buffer, `  {"ph": "X", "cat": "Trace", "ts": %s, "dur": %s, "pid": "Spans", `+
		`"tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
  {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", `+
		`"tid": "Trace PyTorch Profiler", "ts": %s},
  {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": %s}
  ],
  "traceName": %q
}
`, kinetoTime(begin), appendTime(nil, f.last-begin), kinetoTime(begin), kinetoTime(f.last), f.name)
	err := f.flush()
	if parked := f.park(); err == nil {
		err = parked
	}
	return err
}

// link writes both ends of a flow within the rank.
func (f *kinetoFile) link(l trace.Link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	flow := "fwdbwd"
	if l.Kind == trace.LinkSpawn {
		flow = "ac2g"
	}
	b := f.appendFlow(f.buffer, "s", flow, l.Tag, l.From)
	b = append(b, "},\n"...)
	b = f.appendFlow(b, "f", flow, l.Tag, l.To)
	f.buffer = append(b, ", \"bp\": \"e\"},\n"...)
	if len(f.buffer) >= kinetoBuffer {
		f.k.fail(f.flush())
	}
}

func (f *kinetoFile) appendFlow(b []byte, phase, flow string, id int64, end trace.End) []byte {
	row := f.row(end.Location)
	b = append(append(append(b, `  {"ph": "`...), phase...), `", "id": `...)
	b = append(strconv.AppendInt(b, id, 10), ", "...)
	b = append(append(b, row.json...), `, "ts": `...)
	b = appendTime(b, end.Time+kinetoStart)
	b = append(append(b, `, "cat": "`...), flow...)
	b = append(append(b, `", "name": "`...), flow...)
	return append(b, '"')
}
