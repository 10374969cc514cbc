package nsight

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// devicesSide reads the work of GPUs.
func (c *converter) devicesSide(ctx context.Context, rows *rows) (works []launch.End, err error) {
	g := &gpuSide{converter: c, rows: rows, regions: map[regionKey]trace.RegionID{}, contexts: map[device]int64{}}
	for _, step := range []func(context.Context) error{g.kernels, g.copiesAndSets, g.graphs, g.waits, g.memory,
		g.metrics} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return g.works, nil
}

type gpuSide struct {
	*converter
	rows    *rows
	regions map[regionKey]trace.RegionID
	works   []launch.End
	// contexts tell the device of a process's context, as records of work say it: those of
	// waits say device 0 whatever it was.
	contexts map[device]int64
}

type regionKey struct {
	category string
	name     int64
}

// activity are the columns that all records of GPU work share.
var activity = []string{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"}

// work adds one piece of GPU work. It reports false where the row lacks a time or a place.
func (g *gpuSide) work(r *sqlitefile.Row, region trace.RegionID) (*row, bool) {
	begin, ok1 := r.Int(0)
	end, ok2 := r.Int(1)
	number, ok3 := r.Int(2)
	if !ok1 || !ok2 || !ok3 {
		g.w.Report(trace.MissingIntervals, "GPU work without a time or a device", 1, g.label)
		return nil, false
	}
	context, _ := r.Int(3)
	stream, _ := r.Int(4)
	process, _ := r.Int(6)
	at := g.rows.row(place{onStream, processOf(process), number, context, stream}, func() trace.LocationID {
		g.contexts[device{processOf(process), context}] = number
		text := strconv.FormatInt(stream, 10)
		return g.w.Location(trace.Location{
			Parent: g.device(process, number), Kind: trace.KindStream, Key: fmt.Sprint(context, "/", stream),
			Name: "stream " + text, Rank: trace.NoRank, Order: stream,
		})
	})
	at.Stream.Interval(g.time(begin), g.time(end), region)
	if id, ok := r.Int(5); ok && id > 0 {
		at.Stream.Attribute(g.attribute.correlation, trace.Integer(id))
		g.works = append(g.works,
			launch.End{Group: processOf(process), ID: id, Time: g.time(begin), Location: at.At, Region: region})
	}
	return at, true
}

// region finds the region of a name in StringIds.
func (g *gpuSide) region(category string, name int64, fallback string) trace.RegionID {
	key := regionKey{category, name}
	return importer.Once(g.regions, key, func() trace.RegionID {
		text := cmp.Or(g.names[name], fallback)
		return g.w.Region(trace.Region{Name: text, Category: category})
	})
}

func (g *gpuSide) kernels(ctx context.Context) error {
	columns := append(activity[:len(activity):len(activity)], "demangledName", "shortName", "mangledName",
		"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
		"dynamicSharedMemory", "graphNodeId", "graphId")
	n := len(activity)
	shapes := shapeTexts{}
	return g.table("CUPTI_ACTIVITY_KIND_KERNEL").scan(ctx, func(r *sqlitefile.Row) error {
		name := int64(-1)
		for i := range 3 {
			if id, ok := r.Int(n + i); ok && g.names[id] != "" {
				name = id
				break
			}
		}
		at, ok := g.work(r, g.region("kernel", name, "kernel without a name"))
		if !ok {
			return nil
		}
		if !r.Null(n+3) && !r.Null(n+6) {
			at.Stream.Attribute(g.attribute.grid, shapes.text(r, n+3))
			at.Stream.Attribute(g.attribute.block, shapes.text(r, n+6))
		}
		if v, ok := r.Int(n + 9); ok {
			at.Stream.Attribute(g.attribute.registers, trace.Integer(v))
		}
		static, _ := r.Int(n + 10)
		dynamic, _ := r.Int(n + 11)
		if static+dynamic > 0 {
			at.Stream.Attribute(g.attribute.shared, trace.Integer(static+dynamic))
		}
		g.graph(at, r, n+12)
		return nil
	}, columns...)
}

// graph adds which node of which graph a piece of work is.
func (g *gpuSide) graph(at *row, r *sqlitefile.Row, i int) {
	if v, ok := r.Int(i); ok && v > 0 {
		at.Stream.Attribute(g.attribute.graphNode, trace.Integer(v))
	}
	if v, ok := r.Int(i + 1); ok && v > 0 {
		at.Stream.Attribute(g.attribute.graph, trace.Integer(v))
	}
}

// shapeTexts keeps "[1, 2, 3]" of the shapes seen: there are few.
type shapeTexts map[[3]int64]trace.Value

func (s shapeTexts) text(r *sqlitefile.Row, i int) trace.Value {
	var shape [3]int64
	for k := range shape {
		shape[k], _ = r.Int(i + k)
	}
	v, ok := s[shape]
	if !ok {
		v = trace.Text(fmt.Sprintf("[%d, %d, %d]", shape[0], shape[1], shape[2]))
		if len(s) < 1<<16 {
			s[shape] = v
		}
	}
	return v
}

func (g *gpuSide) copiesAndSets(ctx context.Context) error {
	columns := append(activity[:len(activity):len(activity)], "bytes", "copyKind", "graphNodeId", "graphId")
	n := len(activity)
	known := map[int64]trace.RegionID{}
	err := g.table("CUPTI_ACTIVITY_KIND_MEMCPY").scan(ctx, func(r *sqlitefile.Row) error {
		kind, _ := r.Int(n + 1)
		region := importer.Once(known, kind, func() trace.RegionID {
			name := "Memcpy"
			if word := g.copies[kind]; word != "" {
				name += " " + word
			}
			return g.w.Region(trace.Region{Name: name, Category: "gpu_memcpy", Role: trace.RoleCopy})
		})
		g.sized(r, region, n)
		return nil
	}, columns...)
	if err != nil {
		return err
	}
	set := trace.NoRegion
	return g.table("CUPTI_ACTIVITY_KIND_MEMSET").scan(ctx, func(r *sqlitefile.Row) error {
		if set == trace.NoRegion {
			set = g.w.Region(trace.Region{Name: "Memset", Category: "gpu_memset", Role: trace.RoleCopy})
		}
		g.sized(r, set, n)
		return nil
	}, columns...)
}

func (g *gpuSide) sized(r *sqlitefile.Row, region trace.RegionID, n int) {
	at, ok := g.work(r, region)
	if !ok {
		return
	}
	if v, ok := r.Int(n); ok {
		at.Stream.Attribute(g.attribute.bytes, trace.Integer(v))
	}
	g.graph(at, r, n+2)
}

// graphs reads replays of CUDA graphs that were recorded as a whole.
func (g *gpuSide) graphs(ctx context.Context) error {
	columns := append(activity[:len(activity):len(activity)], "graphNodeId", "graphId")
	region := trace.NoRegion
	return g.table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE").scan(ctx, func(r *sqlitefile.Row) error {
		if region == trace.NoRegion {
			region = g.w.Region(trace.Region{Name: "CUDA graph", Category: "kernel", Role: trace.RoleCompute})
		}
		if at, ok := g.work(r, region); ok {
			g.graph(at, r, len(activity))
		}
		return nil
	}, columns...)
}

