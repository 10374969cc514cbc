// Package index derives from the rows of a store the tables that answer queries without reading rows: prefix sums
// (sums.go), the summary trees (forest.go), role times of groups (groups.go), records of digests (digest.go).
//
// Lanes are independent of each other; their results are written in order. The same
// pass rebuilds a summary that is missing or of another version.
package index

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Indexer derives prefix sums, the shape of the summary trees, role times of groups, blocks of
// summaries and records of digests.
type Indexer struct {
	R         *rows.Table
	Dir, Temp string
	Workers   int
	Memory    int64
	Shape     bool // also prefix sums, nodes and groups; else only blocks and records
	Summaries []trace.Summary
	Digests   []trace.Digest

	Sections, Digested []disk.Section // the written ones

	only Shape // of the shape; 0: all

	jobs [][2]trace.LocationID
	Out  *indexOutput
}

// indexJobRows is about how many rows one result of the second pass is made from.
const indexJobRows = 1 << 16

// Jobs returns how the locations of a table are divided for the second pass.
func Jobs(r *rows.Table) [][2]trace.LocationID { return r.RowJobs(indexJobRows) }

func (x *Indexer) Run(ctx context.Context) error {
	x.jobs = Jobs(x.R)
	out, err := newIndexOutput(x)
	if err != nil {
		return cmp.Or(err, out.close())
	}
	x.Out = out
	var workers []*indexWorker
	err = disk.Guard(func() error {
		return parallel.Ordered(ctx, len(x.jobs), x.Workers, func() *indexWorker {
			w := newIndexWorker(x)
			out.mu.Lock()
			workers = append(workers, w)
			out.mu.Unlock()
			return w
		}, func(ctx context.Context, w *indexWorker, i int) (*indexPart, error) {
			return w.run(ctx, x.jobs[i])
		}, out.consume)
	})
	for _, w := range workers {
		w.close()
	}
	if err := cmp.Or(err, out.close()); err != nil {
		return err
	}
	for k := range out.digests {
		x.Digested = append(x.Digested, out.digests[k].Section)
	}
	x.Sections, err = out.sections()
	return err
}

// An indexPart is the result of one job: columns as bytes, in order of lanes.
type indexPart struct {
	laneCheckpoints, laneLevels []uint32    // how many each lane has
	sums                        uint32      // entries of the present checkpoint
	checkpoints                 uint32      // of the present lane
	checkpointSums              spool.Spill // u32: how many entries each checkpoint has
	checkpointBase              spool.Spill
	sumRegion, sumValue         spool.Spill
	levelNodes                  spool.Spill // u32: how many each level has
	nodeIndex, nodeRow          spool.Spill
	blocks, sizes               []spool.Spill // by summary
	tops, topSizes              []spool.Spill // likewise, of the top of each lane; u32, 0 without a summary tree
	groups                      *groupPart
	digests                     []digestPart // by digest
}

// entry and checkpoint implement sumSink.
func (p *indexPart) entry(r trace.RegionID, s Sum) error {
	p.sums++
	return cmp.Or(p.sumRegion.Write(spool.BytesOf([]trace.RegionID{r})), p.sumValue.Write(spool.BytesOf([]Sum{s})))
}

func (p *indexPart) checkpoint(base uint32) error {
	n := p.sums
	p.sums = 0
	p.checkpoints++
	return cmp.Or(p.checkpointSums.Write(spool.BytesOf([]uint32{n})),
		p.checkpointBase.Write(spool.BytesOf([]uint32{base})))
}

func (p *indexPart) spills() []*spool.Spill {
	all := append(p.sumSpills(), p.nodeSpills()...)
	for k := range p.blocks {
		all = append(all, p.summarySpills(k)...)
	}
	return all
}

func (p *indexPart) sumSpills() []*spool.Spill {
	return []*spool.Spill{&p.checkpointSums, &p.checkpointBase, &p.sumRegion, &p.sumValue}
}

func (p *indexPart) nodeSpills() []*spool.Spill {
	return []*spool.Spill{&p.levelNodes, &p.nodeIndex, &p.nodeRow}
}

// summarySpills are those of a summary.
func (p *indexPart) summarySpills(k int) []*spool.Spill {
	return []*spool.Spill{&p.blocks[k], &p.sizes[k], &p.tops[k], &p.topSizes[k]}
}

// An indexWorker does jobs of the second pass.
type indexWorker struct {
	x      *Indexer
	forest *forester
	groups *grouper
	calls  []trace.DigestBuilder // by digest
	least  []int                 // rows of a lane that has a record, likewise
	paced  bool                  // rows are given back while they are read
	own    rows.Unpacked         // of packed rows
	lanes  func(n int) rows.Lane
}

func newIndexWorker(x *Indexer) *indexWorker {
	share := x.Memory / int64(x.Workers)
	w := &indexWorker{
		x:      x,
		forest: newForester(x.R, x.Summaries, x.Temp, share/16), groups: &grouper{r: x.R},
	}
	for _, d := range x.Digests {
		b, least := d.Builder(len(x.R.Regions)), 0
		if s, ok := b.(trace.SparseBuilder); ok {
			least = s.Least()
		}
		w.calls, w.least = append(w.calls, b), append(w.least, least)
	}
	return w
}

// pace counts rows that are done with, of jobs that are too large to be mapped as one.
func (w *indexWorker) pace(rows int) {
	if w.paced {
		w.x.R.Pace(rows)
	}
}

