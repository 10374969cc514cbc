package importer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A survey is a Writer that keeps nothing but the times that a run reaches from and to, its processes and threads, and
// events that another source may have recorded too: spans by their ids, sync markers, calls that all processes of an
// MPI program make, and names that occur once.
type survey struct {
	mu         sync.Mutex
	ids        int32
	locations  map[string]trace.LocationID // by path
	places     []surveyed
	regions    map[string]trace.RegionID
	names      []string
	attributes map[string]trace.AttributeID
	begin, end trace.Time
	any        bool
	epoch      trace.Time // what added to its times gives times since 1970
	told       bool       // by the source
	events     map[string]trace.Time
	twice      map[string]bool // events that name no single time
	singles    [4]singles
	waiting    []calls // until processes are described
	room       int     // regions in them
}

// Calls are those of a location, by region.
type calls struct {
	at trace.LocationID
	of map[trace.RegionID]call
}

// Singles are the regions that occur once: in a thread or process of the operating system, in a rank, and in the whole
// run. Tools copy a region (Kineto has a range of a thread on the GPU too), and ranks run the same program.
type singles struct {
	once  map[single]trace.Time
	often map[single]bool
}

// A single is a region with the number of its thread, process or rank.
type single struct {
	region trace.RegionID
	of     int64
}

// add takes calls of a region, the first of which began at a time.
func (s *singles) add(key single, n int, first trace.Time) {
	_, known := s.once[key]
	switch {
	case s.often[key] || !known && len(s.once)+len(s.often) >= mostEvents:
	case known || n > 1:
		delete(s.once, key)
		s.often[key] = true
	default:
		s.once[key] = first
	}
}

// A surveyed is a location of a run with the identities that other runs may have for it.
type surveyed struct {
	path string
	rank int
	osIdentity
}

// mostEvents bounds how many events a survey keeps.
const mostEvents = 1 << 20

func newSurvey() *survey {
	s := &survey{locations: map[string]trace.LocationID{}, regions: map[string]trace.RegionID{},
		attributes: map[string]trace.AttributeID{}, events: map[string]trace.Time{}, twice: map[string]bool{}}
	for i := range s.singles {
		s.singles[i] = singles{map[single]trace.Time{}, map[single]bool{}}
	}
	return s
}

func (s *survey) next() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return s.ids - 1
}

func (s *survey) Counter(trace.Counter) trace.CounterID          { return trace.CounterID(s.next()) }
func (s *survey) Metric(trace.Metric) trace.MetricID             { return trace.MetricID(s.next()) }
func (s *survey) CallPath(trace.CallPath) trace.CallPathID       { return trace.CallPathID(s.next()) }
func (s *survey) Profile(trace.ProfileRow)                       {}
func (s *survey) Atomic(trace.AtomicRow)                         {}
func (s *survey) Topology(trace.Topology)                        {}
func (s *survey) Property(string, string)                        {}
func (s *survey) Link(trace.Link)                                {}
func (s *survey) Links([]trace.Link)                             {}
func (s *survey) Moments(m trace.MomentRow)                      { s.reach(m.Begin, m.End) }
func (s *survey) Cover(begin, end trace.Time)                    { s.reach(begin, end) }
func (s *survey) Report(trace.ReportKind, string, int64, string) {}
func (s *survey) Communicator(trace.Communicator) trace.CommunicatorID {
	return trace.CommunicatorID(s.next())
}

func (s *survey) Location(l trace.Location) trace.LocationID {
	s.mu.Lock()
	defer s.mu.Unlock()
	above := surveyed{rank: trace.NoRank, osIdentity: osIdentity{pid: -1, tid: -1}}
	if l.Parent >= 0 && int(l.Parent) < len(s.places) {
		above = s.places[l.Parent]
	}
	where := pathOf(above.path, &l)
	at := Once(s.locations, where, func() trace.LocationID {
		own := above
		own.path = where
		if l.Kind == trace.KindMachine {
			own.host = l.Name
		}
		s.places = append(s.places, own)
		return trace.LocationID(len(s.places) - 1)
	})
	s.describe(at, l)
	return at
}

