package rocprof

import (
	"cmp"
	"context"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readResults reads a JSON file twice: the definitions, then the records.
func readResults(ctx context.Context, run importer.Run, name string, w trace.Writer) error {
	var processes []*process
	open := func(leave jsonstream.Leave, f func(r *results) error) error {
		in, err := run.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		r := &results{Reader: jsonstream.NewReader(ctx, in, run.Label(name), leave)}
		return r.End(f(r), r.records, "records of rocprofiler-sdk")
	}
	err := open(jsonstream.Silent, func(r *results) error {
		r.records = 1 // a cut is judged in the second reading
		return r.each(func() error {
			p := &process{agents: map[int64]agent{}, kernels: map[int64]string{},
				strings: names{markers: map[int64]string{}}}
			processes = append(processes, p)
			return r.define(p)
		})
	})
	if err != nil {
		return err
	}
	run.Progress = nil
	at := 0
	return open(jsonstream.Reporter(w), func(r *results) error {
		return r.each(func() error {
			if at == len(processes) {
				return r.Skip()
			}
			c := newConverter(w, processes[at], run.Label(name))
			at++
			err := r.take(c)
			if e := c.close(); err == nil {
				err = e
			}
			return err
		})
	})
}

// results walk a file of JSON.
type results struct {
	*jsonstream.Reader
	records int
}

// each passes on the members of the tool's list, one a process.
func (r *results) each(f func() error) error {
	return r.Members(func(name string) error {
		if name != "rocprofiler-sdk-tool" {
			return r.Skip()
		}
		return r.Objects(f)
	})
}

// define reads all but the records.
func (r *results) define(p *process) error {
	return r.Members(func(name string) error {
		switch name {
		case "metadata":
			_, err := r.Take(p.readMetadata)
			return err
		case "agents":
			return r.Array(func() error { _, err := r.Take(p.readAgent); return err })
		case "kernel_symbols":
			return r.Array(func() error { _, err := r.Take(p.readKernel); return err })
		case "strings":
			_, err := r.Take(p.readStrings)
			return err
		}
		return r.Skip()
	})
}

func (p *process) readMetadata(c *jsonstream.Cursor) {
	object(c, func(key string) {
		switch key {
		case "pid":
			p.pid, _ = c.Whole()
		case "node":
			object(c, func(key string) {
				if key == "hostname" {
					p.host = c.Text()
				}
			})
		case "command":
			for ok := c.Open('['); ok && c.More(']'); {
				if word := c.Text(); p.command == "" {
					p.command = word
				}
			}
		}
	})
}

func (p *process) readAgent(c *jsonstream.Cursor) {
	var a agent
	id := int64(-1)
	object(c, func(key string) {
		switch key {
		case "id":
			id = handle(c)
		case "type":
			n, _ := c.Whole()
			a.gpu = n == 2
		case "logical_node_type_id":
			a.index, _ = c.Whole()
		case "product_name":
			a.name = c.Text()
		}
	})
	p.agents[id] = a
}

func (p *process) readKernel(c *jsonstream.Cursor) {
	id := int64(-1)
	var formatted, plain string
	object(c, func(key string) {
		switch key {
		case "kernel_id":
			id, _ = c.Whole()
		case "formatted_kernel_name":
			formatted = c.ID()
		case "kernel_name":
			plain = c.ID()
		}
	})
	formatted = cmp.Or(formatted, plain)
	p.kernels[id] = formatted
}

func (p *process) readStrings(c *jsonstream.Cursor) {
	object(c, func(key string) {
		switch key {
		case "buffer_records":
			for ok := c.Open('['); ok && c.More(']'); {
				var k kind
				object(c, func(key string) {
					switch key {
					case "kind":
						k.name = c.Text()
					case "operations":
						for ok := c.Open('['); ok && c.More(']'); {
							k.operations = append(k.operations, c.Text())
						}
					}
				})
				p.strings.kinds = append(p.strings.kinds, k)
			}
		case "marker_api":
			for ok := c.Open('['); ok && c.More(']'); {
				id, text := int64(-1), ""
				object(c, func(key string) {
					switch key {
					case "key":
						id, _ = c.Whole()
					case "value":
						text = c.Text()
					}
				})
				p.strings.markers[id] = text
			}
		}
	})
}

// take reads the records of a process.
func (r *results) take(c *converter) error {
	return r.Members(func(name string) error {
		switch name {
		case "buffer_records":
			return r.Members(func(name string) error { return r.list(name, c) })
		case "callback_records":
			return r.Members(func(name string) error {
				return r.Array(func() error {
					c.w.Report(trace.MissingValues, "counters collected for dispatches", 1, r.Place())
					return r.Skip()
				})
			})
		}
		return r.Skip()
	})
}

// list reads one kind of records.
func (r *results) list(name string, c *converter) error {
	var one func(*jsonstream.Cursor)
	switch name {
	case "kernel_dispatch":
		one = func(j *jsonstream.Cursor) { var d dispatch; d.read(j); c.dispatch(&d) }
	case "memory_copy":
		one = func(j *jsonstream.Cursor) { var t transfer; t.read(j); c.transfer(&t) }
	case "memory_allocation", "scratch_memory":
		one = func(j *jsonstream.Cursor) { var a allocation; a.read(j); c.allocation(&a, name == "scratch_memory") }
	case "hip_api", "hsa_api", "rccl_api", "marker_api", "rocdecode_api", "rocjpeg_api", "ompt":
		one = func(j *jsonstream.Cursor) { var x call; x.readAll(j); c.call(&x, name) }
	default:
		return r.Array(func() error {
			c.w.Report(trace.MissingEvents, "records of kind "+name, 1, r.Place())
			return r.Skip()
		})
	}
	return r.Array(func() error {
		ok, err := r.Take(one)
		if ok {
			r.records++
		}
		return err
	})
}

// object passes each key of an object to f.
func object(c *jsonstream.Cursor, f func(key string)) {
	for ok := c.Open('{'); ok && c.More('}'); {
		f(string(c.Key()))
	}
}

// handle reads {"handle": n}.
func handle(c *jsonstream.Cursor) (n int64) {
	object(c, func(key string) {
		if key == "handle" {
			n, _ = c.Whole()
		}
	})
	return n
}

// field reads a field that all records share, and reports whether it was one.
func (x *call) field(key string, c *jsonstream.Cursor) bool {
	switch key {
	case "kind":
		x.kind, _ = c.Whole()
	case "operation":
		x.operation, _ = c.Whole()
	case "thread_id":
		x.thread, _ = c.Whole()
	case "start_timestamp":
		x.begin, _ = c.Whole()
	case "end_timestamp":
		x.end, _ = c.Whole()
	case "correlation_id":
		object(c, func(key string) {
			if key == "internal" {
				x.correlation, _ = c.Whole()
			}
		})
	default:
		return false
	}
	return true
}

func (x *call) readAll(c *jsonstream.Cursor) {
	object(c, func(key string) { x.field(key, c) })
}

func (d *dispatch) read(c *jsonstream.Cursor) {
	object(c, func(key string) {
		switch {
		case d.field(key, c):
		case key == "stream_id":
			d.stream = handle(c)
		case key == "dispatch_info":
			object(c, func(key string) {
				switch key {
				case "agent_id":
					d.agent = handle(c)
				case "queue_id":
					d.queue = handle(c)
				case "kernel_id":
					d.kernel, _ = c.Whole()
				case "private_segment_size":
					d.private, _ = c.Whole()
				case "group_segment_size":
					d.group, _ = c.Whole()
				case "workgroup_size":
					shape(c, &d.block)
				case "grid_size":
					shape(c, &d.grid)
				}
			})
		}
	})
}

// shape reads {"x": …, "y": …, "z": …}.
func shape(c *jsonstream.Cursor, to *[3]int64) {
	object(c, func(key string) {
		if len(key) == 1 && key[0] >= 'x' && key[0] <= 'z' {
			to[key[0]-'x'], _ = c.Whole()
		}
	})
}

func (t *transfer) read(c *jsonstream.Cursor) {
	object(c, func(key string) {
		switch {
		case t.field(key, c):
		case key == "src_agent_id":
			t.from = handle(c)
		case key == "dst_agent_id":
			t.to = handle(c)
		case key == "stream_id":
			t.stream = handle(c)
		case key == "bytes":
			t.bytes, _ = c.Whole()
		}
	})
}

func (a *allocation) read(c *jsonstream.Cursor) {
	object(c, func(key string) {
		switch {
		case a.field(key, c):
		case key == "agent_id":
			a.agent = handle(c)
		case key == "address":
			a.address, _ = c.Whole()
		case key == "allocation_size":
			a.bytes, _ = c.Whole()
		}
	})
}
