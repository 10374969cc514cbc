// Package trace defines the records of a run: locations, regions, intervals, links, counters, profiles. Importers
// write it, stores keep it, kernels read it. It imports nothing of ours.
//
//	location   an actor: a node of one tree (machine, process, thread, stream …)
//	region     code or a state that can be entered: a function, an operator, a state
//	interval   one stay of a location in a region, half open [begin, end)
//	link       from one point to another: message, spawn, steal, wake
//	counter    a recorded number over time;  metric: a computed one
//	instant    a point in time with a region as its name
//
// Time is int64 nanoseconds. An importer may use any origin, as long as all
// files of a run share it; a store moves the origin to the first record, so
// every reader sees the trace begin at 0.
package trace

import "strings"

// A Time is a point in time, or a duration, in nanoseconds.
type Time int64

type (
	// A LocationID names a location. While a trace is written ids come in order
	// of definition. A store numbers them anew in preorder of the tree, children
	// in their display order, so that a subtree is the range [id, Last].
	LocationID uint32
	// A RegionID names a region.
	RegionID uint32
	// A CounterID names one series of samples.
	CounterID uint32
	// A MetricID names a metric of profile rows.
	MetricID uint32
	// A CallPathID names a call path of profile rows.
	CallPathID uint32
	// An AttributeID names a kind of attribute of intervals, instants and links.
	AttributeID uint32
	// A CommunicatorID names a communicator.
	CommunicatorID uint32
)

// The "none" of each id.
const (
	NoLocation     = ^LocationID(0)
	NoRegion       = ^RegionID(0)
	NoCallPath     = ^CallPathID(0)
	NoCommunicator = ^CommunicatorID(0)
)

// A Kind is the sort of a location in the tree. The set is open: readers may use a word of their format for levels
// that have no word here.
type Kind string

// Kinds that views know by name.
const (
	KindSite    Kind = "site"
	KindCluster Kind = "cluster"
	KindMachine Kind = "machine"
	KindProcess Kind = "process"
	KindThread  Kind = "thread"
	KindStream  Kind = "stream" // of a GPU
	KindDevice  Kind = "device" // a GPU or another accelerator
	KindGroup   Kind = "group"  // any other grouping

	// A trace of a scheduler records the same time from two sides: the goroutine on each processor, and the state of
	// each of any number of goroutines.
	KindProcessor Kind = "processor"
	KindGoroutine Kind = "goroutine"

	// States of another type than those on the location above, and next to them.
	KindStates Kind = "states"

	// Rows that repeat the time of another location; see Aside.
	KindSamples Kind = "samples" // call stacks taken now and then, each shown until the next
	KindRepeat  Kind = "repeat"  // states that those of another type tell already
)

// Aside reports whether locations of a kind tell the time of another one from another
// side. They are shown where they are asked for by name; all sums, shares and calls
// of a run are without them, since their time is counted already.
func (k Kind) Aside() bool { return k == KindSamples || k == KindRepeat }

// NoRank is the rank of a location that has none of its own.
const NoRank = -1

// A Location is a node of the tree of who acts.
type Location struct {
	Parent LocationID // NoLocation at the top
	Kind   Kind
	// Key distinguishes siblings of one kind; if empty the name does. Defining
	// the same (parent, kind, key) again gives the same id.
	Key  string
	Name string
	// Rank is the rank of the process, on the process's node; NoRank elsewhere.
	// Descendants belong to the rank of their nearest ancestor that has one.
	Rank int
	// Order sorts siblings; ties are by rank, then by natural order of the name.
	Order      int64
	Attributes []Attribute
}

// A Role classifies a region for the question "was this location busy?".
type Role uint8

// The closed list of roles. RoleByName asks the Writer to decide by RoleOf.
const (
	RoleByName Role = iota
	RoleCompute
	RoleCommunication
	RoleSynchronization
	RoleIdle
	RoleIO
	RoleCopy
	RoleOverhead
	RoleAnnotation
	// RoleNone stands for "nothing open" in tables indexed by role.
	RoleNone = RoleByName
	// RoleCount is the length of a table indexed by role.
	RoleCount = int(RoleAnnotation) + 1
)

var roleNames = [RoleCount]string{"", "compute", "communication", "synchronization", "idle", "io", "copy", "overhead",
	"annotation"}

func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "?"
}

// ParseRole returns the role of that name.
func ParseRole(name string) (Role, bool) {
	for i, n := range roleNames {
		if i > 0 && n == name {
			return Role(i), true
		}
	}
	return 0, false
}

// RoleNames returns the names of all roles.
func RoleNames() []string { return append([]string(nil), roleNames[1:]...) }

// Busy reports whether time whose innermost open interval has this role counts
// as busy by default. Annotations are transparent and never innermost on their own.
func (r Role) Busy() bool { return r == RoleCompute || r == RoleIO || r == RoleCopy }

