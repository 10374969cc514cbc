package darshan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	file, size, done, err := importer.RandomAccess(run, run.Files[0])
	if err != nil {
		return err
	}
	defer done()
	l, err := openLog(file, size, run.Label(run.Files[0]))
	if err != nil {
		return err
	}
	job, err := l.readJob()
	if err != nil {
		return err
	}
	c := &converter{ctx: ctx, log: l, w: w, job: job, names: map[uint64]string{}, ranks: map[int64]*rank{},
		paths: map[pathKey]*files{}, sums: map[sumKey]*[operations]amount{}}
	c.properties()
	if err := l.readNames(func(id uint64, name string) {
		if c.names[id] == "" {
			c.names[id] = name
		}
	}); err != nil {
		c.skip(trace.MissingNames, "names of files that cannot be unpacked (files go by number)", 1, l.names.offset)
	}
	for m := range module(mostModules) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.modules[m].length != 0 {
			if err := c.module(m); err != nil {
				return err
			}
		}
		if l.partial&(1<<m) != 0 {
			c.skip(trace.MissingEvents,
				"modules that ran out of memory and did not record everything", 1, l.modules[m].offset)
		}
	}
	c.total()
	return c.close()
}

// A converter turns a log into a trace. It keeps the names of files, and a sum for each rank and module.
type converter struct {
	ctx    context.Context
	log    *log
	w      trace.Writer
	job    job
	names  map[uint64]string
	ranks  map[int64]*rank
	order  []*rank
	paths  map[pathKey]*files
	sums   map[sumKey]*[operations]amount
	keys   []sumKey // of sums, in order of appearance
	metric struct {
		known                    bool
		time, read, written, ops trace.MetricID
	}
	attribute struct {
		known                        bool
		file, offset, length, thread trace.AttributeID
	}
	timed bool
}

// A rank is a location, with a stream where something has a time.
type rank struct {
	at     trace.LocationID
	stream trace.Stream
}

// Operations of a record, each a call path below the file.
const (
	opRead = iota
	opWrite
	opMetadata
	operations
)

var operationNames = [operations]string{"read", "write", "metadata"}

// An amount is the time, bytes and operations of one operation.
type amount struct {
	time, read, written, ops float64
}

func (a *amount) add(b amount) {
	a.time += b.time
	a.read += b.read
	a.written += b.written
	a.ops += b.ops
}

type pathKey struct {
	module module
	id     uint64
}

type sumKey struct {
	module module
	rank   int64
}

// files are the call paths of a file in a module.
type files struct {
	file trace.CallPathID
	op   [operations]trace.CallPathID // NoCallPath: it did not happen so far
}

func (c *converter) skip(consequence trace.ReportKind, what string, n, at int64) {
	c.w.Report(consequence, what, n, fmt.Sprintf("%s: byte %d", c.log.label, at))
}

func (c *converter) properties() {
	set := func(key, value string) {
		if value != "" {
			c.w.Property(key, value)
		}
	}
	j := &c.job
	set("log version", fmt.Sprintf("%d.%02d", c.log.version/100, c.log.version%100))
	set("start", time.Unix(0, j.start).UTC().Format("2006-01-02T15:04:05.999999999Z"))
	set("duration", time.Duration(j.end-j.start).String())
	set("processes", strconv.FormatInt(j.processes, 10))
	set("job", strconv.FormatInt(j.id, 10))
	set("uid", strconv.FormatInt(j.uid, 10))
	set("command", j.exe)
	set("metadata", strings.ReplaceAll(strings.TrimSpace(j.metadata), "\n", "; "))
	set("mounts", strings.ReplaceAll(strings.TrimSpace(strings.Join(j.mounts, "; ")), "\t", " "))
}

// module reads the records of one module. A part that cannot be unpacked is counted; records before it stay.
func (c *converter) module(m module) error {
	var each func(io.Reader) error
	layout, version := layoutOf(m, c.log.versions[m]), c.log.versions[m]
	switch {
	case layout != nil:
		each = c.records(m, layout)
	case (m == dxtPOSIX && version >= 1 && version <= 2) || (m == dxtMPIIO && version >= 1 && version <= 3):
		each = c.segments(m, version)
	case m == heatmap && version == 1:
		each = c.bins
	case layouts[m] != nil || m == dxtPOSIX || m == dxtMPIIO || m == heatmap:
		c.skip(trace.MissingFiles,
			fmt.Sprintf("modules of a version that is not known: %v %d", m, version), 1, c.log.modules[m].offset)
		return nil
	default:
		c.skip(trace.MissingFiles, fmt.Sprintf("modules that are not read: %v", m), 1, c.log.modules[m].offset)
		return nil
	}
	in := c.log.open(c.log.modules[m])
	for n := 0; ; n++ {
		if n%64 == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
		}
		if err := each(in); err == io.EOF {
			return nil
		} else if err != nil {
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			c.skip(trace.MissingFiles, fmt.Sprintf("modules whose records break off or cannot be unpacked: %v", m), 1,
				c.log.modules[m].offset)
			return nil
		}
	}
}

// rank finds the location of a rank; -1 is all of them.
func (c *converter) rank(n int64) *rank {
	r := c.ranks[n]
	if r == nil {
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: strconv.FormatInt(n, 10),
			Name: "rank " + strconv.FormatInt(n, 10), Rank: int(n)}
		if n < 0 {
			l.Kind, l.Name, l.Rank, l.Order = trace.KindGroup, "all ranks", trace.NoRank, -1
		}
		r = &rank{at: c.w.Location(l)}
		c.ranks[n] = r
		c.order = append(c.order, r)
	}
	return r
}

func (r *rank) open(w trace.Writer) trace.Stream {
	if r.stream == nil {
		r.stream = w.Stream(r.at, trace.StreamOptions{Unordered: true})
	}
	return r.stream
}

