package local

import (
	"cmp"
	"context"
	"hash/crc32"
	"path/filepath"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The second pass derives from the rows what answers queries without reading
// them: prefix sums, the forest, role times of groups, digests. Lanes are independent of
// each other; their results are written in order.

// index runs the second pass of Finish.
func (f *finisher) index(ctx context.Context) error {
	x := &indexer{r: f.rows, dir: f.dir, temp: f.temp, workers: f.workers, memory: f.memory, shape: true, summaries: f.opt.Summaries, digests: f.opt.Digests}
	if err := x.run(ctx); err != nil {
		return err
	}
	f.sections, f.digests = x.sections, x.digested
	for k, m := range f.rows.rowMaps {
		if len(m.bytes) == 0 {
			continue
		}
		f.described.set(fileEntry{Name: f.rows.rowNames[k], Size: int64(len(m.bytes)), CRC32C: word8(x.out.rowSums[k])})
	}
	return nil
}

// openRows maps the columns that the rest is derived from.
func (f *finisher) openRows(context.Context) error {
	r := &Reader{path: f.dir, workers: f.workers, regions: f.def.regions, aside: f.aside}
	f.rows = r
	r.info.End = f.end
	targets := r.c.targets()
	for _, name := range []string{
		"location.name.u32", "location.parent.u32", "location.last.u32", "location.lane.u32", "lane.row.u64", "lane.end.i64",
		"interval.begin.i64", "interval.duration.i64", "interval.exclusive.i64", "interval.region.u32", "interval.parent.i32", "interval.depth.u16",
		"caller.row.u64", "caller.caller.u64",
	} {
		m, err := mapWhole(filepath.Join(f.dir, name))
		if err != nil {
			return err
		}
		r.maps = append(r.maps, m)
		targets[name](m.bytes)
		if len(name) > 9 && name[:9] == "interval." {
			r.rowMaps, r.rowNames = append(r.rowMaps, m), append(r.rowNames, name)
		}
	}
	r.roles = rolesOf(r.regions)
	return nil
}

func rolesOf(regions []trace.Region) []trace.Role {
	roles := make([]trace.Role, len(regions))
	for i := range regions {
		roles[i] = regions[i].Role
	}
	return roles
}

func (f *finisher) closeRows() {
	if f.rows != nil {
		_ = f.rows.Close()
		f.rows = nil
	}
}

// An indexer derives prefix sums, the forest's shape, role times of groups, blocks of
// summaries and records of digests.
type indexer struct {
	r         *Reader
	dir, temp string
	workers   int
	memory    int64
	shape     bool // also prefix sums, nodes and groups; else only blocks and records
	summaries []trace.Summary
	digests   []trace.Digest

	sections, digested []section // what was written

	jobs [][2]trace.LocationID
	out  *indexOutput
}

// indexJobRows is about how many rows one result of the second pass is made from.
const indexJobRows = 1 << 16

// rowJobs cuts all locations into ranges of about as many rows each.
func (r *Reader) rowJobs(size uint64) [][2]trace.LocationID {
	var jobs [][2]trace.LocationID
	n := len(r.c.locationLane) - 1
	first := 0
	for id := range n {
		a, b := r.c.laneRow[r.c.locationLane[first]], r.c.laneRow[r.c.locationLane[id+1]]
		if b-a >= size || id-first >= 1<<14 || id == n-1 {
			jobs = append(jobs, [2]trace.LocationID{trace.LocationID(first), trace.LocationID(id + 1)})
			first = id + 1
		}
	}
	return jobs
}

func (x *indexer) run(ctx context.Context) error {
	x.jobs = x.r.rowJobs(indexJobRows)
	out, err := newIndexOutput(x)
	if err != nil {
		return cmp.Or(err, out.close())
	}
	x.out = out
	var workers []*indexWorker
	err = guard(func() error {
		return ordered(ctx, len(x.jobs), x.workers, func() *indexWorker {
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
		x.digested = append(x.digested, out.digests[k].section)
	}
	x.sections, err = out.sections()
	return err
}

// An indexPart is the result of one job: columns as bytes, in order of lanes.
type indexPart struct {
	laneCheckpoints, laneLevels []uint32 // how many each lane has
	sums                        uint32   // entries of the present checkpoint
	checkpoints                 uint32   // of the present lane
	checkpointSums              spill    // u32: how many entries each checkpoint has
	checkpointBase              spill
	sumRegion, sumValue         spill
	levelNodes                  spill // u32: how many each level has
	nodeIndex, nodeRow          spill
	blocks, sizes               []spill // by summary
	groups                      *groupPart
	digests                     []digestPart // by digest
	rowBytes                    []int64      // of the job's rows, by column
	rowSums                     []uint32     // and their checksums
}

// entry and checkpoint implement sumSink.
func (p *indexPart) entry(r trace.RegionID, s sum) error {
	p.sums++
	return cmp.Or(p.sumRegion.write(bytesOf([]trace.RegionID{r})), p.sumValue.write(bytesOf([]sum{s})))
}

func (p *indexPart) checkpoint(base uint32) error {
	n := p.sums
	p.sums = 0
	p.checkpoints++
	return cmp.Or(p.checkpointSums.write(bytesOf([]uint32{n})), p.checkpointBase.write(bytesOf([]uint32{base})))
}

func (p *indexPart) spills() []*spill {
	all := []*spill{&p.checkpointSums, &p.checkpointBase, &p.sumRegion, &p.sumValue, &p.levelNodes, &p.nodeIndex, &p.nodeRow}
	for k := range p.blocks {
		all = append(all, &p.blocks[k], &p.sizes[k])
	}
	return all
}

// An indexWorker does jobs of the second pass.
type indexWorker struct {
	x      *indexer
	forest *forester
	groups *grouper
	calls  []trace.DigestBuilder // by digest
	paced  bool                  // rows are given back while they are read
	part   *indexPart            // of the job at hand
	passed uint64                // rows before are done with
	sealed uint64                // rows before are in the checksums of the part
}

func newIndexWorker(x *indexer) *indexWorker {
	share := x.memory / int64(x.workers)
	w := &indexWorker{
		x:      x,
		forest: newForester(x.r, x.summaries, x.temp, share/16), groups: &grouper{r: x.r},
	}
	for _, d := range x.digests {
		w.calls = append(w.calls, d.Builder(len(x.r.regions)))
	}
	return w
}

// sealRows is how many rows are done with before they are checked: few enough to be
// still at hand.
const sealRows = 1 << 13

// pace counts rows that are done with, and those of jobs that are too large to be mapped
// as one.
func (w *indexWorker) pace(rows int) {
	w.passed += uint64(rows)
	if w.passed >= w.sealed+sealRows {
		w.seal(w.passed)
	}
	if w.paced {
		w.x.r.pace(rows)
	}
}

// seal takes the checksums of the rows before a row, by column.
func (w *indexWorker) seal(row uint64) {
	if !w.x.shape || row <= w.sealed {
		return
	}
	k := 0
	w.x.r.eachRowMap(w.sealed, row, func(m *mapping, from, to int64) {
		w.part.rowBytes[k] += to - from
		w.part.rowSums[k] = crc32.Update(w.part.rowSums[k], castagnoli, m.bytes[from:to])
		k++
	})
	w.sealed = row
}

func (w *indexWorker) close() { w.forest.close() }

func (w *indexWorker) run(ctx context.Context, job [2]trace.LocationID) (p *indexPart, err error) {
	p = w.x.out.part()
	r := w.x.r
	a, b := r.c.laneRow[r.c.locationLane[job[0]]], r.c.laneRow[r.c.locationLane[job[1]]]
	if w.paced = b-a > wholeRows; !w.paced {
		r.eachRowMap(a, b, (*mapping).ahead)
		defer r.eachRowMap(a, b, (*mapping).release)
	}
	w.forest.pace = w.pace
	w.part, w.passed, w.sealed = p, a, a
	p.rowSums = append(p.rowSums[:0], make([]uint32, len(r.rowMaps))...)
	p.rowBytes = append(p.rowBytes[:0], make([]int64, len(r.rowMaps))...)
	err = guard(func() error {
		if w.x.shape {
			w.groups.start(job)
		}
		for id := job[0]; id < job[1]; id++ {
			if err := w.location(ctx, p, id); err != nil {
				return err
			}
		}
		if w.x.shape {
			p.groups = w.groups.finish()
			w.seal(b)
		}
		return nil
	})
	return p, err
}

func (w *indexWorker) location(ctx context.Context, p *indexPart, id trace.LocationID) error {
	c := &w.x.r.c
	first, last := c.locationLane[id], c.locationLane[id+1]
	w.forest.roles = nil
	if w.x.shape {
		w.groups.next(id)
		// The forest of a single lane goes through all its time: what it finds
		// serves the groups too.
		if last-first == 1 && c.laneRow[last]-c.laneRow[first] > leafRows && len(w.x.summaries) > 0 {
			w.forest.roles = w.groups
		} else {
			w.groups.lanes(id)
		}
	}
	for n := first; n < last; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.passed = c.laneRow[n]
		if err := w.lane(p, id, int(n-first), w.x.r.lane(int(n))); err != nil {
			return err
		}
	}
	return nil
}

func (w *indexWorker) lane(p *indexPart, id trace.LocationID, lane int, v laneView) error {
	var sums sumSink
	if w.x.shape && v.len() > checkBlock {
		sums = p
	}
	p.checkpoints = 0
	w.digest(p, id, lane, v)
	if !w.x.shape && len(w.x.summaries) == 0 {
		return nil
	}
	if err := w.forest.lane(id, lane, v, sums); err != nil {
		return err
	}
	if w.x.shape {
		p.laneCheckpoints = append(p.laneCheckpoints, p.checkpoints)
	}
	return w.laneForest(p)
}

// digest makes the records of a lane. Builders do not say how far they are.
func (w *indexWorker) digest(p *indexPart, id trace.LocationID, lane int, v laneView) {
	if w.paced && len(w.calls) > 0 {
		defer w.x.r.paceByTime()()
	}
	for k, b := range w.calls {
		p.digests[k].add(b, v.columns(id, lane, 0, v.len()))
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
		err := cmp.Or(p.levelNodes.write(bytesOf([]uint32{uint32(l.count)})), l.index.drain(p.nodeIndex.write), l.row.drain(p.nodeRow.write))
		for k := range l.blocks {
			err = cmp.Or(err, l.blocks[k].drain(p.blocks[k].write), l.sizes[k].drain(p.sizes[k].write))
		}
		if err != nil {
			return err
		}
	}
	p.laneLevels = append(p.laneLevels, levels)
	return nil
}
