package tracetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func (d *dumper) communicators() {
	for i, c := range d.r.Communicators() {
		s := "communicator " + d.communicator(trace.CommunicatorID(i))
		if c.Parent != trace.NoCommunicator {
			s += " parent=" + d.communicator(c.Parent)
		}
		for _, id := range c.Members {
			s += " " + d.places[id]
		}
		d.line(0, "%s", s)
	}
}

// communicator returns the name of a communicator, with its number if it is not the only one.
func (d *dumper) communicator(id trace.CommunicatorID) string {
	name := d.r.Communicators()[id].Name
	for i, c := range d.r.Communicators() {
		if c.Name == name && i != int(id) {
			name += "~" + strconv.Itoa(int(id))
			break
		}
	}
	return quote(name)
}

func (d *dumper) topologies() {
	for _, t := range d.r.Topologies() {
		s := "topology " + quote(t.Name) + " " + joinInts(t.Dims, "x")
		if len(t.DimNames) > 0 {
			s += " names=" + quote(strings.Join(t.DimNames, ","))
		}
		if len(t.Periodic) > 0 {
			var b []string
			for _, p := range t.Periodic {
				b = append(b, strconv.FormatBool(p))
			}
			s += " periodic=" + strings.Join(b, ",")
		}
		d.line(0, "%s", s)
		for _, c := range t.Coordinates {
			d.line(1, "at %s %s", d.places[c.Location], joinInts(c.At, ","))
		}
	}
}

func joinInts(list []int, separator string) string {
	var s []string
	for _, i := range list {
		s = append(s, strconv.Itoa(i))
	}
	return strings.Join(s, separator)
}

func (d *dumper) links() {
	type entry struct {
		from trace.Time
		line string
	}
	var list []entry
	d.must("links",
		d.r.Links(context.Background(), store.Window{End: d.r.Info().End}, func(c *store.LinkColumns) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			for i := range c.Kind {
				list = append(list, entry{c.FromTime[i], d.link(c, i)})
			}
			return nil
		}))
	slices.SortFunc(list, func(a, b entry) int {
		if a.from != b.from {
			return int(max(-1, min(1, a.from-b.from)))
		}
		return strings.Compare(a.line, b.line)
	})
	var lines []string
	for _, e := range list {
		lines = append(lines, e.line)
	}
	d.some(0, lines)
}

func (d *dumper) link(c *store.LinkColumns, i int) string {
	s := fmt.Sprintf("link %s ", c.Kind[i])
	if c.Untimed[i] {
		s += fmt.Sprintf("%s -> %s untimed", d.places[c.FromLocation[i]], d.places[c.ToLocation[i]])
	} else {
		s += fmt.Sprintf("%d %s -> %d %s", c.FromTime[i], d.places[c.FromLocation[i]], c.ToTime[i],
			d.places[c.ToLocation[i]])
	}
	if c.Size[i] >= 0 {
		s += fmt.Sprintf(" size=%d", c.Size[i])
	}
	if c.Tag[i] != 0 {
		s += fmt.Sprintf(" tag=%d", c.Tag[i])
	}
	if c.Communicator[i] != trace.NoCommunicator {
		s += " comm=" + d.communicator(c.Communicator[i])
	}
	if c.Count[i] > 1 {
		s += fmt.Sprintf(" count=%d", c.Count[i])
	}
	return s + d.linkEnd(" from=", c.FromLocation[i], c.FromLane[i], c.FromRow[i]) +
		d.linkEnd(" to=", c.ToLocation[i], c.ToLane[i], c.ToRow[i])
}

// linkEnd names the interval in which a link begins or ends.
func (d *dumper) linkEnd(key string, location trace.LocationID, lane, row int32) string {
	if row < 0 {
		return ""
	}
	c, err := d.r.Interval(store.Row{Location: location, Lane: int(lane), Row: int(row)})
	if d.must("interval", err); c == nil {
		return key + "?"
	}
	return key + quote(fmt.Sprintf("%s@%d", d.names[c.Region[0]], c.Begin[0]))
}

