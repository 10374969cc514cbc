// Package strace reads the system calls that strace(1) prints with their times: -f -ttt -T, and in the forms of other
// options (-t, -tt, -r, -o).
//
// The format: for each call `[pid N]` or N, a time, `name(arguments) = result`, and with -T its length `<0.000257>`. A
// call that others interrupt is recorded twice: `<unfinished ...>`, and `<... name resumed>` later. Lines of a terminal
// have no pid until there are several tasks: they belong to the first, whose pid no clone returned.
//
//	task                 thread, below its process (CLONE_THREAD tells which)
//	call                 interval; arguments, result and error are attributes
//	signal, exit         instant
//	clone, fork, vfork   spawn link to the new task
//
// Without -T a call has no length and is an empty interval, unless it was interrupted. Clock times (-t, -tt) may pass
// midnight; differences (-r) are added up. A call's class (file, network, wait …) is its category.
package strace

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is strace's.
var Format = &importer.Format{Name: "strace", Title: "strace with times (-f -ttt -T)", Text: true,
	Claim: importer.EachFile(isStrace), Import: importer.OneFile(read)}

// isComment recognises empty lines, and those that a person wrote: strace writes none that begin so.
func isComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// isStrace: the first lines are calls with a time, signals or exits; a call is among them.
func isStrace(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	calls, n := 0, 0
	var lines joiner
	for line := range bytes.Lines(head) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		line = bytes.TrimRight(line, "\r\n")
		if line, _ = lines.line(line); isComment(line) {
			continue
		}
		r, ok := parse(line)
		switch {
		case !ok:
			return calls > 0 && (!whole || calls >= 3)
		case r.kind == call || r.kind == unfinished || r.kind == resumed:
			if !r.timed {
				return false
			}
			calls++
		}
		if n++; n == 20 {
			break
		}
	}
	return calls > 0
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, label)
	err := importer.Lines(ctx, in, label, w, c.line)
	if failed := c.close(); err == nil {
		err = failed
	}
	if err == nil && c.calls == 0 {
		return importer.Malformed(label, "", "no line is a system call with a time")
	}
	return err
}
