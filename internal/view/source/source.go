// Package source shows the values of a file's lines next to its text.
//
// Profiles that record lines have values for each of them (store.Lines). For all others a region has its values at its
// first line. The text is read from the directories that the user named, see package sourcefile.
package source

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/sourceline"
	"github.com/parallax-hpc/parallax/internal/sourcefile"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "source",
	Title:   "Source",
	Summary: "lines of a source file with their values: exclusive, inclusive, calls, and how ranks differ",
	HowToRead: "Each row is a line of one source file. Exclusive is the value of the line itself, inclusive adds the " +
		"functions that it calls; a stack counts once for a line. The strip has one column per rank, or per location " +
		"if there are no ranks: bright is much, against the highest value of the file. " +
		"The callees of a line follow its text. The files are on the left, by exclusive value: double-click one to " +
		"open it. Choose a line to select its regions. " +
		"If the data has no values of lines, each region has its values at its first line. " +
		"The text comes from the directories that --source names; without it the numbers are shown alone.",
	Needs:   view.Needs{Intervals: true, Profile: true, Places: true},
	Options: view.Use("metric", "file", "line", "palette"),
	Runs:    2,
	Report:  view.Report{Place: 8, Height: 340, AllRegions: true, Lacks: lacks},
	Data:    []any{Data{}, PairData{}},
	Compute: view.SideBySide(false, view.InTime(compute), pair),
}

// lacks describes why a result is not worth a picture in a report.
func lacks(r view.Result) string {
	if x, ok := r.(*result); ok && !x.byLine {
		return "the data has no values of lines"
	}
	return ""
}

