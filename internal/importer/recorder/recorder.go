// Package recorder imports moments that a program recorded of itself.
//
// The format is that of the public package recorder of this module, which
// describes every byte: per worker a fixed number of equal windows, each with the
// sketch of its busy time. There is no trace behind it. The recorders in C add
// what was called, and to whom messages went.
//
//	process         location of kind process, with its rank, below its machine
//	worker          location of kind thread below it; the process itself where alone
//	window          moments of role compute
//	start           origin of all times, so that files of several ranks line up
//	regions, calls  profile rows of time, bytes and late arrival, by call path
//	messages        untimed links to each partner; bytes by place and size as metrics
//
// Kept aside: nothing. Records that the program dropped are counted in the report.
package recorder

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the format.
var Format = &importer.Format{Name: "moments", Title: "moments recorded inside a program (package recorder)", Claim: claim, Import: read}

// magic begins a file; the byte after it is the version.
const magic = "PLXMOM\x00"

// claim takes files of distinct ranks as one run, others as one each. What the recorder
// was still writing is left alone beside the file that it would have replaced.
func claim(s importer.Source) []importer.Run {
	var files []string
	there := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		there[f.Path] = true
	}
	ranks := map[int32]bool{}
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if !bytes.HasPrefix(head, []byte(magic)) || there[whole(f.Path)] {
			continue
		}
		files = append(files, f.Path)
		if rank, ok := rankOf(head); ok && rank >= 0 {
			ranks[rank] = true
		}
	}
	if len(files) == 0 {
		return nil
	}
	if len(ranks) == len(files) {
		return []importer.Run{{Files: files}}
	}
	var runs []importer.Run
	for _, f := range files {
		runs = append(runs, importer.Run{Files: []string{f}})
	}
	return runs
}

// whole is the file that one which is being written will replace; "" where it is none of these.
func whole(path string) string {
	for _, suffix := range []string{".now", ".part"} {
		if name, ok := strings.CutSuffix(path, suffix); ok {
			return name
		}
	}
	return ""
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	c := newConverter(w)
	for _, file := range run.Files {
		if err := readFile(ctx, run, file, c); err != nil {
			return err
		}
	}
	c.finish()
	return nil
}

func readFile(ctx context.Context, run importer.Run, file string, c *converter) error {
	f, err := run.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	label := run.Label(file)
	bad := c.in.records(f, func(r *record) {
		if ctx.Err() == nil {
			c.record(label, r)
		}
	})
	if err := ctx.Err(); err != nil || bad == nil {
		return err
	}
	return &importer.Error{File: label, Place: fmt.Sprintf("byte %d", bad.at), Cause: bad.cause, Hint: bad.hint, Kind: bad.kind}
}
