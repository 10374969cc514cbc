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

var reasons = [reasonCount]importer.Reason{
	badRecord: importer.Skipped(trace.MissingEvents,
		"lines that are no whole record (the file may be cut there)"),
	oddPair:             importer.Skipped(trace.MissingDetails, "event types without a value, at the end of a record"),
	longLine:            importer.Skipped(trace.MissingEvents, "lines longer than 64 MiB"),
	unknownKind:         importer.Skipped(trace.MissingEvents, "lines of an unknown kind of record"),
	globalCommunication: importer.Skipped(trace.MissingLinks, "global communication records"),
	unknownThread:       importer.Skipped(trace.MissingEvents, "records of threads that the header does not have"),
	badTime:             importer.Skipped(trace.MissingEvents, "records without a readable time"),
	strayEnd:            importer.Skipped(trace.MissingIntervals, "ends of calls that did not begin in the trace"),
	unended:             importer.Repaired("calls without an end, ended with the trace"),
	openState:           importer.Repaired("states without an end, ended with the trace"),
	lonelyDetail:        importer.Skipped(trace.MissingDetails, "callers, lines and sizes in records without a call"),
	manyValues:          importer.Repaired("values past the first 65,536 of their type, kept as one region"),
	otherTimes: importer.Skipped(trace.MissingDetails,
		"messages whose physical send and logical receive differ from the times of "+
			"their link"),
	backward: importer.Guessed("messages that arrive before they are sent, kept as they are (clocks that " +
		"differ)"),
	movedThread: importer.Skipped(trace.MissingDetails,
		"processors of records on another one than the thread's first"),
	badCommunicator:   importer.Skipped(trace.MissingGroups, "communicators with tasks that the header does not have"),
	interCommunicator: importer.Skipped(trace.MissingGroups, "communicators between groups"),
	shortTrace: importer.Skipped(trace.MissingRest,
		"traces that end before the time their header gives (the file may be cut)"),
	manyThreads: importer.Redundant("threads of the header that are left out of the tree where they hold no " +
		"records, as there are over a million"),
	severalWorlds: importer.Guessed("ranks of further applications, numbered after those of the ones before"),
	noPCF:         importer.Guessed("traces without a .pcf, named by Extrae's usual numbers"),
	badNames:      importer.Skipped(trace.MissingNames, "files of names that cannot be read to their end"),
	damaged:       importer.Skipped(trace.MissingRest, "files whose data is damaged, read up to there"),
}

// A tally counts the reasons of skipped and repaired records in one file.
type tally = importer.Tally[reason]

const nowhere = importer.Nowhere
