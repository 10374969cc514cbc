package otf2

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// The scopes of instances of metrics.
const (
	scopeLocation = 0
	scopeGroup    = 1
	scopeNode     = 2
)

// Properties of the values of a metric: the low half of its mode.
const (
	valueAccumulated = 0
	valueMask        = 0x0f
)

// A series is one member of a metric class on one location.
type series struct {
	counter trace.CounterID
	scale   float64
	stream  *sharedStream // nil: the row's own
}

// metric takes a sample of every member of a class.
func (r *observer) metric(f *fields) {
	ref := f.uint32()
	n := int(f.uint8())
	list := r.series(uint64(ref))
	for i := 0; i < n && !f.bad; i++ {
		kind, bits := f.uint8(), f.uint64()
		if f.bad {
			return
		}
		if i >= len(list) {
			r.tally.samples += int64(n - i)
			return
		}
		v := float64(bits)
		switch kind {
		case typeInt64:
			v = float64(int64(bits))
		case typeDouble:
			v = math.Float64frombits(bits)
		}
		s := &list[i]
		if s.scale != 1 {
			v *= s.scale
		}
		if s.stream == nil {
			r.stream.Sample(s.counter, r.now, v)
		} else {
			s.stream.sample(s.counter, r.now, v)
		}
	}
}

// series finds the counters of a metric, which is a class, or an instance of one
// that says whom its values are about.
func (r *observer) series(ref uint64) []series {
	if list, ok := r.metrics[ref]; ok {
		return list
	}
	d, t := &r.a.defs, r.a.tree
	id := r.local.global(mapMetric, ref)
	own := t.places[r.at].id
	about, suffix := own, ""
	members, ok := d.classes.get(id)
	if m, instance := d.instances.get(id); instance && !ok {
		members, _ = d.classes.get(uint64(m.class))
		about, suffix = r.a.scope(m, own)
	}
	list := make([]series, 0, len(members))
	for _, m := range members {
		k, known := d.metrics.get(uint64(m))
		c := trace.Counter{Location: about, Name: d.text(k.name), Unit: d.text(k.unit), Monotone: known &&
			k.mode&valueMask == valueAccumulated}
		if c.Name == "" {
			c.Name = "metric " + decimal(uint64(m))
		}
		c.Name += suffix
		s := series{counter: r.a.w.Counter(c), scale: k.factor()}
		if about != own {
			s.stream = r.a.shared(about)
		}
		list = append(list, s)
	}
	r.metrics[ref] = list
	return list
}

// factor converts values to their unit.
func (m *metricMember) factor() float64 {
	if m.exponent == 0 || m.exponent < -400 || m.exponent > 400 {
		return 1
	}
	if m.base == 0 {
		return math.Pow(2, float64(m.exponent))
	}
	return math.Pow(10, float64(m.exponent))
}

// scope is the location that the values of an instance are about. Another thread
// has a stream of its own, which another row writes: its values stay with the
// recorder, and the name says whom they are about.
func (a *archive) scope(m metricInstance, own trace.LocationID) (about trace.LocationID, suffix string) {
	switch m.scope {
	case scopeLocation:
		if i, ok := a.defs.locIndex.get(m.at); ok && a.tree.places[i].id != own {
			return own, " of " + a.defs.text(a.defs.locations[i].name)
		}
	case scopeGroup:
		if i, ok := a.defs.groupIndex.get(m.at); ok {
			return a.tree.groups[i], ""
		}
	case scopeNode:
		if i, ok := a.defs.nodeIndex.get(m.at); ok {
			return a.tree.nodes[i], ""
		}
	}
	return own, ""
}
