package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/spf13/pflag"
)

func infoCommand() *command {
	return &command{
		name: "info", args: "SOURCE [--json]",
		summary: "print the contents: locations, regions, intervals, links, time span, import report",
		help:    "  parallax info run.otf2\n  parallax info traces/ --json | jq .region_table",
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
	run, err := l.One(ctx, args)
	if err != nil {
		return err
	}
	defer run.Store.Close()
	info, err := view.InfoOf(ctx, run.Store)
	if err != nil {
		return err
	}
	if e.flag("json") {
		_, err := view.WriteJSON(e.stdout, info)
		return err
	}
	line, err := activityLine(ctx, run.Store)
	if err != nil {
		return err
	}
	printInfo(plain{e.stdout}, info, line)
	printReport(plain{e.stdout}, run.Store.Info().Report)
	return nil
}

func printInfo(w io.Writer, i *view.InfoJSON, activity string) {
	columns := width(w)
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
	if activity != "" {
		fmt.Fprintf(w, "  %-13s %s\n", "busy", activity)
	}
	if i.Core != nil {
		fmt.Fprintf(w, "  %-13s %s from %s on: a few records lie far from all others in time\n", "nearly all in",
			view.FormatTime(i.Core[1]-i.Core[0]), view.FormatTime(i.Core[0]))
	}
	line("locations", int64(i.Locations),
		fmt.Sprintf(", %s with intervals, %s ranks", view.Thousands(int64(i.Rows)), view.Thousands(int64(i.Ranks))))
	line("overlay rows", int64(i.RowsOverlay), " of samples or repeated states, which no sum has")
	line("regions", int64(i.Regions), "")
	line("intervals", i.Intervals, fmt.Sprintf(", nested %d deep", i.Depth))
	line("inferred", i.Inferred, " more: work around calls that the source does not record")
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
		room := max(columns-3-max(13, utf8.RuneCountInString(k)), 16)
		if r := []rune(v); len(r) > room {
			v = string(r[:room-1]) + "…"
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
	counted := i.RegionTable[0].Calls != nil
	fmt.Fprintln(t)
	if counted {
		fmt.Fprint(t, "calls\t")
	}
	fmt.Fprintf(t, "inclusive%s\texclusive%s\t  role\t  region\n", of, of)
	for k, r := range i.RegionTable {
		if k == 20 {
			if counted {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprintf(t, "\t\t\t  and %d more\n", len(i.RegionTable)-k)
			break
		}
		name := []rune(r.Name)
		if room := max(columns-53, 24); len(name) > room {
			name = append(append(append([]rune{}, name[:room-10]...), '…'), name[len(name)-9:]...)
		}
		if counted {
			fmt.Fprint(t, view.FormatCount(*r.Calls), "\t")
		}
		fmt.Fprintf(t, "%s\t%s\t  %s\t  %s\n", view.FormatIn(r.Inclusive, r.Unit), view.FormatIn(r.Exclusive, r.Unit),
			r.Role, string(name))
	}
	t.Flush()
}

// activityLine draws how busy all locations together were over the run: one letter per part of its time, as high as
// the busiest at most. Runs without intervals have none.
func activityLine(ctx context.Context, r store.Reader) (string, error) {
	const parts = 40
	end := r.Info().End
	if r.Info().Intervals == 0 || end < parts {
		return "", nil
	}
	edges := make([]trace.Time, parts+1)
	for i := range edges {
		edges[i] = end / parts * trace.Time(i)
	}
	edges[parts] = end
	times, err := r.RoleTime(ctx, nil, edges)
	if err != nil {
		return "", err
	}
	busy, most := make([]float64, parts), 0.0
	for i := range busy {
		for role := range trace.RoleCount {
			if trace.Role(role).Busy() {
				busy[i] += times[i*trace.RoleCount+role].Float64()
			}
		}
		busy[i] /= float64(edges[i+1] - edges[i])
		most = max(most, busy[i])
	}
	if most == 0 {
		return "", nil
	}
	line := make([]rune, parts)
	for i, b := range busy {
		line[i] = []rune("▁▂▃▄▅▆▇█")[int(b/most*7+0.5)]
	}
	return fmt.Sprintf("%s up to %.3g at once", string(line), most), nil
}

// printMetrics lists the metrics of a profile, each in its own unit.
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

// printReport lists repairs, guesses and omissions.
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
		text := wrapped(r.Text()+at, strings.Repeat(" ", 25), width(w))
		fmt.Fprintf(w, "  %-8s %12s  %s\n", r.Kind, view.Thousands(r.Count), strings.TrimLeft(text, " "))
	}
}
