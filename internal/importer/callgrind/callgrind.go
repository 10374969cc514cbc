// Package callgrind reads profiles of callgrind and cachegrind (Valgrind), and files of other tools in
// their format: Xdebug (PHP), pprof -callgrind, and tools that write for KCachegrind.
//
// The format (valgrind.org, "Callgrind Format Specification"): a head of `key: value` lines that names events, then
// costs by function (`fn=`), one line a position with a number for each event, and calls (`cfn=`, `calls=COUNT TARGET`)
// each with the cost of all that was called. Names may be numbered, `(3) main` once and `(3)` from then on, in three
// lists: files, functions, objects. Positions may be relative: `+3`, `-2`, `*`.
//
// Terms: a function is a region, an event a metric. The format gives functions and edges between them, not paths:
//
//	exact     exclusive cost, calls, and inclusive cost of functions, which are flat rows; the latter but for
//	          functions that call each other in a circle, where it is at most the cost of the circle
//	shared    call paths: if a function has several callers, its callees are shared out in proportion to their cost
//
// Files of one process (parts, threads) are one run; parts add up. Skipped: jumps, costs by line and instruction,
// derived events.
package callgrind

import (
	"bytes"
	"path"
	"regexp"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is callgrind's.
var Format = &importer.Format{Name: "callgrind", Title: "Callgrind profiles (Valgrind, cachegrind, Xdebug)", Text: true,
	Claim: claim, Import: read}

// claim takes files of one process in one folder together.
func claim(s importer.Source) []importer.Run {
	return importer.Together(s, func(file string, head []byte) (string, bool) {
		pid, ok := header(head)
		if pid == "" {
			return "", ok
		}
		return path.Dir(file) + "\x00" + pid, ok
	})
}

// header reports whether a file begins as one of these does, and which process it is of.
func header(head []byte) (pid string, ok bool) {
	marked := bytes.HasPrefix(head, []byte("# callgrind format"))
	events, costs, odd := false, false, 0
	for n := 0; len(head) > 0 && n < 200; n++ {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte("\n"))
		line = bytes.TrimSpace(line)
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 || line[0] == '#':
		case costLine.Match(line):
			costs = true
		case string(key) == "events":
			events = len(bytes.TrimSpace(value)) > 0
		case string(key) == "pid":
			pid = string(bytes.TrimSpace(value))
		case !costs && !knownHeader(string(key)):
			odd++
		}
		if events && costs || odd > 0 {
			break
		}
	}
	return pid, odd == 0 && events && (costs || marked)
}

// costLine begins the costs of a function, file or object.
var costLine = regexp.MustCompile(`^c?(?:fn|fl|fi|fe|ob)=`)

// knownHeader recognises the lines that may stand above the costs.
func knownHeader(key string) bool {
	switch key {
	case "version", "creator", "cmd", "pid", "thread", "part", "desc", "positions", "event", "events", "summary",
		"totals":
		return true
	}
	return false
}
