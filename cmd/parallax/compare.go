package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/load"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
	"github.com/spf13/pflag"
)

func compareCommand() *command {
	return &command{
		name: "compare", args: "A... -- B... [--fail-on K=LIMIT]",
		summary: "report changes between two sets of runs, with confidence intervals; exit with status 1 if a limit " +
			"is exceeded",
		help: "Prints the changes from the runs A to the runs B, largest first, with their confidence intervals. " +
			"Each run is one value. A source may be a directory of runs; the first table lists the files of " +
			"each run. Files with different ranks of one job are one run; a repeated rank starts another. If only " +
			"names tell runs apart, --run-by 'job-(\\d+)' joins files whose paths have the same number there.\n\n" +
			"Without `--`, --by KEY chooses the sides: A has the runs with the value of the first run. A key is\n" +
			"  --key commit=abc          a value, for all runs with it in their path\n" +
			"  --key commit=/REGEXP/     the first group of the expression in the path\n" +
			"  ranks, format, or a property of the source, without --key\n\n" +
			"A limit is exceeded if the whole 95 % confidence interval of a change is beyond it:\n" +
			"  length=3%        the run got longer, or the step if runs differ in their number\n" +
			"  changed=0        number of changed call paths\n" +
			"  REGION=5%        a region got longer\n  step=3%          the mean step or iteration got longer\n" +
			"  load-balance=3%, communication-efficiency=3%, parallel-efficiency=3%   a POP factor got smaller\n" +
			"  gpu-busy=3%      the busy share of the GPUs got smaller\n" +
			"  requests-p99=5%  a percentile of request durations got longer, from p1 to p99.9\n" +
			"  memory=5%        the maximum of a memory counter got larger\n\n" +
			"Status 1: a limit is exceeded. Status 4: the confidence interval contains the limit, so these runs " +
			"cannot decide; the message states how many runs could. Two runs per side can show a large change if " +
			"the values of the two sides do not overlap. One run per side cannot decide.\n\n" +
			"  parallax compare before/*.json.gz -- after/*.json.gz\n  parallax compare nightly/ --by commit --key " +
			"'commit=/commit-(\\w+)/' --fail-on length=2% --json",
		flags: func(fs *pflag.FlagSet) {
			fs.String("by", "", "KEY of the runs that separates A and B")
			fs.StringArray("key", nil, "KEY=VALUE or KEY=/REGEXP/ on the path of the source; repeatable")
			fs.String("project", "", projectHelp)
			fs.String("run-by", "", "REGEXP with a group: files whose paths have the same text there are one run")
			fs.StringArray("fail-on", nil,
				"LIMIT, such as length=3%, changed=0 or REGION=5%: exit with status 1 if it is exceeded; repeatable")
			fs.String("min-change", "1", "smallest change that is reported, in percent")
			fs.StringArray("match", nil, "OLD=NEW: match region OLD of A with region NEW of B; repeatable")
			gateFlags(fs, "if there are too few runs for a limit")
			fs.Bool("json", false, "as one JSON object")
			fs.Bool("all", false, "every call path, not the first twenty")
			readingFlags(fs)
		},
		run: runCompare,
	}
}

// divider stands for `--` between the runs of A and of B: flags may follow it.
const divider = "\x00--"

// divided puts it in its place for pflag, which would end the flags there.
func divided(args []string) []string {
	out := slices.Clone(args)
	if i := slices.Index(out, "--"); i >= 0 {
		out[i] = divider
	}
	return out
}

