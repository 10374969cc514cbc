package finish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/pack"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Plain rows take four times the space of packed ones. So rows are packed as soon as the job that made them is done,
// and the space of the plain ones is given back; later passes over rows unpack them, one job at a time, and ends of
// links that are given by time look into frames. If later steps change rows (parents that are given by id) or take a
// part of them, they stay plain until the rest is done.

// mayPackRows reports whether rows may be packed as they are made.
func mayPackRows(w *write.Writer) bool {
	if w.Opt.Parts > 0 {
		return false
	}
	any := false
	for _, s := range w.Streams {
		if s != nil && s.ByParent {
			return false
		}
		any = any || s != nil && s.Rows > 0
	}
	return any
}

// intervalTable is where table interval is in the schema.
var intervalTable = tableAt("interval")

func tableAt(name string) int {
	for i := range disk.Schema {
		if disk.Schema[i].Name == name {
			return i
		}
	}
	panic("there is no table " + name)
}

const intervalColumns = 6

// A rowPacker writes packed rows in order. Frames that are in one job are packed by who made it; those that jobs share,
// when all of their rows are there.
type rowPacker struct {
	*finisher
	total   uint64
	next    uint64   // the first row that is not packed
	lanes   []uint64 // where the rows of each lane begin, and those of the next
	columns [intervalColumns]*disk.ColumnWriter
	plain   [intervalColumns]*os.File // of rows
	own     frameMaker                // of the job that has the turn
	free    chan *packedJob           // whose memory is used again
	facts   factPacker
}

// A packedJob is the frames of one job.
type packedJob struct {
	job         *job
	first, last uint64 // rows
	bytes       [intervalColumns]spool.Spill
	words       [intervalColumns][]uint32
	facts       jobFacts
}

// framesAtOnce are packed at a time, so that they stay near the core; jobBytes of a column are held in memory.
const (
	framesAtOnce = 64
	jobBytes     = 1 << 20
)

// runJobs runs all jobs, and packs their rows.
func (f *finisher) runJobs(ctx context.Context) error {
	// as many as are under way at once
	p := &rowPacker{finisher: f, lanes: []uint64{0}, free: make(chan *packedJob, 2*f.workers)}
	for _, s := range f.Streams {
		if s != nil {
			p.total += uint64(s.Rows)
		}
	}
	if err := p.create(); err != nil {
		return p.close(err)
	}
	type worker struct {
		rows   *rowWorker
		frames frameMaker
	}
	var mu sync.Mutex
	var workers []*worker
	err := parallel.Ordered(ctx, len(f.jobs), f.workers, func() *worker {
		w := &worker{rows: f.newRowWorker()}
		mu.Lock()
		workers = append(workers, w)
		mu.Unlock()
		return w
	}, func(ctx context.Context, w *worker, i int) (*packedJob, error) {
		e := p.newJob(f.jobs[i])
		if f.own == nil {
			w.rows.out.facts.keys = &e.facts
		}
		if err := w.rows.run(ctx, e.job); err != nil {
			return nil, err
		}
		if !f.packing {
			return e, w.rows.rows.flush()
		}
		end := p.total
		if i+1 < len(f.jobs) {
			end = uint64(f.jobs[i+1].at.rows)
		}
		return e, p.pack(ctx, &w.frames, &w.rows.rows, e, end)
	}, p.take)
	for _, w := range workers {
		w.rows.close()
	}
	if err == nil && f.packing {
		err = p.frames(&p.own, p.lanes, p.next, p.total, p.put)
	}
	if err == nil {
		err = p.facts.flush()
	}
	return p.close(err)
}

func (p *rowPacker) create() error {
	if p.finisher.own == nil {
		p.facts.init(p.Dir)
	}
	if !p.packing {
		return nil
	}
	for k := range p.columns {
		name := disk.Schema[intervalTable].Columns[k].File()
		var err error
		if p.plain[k], err = os.OpenFile(filepath.Join(p.Dir, name), os.O_RDWR, 0); err != nil {
			return err
		}
		p.columns[k] = disk.NewColumnWriter(p.Dir, name, p.Temp)
	}
	return nil
}

