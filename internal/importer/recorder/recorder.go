// Package recorder imports moments that a program recorded of itself.
//
// The format is that of the public package recorder of this module, which
// describes every byte: per worker a fixed number of equal windows, each with the
// sketch of its busy time. There is no trace behind it. The recorders in C add
// calls and the partners of messages.
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
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the format.
var Format = &importer.Format{Name: "moments", Title: "moments recorded inside a program (package recorder)",
	Claim: claim, Import: read, Shares: shares, Conclude: concludeParts}

// magic begins a file; the byte after it is the version.
const magic = "PLXMOM\x00"

// claim takes files that state different ranks as one run, others as one each. A file that the recorder was still
// writing is left out if the file that it would replace is there.
func claim(s importer.Source) (runs []importer.Run) {
	there := make(map[string]bool, len(s.Files))
	for _, f := range s.Files {
		there[f.Path] = true
	}
	var ranked []importer.Part
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if !bytes.HasPrefix(head, []byte(magic)) || there[whole(f.Path)] {
			continue
		}
		if rank, ok := rankOf(head); ok && rank >= 0 {
			ranked = append(ranked, importer.Part{Files: []string{f.Path}, Name: f.Path, Rank: int(rank)})
			continue
		}
		runs = append(runs, importer.Run{Files: []string{f.Path}})
	}
	if len(ranked) == 0 {
		return runs
	}
	for _, parts := range importer.Jobs(ranked) {
		var run importer.Run
		for _, p := range parts {
			run.Files = append(run.Files, p.Files...)
		}
		runs = append(runs, run)
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

// read takes records as they come, in the order of the files; several are parsed at a time.
func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	share := match.ShareOf(w)
	c, files := newConverter(w), files{run: run, left: own(run, share)}
	defer files.close()
	var bad error
	parallel.Piped(parallel.Workers(), func() struct{} { return struct{}{} }, files.next,
		func(_ struct{}, p *piece) { p.parse() }, func(p *piece) bool {
			for i := range p.records {
				if bad = ctx.Err(); bad != nil {
					return false
				}
				c.record(p.file, &p.records[i])
			}
			if p.bad != nil {
				bad = &importer.Error{File: p.file, Place: fmt.Sprintf("byte %d", p.bad.at), Cause: p.bad.cause,
					Hint: p.bad.hint, Kind: p.bad.kind}
			}
			return bad == nil
		})
	if err := cmp.Or(ctx.Err(), bad, files.err); err != nil {
		return err
	}
	c.told()
	if share != nil {
		return match.TellFields(share, &c.outcome)
	}
	conclude(w, []outcome{c.outcome})
	return nil
}

// files are the parts left to be read.
type files struct {
	run   importer.Run
	left  []string
	file  io.ReadCloser // nil: the next is to be opened
	label string
	at    int64
	err   error
}

// next reads a piece; false at the end, or where a file cannot be opened.
func (f *files) next(p *piece) bool {
	for f.err == nil {
		if f.file == nil {
			if len(f.left) == 0 {
				return false
			}
			f.file, f.err = f.run.Open(f.left[0])
			f.label, f.at, f.left = f.run.Label(f.left[0]), 0, f.left[1:]
			continue
		}
		if p.fill(f.file, f.at) {
			p.file = f.label
			f.at += int64(len(p.data))
			return true
		}
		f.close()
	}
	return false
}

func (f *files) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}
