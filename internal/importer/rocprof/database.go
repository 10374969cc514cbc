package rocprof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readDatabase reads a rocpd database. It may hold several processes: tables of each end in its id.
func readDatabase(ctx context.Context, run importer.Run, name string, w trace.Writer) error {
	r, size, closer, err := importer.RandomAccess(run, name)
	if err != nil {
		return err
	}
	defer closer()
	file, err := sqlitefile.Open(r, size)
	if err != nil {
		return importer.Malformed(run.Label(name), "", "the database cannot be read: %v", err)
	}
	run.Progress.Add(size)
	if file.Cut() {
		w.Report(trace.MissingRest, "files that end before the last page of their database", 1, run.Label(name))
	}
	sets := map[string]*database{}
	for _, t := range file.Tables() {
		kind, id, ok := splitTable(t.Name)
		if !ok {
			continue
		}
		if sets[id] == nil {
			sets[id] = &database{ctx: ctx, file: file, w: w, label: run.Label(name),
				tables: map[string]*sqlitefile.Table{}}
		}
		sets[id].tables[kind] = t
	}
	for _, id := range slices.Sorted(maps.Keys(sets)) {
		if err := sets[id].read(); err != nil {
			return err
		}
	}
	return nil
}

// tableKinds are the tables that are read, longest names first.
var tableKinds = []string{"rocpd_info_kernel_symbol", "rocpd_kernel_dispatch", "rocpd_memory_allocate",
	"rocpd_info_process", "rocpd_memory_copy", "rocpd_info_thread", "rocpd_info_agent", "rocpd_info_node",
	"rocpd_region", "rocpd_sample", "rocpd_pmc_event", "rocpd_string", "rocpd_event"}

// splitTable takes "rocpd_region_0a1b" apart. Views of the same names without an id are no tables.
func splitTable(name string) (kind, id string, ok bool) {
	for _, k := range tableKinds {
		if rest, ok := strings.CutPrefix(name, k); ok && (rest == "" || rest[0] == '_') {
			return k, rest, true
		}
	}
	return "", "", false
}

// A database is the tables of one recording.
type database struct {
	ctx    context.Context
	file   *sqlitefile.File
	w      trace.Writer
	label  string
	tables map[string]*sqlitefile.Table

	text         map[int64]string
	hosts        map[int64]string
	processes    map[int64]*converter
	threads      map[int64]int64 // system ids
	agents       map[int64]agent
	kernels      map[int64]string
	correlations map[int64]int64 // of events
	categories   map[int64]int64
}

// scan passes on the rows of a table and reports damaged parts.
func (d *database) scan(table string, fn func(*sqlitefile.Row) error, columns ...string) error {
	t := d.tables[table]
	if t == nil {
		return nil
	}
	damage, err := d.file.Scan(d.ctx, t, columns, fn)
	if n := damage.Pages + damage.Rows; n > 0 {
		d.w.Report(trace.MissingEvents, "damaged pages and rows of the database", n,
			fmt.Sprintf("%s: page %d", d.label, damage.First))
	}
	if err != nil && d.ctx.Err() == nil {
		return importer.Malformed(d.label, t.Name, "reading fails: %v", err)
	}
	return err
}

func (d *database) read() error {
	d.text, d.hosts, d.processes, d.threads = map[int64]string{}, map[int64]string{}, map[int64]*converter{},
		map[int64]int64{}
	d.agents, d.kernels, d.correlations, d.categories = map[int64]agent{}, map[int64]string{}, map[int64]int64{},
		map[int64]int64{}
	err := d.define()
	if err == nil {
		err = d.records()
	}
	for _, c := range d.processes {
		err = errors.Join(err, c.close())
	}
	return err
}

// define reads the tables that name things.
func (d *database) define() error {
	texts := func(to map[int64]string) func(*sqlitefile.Row) error {
		return func(r *sqlitefile.Row) error {
			if id, ok := r.Int(0); ok {
				to[id] = string(r.Text(1))
			}
			return nil
		}
	}
	return errors.Join(
		d.scan("rocpd_string", texts(d.text), "id", "string"),
		d.scan("rocpd_info_node", texts(d.hosts), "id", "hostname"),
		d.scan("rocpd_info_kernel_symbol", func(r *sqlitefile.Row) error {
			id, _ := r.Int(0)
			if d.kernels[id] = string(r.Text(1)); d.kernels[id] == "" {
				d.kernels[id] = string(r.Text(2))
			}
			return nil
		}, "id", "display_name", "kernel_name"),
		d.scan("rocpd_info_agent", func(r *sqlitefile.Row) error {
			id, _ := r.Int(0)
			index, ok := r.Int(2)
			if !ok {
				index, _ = r.Int(3)
			}
			name := string(r.Text(4))
			if name == "" {
				name = string(r.Text(5))
			}
			d.agents[id] = agent{strings.EqualFold(string(r.Text(1)), "GPU"), index, name}
			return nil
		}, "id", "type", "type_index", "logical_index", "product_name", "name"),
		d.scan("rocpd_info_thread", func(r *sqlitefile.Row) error {
			id, _ := r.Int(0)
			d.threads[id], _ = r.Int(1)
			return nil
		}, "id", "tid"),
		d.scan("rocpd_event", func(r *sqlitefile.Row) error {
			id, _ := r.Int(0)
			category, _ := r.Int(1)
			correlation, ok := r.Int(3)
			if stack, known := r.Int(2); known && (!ok || correlation == 0) {
				correlation = stack
			}
			d.correlations[id], d.categories[id] = correlation, category
			return nil
		}, "id", "category_id", "stack_id", "correlation_id"),
		d.scan("rocpd_info_process", func(r *sqlitefile.Row) error {
			id, _ := r.Int(0)
			pid, _ := r.Int(1)
			node, _ := r.Int(2)
			command, _, _ := strings.Cut(string(r.Text(3)), " ")
			d.processes[id] = newConverter(d.w,
				&process{host: d.hosts[node], pid: pid, command: command, agents: d.agents, kernels: d.kernels},
				d.label)
			return nil
		}, "id", "pid", "nid", "command"),
	)
}