// newJob returns memory for the packed rows of a job.
func (p *rowPacker) newJob(j *job) (e *packedJob) {
	select {
	case e = <-p.free:
	default:
		e = &packedJob{}
		for k := range e.bytes {
			e.bytes[k] = spool.Spill{Dir: p.Temp, Limit: jobBytes}
		}
		e.facts.init(p.Temp)
	}
	e.job, e.first, e.last = j, 0, 0
	return e
}

// pack packs the frames that are in a job, whose rows end before another's.
func (p *rowPacker) pack(ctx context.Context, m *frameMaker, sink *rowSink, e *packedJob, end uint64) error {
	j, begin := e.job, uint64(e.job.at.rows)
	e.first, e.last = (begin+pack.Frame-1)/pack.Frame*pack.Frame, end/pack.Frame*pack.Frame
	if e.first >= e.last {
		return sink.flush()
	}
	inBuffer := sink.rows.First == j.at.rows // all of them
	if inBuffer {
		sink.renumber()
		sink.put(0, int(e.first-begin))
		sink.put(int(e.last-begin), int(end-begin))
		m.plain = &sink.rows
		defer func() {
			m.plain = nil
			sink.empty()
		}()
	} else if err := sink.flush(); err != nil {
		return err
	}
	lanes := laneRows(nil, begin, j)
	if !inBuffer && e.last-e.first > rows.MostUnpacked {
		return errors.Join(p.packMany(ctx, e, lanes), sink.err)
	}
	err := p.frames(m, lanes, e.first, e.last, e.put)
	if !inBuffer {
		p.punch(e.first, e.last)
	}
	return errors.Join(err, sink.err)
}

// packMany packs a job with very many rows piece by piece, on all cores: the others may have nothing left to do.
func (p *rowPacker) packMany(ctx context.Context, e *packedJob, lanes []uint64) error {
	type piece struct {
		from, to uint64
		bytes    [intervalColumns][]byte
		words    [intervalColumns][]uint32
	}
	n := int((e.last - e.first + packJob - 1) / packJob)
	return parallel.Ordered(ctx, n, p.workers, func() *frameMaker { return new(frameMaker) },
		func(_ context.Context, m *frameMaker, i int) (*piece, error) {
			x := &piece{from: e.first + uint64(i)*packJob}
			x.to = min(x.from+packJob, e.last)
			return x, p.frames(m, lanes, x.from, x.to, func(k int, b []byte, words []uint32) error {
				x.bytes[k], x.words[k] = append(x.bytes[k], b...), append(x.words[k], words...)
				return nil
			})
		}, func(x *piece) (err error) {
			for k, b := range x.bytes {
				err = errors.Join(err, e.put(k, b, x.words[k]))
			}
			p.punch(x.from, x.to)
			return err
		})
}

// punch releases the room of plain rows.
func (p *rowPacker) punch(from, to uint64) {
	for k := range p.columns {
		width := disk.Schema[intervalTable].Columns[k].Width()
		spool.Punch(p.plain[k], int64(from)*width, int64(to)*width)
	}
}

// put adds frames of a column.
func (e *packedJob) put(k int, b []byte, words []uint32) error {
	e.words[k] = append(e.words[k], words...)
	return e.bytes[k].Write(b)
}

// laneRows appends where the rows of a job's lanes begin, and where the last one ends.
func laneRows(lanes []uint64, at uint64, j *job) []uint64 {
	for _, n := range j.laneRows {
		lanes = append(lanes, at)
		at += uint64(n)
	}
	return append(lanes, at)
}

