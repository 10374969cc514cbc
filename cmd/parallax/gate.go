package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// A gate is what the limits of compare say: those that are passed for certain, and those of which too few runs tell.
type gate struct {
	Failed     []string `json:"failed"`
	CannotTell []string `json:"cannot_tell"`
}

// A changeLimit is one --fail-on of compare.
type changeLimit struct {
	text, what string
	value      float64 // share, or number of changes
}

// factorLimits are the limits on factors of the length, by the names that compare gives these.
var factorLimits = map[string]string{
	"load-balance": "load balance", "communication-efficiency": "communication efficiency",
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
	known := []string{"length", "changed"}
	for name := range factorLimits {
		known = append(known, name)
	}
	slices.Sort(known)
	for i := range d.Rows {
		known = append(known, d.Rows[i].Region, d.Rows[i].CallPath)
	}
	for i := range runs {
		for _, g := range runs[i].Store.Regions() {
			known = append(known, g.Name, statistics.Canonical(g.Name, g.Role))
		}
	}
	for _, l := range limits {
		if slices.Contains(known, l.what) {
			continue
		}
		return &load.UsageError{Typed: l.what, Known: known,
			Text: fmt.Sprintf("--fail-on %q: neither length, changed, load-balance, communication-efficiency nor a "+
				"region, call path or part of a step of these runs", l.text)}
	}
	return nil
}

// judgeLimits holds what changed against the limits.
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

// judge says how a limit is passed, or why that cannot be told; "" where it holds.
func (l *changeLimit) judge(d *compare.Data) (passed, unsure string) {
	switch {
	case l.what == "changed":
		return l.judgeCount(d), ""
	case l.what == "length":
		return l.judgeRow(&d.Length, d)
	case factorLimits[l.what] != "":
		return l.judgeFactor(d)
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
	if r.A == 0 && r.B == 0 || r.A > 0 && r.B/r.A-1 <= l.value {
		return "", ""
	}
	text := fmt.Sprintf("%s: %s to %s, %s", l.text, view.FormatIn(r.A, d.Unit), view.FormatIn(r.B, d.Unit), changeOf(r))
	if r.Verdict == statistics.Changed {
		return text, ""
	}
	need := ""
	if r.Needed != nil {
		need = fmt.Sprintf("; about %d runs a side would tell", *r.Needed)
	} else if len(d.A) == 1 && len(d.B) == 1 {
		need = "; two or three runs a side tell a large change"
	}
	return "", fmt.Sprintf("%s, with %d and %d runs this may be chance%s", text, len(d.A), len(d.B), need)
}

// judgeFactor holds a factor of the length, which has no test of its own: it is certain where the length is.
func (l *changeLimit) judgeFactor(d *compare.Data) (passed, unsure string) {
	for _, f := range d.Factors {
		if f.Name != factorLimits[l.what] || f.A <= 0 || 1-f.B/f.A <= l.value {
			continue
		}
		text := fmt.Sprintf("%s: %.1f %% to %.1f %%", l.text, 100*f.A, 100*f.B)
		if d.Length.Verdict == statistics.Changed && math.Signbit(f.Log) == math.Signbit(d.Length.Difference) {
			return text, ""
		}
		return "", text + ", and that the length changed is not known"
	}
	return "", ""
}