func runCompare(ctx context.Context, e *env, args []string) error {
	limits, err := parseChangeLimits(e.list("fail-on"))
	if err != nil {
		return err
	}
	if err := e.among("cannot-tell", "status", "pass", "fail"); err != nil {
		return err
	}
	keys, err := parseKeys(e.list("key"))
	if err != nil {
		return err
	}
	runBy, err := parseRunBy(e.text("run-by"))
	if err != nil {
		return err
	}
	at := slices.Index(args, divider)
	by := e.text("by")
	switch {
	case at < 0 && by == "":
		return usage("compare: want A... -- B..., or --by KEY; `parallax help compare` shows both")
	case at >= 0 && by != "":
		return usage("compare: give the sides by -- or by --by, not both")
	case at == 0 || at >= 0 && at == len(args)-1 || len(args) == 0:
		return usage("compare: want runs on both sides of --")
	}
	l, err := e.loader()
	if err != nil {
		return err
	}
	sides := [][]string{args}
	if at >= 0 {
		sides = [][]string{args[:at], args[at+1:]}
	}
	lakes := &lakeReader{l, e.text("project"), slices.ContainsFunc(limits, changeLimit.needsRows)}
	var runs []view.Run
	defer func() { closeRuns(runs) }()
	set := map[string][]string{"min-change": {e.text("min-change")}}
	for s, sources := range sides {
		own, err := several(ctx, l, sources, runBy, lakes)
		if err != nil {
			closeRuns(own)
			return err
		}
		for _, r := range own {
			if slices.ContainsFunc(runs, func(o view.Run) bool { return sameSource(o.Source, r.Source) }) {
				closeRuns(own)
				return usage("compare: %s is on both sides; a run is not compared with itself", r.Source)
			}
		}
		for i := range own {
			own[i].Keys = keys.with(&own[i])
			if at >= 0 {
				own[i].Keys[sideKey] = [2]string{"A", "B"}[s]
			}
		}
		runs = append(runs, own...)
	}
	if by == "" {
		by = sideKey
	}
	set["by"] = []string{by}
	if m := e.list("match"); len(m) > 0 {
		set["match"] = m
	}
	unique(runs)
	if err := view.CheckRuns(compare.View, len(runs), nil); err != nil {
		return usage("%v", err)
	}
	values, err := view.NewValues(compare.View, set)
	if err != nil {
		return usageOf(err)
	}
	q := &view.Request{Runs: runs, Values: values, Size: scene.Size{Width: 1600, Height: 900}}
	for i := range runs {
		if missing := compare.View.Needs.Missing(runs[i].Store); missing != "" {
			return fmt.Errorf("compare %s: %s", runs[i].Source, missing)
		}
	}
	if q.Selection, err = (view.Spec{}).Resolve(runs[0].Store); err != nil {
		return err
	}
	result, err := view.Ask(ctx, compare.View, q)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	data := result.Data().(compare.Data)
	if err := knownLimits(limits, runs, &data); err != nil {
		return err
	}
	if err := measureLimits(ctx, limits, runs, sidesOf(runs, data.Runs)); err != nil {
		return err
	}
	gate := judgeLimits(limits, &data)
	err = e.reportGate("compare", gate.Limits, func(w io.Writer) error {
		return writeSummary(w, &data, result.Notes(), gate)
	})
	if err != nil {
		return err
	}
	if e.flag("json") {
		err = writeCompare(e.stdout, view.TwinOf(compare.View, q, result), gate)
	} else {
		printCompare(plain{e.stdout}, &data, result.Notes(), gate, e.flag("all"))
	}
	if err == nil {
		err = e.gateStatus(len(gate.Failed), len(gate.CannotTell))
	}
	return err
}

// sideKey is the key of runs that were given on a side of --.
const sideKey = "side"

// several opens the runs that sources hold: files together, since they may be the ranks of one job; anything else by
// itself.
func several(ctx context.Context, l *load.Loader, sources []string, runBy *regexp.Regexp,
	lakes *lakeReader) (runs []view.Run, err error) {
	if sources, err = globbed(sources); err != nil {
		return nil, err
	}
	if runBy != nil {
		return runsByName(ctx, l, sources, runBy)
	}
	var files []string
	groups := [][]string{}
	for _, s := range sources {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() {
			files = append(files, s)
		} else {
			groups = append(groups, []string{s})
		}
	}
	if len(files) > 0 {
		groups = append([][]string{files}, groups...)
	}
	for _, group := range groups {
		own, err := lakes.all(ctx, group)
		runs = append(runs, own...)
		if err != nil {
			return runs, err
		}
	}
	for _, f := range files { // with others next to it a file that no format claims is passed over
		if isReadBy(runs, f) {
			continue
		}
		own, err := l.All(ctx, []string{f})
		runs = append(runs, own...)
		if err != nil {
			return runs, err
		}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("compare: no run in %s", strings.Join(sources, " "))
	}
	return runs, nil
}

