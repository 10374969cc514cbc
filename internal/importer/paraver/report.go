package paraver

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reason is why something of a trace is not kept as it stands.
type reason uint8

const (
	badRecord reason = iota
	oddPair
	longLine
	unknownKind
	globalCommunication
	unknownThread
	badTime
	strayEnd
	unended
	openState
	lonelyDetail
	manyValues
	otherTimes
	backward
	movedThread
	badCommunicator
	interCommunicator
	shortTrace
	manyThreads
	severalWorlds
	noPCF
	badNames
	damaged
	reasonCount
)

var reasons = [reasonCount]struct {
	kind trace.ReportKind
	what string
}{
	badRecord:           {trace.Skipped, "lines that are no whole record (the file may be cut there)"},
	oddPair:             {trace.Skipped, "event types without a value, at the end of a record"},
	longLine:            {trace.Skipped, "lines longer than 64 MiB"},
	unknownKind:         {trace.Skipped, "lines of an unknown kind of record"},
	globalCommunication: {trace.Skipped, "global communication records"},
	unknownThread:       {trace.Skipped, "records of threads that the header does not have"},
	badTime:             {trace.Skipped, "records without a readable time"},
	strayEnd:            {trace.Skipped, "ends of calls that did not begin in the trace"},
	unended:             {trace.Repaired, "calls without an end, ended with the trace"},
	openState:           {trace.Repaired, "states without an end, ended with the trace"},
	lonelyDetail:        {trace.Skipped, "callers, lines and sizes in records without a call"},
	manyValues:          {trace.Repaired, "values past the first 65,536 of their type, kept as one region"},
	otherTimes:          {trace.Skipped, "messages whose physical send and logical receive differ from the times of their link"},
	backward:            {trace.Guessed, "messages that arrive before they are sent, kept as they are (clocks that differ)"},
	movedThread:         {trace.Skipped, "processors of records on another one than the thread's first"},
	badCommunicator:     {trace.Skipped, "communicators with tasks that the header does not have"},
	interCommunicator:   {trace.Skipped, "communicators between groups"},
	shortTrace:          {trace.Repaired, "traces that end before the time their header gives (the file may be cut)"},
	manyThreads:         {trace.Guessed, "threads of the header that are left out of the tree where they hold no records, as there are over a million"},
	severalWorlds:       {trace.Guessed, "ranks of further applications, numbered after those of the ones before"},
	noPCF:               {trace.Guessed, "traces without a .pcf, named by Extrae's usual numbers"},
	badNames:            {trace.Skipped, "files of names that cannot be read to their end"},
	damaged:             {trace.Repaired, "files whose data is damaged, read up to there"},
}

// A tally counts reasons in one file.
type tally = importer.LineTally[reason]

func say(why reason) (trace.ReportKind, string) { return reasons[why].kind, reasons[why].what }
