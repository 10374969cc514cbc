package paraver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns lines into records.
type converter struct {
	w      trace.Writer
	header *header
	names  *names
	tally  tally
	line   int64

	processes     [][]*process // by application
	opened        []*thread
	mpi           map[int]bool // applications that use it
	communicators []trace.Communicator
	types         map[int64]*eventType
	lastType      int64
	last          *eventType
	states        map[int64]trace.RegionID
	latest        trace.Time
	records       int64
	comments      []string
	numbers       []int64
	err           error
}

func newConverter(w trace.Writer, h *header, n *names) *converter {
	c := &converter{w: w, header: h, names: n, mpi: map[int]bool{}, types: map[int64]*eventType{},
		states: map[int64]trace.RegionID{}}
	c.defineTree()
	return c
}

// Places of the fields of a record, after its kind.
const (
	atCPU = iota
	atApplication
	atTask
	atThread
	atTime
	stateEnd     // of a state
	stateValue   //
	pairs        = stateEnd
	physicalSend = stateEnd
	receiver     = physicalSend + 1 // its processor, application, task and thread
	logicalRecv  = receiver + 4
	physicalRecv = logicalRecv + 1
	size         = physicalRecv + 1
	tag          = size + 1
	messageSize  = tag + 1 // how many fields a communication has
)

// record takes one line of the body.
func (c *converter) record(line []byte) {
	switch kind := line[0]; {
	case kind == '#':
		if len(c.comments) < 16 {
			c.comments = append(c.comments, strings.ToValidUTF8(clip(string(line[1:])), "\uFFFD"))
		}
		return
	case kind == 'c' || kind == 'i' || kind == 'I':
		c.communicator(string(line))
		return
	case len(line) < 2 || line[1] != ':' || kind < '1' || kind > '4':
		c.tally.Add(unknownKind, c.line)
		return
	case kind == '4':
		c.tally.Add(globalCommunication, c.line)
		return
	}
	var ok bool
	if c.numbers, ok = parseNumbers(line[2:], c.numbers[:0]); !ok {
		c.tally.Add(badRecord, c.line)
		return
	}
	n := c.numbers
	if len(n) < pairs+2 || line[0] == '1' && len(n) != stateValue+1 || line[0] == '3' && len(n) != messageSize {
		c.tally.Add(badRecord, c.line)
		return
	}
	t := c.thread(n[atApplication], n[atTask], n[atThread])
	if t == nil {
		c.tally.Add(unknownThread, c.line)
		return
	}
	at, ok := c.time(n[atTime])
	if !ok {
		c.tally.Add(badTime, c.line)
		return
	}
	c.records++
	c.see(t, n[atCPU])
	switch line[0] {
	case '1':
		c.state(t, at, n)
	case '2':
		c.event(t, at, n)
	case '3':
		c.message(t, at, n)
	}
}

// parseNumbers reads numbers joined by colons.
func parseNumbers(b []byte, into []int64) ([]int64, bool) {
	for i := 0; ; {
		negative := i < len(b) && b[i] == '-'
		if negative {
			i++
		}
		from := i
		var x uint64
		for i < len(b) && b[i]-'0' <= 9 {
			x = x*10 + uint64(b[i]-'0')
			i++
		}
		if i == from || i-from > 20 || i-from > 18 && overflows(b[from:i]) {
			return into, false
		}
		v := int64(x)
		if negative {
			v = -v
		}
		into = append(into, v)
		if i == len(b) {
			return into, true
		}
		if b[i] != ':' {
			return into, false
		}
		i++
	}
}

// overflows reports whether digits are more than 64 bits hold. Values of events may
// be addresses, which need all of them.
func overflows(digits []byte) bool {
	_, err := strconv.ParseUint(string(digits), 10, 64)
	return err != nil
}

// time turns a time of the file into nanoseconds.
func (c *converter) time(n int64) (trace.Time, bool) {
	if n < 0 || n > farthest/int64(c.header.scale) {
		return 0, false
	}
	t := trace.Time(n) * c.header.scale
	c.latest = max(c.latest, t)
	return t, true
}

// state takes a state; an end of -1 is open.
func (c *converter) state(t *thread, begin trace.Time, n []int64) {
	end, ok := c.time(n[stateEnd])
	if !ok {
		if n[stateEnd] != -1 {
			c.tally.Add(badTime, c.line)
			return
		}
		c.tally.Add(openState, c.line)
		end = max(begin, c.header.length)
	}
	id, ok := c.states[n[stateValue]]
	if !ok {
		r := trace.Region{Name: c.names.state(n[stateValue]), Category: "state"}
		if colour := c.names.colours[n[stateValue]]; colour != "" {
			r.Attributes = []trace.Attribute{{Key: "colour", Value: trace.Text(colour)}}
		}
		id = c.w.Region(r)
		if len(c.states) < maxRegions {
			c.states[n[stateValue]] = id
		}
	}
	c.stream(t).Interval(begin, end, id)
}

// event takes pairs of type and value: first ends, then begins and instants, then attributes of these.
func (c *converter) event(t *thread, at trace.Time, n []int64) {
	s := c.stream(t)
	if (len(n)-pairs)%2 != 0 {
		c.tally.Add(oddPair, c.line)
		n = n[:len(n)-1]
	}
	begun, details := false, false
	for i := pairs; i < len(n); i += 2 {
		e, value := c.eventOf(n[i]), n[i+1]
		if e.category == "MPI" {
			c.mpi[int(n[atApplication]-1)] = true
		}
		switch {
		case e.meaning == detail:
			details = true
		case (e.meaning == region || e.meaning == stacked) && value == 0:
			c.leave(t, s, e, at)
		}
	}
	for i := pairs; i < len(n); i += 2 {
		e, value := c.eventOf(n[i]), n[i+1]
		switch e.meaning {
		case region, stacked:
			if value != 0 {
				c.enter(t, s, e, at, value)
				begun = true
			}
		case marked:
			if value != 0 || !isSample(e.id) {
				s.Instant(at, c.regionOf(e, value))
				begun = true
			}
		case counted:
			c.sample(t, s, e, at, value)
		}
	}
	if details {
		c.details(s, n, begun)
	}
}

