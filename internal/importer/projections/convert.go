package projections

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	trace.SortRegions(w)
	sts, err := run.Open(run.Files[0])
	if err != nil {
		return err
	}
	p, err := readSts(sts, run.Label(run.Files[0]), w)
	sts.Close()
	if err != nil {
		return err
	}
	c := &converter{run: run, w: w, program: p, index: w.Attribute("index"), event: w.Attribute("event"),
		sent: map[int64][]message{}, received: map[int][]message{}}
	for _, file := range run.Files[1:] {
		// before logs are read at once: links that are alike otherwise are in the order of their places
		c.place(file)
	}
	logs := run.Files[1:]
	told := make([][]trace.ReportEntry, len(logs))
	err = parallel.Tasks(ctx, len(logs), func(ctx context.Context, i int) (err error) {
		told[i], err = c.log(ctx, logs[i])
		return err
	})
	if err != nil {
		return err
	}
	for _, list := range told { // in the order of the files, so that the first of them is the example
		for _, e := range list {
			w.Report(e.Kind, e.What, e.Count, e.Example)
		}
	}
	c.link()
	return ctx.Err()
}

// A converter turns logs into a trace. Messages are joined when all logs are read: 32 bytes each.
type converter struct {
	run          importer.Run
	w            trace.Writer
	program      *program
	index, event trace.AttributeID

	mu       sync.Mutex
	sent     map[int64][]message // by the PE that created them, in order of event
	received map[int][]message   // by the PE that they reached
}

// A message is one end: a creation, or the beginning of the execution it caused.
type message struct {
	pe, event int64 // of the creation
	at        trace.LocationID
	time      trace.Time
	size      int64
	region    trace.RegionID
}

// A log is one PE while its log is read.
type log struct {
	*converter
	label   string
	at      trace.LocationID
	stream  trace.Stream
	regions map[regionKey]trace.RegionID
	pairs   map[[2]int64]trace.Time // user events that wait for their end
	stats   map[int64]trace.CounterID
	sent    []message
	begun   []message
	told    []trace.ReportEntry
}

type regionKey struct {
	kind, id int
	state    string // of the runtime, by its name
}

// place is the location of a log.
func (c *converter) place(file string) trace.LocationID {
	pe := peOf(file)
	number := strconv.Itoa(pe)
	return c.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: number,
		Name: "PE " + number, Rank: pe})
}

// log reads one, and returns what it has to report.
func (c *converter) log(ctx context.Context, file string) ([]trace.ReportEntry, error) {
	in, err := c.run.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	pe := peOf(file)
	l := &log{converter: c, label: c.run.Label(file), regions: map[regionKey]trace.RegionID{},
		pairs: map[[2]int64]trace.Time{}, stats: map[int64]trace.CounterID{}}
	l.at = c.place(file)
	l.stream = c.w.Stream(l.at, trace.StreamOptions{Unordered: true})
	cut, err := readLog(ctx, in, l.record)
	if err != nil {
		return nil, err
	}
	if cut {
		l.tell(trace.MissingRest, "logs that break off within a record", nowhere)
	}
	for range l.pairs {
		l.tell(trace.MissingIntervals, "user events that have a begin and no end", nowhere)
	}
	c.mu.Lock()
	c.sent[int64(pe)] = append(c.sent[int64(pe)], l.sent...)
	c.received[pe] = append(c.received[pe], l.begun...)
	c.mu.Unlock()
	return l.told, l.stream.Close()
}

const nowhere = -1 // of a log as a whole

// tell counts what is left out; the first line is the example.
func (l *log) tell(kind trace.ReportKind, what string, line int64) {
	for i := range l.told {
		if e := &l.told[i]; e.Kind == kind && e.What == what {
			e.Count++
			return
		}
	}
	e := trace.ReportEntry{Kind: kind, What: what, Count: 1, Example: l.label}
	if line != nowhere {
		e.Example = fmt.Sprintf("%s: line %d", l.label, line)
	}
	l.told = append(l.told, e)
}

