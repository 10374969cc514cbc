package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/findings"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func checkCommand() *command {
	return &command{
		name: "check", args: "SOURCE [--fail-on KIND=LIMIT]",
		summary: "print findings, largest time loss first; exit with status 1 if a limit is exceeded",
		help: "--fail-on sets a limit:\n" +
			"  KIND=TIME    lost time of all findings of this kind: straggler=200ms\n" +
			"  KIND=SHARE%  the same as a share of the time of all locations: imbalance=5%\n" +
			"  KIND=N       number of findings of this kind: clock=0\n" +
			"KIND is one of " + strings.Join(findingKinds(), ", ") +
			", or high, medium, any for findings of at least that level. POP efficiencies fail below their limit: " +
			"load-balance=80%, communication-efficiency=70%, parallel-efficiency=60%. A run without such a number " +
			"(one processor, no communication) is NOT CHECKED: status 4, unless --cannot-tell changes it.\n\n" +
			"  parallax check traces/ --fail-on high=0\n  parallax check run.otf2 --fail-on straggler=5% --fail-on " +
			"load-balance=85% --json",
		flags: func(fs *pflag.FlagSet) {
			fs.StringArray("fail-on", nil, "KIND=LIMIT: exit with status 1 if it is exceeded; repeatable")
			fs.String("phase", "", "how the run is divided into phases: auto, slices:N, or a pattern of regions")
			fs.Bool("json", false, "as one JSON object")
			fs.Bool("all", false, "every finding, not the first ten")
			fs.Bool("prove", false, "run the query of each claim and print both numbers; status 1 if they differ")
			gateFlags(fs, "if the run has no number for a limit")
			selectionFlags(fs)
			readingFlags(fs)
		},
		run: runCheck,
	}
}

func findingKinds() (names []string) {
	for _, k := range diagnose.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// limitKinds lists the kinds of limits of --fail-on.
func limitKinds() []string {
	return append(append(findingKinds(), "high", "medium", "any"), efficiencies...)
}

func runCheck(ctx context.Context, e *env, args []string) error {
	limits, err := parseLimits(e.list("fail-on"))
	if err != nil {
		return err
	}
	if err := e.among("cannot-tell", "status", "pass", "fail"); err != nil {
		return err
	}
	set := map[string][]string{}
	if p := e.text("phase"); p != "" {
		set["phase"] = []string{p}
	}
	values, err := view.NewValues(findings.View, set)
	if err != nil {
		return usageOf(err)
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	run, err := l.One(ctx, args)
	if err != nil {
		return err
	}
	defer run.Store.Close()
	if missing := findings.View.Needs.Missing(run.Store); missing != "" {
		return fmt.Errorf("check: %s", missing)
	}
	q := &view.Request{Runs: []view.Run{run}, Values: values, Size: scene.Size{Width: 1600, Height: 900}}
	if q.Selection, err = e.spec().Resolve(run.Store); err != nil {
		return err
	}
	result, err := view.Ask(ctx, findings.View, q)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	data := result.Data().(findings.Data)
	failed, unchecked, judged := []string{}, []string{}, []judgment{}
	for _, l := range limits {
		answer, text := l.judge(&data)
		judged = append(judged, judgment{l.text, answer, text})
		switch said := l.text + ": " + text; answer {
		case statistics.CannotTell:
			unchecked = append(unchecked, said)
		case statistics.Broken:
			failed = append(failed, said)
		}
	}
	err = e.reportGate("check", judged, func(w io.Writer) error {
		return writeFindings(w, run.Source, &data, result.Notes(), judged)
	})
	if err != nil {
		return err
	}
	if e.flag("json") {
		err = writeCheck(e.stdout, view.TwinOf(findings.View, q, result), failed, unchecked)
	} else {
		printCheck(plain{e.stdout}, run.Source, &data, result.Notes(), failed, unchecked, e.flag("all"))
	}
	if err == nil && e.flag("prove") {
		holds, bad := proveClaims(ctx, plain{e.proofTo()}, run, data.Findings)
		if err = bad; err == nil && !holds {
			return errSilent
		}
	}
	if err == nil {
		err = e.gateStatus(len(failed), len(unchecked))
	}
	return err
}

// proofTo returns the writer of the proof: standard error if standard output is JSON.
func (e *env) proofTo() io.Writer {
	if e.flag("json") {
		return e.stderr
	}
	return e.stdout
}

// writeCheck writes the twin of the view, which limits are passed, and which the run has no number for.
func writeCheck(w io.Writer, t *view.Twin, failed, unchecked []string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		*view.Twin
		Failed    []string `json:"failed"`
		Unchecked []string `json:"unchecked"`
	}{t, failed, unchecked})
}