func (w *indexWorker) close() { w.forest.close() }

func (w *indexWorker) run(ctx context.Context, job [2]trace.LocationID) (p *indexPart, err error) {
	p = w.x.Out.part()
	r := w.x.R
	a, b := r.C.LaneRow[r.C.LocationLane[job[0]]], r.C.LaneRow[r.C.LocationLane[job[1]]]
	w.lanes, w.groups.merge.Of = r.Lane, nil
	owned := r.Sure != nil && b-a <= rows.MostUnpacked
	if w.paced = !owned && b-a > rows.WholeRows; !w.paced {
		r.EachRowMap(a, b, (*spool.Mapping).Ahead)
		defer r.EachRowMap(a, b, (*spool.Mapping).Release)
	}
	w.forest.pace = w.pace
	done, err := r.Spread(ctx, w.x.Temp, a, b)
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, done())
		if !owned {
			r.ForgetRows(a, b)
		}
		if len(r.Packed) > 0 {
			r.Pace(int(b - a))
		}
	}()
	err = disk.Guard(func() error {
		if owned {
			w.own.Take(r, a, b, true)
			w.lanes, w.groups.merge.Of = w.own.Lane, &w.own
		}
		if w.x.Shape {
			w.groups.start(job)
		}
		for id := job[0]; id < job[1]; id++ {
			if err := w.location(ctx, p, id); err != nil {
				return err
			}
		}
		if w.x.Shape {
			p.groups = w.groups.finish()
		}
		return nil
	})
	return p, err
}

func (w *indexWorker) location(ctx context.Context, p *indexPart, id trace.LocationID) error {
	c := &w.x.R.C
	first, last := c.LocationLane[id], c.LocationLane[id+1]
	w.forest.roles = nil
	if w.x.Shape {
		w.groups.next(id)
		// The summary tree of a single lane goes through all its time: the groups use its result too.
		if last-first == 1 && c.LaneRow[last]-c.LaneRow[first] > leafRows && len(w.x.Summaries) > 0 {
			w.forest.roles = w.groups
		} else {
			w.groups.lanes(id)
		}
	}
	for n := first; n < last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.lane(p, id, int(n-first), w.lanes(int(n))); err != nil {
			return err
		}
	}
	return nil
}

func (w *indexWorker) lane(p *indexPart, id trace.LocationID, lane int, v rows.Lane) error {
	var sums sumSink
	if w.x.Shape && v.Len() > CheckBlock {
		sums = p
	}
	p.checkpoints = 0
	w.digest(p, id, lane, v)
	if !w.x.Shape && len(w.x.Summaries) == 0 {
		return nil
	}
	if err := w.forest.lane(id, lane, v, sums); err != nil {
		return err
	}
	if w.x.Shape {
		p.laneCheckpoints = append(p.laneCheckpoints, p.checkpoints)
	}
	return w.laneForest(p)
}

// digest makes the records of a lane. Builders do not say how far they are.
func (w *indexWorker) digest(p *indexPart, id trace.LocationID, lane int, v rows.Lane) {
	if w.paced && len(w.calls) > 0 {
		defer w.x.R.PaceByTime()()
	}
	for k, b := range w.calls {
		if v.Len() < w.least[k] {
			p.digests[k].sizes = append(p.digests[k].sizes, 0)
			continue
		}
		p.digests[k].add(b, v.Columns(id, lane, 0, v.Len()))
	}
}

// laneForest moves the nodes of a lane into the part, level by level from the top.
func (w *indexWorker) laneForest(p *indexPart) error {
	levels := uint32(0)
	for level := w.forest.top; level >= 0; level-- {
		l := &w.forest.levels[level]
		if l.count == 0 {
			break
		}
		levels++
		err := cmp.Or(p.levelNodes.Write(spool.BytesOf([]uint32{uint32(l.count)})), l.index.Drain(p.nodeIndex.Write),
			l.row.Drain(p.nodeRow.Write))
		for k := range l.blocks {
			block, size := p.blocks[k].Write, p.sizes[k].Write
			if level == w.forest.top {
				block, size = both(block, p.tops[k].Write), both(size, p.topSizes[k].Write)
			}
			err = cmp.Or(err, l.blocks[k].Drain(block), l.sizes[k].Drain(size))
		}
		if err != nil {
			return err
		}
	}
	p.laneLevels = append(p.laneLevels, levels)
	if levels > 0 {
		return nil
	}
	var err error
	for k := range p.topSizes {
		err = cmp.Or(err, p.topSizes[k].Write(spool.BytesOf([]uint32{0})))
	}
	return err
}

func both(a, b func([]byte) error) func([]byte) error {
	return func(x []byte) error { return cmp.Or(a(x), b(x)) }
}

// Describe runs the indexer and returns a manifest of its files alone.
func (x *Indexer) Describe(ctx context.Context) (*disk.Manifest, error) {
	if err := x.Run(ctx); err != nil {
		return nil, err
	}
	m := &disk.Manifest{Sections: x.Sections, Digests: x.Digested}
	var names []string
	for _, s := range slices.Concat(x.Sections, x.Digested) {
		names = append(names, s.Files()...)
	}
	var err error
	m.Files, err = disk.Describe(x.Dir, names, x.Workers)
	return m, err
}
