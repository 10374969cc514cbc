package xplane

import (
	"cmp"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/launch"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A line is a thread or a stream while it is read.
type line struct {
	*converter
	plane   *plane
	id      uint64
	name    string
	display string
	start   int64 // ns
	at      trace.LocationID
	stream  trace.Stream
	regions map[lineRegion]trace.RegionID
	e       event
	device  bool
	again   bool // it repeats the time of other lines
}

type lineRegion struct {
	metadata int64
	category string
}

// setField takes one field of the line.
func (l *line) setField(field int, n uint64, b []byte) {
	switch field {
	case lineID:
		l.id = n
	case lineName:
		l.name = string(b)
	case lineDisplayName:
		l.display = string(b)
	case lineTimestampNS:
		l.start = int64(n)
	case lineEvents:
		if !l.e.decode(b) {
			l.w.Report(trace.MissingIntervals, "events that are damaged", 1, l.label)
			return
		}
		l.open()
		l.event()
	}
}

// derived are lines of devices that repeat others in a coarser form.
var derived = map[string]bool{"Steps": true, "XLA Modules": true, "XLA TraceMe": true, "Framework Name Scope": true,
	"Framework Ops": true, "Source code": true, "Source": true, "TensorFlow Name Scope": true, "TensorFlow Ops": true}

// open finds the location, when the first event comes.
func (l *line) open() {
	if l.stream != nil {
		return
	}
	name := l.name
	if l.display != "" {
		name = l.display
	}
	name = cmp.Or(name, "line")
	loc := trace.Location{Parent: l.process, Kind: trace.KindThread, Key: keyOf(l.id, name), Name: name,
		Rank: trace.NoRank}
	if rest, ok := strings.CutPrefix(l.plane.name, "/device:"); ok || strings.HasPrefix(l.plane.name, "#Chip") {
		l.device = true
		if !ok {
			rest = l.plane.name
		}
		device := trace.Location{Parent: l.process, Kind: trace.KindDevice, Key: l.plane.name,
			Name: strings.ReplaceAll(rest, ":", " "), Rank: trace.NoRank, Order: 1 << 40}
		for _, key := range []string{"gpu_device_name", "device_type_string", "device_vendor"} {
			if s, ok := l.plane.fact(key); ok && l.plane.text(&s) != "" {
				device.Attributes = append(device.Attributes,
					trace.Attribute{Key: "model", Value: trace.Text(l.plane.text(&s))})
				break
			}
		}
		loc.Parent = l.w.Location(device)
		loc.Kind = trace.KindStream
		loc.Order = int64(l.id & (1<<40 - 1))
		if l.again = derived[name]; l.again {
			loc.Kind = trace.KindRepeat
		}
	} else if !strings.HasPrefix(l.plane.name, "/host:CPU") {
		loc.Parent = l.w.Location(trace.Location{Parent: l.process, Kind: trace.KindGroup, Key: l.plane.name,
			Name: l.plane.name, Rank: trace.NoRank, Order: 1 << 41})
	}
	l.at = l.w.Location(loc)
	l.stream = l.w.Stream(l.at, trace.StreamOptions{Unordered: true, ByName: true})
	l.regions = map[lineRegion]trace.RegionID{}
}

func keyOf(id uint64, name string) string {
	const hex = "0123456789abcdef"
	var b [16]byte
	for i := range b {
		b[i] = hex[id>>(60-4*i)&15]
	}
	return string(b[:]) + name
}

// event adds the event that was parsed last.
func (l *line) event() {
	e := &l.e
	if e.times > 1 && e.offset == 0 {
		l.w.Report(trace.MissingIntervals, "events that are only totals of many", e.times, l.label)
		return
	}
	begin, end := l.time(e.offset), l.time(e.offset+max(e.duration, 0))
	if e.duration < 0 || e.offset < 0 {
		l.w.Report(trace.Repaired, "events with a negative offset or duration", 1, l.label)
	}
	region, role := l.region(e)
	if e.duration == 0 && role != trace.RoleAnnotation && !l.device {
		l.stream.Instant(begin, region)
	} else {
		l.stream.Interval(begin, end, region)
	}
	for i := range e.stats {
		s := &e.stats[i]
		name := l.plane.stats[s.name]
		v, ok := l.plane.value(s)
		switch {
		case !ok:
			if s.value.Number == statBytes {
				l.w.Report(trace.MissingDetails, "stats that are bytes", 1, l.label)
			}
		case name == "correlation_id":
			id, _ := s.integer()
			l.stream.Attribute(l.correlation, v)
			l.links.addLaunch(l.device, id, launch.End{Time: begin, Location: l.at, Region: region})
		case name == "_p" || name == "_pt" || name == "_c" || name == "_ct":
			// pairs of a type and an id, taken below
		case name != "":
			l.stream.Attribute(l.attributes.ID(name), v)
		}
	}
	at := launch.End{Time: begin, Location: l.at, Region: region}
	l.flow("_pt", "_p", true, at)
	l.flow("_ct", "_c", false, at)
}

// flow remembers a producer or a consumer.
func (l *line) flow(kind, id string, producer bool, at launch.End) {
	found := false
	for i := range l.e.stats {
		s := &l.e.stats[i]
		n, ok := s.integer()
		switch name := l.plane.stats[s.name]; {
		case ok && name == kind:
			at.Group = n
		case ok && name == id:
			at.ID, found = n, true
		}
	}
	if found {
		l.links.addFlow(producer, at)
	}
}

// time rounds a time in ps to the run's clock. Times of a profile count from its start; older
// profilers wrote the time of day.
func (l *line) time(offset int64) trace.Time {
	t := trace.Time(l.start) + trace.Time((offset+500)/1000)
	if t < l.origin {
		t += l.origin
	}
	return t
}

// region finds the region of an event by its kind and its stats.
func (l *line) region(e *event) (trace.RegionID, trace.Role) {
	m := l.plane.events[e.metadata]
	r := trace.Region{Name: m.name}
	if m.display != "" {
		r.Name = m.display
	}
	r.Name = cmp.Or(r.Name, "event without a name")
	r.Category = "host"
	if l.device {
		r.Category = "kernel"
	}
	for i := range e.stats {
		switch l.plane.stats[e.stats[i].name] {
		case "memcpy_details":
			if l.device {
				r.Category, r.Role = "gpu_memcpy", trace.RoleCopy
			}
		case "memset_details":
			if l.device {
				r.Category, r.Role = "gpu_memset", trace.RoleCopy
			}
		case "step_num", "step_name":
			r.Category, r.Role = "step", trace.RoleAnnotation
		}
	}
	switch {
	case l.again:
		r.Category, r.Role = strings.ToLower(l.name), trace.RoleAnnotation
	case strings.HasPrefix(r.Name, "$"):
		r.Category = "python_function"
	}
	key := lineRegion{e.metadata, r.Category}
	id := importer.Once(l.regions, key, func() trace.RegionID { return l.w.Region(r) })
	return id, r.Role
}

func (l *line) close() error {
	if l.stream == nil {
		return nil
	}
	return l.stream.Close()
}
