// Package paje imports traces in Paje's language: StarPU, SimGrid and SMPI,
// Akypuera, EZTrace and ViTE's tools write them.
//
// A file is lines of text. Lines that begin with a percent sign define events: a
// name, a number, and fields in any order, of which some may be the writer's own.
// Every other line is an event: its number and its fields. Described in "Paje
// trace file format" (Schnorr, Stein and Kergommeaux, version 1.3.1).
//
//	container                 location; its type's name gives the kind
//	state type                category of regions
//	value of a state          region, its colour an attribute "colour"
//	push and pop, set, reset  intervals
//	event                     instant
//	variable: set, add, sub   counter with the value that results
//	start and end of a link   link, joined by type, container and key
//	fields of the writer's    attributes of intervals and instants
//	Size and Tag of a link    size and tag
//
// Types and containers are known by their alias where they have one, so that
// several may have one name; a reference by name is accepted and counted. Types of
// states on one container are parallel: the first is on its location, each other
// one on a row below it. StarPU's InCtx states repeat those of the worker, so
// their rows count nowhere. A state lasts until it is popped or replaced, or until
// its container or the trace ends; containers live in the trace's span.
//
// Times are seconds. StarPU writes milliseconds instead: it is known by its types,
// and the report says so. The language allows a trace in several files: those that
// PajeTraceFile or a container's Filename name are read after the first. Input that
// pj_dump refuses is read as far as it has a meaning, and counted: a link between
// other types of containers than its type declares, a key that is used again,
// addition to a variable that was never set, records out of order.
//
// Two limits bound the memory: a state or event type has at most 65,536 values of
// its own that the file does not declare, further ones become one region with an
// attribute "value"; and a million links wait for their other end.
//
// Not kept, and counted in the report: values of links, other fields of links and
// variables, events that are not Paje's own. When containers were created and
// destroyed is an attribute of the location, where it differs from begin and end of
// the trace. An event whose value is a bare number or address that the file does
// not declare is named after its type, with the value as an attribute.
package paje

import "github.com/parallax-hpc/parallax/internal/importer"

// Format reads Paje traces.
var Format = &importer.Format{
	Name:   "paje",
	Title:  "Paje traces (StarPU, SimGrid, SMPI, Akypuera, EZTrace)",
	Text:   true,
	Claim:  claim,
	Import: importRun,
}
