package hpctoolkit

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
	"golang.org/x/sync/errgroup"
)

// readDatabase reads a database of version 4.
func readDatabase(ctx context.Context, run importer.Run, w trace.Writer) error {
	m, err := readMeta(run, run.Files[0])
	if err != nil {
		return err
	}
	m.contexts.define(w)
	for i := range m.metrics {
		m.metrics[i].Default = i == 0
		m.metrics[i].id = w.Metric(m.metrics[i].Metric)
	}
	if m.title != "" {
		w.Property("title", m.title)
	}
	d := &database{meta: m, w: w, run: run}
	profile, traces := false, ""
	for _, name := range run.Files[1:] {
		switch path.Base(name) {
		case "profile.db":
			profile = true
			if err := d.profiles(ctx, name); err != nil {
				return err
			}
		case "trace.db":
			traces = name
		}
	}
	if !profile {
		w.Report(trace.MissingLocations, "databases without profile.db", 1, m.label)
	}
	if traces != "" {
		if err := d.traces(ctx, traces); err != nil {
			return err
		}
	}
	importer.Tell(w, trace.MissingNames, "structures that point outside their file", m.bad, m.label)
	return ctx.Err()
}

type database struct {
	*meta
	w       trace.Writer
	run     importer.Run
	threads []trace.LocationID // by number of the profile
}

// profiles reads the threads and their values, several at once. The first profile is a summary.
func (d *database) profiles(ctx context.Context, name string) error {
	f, err := openFile(d.run, name, "prof")
	if err != nil {
		return err
	}
	defer f.done()
	_, table, stride, err := f.table(0x0d, 0x2c)
	if err != nil {
		return err
	}
	count := int64(len(table)) / stride
	d.threads = make([]trace.LocationID, count)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel.Workers())
	for i := range count {
		d.threads[i] = trace.NoLocation
		p := table[i*stride : (i+1)*stride]
		if tuple := u64(p, 0x20); tuple == 0 || u32(p, 0x28)&1 != 0 {
			continue // a summary
		}
		id, err := d.thread(f, u64(p, 0x20))
		if err != nil {
			d.w.Report(trace.MissingLocations, "threads whose identifiers cannot be read", 1,
				fmt.Sprintf("%s: profile %d", f.label, i))
			continue
		}
		d.threads[i] = id
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := d.values(f, p, id); err != nil {
				d.w.Report(trace.MissingLocations, "threads whose values cannot be read", 1,
					fmt.Sprintf("%s: profile %d", f.label, i))
			}
			return nil
		})
	}
	return g.Wait()
}

// kinds of identifiers that have a kind of location of ours.
var locationKinds = map[string]trace.Kind{"NODE": trace.KindMachine, "RANK": trace.KindProcess,
	"THREAD": trace.KindThread, "GPUCONTEXT": trace.KindDevice, "GPUDEVICE": trace.KindDevice,
	"GPUSTREAM": trace.KindStream}

var locationNames = map[string]string{"NODE": "node", "RANK": "rank", "THREAD": "thread", "CORE": "core",
	"GPUCONTEXT": "GPU context", "GPUDEVICE": "GPU", "GPUSTREAM": "stream"}

// thread makes the locations of an identifier tuple.
func (d *database) thread(f *file, at uint64) (trace.LocationID, error) {
	h, err := f.bytes(at, 8)
	if err != nil {
		return 0, err
	}
	n := int(u16(h, 0))
	ids, err := f.bytes(at+8, int64(16*n))
	if err != nil {
		return 0, err
	}
	parent := trace.NoLocation
	for i := range n {
		id := ids[16*i:]
		kind := ""
		if int(id[0]) < len(d.kinds) {
			kind = d.kinds[id[0]]
		}
		number := strconv.FormatUint(uint64(u32(id, 4)), 10)
		l := trace.Location{Parent: parent, Kind: trace.KindGroup, Key: kind + number, Name: kind + " " + number,
			Rank: trace.NoRank, Order: int64(u32(id, 4))}
		if k, ok := locationKinds[kind]; ok {
			l.Kind = k
		}
		if word, ok := locationNames[kind]; ok {
			l.Name = word + " " + number
		}
		if kind == "RANK" {
			l.Rank = int(u32(id, 4) & math.MaxInt32)
		}
		parent = d.w.Location(l)
	}
	if n == 0 {
		parent = d.w.Location(importer.Process("process"))
	}
	return parent, nil
}

// values reads the value block of a thread: pairs of metric and value, and where each context's begin.
func (d *database) values(f *file, p []byte, at trace.LocationID) error {
	count, contexts := int64(u64(p, 0)&math.MaxInt64), int64(u32(p, 0x10))
	if count > f.size/10 {
		return importer.Malformed(f.label, "", "%d values cannot be in a file of %d bytes", count, f.size)
	}
	values, err := f.bytes(u64(p, 8), 10*count)
	if err != nil {
		return err
	}
	index, err := f.bytes(u64(p, 0x18), 12*contexts)
	if err != nil {
		return err
	}
	n := len(d.metrics)
	inclusive := make([]float64, n*len(d.meta.contexts.nodes))
	wrong := int64(0)
	for i := range contexts {
		entry := index[12*i:]
		from, to := u64(entry, 4), uint64(count)
		if i+1 < contexts {
			to = u64(index, int(12*(i+1))+4)
		}
		id := u32(entry, 0)
		if from > to || to > uint64(count) || i > 0 && id <= u32(index[12*(i-1):], 0) {
			wrong++ // contexts ascend, and so do their values
			continue
		}
		node, used := d.meta.contexts.self[id] // else it is the whole thread, or finer than a line
		for k := from; k < to; k++ {
			v := values[10*k:]
			if !d.meta.values[u16(v, 0)] || k > from && u16(v, 0) <= u16(values[10*(k-1):], 0) {
				wrong++
			} else if m, ok := d.byID[u16(v, 0)]; ok && used {
				inclusive[int(node)*n+m] = math.Float64frombits(binary.LittleEndian.Uint64(v[2:]))
			}
		}
	}
	importer.Tell(d.w, trace.MissingValues,
		"values that are out of order, or of metrics that are not defined", wrong, f.label)
	d.meta.contexts.rows(d.w, at, d.metrics, inclusive)
	return nil
}
