package chrometrace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reason is why something of a file is not kept as it stands.
type reason uint8

const (
	nestedArguments reason = iota
	endArguments
	oddArguments
	bookkeeping
	threadClocks
	stackTraces
	noPhase
	noTime
	noDuration
	threadDuration
	samples
	lostFrames
	systemRecords
	snapshots
	memoryDumps
	clockSyncs
	contexts
	otherMetadata
	unusedNames
	namedProcesses
	guessedReplicas
	profilerRows
	clangTotals
	repeatedFlows
	flowStarts
	flowEnds
	sharedFlows
	nextBinding
	asyncEnds
	badCounters
	noLaunch
	unknownHashes
	brokenRecords
	oversizedRecords
	missingCommas
	trailingBytes
	fileCut
	fileUnclosed
	fileDamaged
	badSections
	reasonCount
)

var reasons = [reasonCount]importer.Reason{
	nestedArguments: importer.Skipped(trace.MissingDetails, "arguments that are objects or long lists"),
	endArguments:    importer.Skipped(trace.MissingDetails, "arguments of end records"),
	oddArguments:    importer.Skipped(trace.MissingDetails, "arguments that are not an object"),
	bookkeeping: importer.Redundant("arguments that only number the recorder's own records (Ev Idx, Record " +
		"function id, cbid, p_idx, …)"),
	threadClocks:   importer.Skipped(trace.MissingDetails, "thread clock times of records (tts, tdur)"),
	stackTraces:    importer.Skipped(trace.MissingDetails, "stack traces of records (sf, stack)"),
	noPhase:        importer.Skipped(trace.MissingEvents, "objects without a phase"),
	noTime:         importer.Skipped(trace.MissingEvents, "records without a readable time"),
	noDuration:     importer.Guessed("complete records without a duration, taken as empty"),
	threadDuration: importer.Guessed("complete records without a duration, taken from the thread's clock (tdur)"),
	systemRecords:  importer.Skipped(trace.MissingEvents, "records of the system's scheduler (systemTraceEvents)"),
	samples:        importer.Skipped(trace.MissingSamples, "stack samples whose stack or time is not told"),
	lostFrames:     importer.Skipped(trace.MissingSamples, "stack samples of a frame that is not there"),
	snapshots:      importer.Skipped(trace.MissingDetails, "object snapshots"),
	memoryDumps:    importer.Skipped(trace.MissingValues, "memory dumps"),
	clockSyncs:     importer.Redundant("clock synchronisation records"),
	contexts:       importer.Skipped(trace.MissingDetails, "context records"),
	otherMetadata:  importer.Redundant("metadata records that name or order nothing"),
	unusedNames:    importer.Redundant("names of rows that hold no records"),
	namedProcesses: importer.Guessed("ranks taken from the names of processes"),
	guessedReplicas: importer.Guessed("processes numbered from 0 on, taken as the replicas (dp) of stages that " +
		"threads name"),
	profilerRows:  importer.Redundant("records of the profiler about itself (PyTorch Profiler), which are no work"),
	clangTotals:   importer.Redundant("totals of clang, which it writes as if they were threads"),
	repeatedFlows: importer.Redundant("flow records that repeat what a correlation id links"),
	flowStarts:    importer.Skipped(trace.MissingLinks, "flow starts without an end"),
	flowEnds:      importer.Skipped(trace.MissingLinks, "flow ends without a start"),
	sharedFlows: importer.Guessed(
		"links of flow ids that are used again before their end, paired in order of time",
	),
	nextBinding: importer.Guessed("flow ends bound to the next interval, tied to the one at their time"),
	asyncEnds:   importer.Skipped(trace.MissingIntervals, "ends of asynchronous intervals without a begin"),
	badCounters: importer.Skipped(trace.MissingValues, "counter values that are not numbers"),
	noLaunch:    importer.Skipped(trace.MissingLinks, "launches of GPU work that are not in the file (no link)"),
	unknownHashes: importer.Guessed(
		"hashes whose name the file does not give before they are used, kept as numbers",
	),
	brokenRecords:    importer.Skipped(trace.MissingEvents, "stretches that are no records"),
	oversizedRecords: importer.Skipped(trace.MissingEvents, "records longer than 64 MiB"),
	missingCommas:    importer.Repaired("records without a comma before them"),
	trailingBytes:    importer.Skipped(trace.MissingRest, "bytes after the end of the trace"),
	fileCut:          importer.Skipped(trace.MissingRest, "files that break off, read up to there"),
	fileUnclosed: importer.Repaired("files without their closing bracket (some writers leave it out, or the file " +
		"was cut)"),
	fileDamaged: importer.Skipped(trace.MissingRest, "files whose packed data is damaged, read up to there"),
	badSections: importer.Skipped(trace.MissingDetails, "top-level members that are not as PyTorch writes them"),
}

const nowhere = importer.Nowhere

// A tally counts the reasons of skipped and repaired records in one file.
type tally struct {
	importer.Tally[reason]
	phases map[byte]int64 // records of unknown phase, by their letter
}

func (t *tally) unknownPhase(p byte) {
	if t.phases == nil {
		t.phases = map[byte]int64{}
	}
	t.phases[p]++
}

// flush turns the counts of the file with that label into entries of the report, and resets them.
func (t *tally) flush(label string) (entries []trace.ReportEntry) {
	entries = t.Entries(label, "byte", reasons[:])
	for _, p := range slices.Sorted(maps.Keys(t.phases)) {
		entries = append(entries,
			trace.ReportEntry{Kind: trace.MissingEvents, What: fmt.Sprintf("records of the unknown phase %q", p),
				Count: t.phases[p], Example: label})
	}
	t.phases = nil
	return entries
}

// damage takes over the scanner's counts.
func (t *tally) damage(s *scanner) {
	d := &s.damage
	t.AddN(brokenRecords, d.broken, d.brokenAt)
	t.AddN(oversizedRecords, d.oversized, nowhere)
	t.AddN(trailingBytes, d.trailing, s.offset())
	if d.cut {
		t.Add(fileCut, s.offset())
	} else if d.unclosed {
		t.Add(fileUnclosed, s.offset())
	}
	if s.readFailure() != nil {
		t.Add(fileDamaged, s.offset())
	}
}

// knownPhase reports whether a letter is a phase of the format.
func knownPhase(p byte) bool {
	return p != 0 && strings.IndexByte("BEXiIRCbneSTpFstfPNODMVvc()", p) >= 0
}
