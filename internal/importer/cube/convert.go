package cube

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter gives the words of an anchor their meaning.
type converter struct {
	run    importer.Run
	w      trace.Writer
	box    *box
	anchor *anchor

	tree    *tree
	paths   []trace.CallPathID // of the call nodes in preorder
	first   []int32            // of each call node: the first one with the same path
	columns []trace.LocationID // of the data
	metrics []*definition
	byName  map[string]*definition
}

// A definition is a metric of the file with the metric made of it.
type definition struct {
	*metric
	id        trace.MetricID
	kind      *valueType
	inclusive bool // as stored
	derived   *expression
	scale     float64
	parent    string
	standard  bool // stands for time
	used      bool // by a derived metric
}

func newConverter(run importer.Run, w trace.Writer, b *box, a *anchor) *converter {
	return &converter{run: run, w: w, box: b, anchor: a, byName: map[string]*definition{}}
}

// define writes everything but values.
func (c *converter) define() {
	for _, a := range c.anchor.Attributes {
		if a.Key != "" {
			c.w.Property(a.Key, a.Value)
		}
	}
	c.defineSystem()
	c.defineCalls()
	c.defineMetrics(c.anchor.Metrics, "")
	c.chooseStandard()
	for _, d := range c.metrics {
		c.defineDerived(d)
	}
	for _, d := range c.metrics {
		c.defineMetric(d)
	}
	c.reportRemapping()
}

// reportRemapping says that a file of further metrics is not applied: its programs
// sort time into a tree of MPI, OpenMP and so on, where roles do the same here.
func (c *converter) reportRemapping() {
	p, ok, err := c.box.part(remappingName)
	if err != nil || !ok {
		return
	}
	text, err := io.ReadAll(io.NewSectionReader(p.r, 0, min(p.size, mostAnchor)))
	if err != nil {
		return
	}
	programs := int64(bytes.Count(text, []byte("<cubepl>")))
	c.w.Report(trace.MissingValues, "metrics of remapping.spec, whose programs are not run", max(programs, 1),
		c.box.place(remappingName))
}

// --- call tree

func (c *converter) defineCalls() {
	c.tree = newTree(c.anchor.Nodes)
	regions := map[int]*region{}
	for i := range c.anchor.Regions {
		regions[c.anchor.Regions[i].ID] = &c.anchor.Regions[i]
	}
	sites := c.callSites()
	ids := map[string]trace.RegionID{}
	c.paths = make([]trace.CallPathID, len(c.tree.nodes))
	c.first = make([]int32, len(c.tree.nodes))
	seen := map[trace.CallPathID]int32{}
	for i, n := range c.tree.nodes {
		key := decimal(n.Callee) + parameters(n)
		id := importer.Once(ids, key, func() trace.RegionID {
			r, known := regions[n.Callee]
			if !known {
				r = &region{Name: "region " + decimal(n.Callee)}
				c.w.Report(trace.Guessed, "regions that are called and not defined", 1,
					c.box.place(anchorName)+": "+decimal(n.Callee))
			}
			return c.w.Region(regionOf(r, parameters(n), sites[n.Callee]))
		})
		parent := trace.NoCallPath
		if p := c.tree.parent[i]; p >= 0 {
			parent = c.paths[p]
		}
		c.paths[i] = c.w.CallPath(trace.CallPath{Parent: parent, Region: id})
		f, ok := seen[c.paths[i]]
		if !ok {
			f = int32(i)
			seen[c.paths[i]] = f
		}
		c.first[i] = f
	}
}

// mostSites bounds how many places of a call are kept of a region.
const mostSites = 16

// callSites lists for each region where it is called, for files that say so.
func (c *converter) callSites() map[int][]string {
	sites := map[int][]string{}
	for _, n := range c.tree.nodes {
		if n.Line <= 0 || n.Module == "" {
			continue
		}
		at := n.Module + ":" + decimal(n.Line)
		if list := sites[n.Callee]; len(list) < mostSites && !slices.Contains(list, at) {
			sites[n.Callee] = append(list, at)
		}
	}
	return sites
}

// parameters of a call node distinguish calls of one region.
func parameters(n *node) string {
	var b strings.Builder
	for _, p := range n.Parameters {
		key, value := p.Key+p.KeyOld, p.Value+p.ValOld
		fmt.Fprintf(&b, " [%s=%s]", key, value)
	}
	return b.String()
}

func regionOf(r *region, parameters string, sites []string) trace.Region {
	out := trace.Region{Name: r.Name + parameters, Category: r.Paradigm, Role: roleOf(r)}
	if r.Begin > 0 {
		out.File, out.Line = r.Module, r.Begin
	} else if strings.ContainsAny(r.Module, "/.") {
		out.File = r.Module
	}
	attribute := func(key, value string) {
		if value != "" {
			out.Attributes = append(out.Attributes, trace.Attribute{Key: key, Value: trace.Text(value)})
		}
	}
	if r.End > r.Begin && r.Begin > 0 {
		out.Attributes = append(out.Attributes, trace.Attribute{Key: "end line", Value: trace.Integer(int64(r.End))})
	}
	if r.Mangled != r.Name {
		attribute("mangled name", r.Mangled)
	}
	attribute("kind", r.Role)
	attribute("called at", strings.Join(sites, ", "))
	return out
}

