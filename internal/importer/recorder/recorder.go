// Package recorder imports moments that a program recorded of itself.
//
// The format is that of the public package recorder of this module, which
// describes every byte: per worker a fixed number of equal windows, each with the
// sketch of its busy time. There is no trace behind it.
//
//	process         location of kind process, with its rank
//	worker          location of kind thread below it
//	window          moments of role compute
//	start           origin of all times, so that files of several ranks line up
//
// Kept aside: nothing. Records that the program dropped are counted in the report.
package recorder

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the format.
var Format = &importer.Format{Name: "moments", Title: "moments recorded inside a program (package recorder)", Claim: claim, Import: read}

// magic begins a file; the byte after it is the version.
const magic = "PLXMOM\x00"

// claim takes files of distinct ranks as one run, others as one each.
func claim(s importer.Source) []importer.Run {
	var files []string
	ranks := map[int32]bool{}
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if !bytes.HasPrefix(head, []byte(magic)) {
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

// mostBytes bounds what is read of one file: no program has ten million windows.
const mostBytes = 1 << 30

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	for _, file := range run.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := load(run, file)
		if err != nil {
			return err
		}
		r, bad := parse(data)
		if bad != nil {
			return &importer.Error{
				File: run.Label(file), Place: fmt.Sprintf("byte %d", bad.at), Cause: bad.cause, Hint: bad.hint, Kind: bad.kind,
			}
		}
		convert(run.Label(file), r, w)
	}
	return nil
}

func load(run importer.Run, file string) ([]byte, error) {
	f, err := run.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = importer.Malformed(run.Label(file), "", "more than %d bytes, which no recorder writes", mostBytes)
	}
	return data, err
}
