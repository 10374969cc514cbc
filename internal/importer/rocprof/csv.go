package rocprof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sheet is the kind of a CSV file by its first line.
type sheet int

const (
	noSheet       sheet = iota
	kernelSheet         // dispatches, of rocprofv3
	callSheet           // calls and markers
	copySheet           // copies
	memorySheet         // allocations
	scratchSheet        // scratch memory
	agentSheet          // CPUs and GPUs
	oldSheet            // dispatches, of the first rocprof
	untimedSheet        // the same without times
	mostLine      = 1 << 20
	maximalFields = 256
)

// sheetOf recognises a file by its columns.
func sheetOf(head []byte) sheet {
	line, _, whole := bytes.Cut(head, []byte("\n"))
	if !whole || len(line) > 4096 {
		return noSheet
	}
	columns := split(bytes.TrimRight(line, "\r"), nil)
	has := func(names ...string) bool {
		for _, n := range names {
			if !slices.ContainsFunc(columns, func(c []byte) bool { return string(c) == n }) {
				return false
			}
		}
		return true
	}
	switch timed := has("Start_Timestamp", "End_Timestamp"); {
	case timed && has("Kind", "Kernel_Name", "Agent_Id", "Queue_Id"):
		return kernelSheet
	case timed && has("Domain", "Function", "Thread_Id"):
		return callSheet
	case timed && has("Kind", "Direction"):
		return copySheet
	case timed && has("Kind", "Operation", "Allocation_Size"):
		return memorySheet
	case timed && has("Kind", "Operation", "Alloc_Flags"):
		return scratchSheet
	case has("Node_Id", "Agent_Type", "Logical_Node_Id"):
		return agentSheet
	case has("Index", "KernelName", "gpu-id", "BeginNs", "EndNs"):
		return oldSheet
	case has("Index", "KernelName", "gpu-id", "queue-id"):
		return untimedSheet
	}
	return noSheet
}

// claimCSV takes the sheets of one process together: they begin alike, as in 123_kernel_trace.csv and
// 123_hip_api_trace.csv.
func claimCSV(s importer.Source) (runs []importer.Run) {
	runs = importer.Together(s, func(file string, head []byte) (string, bool) {
		return groupOf(file, head), sheetOf(head) != noSheet
	})
	for i, r := range runs {
		runs[i].Name = path.Base(groupOf(r.Files[0], s.Head(r.Files[0])))
	}
	// A list of agents alone is no run.
	return slices.DeleteFunc(runs, func(r importer.Run) bool {
		return !slices.ContainsFunc(r.Files, func(f string) bool { return sheetOf(s.Head(f)) != agentSheet })
	})
}

// groupOf is what sheets of one process have in common; those of the first rocprof are alone.
func groupOf(file string, head []byte) string {
	if sheetOf(head) < oldSheet {
		return prefixOf(file)
	}
	return file
}

// sheetNames are endings that rocprofv3 gives its files.
var sheetNames = []string{
	"kernel", "memory_copy", "memory_allocation", "scratch_memory", "hip_api", "hip", "hip_runtime_api",
	"hip_compiler_api", "hsa_api", "hsa", "marker_api", "marker", "rccl_api", "rccl",
	"rocdecode_api", "rocdecode", "rocjpeg_api", "rocjpeg", "ompt",
}

// prefixOf returns the prefix that the sheets of one process share.
func prefixOf(file string) string {
	name := strings.TrimSuffix(file, ".gz")
	if p, ok := strings.CutSuffix(name, "_agent_info.csv"); ok {
		return p
	}
	trunk, ok := strings.CutSuffix(name, "_trace.csv")
	if !ok {
		return name
	}
	best := trunk
	for _, s := range sheetNames {
		if p, ok := strings.CutSuffix(trunk, "_"+s); ok && len(p) < len(best) {
			best = p
		}
	}
	return best
}

// csvReader reads the sheets of a process.
type csvReader struct {
	*converter
	run        importer.Run
	operations map[string]int64
	byName     map[string]int64 // kernels
}

func readCSV(ctx context.Context, run importer.Run, w trace.Writer) error {
	p := &process{agents: map[int64]agent{}, kernels: map[int64]string{}}
	p.strings.kinds = []kind{{}}
	files := slices.Clone(run.Files)
	// Agents have names before anything refers to them, and calls tell the process.
	slices.SortStableFunc(files, func(a, b string) int {
		return int(rankOfSheet(sheetOf(run.Source.Head(a)))) - int(rankOfSheet(sheetOf(run.Source.Head(b))))
	})
	p.pid = processOf(run, files)
	c := &csvReader{converter: newConverter(w, p, run.Label(files[0])), run: run, operations: map[string]int64{},
		byName: map[string]int64{}}
	for _, file := range files {
		if err := c.sheet(ctx, file); err != nil {
			return errors.Join(err, c.close())
		}
	}
	return c.close()
}

