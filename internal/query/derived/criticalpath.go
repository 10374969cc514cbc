package derived

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// criticalPath lists the waits of requests, one time range after another.
var criticalPath = table.NewFunction("critical_path",
	"The critical path of each request, or of each step of a GPU job, from its begin to its end: time ranges end to "+
		"end that add up to its length, each with the call that has it for itself, as in the view `criticalpath`. "+
		"Needs spans of services (OTLP, Jaeger, Zipkin) or work of GPUs; other runs say so.",
	[]table.Column{
		{Name: "requests", Kind: table.Text,
			Help: "which: ids or globs of them, slow, slow:1%, errors, >200ms, root:NAME, KEY=VALUE, with commas " +
				"between; of a GPU job names of steps or globs of them; left out or null: all"},
		{Name: "from_time", Kind: table.Integer, Unit: "ns",
			Help: "requests that begin from here on; left out or null: 0"},
		{Name: "to_time", Kind: table.Integer, Unit: "ns",
			Help: "and before this; left out or null: the end of the run"},
	},
	[]table.Column{
		{Name: "request", Kind: table.Text, Help: "its id, or the name of the step"},
		{Name: "location", Kind: table.Integer, Null: true,
			Help: "location of the call; null if the request's root is not in the source"},
		{Name: "path", Kind: table.Text, Null: true, Help: "of the location"},
		{Name: "service", Kind: table.Text, Null: true,
			Help: "of the call; of a GPU job the kind of activity: on the host, call, kernel, launch and so on"},
		{Name: "region", Kind: table.Text, Null: true, Help: "its name"},
		{Name: "region_id", Kind: table.Integer, Null: true, Help: "its number in regions"},
		{Name: "lane", Kind: table.Integer, Null: true, Help: "location, lane and row name the call in intervals"},
		{Name: "row", Kind: table.Integer, Null: true},
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "of the time range"},
		{Name: "end", Kind: table.Integer, Unit: "ns", Help: "not included"},
		{Name: "duration", Kind: table.Integer, Unit: "ns", Help: "end - begin"},
		{Name: "moved", Kind: table.Integer, Unit: "ns",
			Help: "how far it was moved back because of clock skew: it was recorded at begin + moved"},
		{Name: "failed", Kind: table.Flag, Help: "1 if the call failed"},
	}, criticalPathRows)

func criticalPathRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	if !runfacts.HasSpans(r.Store) {
		return stepPathRows(ctx, r, f, add)
	}
	source := runfacts.SpanSourceOf(ctx, r.Store)
	forest, err := request.Gather(source)
	if err != nil {
		return err
	}
	tree := r.Store.Locations()
	from, to := bound(f, "from_time", math.MinInt64), bound(f, "to_time", math.MaxInt64)
	chosen := forest.Within(trace.Time(from), trace.Time(to), nil)
	if words, _ := f.Arguments["requests"].(string); strings.TrimSpace(words) != "" {
		if chosen, err = forest.Choose(source, chosen, strings.Split(words, ",")); err != nil {
			return err
		}
	}
	walker := forest.Walker()
	var path []criticalpath.Section
	for _, k := range chosen {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path = path[:0]
		forest.Walk(walker, &forest.Requests[k], func(s criticalpath.Section) { path = append(path, s) })
		slices.Reverse(path)
		for _, s := range path {
			cells := []any{forest.Requests[k].ID, nil, nil, nil, nil, nil, nil, nil, int64(s.Begin), int64(s.End),
				int64(s.End - s.Begin), int64(s.Moved), int64(0)}
			if s.Node != request.NoRoot {
				at, region := forest.At(s.Node), forest.Region[s.Node]
				copy(cells[1:],
					[]any{int64(at.Location), tree.Path(at.Location), tree.Name[forest.Service(s.Node)],
						forest.Regions[region].Name, int64(region), int64(at.Lane), int64(at.Row)})
				if forest.Failed(s.Node) {
					cells[12] = int64(1)
				}
			}
			if err := add(cells...); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound reads a time given to a function; not given or null: the default.
func bound(f *table.Filter, name string, otherwise int64) int64 {
	switch v := f.Arguments[name].(type) {
	case int64:
		return v
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v)
		}
	}
	return otherwise
}

// stepPathRows adds the stretches of the steps of a GPU job.
func stepPathRows(ctx context.Context, r *table.Run, f *table.Filter, add func(...any) error) error {
	tree := r.Store.Locations()
	devices := runfacts.FindDevices(tree, nil)
	if len(devices.GPUs) == 0 {
		return errors.New("critical_path needs spans of services (OTLP, Jaeger, Zipkin) or work of GPUs, and the run " +
			"has neither")
	}
	w := store.Window{Begin: trace.Time(max(bound(f, "from_time", 0), 0)),
		End: trace.Time(min(bound(f, "to_time", math.MaxInt64), int64(r.Store.Info().End)))}
	paths, err := steppath.In(ctx, &derived.Run{Store: r.Store}, w, devices)
	if err != nil {
		return err
	}
	var patterns []view.Pattern
	if words, _ := f.Arguments["requests"].(string); strings.TrimSpace(words) != "" {
		for _, word := range strings.Split(words, ",") {
			match, err := view.ParsePattern(strings.TrimSpace(word))
			if err != nil {
				return err
			}
			patterns = append(patterns, match)
		}
	}
	regions := r.Store.Regions()
	for _, s := range paths.Steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if patterns != nil && !slices.ContainsFunc(patterns, func(match view.Pattern) bool { return match(s.Name) }) {
			continue
		}
		for _, x := range s.Sections {
			cells := []any{s.Name, nil, nil, x.Kind.String(), nil, nil, nil, nil, int64(x.Begin), int64(x.End),
				int64(x.End - x.Begin), int64(0), int64(0)}
			if x.Location != trace.NoLocation {
				cells[1], cells[2] = int64(x.Location), tree.Path(x.Location)
			}
			if x.Region != trace.NoRegion {
				cells[4], cells[5] = regions[x.Region].Name, int64(x.Region)
			}
			if x.Row >= 0 {
				cells[6], cells[7] = int64(x.Lane), int64(x.Row)
			}
			if err := add(cells...); err != nil {
				return err
			}
		}
	}
	return nil
}
