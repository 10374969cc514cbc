package trace

import (
	"math"
	"strings"
)

// A Writer receives a trace. All its methods may be called from many goroutines.
// Nothing given to it is kept: callers may reuse slices and structs.
type Writer interface {
	// Location defines a node of the tree, or finds it: see Location.Key.
	Location(Location) LocationID
	// Describe fills in fields that a format gives late: every field of l that is not empty (Name, Order; Rank unless
	// NoRank) replaces the old one, attributes are added. Parent, Kind and Key stay.
	Describe(id LocationID, l Location)
	// Region defines a region or finds it.
	Region(Region) RegionID
	// Attribute names a kind of attribute of intervals, instants and links.
	Attribute(name string) AttributeID
	// Counter defines a series or finds it, by location and name.
	Counter(Counter) CounterID
	// Communicator defines a communicator: every call makes a new one.
	Communicator(Communicator) CommunicatorID

	// Stream opens the stream of a location. Asking again while it is open gives
	// an error at Close; asking after Close appends.
	Stream(LocationID, StreamOptions) Stream
	// Link adds a link. Order does not matter.
	Link(Link)

	// Metric defines a metric of profile rows or finds it, by name.
	Metric(Metric) MetricID
	// CallPath defines a call path or finds it. A path without parent is a root.
	CallPath(CallPath) CallPathID
	Profile(ProfileRow)
	Atomic(AtomicRow)
	Moments(MomentRow)

	Topology(Topology)
	// Property sets a fact of the whole trace.
	Property(key, value string)
	// Report counts something that was repaired, guessed or skipped. The first
	// example ("file:place") of each (kind, what) is kept, counts add up.
	Report(kind ReportKind, what string, count int64, example string)
}

// A LinkTaker is a Writer that takes many links at a time for less.
type LinkTaker interface {
	Links([]Link)
}

// AddLinks adds links to w.
func AddLinks(w Writer, list []Link) {
	if t, ok := w.(LinkTaker); ok {
		t.Links(list)
		return
	}
	for i := range list {
		w.Link(list[i])
	}
}

// A RowTaker is a Writer that takes many rows of profiles at a time for less.
type RowTaker interface {
	Rows(*Rows)
}

// Rows are rows of profiles in their order.
type Rows struct {
	Profile []ProfileRow
	Atomic  []AtomicRow
	Moments []MomentRow
}

// AddRows adds rows to w, and empties the lists.
func AddRows(w Writer, r *Rows) {
	if t, ok := w.(RowTaker); ok {
		t.Rows(r)
	} else {
		for _, x := range r.Profile {
			w.Profile(x)
		}
		for _, x := range r.Atomic {
			w.Atomic(x)
		}
		for _, x := range r.Moments {
			w.Moments(x)
		}
	}
	r.Profile, r.Atomic, r.Moments = r.Profile[:0], r.Atomic[:0], r.Moments[:0]
}

// A RegionSorter is a Writer that can number regions, attributes and counters by their content rather than by the
// order of definition: all that are defined after the call.
type RegionSorter interface {
	SortRegions()
}

// SortRegions asks for numbers of regions, attributes and counters that do not depend on
// timing. Readers that define some from several goroutines call it once, before: an address
// or a command line that says "#7" means the same region after the next import, and the same
// source gives the same bytes.
func SortRegions(w Writer) {
	if s, ok := w.(RegionSorter); ok {
		s.SortRegions()
	}
}

// A Coverer is a Writer whose trace can be longer than its records.
type Coverer interface {
	Cover(begin, end Time)
}

// Cover makes the trace reach from begin to end at least, where a format says that it
// was recorded for longer than something happened.
func Cover(w Writer, begin, end Time) {
	if c, ok := w.(Coverer); ok {
		c.Cover(begin, end)
	}
}

// A Meeting is a collective operation with all who took part in it.
type Meeting struct {
	Flow    Flow
	Root    int // in Members; -1: not known, or none
	Members []Member
}

// A Member is the part of one location in a collective operation.
type Member struct {
	Location   LocationID
	Begin, End Time
}

// A Flow says who must have entered a collective operation before whom may leave it.
type Flow uint8

