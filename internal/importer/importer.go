// Package importer is the contract between trace files and the tool: it defines
// formats, sources, and the files of a run.
//
// A format is a value (name, claim, import) in a folder of its own; package all
// lists them in the order in which they are asked. Detection goes by content,
// never by the file's name alone.
package importer

import (
	"context"
	"errors"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Format is one kind of trace that the tool can read, or only recognise.
type Format struct {
	Name  string // as in --format: lower case, no blanks
	Title string // for people
	// Claim says which files of the source make runs of this format. It reads
	// heads of files only (Source.Head), and is called for every source.
	Claim func(Source) []Run
	// Import reads a run into w: streaming, on all cores, cancelled by ctx.
	// nil: the format is only recognised.
	Import func(ctx context.Context, run Run, w trace.Writer) error
	// Joins: Import takes files of several runs as one, see Join.
	Joins bool
	// Text says that all files of the format are text, in which no byte is zero: those
	// that are come from a block that was never written, and are reported.
	Text bool
	// Room says how many times as much as its files, unpacked, an import has on the disk at the most; they come with
	// the largest first. nil: as others of its kind, once for text and 3.5 times for binary files. See Times.
	Room func(run Run, files []File) float64
	// Shares tells whether Import can read only the files of one part of a run, where the Writer is a match.Sharer: if
	// not, why. nil: the format cannot.
	Shares func(run Run) (why string, ok bool)
	// Conclude ends the input of parts that were read like that, with what each of them told; it does so several times.
	// nil: parts tell nothing.
	Conclude func(w trace.Writer, told []match.Told) error
	// Advice tells the user how to proceed if Import is nil.
	Advice string
}

// Times is the room of a format that needs as much for any files.
func Times(x float64) func(Run, []File) float64 {
	return func(Run, []File) float64 { return x }
}

// A Run is a set of files that together are one run of a program.
type Run struct {
	Format *Format // set by Detect
	Source Source
	Name   string   // for people: the directory's or file's name
	Files  []string // paths in Source that Import reads, in order
	// Companions belong to the run (a golden listing, a README) but hold no records.
	Companions []string
	// Unclaimed are files of the source that no format claims; set by Detect
	// where there is only this run, so that the import report can name them.
	Unclaimed []string
	// Others are formats that claim the same file too, in order: each is tried if those before find it malformed.
	Others  []*Format
	refused []Refusal // of formats before
	// Offset is added to its times if it is joined with others; Clocks is how those of a joined run were put on one.
	Offset   Offset
	Clocks   string
	lead     int       // lines before the trace that are passed over
	Progress *Progress // may be nil
	zeros    *zeroBytes
	Options  Options
}

// Options are a user's options for any reader.
type Options struct {
	// Align is "auto", "none", "messages" or "collectives". Readers leave to stores the alignment that stores do by
	// themselves (local.Options); those of spans fit clocks if one of the last two is asked for.
	Align string
	// Memory bounds a reader's memory, in bytes; 0: its own choice.
	Memory int64
}

// The three kinds of errors, distinguished with errors.Is.
var (
	ErrMalformed   = errors.New("malformed")
	ErrUnsupported = errors.New("unsupported")
	ErrNotFound    = errors.New("not found")
)

// An Error gives an error of an input, its place, and advice.
type Error struct {
	File  string // as the user named it, with the place inside an archive
	Place string // "line 12", "byte 8192"; may be empty
	Cause string
	Hint  string // advice; may be empty
	Kind  error  // ErrMalformed, ErrUnsupported or ErrNotFound
}

func (e *Error) Error() string {
	s := e.File
	if e.Place != "" {
		s += ": " + e.Place
	}
	s += ": " + e.Cause
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

func (e *Error) Unwrap() error { return e.Kind }

// Malformed makes the error of an input that breaks its format.
func Malformed(file, place, format string, args ...any) error {
	return &Error{File: file, Place: place, Cause: fmt.Sprintf(format, args...), Kind: ErrMalformed}
}
