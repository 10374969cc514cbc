package chrometrace

import (
	"context"
	"errors"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reader turns the records of one rank's files, or of one plain file, into a
// trace. Memory next to the scanner's buffer grows with the tables (rows,
// regions, keys) and with records that wait for their other half: 24 bytes for
// each GPU launch and 32 for each flow record of a file, and one entry for each
// asynchronous interval that is open.
type reader struct {
	rowTree

	label string // of the file being read
	base  int64  // nanoseconds to add to every time

	counters map[string]trace.CounterID

	records int64
	latest  trace.Time
	open    map[uint64][]span
	points  uint32 // flow records so far
	pending
	sampler sampler

	info distributed

	lexicon *lexicon
	workers int // that may read one file
	batch   int // bytes; 0: as usual
}

// pending holds records that wait for their other half until a file is read. The next reader takes its memory over.
type pending struct {
	flows       []flowPoint
	launchFlows []flowPoint
	launches    []launch
	works       []launch
}

func newReader(w trace.Writer, d dialect) *reader {
	c := &reader{counters: map[string]trace.CounterID{}, lexicon: newLexicon(d)}
	c.dictionary = dictionary{
		w: w, dialect: d, categories: map[string]*category{}, keys: map[string]*attribute{}, texts: map[string]string{},
		hashes: map[string]string{},
	}
	c.rank, c.parent = trace.NoRank, trace.NoLocation
	c.places, c.processes, c.devices = map[string]*place{}, map[string]*process{}, map[string]*device{}
	c.pids, c.rows, c.models = map[string]*meta{}, map[trace.LocationID]*row{}, map[string]string{}
	c.memories, c.pools = map[string]int64{}, map[poolKey]*pool{}
	for i := range c.scratch {
		c.scratch[i] = make([]byte, 0, 4<<10)
	}
	return c
}

// read takes all records of one file. Damage ends it without error, as long as
// there was a record.
func (c *reader) read(ctx context.Context, r io.Reader, label string, base int64) (*scanner, error) {
	c.label, c.base, c.records = label, base, 0
	c.latest = -1 << 63
	c.open = map[uint64][]span{}
	c.fresh = true
	c.sampler = sampler{reader: c}
	s := newScanner(&cancelled{ctx, r})
	if c.batch > 0 {
		s.batch, s.batchesAt = c.batch, 0
	}
	s.each(c.workers, c.lexicon, func(r *record) {
		c.records++
		c.convert(r)
	})
	if err := ctx.Err(); err != nil {
		return s, err
	}
	if c.records == 0 {
		return s, c.emptyError(s)
	}
	c.finishAsync()
	c.linkLaunches()
	c.linkFlows()
	if err := c.sampler.show(ctx, s); err != nil {
		return s, err
	}
	c.tally.damage(s)
	if c.dialect != dftracer {
		c.tally.AddN(missingCommas, s.damage.commas, nowhere)
	}
	return s, nil
}

// emptyError returns the error of a file without records.
func (c *reader) emptyError(s *scanner) error {
	if err := s.readFailure(); err != nil {
		var known *importer.Error
		if errors.As(err, &known) {
			return err
		}
		return &importer.Error{File: c.label, Kind: importer.ErrMalformed, Cause: "read: " + err.Error()}
	}
	e := &importer.Error{File: c.label, Kind: importer.ErrMalformed, Cause: "holds no trace events",
		Hint: "record it again"}
	if d := &s.damage; d.broken > 0 || d.cut {
		e.Place, e.Cause = byteAt(d.brokenAt), "no record can be read from here on"
	}
	return e
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// convert gives one record its meaning.
func (c *reader) convert(r *record) {
	switch r.phase {
	case 'M':
		c.metadata(r)
		return
	case 0:
		c.tally.Add(noPhase, r.offset)
		return
	case 'P':
		c.sampler.sample(r)
		return
	case 'O':
		c.tally.Add(snapshots, r.offset)
		return
	case 'V', 'v':
		c.tally.Add(memoryDumps, r.offset)
		return
	case 'c':
		c.tally.Add(clockSyncs, r.offset)
		return
	case '(', ')':
		c.tally.Add(contexts, r.offset)
		return
	}
	at, ok := c.onAxis(r.at, r.timed)
	if !ok {
		c.tally.Add(noTime, r.offset)
		return
	}
	c.latest = max(c.latest, at)
	switch r.phase {
	case 'X':
		c.whole(r, at)
	case 'B':
		row := c.rowOf(r)
		row.stream.Enter(at, c.regionOf(r))
		c.attributes(row.stream, r)
		c.bindID(r, at)
	case 'E':
		c.rowOf(r).stream.Leave(at, c.endRegion(r))
		c.tally.AddN(endArguments, int64(len(r.args)), r.offset)
		c.oddParts(r)
	case 'i', 'I', 'R':
		if string(r.name.raw()) == "CpuProfile" && c.sampler.profileChunk(r) {
			break
		}
		c.instant(r, at)
	case 'C':
		c.counter(r, at)
	case 'b', 'e', 'n', 'S', 'F', 'T', 'p', 'N', 'D':
		c.async(r, at)
	case 's', 't', 'f':
		c.flow(r, at)
	default:
		c.tally.unknownPhase(r.phase)
	}
}

// time is a record's time on the axis of the run.
func (c *reader) time(v value) (trace.Time, bool) {
	return c.onAxis(v.nanoseconds())
}

func (c *reader) onAxis(t int64, ok bool) (trace.Time, bool) {
	t += c.base // both are within 2^62
	return trace.Time(t), ok && -maxNanos < t && t < maxNanos
}

// rowOf is the row that a record belongs to: a thread, or a stream of a GPU.
func (c *reader) rowOf(r *record) *row {
	p := c.place(r)
	if c.dialect == kineto && c.categoryOf(r).gpu {
		return c.stream(p)
	}
	return c.thread(p)
}

// whole takes a complete record (phase X).
func (c *reader) whole(r *record, begin trace.Time) {
	cat := c.categoryOf(r)
	if cat.profiler {
		c.tally.Add(profilerRows, r.offset)
		return
	}
	if isClangTotal(r) {
		c.tally.Add(clangTotals, r.offset)
		return
	}
	end := begin + c.duration(r)
	c.precision.see(r.at, r.digits)
	c.latest = max(c.latest, end)
	row := c.rowOf(r)
	region := c.regionOf(r)
	row.stream.Interval(begin, end, region)
	row.complete = true
	c.attributes(row.stream, r)
	if c.dialect == chrome {
		c.correlateXLA(r, launch{time: begin, location: row.location, region: region})
	} else if cat.launch || cat.work {
		c.correlate(r, cat, launch{rank: c.rankOf(r), time: begin, location: row.location, region: region})
	}
	c.bindID(r, begin)
}

// duration is how long a complete record lasts; the thread's own clock is in
// for a duration that is missing.
func (c *reader) duration(r *record) trace.Time {
	if r.lasts {
		return trace.Time(r.length)
	}
	if d, ok := r.threadDur.nanoseconds(); ok {
		c.tally.Add(threadDuration, r.offset)
		return trace.Time(d)
	}
	c.tally.Add(noDuration, r.offset)
	return 0
}

// isClangTotal recognises the rows on which clang sums up its work, each on a thread
// id that it invents: they would be drawn as threads that work all the time.
func isClangTotal(r *record) bool {
	const word = "Total "
	return len(r.name.raw()) > len(word) && string(r.name.raw()[:len(word)]) == word &&
		r.argument("count").present() && r.argument("avg ms").present()
}

// instant takes a point in time. Those of a whole process are on the process.
func (c *reader) instant(r *record, at trace.Time) {
	var row *row
	switch {
	case c.dialect == kineto && r.pid.kind == text && !isNumber(r.pid.raw()):
		row = c.ownRow(c.owner()) // the profiler's marks, on a pid like "Traces"
	case r.scope == 'p' || r.scope == 'g' || !r.tid.present():
		row = c.ownRow(c.process(c.place(r).pid))
	default:
		row = c.rowOf(r)
	}
	row.stream.Instant(at, c.regionOf(r))
	c.attributes(row.stream, r)
	c.bindID(r, at)
	if c.dialect == kineto && string(r.name.raw()) == memoryRecord && c.self != nil {
		c.memory(r, at)
	}
}

func isNumber(s []byte) bool {
	_, ok := smallInteger(s)
	return ok
}

// counter takes one sample of each series that a counter record has.
func (c *reader) counter(r *record, at trace.Time) {
	p := c.process(c.place(r).pid)
	row := c.ownRow(p)
	for i := range r.args {
		v, ok := r.args[i].value.float()
		if !ok {
			c.tally.Add(badCounters, r.offset)
			continue
		}
		row.stream.Sample(c.series(p, r, r.args[i].key), at, v)
	}
	c.oddParts(r)
}

// series finds the counter of a key: "name: key", or only the name where the key
// says nothing; ids distinguish counters of one name.
func (c *reader) series(p *process, r *record, key value) trace.CounterID {
	k := append(c.scratch[2][:0], p.pid...)
	for _, part := range []value{r.name, r.id, key} {
		k = append(k, 0)
		k = append(k, part.raw()...)
	}
	c.scratch[2] = k
	id, ok := c.counters[string(k)]
	if !ok {
		name := string(r.name.plain(nil))
		if r.id.present() {
			name += " " + string(r.id.plain(nil))
		}
		if part := string(key.plain(nil)); part != "value" && part != name && part != "" {
			name += ": " + part
		}
		id = c.w.Counter(trace.Counter{Location: p.location, Name: name})
		c.counters[string(k)] = id
	}
	return id
}
