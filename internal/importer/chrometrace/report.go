package chrometrace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

var reasons = [reasonCount]struct {
	kind trace.ReportKind
	what string
}{
	nestedArguments:  {trace.Skipped, "arguments that are objects or long lists"},
	endArguments:     {trace.Skipped, "arguments of end records"},
	oddArguments:     {trace.Skipped, "arguments that are not an object"},
	bookkeeping:      {trace.Skipped, "arguments that only number the recorder's own records (Ev Idx, Record function id, cbid, p_idx, …)"},
	threadClocks:     {trace.Skipped, "thread clock times of records (tts, tdur)"},
	stackTraces:      {trace.Skipped, "stack traces of records (sf, stack)"},
	noPhase:          {trace.Skipped, "objects without a phase"},
	noTime:           {trace.Skipped, "records without a readable time"},
	noDuration:       {trace.Guessed, "complete records without a duration, taken as empty"},
	threadDuration:   {trace.Guessed, "complete records without a duration, taken from the thread's clock (tdur)"},
	systemRecords:    {trace.Skipped, "records of the system's scheduler (systemTraceEvents)"},
	samples:          {trace.Skipped, "stack samples whose stack or time is not told"},
	lostFrames:       {trace.Skipped, "stack samples of a frame that is not there"},
	snapshots:        {trace.Skipped, "object snapshots"},
	memoryDumps:      {trace.Skipped, "memory dumps"},
	clockSyncs:       {trace.Skipped, "clock synchronisation records"},
	contexts:         {trace.Skipped, "context records"},
	otherMetadata:    {trace.Skipped, "metadata records that name or order nothing"},
	unusedNames:      {trace.Skipped, "names of rows that hold no records"},
	namedProcesses:   {trace.Guessed, "ranks taken from the names of processes"},
	guessedReplicas:  {trace.Guessed, "processes numbered from 0 on, taken as the replicas (dp) of stages that threads name"},
	profilerRows:     {trace.Skipped, "records of the profiler about itself (PyTorch Profiler), which are no work"},
	clangTotals:      {trace.Skipped, "totals of clang, which it writes as if they were threads"},
	repeatedFlows:    {trace.Skipped, "flow records that repeat what a correlation id links"},
	flowStarts:       {trace.Skipped, "flow starts without an end"},
	flowEnds:         {trace.Skipped, "flow ends without a start"},
	sharedFlows:      {trace.Guessed, "links of flow ids that are used again before their end, paired in order of time"},
	nextBinding:      {trace.Guessed, "flow ends bound to the next interval, tied to the one at their time"},
	asyncEnds:        {trace.Skipped, "ends of asynchronous intervals without a begin"},
	badCounters:      {trace.Skipped, "counter values that are not numbers"},
	noLaunch:         {trace.Skipped, "launches of GPU work that are not in the file (no link)"},
	unknownHashes:    {trace.Guessed, "hashes whose name the file does not give before they are used, kept as numbers"},
	brokenRecords:    {trace.Skipped, "stretches that are no records"},
	oversizedRecords: {trace.Skipped, "records longer than 64 MiB"},
	missingCommas:    {trace.Repaired, "records without a comma before them"},
	trailingBytes:    {trace.Skipped, "bytes after the end of the trace"},
	fileCut:          {trace.Repaired, "files that break off, read up to there"},
	fileUnclosed:     {trace.Repaired, "files without their closing bracket (some writers leave it out, or the file was cut)"},
	fileDamaged:      {trace.Repaired, "files whose packed data is damaged, read up to there"},
	badSections:      {trace.Skipped, "top-level members that are not as PyTorch writes them"},
}

// nowhere is the offset of what has no single place in the file.
const nowhere = -1

// A tally counts reasons in one file. The first place of each is kept.
type tally struct {
	count [reasonCount]int64
	first [reasonCount]int64
	// phases counts records of unknown phase, by their letter.
	phases map[byte]int64
}

func (t *tally) add(why reason, offset int64) { t.addN(why, 1, offset) }

func (t *tally) addN(why reason, n, offset int64) {
	if n == 0 {
		return
	}
	if t.count[why] == 0 {
		t.first[why] = offset
	}
	t.count[why] += n
}

func (t *tally) unknownPhase(p byte) {
	if t.phases == nil {
		t.phases = map[byte]int64{}
	}
	t.phases[p]++
}

// flush turns what was counted in the file of that label into entries of the
// report, and starts anew.
func (t *tally) flush(label string) (entries []trace.ReportEntry) {
	for why, n := range t.count {
		if n == 0 {
			continue
		}
		e := trace.ReportEntry{Kind: reasons[why].kind, What: reasons[why].what, Count: n, Example: label}
		if t.first[why] != nowhere {
			e.Example += ": " + byteAt(t.first[why])
		}
		entries = append(entries, e)
	}
	for _, p := range slices.Sorted(maps.Keys(t.phases)) {
		entries = append(entries, trace.ReportEntry{Kind: trace.Skipped, What: fmt.Sprintf("records of the unknown phase %q", p), Count: t.phases[p], Example: label})
	}
	*t = tally{}
	return entries
}

// damage takes over what the scanner counted.
func (t *tally) damage(s *scanner) {
	d := &s.damage
	t.addN(brokenRecords, d.broken, d.brokenAt)
	t.addN(oversizedRecords, d.oversized, nowhere)
	t.addN(trailingBytes, d.trailing, s.offset())
	if d.cut {
		t.add(fileCut, s.offset())
	} else if d.unclosed {
		t.add(fileUnclosed, s.offset())
	}
	if s.readFailure() != nil {
		t.add(fileDamaged, s.offset())
	}
}

// knownPhase reports whether a letter is a phase of the format.
func knownPhase(p byte) bool {
	return p != 0 && strings.IndexByte("BEXiIRCbneSTpFstfPNODMVvc()", p) >= 0
}