func (d *dumper) profile() {
	metrics := d.r.Metrics()
	for _, m := range metrics {
		s := "metric " + quote(m.Name)
		if m.Unit != "" {
			s += " unit=" + quote(m.Unit)
		}
		if m.Integer {
			s += " integer"
		}
		if m.Default {
			s += " default"
		}
		if m.Parent != "" {
			s += " parent=" + quote(m.Parent)
		}
		if m.Description != "" {
			s += " description=" + quote(m.Description)
		}
		d.line(0, "%s", s)
	}
	ctx := context.Background()
	var lines []string
	d.must("profile", d.r.Profile(ctx, nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			path, flat := d.callPath(p.Path)
			lines = append(lines, fmt.Sprintf("profile %s %s %s calls=%v subcalls=%v incl=%v excl=%v%s",
				d.places[p.Location], path, quote(metrics[p.Metric].Name), p.Calls, p.Subcalls, p.Inclusive,
				p.Exclusive, flat))
		}
		return nil
	}))
	d.sorted(lines)
	lines = nil
	d.must("lines", d.r.Lines(ctx, nil, func(rows []trace.LineRow) error {
		for _, p := range rows {
			lines = append(lines, d.sourceLine(&p))
		}
		return nil
	}))
	d.sorted(lines)
	lines = nil
	d.must("atomics", d.r.Atomics(ctx, nil, func(rows []trace.AtomicRow) error {
		for _, p := range rows {
			path, _ := d.callPath(p.Path)
			lines = append(lines, fmt.Sprintf("atomic %s %s %s count=%v min=%v max=%v mean=%v sumsq=%v",
				d.places[p.Location], path, quote(metrics[p.Metric].Name), p.Count, p.Min, p.Max, p.Mean, p.SumSquares))
		}
		return nil
	}))
	d.sorted(lines)
	lines = nil
	d.must("moments", d.r.Moments(ctx, nil, func(rows []trace.MomentRow) error {
		for _, p := range rows {
			s := fmt.Sprintf("moments %s %s %d..%d weight=%v mean=%v", d.places[p.Location], p.Role, p.Begin, p.End,
				p.Weight, p.Mean)
			for k := 2; k <= trace.MaxMoment; k++ {
				if p.Central[k] != 0 {
					s += fmt.Sprintf(" m%d=%v", k, p.Central[k])
				}
			}
			lines = append(lines, s)
		}
		return nil
	}))
	d.sorted(lines)
}

func (d *dumper) sourceLine(p *trace.LineRow) string {
	path, flat := d.callPath(p.Path)
	s := fmt.Sprintf("sourceline %s %s %s line=%d", d.places[p.Location], path, quote(d.r.Metrics()[p.Metric].Name),
		p.Line)
	if p.File != trace.NoFile {
		s += " file=" + quote(store.FileOfLine(d.r, p))
	}
	if p.Callee != trace.NoCallPath {
		callee, _ := d.callPath(p.Callee)
		return s + fmt.Sprintf(" callee=%s calls=%v incl=%v%s", callee, p.Calls, p.Inclusive, flat)
	}
	return s + fmt.Sprintf(" incl=%v excl=%v%s", p.Inclusive, p.Exclusive, flat)
}

// sorted writes lines in their own order: ids of paths and metrics follow the
// order of definition, which differs between readers that work in parallel.
func (d *dumper) sorted(lines []string) {
	slices.Sort(lines)
	d.some(0, lines)
}

// callPath writes the regions from the root, and marks flat paths.
func (d *dumper) callPath(id trace.CallPathID) (path, flat string) {
	if id == trace.NoCallPath {
		return "-", ""
	}
	paths := d.r.CallPaths()
	if paths[id].Flat {
		flat = " flat"
	}
	var names []string
	for i := id; i != trace.NoCallPath; i = paths[i].Parent {
		names = append(names, d.names[paths[i].Region])
	}
	slices.Reverse(names)
	return quote(strings.Join(names, " => ")), flat
}