// least is how many numbers a record of each type must have.
var least = map[int]int{
	creation: 6, creationToAll: 6, creationToMany: 6, beginProcessing: 6, endProcessing: 5, beginComputation: 1,
	endComputation: 1, beginTrace: 1, endTrace: 1,
	userEvent: 4, beginIdle: 1, endIdle: 1, beginPack: 1, endPack: 1, beginUnpack: 1, endUnpack: 1, userSupplied: 2,
	memoryCurrent: 2, userNote: 1,
	bracketedNote: 3, userStat: 5, beginUserPair: 3, endUserPair: 3, userPair: 4,
}

// record takes one line of the log.
func (l *log) record(r *record, line int64) {
	switch need, known := least[r.kind]; {
	case known && r.n < need:
		l.tell(trace.MissingEvents, "records with fewer numbers than their type has", line)
		return
	case known:
	case r.kind == enqueue || r.kind == dequeue || r.kind == messageReceived || r.kind == beginInterrupt ||
		r.kind == endInterrupt || r.kind == endPhase:
		l.tell(trace.MissingEvents, "records of queueing, receiving and interrupts", line)
		return
	case r.kind < 0:
		l.tell(trace.MissingEvents, "lines that are no record", line)
		return
	default:
		l.tell(trace.MissingEvents, "records of a type that is not known", line)
		return
	}
	switch r.kind {
	case beginComputation, beginTrace:
		l.stream.Enter(r.time(0), l.state("Computation", trace.RoleOverhead))
	case endComputation, endTrace:
		l.stream.Leave(r.time(0), l.state("Computation", trace.RoleOverhead))
	case beginIdle:
		l.stream.Enter(r.time(0), l.state("Idle", trace.RoleIdle))
	case endIdle:
		l.stream.Leave(r.time(0), l.state("Idle", trace.RoleIdle))
	case beginPack:
		l.stream.Enter(r.time(0), l.state("Pack", trace.RoleOverhead))
	case endPack:
		l.stream.Leave(r.time(0), l.state("Pack", trace.RoleOverhead))
	case beginUnpack:
		l.stream.Enter(r.time(0), l.state("Unpack", trace.RoleOverhead))
	case endUnpack:
		l.stream.Leave(r.time(0), l.state("Unpack", trace.RoleOverhead))
	case beginProcessing:
		l.begin(r)
	case endProcessing:
		l.stream.Leave(r.time(2), l.entry(int(r.fields[1])))
	case creation, creationToAll, creationToMany:
		l.sent = append(l.sent,
			message{pe: r.fields[4], event: r.fields[3], at: l.at, time: r.time(2), size: r.fields[5],
				region: trace.NoRegion})
	default:
		l.user(r)
	}
}

// begin enters an entry method. Its message is the one that the PE created with this event number.
func (l *log) begin(r *record) {
	region := l.entry(int(r.fields[1]))
	l.stream.Enter(r.time(2), region)
	dims := l.program.chares[l.program.entries[int(r.fields[1])].chare].dims
	if first := 7; dims >= 1 && r.n >= first+dims && l.program.version >= 8 {
		var text []byte
		for _, v := range r.fields[first : first+dims] {
			text = strconv.AppendInt(append(text, ' '), v, 10)
		}
		l.stream.Attribute(l.index, trace.Text("["+string(bytes.ReplaceAll(text[1:], []byte(" "), []byte(", ")))+"]"))
	}
	l.begun = append(l.begun, message{pe: r.fields[4], event: r.fields[3], at: l.at, time: r.time(2), region: region})
}

