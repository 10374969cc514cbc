package tables

import (
	"github.com/parallax-hpc/parallax/internal/importer/parquetfile"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Intervals come back into the lanes that they had. One lane is a stack: its rows are entered and
// left in their order, so their nesting is as it was, also if times alone do not tell. Several
// lanes were laid by the rule of the store, first fit in order of time, which gives the same
// again for the same intervals. If ids tell parents, they are told again.

// An open interval.
type open struct {
	row        int64
	begin, end trace.Time
	region     trace.RegionID
}

// A track is the location whose intervals are read.
type track struct {
	*converter
	at      *location
	stream  trace.Stream
	lane    int64
	next    int64 // row
	stack   []open
	stacked bool // the rows are entered and left
}

// mostOpen bounds how deep intervals nest, as the store does.
const mostOpen = 1 << 20

func (r *converter) intervals() error {
	if err := r.countLanes(); err != nil {
		return err
	}
	t := &track{converter: r}
	facts := r.newFacts("interval")
	defer facts.close()
	last := int64(-1)
	err := r.each("intervals", "location lane row begin end region_id parent", func(x *row) error {
		id := x.or(0, -1)
		if id != last || t.at == nil {
			if err := t.close(); err != nil {
				return err
			}
			last = id
			if err := t.open(r.places[id]); err != nil {
				return err
			}
		}
		return t.add(x, id, facts)
	})
	if err != nil {
		return err
	}
	if err := t.close(); err != nil {
		return err
	}
	r.flushLinks()
	return facts.finish()
}

// countLanes finds out how many rows each lane has.
func (r *converter) countLanes() error {
	var l *location
	last := int64(-1)
	return r.each("intervals", "location lane", func(x *row) error {
		if id := x.or(0, -1); id != last || l == nil {
			last, l = id, r.places[id]
		}
		if l == nil {
			return nil
		}
		lane := x.or(1, -1)
		if lane == int64(len(l.lanes)) {
			l.lanes = append(l.lanes, 0)
		}
		if lane != int64(len(l.lanes)-1) {
			l.torn = true
			return nil
		}
		l.lanes[lane]++
		return nil
	})
}

func (r *converter) options() trace.StreamOptions {
	return trace.StreamOptions{Unordered: r.spans, ByParent: r.spans}
}

func (t *track) open(l *location) error {
	t.at, t.lane, t.next = l, 0, 0
	if l != nil {
		t.stacked = !t.spans && !l.torn && len(l.lanes) == 1
		t.stream = t.w.Stream(l.id, t.options())
	}
	return nil
}

func (t *track) close() error {
	t.pop(-1)
	if t.stream == nil {
		return nil
	}
	err := t.stream.Close()
	t.stream = nil
	return err
}

// pop leaves all intervals that are not around one whose parent is the given row.
func (t *track) pop(parent int64) {
	for n := len(t.stack) - 1; n >= 0 && t.stack[n].row != parent; n-- {
		if t.stacked {
			t.stream.Leave(t.stack[n].end, t.stack[n].region)
		}
		t.stack = t.stack[:n]
	}
}

func (t *track) add(x *row, id int64, facts *facts) error {
	lane, number := x.or(1, -1), x.or(2, -1)
	region, known := t.regions[x.or(5, -1)]
	begin, ok := t.time(x.or(3, mostTime+1))
	end, okay := t.time(x.or(4, mostTime+1))
	if t.at == nil || !known || !ok || !okay || len(t.stack) >= mostOpen {
		t.skip(trace.MissingIntervals, "intervals of a location, region or time that is not there", 1, "")
		if t.at != nil {
			t.at.torn = true
		}
		return nil
	}
	if lane != t.lane {
		t.pop(-1)
		t.lane, t.next = lane, 0
	}
	if number != t.next {
		t.at.torn = true
	}
	t.next = number + 1
	parent := x.or(6, -1)
	t.pop(parent)
	if parent >= 0 && len(t.stack) == 0 {
		t.w.Report(trace.Repaired, "intervals whose parent is not there, put at the top", 1, "")
	}
	switch {
	case t.stacked:
		t.stream.Enter(begin, region)
	default:
		t.stream.Interval(begin, end, region)
		if n := len(t.stack); t.spans && n > 0 {
			t.tell(&t.stack[n-1], open{number, begin, end, region})
		}
	}
	t.stack = append(t.stack, open{number, begin, end, region})
	return facts.of(id, lane, number, t.stream)
}

// tell says who called an interval of the same lane.
func (t *track) tell(caller *open, x open) {
	from, to := t.at.number(t.lane, caller.row), t.at.number(t.lane, x.row)
	if from == 0 || to == 0 {
		return
	}
	t.link(trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
		From: trace.End{Location: t.at.id, Time: caller.begin, Region: caller.region, Number: from},
		To:   trace.End{Location: t.at.id, Time: x.begin, Region: x.region, Number: to}})
}

// facts are the attributes of intervals, or of instants, read next to them in the same order.
type facts struct {
	r     *converter
	kind  string
	in    *parquetfile.Reader
	x     row
	more  bool
	stray int64
	err   error
}

func (r *converter) newFacts(kind string) *facts {
	f := &facts{r: r, kind: kind}
	if file := r.files["attributes"]; file != nil {
		f.in = file.NewReader("of", "location", "lane", "row", "region_id", "key", "value", "type")
		f.x = row{in: f.in, i: -1}
		f.next()
	}
	return f
}

// next goes to the next attribute of the kind.
func (f *facts) next() {
	for {
		if f.x.i++; f.x.i >= f.in.Rows {
			if f.more, f.err = f.in.Next(f.r.ctx); f.err != nil || !f.more {
				f.more = false
				return
			}
			f.x.i = 0
		}
		if f.more = true; f.x.text(0) == f.kind {
			return
		}
	}
}

// of adds the attributes of one interval or instant. Those of missing rows are counted.
func (f *facts) of(location, lane, number int64, to trace.Stream) error {
	for f.more {
		switch c := f.compare(location, lane, number); {
		case c > 0:
			return f.err
		case c == 0:
			key := f.x.text(5)
			id, known := f.r.attribute[key]
			if !known {
				id = f.r.w.Attribute(key)
				f.r.attribute[key] = id
			}
			to.Attribute(id, valueOf(f.x.text(7), f.x.text(6)))
		default:
			f.stray++
		}
		f.next()
	}
	return f.err
}

// compare reports whether the attribute at hand is of an interval before (below 0) or after the given one.
func (f *facts) compare(location, lane, number int64) int {
	for i, want := range [...]int64{location, lane, number} {
		if have := f.x.or(i+1, -1); have != want {
			if have < want {
				return -1
			}
			return 1
		}
	}
	return 0
}

// finish counts the attributes left.
func (f *facts) finish() error {
	for f.more && f.err == nil {
		f.stray++
		f.next()
	}
	if f.stray > 0 {
		f.r.skip(trace.MissingDetails,
			"attributes of "+f.kind+"s that are not there", f.stray, f.r.labels["attributes"])
	}
	if f.in != nil {
		f.r.damaged("attributes", f.in)
	}
	return f.err
}

func (f *facts) close() {
	if f.in != nil {
		f.in.Close()
	}
}
