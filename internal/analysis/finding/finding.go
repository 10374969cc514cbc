// Package finding holds the problems of a run, ranked by time lost.
//
// A Finding is plain data. It names the problem in one sentence, the time lost to it, the numbers behind
// the sentence, and the view, options and selection that show it. The functions of this package decide
// which problems are worth reporting, one file per kind; they take tables of times and know neither store
// nor colour.
package finding

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Kind is the sort of problem that a finding reports. `parallax check --fail-on` names it.
type Kind string

// The kinds, most important first. The order decides between findings of equal cost.
const (
	Clock         Kind = "clock"          // times of different locations cannot be compared
	Data          Kind = "data"           // records were repaired, guessed or left out; completions are missing
	Straggler     Kind = "straggler"      // some locations hold the others up
	Rotating      Kind = "rotating"       // another location holds the others up each time
	Jitter        Kind = "jitter"         // all locations are late now and then, by chance
	Growth        Kind = "growth"         // it takes longer and longer
	LateSender    Kind = "late-sender"    // receivers wait for a message that is sent late
	LateReceiver  Kind = "late-receiver"  // senders wait for a receiver that comes late
	Slack         Kind = "slack"          // few locations have less to do: nothing to gain
	Imbalance     Kind = "imbalance"      // work is spread unevenly, by region or phase
	Communication Kind = "communication"  // time in communication that nothing above explains
	Serial        Kind = "serial"         // few locations work while all others wait
	StartUp       Kind = "start-up"       // starting or ending the run takes long, or longer on some
	IO            Kind = "io"             // reading and writing takes long, or others wait for it
	Lock          Kind = "lock"           // threads wait for a lock that another holds
	Crowded       Kind = "oversubscribed" // more to run than cores, or than on other machines
	SlowPhase     Kind = "slow-phase"     // all locations take longer from some phase on, or in one
	Periodic      Kind = "periodic"       // all locations take longer in every n-th phase
	Unexplained   Kind = "unexplained"    // waiting that no rule finds the cause of
	IdleStart     Kind = "idle-start"     // locations that begin to work late
	IdleEnd       Kind = "idle-end"       // locations that end their work early
	Outlier       Kind = "outlier"        // a location far from its peers in the space of moments
	Heterogeneous Kind = "heterogeneous"  // a group whose members differ, by entropy loss
	Unlike        Kind = "unlike"         // a region whose calls are distributed unlike on some locations

	// Kinds for jobs on GPUs, in their steps.
	InputBound           Kind = "input-bound"           // GPUs wait for data
	HostBound            Kind = "host-bound"            // GPUs wait while the host is in one long call
	LaunchBound          Kind = "launch-bound"          // GPUs wait for the host to launch work
	SynchronizationBound Kind = "synchronization-bound" // the host waits for GPUs before it launches more
	CopyBound            Kind = "copy-bound"            // copies that nothing hides
	ExposedCommunication Kind = "exposed-communication" // communication that computation does not hide
	// GPUs have nothing to do, for another reason or none that is reported
	GPUIdle     Kind = "gpu-idle"
	SlowStep    Kind = "slow-step"    // one step takes far longer than the others
	MemoryFull  Kind = "memory-full"  // the memory of a device is nearly full
	SlowKernels Kind = "slow-kernels" // the same kernels take longer on a GPU than on the others

	// Kinds for traces that hold processors and the goroutines they ran.
	ProcessorWait     Kind = "processor-wait"     // goroutines that could run wait long for a processor
	GarbageCollection Kind = "garbage-collection" // the collector takes processors from the program
	Blocked           Kind = "blocked"            // goroutines wait for one another while processors idle
	Starvation        Kind = "starvation"         // one of many goroutines with the same to do hardly runs
	IdleProcessors    Kind = "idle-processors"    // processors have nothing to run, and no other finding reports why

	// Kinds for requests of services, on their critical path.
	SlowOperation Kind = "slow-operation" // calls that take far longer than most of the same operation
	RepeatedCalls Kind = "repeated-calls" // one caller makes many calls of one operation, one after the other: N+1
	SerialCalls   Kind = "serial-calls"   // calls one after the other that could overlap
	Retry         Kind = "retry"          // calls that fail and are made again
	FailedCalls   Kind = "failed-calls"   // calls that fail while the request waits for them
)

// Kinds lists these kinds; a rule may add one of its own.
var Kinds = []Kind{Clock, Data, Straggler, Rotating, Jitter, Growth, LateSender, LateReceiver, Imbalance, Slack,
	SlowPhase, Periodic, Unexplained, Communication,
	Serial, StartUp, IO, Lock, Crowded, IdleStart, IdleEnd, Outlier, Heterogeneous, Unlike, InputBound, HostBound,
	LaunchBound,
	SynchronizationBound, CopyBound, ExposedCommunication, GPUIdle, SlowStep, MemoryFull, SlowKernels, ProcessorWait,
	GarbageCollection, Blocked, Starvation, IdleProcessors, SlowOperation, RepeatedCalls, SerialCalls, Retry,
	FailedCalls}

// rank is the place in Kinds; kinds that rules add come after these.
func (k Kind) rank() int {
	if i := slices.Index(Kinds, k); i >= 0 {
		return i
	}
	return len(Kinds)
}

// A Level is how grave a finding is.
type Level string

// The levels. High is for problems that cost the affected locations at least HighShare of their time;
// Medium for MediumShare; Low is worth knowing.
const (
	High   Level = "high"
	Medium Level = "medium"
	Low    Level = "low"
)

// Rank orders levels: 0 for the gravest.
func (l Level) Rank() int {
	switch l {
	case High:
		return 0
	case Medium:
		return 1
	}
	return 2
}

