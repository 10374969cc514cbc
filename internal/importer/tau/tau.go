// Package tau imports profiles of the TAU Performance System in its three forms:
// text files (profile.NODE.CONTEXT.THREAD, one a thread, in directories MULTI__NAME
// where several metrics were measured), packed files of ParaProf (.ppk), and XML
// (merged profiles and snapshots).
//
// There is no specification. The format was learnt from files, and from TAU's
// own reader in Java (tools/src/perfdmf of tau2).
//
//	node, context           location (process, under a machine where the host is known)
//	thread                  location (thread) where a process has several, else its process
//	timer, function         region; "[{file} {line,column}-…]" becomes file and line
//	group                   category
//	entry without "=>"      row of a flat call path: the total over all callers
//	entry "A => B"          row of the call path A, B
//	user event              condensed distribution under a metric of its name
//	user event "… : A => B" the same on a call path, if timers have call paths; else by its whole name
//	"Message size sent to node N"    link without time: so many messages and bytes
//	metadata                property where all threads agree, else attribute of the location
//
// TAU gives times in microseconds; here they are nanoseconds. Entries that differ
// only in blanks add up, as in TAU. A function that begins call paths and is never
// called gets a row as the root of its paths, a copy of its flat row, since TAU
// writes that row once. Paths that TAU cut to its depth limit begin at whatever
// function comes first.
//
// Entries of TAU's sampling ("[SAMPLE] …", "[CONTEXT] …") estimate time that the
// measured entries hold too; their regions carry the attribute "sampled" so that
// totals can leave them out.
//
// Kept aside, and counted in the report: aggregates, statistics that a merged
// profile repeats over its threads, all but the last snapshot of a thread.
package tau

import (
	"bytes"
	"context"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format reads TAU profiles.
var Format = &importer.Format{
	Name:   "tau",
	Title:  "TAU profiles (profile.N.C.T, MULTI__*, .ppk, tau.xml)",
	Claim:  claim,
	Import: importRun,

	Shares:   shares,
	Conclude: concludeParts,
}

// A form is one of the three file formats of TAU profiles.
type form uint8

const (
	none form = iota
	text
	packed
	xmlForm
)

// formOf returns the form of a file by how it begins.
func formOf(head []byte) form {
	switch {
	case bytes.HasPrefix(head, []byte("\x00P\x00P\x00K")):
		return packed
	case isText(head):
		return text
	}
	h := bytes.TrimLeft(head, " \t\r\n\ufeff")
	if bytes.HasPrefix(h, []byte("<?xml")) {
		if _, rest, ok := bytes.Cut(h, []byte("?>")); ok {
			h = bytes.TrimLeft(rest, " \t\r\n")
		}
	}
	if bytes.HasPrefix(h, []byte("<profile_xml")) {
		return xmlForm
	}
	return none
}

// isText looks for the first line of a text profile: "23 templated_functions…".
func isText(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	n, rest, ok := bytes.Cut(line, []byte(" "))
	if _, err := strconv.ParseUint(string(n), 10, 31); err != nil || !ok {
		return false
	}
	return bytes.HasPrefix(rest, []byte("templated_functions"))
}

// claim takes the text files of a directory, or of the directories MULTI__* side by
// side, as one run, and each packed or XML file as one.
func claim(s importer.Source) []importer.Run {
	var runs []importer.Run
	sets := map[string]int{}
	for _, f := range s.Files {
		switch formOf(s.Head(f.Path)) {
		case packed, xmlForm:
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		case text:
			key := setOf(f.Path)
			if _, ok := nodeOf(f.Path); !ok {
				key = "\x00" + f.Path // without its numbers a file stands alone
			}
			i, ok := sets[key]
			if !ok {
				i = len(runs)
				sets[key] = i
				runs = append(runs, importer.Run{})
				if dir := path.Base(key); dir != "." && dir != "/" && key[0] != 0 {
					runs[i].Name = dir
				}
			}
			runs[i].Files = append(runs[i].Files, f.Path)
		}
	}
	if len(sets) == 1 && len(runs) == 1 {
		runs[0].Name = "" // the source's own name says more
	}
	return runs
}

// setOf is the directory that holds a set of text profiles.
func setOf(file string) string {
	dir := path.Dir(file)
	if strings.HasPrefix(path.Base(dir), "MULTI__") {
		return path.Dir(dir)
	}
	return dir
}

// A node names a thread as TAU does.
type node struct{ node, context, thread int }

// nodeOf reads profile.NODE.CONTEXT.THREAD, also with an ending of a packer.
func nodeOf(file string) (n node, ok bool) {
	parts := strings.Split(path.Base(file), ".")
	if len(parts) < 4 || len(parts) > 5 || parts[0] != "profile" {
		return n, false
	}
	for i, to := range []*int{&n.node, &n.context, &n.thread} {
		v, err := strconv.ParseInt(parts[i+1], 10, 32)
		if err != nil {
			return n, false
		}
		*to = int(v)
	}
	return n, true
}

func (a node) compare(b node) int {
	for _, d := range [3]int{a.node - b.node, a.context - b.context, a.thread - b.thread} {
		if d != 0 {
			return d
		}
	}
	return 0
}

func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	if share := match.ShareOf(w); share != nil {
		return readPart(ctx, run, share)
	}
	c := newConverter(run.Name, run.Label(run.Files[0]), w)
	var texts []string
	for _, file := range run.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch formOf(run.Source.Head(file)) {
		case packed:
			err = readPacked(ctx, run, file, c)
		case xmlForm:
			err = readXML(ctx, run, file, c)
		case text:
			texts = append(texts, file)
		default:
			err = &importer.Error{File: run.Label(file), Cause: "this is no TAU profile",
				Hint: "want profile.N.C.T, a .ppk or a merged tau.xml", Kind: importer.ErrMalformed}
		}
		if err != nil {
			return err
		}
	}
	if err := readTexts(ctx, run, threadsOf(texts), c); err != nil {
		return err
	}
	return c.finish()
}

// A threadFiles is a thread with its files, one a metric.
type threadFiles struct {
	at    node
	named bool
	files []string
}

// threadsOf groups text files by thread, in order of node, context and thread.
func threadsOf(files []string) []threadFiles {
	index := map[node]int{}
	var out []threadFiles
	for _, f := range files {
		n, named := nodeOf(f)
		i, ok := index[n]
		if !ok {
			i = len(out)
			index[n] = i
			out = append(out, threadFiles{at: n, named: named})
		}
		out[i].files = append(out[i].files, f)
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].at.compare(out[b].at) < 0 })
	return out
}
