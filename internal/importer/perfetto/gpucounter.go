package perfetto

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A gpuKey is a counter of a GPU. Numbers of counters hold for a whole machine.
type gpuKey struct {
	machine uint32
	gpu     int64
	id      uint64
}

type gpuSpec struct{ name, unit string }

// A gpuSeries is a counter of which there were values.
type gpuSeries struct {
	row  *row
	id   trace.CounterID
	last trace.Time // until which values are written
	// value is the last that was written, if any was.
	value  float64
	valued bool
}

// gpuCounters takes values of the counters of a GPU. A value is of the time between
// the one before it and its own, so it is written where that time begins.
func (c *gpuConverter) gpuCounters(p *packet, at trace.Time) bool {
	var gpu int64
	interned := false
	m := open(p.payload)
	for m.next() {
		switch m.number {
		case gpuCounterGPU:
			gpu = int64(int32(m.value))
		case gpuCounterInterned:
			interned = true
		}
	}
	if m.broken {
		return false
	}
	if interned {
		c.tally.unread(p.kind)
		return true
	}
	sound := true
	m = open(p.payload)
	for m.next() {
		switch m.number {
		case gpuCounterSpecs:
			sound = c.gpuSpecs(p, gpu, m.bytes) && sound
		case gpuCounterValue:
			sound = c.gpuValue(p, gpu, m.bytes, at) && sound
		}
	}
	return sound
}

// gpuSpecs takes the descriptions of counters.
func (c *gpuConverter) gpuSpecs(p *packet, gpu int64, b []byte) bool {
	m := open(b)
	for m.next() {
		if m.number != specCounter {
			continue
		}
		key := gpuKey{machine: p.machine, gpu: gpu}
		var s gpuSpec
		var above, below []uint64
		f := open(m.bytes)
		for f.next() {
			switch f.number {
			case specID:
				key.id = f.value
			case specName:
				s.name = string(f.bytes)
			case specNumerator:
				above = f.list(above)
			case specDenominator:
				below = f.list(below)
			}
		}
		if f.broken {
			return false
		}
		s.unit = unitText(above, below)
		if s.name != "" {
			c.gpuNames[key] = s
		}
	}
	return !m.broken
}

// gpuValue takes one value.
func (c *gpuConverter) gpuValue(p *packet, gpu int64, b []byte, at trace.Time) bool {
	key := gpuKey{machine: p.machine, gpu: gpu}
	var value float64
	valued := false
	m := open(b)
	for m.next() {
		switch m.number {
		case gpuValueID:
			key.id = m.value
		case gpuValueInteger:
			value, valued = float64(int64(m.value)), true
		case gpuValueDouble:
			value, valued = m.double(), true
		}
	}
	if m.broken {
		return false
	}
	if !valued || !p.hasTime || value != value {
		c.tally.Add(noValue, p.at)
		return true
	}
	c.last = max(c.last, at)
	s := c.gpuSeries[key]
	if s == nil {
		c.tally.Add(firstValues, p.at)
		c.gpuSeries[key] = c.newSeries(p, key, at)
		return true
	}
	s.row.Stream.Sample(s.id, min(s.last, at), value)
	if at >= s.last {
		s.last, s.value, s.valued = at, value, true
	}
	return true
}

// finishCounters writes the last value of each counter once more, where its time ends.
func (c *gpuConverter) finishCounters() {
	for _, s := range c.gpuSeries {
		if s.valued {
			s.row.Stream.Sample(s.id, s.last, s.value)
		}
	}
}

func (c *gpuConverter) newSeries(p *packet, key gpuKey, at trace.Time) *gpuSeries {
	spec, ok := c.gpuNames[key]
	if !ok {
		c.tally.Add(lostNames, p.at)
		spec.name = "counter " + strconv.FormatUint(key.id, 10)
	}
	r := c.rowOf(c.deviceAt(c.root, uint64(key.gpu)))
	return &gpuSeries{row: r, id: c.w.Counter(trace.Counter{Location: r.At, Name: spec.name, Unit: spec.unit}),
		last: at}
}

// measures are the units of counters of GPUs, by number.
var measures = [...]string{
	"", "bit", "kbit", "Mbit", "Gbit", "Tbit", "Pbit", "bytes", "kB", "MB", "GB", "TB", "PB", "Hz", "kHz", "MHz", "GHz",
	"THz", "PHz",
	"ns", "µs", "ms", "s", "min", "h", "vertices", "pixels", "triangles", "mW", "W", "kW", "J", "V", "A", "°C", "°F",
	"K", "%",
	"primitives", "fragments", "instructions",
}

// unitText is a unit as text: products above and below a line.
func unitText(above, below []uint64) string {
	product := func(list []uint64) string {
		var names []string
		for _, u := range list {
			if u > 0 && u < uint64(len(measures)) {
				names = append(names, measures[u])
			}
		}
		return strings.Join(names, "·")
	}
	text, under := product(above), product(below)
	switch {
	case under == "":
		return text
	case text == "":
		return "1/" + under
	}
	return text + "/" + under
}
