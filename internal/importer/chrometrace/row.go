package chrometrace

import (
	"bytes"
	"errors"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A rowTree holds processes, threads, streams and devices, and their metadata.
type rowTree struct {
	dictionary

	rank      int
	parent    trace.LocationID // of processes
	keyPrefix string           // distinguishes processes of different files
	self      *process         // the rank; nil where a file is not one rank
	undefined *trace.Location  // of self, until it is needed: files of several ranks have no such

	places    map[string]*place
	processes map[string]*process
	devices   map[string]*device
	pids      map[string]*meta
	rows      map[trace.LocationID]*row
	models    map[string]string // of devices, by pid
	memories  map[string]int64  // of devices, in bytes
	pools     map[poolKey]*pool

	fresh     bool      // no pid of it was met so far
	precision precision // of all files so far
}

// A place is a pid and tid as the file writes them. Its records may be on a thread, on a stream of a GPU, or on both.
type place struct {
	pid, tid string
	meta
	cpu, gpu *row
}

// A row is a location with a stream.
type row struct {
	location trace.LocationID
	stream   trace.Stream
	complete bool // holds complete records
}

// A process is a pid that is a process.
type process struct {
	pid      string
	location trace.LocationID
	own      *row            // for instants and counters of the process
	async    map[string]*row // by category
	threads  []*place
}

// A device is a pid that is the number of a GPU, or a GPU of a pid that is a rank.
type device struct {
	pid      string
	number   string
	location trace.LocationID
}

// streamOptions: files are in no order, and ends are matched by name.
var streamOptions = trace.StreamOptions{Unordered: true, ByName: true}

// kindAsync is the kind of the locations for records that belong to no thread.
const kindAsync trace.Kind = "async"

// place finds the place of a record.
func (c *rowTree) place(r *record) *place {
	if w := r.where; w != nil { // is prepared
		if w.known == nil {
			w.known = c.placeOf(r)
		}
		return w.known
	}
	return c.placeOf(r)
}

func (c *rowTree) placeOf(r *record) *place {
	key := append(c.scratch[2][:0], identifier(r.pid, c.scratch[3])...)
	split := len(key)
	key = append(key, 0)
	key = append(key, identifier(r.tid, c.scratch[3])...)
	c.scratch[2] = key
	p, ok := c.places[string(key)]
	if !ok {
		p = &place{pid: string(key[:split]), tid: string(key[split+1:])}
		c.places[string(key)] = p
	}
	return p
}

// identifier is a pid or tid in one spelling: 7, "7", 7.0 are the same.
func identifier(v value, scratch []byte) []byte {
	id := bytes.TrimSpace(v.plain(scratch))
	if v.kind == number {
		id, _ = bytes.CutSuffix(id, []byte(".0"))
	}
	return id
}

// thread finds the row of a place's thread.
func (c *rowTree) thread(p *place) *row {
	if p.cpu == nil {
		var owner *process
		key, name := "overhead", "profiler overhead"
		if c.dialect != kineto || p.pid != "-1" {
			owner, key, name = c.process(p.pid), p.tid, "thread "+p.tid
		} else {
			owner = c.owner()
		}
		if key == "" {
			name = "thread"
		}
		p.cpu = c.newRow(trace.Location{Parent: owner.location, Kind: trace.KindThread, Key: key, Name: name,
			Rank: trace.NoRank})
		owner.threads = append(owner.threads, p)
	}
	return p.cpu
}

// stream finds the row of a place's GPU stream.
func (c *rowTree) stream(p *place) *row {
	if p.gpu == nil {
		d := c.deviceOf(p)
		name := p.tid
		if !strings.HasPrefix(name, "stream") {
			name = "stream " + name
		}
		p.gpu = c.newRow(trace.Location{Parent: d.location, Kind: trace.KindStream, Key: p.tid, Name: name,
			Rank: trace.NoRank})
	}
	return p.gpu
}

// process finds the process of a pid. In a file that is one rank the first pid
// is the rank's own.
func (c *rowTree) process(pid string) *process {
	if p, ok := c.processes[pid]; ok {
		c.fresh = c.fresh && p != c.self
		return p
	}
	var p *process
	if c.self != nil && c.fresh && !c.ranked(pid) {
		c.fresh = false
		p = c.owner()
		p.pid = pid
	} else {
		name := "process"
		if pid != "" {
			name += " " + pid
		}
		p = &process{pid: pid}
		p.location = c.w.Location(trace.Location{Parent: c.parent, Kind: trace.KindProcess, Key: c.keyPrefix + pid,
			Name: name, Rank: trace.NoRank})
	}
	c.processes[pid] = p
	return p
}

// ownRow is the process's own row, for records that belong to none of its threads.
func (c *rowTree) ownRow(p *process) *row {
	if p.own == nil {
		p.own = c.at(p.location)
	}
	return p.own
}

// asyncRow is where a process's asynchronous intervals of a category are.
func (c *rowTree) asyncRow(p *process, cat string) *row {
	if p.async == nil {
		p.async = map[string]*row{}
	}
	r, ok := p.async[cat]
	if !ok {
		name := "async"
		if cat != "" {
			name += ": " + cat
		}
		r = c.newRow(trace.Location{Parent: p.location, Kind: kindAsync, Key: cat, Name: name, Rank: trace.NoRank,
			Order: 1 << 40})
		p.async[cat] = r
	}
	return r
}

func (c *rowTree) newRow(l trace.Location) *row { return c.at(c.w.Location(l)) }

// at opens the stream of a location. Files of one rank, from before and after
// a restart, may lead to the same location by different pids.
func (c *rowTree) at(id trace.LocationID) *row {
	r, ok := c.rows[id]
	if !ok {
		r = &row{location: id, stream: c.w.Stream(id, streamOptions)}
		c.rows[id] = r
	}
	return r
}

// closeRows ends all streams.
func (c *rowTree) closeRows() error {
	var errs []error
	for _, r := range c.rows {
		if r.complete {
			trace.SetRounded(r.stream, c.precision.tolerance())
		}
		if err := r.stream.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	clear(c.rows)
	return errors.Join(errs...)
}