func rankOfSheet(s sheet) int {
	switch s {
	case agentSheet:
		return 0
	case callSheet:
		return 1
	}
	return 2
}

// processOf finds the process's number: in a column of calls, else in the name of the files.
func processOf(run importer.Run, files []string) int64 {
	for _, file := range files {
		head := run.Source.Head(file)
		names, rest, _ := bytes.Cut(head, []byte("\n"))
		row, _, _ := bytes.Cut(rest, []byte("\n"))
		fields := split(bytes.TrimRight(row, "\r"), nil)
		for i, name := range split(bytes.TrimRight(names, "\r"), nil) {
			if n := string(name); (n == "Process_Id" || n == "pid") && i < len(fields) {
				if v, err := strconv.ParseInt(string(fields[i]), 10, 64); err == nil {
					return v
				}
			}
		}
	}
	v, _ := strconv.ParseInt(path.Base(prefixOf(files[0])), 10, 64)
	return v
}

// A csvRow is one line, by the names of its columns.
type csvRow struct {
	columns map[string]int
	fields  [][]byte
	bad     bool
}

func (r *csvRow) text(name string) []byte {
	if i, ok := r.columns[name]; ok && i < len(r.fields) {
		return r.fields[i]
	}
	return nil
}

// number is 0 if there is no such column; an agent may be called "Agent 4".
func (r *csvRow) number(name string) int64 {
	b := r.text(name)
	if b == nil {
		return 0
	}
	s := strings.TrimPrefix(string(b), "Agent ")
	v, err := strconv.ParseInt(strings.TrimSpace(s), 0, 64)
	if err != nil {
		u, err := strconv.ParseUint(strings.TrimSpace(s), 0, 64)
		if err != nil {
			r.bad = true
		}
		v = int64(u)
	}
	return v
}

// sheet reads one file.
func (c *csvReader) sheet(ctx context.Context, file string) error {
	in, err := c.run.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	label := c.run.Label(file)
	kind := sheetOf(c.run.Source.Head(file))
	switch kind {
	case untimedSheet:
		return &importer.Error{File: label, Cause: "the dispatches have no times",
			Hint: "record with rocprof --timestamp on, or with rocprofv3", Kind: importer.ErrUnsupported}
	case noSheet:
		return &importer.Error{File: label, Cause: "these are no columns of rocprof",
			Hint: "give its results.csv, or the *_trace.csv files of rocprofv3", Kind: importer.ErrMalformed}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 1<<16), mostLine)
	row := csvRow{columns: map[string]int{}}
	var fields [][]byte
	for n := 1; lines.Scan(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := bytes.TrimRight(lines.Bytes(), "\r")
		fields = split(line, fields[:0])
		if n == 1 {
			for i, name := range fields {
				row.columns[string(name)] = i
			}
			continue
		}
		if len(line) == 0 {
			continue
		}
		row.fields, row.bad = fields, len(fields) != len(row.columns)
		if !row.bad {
			c.row(kind, &row)
		}
		if row.bad {
			c.w.Report(trace.MissingIntervals, "lines with a value that is missing or no number", 1,
				fmt.Sprintf("%s: line %d", label, n))
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return importer.Malformed(label, "", "a line of more than %d bytes", mostLine)
	} else if err != nil {
		return err
	}
	return ctx.Err()
}

