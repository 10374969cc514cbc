package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A finisher turns what a Writer has received into a store.
type finisher struct {
	*Writer
	workers int
	memory  int64

	order        ordering
	regionNumber []trace.RegionID // by the number at definition; nil: the same
	origin, end  trace.Time       // times are moved by origin; the trace is [0, end)

	jobs     []*job
	files    rowFiles
	counters []sampleRange
	numbered []uint32 // by location: how many rows may be named by number
	aside    []trace.LocationID
	core     *[2]trace.Time

	rows      *Reader // what is written so far, from the index on
	sections  []section
	digests   []section
	begins    *beginIndex
	described described

	kinship  kinship
	unclosed map[trace.RegionID]trace.RegionID // regions of intervals that nobody left

	repairMu sync.Mutex
	repairs  trace.Repairs
	depth    int
}

// A sampleRange is where the samples of a counter lie.
type sampleRange struct {
	first, count uint64
	growth       trace.Growth
}

// Finish ends the trace and puts the store at its path.
//
//  1. What streams still hold goes to the spool; the span of time is known.
//  2. Locations get their numbers.
//  3. Rows, instants, samples and facts are written, location by location.
//  4. Definitions and lanes are written.
//  5. Indices, summaries and digests are derived from the rows, while links find
//     their intervals.
//  6. Profiles are sorted.
//  7. Everything is synced, the manifest written, the directory renamed.
//
// After an error nothing is left on the disk.
func (w *Writer) Finish(ctx context.Context) error {
	if w.done {
		return errors.New("finish store: already finished")
	}
	err := w.finish(ctx)
	if err != nil {
		w.Abort()
		return fmt.Errorf("finish store: %w", err)
	}
	w.done = true
	return nil
}

func (w *Writer) finish(ctx context.Context) error {
	f := &finisher{Writer: w, workers: w.opt.Workers, memory: w.opt.Memory}
	defer f.closeRows()
	steps := []func(context.Context) error{
		f.collect, f.rowPass, f.forget, f.define, f.writeKinship, f.openRows, f.derive, f.writeProfiles, f.publish,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// derive makes what only reads the rows. Much of what links take is one goroutine's
// work, so the rest goes on beside it; and so does waiting for the disk, file by
// file as they are done.
func (f *finisher) derive(ctx context.Context) error {
	points, err := f.pointTimes() // before empty files go
	if err != nil {
		return err
	}
	defer points.close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return f.described.add(f.dir, tableFiles("interval_fact", "instant", "instant_fact", "sample", "caller", "cover"))
	})
	g.Go(func() error { return syncFiles(f.dir, f.rows.rowNames) })
	g.Go(func() error { return f.findCore(ctx, points) })
	g.Go(func() error {
		if f.looseLinks {
			defer f.rows.paceByTime()()
		}
		if err := f.writeLinks(ctx); err != nil {
			return err
		}
		return f.described.add(f.dir, tableFiles("link", "link_block", "untimed"))
	})
	g.Go(func() error {
		if err := f.index(ctx); err != nil {
			return err
		}
		names := tableFiles("checkpoint", "sum", "level", "node", "group")
		for _, s := range slices.Concat(f.sections, f.digests) {
			names = append(names, s.files()...)
		}
		return f.described.addAll(f.dir, names, f.workers)
	})
	return g.Wait()
}

// manyLocations take 20 MB in the writer, and as much or more in most readers.
const manyLocations = 1 << 17

// collect ends all input, finds the span of time and orders the locations.
func (f *finisher) collect(context.Context) error {
	for _, s := range f.streams {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil {
			return err
		}
		if s.rows > math.MaxInt32 {
			return fmt.Errorf("location %q has %d intervals, more than the %d that a location may have", f.def.locations[s.location].Name, s.rows, math.MaxInt32)
		}
	}
	if f.rowErr != nil {
		return f.rowErr
	}
	if err := f.texts.finish(); err != nil {
		return err
	}
	if err := f.chunks.finish(); err != nil {
		return err
	}
	all := f.linkSpan
	for _, s := range f.streams {
		if s != nil && s.first <= s.last {
			all.see(s.first)
			all.see(s.last)
		}
	}
	f.origin, f.end = all.first, all.last-all.first
	if f.end < 0 || f.end >= 1<<62 {
		return fmt.Errorf("time stamps from %d to %d ns are further apart than 146 years", all.first, all.last)
	}
	f.def.forgetKeys()
	// What the reader held is garbage by now too. Of many locations it goes back to the
	// system before the rows are made, so that the two do not add up.
	if len(f.def.locations) > manyLocations {
		debug.FreeOSMemory()
	}
	f.order = orderLocations(f.def.locations)
	f.regionNumber = f.def.orderRegions()
	f.counters = make([]sampleRange, len(f.def.counters))
	f.numbered = make([]uint32, len(f.order.old))
	for id := range f.numbered {
		if s := f.stream(id); s != nil && s.numbered() && !s.gaps {
			f.numbered[id] = s.rows
		}
	}
	return nil
}

// forget frees what the rows were made from: memory, and room on the disk.
func (f *finisher) forget(context.Context) error {
	f.streams = nil
	f.chunks.close()
	return nil
}

// stream of a location by its new number; nil where there is none.
func (f *finisher) stream(id int) *stream {
	if old := int(f.order.old[id]); old < len(f.streams) {
		return f.streams[old]
	}
	return nil
}

// repair counts what a Builder changed on a location.
func (f *finisher) repair(r trace.Repairs) {
	if r == (trace.Repairs{}) {
		return
	}
	f.repairMu.Lock()
	defer f.repairMu.Unlock()
	f.repairs.Add(r)
}

// finishReport adds the repairs to what readers reported.
func (f *finisher) finishReport() []trace.ReportEntry {
	for _, e := range f.repairs.Entries() {
		f.Report(e.Kind, e.What, e.Count, e.Example)
	}
	return f.report.entries
}

// publish makes the store durable and gives it its name.
func (f *finisher) publish(context.Context) error {
	f.closeRows()
	f.closeTemporary()
	if err := os.RemoveAll(f.temp); err != nil {
		return err
	}
	m, err := f.manifest()
	if err != nil {
		return err
	}
	if err := m.write(f.dir); err != nil {
		return err
	}
	return replaceDir(f.dir, f.path)
}

// replaceDir renames dir to path. A store that is there is moved out of the way
// first and removed last, so that path holds a whole store at all times but one.
func replaceDir(dir, path string) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	old := ""
	if err := os.Rename(dir, path); err != nil {
		if err := replaceable(path); err != nil {
			return err
		}
		old = dir + ".old"
		if err := os.Rename(path, old); err != nil {
			return err
		}
		if err := os.Rename(dir, path); err != nil {
			_ = os.Rename(old, path)
			return err
		}
	}
	if old != "" {
		_ = os.RemoveAll(old)
	}
	return syncDir(filepath.Dir(filepath.Clean(path)))
}