// take writes the frames of the job whose turn it is.
func (p *rowPacker) take(e *packedJob) error {
	defer func() { p.free <- e }()
	if err := p.facts.take(&e.facts); err != nil || !p.packing {
		return err
	}
	p.lanes = laneRows(p.lanes[:len(p.lanes)-1], uint64(e.job.at.rows), e.job)
	if e.first >= e.last {
		return nil
	}
	if err := p.frames(&p.own, p.lanes, p.next, e.first, p.put); err != nil {
		return err
	}
	for k := range e.bytes {
		if err := p.columns[k].Drain(&e.bytes[k], e.words[k]); err != nil {
			return err
		}
		e.words[k] = e.words[k][:0]
	}
	p.next = e.last
	return nil
}

func (p *rowPacker) put(k int, b []byte, words []uint32) error {
	return p.columns[k].Append(b, words)
}

// close puts the packed columns in place of the plain ones, or passes an error on.
func (p *rowPacker) close(err error) error {
	for len(p.free) > 0 {
		e := <-p.free
		for k := range e.bytes {
			e.bytes[k].Close()
		}
		e.facts.close()
	}
	for k, c := range p.columns {
		if p.plain[k] != nil {
			err = errors.Join(err, p.plain[k].Close())
		}
		if c != nil {
			err = c.Close(err)
		}
	}
	if err = p.facts.close(err); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	p.finisher.facts = p.facts.count
	if p.packing {
		p.packed = &packedRows{p.Dir, p.Temp, int64(p.total)}
	}
	return nil
}

// A frameMaker has the memory for some frames.
type frameMaker struct {
	plain   *trace.StackRows // where rows are in memory; they are changed
	rows    disk.RowSlices
	bytes   []byte
	words   []uint32
	columns [intervalColumns][]byte // of rows
}

// frames packs plain rows [from, to), from a whole frame on, and yields columns piece by piece.
func (p *rowPacker) frames(m *frameMaker, lanes []uint64, from, to uint64,
	give func(column int, b []byte, words []uint32) error) error {
	for from < to {
		n := min(to-from, framesAtOnce*pack.Frame)
		r, err := p.read(m, from, int(n))
		if err != nil {
			return err
		}
		for at := uint64(0); at < n; at += pack.Frame {
			lo, hi := int(at), int(min(at+pack.Frame, n))
			folded := pack.Rows{First: from + at, Duration: r.Duration[lo:hi], Exclusive: r.Exclusive[lo:hi],
				Parent: r.Parent[lo:hi], Depth: r.Depth[lo:hi]}
			folded.Fold(lanes)
		}
		for k, b := range m.columns {
			m.bytes, m.words = disk.Schema[intervalTable].Columns[k].PackFrames(m.bytes[:0], m.words[:0], b, 0, n)
			if err := give(k, m.bytes, m.words); err != nil {
				return err
			}
		}
		from += n
	}
	return nil
}

// read returns plain rows, as slices and as bytes.
func (p *rowPacker) read(m *frameMaker, from uint64, n int) (r disk.RowSlices, err error) {
	if c := m.plain; c != nil {
		at := int(int64(from) - c.First)
		r = disk.RowSlices{Begin: c.Begin, Duration: c.Duration, Exclusive: c.Exclusive, Region: c.Region,
			Parent: c.Parent, Depth: c.Depth}.Slice(at, at+n)
	} else {
		if m.rows.Begin == nil {
			m.rows = disk.MakeRows(framesAtOnce * pack.Frame)
		}
		r = m.rows.Slice(0, n)
	}
	m.columns = [intervalColumns][]byte{spool.BytesOf(r.Begin), spool.BytesOf(r.Duration), spool.BytesOf(r.Exclusive),
		spool.BytesOf(r.Region), spool.BytesOf(r.Parent), spool.BytesOf(r.Depth)}
	if m.plain != nil {
		return r, nil
	}
	for k, b := range m.columns {
		if _, err := p.plain[k].ReadAt(b, int64(from)*disk.Schema[intervalTable].Columns[k].Width()); err != nil {
			return r, fmt.Errorf("read rows: %w", err)
		}
	}
	return r, nil
}

// packedRows are the packed columns of table interval while the rest of a store is made.
type packedRows struct {
	dir, temp string
	count     int64
}

