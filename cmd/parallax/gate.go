package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// A gate is the result of compare's limits: those that are exceeded for certain, and those that need more runs to
// tell.
type gate struct {
	Failed     []string `json:"failed"`
	CannotTell []string `json:"cannot_tell"`
}

// A changeLimit is one --fail-on of compare.
type changeLimit struct {
	text, what string
	value      float64   // share, or number of changes
	measured   *measured // if it is on a measure
}

func parseChangeLimits(list []string) (out []changeLimit, err error) {
	for _, s := range list {
		at := strings.LastIndexByte(s, '=')
		if at <= 0 {
			return nil, usage("--fail-on %q: want length=SHARE%%, changed=N or REGION=SHARE%%", s)
		}
		l := changeLimit{text: s, what: s[:at]}
		number, percent := strings.CutSuffix(s[at+1:], "%")
		l.value, err = strconv.ParseFloat(number, 64)
		if err != nil || percent == (l.what == "changed") || !(l.value >= 0) {
			return nil, usage("--fail-on %q: want a share such as 3%%, or for changed a number", s)
		}
		if percent {
			l.value /= 100
		}
		out = append(out, l)
	}
	return out, nil
}

// knownLimits refuses a limit on something that no run has: neither a region, nor a call path or a part of a step with
// any time.
func knownLimits(limits []changeLimit, runs []view.Run, d *compare.Data) error {
	known := append([]string{"length", "changed", "requests-p50", "requests-p95", "requests-p99"},
		slices.Sorted(maps.Keys(measures))...)
	for i := range d.Rows {
		known = append(known, d.Rows[i].Region, d.Rows[i].CallPath)
	}
	for i := range runs {
		for _, g := range runs[i].Store.Regions() {
			known = append(known, g.Name, statistics.Canonical(g.Name, g.Role))
		}
	}
	for _, l := range limits {
		if slices.Contains(known, l.what) || measureNamed(l.what) != nil {
			continue
		}
		return &load.UsageError{Typed: l.what, Known: known,
			Text: fmt.Sprintf("--fail-on %q: neither length, changed, %s, requests-pNN nor a region, call path or "+
				"part of a step of these runs", l.text, strings.Join(slices.Sorted(maps.Keys(measures)), ", "))}
	}
	return nil
}

// judgeLimits compares the changes with the limits.
func judgeLimits(limits []changeLimit, d *compare.Data) gate {
	g := gate{Failed: []string{}, CannotTell: []string{}}
	for _, l := range limits {
		passed, unsure := l.judge(d)
		if passed != "" {
			g.Failed = append(g.Failed, passed)
		} else if unsure != "" {
			g.CannotTell = append(g.CannotTell, unsure)
		}
	}
	return g
}

// judge describes how a limit is exceeded, or why that is not certain; "" if it holds.
func (l *changeLimit) judge(d *compare.Data) (passed, unsure string) {
	switch {
	case l.what == "changed":
		return l.judgeCount(d), ""
	case l.what == "length":
		return l.judgeRow(&d.Length, d)
	case l.measured != nil:
		return l.measured.judge(l)
	}
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Region != l.what && r.CallPath != l.what && r.Region != statistics.Canonical(l.what, trace.RoleNone) {
			continue
		}
		p, u := l.judgeRow(r, d)
		if p != "" {
			return p, ""
		}
		if unsure == "" {
			unsure = u
		}
	}
	return "", unsure
}

func (l *changeLimit) judgeCount(d *compare.Data) string {
	n := 0
	for i := range d.Rows {
		if d.Rows[i].Verdict == statistics.Changed {
			n++
		}
	}
	if float64(n) > l.value {
		return fmt.Sprintf("%s: %d changed", l.text, n)
	}
	return ""
}

func (l *changeLimit) judgeRow(r *compare.Row, d *compare.Data) (passed, unsure string) {
	if r.A == 0 && r.B == 0 || r.A > 0 && r.Shift/r.A <= l.value {
		return "", ""
	}
	text := fmt.Sprintf("%s: %s to %s, %s", l.text, view.FormatIn(r.A, d.Unit), view.FormatIn(r.B, d.Unit), changeOf(r))
	if r.Verdict == statistics.Changed {
		return text, ""
	}
	seen := 1.0 // all of a new value
	if r.A > 0 {
		seen = r.Shift / r.A
	}
	return "", text + chance(len(d.A), len(d.B), statistics.Needed(r.ValuesA, r.ValuesB, seen))
}

// chance states that a difference is beyond a limit but not certain, and how many runs would show one as large.
func chance(a, b, needed int) string {
	need := ""
	if needed > 0 {
		need = fmt.Sprintf("; about %d runs a side would tell", needed)
	} else if a == 1 && b == 1 {
		need = "; two or three runs a side tell a large change"
	}
	return fmt.Sprintf(", with %d and %d runs this may be chance%s", a, b, need)
}
