package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func infoCommand() *command {
	return &command{
		name: "info", args: "SOURCE [--json]", summary: "what is in it: locations, regions, intervals, links, time span, import report",
		help: "  parallax info run.otf2\n  parallax info traces/ --json | jq .region_table",
		flags: func(fs *pflag.FlagSet) {
			readingFlags(fs)
			fs.Bool("json", false, "as one JSON object")
		},
		run: runInfo,
	}
}

func runInfo(ctx context.Context, e *env, args []string) error {
	l, err := e.loader()
	if err != nil {
		return err
	}
	run, err := l.one(ctx, args)
	if err != nil {
		return err
	}
	defer run.Store.Close()
	info, err := view.InfoOf(ctx, run.Store)
	if err != nil {
		return err
	}
	if e.flag("json") {
		enc := json.NewEncoder(e.stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(info)
	}
	printInfo(plain{e.stdout}, info)
	printReport(plain{e.stdout}, run.Store.Info().Report)
	return nil
}

func printInfo(w io.Writer, i *view.InfoJSON) {
	fmt.Fprintf(w, "%s\n", strings.Join(i.Sources, " "))
	line := func(label string, n int64, more string) {
		if n > 0 {
			fmt.Fprintf(w, "  %-13s %s%s\n", label, view.Thousands(n), more)
		}
	}
	fmt.Fprintf(w, "  %-13s %s\n", "format", i.Format)
	if i.End > 0 {
		fmt.Fprintf(w, "  %-13s %s\n", "span", view.FormatTime(i.End))
	}
	if i.Core != nil {
		fmt.Fprintf(w, "  %-13s %s to %s: a few records lie far from all others in time\n", "nearly all in", view.FormatTime(i.Core[0]), view.FormatTime(i.Core[1]))
	}
	line("locations", int64(i.Locations), fmt.Sprintf(", %s with intervals, %s ranks", view.Thousands(int64(i.Rows)), view.Thousands(int64(i.Ranks))))
	line("rows aside", int64(i.RowsAside), " of samples or repeated states, which count nowhere")
	line("regions", int64(i.Regions), "")
	line("intervals", i.Intervals, fmt.Sprintf(", nested %d deep", i.Depth))
	line("links", i.Links, "")
	line("instants", i.Instants, "")
	line("counters", int64(i.Counters), ", "+view.Thousands(i.Samples)+" samples")
	line("profile rows", i.ProfileRows, fmt.Sprintf(", %d metrics", len(i.Metrics)))
	for _, t := range i.Topologies {
		fmt.Fprintf(w, "  %-13s %s %v\n", "topology", t.Name, t.Dims)
	}
	keys := make([]string, 0, len(i.Properties))
	for k := range i.Properties {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		v := i.Properties[k]
		if len(v) > 100 {
			v = v[:100] + "…"
		}
		fmt.Fprintf(w, "  %-13s %s\n", k, v)
	}
	printMetrics(w, i)
	if len(i.RegionTable) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	of := ""
	if m := i.RegionMetric.Name; m != "time" {
		of = " " + m
	}
	fmt.Fprintf(t, "\ncalls\tinclusive%s\texclusive%s\t  role\t  region\n", of, of)
	for k, r := range i.RegionTable {
		if k == 20 {
			fmt.Fprintf(t, "\t\t\t\t  and %d more\n", len(i.RegionTable)-k)
			break
		}
		name := []rune(r.Name)
		if len(name) > 60 {
			name = append(append(append([]rune{}, name[:40]...), '…'), name[len(name)-19:]...)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t  %s\t  %s\n", view.FormatCount(r.Calls), view.FormatIn(r.Inclusive, r.Unit), view.FormatIn(r.Exclusive, r.Unit), r.Role, string(name))
	}
	t.Flush()
}

// printMetrics lists what a profile measured, each in its own unit.
func printMetrics(w io.Writer, i *view.InfoJSON) {
	if len(i.Metrics) == 0 {
		return
	}
	const most = 20
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "\ntotal\t  unit\t  metric\n")
	for k, m := range i.Metrics {
		if k == most {
			fmt.Fprintf(t, "\t\t  and %d more\n", len(i.Metrics)-k)
			break
		}
		total, unit := "-", m.Unit
		if m.Total != nil {
			total = m.Format(*m.Total)
		}
		if unit == "" {
			unit = "count"
		}
		fmt.Fprintf(t, "%s\t  %s\t  %s\n", total, unit, m.Name)
	}
	t.Flush()
}

// printReport says what was repaired, guessed or left out.
func printReport(w io.Writer, report []trace.ReportEntry) {
	if len(report) == 0 {
		fmt.Fprintln(w, "\nimport report: nothing repaired, guessed or left out")
		return
	}
	fmt.Fprintln(w, "\nimport report")
	for _, r := range report {
		at := ""
		if r.Example != "" {
			at = ", e.g. " + r.Example
		}
		fmt.Fprintf(w, "  %-8s %12s  %s%s\n", r.Kind, view.Thousands(r.Count), r.What, at)
	}
}