func (s *survey) Describe(at trace.LocationID, l trace.Location) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at >= 0 && int(at) < len(s.places) {
		s.describe(at, l)
	}
}

func (s *survey) describe(at trace.LocationID, l trace.Location) {
	own := &s.places[at]
	if l.Rank != trace.NoRank {
		own.rank = l.Rank
	}
	for _, a := range l.Attributes {
		n, err := strconv.ParseInt(a.Value.String(), 10, 64)
		switch {
		case err != nil || n < 0:
		case a.Key == processID:
			own.pid = n
		case a.Key == threadID:
			own.tid = n
		}
	}
}

// identities are those of all locations, by their paths. A thread has the process id and rank of its process, which may
// have been told later.
func (s *survey) identities() map[string]osIdentity {
	out := make(map[string]osIdentity, len(s.places))
	for i := range s.places {
		who := s.places[i].osIdentity
		s.above(i, func(p *surveyed) {
			if who.pid < 0 {
				who.pid = p.pid
			}
		})
		out[s.places[i].path] = who
	}
	return out
}

// above visits the locations above one, from it on.
func (s *survey) above(i int, visit func(*surveyed)) {
	for where := s.places[i].path; where != ""; {
		if at, ok := s.locations[where]; ok {
			visit(&s.places[at])
		}
		for range 2 {
			where = where[:max(strings.LastIndexByte(where, 0), 0)]
		}
	}
}

// process is the rank of a location and the numbers of its process and thread, as far as they are known.
func (s *survey) process(at trace.LocationID) (rank int, pid, tid int64) {
	rank, pid, tid = trace.NoRank, -1, -1
	if at < 0 || int(at) >= len(s.places) {
		return rank, pid, tid
	}
	s.above(int(at), func(p *surveyed) {
		if rank == trace.NoRank {
			rank = p.rank
		}
		if pid < 0 {
			pid = p.pid
		}
		if tid < 0 {
			tid = p.tid
		}
	})
	return rank, pid, tid
}

// processName names a process as another source may: by its rank, else its number.
func processName(rank int, pid int64) string {
	switch {
	case rank != trace.NoRank:
		return "rank " + strconv.Itoa(rank)
	case pid >= 0:
		return "process " + strconv.FormatInt(pid, 10)
	}
	return ""
}

func (s *survey) Region(r trace.Region) trace.RegionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.regions[r.Name]
	if !ok {
		id = trace.RegionID(len(s.names))
		s.regions[r.Name] = id
		s.names = append(s.names, r.Name)
	}
	return id
}

func (s *survey) Attribute(name string) trace.AttributeID {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.attributes[name]
	if !ok {
		id = trace.AttributeID(len(s.attributes))
		s.attributes[name] = id
	}
	return id
}

func (s *survey) Stream(at trace.LocationID, _ trace.StreamOptions) trace.Stream {
	return &surveyStream{survey: s, location: at, traceID: s.Attribute("trace"), spanID: s.Attribute("span"),
		once: map[trace.RegionID]call{}}
}

// reach takes times of the run.
func (s *survey) reach(begin, end trace.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.any || begin < s.begin {
		s.begin = begin
	}
	if !s.any || end > s.end {
		s.end = end
	}
	s.any = true
}

// event takes one that another source may have; one that comes twice names no single time. The lock is held.
func (s *survey) event(name string, t trace.Time) {
	_, known := s.events[name]
	switch {
	case known:
		s.twice[name] = true
	case len(s.events) < mostEvents:
		s.events[name] = t
	}
}

func (s *survey) locked(name string, t trace.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(name, t)
}

// marker is the name of a sync marker, "" of any other region.
func (s *survey) marker(region trace.RegionID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(region) >= len(s.names) || region < 0 || !syncPattern.MatchString(s.names[region]) {
		return ""
	}
	return s.names[region]
}

// syncPattern is how names of sync markers begin.
var syncPattern = regexp.MustCompile(`(?i)^(?:clock[ _-]?)?sync(?:[^a-z]|$)`)

// common are calls that every process of an MPI program makes, at one time as far as another source of the same
// process goes.
var common = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Barrier": true, "MPI_Finalize": true}

