// Package jfr reads recordings of Java Flight Recorder, written by java -XX:StartFlightRecording, jcmd
// JFR.dump and async-profiler.
//
// The format has no official description; the facts are those of OpenJDK's reader (jdk.jfr.internal.consumer) and
// async-profiler's. A file is chunks, each whole in itself: a head (times, places), events, and among them, events 1
// with constant pools and events 0 with the description of all types, so that a reader needs to know none. Numbers
// are base 128, floats big endian, strings in one of five forms. A field is a value, a list, a structure, or the
// number of a constant.
//
// Terms: a thread of the recording is a thread. Events with a thread are intervals, or instants where they last no
// time; those of the virtual machine are on rows of their own. Samples of stacks (jdk.ExecutionSample,
// jdk.NativeMethodSample, jdk.CPUTimeSample, profiler.WallClockSample, allocations) are call paths with a metric each,
// and rows aside; where the recording states their period they are time as well, samples × period. Loads, heap and the
// like are counters. Scalar fields are attributes.
//
// Counted, not kept: events that only describe (flags, modules, settings, environment), by name.
package jfr

import (
	"bytes"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is Java Flight Recorder's.
var Format = &importer.Format{Name: "jfr", Title: "Java Flight Recorder (.jfr: JDK, async-profiler)",
	Claim: importer.EachFile(isRecording), Import: importer.OneFile(read)}

func isRecording(head []byte) bool {
	return len(head) >= headSize && bytes.HasPrefix(head, magic) && head[4] == 0 && head[5] > 0 && head[5] <= 9
}
