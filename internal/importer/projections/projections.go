// Package projections reads logs of Charm++ Projections: NAME.sts and NAME.N.log, plain or packed.
//
// The format: the .sts file is lines that name chares, entry methods, user events and statistics by
// number. A log of a processing element (PE) is a line a record: its type, then numbers; times
// are microseconds from the start. Newer versions append fields to records, so those that every
// version has are read from the front.
//
// Terms: a PE is a process of that rank. An entry method is an interval `Chare::entry`, waiting
// is `Idle`, packing is `Pack` and `Unpack`; the computation as a whole is an interval whose
// own time is the runtime's overhead. A message goes from where it was created to where its entry
// method began, found by the creating PE and its event number; broadcasts have many ends. User
// events are annotations, user statistics and memory are counters, notes are instants.
//
// Kept aside, and counted: records of types that are not known, queueing and interrupts, which say
// nothing that begin and end of processing do not. Summary files (.sum) hold no records.
package projections

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
)

// Format is Projections.
var Format = &importer.Format{Name: "projections", Title: "Projections logs (Charm++)", Text: true, Claim: claim,
	Import: read}

// claim takes a .sts file with the logs of its name.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		stem, ok := strings.CutSuffix(f.Path, ".sts")
		if !ok || strings.HasSuffix(stem, ".sum") || !isSts(s.Head(f.Path)) {
			continue
		}
		run := importer.Run{Files: []string{f.Path}, Name: path.Base(stem)}
		var logs []string
		for _, other := range s.Files {
			if rest, ok := strings.CutPrefix(other.Path, stem+"."); ok {
				switch {
				case peOf(other.Path) >= 0 && isLog(s.Head(other.Path)):
					logs = append(logs, other.Path)
				case strings.Contains(rest, "sum") || rest == "projrc":
					run.Companions = append(run.Companions, other.Path)
				}
			} else if path.Base(path.Dir(path.Dir(other.Path))) == path.Base(path.Dir(stem)) &&
				strings.HasPrefix(path.Base(other.Path), path.Base(stem)+".") && peOf(other.Path) >= 0 &&
				isLog(s.Head(other.Path)) {
				logs = append(logs, other.Path) // +trace-subdirs
			}
		}
		if len(logs) == 0 {
			continue
		}
		slices.SortFunc(logs,
			func(a, b string) int { return cmp.Or(cmp.Compare(peOf(a), peOf(b)), strings.Compare(a, b)) })
		run.Files = append(run.Files, logs...)
		runs = append(runs, run)
	}
	return runs
}

func isSts(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PROJECTIONS_ID")) ||
		(bytes.HasPrefix(head, []byte("VERSION ")) || bytes.HasPrefix(head, []byte("MACHINE "))) &&
			bytes.Contains(head, []byte("\nTOTAL_CHARES "))
}

func isLog(head []byte) bool { return bytes.HasPrefix(head, []byte("PROJECTIONS-RECORD")) }

// peOf takes the number out of "name.12.log" or "name.12.log.gz", -1 if there is none.
func peOf(file string) int {
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".log")
	n, err := strconv.ParseUint(strings.TrimPrefix(path.Ext(name), "."), 10, 31)
	if err != nil || !strings.Contains(path.Base(file), ".log") {
		return -1
	}
	return int(n)
}
