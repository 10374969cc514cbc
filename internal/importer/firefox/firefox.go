// Package firefox reads profiles of the Firefox profiler: those that profiler.firefox.com saves (processed
// profiles, which samply, simpleperf's and other converters write too), and those that Firefox itself writes
// (Gecko profiles, MOZ_PROFILER_SHUTDOWN; the developer tools saved those too, in an object of their own,
// before version 89).
//
// The format (github.com/firefox-devtools/profiler, docs-developer/CHANGELOG-formats.md): an object with `meta`
// and a list of threads; of each, tables of samples, markers, stacks, frames and functions, in columns, or in
// rows with a `schema` (Gecko). A stack is a frame and the stack it was called from. Tables and strings belong to a
// thread or, since version 56 and 60, to all (`shared`). Versions differ by which columns there are: a reader
// that looks for columns by name and takes either form needs no list of versions.
//
// Terms: samples are a profile (call paths by samples, and by time as samples times the interval, as the
// profiler itself counts) and a row aside under their thread. Markers are intervals and instants on a row
// `markers` under their thread: aside where there are samples, since they tell the same time. Counters are
// counters of their process. A Gecko profile holds one profile for each process, on clocks of their own: their
// `startTime` puts them on one.
//
// Kept aside, and counted: allocations, the tracer of JavaScript, screenshots, stacks and lists in markers.
package firefox

import (
	"bytes"
	"context"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the Firefox profiler's.
var Format = &importer.Format{Name: "firefox",
	Title: "Firefox profiler files (Firefox, samply; processed and Gecko profiles)", Text: true,
	Claim: importer.EachFile(isProfile), Import: read}

// isProfile: the meta data of a profile, or the libraries that a Gecko profile begins with.
func isProfile(head []byte) bool {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{")) {
		return false
	}
	has := func(words ...string) bool {
		for _, w := range words {
			if !bytes.Contains(head, []byte(`"`+w+`"`)) {
				return false
			}
		}
		return true
	}
	return has("meta", "preprocessedProfileVersion") ||
		has("meta", "interval", "startTime") && (has("stackwalk") || has("processType") || has("markerSchema")) ||
		has("label", "duration", "markers", "start", "endStack") ||
		has("libs", "breakpadId", "debugPath", "start", "end") && !has("traceEvents")
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	label := run.Label(run.Files[0])
	pass := func(leave jsonstream.Leave, f func(*jsonstream.Reader) error, count func() int) error {
		in, err := run.Open(run.Files[0])
		if err != nil {
			return err
		}
		defer in.Close()
		r := jsonstream.NewReader(ctx, in, label, leave)
		return r.End(f(r), count(), "threads")
	}
	// The tables that all threads share may follow them, and whether there are samples decides the rows of markers.
	var known survey
	if err := pass(jsonstream.Silent, known.read, func() int { return known.threads }); err != nil {
		return err
	}
	run.Progress = nil
	c := newConverter(w, run.Name, label, &known)
	if err := pass(jsonstream.Reporter(w),
		func(r *jsonstream.Reader) error { return c.profile(ctx, r, 0) },
		func() int { return known.threads }); err != nil {
		return err
	}
	return c.finish()
}
