package importer

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Reason is why something of a file is not kept as it stands: a line of the import report.
type Reason struct {
	Kind trace.ReportKind
	What string
}

// Skipped is the reason of something that is not kept, with its consequence: trace.MissingEvents and so on.
func Skipped(consequence trace.ReportKind, what string) Reason { return Reason{consequence, what} }

// Redundant, Guessed and Repaired are reasons of each kind.
func Redundant(what string) Reason { return Reason{trace.Redundant, what} }
func Guessed(what string) Reason   { return Reason{trace.Guessed, what} }
func Repaired(what string) Reason  { return Reason{trace.Repaired, what} }

// mostReasons bounds how many reasons a format has.
const mostReasons = 96

// Tell adds a line to the import report, unless it counts nothing.
func Tell(w trace.Writer, kind trace.ReportKind, what string, n int64, example string) {
	if n > 0 {
		w.Report(kind, what, n, example)
	}
}

// Nowhere is the place of counts without a single place.
const Nowhere = -1

// A Tally counts reasons in one file. The first place of each is kept: a line of a text, or a
// byte. Its zero value is ready.
type Tally[R ~uint8] struct {
	count, after [mostReasons]int64 // after: the first place, counted from 1; 0 is none
}

// Add counts one.
func (t *Tally[R]) Add(why R, place int64) { t.AddN(why, 1, place) }

// AddN counts n of one reason.
func (t *Tally[R]) AddN(why R, n, place int64) {
	if n == 0 {
		return
	}
	if after := &t.after[why]; place >= 0 && (*after == 0 || place < *after) {
		*after = place + 1
	}
	t.count[why] += n
}

// Count returns the number of records with a reason.
func (t *Tally[R]) Count(why R) int64 { return t.count[why] }

// Take adds the counts of a block, whose places begin after base.
func (t *Tally[R]) Take(b *Tally[R], base int64) {
	for why, n := range b.count {
		place := int64(Nowhere)
		if b.after[why] > 0 {
			place = base + b.after[why] - 1
		}
		t.AddN(R(why), n, place)
	}
}

// Entries returns the counts of the file with that label, whose places are lines or bytes, and starts anew.
func (t *Tally[R]) Entries(label, unit string, reasons []Reason) (list []trace.ReportEntry) {
	for why, n := range t.count {
		if n == 0 {
			continue
		}
		e := trace.ReportEntry{Kind: reasons[why].Kind, What: reasons[why].What, Count: n, Example: label}
		if t.after[why] > 0 {
			e.Example = fmt.Sprintf("%s: %s %d", label, unit, t.after[why]-1)
		}
		list = append(list, e)
	}
	*t = Tally[R]{}
	return list
}

// Report passes on the counts, and starts anew.
func (t *Tally[R]) Report(w trace.Writer, label, unit string, reasons []Reason) {
	for _, e := range t.Entries(label, unit, reasons) {
		w.Report(e.Kind, e.What, e.Count, e.Example)
	}
}