const (
	NoFlow   Flow = iota
	AllToAll      // everybody waits for all: a barrier
	OneToAll      // everybody waits for the root: a broadcast
	AllToOne      // the root waits for all: a reduction
)

// Early returns the longest time by which a member left before another, for which it had to wait, had entered; at most
// 0 if none did. O(members).
func (m *Meeting) Early() Time {
	early := Time(math.MinInt64)
	m.Pairs(func(from, to *Member) { early = max(early, from.Begin-to.End) })
	return early
}

// Pairs calls f for members that must enter before others leave. For a barrier it is not all of them, but those with
// the tightest bounds: the last to enter, the first to leave, and the first member, which joins all. O(members).
func (m *Meeting) Pairs(f func(from, to *Member)) {
	if len(m.Members) < 2 || m.Flow == NoFlow || m.Flow != AllToAll && m.Root < 0 {
		return
	}
	from, to := m.Root, m.Root
	if m.Flow == AllToAll {
		from, to = 0, 0
		for i := range m.Members {
			if m.Members[i].Begin > m.Members[from].Begin {
				from = i
			}
			if m.Members[i].End < m.Members[to].End {
				to = i
			}
		}
	}
	for i := range m.Members {
		if m.Flow != AllToOne && i != from {
			f(&m.Members[from], &m.Members[i])
		}
		if m.Flow != OneToAll && i != to {
			f(&m.Members[i], &m.Members[to])
		}
		if m.Flow == AllToAll && i > 0 {
			f(&m.Members[0], &m.Members[i])
			f(&m.Members[i], &m.Members[0])
		}
	}
}

// A MeetingTaker is a Writer that compares clocks by collective operations.
type MeetingTaker interface {
	Meet(*Meeting)
}

// Meet records a collective operation.
func Meet(w Writer, m *Meeting) {
	if t, ok := w.(MeetingTaker); ok {
		t.Meet(m)
	}
}

// A FormatTaker is a Writer that keeps the name of the format.
type FormatTaker interface {
	Format(name string)
}

// SetFormat says which format a run is of, where that is not the one that is read: tables
// that were exported hold runs of any.
func SetFormat(w Writer, name string) {
	if t, ok := w.(FormatTaker); ok {
		t.Format(name)
	}
}

// StreamOptions are the promises of the writer of a stream.
type StreamOptions struct {
	// Unordered: records may come in any time order. They are sorted by time,
	// outside memory where needed; records of equal time keep their order.
	Unordered bool
	// ByName: a Leave closes the nearest open Enter of its region and leaves
	// inner ones open, so intervals may cross; those that do get lanes of their
	// own. Otherwise a Leave of a region deeper in the stack first closes the
	// frames above it (counted as repaired), the rule of call stacks.
	ByName bool
	// ByParent: who called whom is told, by spawn links within the location whose ends
	// both have a Number, and by nothing else: no interval is in another that is not
	// its parent, even where times would allow it. A child that runs beside another, or
	// longer than its parent, gets a lane of its own and keeps its parent. So does one that
	// was called from another location, where both streams are ByParent and the link comes
	// after one of them was opened: the first that is told, unless it closes a circle.
	ByParent bool
}

// A Stream appends the records of one location. One goroutine at a time uses a stream; many streams are used in
// parallel. Errors are sticky and come out of Close. A store that runs on a memory budget keeps little per open
// stream, so a million may be open at once.
type Stream interface {
	// Enter opens an interval at t.
	Enter(t Time, region RegionID)
	// Leave closes the innermost open interval of region, or with NoRegion the innermost of all. A Leave that does not
	// fit is repaired as StreamOptions say; a Leave with nothing open is counted and ignored.
	Leave(t Time, region RegionID)
	// Interval adds a whole interval. It may overlap others on the stream: where
	// it does not nest, a lane is found for it. An end before its begin is
	// counted as repaired and becomes an empty interval at begin.
	Interval(begin, end Time, region RegionID)
	// Instant adds a point in time.
	Instant(t Time, region RegionID)
	// Sample adds a value of a counter of this location.
	Sample(c CounterID, t Time, value float64)
	// Attribute adds a fact to the Enter, Interval or Instant given last.
	Attribute(a AttributeID, v Value)
	// Close ends the stream. Intervals still open at the end of the trace are
	// closed at its last time stamp, counted, and put into a region of their own, see
	// WithoutEnd.
	Close() error
}

