// Package caliper reads the output of LLNL's Caliper: .cali streams, and json-split tables
// that its cali-query makes of them.
//
// The formats: a .cali stream is lines of fields. Nodes form one tree that holds everything that
// repeats: attributes (their name, type and properties) and values of attributes, such as a
// function under a function. Snapshots refer to nodes and carry values of their own (a
// duration, a rank). A json-split file has the tree under `nodes` and snapshots as rows of numbers.
//
// Terms: nested attributes (function, loop, region, mpi.function …) make the call path, the
// attribute's name is the category; a numeric attribute is a metric, joined by how Caliper made it
// (min#, max#, avg#; all others add up); mpi.rank is a rank. A file without ranks is a profile over
// all of them: one location. Snapshots with a time and event.begin# or event.end# are intervals,
// activities of CUPTI with a start and an end are intervals on the GPU.
//
// If a file has only inclusive or only exclusive values of an amount, the other one follows
// from the tree. Kept aside, and counted: snapshots without any number, and hidden attributes.
package caliper

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is Caliper's.
var Format = &importer.Format{Name: "caliper", Title: "Caliper profiles (.cali, json-split)", Text: true,
	Claim: importer.EachFile(isStream, isSplit), Import: importer.OneFile(read)}

func isStream(head []byte) bool { return bytes.HasPrefix(head, []byte("__rec=")) }

// isSplit: an object with rows under "data" first, or with the names of the other members. The
// rows can be longer than the head of the file, so isSplit goes by their shape.
func isSplit(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n\ufeff"), []byte("{"))
	if !ok {
		return false
	}
	if bytes.Contains(rest, []byte(`"columns"`)) && bytes.Contains(rest, []byte(`"column_metadata"`)) {
		return true
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"data"`))
	if !ok {
		return false
	}
	rest = bytes.Join(bytes.Fields(rest[:min(len(rest), 200)]), nil)
	return bytes.HasPrefix(rest, []byte(":[[")) && len(rest) > 3 &&
		(rest[3] >= '0' && rest[3] <= '9' || rest[3] == 'n' || rest[3] == '-') && len(head) >= 32<<10
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, label)
	read := readSplit
	if isStream(run.Source.Head(run.Files[0])) {
		read = readStream
	}
	if err := read(ctx, in, label, c); err != nil {
		return err
	}
	return c.finish()
}
