package nsight

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// hostSide reads the calls and states of threads.
func (c *converter) hostSide(ctx context.Context, rows *rows) ([]launch.End, error) {
	h := &hostSide{converter: c, rows: rows, calls: map[regionKey]trace.RegionID{},
		ranges: map[rangeKey]trace.RegionID{}, operators: map[int64]torchOperator{}}
	if err := h.nvtx(ctx); err != nil {
		return nil, err
	}
	for _, t := range c.tables {
		if callTable(t) {
			if err := h.table(ctx, t); err != nil {
				return nil, err
			}
		}
	}
	if err := h.scheduling(ctx); err != nil {
		return nil, err
	}
	return h.launches, h.samples(ctx)
}

type hostSide struct {
	*converter
	rows      *rows
	calls     map[regionKey]trace.RegionID
	ranges    map[rangeKey]trace.RegionID
	operators map[int64]torchOperator // by their text in StringIds
	launches  []launch.End
}

// callTable reports whether a table holds calls of threads, whatever its name is: each row
// a time, a thread and a name. So libraries that later versions trace are read, too.
func callTable(t *table) bool {
	return t.Has("start", "end", "globalTid", "nameId") && t.Name != "NVTX_EVENTS"
}

// categoryOf names a table's calls as other formats do.
func categoryOf(table string) string {
	switch {
	case table == "CUPTI_ACTIVITY_KIND_RUNTIME":
		return "cuda_runtime"
	case table == "OSRT_API":
		return "os runtime"
	case strings.HasPrefix(table, "MPI_"):
		return "mpi"
	case strings.HasSuffix(table, "_OVERHEAD"):
		return "overhead"
	}
	name, _, _ := strings.Cut(strings.ToLower(table), "_event")
	return strings.ReplaceAll(strings.TrimSuffix(name, "_api"), "_", " ")
}

// thread finds the row of a thread.
func (h *hostSide) thread(globalTid int64) *row {
	return h.rows.row(place{kind: onThread, process: globalTid}, func() trace.LocationID {
		number := strconv.FormatInt(tid(globalTid), 10)
		l := trace.Location{Parent: h.process(globalTid), Kind: trace.KindThread, Key: number, Name: "thread " + number,
			Rank: trace.NoRank, Order: tid(globalTid), Attributes: importer.TID(tid(globalTid))}
		if name := h.labels[globalTid]; name != "" {
			l.Name = name + " " + number
		}
		return h.w.Location(l)
	})
}

// overhead finds the row for the profiler's own time in a process.
func (h *hostSide) overhead(globalTid int64) *row {
	return h.rows.row(place{kind: onOverhead, process: processOf(globalTid)}, func() trace.LocationID {
		return h.w.Location(trace.Location{Parent: h.process(globalTid), Kind: trace.KindThread, Key: "overhead",
			Name: "profiler overhead", Rank: trace.NoRank, Order: 1 << 41})
	})
}

// table reads a table of calls. Calls of CUDA may have launched work.
func (h *hostSide) table(ctx context.Context, t *table) error {
	category := categoryOf(t.Name)
	return t.scan(ctx, func(r *sqlitefile.Row) error {
		begin, ok1 := r.Int(0)
		end, ok2 := r.Int(1)
		thread, ok3 := r.Int(2)
		if !ok1 || !ok3 {
			h.w.Report(trace.MissingIntervals, "calls without a time or a thread", 1, h.label+": "+t.Name)
			return nil
		}
		name, _ := r.Int(3)
		region := h.call(category, name)
		at := h.thread(thread)
		if category == "overhead" {
			at = h.overhead(thread)
		}
		if ok2 {
			at.Stream.Interval(h.time(begin), h.time(end), region)
		} else {
			at.Stream.Enter(h.time(begin), region)
		}
		if id, ok := r.Int(4); ok && id > 0 && category == "cuda_runtime" {
			at.Stream.Attribute(h.attribute.correlation, trace.Integer(id))
			h.launches = append(h.launches,
				launch.End{Group: processOf(thread), ID: id, Time: h.time(begin), Location: at.At, Region: region})
		}
		if bytes, ok := r.Int(5); ok {
			at.Stream.Attribute(h.attribute.bytes, trace.Integer(bytes))
		}
		return nil
	}, "start", "end", "globalTid", "nameId", "correlationId", "size")
}

// call finds the region of a call. CUDA's names end in the version that introduced them, which
// tells nothing; the runtime and the driver are distinguished by their names.
func (h *hostSide) call(category string, name int64) trace.RegionID {
	key := regionKey{category, name}
	id, ok := h.calls[key]
	if !ok {
		region := trace.Region{Name: h.names[name], Category: category}
		if region.Name == "" {
			region.Name = category + " call without a name"
		}
		switch category {
		case "cuda_runtime":
			region.Name = withoutVersion(region.Name)
			if rest, ok := strings.CutPrefix(region.Name, "cu"); ok && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z' {
				region.Category = "cuda_driver"
			}
		case "overhead":
			region.Role = trace.RoleOverhead
		}
		id = h.w.Region(region)
		h.calls[key] = id
	}
	return id
}

// withoutVersion cuts "_v3020" off.
func withoutVersion(name string) string {
	at := strings.LastIndex(name, "_v")
	if at <= 0 || at+2 == len(name) {
		return name
	}
	for _, c := range name[at+2:] {
		if c < '0' || c > '9' {
			return name
		}
	}
	return name[:at]
}

// scheduling reads who ran on which CPU as rows of CPUs.
func (h *hostSide) scheduling(ctx context.Context) error {
	t := h.converter.table("SCHED_EVENTS")
	if t == nil {
		return nil
	}
	group := trace.NoLocation
	regions := map[int64]trace.RegionID{}
	return t.scan(ctx, func(r *sqlitefile.Row) error {
		at, ok1 := r.Int(0)
		cpu, ok2 := r.Int(1)
		in, _ := r.Int(2)
		thread, ok3 := r.Int(3)
		if !ok1 || !ok2 || !ok3 {
			h.w.Report(trace.MissingEvents, "records of scheduling without a time, a CPU or a thread", 1, h.label)
			return nil
		}
		row := h.rows.row(place{kind: onCPU, a: cpu}, func() trace.LocationID {
			if group == trace.NoLocation {
				group = h.w.Location(trace.Location{Parent: h.host, Kind: trace.KindGroup, Key: "cpus", Name: "CPUs",
					Rank: trace.NoRank, Order: 1 << 42})
			}
			number := strconv.FormatInt(cpu, 10)
			return h.w.Location(trace.Location{Parent: group, Kind: trace.KindProcessor, Key: number,
				Name: "CPU " + number, Rank: trace.NoRank, Order: cpu})
		})
		region := importer.Once(regions, thread, func() trace.RegionID {
			name := cmp.Or(h.labels[thread], "thread")
			return h.w.Region(trace.Region{Name: name + " " + strconv.FormatInt(tid(thread), 10), Category: "scheduled",
				Role: trace.RoleCompute})
		})
		if in != 0 {
			row.Stream.Enter(h.time(at), region)
		} else {
			row.Stream.Leave(h.time(at), region)
		}
		return nil
	}, "start", "cpu", "isSchedIn", "globalTid")
}
