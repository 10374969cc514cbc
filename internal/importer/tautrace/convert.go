package tautrace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/importer/message"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	c := newConverter(run, w)
	traces, err := c.definitions()
	if err != nil {
		return err
	}
	trace.SortRegions(w)
	for i, file := range traces {
		if err := c.own(file, i); err != nil {
			return err
		}
	}
	c.alone, c.share = len(traces) == 1, match.ShareOf(w)
	first, end := c.ownFiles(traces)
	files := make([]*file, len(traces))
	err = parallel.Tasks(ctx, end-first, func(ctx context.Context, k int) error {
		i := first + k
		files[i] = c.newFile(i, traces[i])
		return files[i].read(ctx, traces[i])
	})
	if err != nil {
		return err
	}
	for _, f := range files[first:end] {
		f.report()
	}
	if c.share == nil {
		c.link()
		started(w, c.started)
	} else if err := c.tell(len(files)); err != nil {
		return err
	}
	if alone := int64(len(run.Companions)); alone > 0 {
		w.Report(trace.Redundant, "merged traces beside the traces that they were made of", alone,
			run.Label(run.Companions[0]))
	}
	return ctx.Err()
}

func newConverter(run importer.Run, w trace.Writer) *converter {
	return &converter{run: run, w: w, owners: map[place]int{}, locations: map[place]trace.LocationID{},
		processes: map[uint16]trace.LocationID{}}
}

// started says when the run began, in seconds since 1970; 0: it is not known.
func started(w trace.Writer, seconds int64) {
	if seconds > 0 {
		w.Property("start", time.Unix(seconds, 0).UTC().Format(time.RFC3339))
	}
}

// A place is where a record is from.
type place struct{ node, thread uint16 }

// A converter turns files into a trace. Messages are joined when all are read.
type converter struct {
	run    importer.Run
	w      trace.Writer
	events map[string]map[int64]event // by event file
	of     map[string]string          // the event file of each trace
	owners map[place]int              // the file of each thread, by its first record
	alone  bool                       // one file holds all threads
	share  match.Sharer               // nil: all files are read

	mu             sync.Mutex // of locations
	locations      map[place]trace.LocationID
	processes      map[uint16]trace.LocationID
	sent, received []message.End
	put, got       []launch.End
	started        int64
}

// definitions reads the event files, and returns the traces.
func (c *converter) definitions() (traces []string, err error) {
	c.events, c.of = map[string]map[int64]event{}, map[string]string{}
	var files []string
	for _, file := range c.run.Files {
		if isEvents(c.run.Source.Head(file)) {
			files = append(files, file)
		} else {
			traces = append(traces, file)
		}
	}
	for _, file := range traces {
		events := eventsOf(file, files)
		if events == "" {
			return nil,
				&importer.Error{File: c.run.Label(file),
					Cause: "its event file is missing, so the numbers in it have no names",
					Hint:  "put events.N.edf, or tau.edf for a merged trace, next to it", Kind: importer.ErrNotFound}
		}
		c.of[file] = events
		if c.events[events] != nil {
			continue
		}
		in, err := c.run.Open(events)
		if err != nil {
			return nil, err
		}
		list, bad, missing, err := readEvents(in, c.run.Label(events))
		in.Close()
		if err != nil {
			return nil, err
		}
		importer.Tell(c.w, trace.MissingNames, "lines of event files that are no event", bad, c.run.Label(events))
		importer.Tell(c.w, trace.MissingEvents,
			"events that the first line of their file promises and that are not in it", missing, c.run.Label(events))
		c.events[events] = list
	}
	if len(traces) == 0 {
		return nil,
			&importer.Error{File: c.run.Label(c.run.Files[0]), Cause: "there is no trace next to this event file",
				Hint: "give the directory that holds its .trc files", Kind: importer.ErrNotFound}
	}
	return traces, nil
}

// own finds out whose records a file begins with.
func (c *converter) own(file string, i int) error {
	head := c.run.Source.Head(file)
	l := layoutOf(head)
	if l == nil {
		return nil // readRecords says so
	}
	var r record
	l.take(head, &r)
	at := place{r.node, r.thread}
	if j, taken := c.owners[at]; taken {
		return importer.Malformed(c.run.Label(file), "byte 0", "node %d thread %d is also in %s", r.node, r.thread,
			c.run.Label(c.run.Files[j]))
	}
	c.owners[at] = i
	return nil
}

