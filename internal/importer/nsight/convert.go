package nsight

import (
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
	"golang.org/x/sync/errgroup"
)

// A converter turns the tables of one file into a trace.
type converter struct {
	*file
	several  bool // files in the run
	number   int  // of this file
	fileRank int
	origin   trace.Time // of the file's clock on the run's
	host     trace.LocationID

	names     map[int64]string // StringIds
	programs  map[int64]string // of processes, by globalPid
	labels    map[int64]string // of threads, by globalTid
	rankOf    map[int64]int    // of processes
	models    map[int64]string // of GPUs
	domains   map[domain]string
	copies    map[int64]string // kinds of copies
	marks     eventTypes
	attribute attributes

	mu        sync.Mutex // guards the fields below
	processes map[int64]trace.LocationID
	devices   map[device]trace.LocationID
}

type domain struct{ globalPid, id int64 }

type device struct{ globalPid, id int64 }

// attributes are named as Kineto names them, so that views find them in both.
type attributes struct {
	correlation, grid, block, registers, shared, bytes, graph, graphNode, payload, sequence, operator,
	sizes trace.AttributeID
}

func newConverter(f *file, w trace.Writer, several bool, number int) *converter {
	return &converter{
		file: f, several: several, number: number, fileRank: trace.NoRank, host: trace.NoLocation,
		names: map[int64]string{}, programs: map[int64]string{}, labels: map[int64]string{}, rankOf: map[int64]int{},
		models: map[int64]string{}, domains: map[domain]string{}, copies: map[int64]string{},
		processes: map[int64]trace.LocationID{}, devices: map[device]trace.LocationID{},
		attribute: attributes{
			correlation: w.Attribute("correlation"), grid: w.Attribute("grid"), block: w.Attribute("block"),
			registers: w.Attribute("registers per thread"), shared: w.Attribute("shared memory"),
			bytes: w.Attribute("bytes"),
			graph: w.Attribute("graph id"), graphNode: w.Attribute("graph node id"), payload: w.Attribute("payload"),
			sequence: w.Attribute("Sequence number"), operator: w.Attribute("op_id"), sizes: w.Attribute("Input Dims"),
		},
	}
}

// convert reads definitions first, then GPUs and hosts side by side: they share no row.
func (c *converter) convert(ctx context.Context) error {
	if err := c.define(ctx); err != nil {
		return err
	}
	gpu, host := newRows(c.w), newRows(c.w)
	var launches, works []launch.End
	g, parallel := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		works, err = c.devicesSide(parallel, gpu)
		return errors.Join(err, gpu.Close())
	})
	g.Go(func() (err error) {
		launches, err = c.hostSide(parallel, host)
		return errors.Join(err, host.Close())
	})
	if err := g.Wait(); err != nil {
		return err
	}
	c.link(launches, works)
	c.reportRest(ctx)
	return ctx.Err()
}

// define reads the tables that name things.
func (c *converter) define(ctx context.Context) error {
	steps := []func(context.Context) error{c.readNames, c.readSession, c.readProcesses, c.readThreads, c.readRanks,
		c.readGPUs, c.readEnums}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) readNames(ctx context.Context) error {
	return c.table("StringIds").scan(ctx, func(r *sqlitefile.Row) error {
		if id, ok := r.Int(0); ok {
			c.names[id] = string(r.Text(1))
		}
		return nil
	}, "id", "value")
}

// readSession finds the host, the start of the session, and the version of the writer.
func (c *converter) readSession(ctx context.Context) error {
	err := c.table("TARGET_INFO_SESSION_START_TIME").scan(ctx, func(r *sqlitefile.Row) error {
		if t, ok := r.Int(0); ok && t > 0 {
			c.origin = trace.Time(t)
		}
		return nil
	}, "utcEpochNs")
	if err != nil {
		return err
	}
	hostname := ""
	err = c.table("TARGET_INFO_SYSTEM_ENV").scan(ctx, func(r *sqlitefile.Row) error {
		switch key, value := string(r.Text(0)), string(r.Text(1)); key {
		case "Hostname":
			hostname = value
		case "CpuName", "Os", "NvDriverVersion", "CudaDriverVersion":
			c.w.Property(key, value)
		}
		return nil
	}, "name", "value")
	if err != nil {
		return err
	}
	if hostname != "" {
		c.host = c.w.Location(importer.Below(trace.NoLocation, trace.KindMachine, hostname))
	}
	meta := c.table("META_DATA_EXPORT")
	if meta == nil {
		meta = c.table("EXPORT_META_DATA")
	}
	return meta.scan(ctx, func(r *sqlitefile.Row) error {
		switch key, value := string(r.Text(0)), string(r.Text(1)); key {
		case "EXPORT_PRODUCT_NAME", "EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION":
			c.w.Property(strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, "EXPORT_"), "_", " ")), value)
		}
		return nil
	}, "name", "value")
}