// waits reads for how long hosts waited for a GPU. They are told next to the streams, and aside: a stream
// goes on while a host waits for it, and the waiting call is on the host's thread.
func (g *gpuSide) waits(ctx context.Context) error {
	names := map[int64]string{1: "event synchronize", 2: "stream wait event", 3: "stream synchronize",
		4: "context synchronize"}
	regions := map[int64]trace.RegionID{}
	return g.table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION").scan(ctx, func(r *sqlitefile.Row) error {
		begin, ok1 := r.Int(0)
		end, ok2 := r.Int(1)
		number, _ := r.Int(2)
		process, _ := r.Int(3)
		kind, _ := r.Int(4)
		context, _ := r.Int(5)
		if known, ok := g.contexts[device{processOf(process), context}]; ok {
			number = known
		}
		if !ok1 || !ok2 {
			g.w.Report(trace.MissingIntervals, "waits for a GPU without a time", 1, g.label)
			return nil
		}
		region := importer.Once(regions, kind, func() trace.RegionID {
			name := cmp.Or(names[kind], "synchronize")
			return g.w.Region(trace.Region{Name: name, Category: "cuda_sync", Role: trace.RoleSynchronization})
		})
		at := g.rows.row(place{kind: onDevice, process: processOf(process), a: number}, func() trace.LocationID {
			return g.w.Location(trace.Location{Parent: g.device(process, number), Kind: trace.KindRepeat, Key: "waits",
				Name: "waits of the host", Rank: trace.NoRank, Order: 1 << 50})
		})
		at.Stream.Interval(g.time(begin), g.time(end), region)
		return nil
	}, "start", "end", "deviceId", "globalPid", "syncType", "contextId")
}
