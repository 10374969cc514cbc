package perfetto

import (
	"maps"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
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

var reasons = [reasonCount]importer.Reason{
	brokenPackets: importer.Skipped(trace.MissingEvents, "packets that cannot be decoded"),
	lostStretches: importer.Skipped(trace.MissingEvents, "stretches between packets that are no packets"),
	cutFile:       importer.Skipped(trace.MissingRest, "files that end within a packet, read up to there"),
	damagedFile:   importer.Skipped(trace.MissingRest, "files whose packed data is damaged, read up to there"),
	padding:       importer.Redundant("bytes of padding between packets"),
	foreignFields: importer.Skipped(trace.MissingEvents, "fields of a file that are no packets"),
	largePackets:  importer.Skipped(trace.MissingEvents, "packets larger than 256 MiB"),
	nestedBundles: importer.Skipped(trace.MissingEvents, "compressed packets within compressed packets"),
	brokenBundles: importer.Skipped(trace.MissingRest,
		"bundles of compressed packets that are damaged, read up to there"),
	droppedPackets: importer.Skipped(trace.MissingEvents,
		"places where the recorder lost packets (its buffer was full)"),
	staleState:   importer.Skipped(trace.MissingEvents, "packets that refer to what was lost before them"),
	unknownClock: importer.Guessed("times on a clock that no snapshot compares with the trace's, taken for the same"),
	noTime:       importer.Skipped(trace.MissingEvents, "events without a time"),
	noType:       importer.Skipped(trace.MissingEvents, "events without a type"),
	noDuration:   importer.Guessed("complete events without a duration, taken as empty"),
	noValue:      importer.Skipped(trace.MissingValues, "counter events without a number"),
	noCounter:    importer.Skipped(trace.MissingValues, "values of counters that are not named"),
	lostNames:    importer.Guessed("references to names that the trace does not hold"),
	manyFacts: importer.Skipped(trace.MissingDetails,
		"annotations beyond a thousand of one event, or nested deeper than eight"),
	typedArguments: importer.Skipped(trace.MissingDetails, "typed arguments of Chrome and of extensions"),
	unknownPhase:   importer.Skipped(trace.MissingEvents, "events of the older form with a phase that is not read"),
	metadata:       importer.Skipped(trace.MissingDetails, "metadata events of the older form"),
	strayEnds:      importer.Skipped(trace.MissingIntervals, "ends of intervals without a begin"),
	unknownTracks:  importer.Guessed("records on tracks that the trace does not describe, put on rows at the top"),
	loneFlows:      importer.Skipped(trace.MissingLinks, "flows that only one event belongs to"),
	lostKernel:     importer.Skipped(trace.MissingEvents, "places where the kernel lost events"),
	otherKernel: importer.Skipped(trace.MissingEvents,
		"events of the kernel other than switches of tasks and prints"),
	otherPrints: importer.Skipped(trace.MissingEvents,
		"prints to the kernel's trace that are not in the words of atrace"),
	skippedSamples: importer.Skipped(trace.MissingSamples, "samples that the profiler could not unwind"),
	firstValues: importer.Skipped(trace.MissingValues,
		"first values of counters of GPUs, which are of the time before them"),
	backwards: importer.Skipped(trace.MissingIntervals,
		"switches of tasks that come before the one in front of them"),
	namedRanks: importer.Guessed("ranks taken from the names of processes"),
}

const nowhere = importer.Nowhere

// A tally counts the reasons of skipped and repaired records in one file.
type tally struct {
	importer.Tally[reason]
	kinds map[int32]int64 // packets that are not read, by field
}

func (t *tally) unread(kind int32) {
	if t.kinds == nil {
		t.kinds = map[int32]int64{}
	}
	t.kinds[kind]++
}

// entries returns the report entries for the file with that label.
func (t *tally) entries(label string) (list []trace.ReportEntry) {
	list = t.Entries(label, "byte", reasons[:])
	for _, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		what := unread[kind]
		if what == "" {
			what = "kind " + strconv.Itoa(int(kind))
		}
		list = append(list,
			trace.ReportEntry{Kind: trace.MissingEvents, What: "packets that are not read: " + what,
				Count:   t.kinds[kind],
				Example: label})
	}
	return list
}
