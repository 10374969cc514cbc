package finish

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store/local/write"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// The first pass of Finish replays the records of each location and writes its rows at their final place. The numbers
// of rows, instants, samples and facts of a location are known before, and so is every place: workers share nothing.

// counts are numbers of rows in the tables that the first pass writes.
type counts struct {
	rows, instants, samples, facts, instantFacts int64
}

func (c *counts) add(s *write.Stream) {
	c.rows += int64(s.Rows)
	c.instants += int64(s.Instants)
	c.samples += int64(s.Samples)
	c.facts += int64(s.Facts)
	c.instantFacts += int64(s.InstantFacts)
}

// A job is locations that follow each other, with the places of their rows. Their lanes are known when it is done.
type job struct {
	first, end int // locations, new numbers
	at         counts
	lanes      []uint32 // lanes of each location
	laneRows   []uint32 // rows of each lane
	laneEnd    []trace.Time
	unclosed   []int64 // rows that were never left
}

// plan divides the locations into jobs of about size records.
func (f *finisher) plan(size int64) []*job {
	var jobs []*job
	var at counts
	open := int64(math.MaxInt64)
	for id := range f.order.old {
		if open >= size || f.own.edge(id) {
			jobs = append(jobs, &job{first: id, at: at})
			open = 0
		}
		j := jobs[len(jobs)-1]
		j.end = id + 1
		if s := f.stream(id); s != nil {
			at.add(s)
			open += int64(s.Rows) + int64(s.Instants) + int64(s.Samples)
		}
		open++
	}
	return f.own.jobs(jobs)
}

// jobRecords is about how many records a job has at most.
const jobRecords = 1 << 17

// rowPass runs all jobs.
func (f *finisher) rowPass(ctx context.Context) error {
	size := f.memory / int64(f.workers) / 256
	f.packing = mayPackRows(f.Writer)
	if f.packing {
		size = min(size, jobRecords/2) // with the last location they mostly fit into a buffer
	}
	f.jobs = f.plan(min(max(size, 256), jobRecords))
	if err := f.createRowFiles(); err != nil {
		return err
	}
	err := f.runJobs(ctx)
	return cmp.Or(err, f.closeRowFiles(), f.markUnclosed())
}

// A rowWorker does jobs, one after the other.
type rowWorker struct {
	f       *finisher
	job     *job
	builder trace.Builder
	stack   trace.StackBuilder
	batch   []trace.StackRecord // on their way to stack
	rows    rowSink
	work    workFinder
	events  *spool.Spool[trace.Event]
	spans   *spool.Spool[trace.Span]

	instants     *spool.Spool[instantRecord]
	samples      *spool.Spool[sampleRecord]
	facts        *spool.Spool[factRecord]
	instantFacts *spool.Spool[factRecord]
	out          placedColumns

	direct bool // samples of the location are written as they come
	chain  []int64
	places placeTable // of instants
}

type instantRecord struct {
	time   trace.Time
	seq    uint32
	region trace.RegionID
}

type sampleRecord struct {
	time    trace.Time
	value   float64
	counter trace.CounterID
}

// A factRecord is an attribute of the record with number key, later of row key.
type factRecord struct {
	key, bits uint64
	attribute uint32
	kind      uint8
}

// batchRecords is how many records a StackBuilder takes at once: few enough to stay
// near the core.
const batchRecords = 512

func (f *finisher) newRowWorker() *rowWorker {
	share := f.memory / int64(f.workers)
	w := &rowWorker{
		f:            f,
		batch:        make([]trace.StackRecord, 0, batchRecords),
		events:       spool.NewSpool[trace.Event](f.Temp, share/8),
		spans:        spool.NewSpool[trace.Span](f.Temp, share/8),
		instants:     spool.NewSpool[instantRecord](f.Temp, share/16),
		samples:      spool.NewSpool[sampleRecord](f.Temp, share/16),
		facts:        spool.NewSpool[factRecord](f.Temp, share/4), // spans have four to a row and more
		instantFacts: spool.NewSpool[factRecord](f.Temp, share/16),
	}
	w.rows.init(f, share)
	w.places.init(f.Temp, share/16)
	w.out.init(f)
	return w
}

