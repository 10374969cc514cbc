package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/mcp"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// A gate is the result of compare's limits: those that are exceeded for certain, and those that need more runs to
// tell.
type gate struct {
	Failed     []string   `json:"failed"`
	CannotTell []string   `json:"cannot_tell"`
	Limits     []judgment `json:"limits"`
}

// A judgment is the answer to one limit, with the numbers that decide it.
type judgment struct {
	Limit  string            `json:"limit"`
	Answer statistics.Answer `json:"answer"`
	Text   string            `json:"text"`
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

// judgeCompared judges limits on the result of the view compare, for programs.
func judgeCompared(ctx context.Context, texts []string, runs []view.Run, compared view.Result) ([]mcp.Verdict, error) {
	limits, err := parseChangeLimits(texts)
	if err != nil {
		return nil, err
	}
	data := compared.Data().(compare.Data)
	if err := knownLimits(limits, runs, &data); err != nil {
		return nil, err
	}
	if err := measureLimits(ctx, limits, runs, sidesOf(runs, data.Runs)); err != nil {
		return nil, err
	}
	out := []mcp.Verdict{}
	for i := range limits {
		answer, text := limits[i].judge(&data)
		out = append(out, mcp.Verdict{Limit: limits[i].text, Verdict: string(answer), Text: text})
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
			known = append(known, g.Name, trace.FoldAcrossRuns(g.Name, g.Role))
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
	g := gate{Failed: []string{}, CannotTell: []string{}, Limits: []judgment{}}
	for i := range limits {
		answer, text := limits[i].judge(d)
		g.Limits = append(g.Limits, judgment{limits[i].text, answer, text})
		switch said := limits[i].text + ": " + text; answer {
		case statistics.Broken:
			g.Failed = append(g.Failed, said)
		case statistics.CannotTell:
			g.CannotTell = append(g.CannotTell, said)
		}
	}
	return g
}

// judge returns the answer to a limit, and the numbers behind it.
func (l *changeLimit) judge(d *compare.Data) (statistics.Answer, string) {
	switch {
	case l.what == "changed":
		return l.judgeCount(d)
	case l.measured != nil:
		return l.measured.judge(l)
	}
	return timesOf(l.what, d).judge(l)
}

// judgeCount counts the call paths that are known to have changed, of which one run a side knows none.
func (l *changeLimit) judgeCount(d *compare.Data) (statistics.Answer, string) {
	n := 0
	for i := range d.Rows {
		if d.Rows[i].Verdict == statistics.Changed {
			n++
		}
	}
	text := fmt.Sprintf("%d changed", n)
	switch {
	case float64(n) > l.value:
		return statistics.Broken, text
	case min(len(d.A), len(d.B)) < 2:
		return statistics.CannotTell, fmt.Sprintf("with %d and %d runs no change is certain%s", len(d.A), len(d.B),
			fewRuns)
	}
	return statistics.Holds, text
}

// timesOf gathers the length, or the time of a region on all its call paths, of each run: a limit that names it is one
// question, whatever else is compared.
func timesOf(what string, d *compare.Data) *measured {
	x := &measured{measure: &measure{unit: d.Unit}}
	x.values[0], x.values[1] = make([]float64, len(d.A)), make([]float64, len(d.B))
	add := func(r *compare.Row) {
		for i, v := range r.ValuesA {
			x.values[0][i] += v
		}
		for i, v := range r.ValuesB {
			x.values[1][i] += v
		}
	}
	if what == "length" {
		add(&d.Length)
	} else {
		kind := "" // a part of a step is not added to a region of the same name
		for i := range d.Rows {
			r := &d.Rows[i]
			named := r.Region == what || r.CallPath == what || r.Region == trace.FoldAcrossRuns(what, trace.RoleNone)
			if named && (kind == "" || kind == r.Kind) {
				kind = r.Kind
				add(r)
			}
		}
	}
	x.estimate = statistics.Of(x.values[0], x.values[1])
	return x
}

const fewRuns = "; two or three runs per side can show a large change"

// mostNeeded is the number of runs beyond which a change is as large as its limit, for all that is known.
const mostNeeded = 200

// uncertain says that the runs do not tell on which side of a limit a change is, and how many would.
func uncertain(a, b, needed int) string {
	need := ""
	switch {
	case a == 1 && b == 1 || needed == 0:
		need = fewRuns
	case needed > mostNeeded:
		need = "; it is about as large as the limit, and hundreds of runs would be needed"
	case needed > max(a, b):
		need = fmt.Sprintf("; about %d runs per side would decide", needed)
	default:
		need = "; more runs would decide"
	}
	return fmt.Sprintf(", with %d and %d runs not for certain%s", a, b, need)
}
