package importer

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type reported struct {
	trace.Writer
	got []trace.ReportEntry
}

func (r *reported) Report(kind trace.ReportKind, what string, n int64, example string) {
	r.got = append(r.got, trace.ReportEntry{Kind: kind, What: what, Count: n, Example: example})
}

func TestATallyKeepsCountsAndTheFirstPlace(t *testing.T) {
	type reason uint8
	var all, block Tally[reason]
	all.Add(1, 7)
	all.AddN(1, 2, 9)
	all.AddN(2, 0, 1) // nothing
	all.Add(3, Nowhere)
	all.Add(4, 5)
	all.Add(4, 0) // a byte, before
	block.Add(2, 4)
	block.Add(5, Nowhere)
	all.Take(&block, 100)
	w := &reported{}
	all.Report(w, "f", "line", []Reason{{}, {trace.MissingEvents, "b"}, {trace.MissingEvents, "c"}, {trace.Guessed, "d"}, {trace.MissingEvents, "e"}, {trace.MissingEvents, "f"}})
	want := []trace.ReportEntry{{Kind: trace.MissingEvents, What: "b", Count: 3, Example: "f: line 7"}, {Kind: trace.MissingEvents, What: "c", Count: 1, Example: "f: line 104"}, {Kind: trace.Guessed, What: "d", Count: 1, Example: "f"},
		{Kind: trace.MissingEvents, What: "e", Count: 2, Example: "f: line 0"}, {Kind: trace.MissingEvents, What: "f", Count: 1, Example: "f"}}
	if len(w.got) != len(want) {
		t.Fatalf("reported %+v", w.got)
	}
	for i := range want {
		if w.got[i] != want[i] {
			t.Errorf("reported %+v, want %+v", w.got[i], want[i])
		}
	}
	if all.Count(1) != 0 {
		t.Error("what was reported is counted still")
	}
}
