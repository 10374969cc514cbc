package otf2

import (
	"encoding/binary"
	"slices"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// plainEvents is how many events plain takes at most, so that ctx can end a file.
	plainEvents = 1 << 16
	// callBatch is how many of them go to the stream at a time.
	callBatch = 256
)

// plain takes the records that make up most of a file, enters and leaves with a time
// before them, and returns their number. It stops before anything else, which next
// takes: records with attributes, long numbers, steps in time that need a second look,
// regions that were not named lately, the end of the buffer. The two give the same. This
// one is only faster: it goes over some records in steps, none of which makes a call for
// each record.
func (r *caller) plain() (n int) {
	if r.reader.big || len(r.started) > 0 {
		return 0
	}
	for n < plainEvents {
		k := r.calls()
		if k == 0 {
			break
		}
		list := r.batch[:k]
		r.setTimes(list)
		r.follow(list)
		trace.AddCalls(r.stream, list)
		if n += k; k < callBatch {
			break
		}
	}
	return n
}

// calls fills the batch with records as they are in memory, with ticks for times.
func (r *caller) calls() (n int) {
	x := &r.reader
	buf, ticks, floor, timed := x.in.buf[x.in.pos:x.limit], x.ticks, x.floor, x.timed
	for n < callBatch && len(buf) >= hotBytes {
		b := (*[hotBytes]byte)(buf)
		at, t := 0, ticks
		if b[0] == timestamp {
			t = binary.LittleEndian.Uint64(b[1:])
			if t > ticks && t-ticks > x.jump {
				break
			}
			at = timestampBytes
		}
		id, size := b[at], int(b[at+1])
		if id != evEnter && id != evLeave || size >= len(masks) {
			break
		}
		ref := binary.LittleEndian.Uint64(b[at+2:]) & masks[size]
		known := &r.regions[ref%uint64(len(r.regions))]
		if !known.set || known.ref != ref {
			break
		}
		if at > 0 {
			floor, ticks, timed = ticks, t, true
		}
		buf = buf[at+2+size:]
		c := &r.batch[n]
		c.Time, c.Region, c.Leave = trace.Time(t), known.id, id == evLeave
		n++
	}
	x.in.pos, x.ticks, x.floor, x.timed = x.limit-len(buf), ticks, floor, timed
	x.count += uint64(n)
	return n
}

// setTimes turns ticks into times.
func (r *caller) setTimes(list []trace.StackRecord) {
	straight := r.timer.plain && len(r.local.clock.offsets) == 0
	for i := range list {
		if t := uint64(list[i].Time); t != r.ticks {
			if now := trace.Time(t - r.timer.origin); straight && now <= farthest && now >= -farthest {
				r.ticks, r.now = t, now
			} else {
				r.setTime(t)
			}
		}
		list[i].Time = r.now
	}
}

// follow keeps the stack of calls, as enter and leave do.
func (r *caller) follow(list []trace.StackRecord) {
	stack, entered, left := slices.Grow(r.stack, len(list)), r.entered, r.left
	for i := range list {
		c := &list[i]
		if !c.Leave {
			entered++
			stack = append(stack, match.Call{Region: c.Region, Number: entered})
			continue
		}
		left.time, left.Call = c.Time, match.Call{Region: c.Region}
		for k := len(stack) - 1; k >= 0; k-- {
			if stack[k].Region == c.Region {
				left.Call, stack = stack[k], stack[:k]
				break
			}
		}
	}
	enters := entered - r.entered
	if enters > 0 {
		r.given = r.given[:0]
	}
	r.stack, r.entered, r.left, r.fresh = stack, entered, left, !list[len(list)-1].Leave
	r.tally.events[evEnter] += int64(enters)
	r.tally.events[evLeave] += int64(len(list)) - int64(enters)
}
