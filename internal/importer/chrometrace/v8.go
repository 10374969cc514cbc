package chrometrace

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/importer/v8tree"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A v8Profile is one profile of V8 (category disabled-by-default-v8.cpu_profiler), which comes in chunks: a record
// `Profile` tells thread and begin, records `ProfileChunk` of the same process and id bring nodes and samples.
// Chunks are written by a thread of the profiler's own. A sample takes 16 bytes until the file ends.
type v8Profile struct {
	thread  *place
	tree    *v8tree.Tree
	samples v8tree.Samples
	began   bool
}

// A sampler takes the stack samples of the file that is read.
type sampler struct {
	*reader
	v8           map[string]*v8Profile
	v8Order      []*v8Profile
	frameSamples []frameSample
	frameIDs     map[string]int32
	framesUsed   bool // by samples
}

// sample takes a record of phase P: part of a profile of V8, or a stack by its frame.
func (x *sampler) sample(r *record) {
	switch string(r.name.raw()) {
	case "Profile", "ProfileChunk", "CpuProfile":
		if x.profileChunk(r) {
			return
		}
	}
	x.sampleOfFrame(r)
}

// profileChunk takes a part of a profile; false: it is none.
func (x *sampler) profileChunk(r *record) bool {
	data := r.argument("data")
	if data.kind != composite || data.raw()[0] != '{' {
		return false
	}
	p := x.v8Profile(r)
	if string(r.name.raw()) != "ProfileChunk" || p.thread == nil {
		p.thread = x.place(r)
	}
	before := len(p.samples.IDs) + p.tree.Len()
	var cursor jsonstream.Cursor
	cursor.Reset(data.raw())
	p.data(&cursor)
	if cursor.Bad {
		x.tally.Add(brokenRecords, r.offset)
	}
	// Only a chunk that brings something proves that a `Profile` is V8's.
	return !cursor.Bad &&
		(p.began || len(p.samples.IDs)+p.tree.Len() > before || string(r.name.raw()) == "ProfileChunk")
}

// v8Profile finds the profile of a record by its process and id.
func (x *sampler) v8Profile(r *record) *v8Profile {
	key := append(x.scratch[2][:0], identifier(r.pid, x.scratch[3])...)
	key = append(key, 0)
	key = append(key, r.id.raw()...)
	x.scratch[2] = key
	p, ok := x.v8[string(key)]
	if !ok {
		if x.v8 == nil {
			x.v8 = map[string]*v8Profile{}
		}
		p = &v8Profile{tree: v8tree.New(x.w), samples: v8tree.Samples{Label: x.label}}
		x.v8[string(key)] = p
		x.v8Order = append(x.v8Order, p)
	}
	return p
}

// data reads the data of a record. Old versions had times next to the samples, or all in one record.
func (p *v8Profile) data(c *jsonstream.Cursor) {
	for ok := c.Open('{'); ok && c.More('}'); {
		switch string(c.Key()) {
		case "cpuProfile":
			p.data(c)
		case "nodes":
			for ok := c.Open('['); ok && c.More(']'); {
				p.tree.Node(c)
			}
		case "samples":
			p.samples.IDs = numbers(c, p.samples.IDs)
		case "timeDeltas":
			p.samples.Deltas = numbers(c, p.samples.Deltas)
		case "startTime":
			p.samples.Begin, p.began = c.Whole()
		case "endTime":
			p.samples.End, _ = c.Whole()
		}
	}
}

func numbers(c *jsonstream.Cursor, to []int64) []int64 {
	for ok := c.Open('['); ok && c.More(']'); {
		v, _ := c.Whole()
		to = append(to, v)
	}
	return to
}

// show writes the samples of a file, which is read.
func (x *sampler) show(ctx context.Context, s *scanner) error {
	if err := x.showV8(ctx); err != nil {
		return err
	}
	return x.showFrames(ctx, s)
}

// showV8 writes the profiles of a file.
func (x *sampler) showV8(ctx context.Context) error {
	if len(x.v8Order) == 0 {
		return nil
	}
	total := stack.New(x.w, stack.Times()...)
	defer total.Finish()
	for _, p := range x.v8Order {
		if len(p.samples.IDs) == 0 {
			continue
		}
		if err := p.tree.Show(ctx, total, x.thread(p.thread).location, &p.samples, trace.Time(x.base)); err != nil {
			return err
		}
	}
	return nil
}