// A Finding is one answer.
type Finding struct {
	Kind Kind `json:"kind"`
	// Title is the kind as people call it: "Load imbalance".
	Title string `json:"title"`
	// Severity is the level; Lost the time lost, added up over locations;
	// Share is Lost as a part of the time that all locations of the run have; of
	// goroutines that is how long they live, of processors how long they are there.
	Severity Level      `json:"severity"`
	Lost     trace.Time `json:"lost"`
	// Unit is that of Lost: "ns", or for a profile the unit of its metric, such as "samples".
	Unit  string  `json:"unit"`
	Share float64 `json:"share"`
	// ShareOf is that time in words, after "of": "all time" where it is that of all locations.
	ShareOf string `json:"share_of"`
	// Hit is Lost as a part of the time of those locations that lose it. JSON has it as affected_share too: hit was
	// its name in the release before.
	Hit           float64 `json:"hit"`
	AffectedShare float64 `json:"affected_share"`
	// Text is one plain sentence.
	Text string `json:"text"`
	// View, Options and Selection are the state of the page that shows it.
	View      string              `json:"view"`
	Options   map[string][]string `json:"options"`
	Selection Selection           `json:"selection"`
	// Subjects are the locations that the finding blames or describes. Selection can have the waiting locations too.
	Subjects []trace.LocationID `json:"subjects"`
	Evidence []Evidence         `json:"evidence"`
	// Proof are numbers of one unit to compare: who is slow, and the others.
	Proof []Proof `json:"proof"`
	// Claims are numbers behind it that a query gives again from the tables of the run.
	Claims []Claim `json:"claims"`
	// Next suggests a remedy or a place to look, in one sentence.
	Next string `json:"next"`
	// Show is the command that draws it, Link the query of the page's address that shows it.
	Show string `json:"show"`
	Link string `json:"link"`
	// Place is where the code is, "file:line"; empty: the source does not record it.
	Place string `json:"place"`
	// Gain is the time to be gained; nil: none is predicted, and NoGain says why, of findings above low.
	Gain   *Gain  `json:"gain"`
	NoGain string `json:"no_gain"`
	// Symptom says that another finding, a cause above low, has its time; it comes after that one, which names it
	// in SeenAs.
	Symptom bool     `json:"symptom"`
	SeenAs  []string `json:"seen_as"`
	// Causes are the kinds of findings that can be its cause, if that depends on more than its kind.
	Causes []Kind `json:"-"`
	// Residual says that its time may hold waiting for causes that records do not show, and Apart that it comes after
	// the causes that are known: it is residual, or about the start or the end of the run.
	Residual bool `json:"-"`
	Apart    bool `json:"-"`
	// Phases are the names of the phases it is about; empty for the whole run.
	Phases []string `json:"phases"`
}

// A Selection is the part of the run that a finding is about: ids as the page's URL takes them with a "#"
// before. Empty lists stand for all; begin and end are always given, in ns.
type Selection struct {
	Begin     trace.Time         `json:"begin"`
	End       trace.Time         `json:"end"`
	Locations []trace.LocationID `json:"locations"`
	Regions   []trace.RegionID   `json:"regions"`
}

// Evidence is one number behind a finding. Unit is "ns", "count", "share", "bytes" or "" as in a view's
// columns, or the unit of a profile's metric.
type Evidence struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// From is SQL that gives the value again from the tables of the run; empty: none does.
	From string `json:"from,omitempty"`
	// Predicted says that it was not measured: a replay predicts it, of which no table is kept.
	Predicted bool `json:"predicted,omitempty"`
}

// A Proof is a number of the proof. Least and Most are set where it is the median of several.
type Proof struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Least *float64 `json:"least"`
	Most  *float64 `json:"most"`
	Unit  string   `json:"unit"`
}

// A Claim is a number that a finding rests on, with the SQL that gives it again. Unit is as in Evidence.
type Claim struct {
	Says  string  `json:"says"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	From  string  `json:"from"`
}

// A Gain is a prediction: the time by which the run would be shorter without the cause of a finding.
type Gain struct {
	// Time is in ns; Error is how far the prediction may be off, to both sides.
	Time  trace.Time `json:"time"`
	Error trace.Time `json:"error"`
	// Share is Time as a part of Of: "the run", "all requests".
	Share float64 `json:"share"`
	Of    string  `json:"of"`
	// AtMost reports that Time is a bound: the assumption can be reached in part only.
	AtMost bool `json:"at_most"`
	// If is the assumption, after "if".
	If string `json:"if"`
	// By is the method: "replay" of all waits, or "sum" of the time lost.
	By string `json:"by"`
	// Parts is the number of parts that a sum has, such as steps or requests: of one part no error is known.
	Parts int `json:"parts"`
	// Text is all of it in a sentence.
	Text string `json:"text"`
}

// Sort ranks findings: suspicious clocks first, since all times across locations depend on them; then those above
// low; causes before findings that may hide others, before their symptoms and before waiting without one; then by the
// share that is lost, since findings may count the time of processors or the lives of goroutines; by time, level, kind
// and words.
func Sort(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(first(&a), first(&b)),
			cmp.Compare(cost(&b), cost(&a)),
			cmp.Compare(b.Lost, a.Lost),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(a.Kind.rank(), b.Kind.rank()),
			cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Text, b.Text),
		)
	})
}

// cost is the share that a finding loses; 0 of one whose share is no loss.
func cost(f *Finding) float64 {
	if f.Lost == 0 {
		return 0
	}
	return f.Share
}

// first is the class in which a finding comes.
func first(f *Finding) int {
	switch {
	case f.Kind == Clock && f.Severity == High:
		return 0
	case f.Severity == Low:
		return 4
	case f.Symptom || f.Kind == Unexplained:
		return 3
	case f.Apart:
		return 2
	}
	return 1
}
