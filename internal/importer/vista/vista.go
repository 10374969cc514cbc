// Package vista imports the trace records of VISTA, the tool of Tick and Park.
//
// A file of whitespace-separated whole numbers, a record a line. The first
// record is PEmax, the number of processing elements; every other one is
//
//	time clause# pe index ppe pindex
//
// and says that the index-th procedure on pe began at that time (in ms) by
// reducing a goal with the clause of that number, and that it was called by the
// pindex-th procedure on ppe. The root has ppe = pindex = 0. Described in "Kaleidescope
// Visualization of Fine-Grain Parallel Programs", figure 4.
//
// The source program lies next to the trace with the same name and another ending: .fghc, .ghc, .kl1, .fcp, .parlog,
// .strand, .pl or .pro, and clauses count from 1 on in the order of the file. Or the file ends in .clauses and has a
// number and a clause, or a name, a line. A clause is read with its head, which names the region, and its body goals,
// which are the calls that each procedure makes; guards, unifications and arithmetic are none. Calls that a body names
// and no record tells are counted.
//
//	PE              location (thread)
//	clause          region, its body goals an attribute
//	record          interval
//	ppe, pindex     spawn link from the caller
//
// The caller is given by (ppe, pindex) alone: records of one PE count up, so a procedure is known by its place in
// that order, whatever its time. Many begin in one millisecond: each of their records is taken to begin a
// nanosecond after the one before, so that their order stays. A lost record takes with it facts that no other has:
// the begin and place of its procedure, and its caller. Those that it called are kept, as roots of their own, and
// counted. A caller may come after those that it called.
//
// Limits: no record says when a procedure ends. It is taken to last until the
// next record on its PE, and the last ones until the end; the report counts
// these guesses.
package vista

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is VISTA's own trace records.
var Format = &importer.Format{
	Name:   "vista",
	Title:  "VISTA trace records (Tick, Park)",
	Text:   true,
	Claim:  claim,
	Import: importer.OneFile(read),
}

// longestLines is more than the first two lines take, with any number of spaces that
// somebody would write.
const longestLines = 4 << 10

// longestCount is more digits than a number has.
const longestCount = 20

// claim takes files whose first line is one number and whose second is six, the
// first record being a root.
func claim(s importer.Source) (runs []importer.Run) {
	names := map[string]bool{}
	for _, f := range s.Files {
		names[f.Path] = true
	}
	for _, f := range s.Files {
		first, rest, ok := bytes.Cut(s.Head(f.Path), []byte("\n"))
		second, _, _ := bytes.Cut(rest, []byte("\n"))
		if len(bytes.TrimSpace(first)) > longestCount || len(first)+len(second) > longestLines {
			continue
		}
		n, isNumber := numbers(string(first))
		r, isRecord := numbers(string(second))
		if !ok || !isNumber || !isRecord || len(n) != 1 || n[0] < 1 || n[0] > mostPEs || len(r) != 6 || r[4] != 0 ||
			r[5] != 0 || r[2] >= n[0] {
			continue
		}
		run := importer.Run{Files: []string{f.Path}}
		for _, c := range programsOf(f.Path) {
			if c != f.Path && (names[c] || lies(s.FS, c)) {
				run.Companions = []string{c}
				break
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// lies reports whether a file is there, if a user names the trace alone and the
// source does not list the files next to it.
func lies(fsys fs.FS, path string) bool {
	info, err := fs.Stat(fsys, path)
	return err == nil && info.Mode().IsRegular()
}

// programsOf returns the paths at which the program of a trace may lie.
func programsOf(path string) (out []string) {
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		path = strings.TrimSuffix(path, packed)
	}
	if dot := strings.LastIndexByte(path, '.'); dot > strings.LastIndexByte(path, '/') {
		path = path[:dot]
	}
	for _, ext := range extensions {
		out = append(out, path+ext)
	}
	return out
}

// numbers reads a line of whole numbers that are not negative.
func numbers(line string) (out []int64, ok bool) {
	for _, w := range strings.Fields(line) {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil || n < 0 {
			return out, false
		}
		out = append(out, n)
	}
	return out, true
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := NewConverter(w)
	if len(run.Companions) > 0 {
		program, err := readProgram(run)
		if err != nil {
			return err
		}
		c.Read(program)
	}
	if err := records(ctx, in, label, c); err != nil {
		c.Close()
		return err
	}
	return c.Close()
}
