package graintable

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A grain is a task in its tree.
type grain struct {
	*task
	parent   int32 // -1 at a root
	children []int32
	begin    int64
	core     *importer.Row
	region   trace.RegionID
}

// convert writes the tasks. O(tasks).
func (t *taskTable) convert(ctx context.Context, w trace.Writer) error {
	grains, order := t.tree(w)
	for _, i := range slices.Backward(order) { // children before their parents
		g := &grains[i]
		g.begin = g.end - g.cycles
		for _, c := range g.children {
			g.begin = min(g.begin, grains[c].begin-grains[c].created)
		}
		g.begin = max(g.begin, -most) // no sum of accepted times overflows
	}
	w.Report(trace.Guessed, "begins of tasks: as late as their ends, cycles and children allow", int64(len(grains)), "")
	w.Report(trace.Guessed,
		"unit of time: the table does not tell the rate of its clock, a cycle is shown as a nanosecond", 1, "")
	c := converter{w: w, table: t, rows: importer.NewRows(w), cores: map[int64]*importer.Row{},
		regions: map[string]trace.RegionID{}}
	c.attributes()
	for n, i := range order {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c.write(&grains[i])
		if g := &grains[i]; g.parent >= 0 {
			p := &grains[g.parent]
			w.Link(trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
				From: trace.End{Location: p.core.At, Time: trace.Time(p.begin), Region: p.region},
				To:   trace.End{Location: c.core(g.cpu).At, Time: trace.Time(g.begin), Region: g.region}})
		}
	}
	return c.rows.Close()
}

// tree joins tasks with their parents and returns an order in which parents come
// first. Parents in a circle are no parents.
func (t *taskTable) tree(w trace.Writer) (grains []grain, order []int32) {
	grains = make([]grain, len(t.tasks))
	byID := make(map[int64]int32, len(t.tasks))
	for i := range t.tasks {
		grains[i] = grain{task: &t.tasks[i], parent: -1}
		byID[t.tasks[i].id] = int32(i)
	}
	lacking := int64(0)
	for i := range grains {
		p, ok := byID[grains[i].task.parent]
		switch {
		case ok && int(p) != i:
			grains[i].parent = p
			grains[p].children = append(grains[p].children, int32(i))
		case grains[i].task.parent != 0:
			lacking++
		}
	}
	importer.Tell(w, trace.Guessed, "tasks whose parent is not in the table: taken for roots", lacking, "")
	for i := range grains {
		if grains[i].parent < 0 {
			order = append(order, int32(i))
		}
	}
	reached := make([]bool, len(grains))
	visit := func(from int) {
		for n := from; n < len(order); n++ {
			reached[order[n]] = true
			order = append(order, grains[order[n]].children...)
		}
	}
	visit(0)
	for i := range grains {
		if !reached[i] { // in a circle, or below one
			p := &grains[grains[i].parent]
			p.children = slices.DeleteFunc(p.children, func(c int32) bool { return c == int32(i) })
			grains[i].parent = -1
			w.Report(trace.Repaired, "tasks that are their own ancestors: taken for roots", 1,
				fmt.Sprintf("task %d", grains[i].id))
			order = append(order, int32(i))
			visit(len(order) - 1)
		}
	}
	return grains, order
}

// A converter writes tasks on their cores.
type converter struct {
	w       trace.Writer
	table   *taskTable
	rows    importer.Rows
	cores   map[int64]*importer.Row
	regions map[string]trace.RegionID
	columns []trace.AttributeID // by column
	waiting trace.RegionID
}

func (c *converter) attributes() {
	for _, name := range c.table.header {
		c.columns = append(c.columns, c.w.Attribute(strings.ReplaceAll(name, "_", " ")))
	}
	c.waiting = c.w.Region(trace.Region{Name: "taskwait", Category: "openmp", Role: trace.RoleSynchronization})
}

func (c *converter) core(cpu int64) *importer.Row {
	k := c.cores[cpu]
	if k == nil {
		l := trace.Location{Parent: trace.NoLocation, Kind: "core", Key: strconv.FormatInt(cpu, 10),
			Name: fmt.Sprintf("core %d", cpu), Rank: trace.NoRank, Order: cpu}
		k = c.rows.Open(l, trace.StreamOptions{Unordered: true})
		c.cores[cpu] = k
	}
	return k
}

func (c *converter) write(g *grain) {
	g.core, g.region = c.core(g.cpu), c.region(g.task)
	s := g.core.Stream
	s.Interval(trace.Time(g.begin), trace.Time(g.end), g.region)
	for i, text := range g.fields {
		if v, ok := value(text); ok {
			s.Attribute(c.columns[i], v)
		}
	}
	// Before the wait it ran for so many cycles, after it for the rest of them.
	if from, to := g.begin+g.wait, g.end-(g.cycles-g.wait); g.wait > 0 && g.wait <= g.cycles && from < to {
		s.Interval(trace.Time(from), trace.Time(to), c.waiting)
	}
}

// region is the function of a task. Functions are told by their addresses.
func (c *converter) region(k *task) trace.RegionID {
	name, file := c.field(k, "outline_function"), c.field(k, "source_line")
	key := name + "\x00" + file
	return importer.Once(c.regions, key, func() trace.RegionID {
		if n, err := strconv.ParseUint(name, 10, 64); err == nil {
			name = fmt.Sprintf("task 0x%x", n)
		} else if name == "" {
			name = "task"
		}
		r := trace.Region{Name: name, Category: "task", Role: trace.RoleCompute}
		var line string
		r.File, line, _ = strings.Cut(file, ":")
		if n, err := strconv.Atoi(line); err == nil && n > 0 {
			r.Line = n
		}
		return c.w.Region(r)
	})
}

// field returns a column of a task; empty if there is none or it says NA.
func (c *converter) field(k *task, name string) string {
	if i, ok := c.table.columns[name]; ok && k.fields[i] != "NA" {
		return k.fields[i]
	}
	return ""
}

func value(text string) (trace.Value, bool) {
	if text == "" || text == "NA" {
		return trace.Value{}, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return trace.Integer(n), true
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return trace.Number(x), true
	}
	return trace.Text(text), true
}
