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
	reasonCount
)

var reasons = [reasonCount]struct {
	kind trace.ReportKind
	what string
}{
	badDefinition:     {trace.Skipped, "lines of event definitions that are no definition"},
	openDefinition:    {trace.Skipped, "event definitions without their end"},
	missingType:       {trace.Guessed, "fields defined without a type, taken as text"},
	redefined:         {trace.Guessed, "event numbers defined again; each definition holds from there on"},
	lackingDefinition: {trace.Skipped, "event definitions that lack a field, so that their events mean nothing"},
	unknownNumber:     {trace.Skipped, "lines whose event is not defined"},
	lackingLine:       {trace.Skipped, "lines of events whose definition lacks a field"},
	fewFields:         {trace.Skipped, "lines with fewer fields than their event has (the file may be cut there)"},
	moreFields:        {trace.Skipped, "fields beyond those that their event has, on so many lines"},
	unclosedQuote:     {trace.Repaired, "quotes without an end, ended with their line"},
	badTime:           {trace.Skipped, "lines without a readable time"},
	badNumber:         {trace.Skipped, "values of variables that are not numbers"},
	roundedTime:       {trace.Repaired, "times finer than a nanosecond, rounded"},
	longLine:          {trace.Skipped, "lines longer than 1 MiB"},
	unknownType:       {trace.Skipped, "lines whose type is not defined"},
	wrongNature:       {trace.Skipped, "lines whose type is of another kind than their event needs"},
	unknownContainer:  {trace.Skipped, "lines whose container does not exist"},
	unknownParent:     {trace.Guessed, "containers whose parent does not exist, put at the top"},
	typeByName:        {trace.Guessed, "references to types by name though they have an alias"},
	containerByName:   {trace.Guessed, "references to containers by name though they have an alias"},
	retyped:           {trace.Guessed, "types defined again in another way; each definition holds from there on"},
	revalued:          {trace.Guessed, "values defined again in another way; each definition holds from there on"},
	recreated:         {trace.Guessed, "containers created again under the same alias"},
	foreignState:      {trace.Guessed, "records on containers of another type than theirs declares, kept"},
	foreignLink:       {trace.Guessed, "ends of links on containers of another type than the link's type declares, kept (pj_dump refuses them)"},
	strayPop:          {trace.Skipped, "pops of a state that is not there"},
	disorder:          {trace.Repaired, "states earlier than the one before on their container, put in order of time"},
	secondStates:      {trace.Guessed, "types of states beside the first on their container, on rows of their own"},
	repeatedStates:    {trace.Guessed, "types of states that repeat another one, on rows of their own that count nowhere"},
	unpopped:          {trace.Repaired, "states that are pushed and never popped, ended with the trace"},
	afterDestroy:      {trace.Guessed, "records on containers after their end, kept"},
	unknownDestroy:    {trace.Skipped, "ends of containers that do not exist"},
	undestroyed:       {trace.Repaired, "containers without an end though others have one (the file may be cut), ended with the trace"},
	manyValues:        {trace.Repaired, "values past the first 65,536 that are not declared, kept as attributes of one region"},
	unsetVariable:     {trace.Guessed, "additions to variables that were not set, which begin at 0"},
	keyReused:         {trace.Guessed, "keys used for several links at once, joined in the order of the file"},
	valueDiffers:      {trace.Guessed, "links whose two ends have different values, joined by their key"},
	backwardLink:      {trace.Guessed, "links that end before they begin, kept as they are (clocks that differ)"},
	linkStarts:        {trace.Skipped, "link starts without an end"},
	linkEnds:          {trace.Skipped, "link ends without a start"},
	farLinks:          {trace.Skipped, "ends of links beyond a million that wait for their other end"},
	linkValues:        {trace.Skipped, "values of links"},
	linkFields:        {trace.Skipped, "fields of links other than their size and tag"},
	variableFields:    {trace.Skipped, "fields of variables that are the writer's own"},
	endFields:         {trace.Skipped, "fields of pops and resets that are the writer's own"},
	ranksByName:       {trace.Guessed, "ranks taken from the names of containers"},
	missingPart:       {trace.Skipped, "files of the trace that cannot be read"},
	repeatedPart:      {trace.Skipped, "files of the trace named again"},
	damaged:           {trace.Repaired, "files whose data is damaged, read up to there"},
}

// A tally counts reasons in one file.
type tally = importer.LineTally[reason]

func say(why reason) (trace.ReportKind, string) { return reasons[why].kind, reasons[why].what }

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
			w.Report(trace.Skipped, "events of other names that Paje does not know", rest, label)
			break
		}
		w.Report(trace.Skipped, fmt.Sprintf("events %q, which Paje does not know", name), counts[name], label)
	}
}
