// Package cpuprofile reads profiles of V8: .cpuprofile and .heapprofile files of Node (--cpu-prof, --heap-prof),
// Chrome's developer tools and Hermes.
//
// The format: an object with the call tree under `nodes` (each with a frame, how often it was hit, and
// its children or its parent), and samples as numbers of nodes with the microseconds between them. Node 6 and older,
// and heap profiles, have one node under `head` that holds its children; samples then have a time each.
//
// Terms: see package v8tree, which the samples inside Chrome traces share. A file without samples has
// counts only. A heap profile has the bytes that each call path allocated, and no time.
package cpuprofile

import (
	"bytes"
	"context"
	"io"
	"path"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/importer/v8tree"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is V8's profile.
var Format = &importer.Format{Name: "cpuprofile", Title: "V8 profiles (.cpuprofile, .heapprofile: Node, Chrome)",
	Text:  true,
	Claim: importer.EachFile(isProfile), Import: importer.OneFile(read)}

func isProfile(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) ||
		!bytes.Contains(head, []byte(`"functionName"`)) || bytes.Contains(head, []byte(`"traceEvents"`)) {
		return false
	}
	return bytes.Contains(head, []byte(`"nodes"`)) && bytes.Contains(head, []byte(`"callFrame"`)) || nested.Match(head)
}

// nested is the root of a tree whose nodes hold their children.
var nested = regexp.MustCompile(`"head"\s*:\s*\{[^{}]*(?:"callFrame"\s*:\s*\{)?[^{}]*"functionName"`)

// A profile is the file while it is read.
type profile struct {
	*jsonstream.Reader
	tree    *v8tree.Tree
	samples v8tree.Samples
	times   []int64 // of samples, in older files
	heap    bool
	ends    float64 // of older files, in seconds
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	p := &profile{tree: v8tree.New(w), samples: v8tree.Samples{Label: label}}
	p.Reader = jsonstream.NewReader(ctx, in, label,
		jsonstream.Reporter(w))
	if err := p.End(p.Members(p.member), p.tree.Len(), "nodes"); err != nil {
		return err
	}
	p.tree.Check(label)
	if n := max(len(p.samples.Deltas), len(p.times)) - len(p.samples.IDs); n > 0 && !p.heap {
		w.Report(trace.MissingSamples, "times without a sample", int64(n), label)
	}
	process := w.Location(importer.Process(path.Base(run.Name)))
	thread := w.Location(importer.Below(process, trace.KindThread, "main"))
	if p.heap {
		p.tree.Sizes(thread)
		return ctx.Err()
	}
	if len(p.times) > 0 && len(p.samples.Deltas) == 0 {
		p.timed()
	}
	if len(p.samples.IDs) == 0 {
		p.tree.Hits(thread)
		return ctx.Err()
	}
	total := stack.New(w, stack.Times()...)
	defer total.Finish()
	return p.tree.Show(ctx, total, thread, &p.samples, 0)
}

func (p *profile) member(name string) error {
	switch name {
	case "nodes":
		return p.Array(func() error { _, err := p.Take(p.tree.Node); return err })
	case "head":
		_, err := p.Take(func(c *jsonstream.Cursor) { p.heap = p.tree.Head(c) })
		return err
	case "timestamps":
		return p.numbers(&p.times)
	case "samples":
		if p.heap { // nodes have the bytes already
			return p.Skip()
		}
		return p.numbers(&p.samples.IDs)
	case "timeDeltas":
		return p.numbers(&p.samples.Deltas)
	case "startTime":
		return p.number(&p.samples.Begin)
	case "endTime":
		_, err := p.Take(func(c *jsonstream.Cursor) {
			p.ends, _ = c.Scalar().Number()
			p.samples.End = int64(p.ends)
		})
		return err
	}
	return p.Skip()
}

// timed puts the times of an older file into the newer form. Begin and end are seconds there.
func (p *profile) timed() {
	s := &p.samples
	s.Begin = p.times[0]
	for i, t := range p.times {
		s.Deltas = append(s.Deltas, t-p.times[max(i-1, 0)])
	}
	last := p.times[len(p.times)-1]
	if s.End = int64(p.ends * 1e6); s.End < last || s.End-last > last-s.Begin {
		s.End = 0 // on another clock
	}
}

func (p *profile) numbers(to *[]int64) error {
	return p.Array(func() error {
		var v int64
		if err := p.number(&v); err != nil {
			return err
		}
		*to = append(*to, v)
		return nil
	})
}

func (p *profile) number(to *int64) error {
	_, err := p.Take(func(c *jsonstream.Cursor) { *to, _ = c.Whole() })
	return err
}
