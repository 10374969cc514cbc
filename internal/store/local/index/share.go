package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The second pass can be shared out: results of jobs are put together in the order of locations, whichever machine
// made them. A share is the results of some jobs that follow each other, a file for each of ShareFiles, so that these
// can be put together by themselves:
//
//	file     lists of each job: of counts and spills and groups, or of the spills of a summary, or of a digest
//	list     pieces, each u32 length and bytes; one of length 0 ends it

// A Shape is a part of what the index has beside summaries and digests: prefix sums, nodes, groups.
type Shape uint8

const (
	Sums Shape = 1 << iota
	Nodes
	Groups
)

// Shapes are in the order of their files.
var Shapes = []Shape{Sums, Nodes, Groups}

// Has reports whether the index has a part of the shape.
func (x *Indexer) Has(s Shape) bool { return x.Shape && (x.only == 0 || x.only == s) }

// ShareFiles names the files of a share: the parts of the shape, each summary, each digest.
func ShareFiles(summaries, digests int) []string {
	names := []string{"index.sums", "index.nodes", "index.groups"}
	for k := range summaries {
		names = append(names, fmt.Sprint("index.summary-", k))
	}
	for k := range digests {
		names = append(names, fmt.Sprint("index.digest-", k))
	}
	return names
}

// Of returns the Indexer of one of ShareFiles.
func (x *Indexer) Of(file int) *Indexer {
	y := &Indexer{R: x.R, Dir: x.Dir, Temp: x.Temp, Workers: x.Workers, Memory: x.Memory}
	switch k := file - len(Shapes); {
	case k < 0:
		y.Shape, y.only = true, Shapes[file]
	case k < len(x.Summaries):
		y.Summaries = x.Summaries[k : k+1]
	default:
		k -= len(x.Summaries)
		y.Digests = x.Digests[k : k+1]
	}
	return y
}

// Share does the jobs that begin with rows [from, end), and writes their results, to a writer for each of ShareFiles.
// Jobs are those of the whole pass: the order of groups depends on how it is cut.
func (x *Indexer) Share(ctx context.Context, to []io.Writer, from, end uint64) error {
	for _, j := range Jobs(x.R) {
		if at := x.R.C.LaneRow[x.R.C.LocationLane[j[0]]]; at >= from && at < end {
			x.jobs = append(x.jobs, j)
		}
	}
	x.Out = &indexOutput{x: x, limit: x.spillLimit()}
	files := make([]*shareWriter, len(to))
	for i := range to {
		files[i] = &shareWriter{to: bufio.NewWriterSize(to[i], 1<<18)}
	}
	open, left := map[trace.LocationID]*rows.RoleBins{}, len(x.jobs)
	var workers []*indexWorker
	err := disk.Guard(func() error {
		return parallel.Ordered(ctx, len(x.jobs), x.Workers, func() *indexWorker {
			w := newIndexWorker(x)
			x.Out.mu.Lock()
			workers = append(workers, w)
			x.Out.mu.Unlock()
			return w
		}, func(ctx context.Context, w *indexWorker, i int) (*indexPart, error) {
			return w.run(ctx, x.jobs[i])
		}, func(p *indexPart) error {
			left--
			p.groups.gather(x.R, open, left == 0)
			writePart(files, p)
			x.Out.reuse(p)
			return shareErr(files)
		})
	})
	for _, w := range workers {
		w.close()
	}
	err = cmp.Or(err, x.Out.close())
	for _, w := range files {
		err = cmp.Or(err, w.to.Flush())
	}
	return err
}

func shareErr(files []*shareWriter) error {
	for _, w := range files {
		if w.err != nil {
			return w.err
		}
	}
	return nil
}

// Join puts the files of all shares together in order; of an Indexer that is one of Of. All of them have the same
// result as Run.
func (x *Indexer) Join(ctx context.Context, shares []io.Reader) error {
	out, err := newIndexOutput(x)
	if err != nil {
		return cmp.Or(err, out.close())
	}
	x.Out = out
	err = x.consumeShares(ctx, shares)
	if err := cmp.Or(err, out.close()); err != nil {
		return err
	}
	for k := range out.digests {
		x.Digested = append(x.Digested, out.digests[k].Section)
	}
	x.Sections, err = out.sections()
	return err
}

// sharesAhead is how many shares are read at a time, while results of the first of them are put into place; each has
// sharePartsAhead results that wait.
const (
	sharesAhead     = 8
	sharePartsAhead = 2
)

