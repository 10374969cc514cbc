package importer

import (
	"cmp"
	"path"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Attributes of locations by which rows of joined sources are found to be the same.
const (
	processID = "pid" // of a process
	threadID  = "tid" // of a thread
)

// PID are the attributes of a process with that number in its operating system; negative: it is not known.
func PID(n int64) []trace.Attribute { return numbered(processID, n) }

// TID are the attributes of a thread with that number in its operating system; negative: it is not known.
func TID(n int64) []trace.Attribute { return numbered(threadID, n) }

func numbered(key string, n int64) []trace.Attribute {
	if n < 0 {
		return nil
	}
	return []trace.Attribute{{Key: key, Value: trace.Integer(n)}}
}

// An osIdentity is what distinguishes a process or thread in its operating system; -1 and "" are not known.
type osIdentity struct {
	host     string
	pid, tid int64
}

// A joint puts several sources into one trace. A process that an earlier source of another format has too is the same
// location. So is a thread: what the later source says of it is on a row below, aside, since the earlier one tells that
// time already. Everything else of a source is below a location with the name of its file.
//
// Sources of one format are never the same rows: a tool records a thread once, so equal numbers are of two machines.
type joint struct {
	w         trace.Writer
	mu        sync.Mutex
	processes map[int64][]joined
	threads   map[int64][]joined // by thread id
	owners    map[trace.LocationID]*part
	matched   int64
}

// A joined is a location that later sources may have too.
type joined struct {
	at trace.LocationID
	osIdentity
	of *part
}

func newJoint(w trace.Writer) *joint {
	return &joint{w: w, processes: map[int64][]joined{}, threads: map[int64][]joined{},
		owners: map[trace.LocationID]*part{}}
}

// find returns the one location of another format that has an identity.
func (j *joint) find(list []joined, id osIdentity, of *part) (at trace.LocationID, ok bool) {
	for _, x := range list {
		if x.of.format == of.format || x.host != "" && id.host != "" && x.host != id.host ||
			x.pid >= 0 && id.pid >= 0 && x.pid != id.pid {
			continue
		}
		if ok && at != x.at {
			return 0, false // two fit
		}
		at, ok = x.at, true
	}
	return at, ok
}

// A part is the Writer for one source of a joint.
type part struct {
	trace.Writer
	joint  *joint
	format *Format
	name   string // of its file
	by     trace.Time
	known  map[string]osIdentity
	paths  map[trace.LocationID]string
	rows   map[trace.LocationID]trace.LocationID // of locations that an earlier source has
	shared map[trace.LocationID]bool             // threads among them
	aside  map[trace.LocationID]bool             // these rows, and all below
}

func (j *joint) part(r Run, known map[string]osIdentity, by trace.Time) *part {
	return &part{Writer: j.w, joint: j, format: r.Format, name: r.Files[0], by: by, known: known,
		paths: map[trace.LocationID]string{}, rows: map[trace.LocationID]trace.LocationID{},
		shared: map[trace.LocationID]bool{}, aside: map[trace.LocationID]bool{}}
}

// pathOf is the place of a location in the tree of its source.
func pathOf(parent string, l *trace.Location) string {
	return parent + "\x00" + string(l.Kind) + "\x00" + cmp.Or(l.Key, l.Name)
}

func (p *part) Location(l trace.Location) trace.LocationID {
	j := p.joint
	j.mu.Lock()
	defer j.mu.Unlock()
	where := pathOf(p.paths[l.Parent], &l)
	who, known := p.known[where]
	if at, ok := p.same(l.Kind, who); known && ok {
		p.paths[at] = where
		return at
	}
	switch owner := j.owners[l.Parent]; {
	case l.Parent == trace.NoLocation:
		l.Parent = p.Writer.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Key: p.name,
			Name: path.Base(p.name), Rank: trace.NoRank})
	case p.belowThread(l.Parent): // below a thread of both
		if row, ok := p.rows[l.Parent]; ok {
			l.Parent = row
		}
		if !l.Kind.Aside() {
			l.Kind = trace.KindRepeat
		}
	case owner != p: // a process of both: its rows must not be those of the earlier source
		l.Key = p.name + " " + cmp.Or(l.Key, l.Name)
	}
	at := p.Writer.Location(l)
	if j.owners[at] == nil {
		j.owners[at] = p
		switch {
		case known && who.tid >= 0 && l.Kind == trace.KindThread:
			j.threads[who.tid] = append(j.threads[who.tid], joined{at, who, p})
		case known && who.pid >= 0 && l.Kind == trace.KindProcess:
			j.processes[who.pid] = append(j.processes[who.pid], joined{at, who, p})
		}
	}
	p.aside[at] = p.aside[l.Parent]
	p.paths[at] = where
	return at
}

