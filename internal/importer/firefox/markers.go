package firefox

import (
	"bytes"
	"cmp"
	"context"
	"math"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Phases of markers.
const (
	instant = iota
	interval
	intervalStart
	intervalEnd
)

// A payload holds the fields of a marker next to its name: scalars, and in old versions its times.
type payload struct {
	kind       string
	phase      string  // of old markers: "start" or "end"
	start, end float64 // of old markers
	values     []trace.Attribute
	nested     int
}

// read takes the members of a payload.
func (p *payload) read(b []byte, t *thread, m *meta, c *jsonstream.Cursor) {
	*p = payload{values: p.values[:0], start: math.NaN(), end: math.NaN()}
	if len(b) == 0 || b[0] != '{' {
		return
	}
	c.Reset(b)
	for ok := c.Open('{'); ok && c.More('}'); {
		name := c.Name()
		raw := c.Raw()
		if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
			p.nested++
			continue
		}
		var one jsonstream.Cursor
		one.Reset(raw)
		v := one.Scalar()
		switch name {
		case "type":
			p.kind = v.String()
			continue
		case "interval":
			p.phase = v.String()
			continue
		case "startTime", "endTime":
			if x, ok := v.Number(); ok {
				if name == "startTime" {
					p.start = x
				} else {
					p.end = x
				}
				continue
			}
		}
		if !bytes.Equal(raw, []byte("null")) {
			p.values = append(p.values, trace.Attribute{Key: name, Value: v})
		}
	}
	for i := range p.values {
		if v := &p.values[i]; m.interned[p.kind][v.Key] {
			if n, ok := v.Value.Number(); ok {
				v.Value = trace.Text(t.text(int(math.Min(math.Max(n, -1), math.MaxInt32))))
			}
		}
	}
}

// markers writes the markers of a thread: on its own row if there are no samples, else on one aside.
func (c *converter) markers(ctx context.Context, t *thread, p *process, at trace.LocationID, place string) error {
	if t.markers == nil || t.markers.rows == 0 {
		return nil
	}
	if c.known.samples > 0 {
		at = c.w.Location(importer.Below(at, trace.KindRepeat, "markers"))
	}
	s := c.w.Stream(at, trace.StreamOptions{Unordered: true, ByName: true})
	var data payload
	var cursor jsonstream.Cursor
	attributes := importer.NewAttributes(c.w)
	nested, untimed := int64(0), int64(0)
	for i := range t.markers.rows {
		if i%4096 == 0 && ctx.Err() != nil {
			_ = s.Close()
			return ctx.Err()
		}
		data.read(t.markers.data.at(i), t, &p.meta, &cursor)
		nested += int64(data.nested)
		phase, begin, end := t.phase(i, &data)
		if phase != intervalEnd && math.IsNaN(begin) || (phase == interval || phase == intervalEnd) && math.IsNaN(end) {
			untimed++
			continue
		}
		region := c.w.Region(t.marker(i, p))
		switch phase {
		case instant:
			s.Instant(c.time(p, begin), region)
		case interval:
			s.Interval(c.time(p, begin), c.time(p, end), region)
		case intervalStart:
			s.Enter(c.time(p, begin), region)
		case intervalEnd:
			s.Leave(c.time(p, end), region)
			continue // attributes belong to the begin
		}
		for _, v := range data.values {
			s.Attribute(attributes.ID(v.Key), v.Value)
		}
	}
	importer.Tell(c.w, trace.MissingDetails, "members of markers that are lists or objects (stacks, causes)", nested,
		place)
	importer.Tell(c.w, trace.MissingEvents, "markers without a time", untimed, place)
	return s.Close()
}

// marker is the region of a marker.
func (t *thread) marker(i int, p *process) trace.Region {
	r := trace.Region{Name: cmp.Or(t.text(t.markers.index("name", i)), "(marker)")}
	if k := t.markers.index("category", i); k >= 0 && k < len(p.meta.categories) {
		r.Category = p.meta.categories[k]
		r.Role = categoryRoles[r.Category]
	}
	return r
}

// phase returns the phase and the times of a marker. Old versions have one time, and the rest in the payload.
func (t *thread) phase(i int, data *payload) (phase int, begin, end float64) {
	if t.markers.has("phase") {
		phase = t.markers.index("phase", i)
		if phase < instant || phase > intervalEnd {
			phase = instant
		}
		return phase, t.markers.at("startTime", i), t.markers.at("endTime", i)
	}
	at := t.markers.at("time", i)
	if math.IsNaN(at) {
		at = t.markers.at("startTime", i)
	}
	switch {
	case data.phase == "start":
		return intervalStart, at, at
	case data.phase == "end":
		return intervalEnd, at, at
	case !math.IsNaN(data.start) && !math.IsNaN(data.end):
		return interval, data.start, data.end
	}
	return instant, at, at
}
