package otf2

import "encoding/binary"

// plainEvents is how many events plain takes at most, so that ctx can end a file.
const plainEvents = 1 << 16

// plain takes what most of a file is, enters and leaves with a time before them, as
// it lies in memory, and gives how many. It stops before anything else, which next
// takes: records with attributes, long numbers, steps in time that need a second
// look, the end of what is at hand. The two give the same: this one is only faster,
// since nothing is put into an event and taken out again.
func (r *row) plain() int {
	x := &r.reader
	if x.big || r.stream == nil {
		return 0
	}
	var taken [2]int // leaves, enters
	pos := x.in.pos
	n := 0
	for ; n < plainEvents; n++ {
		rest := x.in.buf[pos:x.limit]
		if len(rest) < hotBytes {
			break
		}
		b := (*[hotBytes]byte)(rest)
		at, ticks := 0, x.ticks
		if b[0] == timestamp {
			ticks = binary.LittleEndian.Uint64(b[1:])
			if ticks > x.ticks && ticks-x.ticks > x.jump {
				break
			}
			at = timestampBytes
		}
		id, size := b[at], int(b[at+1])
		if id != evEnter && id != evLeave || size >= len(masks) {
			break
		}
		ref := binary.LittleEndian.Uint64(b[at+2:]) & masks[size]
		pos += at + 2 + size
		if at > 0 {
			x.floor, x.ticks, x.timed = x.ticks, ticks, true
		}
		if ticks != r.ticks {
			r.setTime(ticks)
		}
		region := &r.regions[ref%uint64(len(r.regions))]
		if !region.set || region.ref != ref {
			r.region(ref)
		}
		if id == evEnter {
			taken[1]++
			r.enter(region.id)
		} else {
			taken[0]++
			r.leave(region.id)
		}
	}
	x.in.pos = pos
	x.count += uint64(n)
	r.tally.events[evLeave] += int64(taken[0])
	r.tally.events[evEnter] += int64(taken[1])
	return n
}
