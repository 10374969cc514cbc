package otf2

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// reportGlobal reports errors in the global definitions.
func (a *archive) reportGlobal(label string) {
	d := &a.defs
	if !d.damage.whole() {
		a.w.Report(trace.MissingNames,
			"global definition files that are cut or damaged (ranks and communicators may lack too)", 1,
			fmt.Sprintf("%s: byte %d", label, d.damage.firstAt))
	}
	a.report(trace.MissingNames, "bytes after the last global definition", d.damage.stray, label)
	importer.Tell(a.w, trace.MissingNames,
		"global definitions that cannot be read", d.bad, fmt.Sprintf("%s: byte %d", label, d.badAt))
	if n := int64(a.anchor.definitions) - d.total(); n != 0 && !a.anchor.cut {
		a.w.Report(trace.MissingNames, "global definitions more or less than the anchor announces", max(n, -n), label)
	}
	if n := int64(a.anchor.locations) - int64(len(d.locations)); n != 0 && !a.anchor.cut {
		a.w.Report(trace.MissingLocations, "locations more or less than the anchor announces", max(n, -n), label)
	}
	var placeless int64
	for _, id := range withoutPlace {
		placeless += d.counts[id]
	}
	a.report(trace.MissingDetails,
		"definitions that have no place here (call paths, call sites, groups of regions, properties of paradigms, "+
			"contexts and files)", placeless+d.otherGroups, label)
	for id := definitionIDs; id < len(d.counts); id++ {
		if n := d.counts[id]; n > 0 {
			a.w.Report(trace.MissingNames, fmt.Sprintf("definitions of type %d, which is not known", id), n, label)
		}
	}
}

// withoutPlace are definitions that nothing in a trace stands for.
var withoutPlace = []uint8{
	defParadigmProperty, defIoParadigm, defCallsite, defCallpath, defMetricClassRecorder, defCallingContextProperty,
	defIoFileProperty,
	defIoPreCreatedState, defCallpathParameter,
}

// label names a file of a location.
func (a *archive) label(at int, isLocal bool) string {
	id := a.defs.locations[at].id
	if name := a.files.locals[id]; isLocal && name != "" {
		return a.run.Label(name)
	}
	return a.run.Label(cmp.Or(a.files.events[id], path.Join(base(a.files.anchor), decimal(id)+".evt")))
}

// finish reports and sets the properties of the trace.
func (a *archive) finish() {
	a.totals.report(a.w, a.label)
	a.reportMissing()
	importer.Tell(a.w, trace.Redundant, "snapshots, which only repeat what events say",
		int64(a.files.snapshots), base(a.files.anchor))
	for _, c := range a.files.companions {
		if strings.HasSuffix(c, ".cubex") {
			a.w.Report(trace.Redundant, "profile of the same run beside the trace; name it to open it", 1,
				a.run.Label(c))
		}
	}
	a.setProperties()
}

// reportMissing counts the locations that should have events and have no file.
func (a *archive) reportMissing() {
	var n int64
	example := ""
	for i := range a.defs.locations {
		l := &a.defs.locations[i]
		if a.files.events[l.id] == "" && l.events > 0 {
			if n++; example == "" {
				example = a.label(i, false)
			}
		}
	}
	importer.Tell(a.w, trace.MissingLocations, "locations whose event file is missing", n, example)
}

// setProperties writes the archive's properties, and the number of events of
// each kind, as the format's own tools count them.
func (a *archive) setProperties() {
	set := func(key, text string) {
		if text != "" {
			a.w.Property(key, text)
		}
	}
	v := a.anchor.version
	set("otf2 version", fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]))
	set("creator", a.anchor.creator)
	set("machine", a.anchor.machine)
	set("description", a.anchor.description)
	for _, p := range a.anchor.properties {
		set(strings.TrimPrefix(p[0], "PARALLAX::"), p[1]) // names must have a namespace; ours says nothing
	}
	set("program", a.programs.name)
	set("arguments", strings.Join(a.programs.arguments, " "))
	set("ticks per second", decimal(a.defs.resolution))
	if ns := a.defs.realtime; ns > 0 && ns < math.MaxInt64 && a.defs.hasClock {
		importer.TimeOfDay(a.w, 0, trace.Time(ns))
		set("recorded", time.Unix(0, int64(ns)).UTC().Format(time.RFC3339))
	}
	var total int64
	for id, n := range a.totals.events {
		total += n
		if n > 0 && id < eventIDs {
			set("otf2 events "+eventNames[id], decimal(uint64(n)))
		}
	}
	set("otf2 events", decimal(uint64(total)))
	set("otf2 definitions", decimal(uint64(a.defs.total())))
}
