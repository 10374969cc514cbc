package index

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An indexOutput writes the results of the second pass, in order.
type indexOutput struct {
	x     *Indexer
	limit int
	mu    sync.Mutex
	free  []*indexPart
	all   []*indexPart

	laneCheckpoint, checkpointSum counter
	laneForest, levelNode         counter
	checkpointBase                disk.Cursor[byte]
	sumRegion, sumValue           disk.Cursor[byte]
	nodeIndex, nodeRow            disk.Cursor[byte]
	blocks                        []sectionOutput
	digests                       []digestOutput
	groups                        *groupOutput // nil if they are not asked for
	closers                       []func() error
}

// A counter turns numbers of things into offsets.
type counter struct {
	disk.Cursor[uint64]
	sum uint64
}

func (c *counter) count(n uint64) {
	c.sum += n
	c.Add(c.sum)
}

// counts turns numbers of u32, as bytes, into offsets.
func (c *counter) counts(b []byte) error {
	for _, n := range spool.ViewOf[uint32](b) {
		c.count(uint64(n))
	}
	return c.Err
}

// A sectionOutput writes the blocks of one summary.
type sectionOutput struct {
	bytes   disk.Cursor[byte]
	offsets counter
	size    int64 // of every block so far; -1 where they differ, 0 before any

	tops       disk.Cursor[byte]
	topOffsets counter
	topped     int64 // lanes that have one
}

func (s *sectionOutput) topCounts(b []byte) error {
	for _, n := range spool.ViewOf[uint32](b) {
		if n > 0 {
			s.topped++
		}
		s.topOffsets.count(uint64(n))
	}
	return s.topOffsets.Err
}

func (s *sectionOutput) counts(b []byte) error {
	for _, n := range spool.ViewOf[uint32](b) {
		switch {
		case s.size == 0 && s.offsets.sum == 0 && s.offsets.Position() == 1:
			s.size = int64(n)
		case s.size != int64(n):
			s.size = -1
		}
		s.offsets.count(uint64(n))
	}
	return s.offsets.Err
}

// spillLimit returns how much each column of a part may hold in memory.
func (x *Indexer) spillLimit() int { return int(min(max(x.Memory/int64(x.Workers)/64, 1<<10), 1<<20)) }

func newIndexOutput(x *Indexer) (*indexOutput, error) {
	o := &indexOutput{x: x, limit: x.spillLimit()}
	open := func(c *disk.Cursor[byte], name string) { openColumn(o, c, name) }
	start := func(c *counter, name string) {
		openColumn(o, &c.Cursor, name)
		c.Add(0)
	}
	if x.Has(Sums) {
		start(&o.laneCheckpoint, "lane.checkpoint.u64")
		start(&o.checkpointSum, "checkpoint.sum.u64")
		open(&o.checkpointBase, "checkpoint.base.u32")
		open(&o.sumRegion, "sum.region.u32")
		open(&o.sumValue, "sum.value.i64")
	}
	if x.Has(Nodes) {
		start(&o.laneForest, "lane.forest.u64")
		start(&o.levelNode, "level.node.u64")
		open(&o.nodeIndex, "node.index.i64")
		open(&o.nodeRow, "node.row.u32")
	}
	if x.Has(Groups) {
		o.groups = newGroupOutput(x.R, x.Dir)
		o.closers = append(o.closers, o.groups.finish)
	}
	o.blocks = make([]sectionOutput, len(x.Summaries))
	for k, s := range x.Summaries {
		open(&o.blocks[k].bytes, blocksFile(s))
		start(&o.blocks[k].offsets, offsetsFile(s))
		open(&o.blocks[k].tops, topsFile(s))
		start(&o.blocks[k].topOffsets, topOffsetsFile(s))
	}
	o.digests = make([]digestOutput, len(x.Digests))
	for k, d := range x.Digests {
		if failed := o.digests[k].create(d, x.Dir); failed != nil {
			return o, failed
		}
		o.closers = append(o.closers, o.digests[k].finish)
	}
	return o, nil
}

func openColumn[T any](o *indexOutput, c *disk.Cursor[T], name string) {
	c.To = disk.NewColumn[T](o.x.Dir, name)
	o.closers = append(o.closers, c.Finish, c.To.Close)
}

func blocksFile(s trace.Summary) string     { return sectionFile(s, "blocks") }
func offsetsFile(s trace.Summary) string    { return sectionFile(s, "offsets") }
func topsFile(s trace.Summary) string       { return sectionFile(s, "tops") }
func topOffsetsFile(s trace.Summary) string { return sectionFile(s, "topoffsets") }

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