// A Region is code or an activity that can be entered. Regions are equal when
// name, category, file and line are. The line is where it begins; lines of samples
// do not distinguish regions  (importer/stack.Frame).
type Region struct {
	Name     string
	Category string // a free word of the format, for filters
	Role     Role
	File     string
	Line     int
	// Attributes such as paradigm, colour or the mangled name.
	Attributes []Attribute
}

// noEnd is the attribute of a region that stands for another one's intervals that were never left: its value is the
// name of that one.
const noEnd = "no end"

// WithoutEnd returns the region of intervals of g whose end is not in the source. They last
// until the end of the trace because something must be drawn, so how long they took is
// not known: a store puts them into a region of their own, which statistics of calls
// leave out.
func WithoutEnd(g Region) Region {
	g.Attributes = append(g.Attributes[:len(g.Attributes):len(g.Attributes)], Attribute{noEnd, Text(g.Name)})
	g.Name += " (no end)"
	return g
}

// EndOf returns the name that a region of WithoutEnd was made of; false for any other.
func EndOf(g *Region) (name string, without bool) {
	for _, a := range g.Attributes {
		if a.Key == noEnd {
			return a.Value.String(), true
		}
	}
	return g.Name, false
}

// inferred is the attribute of a region whose intervals are not in the source.
const inferred = "inferred"

// NotRecorded is the region of unrecorded work: where ranks record communication only, their calls are in
// intervals of it, whose exclusive time is that between calls. They are not among the intervals of the source.
var NotRecorded = Region{Name: "(not recorded)", Role: RoleCompute,
	Attributes: []Attribute{{inferred, Text("from the calls around it")}}}

// Inferred reports whether the intervals of a region are not in the source.
func Inferred(g *Region) bool {
	for i := range g.Attributes {
		if g.Attributes[i].Key == inferred {
			return true
		}
	}
	return false
}

// goals is the attribute of a region whose source was read: the procedures that each of its calls calls.
const goals = "goals"

// WithGoals returns the attributes of a region whose source names the callees of each of its calls, which may be none.
func WithGoals(names []string) []Attribute {
	return []Attribute{{goals, Text(strings.Join(names, ", "))}}
}

// GoalsOf returns the procedures that each call of a region calls, where its source says so.
func GoalsOf(g *Region) (names []string, known bool) {
	for _, a := range g.Attributes {
		if a.Key == goals {
			return strings.FieldsFunc(a.Value.String(), func(c rune) bool { return c == ',' || c == ' ' }), true
		}
	}
	return nil, false
}

// A LinkKind is the kind of a link.
type LinkKind uint8

const (
	LinkMessage LinkKind = iota + 1
	LinkSpawn            // a parent elsewhere, a launch, a creation; see StreamOptions.ByParent
	LinkSteal
	LinkWake
	LinkFlow // any other cause and effect
)

var linkNames = [...]string{"", "message", "spawn", "steal", "wake", "flow"}

func (k LinkKind) String() string {
	if int(k) < len(linkNames) {
		return linkNames[k]
	}
	return "?"
}

// An End is one end of a link: a place and a time, and the interval there.
type End struct {
	Location LocationID
	Time     Time
	// Region narrows which interval is meant; NoRegion: an interval that begins
	// at Time exactly, else the innermost one open at Time. The store resolves
	// it to a row when all intervals are known.
	Region RegionID
	// Number is the interval that is meant, if the importer knows it: the number of the Enter or Interval on the
	// stream of the location that began it, counted from 1; 0: not known. It must name the interval that Time and
	// Region mean, and mostly only saves the search. If a stream is ByParent, only Number distinguishes calls that
	// begin together.
	Number uint32
}

// A Link goes from one point to another.
type Link struct {
	Kind     LinkKind
	From, To End
	Size     int64 // bytes; -1 unknown
	Tag      int64
	// Communicator is NoCommunicator where the format has none.
	Communicator CommunicatorID
	// Untimed links come from profiles: Count messages of Size bytes in all, no times.
	Untimed bool
	Count   int64 // how many it stands for; 0 counts as 1
}

// A Counter is one series of samples on a location.
type Counter struct {
	Location LocationID
	Name     string
	Unit     string
	// Monotone counters count on (cycles, bytes since start), as their format says; the
	// others are levels. A store takes it back where values fall.
	Monotone bool
	// Grows is derived from the values by the store: none is below the one before, and the last is above the first. A
	// level may do so too, by chance.
	Grows bool
}

// A Topology places locations on a Cartesian grid.
type Topology struct {
	Name        string
	Dims        []int
	DimNames    []string
	Periodic    []bool
	Coordinates []Coordinate
}

// A Coordinate is the place of one location in a topology.
type Coordinate struct {
	Location LocationID
	At       []int
}

// A Communicator is an ordered group of locations; its index is the rank within.
type Communicator struct {
	Name    string
	Parent  CommunicatorID
	Members []LocationID
}
