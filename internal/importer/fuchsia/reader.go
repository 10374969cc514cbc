package fuchsia

import (
	"context"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Types of records.
const (
	recordMetadata  = 0
	recordInit      = 1
	recordString    = 2
	recordThread    = 3
	recordEvent     = 4
	recordKernel    = 7
	recordScheduler = 8
	recordLog       = 9
	recordLarge     = 15
)

// Types of events.
const (
	eventInstant = iota
	eventCounter
	eventBegin
	eventEnd
	eventWhole
	eventAsyncBegin
	eventAsyncInstant
	eventAsyncEnd
	eventFlowBegin
	eventFlowStep
	eventFlowEnd
)

// A koid is a number of the kernel: of a process and a thread.
type koid struct{ process, thread uint64 }

// A provider has numbers of its own for strings and threads.
type provider struct {
	strings map[uint64]string
	threads map[uint64]koid
	second  uint64 // ticks
}

// An event is a record of that type.
type event struct {
	kind           uint64
	koid           koid
	time           trace.Time
	category, name string
	arguments      []argument
	id             uint64     // of a counter, async or flow
	end            trace.Time // of a whole one
}

// An argument is a name and a value.
type argument struct {
	name  string
	value trace.Value
}

// A reader follows the records of a file.
type reader struct {
	in        *wire.Cursor
	to        *converter
	at        int64 // where the record begins
	providers map[uint64]*provider
	*provider
}

func (r *reader) providerOf(id uint64) *provider {
	p := r.providers[id]
	if p == nil {
		p = &provider{strings: map[uint64]string{}, threads: map[uint64]koid{}, second: 1e9}
		r.providers[id] = p
	}
	return p
}

// records reads all.
func (r *reader) records(ctx context.Context) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if r.at = r.in.Offset(); !r.in.More() && !r.in.Failed() {
			return nil
		}
		head := r.in.Uint64()
		kind, words := head&15, head>>4&0xfff
		if kind == recordLarge {
			words = head >> 4 & 0xffffffff
		}
		switch {
		case words == 0:
			r.in.Fail(io.ErrUnexpectedEOF)
		case kind == recordLarge:
			r.to.tally.Add(blob, r.at)
			r.in.Skip(8 * int64(words-1))
		default:
			c := cursor{r.in.Sub(8 * int(words-1)), r.provider}
			if r.in.Failed() {
				break
			}
			if r.record(head, c); c.Failed() {
				r.to.tally.Add(brokenRecord, r.at)
			}
		}
		if r.in.Failed() {
			r.to.tally.Add(brokenFile, r.at)
			return nil
		}
	}
}

// field is the bits of a word from one to another.
func field(word uint64, from, to int) uint64 { return word >> from & (1<<(to-from+1) - 1) }

func (r *reader) record(head uint64, c cursor) {
	switch head & 15 {
	case recordMetadata:
		r.metadata(head)
	case recordInit:
		if v := c.Uint64(); v > 0 {
			r.second = v
		}
	case recordString:
		if text := c.text(field(head, 32, 46)); !c.Failed() && field(head, 16, 30) > 0 {
			r.strings[field(head, 16, 30)] = text
		}
	case recordThread:
		if k := (koid{c.Uint64(), c.Uint64()}); !c.Failed() && field(head, 16, 23) > 0 {
			r.threads[field(head, 16, 23)] = k
		}
	case recordEvent:
		r.event(head, c)
	case recordKernel:
		id := c.Uint64()
		name := c.reference(field(head, 24, 39))
		process := uint64(0)
		for _, a := range c.arguments(field(head, 40, 43)) {
			if a.name == "process" {
				process, _ = strconv.ParseUint(a.value.String(), 10, 64)
			}
		}
		if !c.Failed() {
			r.to.named(field(head, 16, 23), id, process, name)
		}
	case recordScheduler:
		r.scheduler(head, c)
	case recordLog:
		t := r.time(c.Uint64())
		k := c.thread(field(head, 32, 39))
		if text := c.text(field(head, 16, 30)); !c.Failed() {
			r.to.event(&event{kind: eventInstant, koid: k, time: t, category: "log", name: "log",
				arguments: []argument{{"text", trace.Text(text)}}})
		}
	default:
		r.to.tally.Add(blob, r.at)
	}
}

