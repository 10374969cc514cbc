// Package ghcprof reads profiles of programs of GHC (Haskell): the .prof of +RTS -p, with -P, and the JSON of -pj.
//
// The format: text with the number of ticks, their interval and the bytes allocated in its head, and a table of cost
// centres whose indentation is the call tree; times are per cent, with -P also ticks and bytes. JSON has the same tree
// as nodes with ticks and bytes, and the cost centres in a list.
//
// Terms: a cost centre is a region, its module the category. Time is ticks × interval, so no better than a tick. In
// the text without -P ticks and bytes are those that the printed per cent are of the total: a thousandth of it.
package ghcprof

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of GHC's profiler.
var Format = &importer.Format{Name: "ghc-prof", Title: "GHC profiles (.prof, text and JSON)", Text: true,
	Claim: importer.EachFile(isText, isJSON), Import: importer.OneFile(read)}

func isText(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head[:min(len(head), 4<<10)]), []byte("\n"))
	return bytes.Contains(line, []byte("Time and Allocation Profiling Report"))
}

func isJSON(head []byte) bool {
	head = head[:min(len(head), 4<<10)]
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"rts_arguments"`)) &&
		bytes.Contains(head, []byte(`"total_ticks"`))
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	p := &profile{w: w, tick: 1e6, regions: map[centre]trace.RegionID{},
		at: w.Location(importer.Process(path.Base(run.Name))),
		out: stack.New(w, trace.Metric{Name: "time", Unit: "ns", Default: true},
			trace.Metric{Name: "allocated", Unit: "bytes", Integer: true})}
	var err error
	if isText(run.Source.Head(run.Files[0])) {
		err = importer.Lines(ctx, in, label, w, (&text{profile: p}).line)
	} else {
		err = p.json(ctx, in, label)
	}
	if err == nil && p.nodes == 0 {
		err = importer.Malformed(label, "", "holds no table of cost centres")
	}
	if err == nil {
		p.out.Finish()
	}
	return err
}
