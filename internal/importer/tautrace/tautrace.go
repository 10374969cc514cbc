// Package tautrace reads the traces of TAU: tautrace.N.C.T.trc with events.N.edf, or merged ones with tau.edf.
//
// The format: a .trc file is records of one size, without a header: number of the event, node, thread, a parameter of
// 64 bits and a time stamp in microseconds. Numbers of events have 32 bits (records of 24 bytes) or, in traces of old
// 64-bit builds, 64 (records of 32 bytes, four of them padding), in the byte order of the machine; the first record
// is EV_INIT with parameter 3, which distinguishes the four layouts. The .edf file is text: a line for each event
// gives its number, group, tag, name and the meaning of its parameter. Described by TAU's source: Profile/TauTrace.h,
// TraceInput/TAU_tf.cpp.
//
// Terms: a node is the process of that rank, its threads are threads. EntryExit is a region, entered by 1 and left
// by -1. TriggerValue is a counter; TAU writes each value of a user event between two zeros, of which only the
// value is kept. Sends and receives pack partner, tag, size and communicator into the parameter; ends are joined in
// order by these. One-sided messages (GPU copies) are three records, joined by the two that hold an id.
//
// Kept aside, and counted: records of events that no .edf file names, and the tracer's own records.
package tautrace

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is traces of TAU.
var Format = &importer.Format{Name: "tau-trace", Title: "TAU traces (.trc with .edf)", Claim: claim, Import: read,
	Shares: shares, Conclude: concludeParts}

// claim takes, of each directory, the traces of threads with their event files; without these each merged trace
// is a run. A merged trace next to the ones that it was made of would repeat everything: it is a companion.
func claim(s importer.Source) (runs []importer.Run) {
	type directory struct{ threads, merged, events []string }
	byName := map[string]*directory{}
	var names []string
	for _, f := range s.Files {
		head := s.Head(f.Path)
		layout, events := layoutOf(head), isEvents(head)
		if layout == nil && !events {
			continue
		}
		name := path.Dir(f.Path)
		d := byName[name]
		if d == nil {
			d = &directory{}
			byName[name] = d
			names = append(names, name)
		}
		switch {
		case events:
			d.events = append(d.events, f.Path)
		case threadOf(f.Path) != nil:
			d.threads = append(d.threads, f.Path)
		default:
			d.merged = append(d.merged, f.Path)
		}
	}
	for _, name := range names {
		d := byName[name]
		switch {
		case len(d.threads) > 0:
			slices.SortFunc(d.threads,
				func(a,
					b string) int {
					return cmp.Or(slices.Compare(threadOf(a), threadOf(b)), strings.Compare(a, b))
				})
			runs = append(runs, importer.Run{Files: append(d.threads, d.events...), Companions: d.merged})
		case len(d.merged) == 1:
			runs = append(runs, importer.Run{Files: append(d.merged, d.events...)})
		default:
			for _, m := range d.merged {
				r := importer.Run{Files: []string{m}}
				if e := eventsOf(m, d.events); e != "" {
					r.Files = append(r.Files, e)
				}
				runs = append(runs, r)
			}
		}
	}
	return runs
}

// threadOf takes node, context and thread out of "tautrace.0.0.3.trc"; nil for other names.
func threadOf(file string) []int {
	parts := strings.Split(strings.TrimSuffix(path.Base(file), ".gz"), ".")
	if len(parts) != 5 || parts[0] != "tautrace" || parts[4] != "trc" {
		return nil
	}
	out := make([]int, 3)
	for i := range out {
		n, err := strconv.ParseUint(parts[i+1], 10, 31)
		if err != nil {
			return nil
		}
		out[i] = int(n)
	}
	return out
}

// eventsOf finds the event file of a trace: that of its node, that of its name, the merged one, or the only one.
func eventsOf(file string, events []string) string {
	dir, base := path.Split(file)
	base = strings.TrimSuffix(base, ".gz")
	want := []string{strings.TrimSuffix(base, path.Ext(base)) + ".edf", "tau.edf"}
	if t := threadOf(file); t != nil {
		want = []string{"events." + strconv.Itoa(t[0]) + ".edf", "tau.edf"}
	}
	for _, name := range want {
		for _, e := range events {
			if strings.TrimSuffix(e, ".gz") == dir+name {
				return e
			}
		}
	}
	if len(events) == 1 {
		return events[0]
	}
	return ""
}

// isEvents recognises an event file by its first line.
func isEvents(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	count, rest, _ := bytes.Cut(bytes.TrimRight(line, "\r "), []byte(" "))
	return string(rest) == "dynamic_trace_events" && len(count) > 0 && len(bytes.Trim(count, "0123456789")) == 0
}