func (c *converter) readProcesses(ctx context.Context) error {
	return c.table("PROCESSES").scan(ctx, func(r *sqlitefile.Row) error {
		if id, ok := r.Int(0); ok {
			c.programs[processOf(id)] = string(r.Text(1))
		}
		return nil
	}, "globalPid", "name")
}

func (c *converter) readThreads(ctx context.Context) error {
	return c.table("ThreadNames").scan(ctx, func(r *sqlitefile.Row) error {
		name, _ := r.Int(0)
		if id, ok := r.Int(1); ok && c.names[name] != "" {
			c.labels[id] = c.names[name]
			// If MPI is traced, the main thread is named after its rank.
			if text, ok := strings.CutPrefix(c.names[name], "MPI Rank "); ok {
				if rank, err := strconv.ParseUint(text, 10, 31); err == nil {
					c.rankOf[processOf(id)] = int(rank)
				}
			}
		}
		return nil
	}, "nameId", "globalTid")
}

func (c *converter) readRanks(ctx context.Context) error {
	return c.table("MPI_RANKS").scan(ctx, func(r *sqlitefile.Row) error {
		id, ok := r.Int(0)
		if rank, known := r.Int(1); ok && known && rank >= 0 && rank < 1<<31 {
			c.rankOf[processOf(id)] = int(rank)
		}
		return nil
	}, "globalPid", "rank")
}

func (c *converter) readGPUs(ctx context.Context) error {
	return c.table("TARGET_INFO_GPU").scan(ctx, func(r *sqlitefile.Row) error {
		id, ok := r.Int(0)
		if cuda, known := r.Int(1); known {
			id, ok = cuda, true
		}
		if ok {
			c.models[id] = string(r.Text(2))
		}
		return nil
	}, "id", "cuDevice", "name")
}

// readEnums asks the file for its own words for kinds of copies and types of NVTX events.
func (c *converter) readEnums(ctx context.Context) error {
	for id, name := range map[int64]string{1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA",
		8: "DtoD", 9: "HtoH", 10: "PtoP"} {
		c.copies[id] = name
	}
	c.marks = defaultEventTypes
	return c.table("ENUM_NSYS_EVENT_TYPE").scan(ctx, func(r *sqlitefile.Row) error {
		if id, ok := r.Int(0); ok {
			c.marks.learn(id, string(r.Text(1)))
		}
		return nil
	}, "id", "name")
}

// processOf is the process of a thread: the number without the thread's part.
func processOf(globalTid int64) int64 { return globalTid &^ 0xffffff }

func pid(global int64) int64 { return global >> 24 & 0xffffff }

func tid(global int64) int64 { return global & 0xffffff }

// process finds the location of a process.
func (c *converter) process(globalPid int64) trace.LocationID {
	globalPid = processOf(globalPid)
	c.mu.Lock()
	defer c.mu.Unlock()
	if id, ok := c.processes[globalPid]; ok {
		return id
	}
	number := strconv.FormatInt(pid(globalPid), 10)
	l := trace.Location{Parent: c.host, Kind: trace.KindProcess, Key: number, Name: "process " + number,
		Rank: trace.NoRank, Attributes: importer.PID(pid(globalPid))}
	if c.several {
		l.Key = strconv.Itoa(c.number) + "/" + number
	}
	if name := c.programs[globalPid]; name != "" {
		l.Name = path.Base(strings.ReplaceAll(name, "\\", "/")) + " " + number
	}
	if rank, ok := c.rankOf[globalPid]; ok {
		l.Rank = rank
	} else if c.fileRank != trace.NoRank && len(c.processes) == 0 {
		// The first process with something in it is the rank; others are its helpers.
		l.Rank = c.fileRank
	}
	id := c.w.Location(l)
	c.processes[globalPid] = id
	return id
}

// device finds the location of a GPU as a process uses it.
func (c *converter) device(globalPid, number int64) trace.LocationID {
	owner := c.process(globalPid)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := device{processOf(globalPid), number}
	return importer.Once(c.devices, key, func() trace.LocationID {
		text := strconv.FormatInt(number, 10)
		l := trace.Location{Parent: owner, Kind: trace.KindDevice, Key: text, Name: "GPU " + text, Rank: trace.NoRank,
			Order: 1<<40 + number}
		if model := c.models[number]; model != "" {
			l.Attributes = append(l.Attributes, trace.Attribute{Key: "model", Value: trace.Text(model)})
		}
		return c.w.Location(l)
	})
}

// time puts a time of the file on the run's clock.
func (c *converter) time(t int64) trace.Time { return c.origin + trace.Time(t) }