// part returns an empty part.
func (o *indexOutput) part() *indexPart {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.free); n > 0 {
		p := o.free[n-1]
		o.free = o.free[:n-1]
		return p
	}
	n := len(o.x.Summaries)
	p := &indexPart{blocks: make([]spool.Spill, n), sizes: make([]spool.Spill, n), tops: make([]spool.Spill, n),
		topSizes: make([]spool.Spill, n), digests: make([]digestPart, len(o.x.Digests))}
	for _, s := range p.spills() {
		s.Dir, s.Limit = o.x.Temp, o.limit
	}
	o.all = append(o.all, p)
	return p
}

// consume appends a part.
func (o *indexOutput) consume(p *indexPart) error {
	var err error
	if o.x.Shape {
		err = o.consumeShape(p)
	} else {
		for _, s := range []*spool.Spill{&p.levelNodes, &p.nodeIndex, &p.nodeRow} {
			err = cmp.Or(err, s.Drain(func([]byte) error { return nil }))
		}
	}
	for k := range o.blocks {
		s := &o.blocks[k]
		err = cmp.Or(err, p.blocks[k].Drain(into8(&s.bytes)), p.sizes[k].Drain(s.counts),
			p.tops[k].Drain(into8(&s.tops)), p.topSizes[k].Drain(s.topCounts))
	}
	for k := range o.digests {
		err = cmp.Or(err, o.digests[k].consume(&p.digests[k]))
	}
	o.reuse(p)
	return err
}

// reuse takes back a part whose results are written.
func (o *indexOutput) reuse(p *indexPart) {
	p.laneCheckpoints, p.laneLevels = p.laneCheckpoints[:0], p.laneLevels[:0]
	o.mu.Lock()
	o.free = append(o.free, p)
	o.mu.Unlock()
}

func (o *indexOutput) consumeShape(p *indexPart) error {
	var err error
	if o.x.Has(Sums) {
		for _, n := range p.laneCheckpoints {
			o.laneCheckpoint.count(uint64(n))
		}
		err = cmp.Or(p.checkpointSums.Drain(o.checkpointSum.counts), p.checkpointBase.Drain(into8(&o.checkpointBase)),
			p.sumRegion.Drain(into8(&o.sumRegion)), p.sumValue.Drain(into8(&o.sumValue)))
	}
	if o.x.Has(Nodes) {
		for _, n := range p.laneLevels {
			o.laneForest.count(uint64(n))
		}
		err = cmp.Or(err, p.levelNodes.Drain(o.levelNode.counts), p.nodeIndex.Drain(into8(&o.nodeIndex)),
			p.nodeRow.Drain(into8(&o.nodeRow)))
	}
	if o.x.Has(Groups) {
		err = cmp.Or(err, o.groups.consume(p.groups))
	}
	return err
}

func into8(c *disk.Cursor[byte]) func([]byte) error {
	return func(b []byte) error {
		c.AddAll(b)
		return c.Err
	}
}

// close writes the rest.
func (o *indexOutput) close() error {
	for _, p := range o.all {
		for _, s := range p.spills() {
			s.Close()
		}
	}
	var err error
	for _, f := range o.closers {
		err = cmp.Or(err, f())
	}
	o.closers = nil
	return err
}

// sections describes the written files. Blocks of one size need no offsets. If most lanes are short, offsets of their
// tops would take more than they save.
func (o *indexOutput) sections() ([]disk.Section, error) {
	var out []disk.Section
	for k, s := range o.x.Summaries {
		b := &o.blocks[k]
		sec := disk.Section{Name: s.Name(), Version: s.Version(), Block: max(b.size, 0), Blocks: blocksFile(s),
			Offsets: offsetsFile(s)}
		if b.size > 0 {
			sec.Offsets = ""
		}
		if lanes := b.topOffsets.Position() - 1; b.topped*2 >= lanes && b.topped > 0 {
			sec.Tops, sec.TopOffsets = topsFile(s), topOffsetsFile(s)
		}
		written := sec.Files()
		for _, name := range []string{offsetsFile(s), topsFile(s), topOffsetsFile(s)} {
			if slices.Contains(written, name) {
				continue
			}
			if err := os.Remove(filepath.Join(o.x.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
		out = append(out, sec)
	}
	return out, nil
}
