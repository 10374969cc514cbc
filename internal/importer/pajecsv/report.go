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

var reasons = [reasonCount]struct {
	kind trace.ReportKind
	what string
}{
	shortLine:      {trace.Skipped, "lines with too few fields (the file may be cut there)"},
	longLine:       {trace.Skipped, "lines longer than 1 MiB"},
	badTime:        {trace.Skipped, "lines without a readable time"},
	badNumber:      {trace.Skipped, "values of variables that are not numbers"},
	unknownNature:  {trace.Skipped, "lines that are none of pj_dump's"},
	noHeader:       {trace.Skipped, "tables without a header"},
	unknownParent:  {trace.Guessed, "containers whose parent is not listed before them, put at the top"},
	byPrefix:       {trace.Guessed, "containers that are not listed, put below the program whose number their name begins with"},
	unlisted:       {trace.Guessed, "containers that are not listed, put at the top"},
	secondStates:   {trace.Guessed, "types of states beside the first on their container, on rows of their own"},
	repeatedStates: {trace.Guessed, "types of states that repeat another one, on rows of their own that count nowhere"},
	ambiguous:      {trace.Guessed, "containers whose name another one has; records of either are put on the first"},
	ranksByName:    {trace.Guessed, "ranks taken from the names of containers"},
	namelessFields: {trace.Guessed, "lines with fields beyond those that pj_dump names, kept as attributes"},
	lonelyLinks:    {trace.Skipped, "links with an end on no container"},
	linkValues:     {trace.Skipped, "values of links"},
	orphanTasks:    {trace.Skipped, "tasks that left no state (callbacks, synchronisation, control)"},
	manyTasks:      {trace.Skipped, "tasks beyond four million, without their attributes and links"},
	passedThrough:  {trace.Guessed, "links of the task graph through tasks that left no state"},
	deadEdges:      {trace.Skipped, "edges of the task graph that lead from or to no task with a state"},
	manyEdges:      {trace.Skipped, "edges of the task graph beyond sixteen million"},
	damaged:        {trace.Repaired, "files whose data is damaged, read up to there"},
}

// A tally counts reasons in one file.
type tally = importer.LineTally[reason]

func say(why reason) (trace.ReportKind, string) { return reasons[why].kind, reasons[why].what }
