package mpe

import (
	"context"
	"errors"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/message"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A role says whether an event number begins a state, ends one, or is a solo event.
type role uint8

const (
	begins role = iota + 1
	ends
	solo
)

// A meaning is the state or event of an event number.
type meaning struct {
	role   role
	region trace.RegionID
	fields []field
}

// A member is a rank of a communicator.
type member struct{ comm, rank int32 }

// A converter turns a CLOG or CLOG-2 into a trace.
type converter struct {
	run   importer.Run
	file  string
	w     trace.Writer
	log   *log
	means map[int32]*meaning
	world map[member]int32 // ranks of MPI_COMM_WORLD
	rows  rows

	attributes     importer.Attributes
	sent, received []message.End
	tally          importer.Tally[reason]
}

// A reason is why something of a log is not kept as it stands.
type reason uint8

const (
	becauseUndefined reason = iota
	becauseTime
	becauseRank
	becauseOther
	becauseEndValues
	guessedStates
	reasonCount
)

var reasons = [reasonCount]importer.Reason{
	becauseUndefined: importer.Skipped(trace.MissingEvents, "events that the log does not define"),
	becauseTime:      importer.Skipped(trace.MissingEvents, "records whose time is no time"),
	becauseRank:      importer.Skipped(trace.MissingEvents, "records of a rank that no communicator names"),
	becauseOther: importer.Skipped(trace.MissingDetails,
		"records of collectives, places in the source and time shifts"),
	becauseEndValues: importer.Skipped(trace.MissingDetails, "values given at the end of a state"),
	guessedStates:    importer.Guessed("events of states that the log does not define: paired as MPE numbers them"),
}

func readCLOG(ctx context.Context, run importer.Run, file string, w trace.Writer) error {
	c := &converter{run: run, file: file, w: w, means: map[int32]*meaning{}, world: map[member]int32{},
		attributes: importer.NewAttributes(w)}
	if err := c.pass(ctx, c.define, nil); err != nil {
		return err
	}
	c.rows = rows{Rows: importer.NewRows(w), w: w, threads: c.log.threads > 1, byKey: map[rowKey]*row{}}
	var skipped int64
	if err := c.pass(ctx, c.event, &skipped); err != nil {
		return err
	}
	label := run.Label(file)
	c.tally.Report(w, label, "byte", reasons[:])
	importer.Tell(w, trace.MissingRest, "blocks that break off at a record of no known type", skipped, label)
	if !c.log.finalized {
		w.Report(trace.Guessed, "logs that were not finished: times and communicators are as each process saw them", 1,
			label)
	}
	unreceived, unsent := message.Join(w, c.sent, c.received)
	message.Report(w, unreceived, unsent, label)
	return c.rows.Close()
}

// pass reads the log once.
func (c *converter) pass(ctx context.Context, each func(*record), skipped *int64) error {
	in, err := c.run.Open(c.file)
	if err != nil {
		return err
	}
	defer in.Close()
	c.log, err = openLog(in, c.run.Source.Head(c.file), c.run.Label(c.file))
	if err != nil {
		return err
	}
	n, err := c.log.read(ctx, in, each)
	if skipped != nil {
		*skipped = n
		if errors.Is(err, errNoEnd) {
			c.w.Report(trace.MissingRest, "logs that break off before their end", 1, c.run.Label(c.file))
		}
	}
	if errors.Is(err, errNoEnd) {
		return nil
	}
	return err
}

// define takes definitions that later records refer to, wherever they are.
func (c *converter) define(r *record) {
	switch r.kind {
	case stateDef:
		m := meaning{begins,
			c.w.Region(regionOf(nameOr(r.name, "state", r.event), string(r.colour), r.event < c.log.userStart)),
			fieldsOf(string(r.format))}
		c.means[r.event] = &m
		c.means[r.end] = &meaning{ends, m.region, nil}
	case eventDef:
		c.means[r.event] = &meaning{solo,
			c.w.Region(regionOf(nameOr(r.name, "event", r.event), string(r.colour), false)), fieldsOf(string(r.format))}
	case constDef:
		c.w.Property(nameOr(r.name, "constant", r.event), strconv.Itoa(int(r.value)))
	case communicator:
		if !c.log.old && r.newRank >= 0 && r.world >= 0 {
			c.world[member{r.newComm, r.newRank}] = r.world
		}
	}
}

func nameOr(name []byte, what string, number int32) string {
	if len(name) == 0 {
		return what + " " + strconv.Itoa(int(number))
	}
	return string(name)
}

// mostRank bounds ranks: a larger one is damage.
const mostRank = 1 << 24

// rankOf is the rank in MPI_COMM_WORLD. Logs of one communicator may not define it.
func (c *converter) rankOf(comm, rank int32) (int32, bool) {
	if c.log.old || len(c.world) == 0 {
		return rank, rank >= 0 && rank < mostRank
	}
	world, ok := c.world[member{comm, rank}]
	return world, ok && world < mostRank
}

// event takes the records of events.
func (c *converter) event(r *record) {
	switch r.kind {
	case stateDef, eventDef, constDef, communicator:
		return
	case collective, sourcePlace, timeShift:
		c.tally.Add(becauseOther, r.offset)
		return
	}
	t, ok := timeOf(r.time)
	if !ok {
		c.tally.Add(becauseTime, r.offset)
		return
	}
	rank, ok := c.rankOf(r.comm, r.rank)
	if !ok {
		c.tally.Add(becauseRank, r.offset)
		return
	}
	if r.kind == messageEvent {
		c.message(r, rank, t)
		return
	}
	m := c.means[r.event]
	if m == nil {
		if m = c.undefined(r); m == nil {
			return
		}
	}
	at := c.rows.at(rank, r.thread)
	switch m.role {
	case begins:
		at.Stream.Enter(t, m.region)
	case ends:
		at.Stream.Leave(t, m.region)
		if len(r.cargo) > 0 && !c.log.old {
			c.tally.Add(becauseEndValues, r.offset)
		}
		return
	case solo:
		at.Stream.Instant(t, m.region)
	}
	if !c.log.old {
		values(m.fields, r.cargo, func(f field, v trace.Value) { at.Stream.Attribute(c.attributes.ID(f.name), v) })
	}
}

// undefined finds a state by how MPE numbers events: a program that crashed has not written its definitions. Reserved
// numbers come in pairs.
func (c *converter) undefined(r *record) *meaning {
	for _, s := range []struct{ start, states int32 }{{c.log.knownStart, c.log.known}, {c.log.userStart, c.log.user}} {
		i := int64(r.event) - int64(s.start)
		if i < 0 || i >= 2*int64(s.states) {
			continue
		}
		first := r.event - int32(i%2)
		region := c.w.Region(regionOf("undefined state "+strconv.Itoa(int(first)), "", s.start == c.log.knownStart))
		c.means[first], c.means[first+1] = &meaning{role: begins, region: region}, &meaning{role: ends, region: region}
		c.tally.Add(guessedStates, r.offset)
		return c.means[r.event]
	}
	c.tally.Add(becauseUndefined, r.offset)
	return nil
}

func (c *converter) message(r *record, rank int32, t trace.Time) {
	peer, ok := c.rankOf(r.peerComm, r.peer)
	if !ok {
		c.tally.Add(becauseRank, r.offset)
		return
	}
	at := c.rows.at(rank, r.thread)
	end := message.End{Communicator: min(r.comm, r.peerComm), Tag: int64(r.tag), Location: at.At, Time: t,
		Region: trace.NoRegion, Size: int64(r.size)}
	switch r.event {
	case sendEvent:
		end.From, end.To = rank, peer
		c.sent = append(c.sent, end)
	case receiveEvent:
		end.From, end.To = peer, rank
		c.received = append(c.received, end)
	default:
		c.tally.Add(becauseUndefined, r.offset)
	}
}

// rows are processes, with threads below where the log has them.
type rows struct {
	importer.Rows
	w       trace.Writer
	threads bool
	byKey   map[rowKey]*row
	last    *row
	lastKey rowKey
}

type rowKey struct{ rank, thread int32 }

// A row is a location with its stream.
type row = importer.Row

// at finds or makes the row of a thread.
func (s *rows) at(rank, thread int32) *row {
	if !s.threads {
		thread = 0
	}
	key := rowKey{rank, thread}
	if s.last != nil && key == s.lastKey {
		return s.last
	}
	r, ok := s.byKey[key]
	if !ok {
		number := strconv.Itoa(int(rank))
		l := trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Key: number, Name: "rank " + number,
			Rank: int(rank)}
		if s.threads {
			n := strconv.Itoa(int(thread))
			l = trace.Location{Parent: s.w.Location(l), Kind: trace.KindThread, Key: n, Name: "thread " + n,
				Rank: trace.NoRank, Order: int64(thread)}
		}
		// A state ends where its own end says, whatever else is open.
		r = s.Open(l, trace.StreamOptions{Unordered: true, ByName: true})
		s.byKey[key] = r
	}
	s.last, s.lastKey = r, key
	return r
}
