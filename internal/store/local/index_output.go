package local

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An indexOutput writes the results of the second pass, in order.
type indexOutput struct {
	x     *indexer
	limit int
	mu    sync.Mutex
	free  []*indexPart
	all   []*indexPart

	laneCheckpoint, checkpointSum counter
	laneForest, levelNode         counter
	checkpointBase                cursor[byte]
	sumRegion, sumValue           cursor[byte]
	nodeIndex, nodeRow            cursor[byte]
	blocks                        []sectionOutput
	digests                       []digestOutput
	rowSums                       []uint32     // of the columns of rows
	groups                        *groupOutput // nil where they are not asked for
	closers                       []func() error
}

// A counter turns numbers of things into offsets.
type counter struct {
	cursor[uint64]
	sum uint64
}

func (c *counter) count(n uint64) {
	c.sum += n
	c.add(c.sum)
}

// counts turns numbers of u32, as bytes, into offsets.
func (c *counter) counts(b []byte) error {
	for _, n := range viewOf[uint32](b) {
		c.count(uint64(n))
	}
	return c.err
}

// A sectionOutput writes the blocks of one summary.
type sectionOutput struct {
	bytes   cursor[byte]
	offsets counter
	size    int64 // of every block so far; -1 where they differ, 0 before any
}

func (s *sectionOutput) counts(b []byte) error {
	for _, n := range viewOf[uint32](b) {
		switch {
		case s.size == 0 && s.offsets.sum == 0 && s.offsets.position() == 1:
			s.size = int64(n)
		case s.size != int64(n):
			s.size = -1
		}
		s.offsets.count(uint64(n))
	}
	return s.offsets.err
}

func newIndexOutput(x *indexer) (*indexOutput, error) {
	o := &indexOutput{x: x, rowSums: make([]uint32, len(x.r.rowMaps)), limit: int(min(max(x.memory/int64(x.workers)/64, 1<<10), 1<<20))}
	var err error
	open := func(c *cursor[byte], name string) { err = cmp.Or(err, openColumn(o, c, name)) }
	start := func(c *counter, name string) {
		err = cmp.Or(err, openColumn(o, &c.cursor, name))
		c.add(0)
	}
	if x.shape {
		start(&o.laneCheckpoint, "lane.checkpoint.u64")
		start(&o.checkpointSum, "checkpoint.sum.u64")
		start(&o.laneForest, "lane.forest.u64")
		start(&o.levelNode, "level.node.u64")
		open(&o.checkpointBase, "checkpoint.base.u32")
		open(&o.sumRegion, "sum.region.u32")
		open(&o.sumValue, "sum.value.i64")
		open(&o.nodeIndex, "node.index.i64")
		open(&o.nodeRow, "node.row.u32")
		g, failed := newGroupOutput(x.r, x.dir)
		err = cmp.Or(err, failed)
		o.groups = g
		o.closers = append(o.closers, g.finish)
	}
	o.blocks = make([]sectionOutput, len(x.summaries))
	for k, s := range x.summaries {
		open(&o.blocks[k].bytes, blocksFile(s))
		start(&o.blocks[k].offsets, offsetsFile(s))
	}
	o.digests = make([]digestOutput, len(x.digests))
	for k, d := range x.digests {
		if failed := o.digests[k].create(d, x.dir); failed != nil {
			return o, cmp.Or(err, failed)
		}
		o.closers = append(o.closers, o.digests[k].finish)
	}
	return o, err
}

func openColumn[T any](o *indexOutput, c *cursor[T], name string) error {
	f, err := createColumn[T](o.x.dir, name)
	if err != nil {
		return err
	}
	c.to = f
	o.closers = append(o.closers, c.finish, f.close)
	return nil
}

func blocksFile(s trace.Summary) string  { return sectionFile(s, "blocks") }
func offsetsFile(s trace.Summary) string { return sectionFile(s, "offsets") }

// sectionFile names a file of a summary; a version has files of its own, so that
// readers of the old one are not disturbed.
func sectionFile(s trace.Summary, what string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s.Name())
	return fmt.Sprintf("summary.%s.%d.%s", name, s.Version(), what)
}

// part gives an empty part.
func (o *indexOutput) part() *indexPart {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.free); n > 0 {
		p := o.free[n-1]
		o.free = o.free[:n-1]
		return p
	}
	n := len(o.x.summaries)
	p := &indexPart{blocks: make([]spill, n), sizes: make([]spill, n), digests: make([]digestPart, len(o.x.digests))}
	for _, s := range p.spills() {
		s.dir, s.limit = o.x.temp, o.limit
	}
	o.all = append(o.all, p)
	return p
}

// consume appends a part.
func (o *indexOutput) consume(p *indexPart) error {
	var err error
	if o.x.shape {
		err = o.consumeShape(p)
	} else {
		for _, s := range []*spill{&p.levelNodes, &p.nodeIndex, &p.nodeRow} {
			err = cmp.Or(err, s.drain(func([]byte) error { return nil }))
		}
	}
	for k := range o.blocks {
		s := &o.blocks[k]
		err = cmp.Or(err, p.blocks[k].drain(into8(&s.bytes)), p.sizes[k].drain(s.counts))
	}
	for k := range o.digests {
		err = cmp.Or(err, o.digests[k].consume(&p.digests[k]))
	}
	p.laneCheckpoints, p.laneLevels = p.laneCheckpoints[:0], p.laneLevels[:0]
	o.mu.Lock()
	o.free = append(o.free, p)
	o.mu.Unlock()
	return err
}

func (o *indexOutput) consumeShape(p *indexPart) error {
	for k, n := range p.rowBytes {
		o.rowSums[k] = joinChecksums(o.rowSums[k], p.rowSums[k], n)
	}
	for _, n := range p.laneCheckpoints {
		o.laneCheckpoint.count(uint64(n))
	}
	for _, n := range p.laneLevels {
		o.laneForest.count(uint64(n))
	}
	return cmp.Or(
		p.checkpointSums.drain(o.checkpointSum.counts), p.checkpointBase.drain(into8(&o.checkpointBase)),
		o.groups.consume(p.groups),
		p.sumRegion.drain(into8(&o.sumRegion)), p.sumValue.drain(into8(&o.sumValue)),
		p.levelNodes.drain(o.levelNode.counts), p.nodeIndex.drain(into8(&o.nodeIndex)), p.nodeRow.drain(into8(&o.nodeRow)),
	)
}

func into8(c *cursor[byte]) func([]byte) error {
	return func(b []byte) error {
		c.addAll(b)
		return c.err
	}
}

// close writes what is left.
func (o *indexOutput) close() error {
	for _, p := range o.all {
		for _, s := range p.spills() {
			s.close()
		}
	}
	var err error
	for _, f := range o.closers {
		err = cmp.Or(err, f())
	}
	o.closers = nil
	return err
}

// sections describes what was written. Blocks of one size need no offsets.
func (o *indexOutput) sections() ([]section, error) {
	var out []section
	for k, s := range o.x.summaries {
		b := &o.blocks[k]
		sec := section{Name: s.Name(), Version: s.Version(), Block: max(b.size, 0), Blocks: blocksFile(s), Offsets: offsetsFile(s)}
		if b.size > 0 {
			sec.Offsets = ""
			if err := os.Remove(filepath.Join(o.x.dir, offsetsFile(s))); err != nil {
				return nil, err
			}
		}
		out = append(out, sec)
	}
	return out, nil
}
