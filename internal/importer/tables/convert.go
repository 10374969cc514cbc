package tables

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// someLinks is the number of links that are given to the writer at a time.
const someLinks = 1024

// A converter is one import.
type converter struct {
	export
	origin    trace.Time
	end       trace.Time
	spans     bool // parents are recorded by ids, see trace.StreamOptions
	places    map[int64]*location
	regions   map[int64]trace.RegionID
	fileOf    map[int64]string // of regions
	attribute map[string]trace.AttributeID
	counters  map[int64]counter
	paths     map[int64]trace.CallPathID
	metrics   map[string]trace.MetricID
	groups    map[int64]trace.CommunicatorID
	links     []trace.Link // on their way
}

// A location with the number of rows of its lanes.
type location struct {
	id    trace.LocationID
	lanes []uint32
	// torn: rows are missing or out of place, so that numbers do not name intervals.
	torn bool
}

// number is a row's place among the intervals of the location's stream, from 1 on; 0: not known.
func (l *location) number(lane, row int64) uint32 {
	if l.torn || lane < 0 || lane >= int64(len(l.lanes)) || row < 0 || row >= int64(l.lanes[lane]) {
		return 0
	}
	n := uint32(row) + 1
	for _, rows := range l.lanes[:lane] {
		n += rows
	}
	return n
}

// mostTime keeps sums of times and origins away from the end of 64 bits.
const mostTime = 1 << 61

func (r *converter) time(t int64) (trace.Time, bool) {
	return r.origin + trace.Time(t), t >= -mostTime && t <= mostTime
}

func (r *converter) link(l trace.Link) {
	if r.links = append(r.links, l); len(r.links) == someLinks {
		r.flushLinks()
	}
}

func (r *converter) flushLinks() {
	trace.AddLinks(r.w, r.links)
	r.links = r.links[:0]
}

func (r *converter) theLinks() error {
	kinds := map[string]trace.LinkKind{}
	for k := trace.LinkMessage; k <= trace.LinkFlow; k++ {
		kinds[k.String()] = k
	}
	const columns = "kind from_location from_time from_lane from_row to_location to_time to_lane to_row size tag " +
		"communicator_id count from_region_id to_region_id"
	err := r.each("links", columns, func(x *row) error {
		l := trace.Link{Kind: kinds[x.text(0)], Size: x.or(9, -1), Tag: x.or(10, 0), Communicator: trace.NoCommunicator,
			Count: x.or(12, 1)}
		from, to := r.places[x.or(1, -1)], r.places[x.or(5, -1)]
		begin, timed := x.integer(2)
		var ok, okay bool
		l.From, ok = r.linkEnd(from, begin, x, 3, 13)
		l.To, okay = r.linkEnd(to, x.or(6, 0), x, 7, 14)
		if l.Kind == 0 || !ok || !okay {
			r.skip(trace.MissingLinks, "links of a kind, location or time that is not there", 1, "")
			return nil
		}
		if id, has := x.integer(11); has {
			if c, known := r.groups[id]; known {
				l.Communicator = c
			}
		}
		if l.Untimed = !timed; l.Untimed {
			l.From.Time, l.To.Time, l.From.Number, l.To.Number = 0, 0, 0, 0
		}
		r.link(l)
		return nil
	})
	r.flushLinks()
	return err
}

// linkEnd is one end of a link; its lane and row are the columns from place on, and region the one of its region.
func (r *converter) linkEnd(l *location, t int64, x *row, place, region int) (trace.End, bool) {
	at, ok := r.time(t)
	if l == nil || !ok {
		return trace.End{}, false
	}
	in := trace.NoRegion
	if id, has := x.integer(region); has {
		if known, ok := r.regions[id]; ok {
			in = known
		}
	}
	return trace.End{Location: l.id, Time: at, Region: in, Number: l.number(x.or(place, -1), x.or(place+1, -1))}, true
}

// along goes through rows that follow each other by location, with the stream of each.
func (r *converter) along(table, columns string, at func(*row) (trace.LocationID, bool),
	f func(*row, trace.Stream)) error {
	var stream trace.Stream
	last := trace.NoLocation
	err := r.each(table, columns, func(x *row) error {
		id, ok := at(x)
		if !ok {
			r.skip(trace.MissingEvents, table+" of what is not there", 1, "")
			return nil
		}
		if id != last || stream == nil {
			if stream != nil {
				if err := stream.Close(); err != nil {
					return err
				}
			}
			last, stream = id, r.w.Stream(id, r.options())
		}
		f(x, stream)
		return nil
	})
	if stream != nil {
		if e := stream.Close(); err == nil {
			err = e
		}
	}
	return err
}

