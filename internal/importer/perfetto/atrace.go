package perfetto

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A mark is a line that a program printed to the kernel's trace in the format of
// atrace, fields between bars, the process second:
//
//	B|10|name            a slice of the thread begins     E|10, or E      its innermost slice ends
//	S|10|name|7          a slice of the process begins    F|10|name|7     the one of this cookie ends
//	G|10|track|name|7    a slice of a track begins        H|10|track|7    the one of this cookie ends
//	I|10|name            instant of the thread            N|10|track|name instant of a track
//	C|10|name|42         value of a counter of the process
type mark struct {
	phase  byte
	pid    int64
	owned  bool // pid is known
	track  []byte
	name   []byte
	number int64 // cookie or value
}

// parseMark reads a print. It is false for other strings.
func parseMark(b []byte) (m mark, ok bool) {
	b = bytes.TrimRight(b, "\n\x00")
	field := func() []byte {
		f, rest, _ := bytes.Cut(b, []byte("|"))
		b = rest
		return f
	}
	phase := field()
	if len(phase) != 1 {
		return m, false
	}
	m.phase = phase[0]
	pid, err := strconv.ParseUint(string(field()), 10, 31)
	m.pid, m.owned = int64(pid), err == nil
	number := func(f []byte) (ok bool) {
		m.number, err = strconv.ParseInt(string(f), 10, 64)
		return err == nil
	}
	switch m.phase {
	case 'E':
		return m, true
	case 'B': // a name may hold bars
		m.name = b
		return m, m.owned
	case 'I':
		m.name = field()
		return m, m.owned && len(m.name) > 0
	case 'S', 'F', 'C':
		m.name = field()
		return m, number(field()) && m.owned && len(m.name) > 0
	case 'N':
		m.track, m.name = field(), field()
		return m, m.owned && len(m.track) > 0 && len(m.name) > 0
	case 'G':
		m.track, m.name = field(), field()
		return m, number(field()) && m.owned && len(m.track) > 0 && len(m.name) > 0
	case 'H': // some write the name in front of the cookie
		m.track = field()
		cookie, after := field(), field()
		if len(after) > 0 {
			cookie = after
		}
		return m, number(cookie) && m.owned && len(m.track) > 0
	}
	return m, false
}

// marks is the category of atrace's marks.
const marks = "atrace"

// An asyncKey distinguishes slices that end on any thread.
type asyncKey struct {
	machine uint32
	pid     int64
	track   string
	cookie  int64
	named   bool // track is one of G and H
}

// An async holds the begins and ends of a key that found no partner yet, each in
// order of time: bundles of different CPUs are not.
type async struct {
	begins []asyncBegin
	ends   []trace.Time
}

type asyncBegin struct {
	at     trace.Time
	region trace.RegionID
}

// print takes the text that a thread printed. Slices of a thread are given to the
// writer as they are: they may come out of order, as the thread moves from CPU to
// CPU, and the writer sorts and matches them.
func (k *kernel) print(ticks uint64, tid int64, text []byte) {
	c := k.c
	m, ok := parseMark(text)
	if ok && !m.owned {
		m.pid, ok = c.printers[processKey{k.p.machine, tid}]
	}
	if !ok {
		c.tally.Add(otherPrints, k.p.at)
		return
	}
	at := c.time(k.s, k.p, clockBoot, uint64(int64(ticks)+k.shift))
	c.last = max(c.last, at)
	switch m.phase {
	case 'B':
		c.printers[processKey{k.p.machine, tid}] = m.pid
		name := cmp.Or(c.text(m.name), "(no name)")
		c.threadRow(k.p.machine, m.pid, tid).Stream.Enter(at, c.define(name, marks, trace.RoleByName))
	case 'E':
		c.threadRow(k.p.machine, m.pid, tid).Stream.Leave(at, trace.NoRegion)
	case 'I':
		c.threadRow(k.p.machine, m.pid, tid).Stream.Instant(at, c.define(c.text(m.name), marks, trace.RoleAnnotation))
	case 'N':
		c.markRow(k.p.machine, m.pid, c.text(m.track)).Stream.Instant(at,
			c.define(c.text(m.name), marks, trace.RoleAnnotation))
	case 'C':
		r := c.processRow(k.p.machine, m.pid)
		r.Stream.Sample(c.w.Counter(trace.Counter{Location: r.At, Name: c.text(m.name)}), at, float64(m.number))
	case 'S', 'F':
		key := asyncKey{machine: k.p.machine, pid: m.pid, track: c.text(m.name), cookie: m.number}
		c.async(key, at, m.phase == 'S', key.track)
	case 'G', 'H':
		key := asyncKey{machine: k.p.machine, pid: m.pid, track: c.text(m.track), cookie: m.number, named: true}
		c.async(key, at, m.phase == 'G', c.text(m.name))
	}
}

// markRow is the row of a track of atrace, below its process.
func (c *converter) markRow(machine uint32, pid int64, name string) *row {
	above := c.processRow(machine, pid).At
	return c.rowOf(c.w.Location(trace.Location{Parent: above, Kind: kindTrack, Key: name, Name: name,
		Rank: trace.NoRank, Order: 1 << 40}))
}

// async takes the begin or the end of a slice that may end on another thread. An end
// belongs to the last begin before it, whichever comes first in the file.
func (c *converter) async(key asyncKey, at trace.Time, begins bool, name string) {
	a := c.asyncs[key]
	if a == nil {
		a = &async{}
		c.asyncs[key] = a
	}
	if begins {
		region := c.define(name, marks, trace.RoleAnnotation)
		if i, _ := slices.BinarySearch(a.ends, at); i < len(a.ends) {
			c.markRow(key.machine, key.pid, key.track).Stream.Interval(at, a.ends[i], region)
			a.ends = slices.Delete(a.ends, i, i+1)
		} else {
			a.begins = slices.Insert(a.begins, a.after(at), asyncBegin{at, region})
		}
	} else if i := a.after(at) - 1; i >= 0 {
		c.markRow(key.machine, key.pid, key.track).Stream.Interval(a.begins[i].at, at, a.begins[i].region)
		a.begins = slices.Delete(a.begins, i, i+1)
	} else if c.strays++; c.strays > mostStrays {
		c.tally.Add(strayEnds, nowhere)
	} else {
		i, _ := slices.BinarySearch(a.ends, at)
		a.ends = slices.Insert(a.ends, i, at)
	}
	if len(a.begins) == 0 && len(a.ends) == 0 {
		delete(c.asyncs, key)
	}
}

// after is the number of begins that are not after a time.
func (a *async) after(at trace.Time) int {
	i,
		_ := slices.BinarySearchFunc(a.begins, at+1,
		func(b asyncBegin, at trace.Time) int { return cmp.Compare(b.at, at) })
	return i
}

// finishAsync writes begins without an end as open intervals, and counts ends without begin.
func (c *converter) finishAsync() {
	keys := slices.SortedFunc(maps.Keys(c.asyncs), func(a, b asyncKey) int {
		return cmp.Or(cmp.Compare(a.machine, b.machine), cmp.Compare(a.pid, b.pid), cmp.Compare(a.track, b.track),
			cmp.Compare(a.cookie, b.cookie))
	})
	for _, key := range keys {
		a := c.asyncs[key]
		for _, b := range a.begins {
			c.markRow(key.machine, key.pid, key.track).Stream.Enter(b.at, b.region)
		}
		c.tally.AddN(strayEnds, int64(len(a.ends)), nowhere)
	}
	c.asyncs = nil
}
