package write

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Kineto is the format of PyTorch's profiler: a directory with one JSON file per rank. It uses gzip if the
// directory's name ends in .gz.
//
//	process             pid: its key, and distributedInfo.rank
//	thread              tid: its key
//	device, stream      pid and tid of GPU rows: their keys
//	interval            X; cat is the category of its region
//	spawn               flow ac2g from launch to kernel, its tag as id
//	flow                flow fwdbwd, its tag as id
//	communicator        distributedInfo.pg_config
//	counter             C, of the process; the profiler itself writes none
//	memory of a device  [memory], both counters in one record
//
// Files are formatted where their records come from, so ranks that are written by
// different goroutines use several cores.
var Kineto = &Format{
	Name:   "kineto",
	Title:  "PyTorch Kineto, a directory with one JSON file a rank",
	Create: createKineto,
}

const (
	// kinetoBase is baseTimeNanoseconds of the files: 2026-01-01.
	kinetoBase = 1_767_225_600_000_000_000
	// kinetoStart is when the trace begins relative to that. Real files are some
	// weeks away from their base too, which takes all digits of a float64.
	kinetoStart = 3_800_000_000_000_000
)

// kinetoCategories are those that the profiler knows; others count as operators.
var kinetoCategories = map[string]bool{
	"cpu_op": true, "user_annotation": true, "gpu_user_annotation": true, "kernel": true, "gpu_memcpy": true,
	"gpu_memset":   true,
	"cuda_runtime": true, "cuda_driver": true, "cuda_sync": true, "overhead": true, "python_function": true,
	"cpu_instant_event": true,
}

type kineto struct {
	*definitions
	pending pending
	gzip    bool

	opening sync.Mutex // guards the fields below
	files   map[int]*kinetoFile
	world   int // number of ranks, once known
}

func createKineto(path string) (File, error) {
	p, err := newPending(path, true)
	if err != nil {
		return nil, err
	}
	category := func(c string) string {
		if kinetoCategories[c] {
			return c
		}
		return "cpu_op"
	}
	return &kineto{
		definitions: newDefinitions("kineto", category), pending: p,
		gzip: strings.HasSuffix(p.path, ".gz"), files: map[int]*kinetoFile{},
	}, nil
}

// file returns the file of a location's rank, beginning it if needed.
func (k *kineto) file(id trace.LocationID) *kinetoFile {
	k.opening.Lock()
	defer k.opening.Unlock()
	k.mu.RLock()
	rank := k.rank(id)
	k.mu.RUnlock()
	if f, ok := k.files[rank]; ok {
		return f
	}
	if rank == trace.NoRank {
		k.cannotHold("locations without a rank")
	}
	name := fmt.Sprintf("rank%d.json", rank)
	if k.gzip {
		name += ".gz"
	}
	k.mu.RLock()
	f := &kinetoFile{
		k: k, rank: rank, name: name, path: filepath.Join(k.pending.temporary, name),
		rows: map[trace.LocationID]*kinetoRow{}, devices: map[trace.LocationID]bool{},
		first: 1 << 62, pid: k.pid(id, rank), host: k.host(id),
	}
	f.buffer = k.appendHeader(f.buffer, f)
	k.mu.RUnlock()
	k.files[rank] = f
	return f
}

// pid of the process of a location.
func (k *kineto) pid(id trace.LocationID, rank int) int64 {
	if p := k.above(id, trace.KindProcess); p != trace.NoLocation {
		if n, ok := k.number(p); ok {
			return n
		}
	}
	return 1000 + int64(rank)
}

func (k *kineto) host(id trace.LocationID) string {
	if m := k.above(id, trace.KindMachine); m != trace.NoLocation {
		return k.locations[m].Name
	}
	return ""
}

func (k *kineto) appendHeader(b []byte, f *kinetoFile) []byte {
	if k.world == 0 {
		for i := range k.locations {
			if k.locations[i].Rank != trace.NoRank {
				k.world++
			}
		}
	}
	b = append(b, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n"...)
	b = appendDevices(b, max(k.devices(), 1))
	b = append(b, "\n  ],\n  \"distributedInfo\": {"...)
	backend := "gloo"
	for _, p := range k.properties {
		if p[0] == "backend" {
			backend = p[1]
		}
	}
	b = appendText(append(b, `"backend": `...), backend)
	b = fmt.Appendf(b, `, "rank": %d, "world_size": %d, "pg_count": %d, "pg_config": [`, f.rank, k.world,
		len(k.communicators))
	for i, c := range k.communicators {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendText(fmt.Appendf(b, `{"pg_name": "%d", "pg_desc": `, i), c.Name)
		b = appendText(append(b, `, "backend_config": `...), "cuda:"+backend)
		b = fmt.Appendf(b, `, "pg_size": %d, "ranks": [`, len(c.Members))
		for j, m := range c.Members {
			if j > 0 {
				b = append(b, ", "...)
			}
			b = fmt.Append(b, k.rank(m))
		}
		b = append(b, "]}"...)
	}
	b = append(b, "]},\n"...)
	b = append(appendText(append(b, "  \"hostname\": "...), f.host), ",\n"...)
	b = fmt.Appendf(b, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %d,\n  \"traceEvents\": [\n",
		int64(kinetoBase))
	return f.appendProcess(b, f.pid, "CPU", f.pid)
}

func (k *kineto) Link(l trace.Link) {
	f := k.file(l.From.Location)
	if to := k.file(l.To.Location); to != f {
		k.cannotHold("messages between ranks, which are files of their own; write chrome instead")
		return
	}
	if l.Untimed {
		k.cannotHold("messages without times")
		return
	}
	f.link(l)
}

func (k *kineto) Commit() error {
	for _, f := range k.files {
		if k.failed() == nil {
			k.fail(f.end())
		}
	}
	err := k.failed()
	if err == nil {
		err = k.pending.commit()
	}
	if err != nil {
		k.Abort()
	}
	return err
}

func (k *kineto) Abort() {
	for _, f := range k.files {
		f.park()
	}
	k.pending.abort()
}

// openFile opens a file to append to it.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
}
