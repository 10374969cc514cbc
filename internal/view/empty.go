package view

import (
	"fmt"
	"strings"
)

// An Advice is what may be chosen instead of a selection that shows nothing.
type Advice struct{ choices []string }

// Advise gives the choices that make sense for the run: a longer time where it has
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

// NoCall says that no call begins in the selection, and how many are open in it since before:
// statistics of calls have those where they begin.
func (q *Request) NoCall(open int64) error {
	if open == 0 {
		return q.Advise("other regions", "other callers").Empty("no call is in the selection")
	}
	return q.Advise("an earlier begin").Empty("no call begins in the selection; %s in it began before",
		Count(int(open), "call"))
}
