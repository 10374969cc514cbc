package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
)

// An Advice lists alternatives to a selection that shows nothing.
type Advice struct{ choices []string }

// Advise returns the choices that make sense for the run: a longer time where it has
// any, since the source may be a profile without it, and the others as they are.
func (r *Request) Advise(choices ...string) Advice {
	a := Advice{choices}
	if r.Store().Info().Timed() {
		a.choices = append(a.choices, "a longer time")
	}
	return a
}

// Empty makes an EmptyError with the advice.
func (a Advice) Empty(format string, args ...any) error {
	hint := ""
	for i, c := range a.choices {
		switch {
		case i == 0:
			hint = "choose " + c
		case i == len(a.choices)-1:
			hint += " or " + c
		default:
			hint += ", " + c
		}
	}
	return &EmptyError{What: fmt.Sprintf(format, args...), Hint: strings.TrimSpace(hint)}
}

// NoCall says that no call is in the selection.
func (r *Request) NoCall() error {
	return r.Advise("other regions", "other callers").Empty("no call is in the selection")
}

// CutNotes say how calls are drawn that began before the selection, if there are some: their durations are not known
// from it.
func CutNotes(cuts []callgraph.Cut, shown, metric string) []string {
	calls := 0.0
	for i := range cuts {
		calls += cuts[i].Count
	}
	if calls == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s began before the selection and count for nothing else: %s the %s in it",
		Count(int(calls), "call"), shown, cutTime(metric))}
}

// SayCut counts calls that began before the selection; whose is added to the labels.
func SayCut(f *Fact, calls, time float64, metric, whose string) {
	plain := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	f.Say("cut calls"+whose, FormatCount(calls), plain(calls))
	f.Say("their "+cutTime(metric)+" in the window"+whose, FormatIn(time, "ns"), plain(time))
}

// cutTime names the time of calls that began before the selection: with exclusive times that without their callees.
func cutTime(metric string) string {
	if metric == "exclusive" {
		return "exclusive time"
	}
	return "time"
}
