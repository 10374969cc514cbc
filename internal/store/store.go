// Package store is the contract of a store: where a trace is kept, and how it is
// asked. It handles summaries as blocks of bytes, never moments or quantiles.
//
// A Reader is an immutable snapshot. Every query takes a window (a time range and
// a set of locations), answers for all of them at once, in columns, in batches,
// on all cores, and stops when its context does. Every method that touches the bytes of rows returns an error:
// damage is never an answer.
package store

import (
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// ErrNotKept is returned for a summary that the store does not hold.
var ErrNotKept = errors.New("the store does not keep this summary")

// A Window is the time range of a query: [Begin, End). A window that reaches the end of the trace also holds records
// at the very end, such as an instant or an empty interval at Info.End, so that the whole trace loses nothing.
type Window struct {
	Begin, End trace.Time
	// Locations to answer for; an inner node stands for itself and all below; nil
	// for all. Sorted, without repeats. Locations aside (Tree.Aside) belong to the
	// window only where they are listed themselves.
	Locations []trace.LocationID
}

// Whole reports whether a window is all of a run.
func (w Window) Whole(r Reader) bool {
	return w.Begin <= 0 && w.End >= r.Info().End && w.Locations == nil
}

// A Reader answers for one run. All methods may be called from many goroutines. The argument of a callback is valid
// only until it returns. Callbacks run on several goroutines at once, but never twice at once for one location; the
// lanes of a location come in order, and batches of a lane in order of time.
type Reader interface {
	// Generation changes when the content does.
	Generation() uint64
	Info() *Info
	Locations() *Tree
	Regions() []trace.Region // by RegionID
	Counters() []trace.Counter
	Attributes() []string // by AttributeID
	Metrics() []trace.Metric
	CallPaths() []trace.CallPath
	Communicators() []trace.Communicator
	Topologies() []trace.Topology

	// Lanes gives, for each location in [0, n], the first of its lanes in the
	// numbering of all lanes; Lanes()[id+1]-Lanes()[id] lanes belong to id.
	Lanes() []uint32
	// Count is the number of intervals that begin in the window. O(log n) a lane.
	Count(w Window) (int64, error)

	// Intervals yields every interval that overlaps the window, batches in
	// preorder; the Open chain tells those that began before. So: rows are those
	// that begin in the window; Open of the first batch of a lane also holds all
	// that is open at its begin; a batch without rows comes where there is only that.
	Intervals(ctx context.Context, w Window, f func(*trace.Columns) error) error
	// Interval returns one interval by its place: the columns hold just this row. There are no columns, and no error,
	// for a place that the run does not have.
	Interval(at Row) (*trace.Columns, error)
	// At finds the innermost interval of a lane at t, in O(log n + depth); found is false if none is open.
	At(location trace.LocationID, lane int, t trace.Time) (at Row, found bool, err error)
	// Children yields the direct children of an interval, in order.
	Children(ctx context.Context, at Row, f func(*trace.Columns) error) error

	// Time gives, for each location and region, time and calls in the window,
	// from prefix sums: O(log n + regions) a lane, no scan.
	Time(ctx context.Context, w Window) (*TimeTable, error)

	// Summaries covers the window, lane by lane, by blocks of the named summary, and by ranges of rows that are too
	// few for a block. With level ≥ 0 blocks are bins of 2^level ns, aligned to multiples of that from the start of
	// the trace. Only bins wholly inside the window come as blocks, and no range crosses a bin's edge with a block on
	// the other side. With level Coarsest the window is covered by as few blocks as possible: O(log n) blocks and rows
	// per lane, one block if it is the whole trace.
	Summaries(ctx context.Context, name string, w Window, level int, v Visitor) error

	// Groups gives, for each of the locations asked for, the time of all
	// locations below it (itself included) per role and aligned bin of 2^level
	// ns. Each instant of a location counts once, see RoleOfInstant. The bins
	// of coarse levels are kept, so this does not grow with the trace; they are
	// whole, not clipped to [begin, end).
	Groups(ctx context.Context, locations []trace.LocationID, begin, end trace.Time, level int) (*GroupBins, error)

	// RoleTime returns the time of all the locations asked for (nil for all) and all
	// below them together, per role, from each edge to the next: that of bin b is
	// at [b*trace.RoleCount + role]. Instants count as in Groups. Edges ascend. The
	// bins kept of locations answer wherever they can: for a whole run, or a few
	// groups, it does not grow with the trace.
	RoleTime(ctx context.Context, locations []trace.LocationID, edges []trace.Time) ([]trace.Sum, error)

	// Links yields the links with an end at a location of the window and whose
	// time, from the earlier end to the later, meets it; untimed ones always.
	Links(ctx context.Context, w Window, f func(*LinkColumns) error) error
	// LinkCount bounds how many links Links would yield, without reading them.
	LinkCount(w Window) (int64, error)
	Instants(ctx context.Context, w Window, f func(*InstantColumns) error) error
	// Samples of the counters, nil for all.
	Samples(ctx context.Context, counters []trace.CounterID, begin, end trace.Time, f func(*SampleColumns) error) error
	// IntervalAttributes returns the facts of one interval.
	IntervalAttributes(at Row) ([]trace.Attribute, error)
	// AttributeColumn yields one attribute of all intervals in the window that have it.
	AttributeColumn(ctx context.Context, w Window, a trace.AttributeID, f func(*AttributeColumns) error) error
	// InstantAttribute yields one attribute of all instants in the window that have it.
	InstantAttribute(ctx context.Context, w Window, a trace.AttributeID, f func(*InstantValues) error) error

	// Profile yields profile rows of the locations, in order of location, path, metric.
	Profile(ctx context.Context, locations []trace.LocationID, f func([]trace.ProfileRow) error) error
	// Lines yields values of source lines, in order of location, call path, file, line, callee, metric.
	Lines(ctx context.Context, locations []trace.LocationID, f func([]trace.LineRow) error) error
	SourceFiles() []string // by FileID
	Atomics(ctx context.Context, locations []trace.LocationID, f func([]trace.AtomicRow) error) error
	Moments(ctx context.Context, locations []trace.LocationID, f func([]trace.MomentRow) error) error

	Close() error
}

// Coarsest asks Summaries for the fewest blocks.
const Coarsest = -1

// A Row is the place of an interval: location, lane, row within the lane.
type Row struct {
	Location trace.LocationID
	Lane     int
	Row      int
}

// A Visitor receives the cover of a window, in order of time within a lane.
type Visitor struct {
	// Block is one node of the summary tree: the summary of [begin, end) of the lane.
	Block func(location trace.LocationID, lane int, begin, end trace.Time, b trace.Block) error
	// Rows is a stretch without a block. Segments tile it; rows that begin in it
	// are in Rows.
	Rows func(s *trace.Stretch) error
	// Closed says that Rows does without the chain of open intervals (Rows.Open),
	// which then may be left out: finding it costs as much as a short stretch.
	Closed bool
}

// A TimeTable holds time and calls per location and region: row i belongs to
// Locations[k] for Offsets[k] ≤ i < Offsets[k+1], regions ascending. Lanes of a
// location are added up.
type TimeTable struct {
	Locations []trace.LocationID
	Offsets   []int
	Region    []trace.RegionID
	Exclusive []trace.Time // innermost time, clipped to the window
	Inclusive []trace.Time // time with the region anywhere on the stack, clipped; recursion counts once
	Calls     []int64      // calls that begin in the window
}

// GroupBins holds role times: Time[(k*Bins+b)*trace.RoleCount + role] for the k-th location asked for and bin b, which
// begins at Begin + b<<Level. The rest of Width × Rows is time with nothing open.
type GroupBins struct {
	Begin trace.Time
	Level int
	Bins  int
	Rows  []int // per location asked for: how many locations with intervals it stands for
	Time  []trace.Time
}

// LinkColumns are links in order of the time at which they start.
type LinkColumns struct {
	Kind         []trace.LinkKind
	FromLocation []trace.LocationID
	FromTime     []trace.Time
	FromLane     []int32 // -1: no interval known
	FromRow      []int32
	ToLocation   []trace.LocationID
	ToTime       []trace.Time
	ToLane       []int32
	ToRow        []int32
	Size         []int64
	Tag          []int64
	Communicator []trace.CommunicatorID
	Count        []int64
	Untimed      []bool
}

// InstantColumns are instants of one location in order of time.
type InstantColumns struct {
	Location trace.LocationID
	Time     []trace.Time
	Region   []trace.RegionID
}

// InstantValues are values of one attribute on instants of one location, in order of time. Row counts the instants of
// the location, whether they have the attribute or not: it joins the attributes of one instant.
type InstantValues struct {
	Location trace.LocationID
	Row      []int32
	Time     []trace.Time
	Region   []trace.RegionID
	Value    []trace.Value
}

// SampleColumns are samples of one counter in order of time.
type SampleColumns struct {
	Counter trace.CounterID
	Time    []trace.Time
	Value   []float64
}

// AttributeColumns are values of one attribute on rows of one lane.
type AttributeColumns struct {
	Location trace.LocationID
	Lane     int
	Row      []int32
	Value    []trace.Value
}

// Info describes the contents of a store.
type Info struct {
	Sources []string
	Format  string
	End     trace.Time // the trace is [0, End)
	Origin  trace.Time // subtracted from the source's times
	// Core is where to look first, [begin, end), where a few records far from all others
	// stretch the span; nil: there is no such thing.
	Core       *[2]trace.Time
	Intervals  int64
	Inferred   int64 // those among Intervals that are not in the source, see trace.NotRecorded
	Links      int64
	Samples    int64
	Instants   int64
	Profile    int64 // rows
	Lines      int64 // rows of source lines
	Depth      int
	Ranks      int
	Rows       int // locations that hold intervals which count
	Properties map[string]string
	Report     []trace.ReportEntry
	SizeBytes  int64 // on disk
}

// Timed reports whether the run has intervals that count. One that has only rows aside, such as samples
// next to a profile, is a profile for everything that adds up.
func (i *Info) Timed() bool { return i.Rows > 0 }

// RoleOfInstant returns the role, of two, that wins if lanes of one location are in
// different ones at the same instant: busy before not busy, then the order of
// the list in package trace. Annotations lose to everything but nothing.
func RoleOfInstant(a, b trace.Role) trace.Role {
	if roleWeight[a] >= roleWeight[b] {
		return a
	}
	return b
}

var roleWeight = [trace.RoleCount]int{
	trace.RoleNone: 0, trace.RoleAnnotation: 1, trace.RoleIdle: 2, trace.RoleOverhead: 3,
	trace.RoleSynchronization: 4, trace.RoleCommunication: 5, trace.RoleCopy: 6, trace.RoleIO: 7, trace.RoleCompute: 8,
}