// process finds the converter of a process that a record names.
func (d *database) process(id int64) *converter {
	c, ok := d.processes[id]
	if !ok {
		c = newConverter(d.w, &process{pid: id, agents: d.agents, kernels: d.kernels}, d.label)
		d.processes[id] = c
	}
	return c
}

// common are the columns that all records share.
var common = []string{"start", "end", "pid", "tid", "event_id"}

// call reads them; false where the record has no time.
func (d *database) call(r *sqlitefile.Row) (x call, c *converter, ok bool) {
	var ok1, ok2 bool
	x.begin, ok1 = r.Int(0)
	x.end, ok2 = r.Int(1)
	pid, _ := r.Int(2)
	tid, _ := r.Int(3)
	event, _ := r.Int(4)
	if !ok1 || !ok2 {
		d.w.Report(trace.MissingIntervals, "records without a time", 1, d.label)
		return x, nil, false
	}
	if x.thread, ok = d.threads[tid]; !ok {
		x.thread = tid
	}
	x.correlation = d.correlations[event]
	return x, d.process(pid), true
}

func (d *database) records() error {
	columns := func(more ...string) []string { return append(common[:len(common):len(common)], more...) }
	n := len(common)
	number := func(r *sqlitefile.Row, i int) int64 { v, _ := r.Int(n + i); return v }
	return errors.Join(
		d.scan("rocpd_region", func(r *sqlitefile.Row) error {
			x, c, ok := d.call(r)
			if !ok {
				return nil
			}
			event, _ := r.Int(4)
			c.named(&x, d.text[number(r, 0)], d.text[d.categories[event]])
			return nil
		}, columns("name_id")...),
		d.scan("rocpd_kernel_dispatch", func(r *sqlitefile.Row) error {
			x, c, ok := d.call(r)
			if !ok {
				return nil
			}
			c.dispatch(&dispatch{call: x, agent: number(r, 0), queue: number(r, 1), stream: number(r, 2),
				kernel: number(r, 3), private: number(r, 4), group: number(r, 5),
				block: [3]int64{number(r, 6), number(r, 7), number(r, 8)},
				grid:  [3]int64{number(r, 9), number(r, 10), number(r, 11)}})
			return nil
		}, columns("agent_id", "queue_id", "stream_id", "kernel_id", "private_segment_size", "group_segment_size",
			"workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y",
			"grid_size_z")...),
		d.scan("rocpd_memory_copy", func(r *sqlitefile.Row) error {
			x, c, ok := d.call(r)
			if !ok {
				return nil
			}
			c.strings = names{kinds: []kind{{operations: []string{d.text[number(r, 3)]}}}}
			c.transfer(&transfer{call: x, to: number(r, 0), from: number(r, 1), bytes: number(r, 2)})
			return nil
		}, columns("dst_agent_id", "src_agent_id", "size", "name_id")...),
		d.scan("rocpd_memory_allocate", func(r *sqlitefile.Row) error {
			x, c, ok := d.call(r)
			if !ok {
				return nil
			}
			kind, level := string(r.Text(n+3)), string(r.Text(n+4))
			c.allocation(&allocation{call: x, agent: number(r, 0), address: number(r, 1), bytes: number(r, 2),
				free: strings.EqualFold(kind, "FREE")}, strings.EqualFold(level, "SCRATCH"))
			return nil
		}, columns("agent_id", "address", "size", "type", "level")...),
		d.count("rocpd_sample", "samples"),
		d.count("rocpd_pmc_event", "counters collected for dispatches"),
	)
}

// count reports a table that is not read.
func (d *database) count(table, what string) error {
	n := int64(0)
	err := d.scan(table, func(*sqlitefile.Row) error { n++; return nil })
	importer.Tell(d.w, trace.MissingEvents, what, n, d.label)
	return err
}

// named adds a call whose name is known; categories of markers are annotations.
func (c *converter) named(x *call, name, category string) {
	role := trace.RoleByName
	if strings.HasPrefix(category, "MARKER") {
		category, role = "user_annotation", trace.RoleAnnotation
	}
	name = cmp.Or(name, "call without a name")
	c.add(c.thread(x.thread), x, c.region(name, strings.ToLower(category), role), false)
}