// A call is how often a region was entered, and when first; of those in common, the times of all.
type call struct {
	n     int
	first trace.Time
	all   []trace.Time
}

// A surveyStream takes the times of one location.
type surveyStream struct {
	survey          *survey
	location        trace.LocationID
	once            map[trace.RegionID]call
	begin, end      trace.Time
	any             bool
	traceID, spanID trace.AttributeID
	at              trace.Time // of the interval given last
	open            bool       // its ids are looked for
	trace, span     string
}

func (s *surveyStream) reach(t trace.Time) {
	if !s.any || t < s.begin {
		s.begin = t
	}
	if !s.any || t > s.end {
		s.end = t
	}
	s.any = true
}

func (s *surveyStream) start(t trace.Time, region trace.RegionID) {
	s.reach(t)
	c, known := s.once[region]
	if c.n++; !known {
		c.first = t
	}
	if c.n == 1 && s.survey.isCommon(region) || len(c.all) > 0 && len(c.all) < mostCalls {
		c.all = append(c.all, t)
	}
	s.once[region] = c
	s.at, s.open, s.trace, s.span = t, true, "", ""
}

func (s *surveyStream) Enter(t trace.Time, region trace.RegionID)         { s.start(t, region) }
func (s *surveyStream) Leave(t trace.Time, _ trace.RegionID)              { s.reach(t) }
func (s *surveyStream) Sample(_ trace.CounterID, t trace.Time, _ float64) { s.reach(t) }
func (s *surveyStream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.start(begin, region)
	s.reach(max(begin, end))
}

func (s *surveyStream) Instant(t trace.Time, region trace.RegionID) {
	s.reach(t)
	s.open = false
	if name := s.survey.marker(region); name != "" {
		s.survey.locked("marker "+name, t)
	}
}

func (s *surveyStream) Attribute(a trace.AttributeID, v trace.Value) {
	if !s.open || a != s.traceID && a != s.spanID {
		return
	}
	if a == s.traceID {
		s.trace = v.String()
	} else {
		s.span = v.String()
	}
	if s.trace != "" && s.span != "" {
		s.survey.locked("span "+strings.ToLower(s.trace+"/"+s.span), s.at)
		s.open = false
	}
}

func (s *surveyStream) Close() error {
	if s.any {
		s.survey.reach(s.begin, s.end)
	}
	s.survey.keep(calls{s.location, s.once})
	s.once = map[trace.RegionID]call{}
	return nil
}

// mostCalls bounds how many calls in common of a kind a survey keeps of a location.
const mostCalls = 4096

func (s *survey) isCommon(region trace.RegionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return region >= 0 && int(region) < len(s.names) && common[s.names[region]]
}

// keep takes the calls of a location. Many readers tell at their end which process it is.
func (s *survey) keep(c calls) {
	s.mu.Lock()
	s.waiting = append(s.waiting, c)
	s.room += len(c.of)
	full := s.room > mostEvents
	s.mu.Unlock()
	if full {
		s.settle()
	}
}

// settle makes events of the calls that wait. Those in common are events by their process and number, if another source
// has as many.
func (s *survey) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.waiting {
		rank, pid, tid := s.process(c.at)
		for region, x := range c.of {
			if region < 0 || int(region) >= len(s.names) {
				continue
			}
			for i, of := range [...]int64{tid, pid, int64(rank), 0} {
				if of >= 0 {
					s.singles[i].add(single{region, of}, x.n, x.first)
				}
			}
			if len(x.all) == x.n {
				for i, t := range x.all {
					s.event(fmt.Sprintf("%s %d of %d in %s", s.names[region], i+1, x.n, processName(rank, pid)), t)
				}
			}
		}
	}
	s.waiting, s.room = nil, 0
}

// A named single is one that another source may have.
type named struct {
	name string
	of   int64
}

// single are the regions that occur once, with their times.
func (s *survey) single(among int) map[named]trace.Time {
	out := make(map[named]trace.Time, len(s.singles[among].once))
	for x, t := range s.singles[among].once {
		out[named{s.names[x.region], x.of}] = t
	}
	return out
}