func (r *converter) instants() error {
	facts := r.newFacts("instant")
	defer facts.close()
	last, number := int64(-1), int64(-1)
	var failed error
	err := r.along("instants", "location time region_id", func(x *row) (trace.LocationID, bool) {
		if at := x.or(0, -1); at != last {
			last, number = at, -1
		}
		number++
		l := r.places[last]
		_, known := r.regions[x.or(2, -1)]
		if _, ok := r.time(x.or(1, mostTime+1)); l == nil || !known || !ok {
			return 0, false
		}
		return l.id, true
	}, func(x *row, s trace.Stream) {
		t, _ := r.time(x.or(1, 0))
		s.Instant(t, r.regions[x.or(2, -1)])
		if failed == nil {
			failed = facts.of(last, -1, number, s)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return facts.finish()
}

func (r *converter) samples() error {
	return r.along("samples", "counter time value", func(x *row) (trace.LocationID, bool) {
		c, known := r.counters[x.or(0, -1)]
		_, ok := r.time(x.or(1, mostTime+1))
		return c.at, known && ok
	}, func(x *row, s trace.Stream) {
		t, _ := r.time(x.or(1, 0))
		s.Sample(r.counters[x.or(0, -1)].id, t, orNone(x.number(2)))
	})
}

// orNone is a number, or none where the table has null.
func orNone(v float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return v
}

// profile reads the tables of profiles.
func (r *converter) profile() error {
	err := r.each("metrics", "name unit parent joins whole main description", func(x *row) error {
		m := trace.Metric{Name: x.text(0), Unit: x.text(1), Parent: x.text(2), Integer: x.or(4, 0) == 1,
			Default: x.or(5, 0) == 1, Description: x.text(6)}
		if j := trace.Join(x.text(3)); j == trace.JoinMin || j == trace.JoinMax || j == trace.JoinMean {
			m.Join = j
		}
		r.metrics[m.Name] = r.w.Metric(m)
		return nil
	})
	if err != nil {
		return err
	}
	err = r.each("callpaths", "id parent region_id flat", func(x *row) error {
		p := trace.CallPath{Parent: trace.NoCallPath, Flat: x.or(3, 0) == 1}
		region, known := r.regions[x.or(2, -1)]
		if up, has := x.integer(1); has {
			above, ok := r.paths[up]
			p.Parent, known = above, known && ok
		}
		if p.Region = region; !known {
			r.skip(trace.MissingValues, "call paths of a region or caller that is not there", 1, "")
			return nil
		}
		r.paths[x.or(0, -1)] = r.w.CallPath(p)
		return nil
	})
	if err != nil {
		return err
	}
	err = r.each("profile", "location callpath metric calls subcalls inclusive exclusive path_inclusive",
		func(x *row) error {
			if _, ofPath := x.integer(1); !ofPath {
				return nil // a sum over intervals, which are read themselves
			}
			l := r.places[x.or(0, -1)]
			path, known := r.paths[x.or(1, -1)]
			metric, measured := r.metrics[x.text(2)]
			if l == nil || !known || !measured {
				r.skip(trace.MissingValues, "profile rows of what is not there", 1, "")
				return nil
			}
			calls, _ := x.number(3) // 0 if they are not counted
			subcalls, _ := x.number(4)
			inclusive, has := x.number(7)
			if !has { // of tables before the column was added
				inclusive = orNone(x.number(5))
			}
			r.w.Profile(trace.ProfileRow{Location: l.id, Path: path, Metric: metric, Calls: calls, Subcalls: subcalls,
				Inclusive: inclusive, Exclusive: orNone(x.number(6))})
			return nil
		})
	if err != nil {
		return err
	}
	if err := r.lines(); err != nil {
		return err
	}
	return r.condensed()
}

// lines reads values of source lines.
func (r *converter) lines() error {
	return r.each("lines", "location callpath callee_callpath region_id file line metric calls inclusive exclusive",
		func(x *row) error {
			l := r.places[x.or(0, -1)]
			path, known := r.paths[x.or(1, -1)]
			metric, measured := r.metrics[x.text(6)]
			callee := trace.NoCallPath
			if id, has := x.integer(2); has {
				p, ok := r.paths[id]
				callee, known = p, known && ok
			}
			if l == nil || !known || !measured {
				r.skip(trace.MissingValues, "lines of what is not there", 1, "")
				return nil
			}
			calls, _ := x.number(7) // 0 if they are not counted
			row := trace.LineRow{Location: l.id, Path: path, Callee: callee, File: trace.NoFile,
				Line: uint32(min(max(x.or(5, 0), 0), 1<<30)), Metric: metric, Calls: calls,
				Inclusive: orNone(x.number(8)), Exclusive: orNone(x.number(9))}
			if file := x.text(4); file != r.fileOf[x.or(3, -1)] {
				row.File = trace.SourceFile(r.w, file)
			}
			trace.AddLines(r.w, []trace.LineRow{row})
			return nil
		})
}

// condensed reads distributions and moments.
func (r *converter) condensed() error {
	err := r.each("distributions", "location callpath metric count min max mean sum_squares", func(x *row) error {
		l := r.places[x.or(0, -1)]
		a := trace.AtomicRow{Path: trace.NoCallPath, Count: orNone(x.number(3)), Min: orNone(x.number(4)),
			Max: orNone(x.number(5)), Mean: orNone(x.number(6)), SumSquares: orNone(x.number(7))}
		metric, known := r.metrics[x.text(2)]
		if id, has := x.integer(1); has {
			path, ok := r.paths[id]
			a.Path, known = path, known && ok
		}
		if l == nil || !known {
			r.skip(trace.MissingValues, "distributions of what is not there", 1, "")
			return nil
		}
		a.Location, a.Metric = l.id, metric
		r.w.Atomic(a)
		return nil
	})
	if err != nil {
		return err
	}
	return r.each("moments", "location role begin end weight mean m2 m3 m4 m5 m6 m7 m8", func(x *row) error {
		l := r.places[x.or(0, -1)]
		role, known := trace.ParseRole(x.text(1))
		begin, ok := r.time(x.or(2, mostTime+1))
		end, okay := r.time(x.or(3, mostTime+1))
		if l == nil || !known || !ok || !okay {
			r.skip(trace.MissingValues, "moments of what is not there", 1, "")
			return nil
		}
		m := trace.MomentRow{Location: l.id, Role: role, Begin: begin, End: end, Weight: orNone(x.number(4)),
			Mean: orNone(x.number(5))}
		for k := 2; k <= trace.MaxMoment; k++ {
			m.Central[k] = orNone(x.number(4 + k))
		}
		r.w.Moments(m)
		return nil
	})
}
