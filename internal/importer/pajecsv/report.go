package pajecsv

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reason is why something of a file is not kept as it stands.
type reason uint8

const (
	shortLine reason = iota
	longLine
	badTime
	badNumber
	unknownNature
	noHeader
	unknownParent
	byPrefix
	unlisted
	ambiguous
	secondStates
	repeatedStates
	ranksByName
	namelessFields
	lonelyLinks
	linkValues
	orphanTasks
	manyTasks
	passedThrough
	deadEdges
	manyEdges
	damaged
	reasonCount
)

var reasons = [reasonCount]importer.Reason{
	shortLine:     importer.Skipped(trace.MissingEvents, "lines with too few fields (the file may be cut there)"),
	longLine:      importer.Skipped(trace.MissingEvents, "lines longer than 1 MiB"),
	badTime:       importer.Skipped(trace.MissingEvents, "lines without a readable time"),
	badNumber:     importer.Skipped(trace.MissingValues, "values of variables that are not numbers"),
	unknownNature: importer.Skipped(trace.MissingEvents, "lines that are none of pj_dump's"),
	noHeader:      importer.Skipped(trace.MissingFiles, "tables without a header"),
	unknownParent: importer.Guessed("containers whose parent is not listed before them, put at the top"),
	byPrefix: importer.Guessed("containers that are not listed, put below the program whose number their name " +
		"begins with"),
	unlisted:     importer.Guessed("containers that are not listed, put at the top"),
	secondStates: importer.Guessed("types of states beside the first on their container, on rows of their own"),
	repeatedStates: importer.Guessed(
		"types of states that repeat another one, on rows of their own that count nowhere",
	),
	ambiguous:      importer.Guessed("containers whose name another one has; records of either are put on the first"),
	ranksByName:    importer.Guessed("ranks taken from the names of containers"),
	namelessFields: importer.Guessed("lines with fields beyond those that pj_dump names, kept as attributes"),
	lonelyLinks:    importer.Skipped(trace.MissingLinks, "links with an end on no container"),
	linkValues:     importer.Skipped(trace.MissingDetails, "values of links"),
	orphanTasks: importer.Skipped(trace.MissingIntervals,
		"tasks that left no state (callbacks, synchronisation, control)"),
	manyTasks: importer.Skipped(trace.MissingDetails,
		"tasks beyond four million, without their attributes and links"),
	passedThrough: importer.Guessed("links of the task graph through tasks that left no state"),
	deadEdges: importer.Skipped(trace.MissingLinks,
		"edges of the task graph that lead from or to no task with a state"),
	manyEdges: importer.Skipped(trace.MissingLinks, "edges of the task graph beyond sixteen million"),
	damaged:   importer.Skipped(trace.MissingRest, "files whose data is damaged, read up to there"),
}

// A tally counts the reasons of skipped and repaired records in one file.
type tally = importer.Tally[reason]

const nowhere = importer.Nowhere