func printCheck(w io.Writer, source string, d *findings.Data, notes, failed, unchecked []string, all bool) {
	columns := width(w)
	fmt.Fprintln(w, source)
	printEfficiencies(w, &d.POP, &d.Accounts)
	if len(d.Findings) == 0 {
		fmt.Fprintln(w, "\nnothing stands out")
	}
	list := d.Findings
	if !all {
		list = list[:d.Shown]
	}
	for i := range list {
		f := &list[i]
		lost := ""
		if f.Lost > 0 {
			lost = fmt.Sprintf(", %s lost (%s of %s)", view.FormatIn(float64(f.Lost), f.Unit),
				view.FormatShare(f.Share), f.ShareOf)
		}
		title := ""
		if plain := strings.NewReplacer("-", " "); f.Title != "" &&
			!strings.EqualFold(plain.Replace(f.Title), plain.Replace(string(f.Kind))) {
			title = " (" + f.Title + ")"
		}
		fmt.Fprintf(w, "\n%2d. %s %s%s%s\n%s\n", i+1, f.Severity, f.Kind, title, lost,
			wrapped(f.Text, "    ", columns))
		if len(f.SeenAs) > 0 {
			fmt.Fprintln(w, wrapped("seen as: "+strings.Join(f.SeenAs, ", "), "    ", columns))
		}
		if f.Severity != finding.Low {
			fmt.Fprintln(w, wrapped("next: "+f.Next, "    ", columns))
			if f.Gain != nil {
				fmt.Fprintln(w, wrapped("gain: "+f.Gain.Text, "    ", columns))
			} else {
				fmt.Fprintln(w, wrapped("gain: not predicted, since "+f.NoGain+".", "    ", columns))
			}
			fmt.Fprintln(w, "    show: "+f.Show)
		}
	}
	if rest := len(d.Findings) - len(list); rest > 0 {
		fmt.Fprintf(w, "\nand %d more; --all lists them\n", rest)
	}
	for _, n := range notes {
		fmt.Fprintf(w, "\n%s", wrapped("note: "+n, "", columns))
	}
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, u := range unchecked {
		fmt.Fprintf(w, "\nNOT CHECKED %s\n", u)
	}
	for _, f := range failed {
		fmt.Fprintf(w, "\nFAILED %s\n", f)
	}
}

// printEfficiencies writes POP's efficiencies that the run has; of one processor how busy it was.
func printEfficiencies(w io.Writer, p *findings.POP, a *findings.Accounts) {
	line := func(name string, share *float64) {
		if share != nil {
			fmt.Fprintf(w, "  %-24s  %8s  %s\n", name, view.FormatShare(*share), bar(*share, 30))
		}
	}
	if p.Locations == 1 && p.Runtime > 0 && p.Mean > 0 {
		busy := p.Mean / p.Runtime
		line("busy", &busy)
		fmt.Fprintf(w, "  of %s, from the first to the last work of 1 %s\n", view.FormatDuration(p.Runtime),
			diagnose.One(p.Over))
	}
	if p.LoadBalance == nil || p.Parallel == nil {
		return
	}
	line("load balance", p.LoadBalance)
	line("communication efficiency", p.Communication)
	line("parallel efficiency", p.Parallel)
	fmt.Fprintf(w, "  over %d %s", p.Locations, p.Over)
	if mean := float64(a.Time) / p.Runtime; p.Over == "processors" && a.Time > 0 && mean < 0.95*float64(p.Locations) {
		fmt.Fprintf(w, ", of which GOMAXPROCS allows %.3g on average", mean)
	}
	fmt.Fprintln(w)
}

