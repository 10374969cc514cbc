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
// made them. A share is the results of some jobs that follow each other, as a file:
//
//	result   lists: of counts, of every spill, of groups, of digests
//	list     pieces, each u32 length and bytes; one of length 0 ends it

// Share does the jobs that begin with rows [from, end), and writes their results. Jobs are those of the whole pass: the
// order of groups depends on how it is cut.
func (x *Indexer) Share(ctx context.Context, to io.Writer, from, end uint64) error {
	for _, j := range Jobs(x.R) {
		if at := x.R.C.LaneRow[x.R.C.LocationLane[j[0]]]; at >= from && at < end {
			x.jobs = append(x.jobs, j)
		}
	}
	x.Out = &indexOutput{x: x, limit: x.spillLimit()}
	w := &shareWriter{to: bufio.NewWriterSize(to, 1<<18)}
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
			w.part(p)
			x.Out.reuse(p)
			return w.err
		})
	})
	for _, w := range workers {
		w.close()
	}
	return cmp.Or(err, x.Out.close(), w.to.Flush())
}

// Join puts all shares together in order, with the same result as Run.
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
		if err := r.part(p, x.R); err != nil {
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

func (w *shareWriter) part(p *indexPart) {
	w.list(spool.BytesOf(p.laneCheckpoints))
	w.list(spool.BytesOf(p.laneLevels))
	for _, s := range p.spills() {
		w.err = cmp.Or(w.err, s.Drain(w.piece))
		w.list()
	}
	for i := range p.digests {
		d := &p.digests[i]
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
	g := p.groups
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

func (r *shareReader) part(p *indexPart, t *rows.Table) (err error) {
	if p.laneCheckpoints, err = r.words(-1); err != nil {
		return err
	}
	if p.laneLevels, err = r.words(-1); err != nil {
		return err
	}
	for _, s := range p.spills() {
		if err := r.list(s.Write); err != nil {
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
	p.groups, err = r.groups(t)
	return err
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