// user takes the events that programs recorded themselves.
func (l *log) user(r *record) {
	switch r.kind {
	case userEvent:
		l.stream.Instant(r.time(1), l.userRegion(int(r.fields[0])))
	case userPair:
		key := [2]int64{r.fields[0], r.fields[2]}
		if begin, ok := l.pairs[key]; ok {
			l.stream.Interval(begin, r.time(1), l.userRegion(int(r.fields[0])))
			delete(l.pairs, key)
		} else {
			l.pairs[key] = r.time(1)
		}
	case beginUserPair:
		l.stream.Enter(r.time(1), l.userRegion(int(r.fields[0])))
	case endUserPair:
		l.stream.Leave(r.time(1), l.userRegion(int(r.fields[0])))
	case userSupplied:
		l.sample(-1, "user supplied value", "", r.time(1), r.number[0])
	case memoryCurrent:
		l.sample(-2, "memory in use", "bytes", r.time(1), r.number[0])
	case userStat:
		name := l.program.stats[int(r.fields[4])]
		if name == "" {
			name = "statistic " + strconv.FormatInt(r.fields[4], 10)
		}
		l.sample(r.fields[4], name, "", r.time(0), r.number[2])
	case userNote:
		l.stream.Instant(r.time(0), l.note(r))
	case bracketedNote:
		l.stream.Interval(r.time(0), r.time(1), l.note(r))
	}
}

func (l *log) sample(key int64, name, unit string, t trace.Time, v float64) {
	id := importer.Once(l.stats, key,
		func() trace.CounterID { return l.w.Counter(trace.Counter{Location: l.at, Name: name, Unit: unit}) })
	l.stream.Sample(id, t, v)
}

func (l *log) note(r *record) trace.RegionID {
	text := cmp.Or(string(bytes.TrimSpace(r.text)), "note")
	return l.w.Region(trace.Region{Name: text, Category: "note", Role: trace.RoleAnnotation})
}

func (l *log) state(name string, role trace.Role) trace.RegionID {
	key := regionKey{state: name}
	return importer.Once(l.regions, key,
		func() trace.RegionID { return l.w.Region(trace.Region{Name: name, Category: "runtime", Role: role}) })
}

func (l *log) entry(id int) trace.RegionID {
	key := regionKey{kind: 1, id: id}
	return importer.Once(l.regions, key, func() trace.RegionID {
		return l.w.Region(trace.Region{Name: l.program.entryName(id), Category: "entry method",
			Role: trace.RoleCompute})
	})
}

func (l *log) userRegion(id int) trace.RegionID {
	key := regionKey{kind: 2, id: id}
	return importer.Once(l.regions, key, func() trace.RegionID {
		name := l.program.events[id]
		if name == "" {
			name = "user event " + strconv.Itoa(id)
		}
		return l.w.Region(trace.Region{Name: name, Category: "user event", Role: trace.RoleAnnotation})
	})
}

func byEvent(a, b message) int { return cmp.Compare(a.event, b.event) }

// link joins creations with the executions they caused, O(n log n).
func (c *converter) link() {
	for _, list := range c.sent {
		slices.SortStableFunc(list, byEvent)
	}
	lost := int64(0)
	for _, pe := range slices.Sorted(maps.Keys(c.received)) {
		lost += c.linkTo(c.received[pe])
	}
	importer.Tell(c.w, trace.Guessed,
		"entry methods whose message was created outside the logs: kept without a link",
		lost, c.run.Label(c.run.Files[0]))
}

// linkTo joins the executions of one PE with their creations, and returns how many have none.
func (c *converter) linkTo(begun []message) (lost int64) {
	slices.SortStableFunc(begun, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.pe, b.pe), cmp.Compare(a.event, b.event))
	})
	for _, to := range begun {
		list := c.sent[to.pe]
		i, ok := slices.BinarySearchFunc(list, to, byEvent)
		if !ok || list[i].time > to.time && list[i].at == to.at {
			lost++
			continue
		}
		from := list[i]
		c.w.Link(trace.Link{
			Kind: trace.LinkMessage, From: trace.End{Location: from.at, Time: from.time, Region: trace.NoRegion},
			To: trace.End{Location: to.at, Time: to.time, Region: to.region}, Size: from.size, Tag: to.event,
			Communicator: trace.NoCommunicator,
		})
	}
	return lost
}