// A limit is one --fail-on.
type limit struct {
	text  string
	kind  string
	unit  string // "time", "share" or "count"
	value float64
}

var efficiencies = []string{"load-balance", "communication-efficiency", "parallel-efficiency"}

func parseLimits(list []string) (out []limit, err error) {
	for _, s := range list {
		kind, value, ok := strings.Cut(s, "=")
		if known := limitKinds(); !slices.Contains(known, kind) {
			refused := words.NotOneOf("--fail-on", kind, known...)
			refused.More = ", with a limit, as in straggler=5%"
			return nil, refused
		}
		if !ok {
			return nil, usage("--fail-on %q: want %s=LIMIT, such as %s=5%%", s, kind, kind)
		}
		l := limit{text: s, kind: kind}
		if number, percent := strings.CutSuffix(value, "%"); percent {
			l.unit = "share"
			l.value, err = strconv.ParseFloat(number, 64)
			l.value /= 100
		} else if n, bad := strconv.ParseFloat(value, 64); bad == nil {
			l.unit, l.value = "count", n
			if slices.Contains(efficiencies, kind) {
				l.unit = "share"
			}
		} else {
			t, bad := view.ParseTime(value, 0)
			l.unit, l.value, err = "time", float64(t), bad
		}
		if err != nil || !(l.value >= 0) || l.unit != "share" && slices.Contains(efficiencies, kind) {
			return nil, usage("--fail-on %q: want a time such as 200ms, a share such as 5%%, or a number", s)
		}
		out = append(out, l)
	}
	return out, nil
}

// judge returns the answer to a limit, and the number behind it; a run may have none.
func (l *limit) judge(d *findings.Data) (statistics.Answer, string) {
	if why := l.absent(d); why != "" {
		return statistics.CannotTell, why
	}
	if text := l.past(d); text != "" {
		return statistics.Broken, text
	}
	return statistics.Holds, "holds"
}

// absent returns why a limit cannot be checked, "" if it can: there is no number to compare it with.
func (l *limit) absent(d *findings.Data) string {
	p := &d.POP
	i := slices.Index(efficiencies, l.kind)
	switch {
	case i >= 0 && []*float64{p.LoadBalance, p.Communication, p.Parallel}[i] != nil:
	case i >= 0 && p.Locations == 1:
		return "the run has no such number, it has 1 " + diagnose.One(p.Over)
	case i == 1 && p.LoadBalance != nil:
		return "the run has no such number: it records no communication"
	case i >= 0:
		return "the run has no such number"
	case l.unit == "time" && d.Unit != "ns":
		return fmt.Sprintf("the profile counts %s, not time", d.Unit)
	}
	return ""
}

// past describes how a limit is exceeded, "" if it holds.
func (l *limit) past(d *findings.Data) string {
	if i := slices.Index(efficiencies, l.kind); i >= 0 {
		v := []*float64{d.POP.LoadBalance, d.POP.Communication, d.POP.Parallel}[i]
		if v != nil && *v < l.value {
			return "it is " + view.FormatShare(*v)
		}
		return ""
	}
	count, lost, share, of := 0, 0.0, 0.0, ""
	for i := range d.Findings {
		f := &d.Findings[i]
		if l.kind == "any" || string(f.Kind) == l.kind || l.kind == "high" && f.Severity == finding.High ||
			l.kind == "medium" && f.Severity != finding.Low {
			count++
			lost += float64(f.Lost)
			share += f.Share
			if of != "" && of != f.ShareOf {
				of = "the time"
			} else {
				of = f.ShareOf
			}
		}
	}
	switch {
	case l.unit == "time" && lost > l.value:
		return view.FormatDuration(lost) + " are lost"
	case l.unit == "share" && share > l.value:
		return fmt.Sprintf("%s of %s is lost", view.FormatShare(share), of)
	case l.unit == "count" && float64(count) > l.value:
		return view.Count(count, "finding")
	}
	return ""
}