// metadata: 1 and 2 say of which provider the next records are, 3 that its buffer was full.
func (r *reader) metadata(head uint64) {
	switch field(head, 16, 19) {
	case 1, 2:
		r.provider = r.providerOf(field(head, 20, 51) + 1)
	case 3:
		r.to.tally.Add(fullBuffer, r.at)
	}
}

// time is that of a number of ticks.
func (r *reader) time(ticks uint64) trace.Time {
	if r.second == 1e9 {
		return trace.Time(ticks & (1<<62 - 1))
	}
	high, low := bits.Mul64(ticks, 1e9)
	if high >= r.second {
		return 1 << 62
	}
	ns, _ := bits.Div64(high, low, r.second)
	return trace.Time(min(ns, 1<<62))
}

func (r *reader) event(head uint64, c cursor) {
	e := &event{kind: field(head, 16, 19), time: r.time(c.Uint64())}
	e.koid = c.thread(field(head, 24, 31))
	e.category, e.name = c.reference(field(head, 32, 47)), c.reference(field(head, 48, 63))
	e.arguments = c.arguments(field(head, 20, 23))
	switch e.kind {
	case eventWhole:
		e.end = r.time(c.Uint64())
	case eventCounter, eventAsyncBegin, eventAsyncInstant, eventAsyncEnd, eventFlowBegin, eventFlowStep, eventFlowEnd:
		e.id = c.Uint64()
	}
	if !c.Failed() {
		r.to.event(e)
	}
}

// States of a thread that left a processor.
const (
	stateNew     = 0
	stateRunning = 1
)

// scheduler reads a switch, in its old form with references to threads and its new one with numbers, or a wake-up.
func (r *reader) scheduler(head uint64, c cursor) {
	t := r.time(c.Uint64())
	switch field(head, 60, 63) {
	case 0:
		prev := c.thread(field(head, 28, 35))
		next := c.thread(field(head, 36, 43))
		if !c.Failed() {
			r.to.switched(t, field(head, 16, 23), prev, next, ready(field(head, 24, 27)))
		}
	case 1:
		prev, next := koid{0, c.Uint64()}, koid{0, c.Uint64()}
		if !c.Failed() {
			r.to.switched(t, field(head, 20, 35), prev, next, ready(field(head, 36, 39)))
		}
	case 2:
		if k := (koid{0, c.Uint64()}); !c.Failed() {
			r.to.woken(t, field(head, 20, 35), k)
		}
	default:
		r.to.tally.Add(blob, r.at)
	}
}

func ready(state uint64) bool { return state == stateNew || state == stateRunning }

// A cursor reads the words of a record.
type cursor struct {
	*wire.Cursor
	of *provider
}

// text has so many bytes, and zeros up to a whole word.
func (c cursor) text(length uint64) string {
	b := c.Take(int(length+7) &^ 7)
	return string(b[:min(length, uint64(len(b)))])
}

// reference is a string by its number, or in place.
func (c cursor) reference(ref uint64) string {
	if ref&0x8000 != 0 {
		return c.text(ref & 0x7fff)
	}
	return c.of.strings[ref]
}

// thread is one by its number, or in place.
func (c cursor) thread(ref uint64) koid {
	if ref == 0 {
		return koid{c.Uint64(), c.Uint64()}
	}
	return c.of.threads[ref]
}

// arguments reads so many.
func (c cursor) arguments(count uint64) (list []argument) {
	for ; count > 0 && !c.Failed(); count-- {
		head := c.Uint64()
		one := cursor{c.Sub(8 * (int(field(head, 4, 15)) - 1)), c.of}
		if c.Failed() {
			return list
		}
		a := argument{name: one.reference(field(head, 16, 31))}
		switch head & 15 {
		case 0:
			a.value = trace.Text("")
		case 1:
			a.value = trace.Integer(int64(int32(head >> 32)))
		case 2:
			a.value = trace.Integer(int64(head >> 32))
		case 3, 4, 7, 8:
			a.value = trace.Integer(int64(one.Uint64()))
		case 5:
			a.value = trace.Number(math.Float64frombits(one.Uint64()))
		case 6:
			a.value = trace.Text(one.reference(field(head, 32, 47)))
		case 9:
			a.value = trace.Integer(int64(head >> 32 & 1))
		default: // one that was defined later
			continue
		}
		if one.Failed() {
			c.Fail(one.Err())
			return list
		}
		list = append(list, a)
	}
	return list
}
