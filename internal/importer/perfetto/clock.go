package perfetto

import (
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Clocks that have a number of their own. Those from firstOwn on are of one
// sequence, those from firstGlobal on of the whole trace.
const (
	clockRealtime = 1
	clockMono     = 3
	clockBoot     = 6
	firstOwn      = 64
	firstGlobal   = 128
)

// A clockKey names a clock: its number, and the sequence where it is of one.
type clockKey struct{ sequence, number uint32 }

func keyOf(sequence, number uint32) clockKey {
	if number < firstOwn || number >= firstGlobal {
		sequence = 0
	}
	return clockKey{sequence, number}
}

// A reading is the time of one clock when a snapshot was taken.
type reading struct {
	key         clockKey
	time        int64 // ns
	incremental bool
	unit        int64 // ns of one tick
}

// A clock is one whose times can be converted to the trace's own.
type clock struct {
	points []clockPoint // by time
	near   int          // the point used last
	// Clocks that write differences: the time so far, and the length of a tick.
	incremental bool
	now, unit   int64
}

// A clockPoint is the offset of a clock's time from there on.
type clockPoint struct{ from, offset int64 }

// clocks give times of one file. The trace's own clock is the one that its
// snapshots name, else the time since the machine's start.
type clocks struct {
	own     uint32
	named   bool
	shift   int64 // added to all times: where several files share an axis
	known   map[clockKey]*clock
	waiting [][]reading // snapshots that lead to no known clock yet
	start   int64       // time of day at the first snapshot that has it, ns
	startAt int64       // and the trace's own then
}

func newClocks() *clocks {
	return &clocks{own: clockBoot, known: map[clockKey]*clock{}}
}

// mostSnapshots bounds how many points are kept of one clock.
const mostSnapshots = 1 << 16

// snapshot takes the readings of clocks at one instant.
func (c *clocks) snapshot(sequence uint32, b []byte) bool {
	own, readings, ok := readSnapshot(sequence, b)
	if !ok {
		return false
	}
	if own != 0 && !c.named {
		c.own, c.named = own, true
	}
	for _, r := range readings {
		k := c.find(r.key)
		k.incremental, k.unit = r.incremental, r.unit
		if r.incremental {
			k.now = r.time
		}
	}
	if !c.relate(readings) {
		if len(c.waiting) < mostSnapshots {
			c.waiting = append(c.waiting, readings)
		}
		return true
	}
	for again := true; again && len(c.waiting) > 0; { // those that now lead somewhere
		again = false
		rest := c.waiting[:0]
		for _, w := range c.waiting {
			if c.relate(w) {
				again = true
			} else {
				rest = append(rest, w)
			}
		}
		c.waiting = rest
	}
	return true
}

// A clockSnapshot has readings of clocks, and the number of the trace's own.
type clockSnapshot struct {
	readings [][]byte `pb:"1"`
	own      uint32   `pb:"2"`
}

type clockReading struct {
	clock       uint32 `pb:"1"`
	time        int64  `pb:"2"`
	incremental bool   `pb:"3"`
	unit        uint64 `pb:"4"`
}

var (
	clockSnapshots = protobuf.TableOf[clockSnapshot]()
	clockReadings  = protobuf.TableOf[clockReading]()
)

func readSnapshot(sequence uint32, b []byte) (own uint32, readings []reading, ok bool) {
	snapshot, ok := clockSnapshots.Of(b)
	if !ok {
		return 0, nil, false
	}
	for _, b := range snapshot.readings {
		f, ok := clockReadings.Of(b)
		if !ok {
			return 0, nil, false
		}
		r := reading{key: keyOf(sequence, f.clock), time: f.time, incremental: f.incremental, unit: 1}
		if f.unit > 0 && f.unit < math.MaxInt32 {
			r.unit = int64(f.unit)
		}
		r.time *= r.unit
		readings = append(readings, r)
	}
	return snapshot.own, readings, true
}

func (c *clocks) find(k clockKey) *clock {
	found := c.known[k]
	if found == nil {
		found = &clock{unit: 1}
		c.known[k] = found
	}
	return found
}

// relate adds a point to every clock of a snapshot, if one of them is the trace's
// own or leads to it.
func (c *clocks) relate(readings []reading) bool {
	own := keyOf(0, c.own)
	now, ok := int64(0), false
	for _, r := range readings {
		if r.key == own {
			now, ok = r.time, true
			break
		}
	}
	for i := 0; !ok && i < len(readings); i++ {
		if k := c.known[readings[i].key]; len(k.points) > 0 {
			now, ok = readings[i].time+k.offset(readings[i].time), true
		}
	}
	if !ok {
		return false
	}
	for _, r := range readings {
		if r.key.number == clockRealtime && c.start == 0 {
			c.start, c.startAt = r.time, now
		}
		if r.key == own {
			continue
		}
		k := c.known[r.key]
		p := clockPoint{r.time, now - r.time}
		at := sort.Search(len(k.points), func(i int) bool { return k.points[i].from > p.from })
		if at > 0 && k.points[at-1].offset == p.offset || len(k.points) >= mostSnapshots {
			continue
		}
		k.points = append(k.points, clockPoint{})
		copy(k.points[at+1:], k.points[at:])
		k.points[at] = p
		k.near = 0
	}
	return true
}

// offset returns the offset of a time: that of the last point before it, or of the first if there is none.
func (k *clock) offset(t int64) int64 {
	if i := k.near; k.points[i].from <= t && (i+1 == len(k.points) || k.points[i+1].from > t) {
		return k.points[i].offset
	}
	i := sort.Search(len(k.points), func(i int) bool { return k.points[i].from > t })
	k.near = max(i-1, 0)
	return k.points[k.near].offset
}

// of finds the clock of a number for a sequence; nil where no snapshot has it.
func (c *clocks) of(s *sequence, number uint32) *clock {
	if s.ticking == nil || s.tickingID != number {
		s.ticking, s.tickingID = c.known[keyOf(s.id, number)], number
	}
	return s.ticking
}

// time converts a time of a clock to the trace's own. It is not sure where no
// snapshot says how the two clocks compare: then they are taken for the same.
func (c *clocks) time(s *sequence, number uint32, ticks uint64) (t trace.Time, sure bool) {
	if number == c.own {
		return trace.Time(int64(ticks) + c.shift), true
	}
	k := c.of(s, number)
	if k == nil {
		return trace.Time(int64(ticks) + c.shift), false
	}
	ns := int64(ticks) * k.unit
	if k.incremental {
		k.now += ns
		ns = k.now
	}
	if len(k.points) == 0 {
		return trace.Time(ns + c.shift), false
	}
	return trace.Time(ns + k.offset(ns) + c.shift), true
}
