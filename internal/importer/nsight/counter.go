package nsight

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A change is memory of a device taken or given back.
type change struct {
	time  trace.Time
	bytes int64
}

// memory reads allocations of device memory as the sum in use, a counter for each process, device
// and kind of memory. Changes are sorted in memory: they are few beside kernels.
func (g *gpuSide) memory(ctx context.Context) error {
	type series struct{ process, device, kind int64 }
	changes := map[series][]change{}
	err := g.table("CUDA_GPU_MEMORY_USAGE_EVENTS").scan(ctx, func(r *sqlitefile.Row) error {
		t, ok1 := r.Int(0)
		process, _ := r.Int(1)
		number, ok2 := r.Int(2)
		bytes, ok3 := r.Int(3)
		kind, _ := r.Int(4)
		operation, _ := r.Int(5)
		if !ok1 || !ok2 || !ok3 {
			g.w.Report(trace.MissingValues, "changes of GPU memory without a time, a device or a size", 1, g.label)
			return nil
		}
		if operation == 1 {
			bytes = -bytes
		}
		key := series{processOf(process), number, kind}
		changes[key] = append(changes[key], change{g.time(t), bytes})
		return nil
	}, "start", "globalPid", "deviceId", "bytes", "memKind", "memoryOperationType")
	if err != nil {
		return err
	}
	kinds := map[int64]string{0: "pageable", 1: "pinned", 2: "device", 3: "array", 4: "managed", 5: "device static",
		6: "managed static"}
	for key, list := range changes {
		slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.time, b.time) })
		name := "memory in use"
		if word := kinds[key.kind]; word != "" {
			name += " (" + word + ")"
		}
		at := g.deviceRow(key.process, key.device)
		id := g.w.Counter(trace.Counter{Location: at.At, Name: name, Unit: "bytes"})
		sum := int64(0)
		for _, x := range list {
			sum += x.bytes
			at.Stream.Sample(id, x.time, float64(sum))
		}
	}
	return nil
}

// deviceRow is the row of a GPU itself, for its counters.
func (g *gpuSide) deviceRow(process, number int64) *row {
	return g.rows.row(place{onDevice, process, number, 1, 0},
		func() trace.LocationID { return g.device(process, number) })
}

// metrics reads sampled metrics of GPUs. They belong to no process: each is shown at the
// first process that uses the GPU, else at the host.
func (g *gpuSide) metrics(ctx context.Context) error {
	type metric struct{ kind, id int64 }
	names := map[metric]string{}
	err := g.table("TARGET_INFO_GPU_METRICS").scan(ctx, func(r *sqlitefile.Row) error {
		kind, _ := r.Int(0)
		if id, ok := r.Int(1); ok {
			names[metric{kind, id}] = string(r.Text(2))
		}
		return nil
	}, "typeId", "metricId", "metricName")
	if err != nil {
		return err
	}
	type series struct {
		at *row
		id trace.CounterID
	}
	known := map[metric]series{}
	return g.table("GPU_METRICS").scan(ctx, func(r *sqlitefile.Row) error {
		t, ok1 := r.Int(0)
		kind, _ := r.Int(1)
		id, ok2 := r.Int(2)
		value, ok3 := r.Number(3)
		if !ok1 || !ok2 || !ok3 {
			g.w.Report(trace.MissingValues, "samples of GPU metrics without a time or a value", 1, g.label)
			return nil
		}
		key := metric{kind, id}
		s, ok := known[key]
		if !ok {
			s.at = g.metricRow(kind & 0xff)
			name := cmp.Or(names[key], "GPU metric")
			s.id = g.w.Counter(trace.Counter{Location: s.at.At, Name: name, Unit: unitOf(name)})
			known[key] = s
		}
		s.at.Stream.Sample(s.id, g.time(t), value)
		return nil
	}, "timestamp", "typeId", "metricId", "value")
}

// metricRow is the row for metrics of a GPU: the type's low byte is the GPU's number.
func (g *gpuSide) metricRow(number int64) *row {
	g.mu.Lock()
	owner, found := int64(0), false
	for d := range g.devices {
		if d.id == number && (!found || d.globalPid < owner) {
			owner, found = d.globalPid, true
		}
	}
	g.mu.Unlock()
	if found {
		return g.deviceRow(owner, number)
	}
	return g.rows.row(place{kind: onDevice, a: number, b: 2}, func() trace.LocationID {
		return g.w.Location(trace.Location{Parent: g.host, Kind: trace.KindDevice, Name: "GPU " + g.models[number],
			Rank: trace.NoRank, Order: 1 << 40})
	})
}

// unitOf takes the unit that metrics carry in brackets: "SM Active [Throughput %]".
func unitOf(name string) string {
	if n := len(name); n > 2 && name[n-1] == ']' {
		for i := n - 2; i > 0; i-- {
			if name[i] == '[' {
				return name[i+1 : n-1]
			}
		}
	}
	return ""
}
