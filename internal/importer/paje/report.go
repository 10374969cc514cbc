package paje

import (
	"fmt"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reason is why something of a file is not kept as it stands.
type reason uint8

const (
	badDefinition reason = iota
	openDefinition
	missingType
	redefined
	lackingDefinition
	unknownNumber
	lackingLine
	fewFields
	moreFields
	unclosedQuote
	badTime
	badNumber
	roundedTime
	longLine
	unknownType
	wrongNature
	unknownContainer
	unknownParent
	typeByName
	containerByName
	retyped
	revalued
	recreated
	foreignState
	foreignLink
	strayPop
	disorder
	secondStates
	repeatedStates
	unpopped
	afterDestroy
	unknownDestroy
	undestroyed
	manyValues
	unsetVariable
	keyReused
	valueDiffers
	backwardLink
	linkStarts
	linkEnds
	farLinks
	linkValues
	linkFields
	variableFields
	endFields
	ranksByName
	missingPart
	repeatedPart
	damaged
	unendedLine
	reasonCount
)

var reasons = [reasonCount]importer.Reason{
	badDefinition:  importer.Skipped(trace.MissingEvents, "lines of event definitions that are no definition"),
	openDefinition: importer.Skipped(trace.MissingEvents, "event definitions without their end"),
	missingType:    importer.Guessed("fields defined without a type, taken as text"),
	redefined:      importer.Guessed("event numbers defined again; each definition holds from there on"),
	lackingDefinition: importer.Skipped(trace.MissingEvents,
		"event definitions that lack a field, so that their events mean nothing"),
	unknownNumber: importer.Skipped(trace.MissingEvents, "lines whose event is not defined"),
	lackingLine:   importer.Skipped(trace.MissingEvents, "lines of events whose definition lacks a field"),
	fewFields: importer.Skipped(trace.MissingEvents,
		"lines with fewer fields than their event has (the file may be cut there)"),
	moreFields: importer.Skipped(trace.MissingDetails,
		"fields beyond those that their event has, on so many lines"),
	unclosedQuote: importer.Repaired("quotes without an end, ended with their line"),
	badTime:       importer.Skipped(trace.MissingEvents, "lines without a readable time"),
	badNumber:     importer.Skipped(trace.MissingValues, "values of variables that are not numbers"),
	roundedTime:   importer.Repaired("times finer than a nanosecond, rounded"),
	longLine:      importer.Skipped(trace.MissingEvents, "lines longer than 1 MiB"),
	unknownType:   importer.Skipped(trace.MissingEvents, "lines whose type is not defined"),
	wrongNature: importer.Skipped(trace.MissingEvents,
		"lines whose type is of another kind than their event needs"),
	unknownContainer: importer.Skipped(trace.MissingEvents, "lines whose container does not exist"),
	unknownParent:    importer.Guessed("containers whose parent does not exist, put at the top"),
	typeByName:       importer.Guessed("references to types by name though they have an alias"),
	containerByName:  importer.Guessed("references to containers by name though they have an alias"),
	retyped:          importer.Guessed("types defined again in another way; each definition holds from there on"),
	revalued:         importer.Guessed("values defined again in another way; each definition holds from there on"),
	recreated:        importer.Guessed("containers created again under the same alias"),
	foreignState:     importer.Guessed("records on containers of another type than theirs declares, kept"),
	foreignLink: importer.Guessed("ends of links on containers of another type than the link's type declares, " +
		"kept (pj_dump refuses them)"),
	strayPop:     importer.Skipped(trace.MissingIntervals, "pops of a state that is not there"),
	disorder:     importer.Repaired("states earlier than the one before on their container, put in order of time"),
	secondStates: importer.Guessed("types of states beside the first on their container, on rows of their own"),
	repeatedStates: importer.Guessed("types of states that repeat another one, on rows of their own that count " +
		"nowhere"),
	unpopped:       importer.Repaired("states that are pushed and never popped, ended with the trace"),
	afterDestroy:   importer.Guessed("records on containers after their end, kept"),
	unknownDestroy: importer.Skipped(trace.MissingDetails, "ends of containers that do not exist"),
	undestroyed: importer.Repaired("containers without an end though others have one (the file may be cut), " +
		"ended with the trace"),
	manyValues: importer.Repaired("values past the first 65,536 that are not declared, kept as attributes of " +
		"one region"),
	unsetVariable: importer.Guessed("additions to variables that were not set, which begin at 0"),
	keyReused:     importer.Guessed("keys used for several links at once, joined in the order of the file"),
	valueDiffers:  importer.Guessed("links whose two ends have different values, joined by their key"),
	backwardLink:  importer.Guessed("links that end before they begin, kept as they are (clocks that differ)"),
	linkStarts:    importer.Skipped(trace.MissingLinks, "link starts without an end"),
	linkEnds:      importer.Skipped(trace.MissingLinks, "link ends without a start"),
	farLinks: importer.Skipped(trace.MissingLinks,
		"ends of links beyond a million that wait for their other end"),
	linkValues:     importer.Skipped(trace.MissingDetails, "values of links"),
	linkFields:     importer.Skipped(trace.MissingDetails, "fields of links other than their size and tag"),
	variableFields: importer.Skipped(trace.MissingDetails, "fields of variables that are the writer's own"),
	endFields:      importer.Skipped(trace.MissingDetails, "fields of pops and resets that are the writer's own"),
	ranksByName:    importer.Guessed("ranks taken from the names of containers"),
	missingPart:    importer.Skipped(trace.MissingFiles, "files of the trace that cannot be read"),
	repeatedPart:   importer.Redundant("files of the trace named again"),
	damaged:        importer.Skipped(trace.MissingRest, "files whose data is damaged, read up to there"),
	unendedLine:    importer.Guessed(importer.EndsWithinALine),
}

// A tally counts the reasons of skipped and repaired records in one file.
type tally = importer.Tally[reason]

const nowhere = importer.Nowhere

// reportUnknown tells of events that are not Paje's own, by name.
func reportUnknown(w trace.Writer, counts map[string]int64, label string) {
	const most = 16
	names := slices.Sorted(maps.Keys(counts))
	for i, name := range names {
		if i == most {
			var rest int64
			for _, n := range names[i:] {
				rest += counts[n]
			}
			w.Report(trace.MissingEvents, "events of other names that Paje does not know", rest, label)
			break
		}
		w.Report(trace.MissingEvents, fmt.Sprintf("events %q, which Paje does not know", name), counts[name], label)
	}
}