// row takes one line; where a number in it is none, nothing.
func (c *csvReader) row(kind sheet, r *csvRow) {
	x := call{thread: r.number("Thread_Id"), correlation: r.number("Correlation_Id"),
		begin: r.number("Start_Timestamp"), end: r.number("End_Timestamp")}
	switch kind {
	case kernelSheet:
		d := dispatch{call: x, agent: r.number("Agent_Id"), queue: r.number("Queue_Id"), stream: r.number("Stream_Id"),
			private: r.number("Private_Segment_Size") + r.number("Scratch_Size"),
			group:   r.number("Group_Segment_Size") + r.number("LDS_Block_Size")}
		for i, axis := range []string{"X", "Y", "Z"} {
			d.block[i], d.grid[i] = r.number("Workgroup_Size_"+axis), r.number("Grid_Size_"+axis)
		}
		c.kernel(&d, r, "Kernel_Name")
	case oldSheet:
		d := dispatch{agent: r.number("gpu-id"), queue: r.number("queue-id"), private: r.number("scr"),
			group: r.number("lds")}
		d.thread, d.begin, d.end = r.number("tid"), r.number("BeginNs"), r.number("EndNs")
		d.block, d.grid = [3]int64{r.number("wgr"), 1, 1}, [3]int64{r.number("grd"), 1, 1}
		c.kernel(&d, r, "KernelName")
	case callSheet:
		if x.operation = c.operation(r.text("Function")); !r.bad {
			c.call(&x, listOf(string(r.text("Domain"))))
		}
	case copySheet:
		c.copy(x, r)
	case memorySheet, scratchSheet:
		a := allocation{call: x, agent: r.number("Agent_Id"), address: r.number("Address"),
			bytes: r.number("Allocation_Size")}
		a.operation = c.operation(r.text("Operation"))
		if kind == scratchSheet { // tells when, not how much
			c.w.Report(trace.MissingValues, "records of scratch memory, whose size is not told", 1, c.label)
		} else if c.agent(a.agent, true); !r.bad {
			c.allocation(&a, false)
		}
	case agentSheet:
		a := agent{gpu: string(r.text("Agent_Type")) == "GPU", index: r.number("Logical_Node_Type_Id"),
			name: string(r.text("Product_Name"))}
		if a.name == "" {
			a.name = string(r.text("Name"))
		}
		if id := r.number("Node_Id"); !r.bad {
			c.agents[id] = a
		}
	}
}

// agent makes one that no list named.
func (c *csvReader) agent(id int64, gpu bool) {
	if _, ok := c.agents[id]; !ok {
		c.agents[id] = agent{gpu: gpu, index: id}
	}
}

func (c *csvReader) kernel(d *dispatch, r *csvRow, column string) {
	if r.bad {
		return
	}
	name := r.text(column)
	id, ok := c.byName[string(name)]
	if !ok {
		id = int64(len(c.byName)) + 1
		c.byName[string(name)] = id
		c.kernels[id] = strings.TrimSuffix(strings.ToValidUTF8(string(name), "\ufffd"), " [clone .kd]")
	}
	d.kernel = id
	c.agent(d.agent, true)
	c.dispatch(d)
}

func (c *csvReader) copy(x call, r *csvRow) {
	t := transfer{call: x, from: r.number("Source_Agent_Id"), to: r.number("Destination_Agent_Id"),
		stream: r.number("Stream_Id")}
	direction := string(r.text("Direction"))
	if t.operation = c.operation([]byte(direction)); r.bad {
		return
	}
	from, to, _ := strings.Cut(strings.TrimPrefix(direction, "MEMORY_COPY_"), "_TO_")
	c.agent(t.from, from == "DEVICE")
	c.agent(t.to, to == "DEVICE")
	c.transfer(&t)
}

// operation numbers a name.
func (c *csvReader) operation(name []byte) int64 {
	id, ok := c.operations[string(name)]
	if !ok {
		list := &c.strings.kinds[0].operations
		id = int64(len(*list))
		*list = append(*list, strings.ToValidUTF8(string(name), "\ufffd"))
		c.operations[string(name)] = id
	}
	return id
}

// listOf names calls as the JSON results do.
func listOf(domain string) string {
	domain = strings.ToLower(domain)
	for _, list := range []string{"hip", "hsa", "marker", "rccl"} {
		if strings.HasPrefix(domain, list) {
			return list + "_api"
		}
	}
	return domain
}

// split cuts a line of CSV into its fields. Quotes in a field are written twice; a quote that is not closed closes at
// the end.
func split(line []byte, to [][]byte) [][]byte {
	for len(to) < maximalFields {
		if len(line) > 0 && line[0] == '"' {
			var field []byte
			rest := line[1:]
			for {
				i := bytes.IndexByte(rest, '"')
				if i < 0 {
					field, rest = append(field, rest...), nil
					break
				}
				if field == nil && (i+1 == len(rest) || rest[i+1] != '"') {
					field, rest = rest[:i], rest[i+1:]
					break
				}
				field = append(field, rest[:i]...)
				if i+1 < len(rest) && rest[i+1] == '"' {
					field, rest = append(field, '"'), rest[i+2:]
					continue
				}
				rest = rest[i+1:]
				break
			}
			if field == nil {
				field = []byte{}
			}
			to = append(to, field)
			i := bytes.IndexByte(rest, ',')
			if i < 0 {
				return to
			}
			line = rest[i+1:]
			continue
		}
		field, rest, more := bytes.Cut(line, []byte(","))
		to = append(to, bytes.TrimSpace(field))
		if !more {
			return to
		}
		line = rest
	}
	return to
}
