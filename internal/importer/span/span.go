// Package span gives the formats of distributed tracing one meaning of spans. A
// format reads its own grammar into Spans; this package writes them.
//
//	service             location (service)
//	instance, host      location (process) below its service, where the format states it
//	span                interval; its kind is the region's category
//	parent              of one row the interval around it, whatever lane that is in; else a spawn link;
//	                    attribute "follows" where the parent does not wait for it
//	reference, link     flow link
//	event, annotation   instant
//	tag, attribute      attribute; "error in log" where only an event tells of an error
//	baggage             attribute "baggage.KEY"
//
// Spans of kind client and producer are communication: their time passes elsewhere.
// All others are compute. Spans on one row that overlap get lanes. Ids alone decide
// which span called which, never times (trace.StreamOptions.ByParent).
//
// Nothing is moved to please a parent unless a user asks for it: hosts whose clocks
// disagree are counted. With --align messages the clocks of instances are fitted so
// that no call begins before it is made, and none is answered before it ends: see
// package align. The file is then read twice.
//
// Missing fields are filled in and counted: a span without duration is an empty interval,
// one without time begins with its parent. A time of 0 is none, unless all others are
// within a day of it, as in traces made by hand.
//
// Memory is some 80 bytes a span, since a parent may come after its children.
package span

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Span is one record of a source, whatever its format.
type Span struct {
	Trace             string
	ID, Parent        ID // Parent is none at the root
	Service, Instance string
	Resource          []trace.Attribute // of the instance; one that differs has a row of its own
	Name, Kind        string            // Kind in lower case; empty where unknown
	Begin, Duration   trace.Time
	Timed             bool // Begin is known
	// Zero: the source says that it begins at 0. Most writers mean that they do not know, but
	// it is a time where all others are near it.
	Zero    bool
	Lasting bool // Duration is known
	// Shared: the server's half of a span whose other half, of the same ID, is the client's.
	Shared bool
	// Follows: the parent did not wait for it.
	Follows    bool
	References []Reference
	Events     []Event
	Tags       []trace.Attribute
	Offset     int64 // in the file, where it ends; for reports
}

// ErrorInLog is the attribute of spans that say only in an event that they failed.
const ErrorInLog = "error in log"

// A Reference is another span that this one has to do with, next to its parent.
type Reference struct {
	Trace string
	ID    ID
}

// An Event is a point in time within a span.
type Event struct {
	Time trace.Time
	Name string
	Tags []trace.Attribute
}

// Latest is the last time that is believed: the year 2116 in nanoseconds. A trace
// may span the time from zero to Latest, so that one wrong time does not refuse all
// others.
const Latest = trace.Time(1<<62 - 1)

// FromMicroseconds converts a time or duration; ok is false if it does not fit.
func FromMicroseconds(us int64) (t trace.Time, ok bool) {
	if us < 0 || us > int64(Latest)/1000 {
		return 0, false
	}
	return trace.Time(us * 1000), true
}

// KindOf brings the name of a kind to ours: "SPAN_KIND_CLIENT" becomes "client".
func KindOf(name string) string {
	switch name { // as most write it
	case "":
		return ""
	case "CLIENT", "client", "SPAN_KIND_CLIENT":
		return "client"
	case "SERVER", "server", "SPAN_KIND_SERVER":
		return "server"
	case "INTERNAL", "internal", "SPAN_KIND_INTERNAL":
		return "internal"
	case "PRODUCER", "producer", "SPAN_KIND_PRODUCER":
		return "producer"
	case "CONSUMER", "consumer", "SPAN_KIND_CONSUMER":
		return "consumer"
	}
	name = strings.TrimPrefix(strings.ToLower(name), "span_kind_")
	if name == "unspecified" {
		return ""
	}
	return name
}
