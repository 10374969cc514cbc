package nsight

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/sqlitefile"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// chains are the distinct call stacks of a file, as a tree: 16 bytes a node, and 16 a sample.
type chains struct {
	nodes  []chainNode
	byNode map[chainNode]int32
	leaf   map[int64]int32 // of each sample
}

type chainNode struct {
	parent int32
	region trace.RegionID
}

// A frame is one row of a chain; 0 is the innermost.
type frame struct {
	depth  int64
	region trace.RegionID
}

// add keeps the stack of a sample.
func (c *chains) add(id int64, frames []frame) {
	slices.SortStableFunc(frames, func(a, b frame) int { return cmp.Compare(b.depth, a.depth) })
	at := int32(-1)
	for _, f := range frames {
		n := chainNode{at, f.region}
		next, ok := c.byNode[n]
		if !ok {
			next = int32(len(c.nodes))
			c.nodes = append(c.nodes, n)
			c.byNode[n] = next
		}
		at = next
	}
	c.leaf[id] = at
}

// stack lists the regions of a sample, outermost first.
func (c *chains) stack(leaf int32, to []trace.RegionID) []trace.RegionID {
	for ; leaf >= 0; leaf = c.nodes[leaf].parent {
		to = append(to, c.nodes[leaf].region)
	}
	slices.Reverse(to)
	return to
}

// A sample is one stack of a thread.
type sample struct {
	time trace.Time
	leaf int32
}

// samples reads the sampled stacks of CPUs: a row below each thread that shows its time once more, where each stack
// is shown until the next.
func (h *hostSide) samples(ctx context.Context) error {
	events := h.converter.table("COMPOSITE_EVENTS")
	if events == nil {
		return nil
	}
	c, err := h.chains(ctx)
	if err != nil {
		return err
	}
	byThread := map[int64][]sample{}
	err = events.scan(ctx, func(r *sqlitefile.Row) error {
		id, ok1 := r.Int(0)
		at, ok2 := r.Int(1)
		thread, ok3 := r.Int(2)
		leaf, ok4 := c.leaf[id]
		if !ok1 || !ok2 || !ok3 || !ok4 {
			h.w.Report(trace.MissingSamples, "CPU samples without a time, a thread or a call chain", 1, h.label)
			return nil
		}
		byThread[thread] = append(byThread[thread], sample{h.time(at), leaf})
		return nil
	}, "id", "start", "globalTid")
	if err != nil {
		return err
	}
	for thread, list := range byThread {
		if err := h.sampled(ctx, thread, list, c); err != nil {
			return err
		}
	}
	return nil
}

// chains reads the call stacks. Rows of one sample follow each other.
func (h *hostSide) chains(ctx context.Context) (*chains, error) {
	c := &chains{byNode: map[chainNode]int32{}, leaf: map[int64]int32{}}
	type symbol struct{ name, module int64 }
	regions := map[symbol]trace.RegionID{}
	current, frames, nameless := int64(0), []frame(nil), int64(0)
	err := h.converter.table("SAMPLING_CALLCHAINS").scan(ctx, func(r *sqlitefile.Row) error {
		id, ok := r.Int(0)
		key := symbol{}
		key.name, _ = r.Int(1)
		key.module, _ = r.Int(2)
		depth, _ := r.Int(3)
		if !ok {
			return nil
		}
		if id != current && len(frames) > 0 {
			c.add(current, frames)
			frames = frames[:0]
		}
		current = id
		region := importer.Once(regions, key,
			func() trace.RegionID { return h.w.Region(sampledRegion(h.names[key.name], h.names[key.module])) })
		if strings.HasPrefix(h.names[key.name], "0x") {
			nameless++
		}
		frames = append(frames, frame{depth, region})
		return nil
	}, "id", "symbol", "module", "stackDepth")
	if len(frames) > 0 {
		c.add(current, frames)
	}
	importer.Tell(h.w, trace.Guessed, "frames of CPU samples without a symbol, named by their library", nameless,
		h.label)
	return c, err
}

// sampledRegion names a frame: an address without a symbol by its library, since every address would be a region of its
// own.
func sampledRegion(name, module string) trace.Region {
	library := path.Base(module)
	if name == "" || strings.HasPrefix(name, "0x") {
		name = "[" + strings.Trim(library, "[]") + "]" // the kernel's comes in brackets
		if module == "" {
			name = "[unknown]"
		}
	}
	r := trace.Region{Name: name, Category: "sampled"}
	if module != "" {
		r.Attributes = []trace.Attribute{{Key: "module", Value: trace.Text(module)}}
	}
	return r
}

// sampled writes the samples of one thread.
func (h *hostSide) sampled(ctx context.Context, thread int64, list []sample, c *chains) error {
	slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
	at := h.w.Location(trace.Location{Parent: h.thread(thread).At, Kind: trace.KindSamples, Key: "samples",
		Name: "samples", Rank: trace.NoRank})
	s := h.w.Stream(at, trace.StreamOptions{})
	var open, now []trace.RegionID
	for i, x := range list {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		now = c.stack(x.leaf, now[:0])
		open = stack.Change(s, x.time, open, now)
	}
	// The source does not say for how long the last one holds: as long as the one before.
	last := list[len(list)-1].time
	if n := len(list); n > 1 {
		last += last - list[n-2].time
	}
	stack.Change(s, last, open, nil)
	return s.Close()
}
