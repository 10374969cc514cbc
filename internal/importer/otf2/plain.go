package otf2

import "encoding/binary"

// plainEvents is how many events plain takes at most, so that ctx can end a file.
const plainEvents = 1 << 16

// plain takes what most of a file is, enters and leaves with a time before them, as
// it lies in memory, and gives how many. It stops before anything else, which next
// takes: records with attributes, long numbers, steps in time that need a second
// look, the end of what is at hand. The two give the same: this one is only faster,
// since nothing is put into an event and taken out again, and what changes with every
// record is at hand.
func (r *row) plain() int {
	x := &r.reader
	if x.big || r.stream == nil || len(r.started) > 0 {
		return 0
	}
	stream, stack, entered, left := r.stream, r.stack, r.entered, r.left
	buf, ticks := x.in.buf[x.in.pos:x.limit], x.ticks
	n, enters, fresh := 0, uint32(0), r.fresh
	for ; n < plainEvents && len(buf) >= hotBytes; n++ {
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
		buf = buf[at+2+size:]
		if at > 0 {
			x.floor, ticks, x.timed = ticks, t, true
		}
		if t != r.ticks {
			r.setTime(t)
		}
		known := &r.regions[ref%uint64(len(r.regions))]
		if !known.set || known.ref != ref {
			r.region(ref)
		}
		region := known.id
		if id == evEnter {
			stream.Enter(r.now, region)
			enters++
			stack = append(stack, call{region, entered + enters})
			fresh = true
			continue
		}
		stream.Leave(r.now, region)
		fresh = false
		left.time, left.call = r.now, call{region: region}
		for k := len(stack) - 1; k >= 0; k-- { // as leave does
			if stack[k].region == region {
				left.call, stack = stack[k], stack[:k]
				break
			}
		}
	}
	r.stack, r.entered, r.left, r.fresh = stack, entered+enters, left, fresh
	if enters > 0 {
		r.given = r.given[:0]
	}
	x.in.pos, x.ticks = x.limit-len(buf), ticks
	x.count += uint64(n)
	r.tally.events[evEnter] += int64(enters)
	r.tally.events[evLeave] += int64(n) - int64(enters)
	return n
}