// knows reports whether the job has a rank.
func (c *converter) knows(m module, n int64) bool {
	if n >= -1 && n < max(c.job.processes, 1) && n < math.MaxInt32 {
		return true
	}
	c.skip(trace.MissingValues, "records of ranks that the job does not have", 1, c.log.modules[m].offset)
	return false
}

func (c *converter) name(id uint64) string {
	if name := c.names[id]; name != "" {
		return name
	}
	return fmt.Sprintf("file %016x", id)
}

// records reads tables of counters.
func (c *converter) records(m module, l *layout) func(io.Reader) error {
	b := make([]byte, l.size())
	order := c.log.order
	return func(in io.Reader) error {
		if n, err := io.ReadFull(in, b); err != nil {
			if n > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		id, rank := order.Uint64(b), int64(order.Uint64(b[8:]))
		if !c.knows(m, rank) {
			return nil
		}
		whole := b[16+l.skip:]
		broken := whole[8*l.whole:]
		count := func(list ...int) (sum float64) {
			for _, i := range list {
				if i >= 0 {
					sum += float64(max(0, int64(order.Uint64(whole[8*i:])))) // -1: not recorded
				}
			}
			return sum
		}
		duration := func(i int) float64 {
			if i < 0 {
				return 0
			}
			v := math.Float64frombits(order.Uint64(broken[8*i:]))
			if !(v >= 0 && v < mostSeconds) {
				if v != -1 {
					c.skip(trace.MissingIntervals, "times that cannot be", 1, c.log.modules[m].offset)
				}
				return 0
			}
			return math.Round(v * 1e9)
		}
		c.profile(m, id, rank, [operations]amount{
			opRead:     {time: duration(l.readTime), read: count(l.bytesRead), ops: count(l.reads...)},
			opWrite:    {time: duration(l.writeTime), written: count(l.bytesWritten), ops: count(l.writes...)},
			opMetadata: {time: duration(l.metaTime), ops: count(l.metadata...)},
		})
		c.w.Report(trace.MissingValues,
			"records whose counters of access sizes, strides, alignment and variance are left out", 1, c.log.label)
		return nil
	}
}

// mostSeconds bounds times: about thirty years, summed over ranks.
const mostSeconds = 1e9

// profile writes one record.
func (c *converter) profile(m module, id uint64, rank int64, ops [operations]amount) {
	key := pathKey{m, id}
	p := c.paths[key]
	if p == nil {
		category := m.String()
		root := c.w.CallPath(trace.CallPath{Parent: trace.NoCallPath,
			Region: c.w.Region(trace.Region{Name: category, Category: category, Role: trace.RoleIO})})
		p = &files{file: c.w.CallPath(trace.CallPath{Parent: root,
			Region: c.w.Region(trace.Region{Name: c.name(id), Category: "file", Role: trace.RoleIO})})}
		for i := range p.op {
			p.op[i] = trace.NoCallPath
		}
		c.paths[key] = p
	}
	at := c.rank(rank).at
	sum := c.sums[sumKey{m, rank}]
	if sum == nil {
		sum = new([operations]amount)
		c.sums[sumKey{m, rank}] = sum
		c.keys = append(c.keys, sumKey{m, rank})
	}
	var all amount
	for i := range ops {
		all.add(ops[i])
		sum[i].add(ops[i])
		if ops[i] != (amount{}) {
			if p.op[i] == trace.NoCallPath {
				p.op[i] = c.w.CallPath(trace.CallPath{Parent: p.file,
					Region: c.w.Region(trace.Region{Name: m.String() + " " + operationNames[i], Category: m.String(),
						Role: trace.RoleIO})})
			}
			c.row(at, p.op[i], ops[i], ops[i].ops, false)
		}
	}
	c.row(at, p.file, all, 1, true)
}

// row writes the metrics of a call path; those of inner ones are sums of the paths below.
func (c *converter) row(at trace.LocationID, path trace.CallPathID, a amount, calls float64, inner bool) {
	k := &c.metric
	if !k.known {
		k.known = true
		k.time = c.w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true})
		k.read = c.w.Metric(trace.Metric{Name: "bytes read", Unit: "bytes", Integer: true})
		k.written = c.w.Metric(trace.Metric{Name: "bytes written", Unit: "bytes", Integer: true})
		k.ops = c.w.Metric(trace.Metric{Name: "operations", Integer: true})
	}
	put := func(m trace.MetricID, v float64) {
		r := trace.ProfileRow{Location: at, Path: path, Metric: m, Calls: calls, Inclusive: v, Exclusive: v}
		if inner {
			r.Exclusive = 0
		}
		c.w.Profile(r)
	}
	put(k.time, a.time)
	put(k.ops, a.ops)
	if a.read > 0 {
		put(k.read, a.read)
	}
	if a.written > 0 {
		put(k.written, a.written)
	}
}

// total writes the rows of whole modules.
func (c *converter) total() {
	for _, key := range c.keys {
		var all amount
		for _, a := range c.sums[key] {
			all.add(a)
		}
		category := key.module.String()
		root := c.w.CallPath(trace.CallPath{Parent: trace.NoCallPath,
			Region: c.w.Region(trace.Region{Name: category, Category: category, Role: trace.RoleIO})})
		c.row(c.rank(key.rank).at, root, all, 1, true)
	}
}

func (c *converter) close() error {
	if length := trace.Time(c.job.end - c.job.start); c.timed && length > 0 && float64(length) < mostSeconds*1e9 {
		trace.Cover(c.w, 0, max(length, 0))
	}
	var errs []error
	for _, r := range c.order {
		if r.stream != nil {
			errs = append(errs, r.stream.Close())
		}
	}
	return errors.Join(errs...)
}
