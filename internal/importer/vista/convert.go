package vista

import (
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Converter turns records into a trace. Demos use it with records of their own.
type Converter struct {
	w       trace.Writer
	program Program
	regions map[int64]trace.RegionID
	pes     int
	pe      map[int64]*element
	count   int
	roots   int64
	last    trace.Time
	ms, now trace.Time // of the record before: as it says, and as it was taken
	back    int64      // records before one that they follow on their PE
	calls   []tally    // by region
	waiting []call     // whose caller has not come so far
}

// A tally counts the procedures of a clause and the calls they made.
type tally struct{ procedures, made int64 }

// An element is one PE that has records.
type element struct {
	location trace.LocationID
	stream   trace.Stream
	now      trace.Time
	known    []procedure         // by index - 1; of number 0: no record so far
	far      map[int64]procedure // those past a gap that is too long to be kept
	highest  int64               // index so far
	entered  uint32              // records
	open     trace.RegionID
}

// A procedure is when it began, the number of the record of its PE that says so, and its clause.
type procedure struct {
	begin  trace.Time
	number uint32
	region trace.RegionID
}

// longestGap bounds the room that is kept for records that were lost.
const longestGap = 1 << 16

func (e *element) at(index int64) (procedure, bool) {
	if index <= int64(len(e.known)) {
		p := e.known[index-1]
		return p, p.number > 0
	}
	p, ok := e.far[index]
	return p, ok
}

func (e *element) set(index int64, p procedure) {
	e.highest = max(e.highest, index)
	gap := index - int64(len(e.known)) - 1
	switch {
	case gap < 0:
		e.known[index-1] = p
	case gap <= longestGap:
		for ; gap > 0; gap-- {
			e.known = append(e.known, procedure{})
		}
		e.known = append(e.known, p)
	default:
		if e.far == nil {
			e.far = map[int64]procedure{}
		}
		e.far[index] = p
	}
}

// A call is a procedure whose caller is looked for.
type call struct {
	to          trace.End
	ppe, pindex int64
}

// NewConverter makes one that writes to w.
func NewConverter(w trace.Writer) *Converter {
	return &Converter{w: w, now: -1, regions: map[int64]trace.RegionID{}, pe: map[int64]*element{}}
}

// Read takes the source program.
func (c *Converter) Read(p Program) { c.program = p }

// Begin takes the first record: the number of processing elements.
func (c *Converter) Begin(pes int) {
	c.pes = pes
	c.w.Property("PEmax", fmt.Sprint(pes))
}

const millisecond = 1_000_000

// Add takes one record. The error gives the reason, to follow "records that".
func (c *Converter) Add(r Record) error {
	if r.PE >= int64(c.pes) || r.PPE >= int64(c.pes) {
		return errors.New("name a processing element past PEmax")
	}
	if r.Time > 1<<43 {
		return errors.New("have a time of more than a century")
	}
	if r.Index < 1 {
		return errors.New("have no index")
	}
	if r.Clause < 1 {
		return errors.New("have no clause")
	}
	if r.PIndex == 0 && r.PPE > 0 {
		return errors.New("name the processing element of a caller and not its index")
	}
	e := c.element(r.PE)
	if _, ok := e.at(r.Index); ok {
		return errors.New("repeat one of their processing element")
	}
	region, t := c.region(r.Clause), c.begin(e, trace.Time(r.Time*millisecond))
	c.calls[region].procedures++
	if e.open != trace.NoRegion {
		e.stream.Leave(t, e.open)
	}
	e.stream.Enter(t, region)
	e.open = region
	e.now = t
	e.entered++
	e.set(r.Index, procedure{t, e.entered, region})
	c.last = max(c.last, t)
	c.count++
	if r.PIndex == 0 {
		c.roots++
		return nil
	}
	called := call{trace.End{Location: e.location, Time: e.now, Region: trace.NoRegion, Number: e.entered}, r.PPE,
		r.PIndex}
	if !c.link(called) {
		c.waiting = append(c.waiting, called)
	}
	return nil
}

// begin is when a procedure begins on a PE: at its millisecond, and of those that share one a nanosecond after the
// record before, so that the order of records stays. On one PE that order is trusted more than the clock.
func (c *Converter) begin(e *element, ms trace.Time) trace.Time {
	t := ms
	if ms >= c.ms {
		t = max(t, c.now+1)
		c.ms, c.now = ms, t
	}
	if e.entered > 0 && t <= e.now {
		if ms+millisecond <= e.now {
			c.back++
		}
		t = e.now + 1
	}
	return t
}

// link joins a procedure with its caller, where that is known.
func (c *Converter) link(k call) bool {
	e := c.pe[k.ppe]
	if e == nil {
		return false
	}
	p, ok := e.at(k.pindex)
	if ok {
		c.calls[p.region].made++
		c.w.Link(trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: e.location, Time: p.begin, Region: trace.NoRegion, Number: p.number}, To: k.to})
	}
	return ok
}

func (c *Converter) element(pe int64) *element {
	e := c.pe[pe]
	if e == nil {
		e = &element{open: trace.NoRegion}
		e.location = c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread,
			Name: fmt.Sprintf("PE %d", pe), Rank: int(pe), Order: pe})
		e.stream = c.w.Stream(e.location, trace.StreamOptions{})
		c.pe[pe] = e
	}
	return e
}

func (c *Converter) region(clause int64) trace.RegionID {
	return importer.Once(c.regions, clause, func() trace.RegionID {
		id := c.w.Region(c.program.region(clause))
		for int(id) >= len(c.calls) {
			c.calls = append(c.calls, tally{})
		}
		return id
	})
}

// Close ends all open procedures at the last time of all, and looks for callers that came late.
func (c *Converter) Close() error {
	var failed error
	lost, orphans := int64(0), int64(0)
	for _, e := range c.pe {
		lost += e.highest - int64(e.entered)
		if e.open != trace.NoRegion {
			e.stream.Leave(max(c.last, e.now)+millisecond, e.open)
		}
		if err := e.stream.Close(); err != nil {
			failed = err
		}
	}
	for _, k := range c.waiting {
		if !c.link(k) {
			orphans++
		}
	}
	report := func(kind trace.ReportKind, what string, n int64) {
		importer.Tell(c.w, kind, what, n, "")
	}
	report(trace.Repaired, "records that run backwards in time, moved to the time of the one before", c.back)
	report(trace.MissingIntervals, "calls that the source program names and no record tells", c.untold())
	report(trace.MissingIntervals,
		"procedures whose record is lost, as the indices of later ones tell", lost)
	report(trace.Guessed, "procedures whose caller's record is lost: taken for roots", orphans)
	report(trace.Guessed, "roots beside the first", c.roots-1)
	report(trace.Guessed, "ends of procedures: each lasts until the next record on its processing element",
		int64(c.count))
	return failed
}

// untold counts the body goals of all procedures that no record names as called by one.
func (c *Converter) untold() (n int64) {
	for clause, region := range c.regions {
		if known := c.program[clause]; known.Goals != nil {
			n += max(0, int64(len(known.Goals))*c.calls[region].procedures-c.calls[region].made)
		}
	}
	return n
}