// isReadBy reports whether a run is read from a file, or from one in that archive.
func isReadBy(runs []view.Run, file string) bool {
	for i := range runs {
		for _, f := range append(runs[i].Files, runs[i].Source) {
			if f == file || filepath.Clean(f) == filepath.Clean(file) || strings.HasPrefix(f, file+"/") {
				return true
			}
		}
	}
	return false
}

// unique gives runs of one name different ones, by the differing part of their paths.
func unique(runs []view.Run) {
	count := map[string]int{}
	for i := range runs {
		count[runs[i].Name]++
	}
	for i := range runs {
		if count[runs[i].Name] > 1 {
			if dir := filepath.Base(filepath.Dir(runs[i].Source)); dir != "." && dir != "/" {
				runs[i].Name = dir + "/" + runs[i].Name
			}
		}
	}
	count = map[string]int{}
	for i := range runs {
		if n := count[runs[i].Name]; n > 0 {
			runs[i].Name = fmt.Sprintf("%s (%d)", runs[i].Name, n+1)
		}
		count[runs[i].Name]++
	}
}

// A keyRule is one --key.
type keyRule struct {
	name, value string
	find        *regexp.Regexp // in place of a value
}

type keyRules []keyRule

func parseKeys(list []string) (out keyRules, err error) {
	for _, s := range list {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, usage("--key %q: want KEY=VALUE or KEY=/REGEXP/", s)
		}
		k := keyRule{name: name, value: value}
		if len(value) > 2 && value[0] == '/' && value[len(value)-1] == '/' {
			if k.find, err = regexp.Compile(value[1 : len(value)-1]); err != nil {
				return nil, usage("--key %q: %v", s, err)
			}
			if k.find.NumSubexp() == 0 {
				return nil, usage("--key %q: the expression needs a group, such as (\\d+)", s)
			}
		}
		out = append(out, k)
	}
	return out, nil
}

// with returns the keys that a run has of itself, and those of the rules.
func (rules keyRules) with(r *view.Run) map[string]string {
	out := rules.of(r)
	for k, v := range r.Keys {
		if _, given := out[k]; !given {
			out[k] = v
		}
	}
	return out
}

// of returns the keys of a run: matches of expressions in its path, and values that its path or name holds.
func (rules keyRules) of(r *view.Run) map[string]string {
	out := map[string]string{}
	for _, k := range rules {
		switch {
		case k.find != nil:
			if m := k.find.FindStringSubmatch(r.Source); m != nil {
				out[k.name] = m[1]
			}
		case strings.Contains(r.Source, k.value) || strings.Contains(r.Name, k.value):
			out[k.name] = k.value
		}
	}
	return out
}

// given returns the keys of a command's own run: values as they are, and matches of expressions in its path.
func (rules keyRules) given(source string) map[string]string {
	out := map[string]string{}
	for _, k := range rules {
		if k.find == nil {
			out[k.name] = k.value
		} else if m := k.find.FindStringSubmatch(source); m != nil {
			out[k.name] = m[1]
		}
	}
	return out
}

func writeCompare(w io.Writer, t *view.Twin, g gate) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		*view.Twin
		gate
	}{t, g})
}