// consumeShares reads shares side by side, and puts their results into place in order.
func (x *Indexer) consumeShares(whole context.Context, shares []io.Reader) error {
	g, ctx := errgroup.WithContext(whole)
	g.SetLimit(min(x.Workers, sharesAhead) + 1)
	lists := make([]chan *indexPart, len(shares))
	for i := range lists {
		lists[i] = make(chan *indexPart, sharePartsAhead)
	}
	g.Go(func() error {
		for _, list := range lists {
			for p := range list {
				if err := x.Out.consume(p); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return nil
	})
	for i, from := range shares { // in order, so that the first of those that are read is the one that is wanted
		g.Go(func() error {
			defer close(lists[i])
			return x.readShare(ctx, from, lists[i])
		})
	}
	return cmp.Or(g.Wait(), context.Cause(whole))
}

// readShare passes the results of a share on.
func (x *Indexer) readShare(ctx context.Context, from io.Reader, to chan<- *indexPart) error {
	r := &shareReader{from: bufio.NewReaderSize(from, 1<<18)}
	for r.more() {
		p := x.Out.part()
		if err := r.part(p, x); err != nil {
			return err
		}
		select {
		case to <- p:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// gather adds the bins of locations that are not wholly in a range to those of the ranges before, and leaves with the
// range those that end in it; with the last range, all. Else each of many ranges would have bins as long as the run
// for all locations above it.
func (p *groupPart) gather(r *rows.Table, open map[trace.LocationID]*rows.RoleBins, last bool) {
	kept := p.parts[:0]
	for _, x := range p.parts {
		if b := open[x.id]; b != nil {
			b.Join(x.bins)
			x.bins = b
		}
		open[x.id] = x.bins
		if _, end := r.Subtree(x.id); end <= p.end || last {
			kept = append(kept, x)
			delete(open, x.id)
		}
	}
	p.parts = kept
}

type shareWriter struct {
	to  *bufio.Writer
	err error
}

func (w *shareWriter) piece(b []byte) error {
	for len(b) > 0 && w.err == nil {
		n := min(len(b), 1<<30)
		var head [4]byte
		binary.LittleEndian.PutUint32(head[:], uint32(n))
		_, failed := w.to.Write(head[:])
		_, err := w.to.Write(b[:n])
		w.err, b = cmp.Or(failed, err), b[n:]
	}
	return w.err
}

// list writes pieces and ends them.
func (w *shareWriter) list(pieces ...[]byte) {
	for _, b := range pieces {
		_ = w.piece(b)
	}
	if w.err == nil {
		_, w.err = w.to.Write(make([]byte, 4))
	}
}

// drain writes a list for each spill.
func (w *shareWriter) drain(spills []*spool.Spill) {
	for _, s := range spills {
		w.err = cmp.Or(w.err, s.Drain(w.piece))
		w.list()
	}
}

// writePart writes a part to the files of a share.
func writePart(files []*shareWriter, p *indexPart) {
	sums, nodes, groups, rest := files[0], files[1], files[2], files[len(Shapes):]
	sums.list(spool.BytesOf(p.laneCheckpoints))
	sums.drain(p.sumSpills())
	nodes.list(spool.BytesOf(p.laneLevels))
	nodes.drain(p.nodeSpills())
	groups.groups(p.groups)
	for k := range p.blocks {
		rest[k].drain(p.summarySpills(k))
	}
	for i := range p.digests {
		w, d := rest[len(p.blocks)+i], &p.digests[i]
		w.list(d.records)
		sizes := make([]uint32, len(d.sizes))
		for k, n := range d.sizes {
			if n > math.MaxUint32 {
				w.err = cmp.Or(w.err, fmt.Errorf("a digest takes %d bytes", n))
			}
			sizes[k] = uint32(n)
		}
		w.list(spool.BytesOf(sizes))
		d.records, d.sizes = d.records[:0], d.sizes[:0]
	}
}

func (w *shareWriter) groups(g *groupPart) {
	w.list(spool.BytesOf([]uint32{uint32(g.end), uint32(len(g.done)), uint32(len(g.parts))}))
	for _, d := range g.done {
		w.list(spool.BytesOf([]uint32{uint32(d.id), uint32(d.roles)}))
		w.list(spool.BytesOf(d.times))
	}
	for _, o := range g.parts {
		w.list(spool.BytesOf([]uint32{uint32(o.id)}))
		low, high, part, step := o.bins.Sums()
		w.list(spool.BytesOf([]uint32{uint32(low), uint32(high)}))
		w.list(spool.BytesOf(part))
		w.list(spool.BytesOf(step))
	}
}

var errShare = fmt.Errorf("a share of the index is cut off or damaged: %w", disk.ErrDamaged)

type shareReader struct{ from *bufio.Reader }

func (r *shareReader) more() bool {
	_, err := r.from.Peek(1)
	return err == nil
}

// list passes the pieces of a list on.
func (r *shareReader) list(f func([]byte) error) error {
	var buf []byte
	for {
		var head [4]byte
		if _, err := io.ReadFull(r.from, head[:]); err != nil {
			return errors.Join(errShare, err)
		}
		left := int(binary.LittleEndian.Uint32(head[:]))
		if left == 0 {
			return nil
		}
		for left > 0 { // a length that is wrong costs no more memory than there is file
			n := min(left, 1<<18)
			if cap(buf) < n {
				buf = make([]byte, n)
			}
			if _, err := io.ReadFull(r.from, buf[:n]); err != nil {
				return errors.Join(errShare, err)
			}
			if err := f(buf[:n]); err != nil {
				return err
			}
			left -= n
		}
	}
}

func (r *shareReader) bytes() (all []byte, err error) {
	err = r.list(func(b []byte) error {
		all = append(all, b...)
		return nil
	})
	return all, err
}

func readNumbers[T uint32 | trace.Time](r *shareReader, width int) ([]T, error) {
	b, err := r.bytes()
	if err != nil || len(b)%width != 0 {
		return nil, cmp.Or(err, errShare)
	}
	return append([]T(nil), spool.ViewOf[T](b)...), nil
}

func (r *shareReader) words(n int) ([]uint32, error) {
	list, err := readNumbers[uint32](r, 4)
	if err == nil && n >= 0 && len(list) != n {
		err = errShare
	}
	return list, err
}

// part reads what x has of a part.
func (r *shareReader) part(p *indexPart, x *Indexer) (err error) {
	if x.Has(Sums) {
		p.laneCheckpoints, err = r.words(-1)
		if err := cmp.Or(err, r.fill(p.sumSpills())); err != nil {
			return err
		}
	}
	if x.Has(Nodes) {
		p.laneLevels, err = r.words(-1)
		if err := cmp.Or(err, r.fill(p.nodeSpills())); err != nil {
			return err
		}
	}
	if x.Has(Groups) {
		if p.groups, err = r.groups(x.R); err != nil {
			return err
		}
	}
	for k := range p.blocks {
		if err := r.fill(p.summarySpills(k)); err != nil {
			return err
		}
	}
	for i := range p.digests {
		d := &p.digests[i]
		if d.records, err = r.bytes(); err != nil {
			return err
		}
		sizes, err := r.words(-1)
		if err != nil {
			return err
		}
		d.sizes = d.sizes[:0]
		for _, n := range sizes {
			d.sizes = append(d.sizes, int(n))
		}
	}
	return nil
}

// fill reads a list into each spill.
func (r *shareReader) fill(spills []*spool.Spill) error {
	for _, s := range spills {
		if err := r.list(s.Write); err != nil {
			return err
		}
	}
	return nil
}

func (r *shareReader) groups(t *rows.Table) (*groupPart, error) {
	head, err := r.words(3)
	if err != nil {
		return nil, err
	}
	g := &groupPart{end: trace.LocationID(head[0])}
	known := func(id uint32) bool { return int(id) <= t.Len() }
	for range head[1] {
		h, err := r.words(2)
		if err != nil || !known(h[0]) {
			return nil, cmp.Or(err, errShare)
		}
		times, err := readNumbers[trace.Time](r, 8)
		if err != nil {
			return nil, err
		}
		g.done = append(g.done, groupDone{trace.LocationID(h[0]), times, uint16(h[1])})
	}
	for range head[2] {
		h, err := r.words(1)
		if err != nil || !known(h[0]) {
			return nil, cmp.Or(err, errShare)
		}
		id := trace.LocationID(h[0])
		level, ok := groupLevel(t.End, t.RowsBelow(id))
		edges, err := r.words(2)
		if err != nil || !ok {
			return nil, cmp.Or(err, errShare)
		}
		part, failed := readNumbers[trace.Time](r, 8)
		step, err := readNumbers[trace.Time](r, 8)
		if err := cmp.Or(failed, err); err != nil {
			return nil, err
		}
		bins := rows.NewRoleBins(0, level, GroupBins(t.End, level))
		if !bins.SetSums(int(edges[0]), int(edges[1]), part, step) {
			return nil, errShare
		}
		g.parts = append(g.parts, groupOpen{id, bins})
	}
	return g, nil
}