// location finds or makes the location of a place.
func (c *converter) location(at place) trace.LocationID {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.locations[at]
	if ok {
		return id
	}
	p := importer.Once(c.processes, at.node, func() trace.LocationID {
		number := strconv.Itoa(int(at.node))
		return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: number,
			Name: "node " + number, Rank: int(at.node)})
	})
	number := strconv.Itoa(int(at.thread))
	id = c.w.Location(trace.Location{Parent: p, Kind: trace.KindThread, Key: number, Name: "thread " + number,
		Rank: trace.NoRank, Order: int64(at.thread)})
	c.locations[at] = id
	return id
}

// A file is one trace while it is read.
type file struct {
	*converter
	number  int
	label   string
	events  map[int64]*known
	threads map[place]*thread
	last    *thread // whose record came before
	lastAt  place

	sent, received   []message.End
	put, got         []launch.End
	unnamed, foreign int64
	odd, late, zeros int64
	started          int64
	cut              bool
}

// A known is an event that was met.
type known struct {
	event
	id     int64
	region trace.RegionID
}

// A thread is the stream of one location.
type thread struct {
	at       trace.LocationID
	stream   trace.Stream
	counters map[int64]trace.CounterID
	held     [2]value // a zero, and the value after it
	holds    int
	oneSided oneSidedEnd
	clock    [2]clockPair // the first and the last
	clocks   int
}

// A value is a record of a user event.
type value struct {
	event *known
	time  trace.Time
	value int64
}

type oneSidedEnd struct {
	means  meaning
	high   int64
	placed bool
}

// A clockPair is one moment on the trace's clock and in seconds.
type clockPair struct {
	time    uint64
	seconds int64
}

func (c *converter) newFile(number int, name string) *file {
	f := &file{converter: c, number: number, label: c.run.Label(name), events: map[int64]*known{},
		threads: map[place]*thread{}}
	for id, e := range c.events[c.of[name]] {
		f.events[id] = &known{event: e, id: id, region: trace.NoRegion}
	}
	return f
}

func (f *file) read(ctx context.Context, name string) (err error) {
	in, err := f.run.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if f.cut, err = readRecords(ctx, in, f.label, f.record); err != nil {
		return err
	}
	for _, t := range f.threads {
		f.release(t)
		if err := t.stream.Close(); err != nil {
			return err
		}
	}
	return nil
}

// report counts the records left out, and passes on those that are joined later.
func (f *file) report() {
	if f.cut {
		f.w.Report(trace.MissingRest, "traces that break off within a record", 1, f.label)
	}
	for _, n := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
	}{
		{trace.MissingEvents, "records of events that no event file names", f.unnamed},
		{trace.Redundant, "zeros that TAU writes around each value of a user event", f.zeros},
		{trace.MissingEvents, "records in the file of another thread", f.foreign},
		{trace.MissingIntervals, "records of calls that are neither entry nor exit", f.odd},
		{trace.MissingEvents, "records whose time is beyond what can be shown", f.late},
	} {
		importer.Tell(f.w, n.kind, n.what, n.count, f.label)
	}
	for _, at := range slices.SortedFunc(maps.Keys(f.threads),
		func(a, b place) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.thread, b.thread)) }) {
		f.checkClock(f.threads[at])
	}
	c := f.converter
	c.sent, c.received = append(c.sent, f.sent...), append(c.received, f.received...)
	c.put, c.got = append(c.put, f.put...), append(c.got, f.got...)
	if f.started > 0 && (c.started == 0 || f.started < c.started) {
		c.started = f.started
	}
}

// mostTime is the last time stamp that fits into nanoseconds.
const mostTime = math.MaxInt64 / 1000 / 2

// record takes one record.
func (f *file) record(r *record) {
	e := f.events[r.event]
	switch {
	case e == nil:
		f.unnamed++
		return
	case e.means == meansNothing:
		return
	case r.time > mostTime:
		f.late++
		return
	}
	at, t := place{r.node, r.thread}, trace.Time(r.time)*1000
	if e.means == meansSend || e.means == meansReceive {
		f.message(r, e.means, t)
		return
	}
	th := f.thread(at)
	if th == nil {
		f.foreign++
		return
	}
	if th.holds > 0 && (e.means != meansValue || th.held[0].event != e) {
		f.release(th)
	}
	switch e.means {
	case meansCall:
		switch r.parameter {
		case 1:
			th.stream.Enter(t, f.region(e))
		case -1:
			th.stream.Leave(t, f.region(e))
		default:
			f.odd++
		}
	case meansValue:
		f.value(th, value{e, t, r.parameter})
	case meansClock:
		f.clock(th, r)
	default:
		f.oneSided(th, e.means, t, r.parameter)
	}
}