// roleOf takes the role from the recorder for regions that are not of MPI; for those of MPI the names say more.
func roleOf(r *region) trace.Role {
	if r.Paradigm == "mpi" {
		if len(r.Name) < 4 || !strings.EqualFold(r.Name[:4], "MPI_") {
			return trace.RoleOf(r.Name, "") // the whole program is called PARALLEL
		}
		return trace.RoleByName
	}
	switch r.Role {
	case "barrier", "implicit barrier", "critical", "lock", "wait", "thread wait", "task wait":
		return trace.RoleSynchronization
	case "file io", "file io metadata":
		return trace.RoleIO
	case "data transfer":
		return trace.RoleCopy
	case "task create", "thread create", "kernel launch":
		return trace.RoleOverhead
	case "artificial":
		if r.Name == "TRACE BUFFER FLUSH" || r.Name == "MEASUREMENT OFF" {
			return trace.RoleOverhead
		}
	}
	return trace.RoleByName
}

// --- metrics

// defineMetrics flattens the tree of metrics.
func (c *converter) defineMetrics(list []*metric, parent string) {
	for _, m := range list {
		d := &definition{metric: m, scale: 1, inclusive: strings.Contains(m.Type, "INCLUSIVE")}
		if m.Name == "" {
			m.Name = cmp.Or(m.Title, "metric "+m.ID)
		}
		if !strings.Contains(m.Type, "DERIVED") {
			if d.kind = valueTypeOf(m.DataType); d.kind == nil {
				c.w.Report(trace.MissingValues, "metrics whose values are no numbers ("+m.DataType+")", 1,
					c.box.place(anchorName)+": "+m.Name)
			}
		}
		if strings.EqualFold(m.Unit, "sec") || m.Unit == "s" || strings.EqualFold(m.Unit, "seconds") {
			d.scale = 1e9
		}
		m.Text = strings.TrimSpace(m.Text)
		d.parent = parent
		c.metrics = append(c.metrics, d)
		c.byName[m.Name] = d
		c.defineMetrics(m.Children, m.Name)
	}
}

// chooseStandard picks the metric that stands for time.
func (c *converter) chooseStandard() {
	if d, ok := c.byName["time"]; ok && d.kind != nil {
		d.standard = true
		return
	}
	for _, d := range c.metrics {
		if d.kind != nil && d.scale == 1e9 && !d.kind.lowest && !d.kind.most {
			d.standard = true
			return
		}
	}
}

// defineDerived parses the expression of a derived metric.
func (c *converter) defineDerived(d *definition) {
	if d.kind != nil || !strings.Contains(d.Type, "DERIVED") {
		return
	}
	e, err := parseExpression(d.Expression, func(name string) (*definition, bool) {
		m, ok := c.byName[name]
		return m, ok
	})
	if err != nil {
		c.w.Report(trace.MissingValues, "derived metrics that are not evaluated", 1,
			c.box.place(anchorName)+": "+d.Name+": "+err.Error())
		return
	}
	d.derived = e
	for _, m := range e.uses {
		m.used = true
	}
}

func (c *converter) defineMetric(d *definition) {
	m := trace.Metric{Name: d.Name, Unit: unitOf(d), Parent: d.parent, Default: d.standard,
		Description: cmp.Or(d.Text, d.Title)}
	m.Integer = d.kind != nil && d.kind.whole && d.scale == 1
	m.Join = joinOf(d)
	switch {
	case d.derived != nil:
		m.Description = strings.TrimSpace(m.Description + " (derived: " +
			strings.Join(strings.Fields(d.Expression), " ") + ")")
	case d.kind != nil && d.kind.lowest:
		m.Description += " (a minimum)"
	case d.kind != nil && d.kind.most:
		m.Description += " (a maximum)"
	}
	if d.Shown == "GHOST" {
		m.Description += " (hidden)"
	}
	d.id = c.w.Metric(m)
}

// joinOf returns how values of several locations become one. A metric that is derived
// from sums adds up only where its expression is linear.
func joinOf(d *definition) trace.Join {
	switch {
	case d.kind != nil && d.kind.lowest:
		return trace.JoinMin
	case d.kind != nil && d.kind.most:
		return trace.JoinMax
	case d.kind != nil && d.kind.ratio, d.derived != nil && d.Type == "POSTDERIVED" && !d.derived.linear():
		return trace.JoinMean
	}
	return trace.JoinSum
}

func unitOf(d *definition) string {
	switch {
	case d.scale == 1e9:
		return "ns"
	case d.Unit == "occ" || d.Unit == "#":
		return ""
	}
	return d.Unit
}