// mapRows maps packed rows as a reader does.
func (p packedRows) mapRows(r *rows.Table) error {
	t := &disk.Schema[intervalTable]
	targets := r.C.Targets()
	checks := disk.Checks{}
	for k := range t.Columns {
		c := &t.Columns[k]
		m, err := spool.MapWhole(filepath.Join(p.dir, c.File()))
		if err != nil {
			return err
		}
		r.Maps, r.Packed = append(r.Maps, m), append(r.Packed, m)
		check, err := disk.MadePacked(disk.FileEntry{Name: c.File(), Values: p.count}, m.Bytes, c, &r.RowHeld)
		if err != nil {
			return err
		}
		values := check.Packed().Values()
		r.Maps = append(r.Maps, values)
		targets[c.File()](values.Bytes)
		checks.Add(t, k, check)
	}
	r.Checks = checks
	r.Sure = disk.NewRowCheck(checks.Of(t.Name), &r.C, &r.RowHeld)
	return nil
}

// describe describes packed rows while others derive tables from them: checksums and waiting for the disk take as long
// as a core reads.
func (p packedRows) describe(ctx context.Context, described *described) error {
	g, _ := errgroup.WithContext(ctx)
	for k := range disk.Schema[intervalTable].Columns {
		g.Go(func() error {
			name := disk.Schema[intervalTable].Columns[k].File()
			if described.known(name) {
				return nil
			}
			e, err := disk.DescribeFile(p.dir, name)
			if err != nil {
				return fmt.Errorf("check %s: %w", name, err)
			}
			e.Values = p.count
			described.set(e)
			return nil
		})
	}
	return g.Wait()
}

// each yields when packed rows begin and how long they last, some frames at a time, each row a step after the one
// before.
func (p packedRows) each(table *rows.Table, step int, see func(begin, duration trace.Time)) {
	const some = framesAtOnce * pack.Frame
	begin, duration := make([]trace.Time, some), make([]trace.Time, some)
	of := table.Checks.Of("interval")
	for from := int64(0); from < p.count; from += some {
		n := min(p.count-from, some)
		of.Unpack(0, uint64(from), uint64(from+n), spool.BytesOf(begin))
		of.Unpack(durationColumn, uint64(from), uint64(from+n), spool.BytesOf(duration))
		for i := 0; i < int(n); i += step {
			see(begin[i], duration[i])
		}
		table.Pace(int(n))
	}
}

// mark gives rows of the packed column of regions another one: only their frames are packed again.
func (p packedRows) mark(list []int64, change func(used []trace.RegionID) map[trace.RegionID]trace.RegionID) error {
	c := &disk.Schema[intervalTable].Columns[regionColumn]
	slices.Sort(list)
	used, err := p.regionsOf(c, list)
	if err != nil {
		return err
	}
	number := change(used)
	chosen := func(frame uint64) bool { return len(list) > 0 && uint64(list[0])/pack.Frame == frame }
	return c.Rewrite(p.dir, p.temp, p.count, chosen, func(frame uint64, values []uint64) {
		for ; chosen(frame); list = list[1:] {
			v := &values[list[0]%pack.Frame]
			*v = uint64(number[trace.RegionID(*v)])
		}
	})
}

// regionsOf reads the regions of packed rows, which ascend.
func (p packedRows) regionsOf(c *disk.Column, list []int64) (used []trace.RegionID, err error) {
	frames, err := disk.OpenFrames(filepath.Join(p.dir, c.File()), p.count, 1)
	if err != nil {
		return nil, err
	}
	defer frames.Close()
	err = disk.Guard(func() error {
		var buf [pack.Frame]uint64
		for i, row := range list {
			if g := row / pack.Frame; i == 0 || list[i-1]/pack.Frame != g {
				frames.Decode(uint64(g), buf[:])
			}
			used = append(used, trace.RegionID(buf[row%pack.Frame]))
		}
		return nil
	})
	return used, err
}
