package importer

import (
	"regexp"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A survey is a Writer that keeps nothing but the times that a run reaches from and to, and its events that another
// source may have recorded too: spans by their ids, and sync markers.
type survey struct {
	mu         sync.Mutex
	ids        int32
	regions    map[string]trace.RegionID
	names      []string
	attributes map[string]trace.AttributeID
	begin, end trace.Time
	any        bool
	events     map[string]trace.Time
	twice      map[string]bool // events that name no single time
}

// mostEvents bounds how many events a survey keeps.
const mostEvents = 1 << 20

func newSurvey() *survey {
	return &survey{regions: map[string]trace.RegionID{}, attributes: map[string]trace.AttributeID{},
		events: map[string]trace.Time{}, twice: map[string]bool{}}
}

func (s *survey) next() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return s.ids - 1
}

func (s *survey) Location(trace.Location) trace.LocationID       { return trace.LocationID(s.next()) }
func (s *survey) Describe(trace.LocationID, trace.Location)      {}
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

func (s *survey) Stream(trace.LocationID, trace.StreamOptions) trace.Stream {
	return &surveyStream{survey: s, traceID: s.Attribute("trace"), spanID: s.Attribute("span")}
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

// event takes one that another source may have; one that comes twice names no single time.
func (s *survey) event(name string, t trace.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.events[name]
	switch {
	case known:
		s.twice[name] = true
	case len(s.events) < mostEvents:
		s.events[name] = t
	}
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

// A surveyStream takes the times of one location.
type surveyStream struct {
	survey          *survey
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

func (s *surveyStream) start(t trace.Time) {
	s.reach(t)
	s.at, s.open, s.trace, s.span = t, true, "", ""
}

func (s *surveyStream) Enter(t trace.Time, _ trace.RegionID)              { s.start(t) }
func (s *surveyStream) Leave(t trace.Time, _ trace.RegionID)              { s.reach(t) }
func (s *surveyStream) Sample(_ trace.CounterID, t trace.Time, _ float64) { s.reach(t) }
func (s *surveyStream) Interval(begin, end trace.Time, _ trace.RegionID) {
	s.start(begin)
	s.reach(max(begin, end))
}

func (s *surveyStream) Instant(t trace.Time, region trace.RegionID) {
	s.reach(t)
	s.open = false
	if name := s.survey.marker(region); name != "" {
		s.survey.event("marker "+name, t)
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
		s.survey.event("span "+strings.ToLower(s.trace+"/"+s.span), s.at)
		s.open = false
	}
}

func (s *surveyStream) Close() error {
	if s.any {
		s.survey.reach(s.begin, s.end)
	}
	return nil
}
