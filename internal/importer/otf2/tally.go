package otf2

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tally counts the events and errors of one location's files.
type tally struct {
	events  [256]int64
	unknown map[uint8]int64 // records of types that are not known

	bad        int64 // records that could not be read
	times      int64 // records with impossible times
	regions    int64 // numbers of regions that are not defined
	attributes int64
	partners   int64 // records with partners that are not defined
	requests   int64 // receives without completion
	cancelled  int64
	tests      int64 // completions and tests of requests
	tasks      int64 // completions of tasks
	rma        int64
	samples    int64
	sampled    int64

	damage damage
	local  localDamage
}

type localDamage struct {
	missing, cut bool
	bad, others  int64
	at           int64
}

func (t *tally) begin() { *t = tally{unknown: map[uint8]int64{}} }

// A line of the report; place is where it is met first, local that it is about
// the definition file of the location.
type line struct {
	kind  trace.ReportKind
	what  string
	count int64
	place int64
	local bool
}

// tallyTotals adds up the tallies of all locations. The example of each line is the
// first location that has it, in whichever order they are added.
type tallyTotals struct {
	events  [256]int64
	entries map[string]*entry
}

type entry struct {
	line
	index, at int
}

func (l *tallyTotals) add(t *tally, at int) {
	if l.entries == nil {
		l.entries = map[string]*entry{}
	}
	for id, n := range t.events {
		l.events[id] += n
	}
	for i, x := range t.lines() {
		if x.count == 0 {
			continue
		}
		e := l.entries[x.what]
		if e == nil {
			l.entries[x.what] = &entry{x, i, at}
			continue
		}
		x.count += e.count
		if at < e.at {
			e.line, e.at = x, at
		}
		e.count = x.count
	}
}

// report gives the lines in their order.
func (l *tallyTotals) report(w trace.Writer, label func(at int, local bool) string) {
	for _, x := range match.MergeLines([][]match.Line{l.told(label)}) {
		w.Report(x.Kind, x.What, x.Count, x.Example)
	}
}

// told returns the lines for the report.
func (l *tallyTotals) told(label func(at int, local bool) string) (out []match.Line) {
	for _, e := range l.entries {
		example := label(e.at, e.local)
		if e.place > 0 {
			example += fmt.Sprintf(": byte %d", e.place)
		}
		out = append(out, match.Line{Index: e.index, At: e.at,
			ReportEntry: trace.ReportEntry{Kind: e.kind, What: e.what, Count: e.count, Example: example}})
	}
	return out
}

// lines returns the lines of the tally, in a fixed order.
func (t *tally) lines() []line {
	d := &t.damage
	flag := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	list := []line{
		{kind: trace.MissingFiles, what: "event files that do not begin as event files", count: flag(d.noHeader),
			place: d.firstAt},
		{kind: trace.MissingRest, what: "event files that end without their end mark (they are cut)",
			count: flag(d.noEnd), place: d.firstAt},
		{kind: trace.MissingRest, what: "event files that could not be read to their end",
			count: flag(d.readError != nil), place: d.firstAt},
		{kind: trace.MissingEvents, what: "places in event files that are damaged",
			count: d.places, place: d.firstAt},
		{kind: trace.MissingEvents, what: "chunks of events that are damaged and left where the damage begins",
			count: d.chunks, place: d.firstAt},
		{kind: trace.MissingEvents, what: "events that are announced and not there (a file is cut or damaged)",
			count: int64(d.lost), place: d.firstAt},
		{kind: trace.MissingEvents, what: "bytes of event files that are damaged and passed over", count: d.resync,
			place: d.firstAt},
		{kind: trace.MissingEvents, what: "bytes after the end mark of an event file",
			count: d.stray, place: d.firstAt},
		{kind: trace.Repaired, what: "time stamps out of all order, replaced by the one before",
			count: t.times + d.times},
		{kind: trace.MissingEvents, what: "records that cannot be read", count: t.bad},
		{kind: trace.Guessed,
			what:  "locations without a definition file, taken to need no mapping and no clock correction",
			count: flag(t.local.missing), local: true},
		{kind: trace.MissingNames, what: "local definition files that are cut (mapping or clock correction may lack)",
			count: flag(t.local.cut), place: t.local.at, local: true},
		{kind: trace.MissingNames, what: "local definitions that cannot be read", count: t.local.bad, local: true},
		{kind: trace.Redundant, what: "local definitions that only repeat global ones", count: t.local.others,
			local: true},
		{kind: trace.Guessed, what: "regions that are used and not defined, named after their number",
			count: t.regions},
		{kind: trace.MissingDetails, what: "attributes and parameters that are used and not defined",
			count: t.attributes},
		{kind: trace.MissingLinks, what: "records whose communicator, window or partner is not defined",
			count: t.partners},
		{kind: trace.MissingLinks, what: "nonblocking receives that never complete",
			count: t.requests},
		{kind: trace.MissingDetails, what: "operations that were cancelled", count: t.cancelled},
		{kind: trace.MissingDetails, what: "completions and tests of requests, whose times are not kept",
			count: t.tests},
		{kind: trace.MissingDetails, what: "completions of tasks, whose times are not kept", count: t.tasks},
		{kind: trace.Guessed, what: "one-sided transfers without completion, taken to end as they begin", count: t.rma},
		{kind: trace.MissingValues, what: "samples of metrics that are not defined", count: t.samples},
		{kind: trace.Guessed,
			what:  "calls met by samples: their begin and end lie between two samples and are taken at the later",
			count: t.sampled},
	}
	for _, id := range sortedKeys(t.unknown) {
		list = append(list,
			line{kind: trace.MissingEvents, what: fmt.Sprintf("records of type %d, which is not known", id),
				count: t.unknown[id]})
	}
	return list
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
