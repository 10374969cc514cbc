// Package finish turns the records of a Writer into a store.
//
// Rows come first (rows.go, rowsink.go), packed as they are made if possible (rowpacker.go, factpacker.go), then
// definitions (define.go). Then everything that is derived from rows is made at the same time (derive.go): the index,
// and links. Links look for the intervals at their ends (links.go, linkends.go) and are packed and added up as they
// come (linkpack.go, linksums.go).
package finish

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/store/local/rows"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A finisher turns the records of a Writer into a store.
type finisher struct {
	*write.Writer
	workers int
	memory  int64

	order           ordering
	regionNumber    []trace.RegionID // by the number at definition; nil: the same
	attributeNumber []uint32         // likewise
	counterNumber   []trace.CounterID
	origin, end     trace.Time // times are moved by origin; the trace is [0, end)
	clocks          *clocks    // how times are moved before; nil: as they were recorded
	inferred        *inference // unrecorded work; nil: none
	inferredRows    int64      // of it
	matches         *matches   // collectives by the order of calls, until they are reported; nil: none

	jobs     []*job
	files    rowFiles
	packing  bool        // rows are packed as they are made
	packed   *packedRows // nil: rows are plain
	facts    int64       // of intervals
	counters []sampleRange
	series   []series // of counters that have samples, by location and number
	numbered []uint32 // by location: how many rows may be named by number
	aside    []trace.LocationID
	core     *[2]trace.Time

	rows      *rows.Table // the rows written so far, from the index on
	sections  []disk.Section
	digests   []disk.Section
	described described
	part      disk.PartManifest // where only a part is written

	// Of a run whose parts were read by themselves; see package finish, shared.go.
	own          *ownRange // locations whose rows are made; nil: all
	partCalls    [][]meetingCall
	unclearCalls bool
	linksLoaded  bool
	linksPacked  bool             // the parts have packed their links
	openRegions  []trace.RegionID // of calls that were never left
	laneLists    laneLists        // of all parts
	sampled      *store.Core      // of some of all rows; nil: they are looked at

	kinship  kinship
	unclosed map[trace.RegionID]trace.RegionID // regions of intervals that were never left

	repairMu sync.Mutex
	repairs  trace.Repairs
	depth    int
}

// A sampleRange is where the samples of a counter lie.
type sampleRange struct {
	first, count uint64
	growth       trace.Growth
	series       int32 // of its location, where samples are written as they come
}

// Run ends the trace and puts the store at its path.
//
//  1. The records that streams still hold go to the spool; the span of time is known.
//  2. Locations get their numbers.
//  3. Rows, instants, samples and facts are written, location by location, and strings
//     put in the order of their use.
//  4. Definitions and lanes are written.
//  5. Indices, summaries and digests are derived from the rows, while links find
//     their intervals.
//  6. Profiles are sorted, and the tables of locations and lanes are packed.
//  7. Everything is synced, the manifest written, the directory renamed.
//
// For a part only a share of 5 and 6 is done, see part.go.
//
// After an error nothing is left on the disk.
func Run(ctx context.Context, w *write.Writer) error {
	if w.Done {
		return errors.New("finish store: already finished")
	}
	err := finishSteps(ctx, w)
	if err != nil {
		w.Abort()
		return fmt.Errorf("finish store: %w", err)
	}
	w.Done = true
	return nil
}

func finishSteps(ctx context.Context, w *write.Writer) error {
	f := &finisher{Writer: w, workers: w.Opt.Workers, memory: w.Opt.Memory}
	defer f.closeRows()
	steps := []func(context.Context) error{
		f.collect, f.rowPass, f.orderTexts, f.forget, f.define, f.writeKinship, f.openRows,
		f.derive, profiler{finisher: f}.writeProfiles, f.packTree, f.publish,
	}
	if w.Opt.Parts > 0 {
		steps = append(steps[:len(steps)-4], f.derivePart, f.publishPart)
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

// manyLocations take 20 MB in the writer, and as much or more in most readers.
const manyLocations = 1 << 17

// collect ends all input, finds the span of time and orders the locations.
func (f *finisher) collect(ctx context.Context) error {
	for _, s := range f.Streams {
		if s == nil {
			continue
		}
		if err := s.Close(); err != nil {
			return err
		}
		if s.Rows > math.MaxInt32 {
			return fmt.Errorf("location %q has %d intervals, more than the %d that a location may have",
				f.Def.Locations[s.Location].Name, s.Rows, math.MaxInt32)
		}
	}
	if f.RowErr != nil {
		return f.RowErr
	}
	if err := f.Texts.Finish(); err != nil {
		return err
	}
	if err := f.Chunks.Finish(); err != nil {
		return err
	}
	f.order = orderLocations(f.Def.Locations)
	if err := f.matchMeetings(ctx); err != nil {
		return err
	}
	if err := f.fitClocks(); err != nil {
		return err
	}
	f.refuseMeetings()
	if err := f.findSpan(); err != nil {
		return err
	}
	f.inferWork()
	f.Def.ForgetKeys()
	// The memory of the reader is garbage by now too. With many locations it goes back to the system before the rows
	// are made, so that the two do not add up.
	if len(f.Def.Locations) > manyLocations {
		debug.FreeOSMemory()
	}
	f.regionNumber, f.attributeNumber, f.counterNumber = orderRegions(&f.Def), orderAttributes(&f.Def), orderCounters(f)
	f.counters = make([]sampleRange, len(f.Def.Counters))
	f.series = orderSeries(f)
	f.numbered = make([]uint32, len(f.order.old))
	for id := range f.numbered {
		if s := f.stream(id); s != nil && s.Numbered() && !s.Gaps && !f.infers(s) {
			f.numbered[id] = s.Rows
		}
	}
	return nil
}

// findSpan finds the first and the last time.
func (f *finisher) findSpan() error {
	all := f.Covered
	for _, s := range f.Streams {
		if s != nil && s.First <= s.Last {
			line := f.lineOf(s.Location)
			all.See(line.At(s.First))
			all.See(line.At(s.Last))
		}
	}
	if links := f.LinkSpan; f.clocks == nil && links.Any {
		all.See(links.First)
		all.See(links.Last)
	} else if f.clocks != nil {
		err := f.LinkRows.Each(func(r *write.LinkRecord) error {
			all.See(f.lineOf(r.FromLocation).At(r.FromTime))
			all.See(f.lineOf(r.ToLocation).At(r.ToTime))
			return nil
		})
		if err != nil {
			return err
		}
	}
	f.origin, f.end = all.First, all.Last-all.First
	if f.end < 0 || f.end >= disk.MostTime {
		return fmt.Errorf("time stamps from %d to %d ns are further apart than 146 years", all.First, all.Last)
	}
	return nil
}

// forget frees the sources of the rows: memory, and disk space.
func (f *finisher) forget(context.Context) error {
	f.Streams = nil
	f.Chunks.Close()
	return nil
}

// stream of a location by its new number; nil if there is none.
func (f *finisher) stream(id int) *write.Stream {
	if old := int(f.order.old[id]); old < len(f.Streams) {
		return f.Streams[old]
	}
	return nil
}

// repair counts the repairs of a Builder on a location.
func (f *finisher) repair(r trace.Repairs) {
	if r == (trace.Repairs{}) {
		return
	}
	f.repairMu.Lock()
	defer f.repairMu.Unlock()
	f.repairs.Add(r)
}
