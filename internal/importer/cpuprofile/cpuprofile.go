// Package cpuprofile reads profiles of V8: .cpuprofile files of Node (--cpu-prof), Chrome's developer
// tools and Hermes.
//
// The format: an object with the call tree under `nodes` (each with a frame, how often it was hit, and
// its children or its parent), and samples as numbers of nodes with the microseconds between them.
//
// Our words: see package v8tree, which the samples inside Chrome traces share. A file without samples has
// counts only.
package cpuprofile

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/importer/v8tree"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is V8's profile.
var Format = &importer.Format{Name: "cpuprofile", Title: "V8 CPU profiles (.cpuprofile: Node, Chrome)",
	Claim: importer.EachFile(isProfile), Import: importer.OneFile(read)}

func isProfile(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")) &&
		bytes.Contains(head, []byte(`"nodes"`)) &&
		bytes.Contains(head, []byte(`"callFrame"`)) && bytes.Contains(head, []byte(`"functionName"`)) &&
		!bytes.Contains(head, []byte(`"traceEvents"`))
}

// A profile is the file while it is read.
type profile struct {
	*jsonstream.Reader
	tree    *v8tree.Tree
	samples v8tree.Samples
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	p := &profile{tree: v8tree.New(w), samples: v8tree.Samples{Label: label}}
	p.Reader = jsonstream.NewReader(ctx, in, label,
		func(what, place string) { w.Report(trace.Skipped, what, 1, place) })
	if err := p.End(p.Members(p.member), p.tree.Len(), "nodes"); err != nil {
		return err
	}
	process := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: path.Base(run.Name),
		Rank: trace.NoRank})
	thread := w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: "main", Rank: trace.NoRank})
	if len(p.samples.IDs) == 0 {
		p.tree.Hits(thread)
		return ctx.Err()
	}
	total := stack.New(w, v8tree.Metrics()...)
	defer total.Finish()
	return p.tree.Show(ctx, total, thread, &p.samples, 0)
}

func (p *profile) member(name string) error {
	switch name {
	case "nodes":
		return p.Array(func() error { _, err := p.Take(p.tree.Node); return err })
	case "samples":
		return p.numbers(&p.samples.IDs)
	case "timeDeltas":
		return p.numbers(&p.samples.Deltas)
	case "startTime":
		return p.number(&p.samples.Begin)
	case "endTime":
		return p.number(&p.samples.End)
	}
	return p.Skip()
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
