// Package cpuprofile reads profiles of V8: .cpuprofile files of Node (--cpu-prof), Chrome's developer
// tools and Hermes.
//
// The format: an object with the call tree under `nodes` (each with a frame, how often it was hit, and
// its children or its parent), and samples as numbers of nodes with the microseconds between them.
//
// Our words: a node is a call path, a sample's time counts for its node. Samples over time are a
// row of their own, which counts nowhere. V8's `(idle)`, `(program)` and `(garbage collector)` are idle and overhead.
// A file without samples has counts only.
package cpuprofile

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is V8's profile.
var Format = &importer.Format{Name: "cpuprofile", Title: "V8 CPU profiles (.cpuprofile: Node, Chrome)", Claim: claim, Import: read}

func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		if isProfile(s.Head(f.Path)) {
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		}
	}
	return runs
}

func isProfile(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")) && bytes.Contains(head, []byte(`"nodes"`)) &&
		bytes.Contains(head, []byte(`"callFrame"`)) && bytes.Contains(head, []byte(`"functionName"`)) && !bytes.Contains(head, []byte(`"traceEvents"`))
}

// A node is a call path.
type node struct {
	region trace.RegionID
	parent int64
	hits   float64
}

// A profile is the file while it is read.
type profile struct {
	*jsonstream.Reader
	w          trace.Writer
	label      string
	nodes      map[int64]*node
	order      []int64
	children   map[int64][]int64
	samples    []int64
	deltas     []int64
	begin, end int64
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	in, err := run.Open(run.Files[0])
	if err != nil {
		return err
	}
	defer in.Close()
	p := &profile{w: w, label: run.Label(run.Files[0]), nodes: map[int64]*node{}, children: map[int64][]int64{}}
	p.Reader = jsonstream.NewReader(ctx, in, p.label, func(what, place string) { w.Report(trace.Skipped, what, 1, place) })
	if err := p.End(p.Members(p.member), len(p.nodes), "nodes"); err != nil {
		return err
	}
	return p.convert(ctx, path.Base(run.Name))
}

func (p *profile) member(name string) error {
	switch name {
	case "nodes":
		return p.Array(func() error { _, err := p.Take(p.node); return err })
	case "samples":
		return p.Array(func() error {
			_, err := p.Take(func(c *jsonstream.Cursor) { v, _ := c.Whole(); p.samples = append(p.samples, v) })
			return err
		})
	case "timeDeltas":
		return p.Array(func() error {
			_, err := p.Take(func(c *jsonstream.Cursor) { v, _ := c.Whole(); p.deltas = append(p.deltas, v) })
			return err
		})
	case "startTime", "endTime":
		_, err := p.Take(func(c *jsonstream.Cursor) {
			if v, _ := c.Whole(); name == "startTime" {
				p.begin = v
			} else {
				p.end = v
			}
		})
		return err
	}
	return p.Skip()
}

// node reads one node with its frame.
func (p *profile) node(c *jsonstream.Cursor) {
	id := int64(-1)
	n := &node{parent: -1}
	r := trace.Region{}
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "id":
			id, _ = c.Whole()
		case "parent":
			n.parent, _ = c.Whole()
		case "hitCount":
			n.hits, _ = c.Scalar().Number()
		case "children":
			for ok := c.Open('['); ok && c.More(']'); {
				if child, ok := c.Whole(); ok {
					p.children[id] = append(p.children[id], child)
				}
			}
		case "callFrame":
			for ok := c.Open('{'); ok && c.More('}'); {
				switch string(c.Key()) {
				case "functionName":
					r.Name = c.Text()
				case "url":
					r.File = c.Text()
				case "lineNumber":
					line, _ := c.Whole()
					r.Line = int(line) + 1 // lines count from 0
				default:
					c.Skip()
				}
			}
		default:
			c.Skip()
		}
	}
	switch r.Name {
	case "":
		r.Name = "(anonymous)"
	case "(idle)":
		r.Role = trace.RoleIdle
	case "(program)", "(garbage collector)":
		r.Role = trace.RoleOverhead
	}
	if r.File == "" {
		r.Line = 0
	}
	n.region = p.w.Region(r)
	if p.nodes[id] == nil {
		p.order = append(p.order, id)
	}
	p.nodes[id] = n
}

// path lists the regions from the outermost to a node; the root stands for the whole and is left out.
func (p *profile) path(id int64, to []trace.RegionID) []trace.RegionID {
	for depth := 0; depth <= len(p.nodes); depth++ {
		n := p.nodes[id]
		if n == nil {
			break
		}
		if n.parent >= 0 || len(p.nodes) == 1 {
			to = append(to, n.region)
		}
		if n.parent < 0 {
			break
		}
		id = n.parent
	}
	for i, k := 0, len(to)-1; i < k; i, k = i+1, k-1 {
		to[i], to[k] = to[k], to[i]
	}
	return to
}

// convert adds up the samples and shows them over time.
func (p *profile) convert(ctx context.Context, name string) error {
	for id, list := range p.children {
		for _, child := range list {
			if n := p.nodes[child]; n != nil && child != id {
				n.parent = id
			}
		}
	}
	process := p.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: name, Rank: trace.NoRank})
	thread := p.w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: "main", Rank: trace.NoRank})
	if len(p.samples) == 0 {
		hits := stack.New(p.w, trace.Metric{Name: "samples", Integer: true, Default: true})
		for _, id := range p.order {
			if n := p.nodes[id]; n.hits > 0 {
				hits.Add(thread, p.path(id, nil), []float64{n.hits})
			}
		}
		hits.Finish()
		return ctx.Err()
	}
	total := stack.New(p.w, trace.Metric{Name: "time", Unit: "ns", Default: true}, trace.Metric{Name: "samples", Integer: true})
	at := p.w.Location(trace.Location{Parent: thread, Kind: trace.KindSamples, Name: "samples", Rank: trace.NoRank})
	s := p.w.Stream(at, trace.StreamOptions{Unordered: true})
	var open, now []trace.RegionID
	t, unknown, back := p.begin, int64(0), int64(0)
	for i, id := range p.samples {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		// A delta is the time from the sample before; the time up to the next one is this sample's.
		if i < len(p.deltas) {
			if p.deltas[i] < 0 {
				back++
			}
			t += max(p.deltas[i], 0)
		}
		next := int64(0)
		switch {
		case i+1 < len(p.deltas):
			next = max(p.deltas[i+1], 0)
		case p.end > t:
			next = p.end - t
		}
		if p.nodes[id] == nil {
			unknown++
		}
		now = p.path(id, now[:0])
		if len(now) > 0 {
			total.Add(thread, now, []float64{float64(next) * 1000, 1})
		}
		open = stack.Change(s, trace.Time(t)*1000, open, now)
	}
	stack.Change(s, trace.Time(max(t, p.end))*1000, open, nil)
	total.Finish()
	if unknown > 0 {
		p.w.Report(trace.Skipped, "samples of a node that is not there", unknown, p.label)
	}
	if back > 0 {
		p.w.Report(trace.Repaired, "samples that lie before the one before: taken for at the same time", back, p.label)
	}
	if n := len(p.samples) - len(p.deltas); n > 0 && len(p.deltas) > 0 {
		p.w.Report(trace.Guessed, "samples without a time", int64(n), fmt.Sprintf("%s: sample %d", p.label, len(p.deltas)))
	}
	return s.Close()
}