// A Rounder is a Stream that takes the precision of its times.
type Rounder interface {
	// Rounded: ends of intervals may be off by so much against each other, since begins
	// and durations were rounded by themselves. An interval that ends so little after
	// the one around it is in it, and one that begins so little before another ends
	// comes after it: one end is moved, which is counted as repaired. Any time before
	// Close; the largest counts.
	Rounded(most Time)
}

// SetRounded tells a stream how inexact its times are.
func SetRounded(s Stream, most Time) {
	if r, ok := s.(Rounder); ok {
		r.Rounded(most)
	}
}

// A CallTaker is a Stream that takes many calls at a time for less.
type CallTaker interface {
	Calls([]StackRecord)
}

// AddCalls adds calls to s, in order.
func AddCalls(s Stream, list []StackRecord) {
	if t, ok := s.(CallTaker); ok {
		t.Calls(list)
		return
	}
	for i := range list {
		if r := &list[i]; r.Leave {
			s.Leave(r.Time, r.Region)
		} else {
			s.Enter(r.Time, r.Region)
		}
	}
}

// A ReportKind is the treatment of invalid input.
type ReportKind uint8

const (
	Repaired  ReportKind = iota + 1 // kept, after a change that is safe
	Guessed                         // kept, with something the source does not say
	skipped                         // not kept; by stores and tables that do not tell the consequence
	Redundant                       // not kept; it repeats stored data, or is not about the program

	// Not kept, and nothing else states it. Each kind is a consequence, so that no reason lacks one.

	MissingEvents
	MissingIntervals
	MissingLinks
	MissingSamples
	MissingValues
	MissingFrames
	MissingDetails
	MissingNames
	MissingGroups
	MissingLocations
	MissingRest
	MissingFiles
	MissingAlignment
)

var consequences = [...]string{
	Redundant:        "nothing lost",
	MissingEvents:    "events are missing, so calls, times and counts may be too low",
	MissingIntervals: "intervals are missing, so calls and times are too low",
	MissingLinks:     "links are missing; times are right",
	MissingSamples:   "samples are missing, so sums are too low",
	MissingValues:    "values are missing, so their sums are too low",
	MissingFrames:    "call paths lack frames; sums are right",
	MissingDetails:   "details are missing; times and sums are right",
	MissingNames:     "names are missing: numbers stand for them; times and sums are right",
	MissingGroups:    "communicators, topologies or coordinates are missing; times and sums are right",
	MissingLocations: "ranks or threads are missing, with all their times",
	MissingRest:      "the rest is missing: nothing after that place is known",
	MissingFiles:     "their data is missing",
	MissingAlignment: "times stay as recorded",
}

func (k ReportKind) String() string {
	return [...]string{"", "repaired", "guessed", "skipped"}[min(k, skipped)]
}

// Valid reports whether there is such a kind.
func (k ReportKind) Valid() bool { return k >= Repaired && int(k) < len(consequences) }

// Lost reports whether something of the program is not known because of it.
func (k ReportKind) Lost() bool { return k >= skipped && k != Redundant }

// Consequence returns the effect on the run of parts that are not kept; "" for a kind that keeps them.
func (k ReportKind) Consequence() string { return consequences[k] }

// ParseReportKind finds a kind by its name and its consequence; 0: there is none. Older versions wrote only the
// first words of some.
func ParseReportKind(name, consequence string) ReportKind {
	for k := Repaired; k.Valid(); k++ {
		if k.String() == name && strings.HasPrefix(k.Consequence(), consequence) {
			return k
		}
	}
	return 0
}

// A ReportEntry is one line of the import report.
type ReportEntry struct {
	Kind    ReportKind
	What    string
	Count   int64
	Example string
}

// Text returns the reason with its consequence.
func (e *ReportEntry) Text() string {
	if c := e.Kind.Consequence(); c != "" {
		return e.What + ": " + c
	}
	return e.What
}
