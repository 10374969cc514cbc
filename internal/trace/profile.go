package trace

// A Metric is a number that profiles give per location and call path.
type Metric struct {
	Name string
	Unit string // "ns", "bytes", "" for a count …
	// Integer values are exact; the others are floating point.
	Integer bool
	// Parent is the metric above in the source's metric tree, by name; or empty.
	Parent string
	// Default is set on the metric that stands for time.
	Default bool
	// Join says how values of several locations or paths become one.
	Join Join `json:",omitempty"`
	// Description is the source's own text.
	Description string
}

// Metrics of recorders: what the system says of a thread, whose busy time goes by the clock.
const (
	RanOnCore     = "time on a core"
	WaitedForCore = "waiting for a core"
)

// A Join is how values of a metric are put together: most are amounts and add up,
// a minimum or a rate does not.
type Join string

const (
	JoinSum  Join = "" // amounts
	JoinMin  Join = "min"
	JoinMax  Join = "max"
	JoinMean Join = "mean" // rates and shares: the mean of those that have one
)

// A CallPath is a region under a call path. Flat paths are totals of a region
// over all callers as a source gives them next to its paths: the two are never
// added together.
type CallPath struct {
	Parent CallPathID
	Region RegionID
	Flat   bool
}

// A ProfileRow is one cell of a profile: location × call path × metric.
// Times are in nanoseconds whatever the source used.
type ProfileRow struct {
	Location  LocationID
	Path      CallPathID
	Metric    MetricID
	Calls     float64 // visits of the path; the same in all metrics of it
	Subcalls  float64 // calls made by it, as TAU counts them
	Inclusive float64
	Exclusive float64
}

// An AtomicRow is a distribution that a source already condensed.
type AtomicRow struct {
	Location   LocationID
	Path       CallPathID // NoCallPath where not tied to one
	Metric     MetricID
	Count      float64
	Min, Max   float64
	Mean       float64
	SumSquares float64
}

// MaxMoment is the highest order a MomentRow holds.
const MaxMoment = 8

// A MomentRow is the sketch of one role's time in one window on a location, as
// written by a recorder inside a program: weight, mean relative to Begin, and
// the central sums M2 … M8.
type MomentRow struct {
	Location   LocationID
	Role       Role
	Begin, End Time
	Weight     float64
	Mean       float64
	Central    [MaxMoment + 1]float64 // Central[k] = M_k, k ≥ 2
}