type result struct {
	*sourceline.Values
	request *view.Request
	regions []trace.Region
	colours *view.Colours
	metric  runfacts.MetricChoice
	byLine  bool // the data has values of lines
	centre  int  // number of the line in the middle
	text    *sourcefile.File
	notes   []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	s := q.Store()
	r := &result{request: q, regions: s.Regions(), byLine: s.Info().Lines > 0}
	var err error
	if r.metric, err = chooseMetric(s, q.Values.Text("metric"), r.byLine); err != nil {
		return nil, err
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	r.Values, err = sourceline.Of(ctx, sourceline.Source{Store: s, Window: q.Window(), Locations: q.Selection.Locations,
		Regions: q.Selection.Regions, Metric: r.metric, ByLine: r.byLine}, r.chooseFile)
	if err != nil {
		return nil, err
	}
	if r.centre, err = r.chooseLine(q.Values.Text("line")); err != nil {
		return nil, err
	}
	r.read(ctx)
	r.explain()
	return r, nil
}

// Settle implements view.Chooser: the second run shows the same file about the same line. The program may have been
// built in another directory, so the end of the path counts.
func (r *result) Settle(second *view.Request) {
	parts := strings.Split(strings.ReplaceAll(r.File, `\`, "/"), "/")
	end := strings.Join(parts[max(0, len(parts)-2):], "/")
	second.Values = second.Values.With("file", end).With("line", strconv.Itoa(max(r.centre, 1)))
}

// ShareScale implements view.Scaled.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	r.Full = max(r.Full, other.Full)
	other.Full = r.Full
}

// chooseMetric reads --metric. Line values belong to metrics of a profile, also if the run has intervals too.
func chooseMetric(s store.Reader, text string, byLine bool) (runfacts.MetricChoice, error) {
	if !byLine || !s.Info().Timed() {
		return runfacts.ChooseMetric(s, text)
	}
	metrics := s.Metrics()
	id := runfacts.DefaultMetric(metrics)
	name, number, _ := strings.Cut(text, ":")
	switch {
	case name == "inclusive" || name == "exclusive" || name == "":
		number = name
	default:
		i := slices.IndexFunc(metrics, func(m trace.Metric) bool { return m.Name == name })
		if i < 0 {
			return runfacts.MetricChoice{}, fmt.Errorf("--metric %q: lines have values of exclusive, inclusive, %s",
				text,
				strings.Join(metricNames(metrics), ", "))
		}
		id = trace.MetricID(i)
	}
	m := runfacts.MetricChoice{ID: id, Name: cmp.Or(number, "exclusive") + " " + metrics[id].Name,
		Unit: metrics[id].Unit,
		Join: metrics[id].Join}
	if number == "inclusive" {
		m.Number = runfacts.NumberInclusive
	}
	return m, nil
}

func metricNames(metrics []trace.Metric) (names []string) {
	for _, m := range metrics[:min(len(metrics), 20)] {
		names = append(names, m.Name)
	}
	return names
}

// value is the number of a line that the metric asks for.
func (r *result) value(l *sourceline.Line) float64 {
	return r.metric.Of(l.Calls, l.Inclusive, l.Exclusive)
}

// chooseLine reads --line: a number, or hot:K. Past the last line with a value it is that one.
func (r *result) chooseLine(text string) (int, error) {
	place, hot := strings.CutPrefix(text, "hot:")
	n, err := strconv.Atoi(place)
	if err != nil || n < 1 {
		return 0,
			fmt.Errorf("--line %q: want the number of a line, or hot:K for the one with the K-th largest value", text)
	}
	if hot {
		return r.hottest(n), nil
	}
	return n, nil
}

// hottest returns the number of the line with the k-th largest value.
func (r *result) hottest(k int) int {
	order := make([]*sourceline.Line, len(r.Lines))
	for i := range r.Lines {
		order[i] = &r.Lines[i]
	}
	slices.SortStableFunc(order, func(a, b *sourceline.Line) int {
		if (a.Number == 0) != (b.Number == 0) {
			return cmp.Compare(b.Number, a.Number) // no line comes last
		}
		return cmp.Or(cmp.Compare(r.value(b), r.value(a)), cmp.Compare(b.Inclusive, a.Inclusive))
	})
	return order[min(k, len(order))-1].Number
}

// read takes the text of the file, and notes why it may not fit.
func (r *result) read(ctx context.Context) {
	finder := r.request.Runs[0].Sources
	if finder == nil || len(finder.Roots) == 0 {
		r.notes = append(r.notes, "no text: name the directory of the program's source by --source DIR")
		return
	}
	text, err := finder.Read(ctx, r.File)
	if err != nil {
		r.notes = append(r.notes, fmt.Sprintf("no text: %s %v", r.File, err))
		return
	}
	r.text = text
	if text.ByName {
		r.notes = append(r.notes, fmt.Sprintf("%s was found by its name alone: perhaps another file", text.Shown))
	}
	if last := r.Lines[len(r.Lines)-1].Number; last > len(text.Lines) {
		r.notes = append(r.notes, fmt.Sprintf("%s has %s and the data names line %d: the file changed since the run",
			text.Shown, view.Count(len(text.Lines), "line"), last))
	} else if at := recorded(&r.request.Runs[0]); !at.IsZero() && text.Modified.After(at) {
		r.notes = append(r.notes, fmt.Sprintf("%s was changed after the run: lines may have moved", text.Shown))
	}
}

// recorded returns the time at which a run was recorded: the time that the data states, else the earliest change of
// its files; the zero time if neither is known.
func recorded(run *view.Run) time.Time {
	if at, err := time.Parse(time.RFC3339Nano, run.Store.Info().Properties["start"]); err == nil {
		return at
	}
	var first time.Time
	for _, name := range run.Files {
		if i, err := os.Stat(name); err == nil && (first.IsZero() || i.ModTime().Before(first)) {
			first = i.ModTime()
		}
	}
	return first
}

// explain adds notes about the values.
func (r *result) explain() {
	if !r.byLine {
		r.notes = append(r.notes, "the data has no values of lines: each region has its values at its first line")
		return
	}
	s := r.request.Store()
	if w := r.request.Window(); s.Info().Timed() && (w.Begin > 0 || w.End < s.Info().End) {
		r.notes = append(r.notes, "values of lines are those of the whole run: the profile has no time")
	}
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Number == 0 && l.Exclusive > 0 {
			r.notes = append(r.notes, fmt.Sprintf("%s of the file has no line", r.metric.Format(l.Exclusive)))
		}
	}
}

// matches reports whether a file is the one that --file names: its path or the end of it.
func matches(file, wanted string) bool {
	return file == wanted || strings.HasSuffix(file, "/"+wanted) || strings.HasSuffix(file, `\`+wanted)
}

// chooseFile returns the file to show: that of --file, else the one with the largest value.
func (r *result) chooseFile(files []sourceline.File) (string, error) {
	if len(files) == 0 {
		return "", r.request.Advise("other regions", "another metric").Empty(
			"no region of the selection with a source file has a value of %s", r.metric.Name)
	}
	wanted := r.request.Values.Text("file")
	if wanted == "" {
		return files[0].Name, nil
	}
	for _, f := range files {
		if matches(f.Name, wanted) {
			return f.Name, nil
		}
	}
	var names []string
	for _, f := range files[:min(len(files), 8)] {
		names = append(names, path.Base(f.Name))
	}
	return "", view.Empty("those with the largest values are "+strings.Join(names, ", "),
		"--file %q: no such file has a value in the selection", wanted)
}
