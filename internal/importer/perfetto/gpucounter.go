package perfetto

import (
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer/protobuf"
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

// A gpuCounterEvent describes counters of a GPU and has values of them.
type gpuCounterEvent struct {
	descriptor struct {
		specs [][]byte `pb:"1"`
	} `pb:"1"`
	values   [][]byte         `pb:"2"`
	gpu      int32            `pb:"3"`
	interned protobuf.Integer `pb:"4"` // the number of a descriptor
}

type gpuCounterSpec struct {
	id          uint64   `pb:"1"`
	name        string   `pb:"2"`
	numerator   []uint64 `pb:"7"`
	denominator []uint64 `pb:"8"`
}

type gpuCounterValue struct {
	id    uint64         `pb:"1"`
	value protobuf.Value `pb:"2,3"` // an integer or a double
}

var (
	gpuCounterEvents = protobuf.TableOf[gpuCounterEvent]()
	gpuCounterSpecs  = protobuf.TableOf[gpuCounterSpec]()
	gpuCounterValues = protobuf.TableOf[gpuCounterValue]()
)

// gpuCounters takes values of the counters of a GPU. A value is of the time between
// the one before it and its own, so it is written where that time begins.
func (c *gpuConverter) gpuCounters(p *packet, at trace.Time) bool {
	e, sound := gpuCounterEvents.Of(p.payload)
	if e.interned.Set {
		c.tally.unread(p.kind)
		return sound
	}
	key := gpuKey{machine: p.machine, gpu: int64(e.gpu)}
	for _, b := range e.descriptor.specs {
		spec, ok := gpuCounterSpecs.Of(b)
		if sound = ok && sound; ok && spec.name != "" {
			key.id = spec.id
			c.gpuNames[key] = gpuSpec{spec.name, unitText(spec.numerator, spec.denominator)}
		}
	}
	for _, b := range e.values {
		v, ok := gpuCounterValues.Of(b)
		if sound = ok && sound; ok {
			key.id = v.id
			c.gpuValue(p, key, v.value, at)
		}
	}
	return sound
}

// gpuValue takes one value.
func (c *gpuConverter) gpuValue(p *packet, key gpuKey, v protobuf.Value, at trace.Time) {
	value := float64(int64(v.Bits))
	if v.Number == 3 {
		value = v.Double()
	}
	if v.Number == 0 || !p.hasTime || value != value {
		c.tally.Add(noValue, p.at)
		return
	}
	c.last = max(c.last, at)
	s := c.gpuSeries[key]
	if s == nil {
		c.tally.Add(firstValues, p.at)
		c.gpuSeries[key] = c.newSeries(p, key, at)
		return
	}
	s.row.Stream.Sample(s.id, min(s.last, at), value)
	if at >= s.last {
		s.last, s.value, s.valued = at, value, true
	}
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