// belowThread reports whether a location is a thread that an earlier source has, or below the row of one.
func (p *part) belowThread(at trace.LocationID) bool {
	return p.shared[at] || p.aside[at]
}

// same finds the location of an earlier source that a process or thread is, and makes the row below such a thread.
func (p *part) same(kind trace.Kind, who osIdentity) (trace.LocationID, bool) {
	switch {
	case kind == trace.KindThread && who.tid >= 0:
		at, ok := p.joint.find(p.joint.threads[who.tid], who, p)
		if ok {
			p.shared[at] = true
			p.rowBelow(at)
		}
		return at, ok
	case kind == trace.KindProcess && who.pid >= 0:
		return p.joint.find(p.joint.processes[who.pid], who, p)
	}
	return 0, false
}

// rowBelow returns the row for the records of a source about a location that an earlier source has.
func (p *part) rowBelow(at trace.LocationID) trace.LocationID {
	return Once(p.rows, at, func() trace.LocationID {
		row := p.Writer.Location(trace.Location{Parent: at, Kind: trace.KindRepeat, Key: p.name,
			Name: p.format.Name, Rank: trace.NoRank})
		p.joint.owners[row], p.aside[row] = p, true
		if p.shared[at] {
			p.joint.matched++
		}
		return row
	})
}

// own is the location that a source writes to: itself, or the row below one of an earlier source.
func (p *part) own(at trace.LocationID) trace.LocationID {
	p.joint.mu.Lock()
	defer p.joint.mu.Unlock()
	if owner := p.joint.owners[at]; owner == p || owner == nil {
		return at
	}
	return p.rowBelow(at)
}

func (p *part) Describe(at trace.LocationID, l trace.Location) {
	p.joint.mu.Lock()
	mine := p.joint.owners[at] == p
	p.joint.mu.Unlock()
	if mine { // else the earlier source names it
		p.Writer.Describe(at, l)
	}
}

func (p *part) Stream(at trace.LocationID, o trace.StreamOptions) trace.Stream {
	s := p.Writer.Stream(p.own(at), o)
	if p.by == 0 {
		return s
	}
	return &shiftedStream{s, p.by}
}

func (p *part) Counter(c trace.Counter) trace.CounterID {
	c.Location = p.own(c.Location)
	return p.Writer.Counter(c)
}

func (p *part) Communicator(c trace.Communicator) trace.CommunicatorID {
	members := make([]trace.LocationID, len(c.Members))
	for i, at := range c.Members {
		members[i] = p.own(at)
	}
	c.Members = members
	return p.Writer.Communicator(c)
}

func (p *part) Link(l trace.Link) {
	p.move(&l)
	p.Writer.Link(l)
}

// Links implements trace.LinkTaker.
func (p *part) Links(list []trace.Link) {
	for i := range list {
		p.move(&list[i])
	}
	trace.AddLinks(p.Writer, list)
}

func (p *part) move(l *trace.Link) {
	l.From.Location, l.To.Location = p.own(l.From.Location), p.own(l.To.Location)
	if !l.Untimed {
		l.From.Time += p.by
		l.To.Time += p.by
	}
}

func (p *part) Profile(r trace.ProfileRow) {
	r.Location = p.own(r.Location)
	p.Writer.Profile(r)
}

func (p *part) Atomic(r trace.AtomicRow) {
	r.Location = p.own(r.Location)
	p.Writer.Atomic(r)
}

func (p *part) Moments(m trace.MomentRow) {
	m.Location = p.own(m.Location)
	m.Begin, m.End = m.Begin+p.by, m.End+p.by
	p.Writer.Moments(m)
}

// Cover implements trace.Coverer.
func (p *part) Cover(begin, end trace.Time) { trace.Cover(p.Writer, begin+p.by, end+p.by) }

// Meet implements trace.MeetingTaker.
func (p *part) Meet(m *trace.Meeting) {
	for i := range m.Members {
		m.Members[i].Location = p.own(m.Members[i].Location)
		m.Members[i].Begin += p.by
		m.Members[i].End += p.by
	}
	trace.Meet(p.Writer, m)
}

// SortRegions implements trace.RegionSorter.
func (p *part) SortRegions() { trace.SortRegions(p.Writer) }
