// Package pprof imports profiles of pprof: CPU, heap, contention, or any other
// sample type, as Go's runtime and many other profilers write them. The grammar is
// read by github.com/google/pprof/profile: the protocol buffer profile.proto,
// packed or not, and the older binary and text forms.
//
//	mapping, run        location (process)
//	label rank          location (process) with that rank
//	label thread, tid   location (thread) below
//	function            region; frames that were inlined count as frames
//	sample type         metric; times in nanoseconds
//	other labels        attributes of the location: the value, or the most frequent of several
//	stack               call path; its value is exclusive, and inclusive on the paths above
//	comment             property
//
// Limits: if samples of one location have a label with several values, they are added up over these, which the
// report counts. A sample does not tell how often a function was called. The profile is read as a whole, since its
// tables come after the samples.
package pprof

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
	"google.golang.org/protobuf/encoding/protowire"
)

// Format is the profile of pprof.
var Format = &importer.Format{
	Name:   "pprof",
	Title:  "pprof profiles (Go, gperftools and many more)",
	Claim:  importer.EachFile(isMessage, isOldBinary, isOldText),
	Import: importer.OneFile(read),
}

// isMessage recognises profile.proto by its first fields: known numbers and types, and
// among them a sample type, which is two indices of strings.
func isMessage(head []byte) bool {
	types := 0
	for len(head) > 0 {
		number, kind, n := protowire.ConsumeTag(head)
		if n < 0 || number > 15 || (kind == protowire.BytesType) != (number <= 6 || number == 11) && number != 13 {
			return false
		}
		value := head[n:]
		size := protowire.ConsumeFieldValue(number, kind, value)
		if size < 0 {
			break // cut, or wrong: then the sample type was seen or not
		}
		if number == 1 {
			if body, n := protowire.ConsumeBytes(value); n < 0 || !isValueType(body) {
				return false
			}
			types++
		}
		head = value[size:]
	}
	return types > 0
}

func isValueType(b []byte) bool {
	fields := 0
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || number > 2 || kind != protowire.VarintType {
			return false
		}
		_, m := protowire.ConsumeVarint(b[n:])
		if m < 0 {
			return false
		}
		b = b[n+m:]
		fields++
	}
	return fields > 0
}

// isOldBinary recognises the CPU profile of gperftools: words 0, 3, version, period, 0, of 4
// or 8 bytes in either order. Version 0 is native, 1 is Java's, with its names behind.
func isOldBinary(head []byte) bool {
	_, size := oldLayout(head)
	return size > 0
}

func isOldText(head []byte) bool {
	for _, begin := range []string{"heap profile: ", "--- contention", "--- heapz ", "--- threadz ", "--- contentionz",
		"goroutine profile: total ", "threadcreate profile: total "} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return false
}

// mostBytes bounds a profile, which is held in memory several times over.
const mostBytes = 1 << 30

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, mostBytes+1))
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(data) > mostBytes {
		return &importer.Error{File: label, Cause: fmt.Sprintf("is a profile of more than %d bytes", mostBytes),
			Hint: "make it smaller with pprof -proto and a focus", Kind: importer.ErrUnsupported}
	}
	p, err := parse(data)
	if err != nil {
		return importer.Malformed(label, "", "%v", err)
	}
	if lost := endsEarly(data); lost != "" {
		w.Report(trace.MissingRest, lost, 1, label)
	}
	return convert(ctx, p, run.Name, label, w)
}

// parse turns a panic of the library, which trusts its input here and there, into
// an error.
func parse(data []byte) (p *profile.Profile, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("inconsistent profile: %v", r)
		}
	}()
	return profile.ParseData(data)
}