// printCompare writes a table as benchstat does: values with their spread, the change, p.
func printCompare(w io.Writer, d *compare.Data, notes []string, g gate, all bool) {
	printRuns(w, d.Runs, all)
	fmt.Fprintf(w, "%s\n\n", d.Text)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "A (n=%d)\tB (n=%d)\tdifference\tB vs A\t\tverdict\t  %s\n", len(d.A), len(d.B), "time per "+d.Per)
	row := func(r *compare.Row, name string) {
		sure := ""
		if r.P != nil {
			sure = fmt.Sprintf("p=%.3f", *r.P)
			if r.PNormal != nil && *r.P > statistics.Level {
				sure = fmt.Sprintf("Welch p=%.3f", *r.PNormal)
			}
			if r.Q != nil && r.Kind != "length" {
				sure += fmt.Sprintf(" q=%.3f", *r.Q)
			}
			sure = "(" + sure + ")"
		}
		change := "~"
		if r.Verdict != statistics.Unknown || r.P == nil {
			change = changeOf(r)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", spread(r.A, r.ValuesA, d.Unit), spread(r.B, r.ValuesB, d.Unit),
			signedIn(r.Shift, d.Unit), change, sure, r.Verdict, name)
	}
	row(&d.Length, "whole "+d.Sum.Of)
	shown := 0
	for i := range d.Rows {
		r := &d.Rows[i]
		if !all && (shown >= 20 || math.Abs(r.Difference) < 0.001*d.Length.A) {
			break
		}
		shown++
		row(r, endOf(r.CallPath, all))
	}
	if d.Rest != nil {
		row(d.Rest, d.Rest.Region)
	}
	t.Flush()
	if rest := len(d.Rows) - shown; rest > 0 {
		fmt.Fprintf(w, "and %d more; --all lists them\n", rest)
	}
	fmt.Fprintf(w,
		"\nmeans of the length %s = parts %s + rest %s; %s of the time is in call paths that both sides have\n",
		signedIn(d.Sum.Length, d.Unit), signedIn(d.Sum.Parts, d.Unit), signedIn(d.Sum.Unrecorded, d.Unit),
		view.FormatShare(d.Matched.Share))
	if len(d.Factors) > 1 {
		fmt.Fprint(w, "length by factors:")
		for _, f := range d.Factors[:len(d.Factors)-1] {
			fmt.Fprintf(w, "  %s %s", f.Name, view.FormatSigned("%+.1f %%", 100*math.Expm1(f.Log)))
		}
		fmt.Fprintf(w, "  in all %s\n", view.FormatSigned("%+.1f %%", 100*math.Expm1(d.Factors[len(d.Factors)-1].Log)))
	}
	if x := d.Length.Detectable; x != nil {
		fmt.Fprintf(w, "the least change of the length that these runs show is about %.1f %%\n", 100**x)
	}
	for _, n := range notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, of := range []statistics.Answer{statistics.Holds, statistics.Broken, statistics.CannotTell} {
		for _, x := range g.Limits {
			if x.Answer == of {
				fmt.Fprintf(w, "\n%s %s: %s\n", answerWords[of], x.Limit, x.Text)
			}
		}
	}
}

var answerWords = map[statistics.Answer]string{statistics.Holds: "HOLDS", statistics.Broken: "FAILED",
	statistics.CannotTell: "CANNOT TELL"}

// mostRuns is how many runs of a side are listed without --all.
const mostRuns = 20

// printRuns writes which files are which run, and on which side.
func printRuns(w io.Writer, runs []compare.Taken, all bool) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "side\trun\tranks\tsteps\tfiles")
	count := map[string]int{}
	for _, r := range runs {
		if count[r.Side]++; count[r.Side] > mostRuns && !all {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Side, r.Run, countOrNone(r.Ranks), countOrNone(r.Steps),
			fileRange(r.Files))
	}
	t.Flush()
	for _, side := range []string{"A", "B"} {
		if rest := count[side] - mostRuns; rest > 0 && !all {
			fmt.Fprintf(w, "and %d more runs of %s; --all lists them\n", rest, side)
		}
	}
	fmt.Fprintln(w)
}

// countOrNone is a number of things that a run may not have at all.
func countOrNone(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

// fileRange names the files of a run: the first, the last, and how many there are.
func fileRange(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return fmt.Sprintf("%s … %s (%d files)", files[0], filepath.Base(files[len(files)-1]), len(files))
}

// endOf keeps the end of a long call path, which distinguishes it best.
func endOf(callpath string, all bool) string {
	const most = 96
	if runes := []rune(callpath); len(runes) > most && !all {
		return "… " + string(runes[len(runes)-most:])
	}
	return callpath
}

func changeOf(r *compare.Row) string {
	switch {
	case r.A == 0:
		return "new"
	case r.B == 0:
		return "gone"
	case *r.Change >= compare.ManyTimes:
		return compare.Times(1 + *r.Change)
	}
	return view.FormatSigned("%+.2f%%", 100**r.Change)
}

// spread writes a median and the largest distance of values from it.
func spread(median float64, values []float64, unit string) string {
	if len(values) < 2 || median == 0 {
		return view.FormatIn(median, unit)
	}
	far := 0.0
	for _, v := range values {
		far = max(far, math.Abs(v-median))
	}
	return fmt.Sprintf("%s ± %.0f%%", view.FormatIn(median, unit), math.Ceil(100*far/median))
}

func signedIn(v float64, unit string) string {
	if v < 0 {
		return "−" + view.FormatIn(-v, unit)
	}
	return "+" + view.FormatIn(v, unit)
}
