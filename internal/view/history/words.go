package history

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/change"
	"github.com/parallax-hpc/parallax/internal/view"
)

// words is the verdict: the changes of the length, the call paths that changed with it, and
// runs outside the usual range since then.
func (r *result) words() string {
	var b strings.Builder
	l := &r.series[0]
	what := strings.ToUpper(l.Name[:1]) + l.Name[1:]
	switch n := len(l.Changes); n {
	case 0:
		fmt.Fprintf(&b, "%s has not changed for good over %d runs.", what, len(r.runs))
	case 1:
		fmt.Fprintf(&b, "%s changed once over %d runs: %s.", what, len(r.runs), r.changeWords(&l.Changes[0]))
	default:
		fmt.Fprintf(&b, "%s changed %d times over %d runs, last: %s.", what, n, len(r.runs),
			r.changeWords(&l.Changes[n-1]))
	}
	if n := len(l.Changes); n > 0 {
		at := l.Changes[n-1].Index
		var names []string
		for i := range r.series[1:] {
			s := &r.series[1+i]
			for k := range s.Changes {
				if d := s.Changes[k].Index - at; d >= -1 && d <= 1 && len(names) < 3 {
					names = append(names,
						fmt.Sprintf("%s (%s)", s.Name, r.signed(s.Changes[k].After-s.Changes[k].Before)))
				}
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, " With it changed %s.", strings.Join(names, ", "))
		}
	} else if len(r.series) > 1 && len(r.series[1].Changes) > 0 {
		s := &r.series[1]
		fmt.Fprintf(&b, " But %s did: %s.", s.Name, r.changeWords(&s.Changes[0]))
	}
	if n := len(l.Outside); n > 0 {
		fmt.Fprintf(&b, " Out of the ordinary since: %s.", r.runs[l.Outside[n-1]].name)
		if n > 1 {
			fmt.Fprintf(&b, " That is one of %d.", n)
		}
	}
	return b.String()
}

// command returns the command that compares the two runs around a change.
func (r *result) command(p *change.Point) string {
	return fmt.Sprintf("parallax compare %s -- %s", quoted(r.runs[p.Index-1].source), quoted(r.runs[p.Index].source))
}

// quoted writes a source as a shell reads it.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !strings.ContainsRune("-_./:=@%+,", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
			(c < 'A' || c > 'Z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// changeWords describes a change, and names the runs around it.
func (r *result) changeWords(p *change.Point) string {
	return fmt.Sprintf("%s to %s (%s) from %s to %s", r.format(p.Before), r.format(p.After),
		view.FormatSigned("%+.1f %%", 100*(p.After/p.Before-1)), r.runs[p.Index-1].name, r.runs[p.Index].name)
}

func (r *result) format(v float64) string { return view.FormatIn(v, r.unit) }

func (r *result) signed(v float64) string { return view.Signed(v, r.format) }