// thread finds the stream of a place; nil if it is that of another file.
func (f *file) thread(at place) *thread {
	if f.last != nil && f.lastAt == at {
		return f.last
	}
	t, ok := f.threads[at]
	if !ok {
		if owner, owned := f.owners[at]; !f.alone && (!owned || owner != f.number) {
			return nil
		}
		t = &thread{at: f.location(at), counters: map[int64]trace.CounterID{}}
		t.stream = f.w.Stream(t.at, trace.StreamOptions{Unordered: true})
		f.threads[at] = t
	}
	f.last, f.lastAt = t, at
	return t
}

func (f *file) region(e *known) trace.RegionID {
	if e.region == trace.NoRegion {
		e.region = f.w.Region(regionOf(e.name, e.group))
	}
	return e.region
}

// value holds values of a user event back until it is sure whether they are between two zeros.
func (f *file) value(t *thread, v value) {
	switch {
	case t.holds == 0 && v.value == 0 || t.holds == 1:
		t.held[t.holds] = v
		t.holds++
	case t.holds == 2 && v.value == 0:
		t.holds = 0
		f.zeros += 2
		f.sample(t, t.held[1])
	default:
		f.release(t)
		f.sample(t, v)
	}
}

// release writes the values held back.
func (f *file) release(t *thread) {
	for _, v := range t.held[:t.holds] {
		f.sample(t, v)
	}
	t.holds = 0
}

func (f *file) sample(t *thread, v value) {
	c := importer.Once(t.counters, v.event.id, func() trace.CounterID {
		return f.w.Counter(trace.Counter{Location: t.at, Name: v.event.name, Monotone: v.event.monotone})
	})
	t.stream.Sample(c, v.time, float64(v.value))
}

// message unpacks a send or a receive: partner, tag, size and communicator are in pieces in the parameter.
func (f *file) message(r *record, means meaning, t trace.Time) {
	p := uint64(r.parameter)
	partner := int32(p>>24&0xff | p>>56<<8)
	end := message.End{
		Tag: int64(p>>16&0xff | p>>48&0xff<<8), Communicator: int32(p >> 42 & 0x3f),
		Size:     int64(p&0xffff | p>>32&0x3ff<<16),
		Location: f.location(place{r.node, r.thread}), Time: t, Region: trace.NoRegion,
	}
	if means == meansSend {
		end.From, end.To = int32(r.node), partner
		f.sent = append(f.sent, end)
	} else {
		end.From, end.To = partner, int32(r.node)
		f.received = append(f.received, end)
	}
}

// oneSided takes one of the three records of an end: its size, and two halves of its id. Sizes are not kept: links of
// launches have none.
func (f *file) oneSided(t *thread, means meaning, time trace.Time, parameter int64) {
	switch means {
	case meansPutSize, meansGetSize:
		t.oneSided = oneSidedEnd{means: means}
	case meansIDHigh:
		t.oneSided.high, t.oneSided.placed = parameter, true
	case meansIDLow:
		end := launch.End{Group: t.oneSided.high, ID: parameter, Time: time, Location: t.at, Region: trace.NoRegion}
		switch {
		case !t.oneSided.placed:
		case t.oneSided.means == meansPutSize:
			f.put = append(f.put, end)
		case t.oneSided.means == meansGetSize:
			f.got = append(f.got, end)
		}
		t.oneSided = oneSidedEnd{}
	}
}

func (f *file) clock(t *thread, r *record) {
	if r.parameter <= 0 || r.parameter > math.MaxInt32*4 {
		return
	}
	pair := clockPair{r.time, r.parameter}
	if t.clocks == 0 {
		t.clock[0] = pair
		if f.started == 0 || pair.seconds < f.started {
			f.started = pair.seconds
		}
	}
	t.clock[1] = pair
	t.clocks++
}

// checkClock compares the trace's clock with the seconds that TAU notes at the begin and the end: if TAU traces
// another counter than time, its stamps are no microseconds.
func (f *file) checkClock(t *thread) {
	seconds := t.clock[1].seconds - t.clock[0].seconds
	if t.clocks < 2 || seconds < 10 || t.clock[1].time <= t.clock[0].time {
		return
	}
	ticks := float64(t.clock[1].time - t.clock[0].time)
	if rate := ticks / float64(seconds); rate < 0.5e6 || rate > 2e6 {
		f.w.Report(trace.Guessed,
			fmt.Sprintf("threads whose clock runs at about %.2g a second beside the wall clock: taken for "+
				"microseconds, as the format says", rate), 1, f.label)
	}
}

// link joins messages.
func (c *converter) link() {
	label := c.run.Label(c.run.Files[0])
	unreceived, unsent := message.Join(c.w, c.sent, c.received)
	message.Report(c.w, unreceived, unsent, label)
	if alone := launch.Join(c.w, trace.LinkMessage, c.put, c.got); alone > 0 {
		c.w.Report(trace.MissingLinks, "one-sided messages that end and whose begin is not recorded", alone, label)
	}
}