func (w *rowWorker) close() {
	w.f.repairMu.Lock()
	w.f.depth = max(w.f.depth, w.rows.depths)
	w.f.repairMu.Unlock()
	w.events.Close()
	w.spans.Close()
	w.instants.Close()
	w.samples.Close()
	w.facts.Close()
	w.instantFacts.Close()
	w.rows.close()
	_ = w.places.drop()
}

// run does a job; its last rows stay in the buffer.
func (w *rowWorker) run(ctx context.Context, j *job) error {
	w.job = j
	w.rows.start(j)
	w.out.start(j.at)
	for id := j.first; id < j.end; id++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		s := w.f.stream(id)
		if s == nil || s.Tail < 0 {
			j.lanes = append(j.lanes, 0)
			continue
		}
		if err := w.location(ctx, trace.LocationID(id), s); err != nil {
			return fmt.Errorf("location %q: %w", w.f.Def.Locations[s.Location].Name, err)
		}
	}
	return w.out.finish()
}

// location replays one location.
func (w *rowWorker) location(ctx context.Context, id trace.LocationID, s *write.Stream) error {
	w.events.Reset()
	w.spans.Reset()
	w.instants.Reset()
	w.samples.Reset()
	w.facts.Reset()
	w.instantFacts.Reset()
	w.startSamples(id, s.Samples)
	if err := w.rows.location(s, s.ByParent || s.Facts > 0 && !s.Numbered()); err != nil {
		return err
	}
	if s.Numbered() {
		return w.stacked(ctx, id, s)
	}
	w.builder.Reset(trace.BuilderOptions{
		StreamOptions: trace.StreamOptions{Unordered: s.Unordered && s.Disordered, ByName: s.ByName,
			ByParent: s.ByParent},
		Parents:   w.f.parents(s),
		Rounded:   s.RoundedTimes,
		Intervals: s.Intervals || w.f.inferred != nil && len(w.f.inferred.rows[s.Location].gaps) > 0, End: w.f.end,
		Events: eventSorter{w.events}, Spans: spanSorter{w.spans},
	}, &w.rows)
	if err := w.decode(ctx, s, nil); err != nil {
		return err
	}
	w.addWork(s)
	repairs, err := w.builder.Finish()
	if err != nil {
		return err
	}
	w.f.repairAt(id, repairs)
	if err := w.rows.finishLocation(w.job); err != nil {
		return err
	}
	if s.ByParent {
		w.f.kinship.add(id, &w.rows, s.Gaps)
	}
	return w.place(id)
}

// stacked replays a location whose rows come in order by themselves.
func (w *rowWorker) stacked(ctx context.Context, id trace.LocationID, s *write.Stream) error {
	w.stack.Reset(&w.rows.rows)
	w.startWork()
	if err := w.decode(ctx, s, &w.stack); err != nil {
		return err
	}
	depth, last, repairs := w.stack.Finish(w.f.end)
	w.job.unclosed = append(w.job.unclosed, w.stack.Unclosed...)
	w.f.repairAt(id, repairs)
	w.rows.stacked(s.Rows, depth, last)
	if err := w.rows.finishLocation(w.job); err != nil {
		return err
	}
	return w.place(id)
}

func (w *rowWorker) fail(err error) { w.out.fail(err) }

// eventSorter and spanSorter let a Builder sort outside memory.
type eventSorter struct{ *spool.Spool[trace.Event] }

func (s eventSorter) Each(f func(trace.Event) error) error {
	by := spool.Order[trace.Event]{Key: func(e *trace.Event) int64 { return int64(e.Time) },
		Ties: func(a, b *trace.Event) int { return trace.CompareEvents(*a, *b) }}
	return s.Sorted(nil, by, func(e *trace.Event) error { return f(*e) })
}

type spanSorter struct{ *spool.Spool[trace.Span] }

func (s spanSorter) Each(f func(trace.Span) error) error {
	by := spool.Order[trace.Span]{Key: func(x *trace.Span) int64 { return int64(x.Begin) },
		Ties: func(a, b *trace.Span) int { return trace.CompareSpans(*a, *b) }}
	return s.Sorted(nil, by, func(x *trace.Span) error { return f(*x) })
}
