package perfetto

import (
	"maps"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reason is why something of a file is not kept as it stands.
type reason uint8

const (
	brokenPackets reason = iota
	lostStretches
	cutFile
	damagedFile
	padding
	foreignFields
	largePackets
	nestedBundles
	brokenBundles
	droppedPackets
	staleState
	unknownClock
	noTime
	noType
	noDuration
	noValue
	noCounter
	lostNames
	manyFacts
	typedArguments
	unknownPhase
	metadata
	strayEnds
	unknownTracks
	loneFlows
	lostKernel
	otherKernel
	otherPrints
	firstValues
	skippedSamples
	backwards
	namedRanks
	reasonCount
)

var reasons = [reasonCount]struct {
	kind trace.ReportKind
	what string
}{
	brokenPackets:  {trace.Skipped, "packets that cannot be decoded"},
	lostStretches:  {trace.Skipped, "stretches between packets that are no packets"},
	cutFile:        {trace.Repaired, "files that end within a packet, read up to there"},
	damagedFile:    {trace.Repaired, "files whose packed data is damaged, read up to there"},
	padding:        {trace.Skipped, "bytes of padding between packets"},
	foreignFields:  {trace.Skipped, "fields of a file that are no packets"},
	largePackets:   {trace.Skipped, "packets larger than 256 MiB"},
	nestedBundles:  {trace.Skipped, "compressed packets within compressed packets"},
	brokenBundles:  {trace.Repaired, "bundles of compressed packets that are damaged, read up to there"},
	droppedPackets: {trace.Skipped, "places where the recorder lost packets (its buffer was full)"},
	staleState:     {trace.Skipped, "packets that refer to what was lost before them"},
	unknownClock:   {trace.Guessed, "times on a clock that no snapshot compares with the trace's, taken for the same"},
	noTime:         {trace.Skipped, "events without a time"},
	noType:         {trace.Skipped, "events without a type"},
	noDuration:     {trace.Guessed, "complete events without a duration, taken as empty"},
	noValue:        {trace.Skipped, "counter events without a number"},
	noCounter:      {trace.Skipped, "values of counters that are not named"},
	lostNames:      {trace.Guessed, "references to names that the trace does not hold"},
	manyFacts:      {trace.Skipped, "annotations beyond a thousand of one event, or nested deeper than eight"},
	typedArguments: {trace.Skipped, "typed arguments of Chrome and of extensions"},
	unknownPhase:   {trace.Skipped, "events of the older form with a phase that is not read"},
	metadata:       {trace.Skipped, "metadata events of the older form"},
	strayEnds:      {trace.Skipped, "ends of intervals without a begin"},
	unknownTracks:  {trace.Guessed, "records on tracks that the trace does not describe, put on rows at the top"},
	loneFlows:      {trace.Skipped, "flows that only one event belongs to"},
	lostKernel:     {trace.Skipped, "places where the kernel lost events"},
	otherKernel:    {trace.Skipped, "events of the kernel other than switches of tasks and prints"},
	otherPrints:    {trace.Skipped, "prints to the kernel's trace that are not in the words of atrace"},
	skippedSamples: {trace.Skipped, "samples that the profiler could not unwind"},
	firstValues:    {trace.Skipped, "first values of counters of GPUs, which are of the time before them"},
	backwards:      {trace.Skipped, "switches of tasks that come before the one in front of them"},
	namedRanks:     {trace.Guessed, "ranks taken from the names of processes"},
}

// A tally counts reasons in one file. The first place of each is kept.
type tally struct {
	count [reasonCount]int64
	first [reasonCount]string
	kinds map[int32]int64 // packets that are not read, by field
}

func (t *tally) add(why reason, place string) { t.addN(why, 1, place) }

func (t *tally) addN(why reason, n int64, place string) {
	if n > 0 && t.count[why] == 0 {
		t.first[why] = place
	}
	t.count[why] += n
}

func (t *tally) unread(kind int32) {
	if t.kinds == nil {
		t.kinds = map[int32]int64{}
	}
	t.kinds[kind]++
}

// entries are what is to be reported of the file of a label.
func (t *tally) entries(label string) (list []trace.ReportEntry) {
	for why, n := range t.count {
		if n == 0 {
			continue
		}
		e := trace.ReportEntry{Kind: reasons[why].kind, What: reasons[why].what, Count: n, Example: label}
		if t.first[why] != "" {
			e.Example += ": " + t.first[why]
		}
		list = append(list, e)
	}
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		what := unread[kind]
		if what == "" {
			what = "kind " + strconv.Itoa(int(kind))
		}
		list = append(list, trace.ReportEntry{Kind: trace.Skipped, What: "packets that are not read: " + what, Count: t.kinds[kind], Example: label})
	}
	return list
}