// details adds attributes to the call or sample of the same record. Zeros only say
// that a call has ended.
func (c *converter) details(s trace.Stream, n []int64, begun bool) {
	lonely := false
	for i := pairs; i < len(n); i += 2 {
		e, value := c.eventOf(n[i]), n[i+1]
		if e.meaning != detail || value == 0 && !begun {
			continue
		}
		if !begun {
			lonely = true
			continue
		}
		if !e.defined {
			e.attribute, e.defined = c.w.Attribute(e.name), true
		}
		if name, ok := e.values[value]; ok {
			s.Attribute(e.attribute, trace.Text(name))
		} else {
			s.Attribute(e.attribute, trace.Integer(value))
		}
	}
	if lonely {
		c.tally.Add(lonelyDetail, c.line)
	}
}

func (c *converter) enter(t *thread, s trace.Stream, e *eventType, at trace.Time, value int64) {
	o := t.call(e)
	if n := len(o.stack); n > 0 && (e.meaning == region || n >= maxStack) {
		s.Leave(at, o.stack[n-1])
		o.stack = o.stack[:n-1]
	}
	id := c.regionOf(e, value)
	s.Enter(at, id)
	o.stack = append(o.stack, id)
}

func (c *converter) leave(t *thread, s trace.Stream, e *eventType, at trace.Time) {
	o := t.call(e)
	n := len(o.stack)
	if n == 0 {
		c.tally.Add(strayEnd, c.line)
		return
	}
	s.Leave(at, o.stack[n-1])
	o.stack = o.stack[:n-1]
}

func (c *converter) sample(t *thread, s trace.Stream, e *eventType, at trace.Time, value int64) {
	id, ok := t.counters[e.id]
	if !ok {
		if t.counters == nil {
			t.counters = map[int64]trace.CounterID{}
		}
		id = c.w.Counter(trace.Counter{Location: t.location, Name: e.name})
		t.counters[e.id] = id
	}
	s.Sample(id, at, float64(value))
}

// message takes a communication.
func (c *converter) message(t *thread, sent trace.Time, n []int64) {
	to := c.thread(n[receiver+1], n[receiver+2], n[receiver+3])
	if to == nil {
		c.tally.Add(unknownThread, c.line)
		return
	}
	arrived, ok := c.time(n[physicalRecv])
	_, ok2 := c.time(n[physicalSend])
	_, ok3 := c.time(n[logicalRecv])
	if !ok || !ok2 || !ok3 {
		c.tally.Add(badTime, c.line)
		return
	}
	if n[physicalSend] != n[atTime] || n[logicalRecv] != n[physicalRecv] {
		c.tally.Add(otherTimes, c.line)
	}
	if arrived < sent {
		c.tally.Add(backward, c.line)
	}
	c.see(to, n[receiver])
	c.mpi[int(n[atApplication]-1)], c.mpi[int(n[receiver+1]-1)] = true, true
	c.w.Link(trace.Link{
		Kind: trace.LinkMessage, Size: max(n[size], -1), Tag: n[tag], Communicator: trace.NoCommunicator,
		From: trace.End{Location: t.location, Time: sent, Region: trace.NoRegion},
		To:   trace.End{Location: to.location, Time: arrived, Region: trace.NoRegion},
	})
}

// communicator takes "c:application:id:tasks:task:task…".
func (c *converter) communicator(line string) {
	if line[0] != 'c' {
		c.tally.Add(interCommunicator, c.line)
		return
	}
	n, ok := parseNumbers([]byte(strings.TrimPrefix(line, "c:")), nil)
	if !ok || len(n) < 3 || int64(len(n)) != 3+n[2] {
		c.tally.Add(badRecord, c.line)
		return
	}
	k := trace.Communicator{Name: fmt.Sprint("communicator ", n[1]), Parent: trace.NoCommunicator}
	if len(c.header.applications) > 1 {
		k.Name += fmt.Sprint(" of application ", n[0])
	}
	for _, task := range n[3:] {
		if n[0] < 1 || n[0] > int64(len(c.processes)) || task < 1 || task > int64(len(c.processes[n[0]-1])) {
			c.tally.Add(badCommunicator, c.line)
			return
		}
		k.Members = append(k.Members, c.processes[n[0]-1][task-1].location)
	}
	c.communicators = append(c.communicators, k)
}

// finish ends all open states, and reports the facts of the whole trace.
func (c *converter) finish() error {
	if c.latest < c.header.length {
		c.tally.Add(shortTrace, c.line)
	}
	for _, t := range c.opened {
		for _, o := range t.open {
			for i := len(o.stack) - 1; i >= 0; i-- {
				c.tally.Add(unended, nowhere)
				t.stream.Leave(c.latest, o.stack[i])
			}
		}
		if err := t.stream.Close(); c.err == nil {
			c.err = err
		}
		if t.cpu != 0 {
			c.w.Describe(t.location,
				trace.Location{Rank: trace.NoRank,
					Attributes: []trace.Attribute{{Key: "processor", Value: trace.Integer(t.cpu)}}})
		}
	}
	c.ranks()
	if len(c.comments) > 0 {
		c.w.Property("comment", strings.Join(c.comments, "; "))
	}
	return c.err
}
